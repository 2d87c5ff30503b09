//! Loads: the cost of each frame of a client, the same sequence for the same seed on every machine.
//!
//! | specification | cost of a frame |
//! |---|---|
//! | `flat` | 2 ms |
//! | `flat:MS` | MS milliseconds |
//! | `flat:MS:NOISE` | normally distributed with a standard deviation of NOISE × MS, cut at three of them |
//! | `heavy` | lognormal with median 6 ms and 95th percentile 20 ms: about 8 % lie above one refresh at 60 Hz |
//! | `heavy:MEDIAN:P95` | the same with other figures |
//! | anything else | a CSV trace with the columns `frame,cpu_ms,gpu_ms,frame_ms` |
//!
//! A trace's frame costs `cpu_ms + gpu_ms`: the client works in a single stage, so the two follow one another. When the
//! trace ends it begins again.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, LogNormal, Normal};

use upbeat_timing::time::Span;

/// Cost of a frame of the plain `flat` load, as of a terminal or a simple toolkit window.
const FLAT_MS: f64 = 2.0;
/// Median and 95th percentile of the plain `heavy` load: a browser or a game near its limit.
const HEAVY_MS: (f64, f64) = (6.0, 20.0);
/// The standard normal distribution's 95th percentile.
const NORMAL_P95: f64 = 1.644_853_626_951_472_2;
/// Normal noise is cut at this many standard deviations, so that one frame in a million does not decide a maximum.
const NOISE_CUT: f64 = 3.0;
/// The longest cost that a specification may ask for, as a guard against wrong units.
const LONGEST_MS: f64 = 10_000.0;

/// Why a load specification cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A number is missing, malformed or out of range.
    #[error("load '{spec}': {problem} (write flat[:MS[:NOISE]] or heavy[:MEDIAN_MS:P95_MS])")]
    Number { spec: String, problem: String },
    /// The specification is no known name, and no file of that name can be read.
    #[error("load '{spec}' is neither flat, heavy nor a readable CSV trace: {source}")]
    Unreadable { spec: String, source: std::io::Error },
    /// A line of a trace cannot be understood.
    #[error("{path}:{line}: {problem} (columns: frame,cpu_ms,gpu_ms,frame_ms)")]
    Trace {
        path: String,
        /// Counted from one.
        line: usize,
        problem: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
enum CostDistribution {
    Constant(Span),
    Noisy { cost_ms: f64, deviation_ms: f64 },
    Heavy { median_ms: f64, sigma: f64 },
    Trace(Arc<[Span]>),
}

/// The distribution of a client's frame costs. `Display` prints the specification.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientLoad {
    spec: String,
    shape: CostDistribution,
}

impl ClientLoad {
    /// The endless sequence of costs for `seed`.
    pub fn costs(&self, seed: u64) -> ClientCosts {
        ClientCosts { shape: self.shape.clone(), rng: ChaCha8Rng::seed_from_u64(seed), next: 0 }
    }

    /// A short name for reports: the specification, or a trace's file name without its folder and suffix.
    pub fn name(&self) -> String {
        match self.shape {
            CostDistribution::Trace(_) => {
                Path::new(&self.spec).file_stem().map_or(self.spec.clone(), |stem| stem.to_string_lossy().into_owned())
            }
            _ => self.spec.clone(),
        }
    }
}

impl fmt::Display for ClientLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spec)
    }
}

impl FromStr for ClientLoad {
    type Err = LoadError;

    fn from_str(spec: &str) -> Result<Self, LoadError> {
        let mut parts = spec.split(':');
        let shape = match parts.next() {
            Some("flat") => flat(spec, parts)?,
            Some("heavy") => heavy(spec, parts)?,
            _ => CostDistribution::Trace(read_trace(spec)?),
        };
        Ok(ClientLoad { spec: spec.to_owned(), shape })
    }
}

