//! What comes in: input events, and the cost of each frame. The same seed gives every policy the same ones.

use std::collections::VecDeque;

use super::{AppCost, FrameCost, START, Setup};
use crate::simulate::random::Random;
use crate::time::{Instant, Span};

/// Input events with a jitter of a tenth of their interval.
pub(super) struct Events {
    random: Random,
    interval: Span,
    upcoming: VecDeque<Instant>,
    grid: Instant,
}

impl Events {
    pub(super) fn new(setup: &Setup<'_>) -> Self {
        let mut random = Random::new(setup.seed ^ 0xE7E7);
        let phase = setup.input_interval.scale((random.unit() * 1_000.0) as i64, 1_000);
        Events { random, interval: setup.input_interval, upcoming: VecDeque::new(), grid: START + phase }
    }

    fn extend(&mut self, until: Instant) {
        while self.grid <= until + self.interval * 2 {
            let jitter = (self.interval.as_nanos() as f64 * self.random.between(-0.05, 0.05)) as i64;
            self.upcoming.push_back(self.grid + Span::from_nanos(jitter));
            self.grid += self.interval;
        }
    }

    /// The last event that arrives at or before `at` and is not delivered yet.
    pub(super) fn last_before(&mut self, at: Instant) -> Option<Instant> {
        self.extend(at);
        self.upcoming.iter().copied().take_while(|event| *event <= at).last()
    }

    pub(super) fn arrive_until(&mut self, at: Instant, delivered: &mut VecDeque<Instant>) {
        self.extend(at);
        while let Some(event) = self.upcoming.front().copied().filter(|event| *event <= at) {
            self.upcoming.pop_front();
            delivered.push_back(event);
        }
    }
}

pub(super) struct Costs<'a> {
    random: Random,
    again: Random,
    app: AppCost<'a>,
    heavy: bool,
    frame: usize,
}

impl<'a> Costs<'a> {
    pub(super) fn new(setup: &Setup<'a>) -> Self {
        Costs {
            random: Random::new(setup.seed),
            again: Random::new(setup.seed ^ 0x2222),
            app: setup.app,
            heavy: false,
            frame: 0,
        }
    }

    pub(super) fn next(&mut self) -> FrameCost {
        self.frame += 1;
        if let AppCost::Bursty(_, _, kept) = self.app {
            self.heavy ^= self.random.chance(1.0 / kept);
        }
        draw(self.app, self.heavy, self.frame, &mut self.random)
    }

    /// The cost of rendering the same frame once more: another draw, so that policies with and without a second shot
    /// see the same sequence of first ones.
    pub(super) fn again(&mut self) -> FrameCost {
        draw(self.app, self.heavy, self.frame, &mut self.again)
    }
}

/// Standard deviation of the logarithm within a regime, and of the body under a tail.
const BODY_SIGMA: f64 = 0.2;

fn draw(app: AppCost<'_>, heavy: bool, frame: usize, random: &mut Random) -> FrameCost {
    let lognormal =
        |mean: f64, sigma: f64, random: &mut Random| random.lognormal(mean * (-sigma * sigma / 2.0).exp(), sigma);
    let millis = match app {
        AppCost::Lognormal(mean, sigma) => lognormal(mean, sigma, random),
        AppCost::Bursty(light, burst, _) => lognormal(if heavy { burst } else { light }, BODY_SIGMA / 2.0, random),
        AppCost::PowerLaw(mean, share, alpha) => {
            let body = lognormal(mean, BODY_SIGMA, random);
            if random.chance(share) { random.pareto(mean * 1.4, alpha).min(60.0) } else { body }
        }
        AppCost::Frames(frames) => return frames.get(frame % frames.len().max(1)).copied().unwrap_or_default(),
    };
    FrameCost { record: Span::from_millis_f64(millis), render: Span::ZERO }
}
