//! Repeatable random numbers: the same seed gives the same load on every machine.

/// xoshiro256++ (Blackman and Vigna), seeded by SplitMix64.
#[derive(Clone, Debug)]
pub struct Random([u64; 4]);

impl Random {
    /// A generator whose sequence depends on `seed` alone.
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        Random(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }))
    }

    fn next(&mut self) -> u64 {
        let [a, b, c, d] = self.0;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.0 = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// A number from 0 (included) to 1 (excluded); all multiples of 2⁻⁵³ are equally likely.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A uniform number between two bounds.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Whether an event of this probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A standard normal number (Box and Muller). The second number is thrown away, so that calls stay independent.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A lognormal number with this median and this standard deviation of the logarithm.
    pub fn lognormal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// A Pareto number of at least `least` with tail index `alpha`.
    pub fn pareto(&mut self, least: f64, alpha: f64) -> f64 {
        least * (1.0 - self.unit()).powf(-1.0 / alpha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_their_moments() {
        let mut random = Random::new(1);
        let count = 200_000;
        let mean = |values: &mut dyn FnMut() -> f64| (0..count).map(|_| values()).sum::<f64>() / f64::from(count);
        assert!((mean(&mut || random.unit()) - 0.5).abs() < 0.005);
        assert!(mean(&mut || random.normal()).abs() < 0.01);
        assert!((mean(&mut || random.normal().powi(2)) - 1.0).abs() < 0.02);
        assert!((mean(&mut || random.lognormal(2.0, 0.5)) - 2.0 * (0.125_f64).exp()).abs() < 0.02);
        assert!((mean(&mut || random.pareto(1.4, 3.2)) - 1.4 * 3.2 / 2.2).abs() < 0.02);
    }

    #[test]
    fn a_seed_names_a_sequence() {
        let sequence = |seed| (0..4).map(move |_| seed).scan(Random::new(seed), |random, _| Some(random.unit()));
        assert!(sequence(3).eq(sequence(3)));
        assert!(!sequence(3).eq(sequence(4)));
    }
}