fn flat<'a>(spec: &str, mut parts: impl Iterator<Item = &'a str>) -> Result<CostDistribution, LoadError> {
    let cost_ms = parts.next().map_or(Ok(FLAT_MS), |text| number(spec, text, LONGEST_MS))?;
    let noise = parts.next().map_or(Ok(0.0), |text| number(spec, text, 1.0 / NOISE_CUT))?;
    nothing_more(spec, parts)?;
    Ok(if noise == 0.0 {
        CostDistribution::Constant(Span::from_millis_f64(cost_ms))
    } else {
        CostDistribution::Noisy { cost_ms, deviation_ms: noise * cost_ms }
    })
}

fn heavy<'a>(spec: &str, mut parts: impl Iterator<Item = &'a str>) -> Result<CostDistribution, LoadError> {
    let (median_ms, p95_ms) = match (parts.next(), parts.next()) {
        (None, _) => HEAVY_MS,
        (Some(_), None) => return Err(wrong(spec, "a 95th percentile must follow the median")),
        (Some(median), Some(p95)) => (number(spec, median, LONGEST_MS)?, number(spec, p95, LONGEST_MS)?),
    };
    nothing_more(spec, parts)?;
    if median_ms <= 0.0 || p95_ms < median_ms {
        return Err(wrong(spec, "the median must be positive and no larger than the 95th percentile"));
    }
    Ok(CostDistribution::Heavy { median_ms, sigma: (p95_ms / median_ms).ln() / NORMAL_P95 })
}

fn number(spec: &str, text: &str, largest: f64) -> Result<f64, LoadError> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=largest).contains(&value) => Ok(value),
        Ok(value) => Err(wrong(spec, &format!("{value} is not between 0 and {largest:.3}"))),
        Err(_) => Err(wrong(spec, &format!("'{text}' is not a number"))),
    }
}

fn nothing_more<'a>(spec: &str, mut parts: impl Iterator<Item = &'a str>) -> Result<(), LoadError> {
    parts.next().map_or(Ok(()), |text| Err(wrong(spec, &format!("'{text}' is one number too many"))))
}

fn wrong(spec: &str, problem: &str) -> LoadError {
    LoadError::Number { spec: spec.to_owned(), problem: problem.to_owned() }
}

fn read_trace(path: &str) -> Result<Arc<[Span]>, LoadError> {
    let text =
        std::fs::read_to_string(path).map_err(|source| LoadError::Unreadable { spec: path.to_owned(), source })?;
    let error = |line: usize, problem: String| LoadError::Trace { path: path.to_owned(), line, problem };
    let mut costs = Vec::new();
    for (index, line) in text.lines().enumerate().skip(1).filter(|(_, line)| !line.trim().is_empty()) {
        let columns: Vec<&str> = line.split(',').map(str::trim).collect();
        if columns.len() < 3 {
            return Err(error(index + 1, format!("{} columns are too few", columns.len())));
        }
        let mut cost_ms = 0.0;
        for text in &columns[1..3] {
            match text.parse::<f64>() {
                Ok(value) if (0.0..=LONGEST_MS).contains(&value) => cost_ms += value,
                _ => return Err(error(index + 1, format!("'{text}' is not a number of milliseconds"))),
            }
        }
        costs.push(Span::from_millis_f64(cost_ms));
    }
    if costs.is_empty() { Err(error(1, "there is no frame in it".to_owned())) } else { Ok(costs.into()) }
}

/// The costs of one client's frames, in order. Never ends.
#[derive(Clone, Debug)]
pub struct ClientCosts {
    shape: CostDistribution,
    rng: ChaCha8Rng,
    next: usize,
}

impl ClientCosts {
    pub fn next_cost(&mut self) -> Span {
        match &self.shape {
            CostDistribution::Constant(cost) => *cost,
            CostDistribution::Noisy { cost_ms, deviation_ms } => {
                // The parameters were checked when the load was made, so `Normal` accepts them; otherwise there is no
                // noise.
                let noise = Normal::new(0.0, *deviation_ms).map_or(0.0, |normal| normal.sample(&mut self.rng));
                let cut = NOISE_CUT * deviation_ms;
                Span::from_millis_f64(cost_ms + noise.clamp(-cut, cut))
            }
            CostDistribution::Heavy { median_ms, sigma } => {
                let factor = LogNormal::new(0.0, *sigma).map_or(1.0, |lognormal| lognormal.sample(&mut self.rng));
                Span::from_millis_f64(median_ms * factor)
            }
            CostDistribution::Trace(costs) => {
                let cost = costs[self.next % costs.len()];
                self.next += 1;
                cost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(spec: &str, seed: u64, count: usize) -> Vec<Span> {
        let mut costs = spec.parse::<ClientLoad>().unwrap().costs(seed);
        (0..count).map(|_| costs.next_cost()).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_costs_on_every_machine() {
        assert_eq!(first("heavy", 7, 100), first("heavy", 7, 100));
        assert_ne!(first("heavy", 7, 100), first("heavy", 8, 100));
        let micros: Vec<i64> = first("heavy", 1, 5).iter().map(|cost| cost.as_nanos() / 1000).collect();
        expect_test::expect!["[5052, 2136, 7656, 2630, 4699]"].assert_eq(&format!("{micros:?}"));
    }

    #[test]
    fn the_heavy_load_has_the_quantiles_it_promises() {
        let mut costs = first("heavy", 3, 100_000);
        costs.sort();
        let at = |share: f64| costs[(share * costs.len() as f64) as usize].as_millis_f64();
        assert!((at(0.5) - 6.0).abs() < 0.1, "median {}", at(0.5));
        assert!((at(0.95) - 20.0).abs() < 0.5, "p95 {}", at(0.95));
        let above = costs.iter().filter(|cost| cost.as_millis_f64() > 1000.0 / 60.0).count() as f64 / 1000.0;
        assert!((7.0..9.0).contains(&above), "{above} % lie above a refresh");
    }

    #[test]
    fn a_flat_load_is_flat_and_its_noise_is_bounded() {
        assert_eq!(first("flat", 1, 3), [Span::from_millis(2); 3]);
        assert_eq!(first("flat:0.5", 1, 1), [Span::from_micros(500)]);
        let noisy = first("flat:2:0.05", 1, 10_000);
        assert!(noisy.iter().all(|cost| (cost.as_millis_f64() - 2.0).abs() <= 0.3 + 1e-6));
        assert!(noisy.iter().any(|cost| *cost != noisy[0]));
    }

    #[test]
    fn a_trace_costs_cpu_and_gpu_and_begins_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.csv");
        std::fs::write(&path, "frame,cpu_ms,gpu_ms,frame_ms\n0,1.5,2.5,4\n1,1,0.25,2\n").unwrap();
        let spec = path.to_str().unwrap();
        assert_eq!(first(spec, 1, 3), [Span::from_millis(4), Span::from_micros(1250), Span::from_millis(4)]);
        assert_eq!(spec.parse::<ClientLoad>().unwrap().name(), "game");
    }

    #[test]
    fn a_wrong_specification_says_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.csv");
        std::fs::write(&path, "frame,cpu_ms,gpu_ms,frame_ms\n0,1,x,4\n").unwrap();
        for (spec, needle) in [
            ("flat:fast", "'fast' is not a number"),
            ("flat:-1", "not between 0"),
            ("flat:2:0.9", "not between 0 and 0.333"),
            ("flat:2:0:1", "one number too many"),
            ("heavy:6", "95th percentile must follow"),
            ("heavy:20:6", "no larger than"),
            ("heavie", "neither flat, heavy nor a readable CSV"),
            (path.to_str().unwrap(), "bad.csv:2: 'x' is not a number"),
        ] {
            let message = spec.parse::<ClientLoad>().unwrap_err().to_string();
            assert!(message.contains(needle), "{spec}: {message}");
        }
    }
}
