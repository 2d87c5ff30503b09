//! Inputs of a simulation: input events, and the cost of each frame. The same seed gives every policy the same inputs.

use super::{AppCost, FrameCost, InteractionSetup, LINES, START};
use crate::random::Random;
use upbeat_timing::time::{Instant, Span};

/// Speed of the pen in screen heights per second: 68 mm/s on 132 mm (Presto 5.1.3).
const STROKE_HEIGHTS_PER_SECOND: f64 = 0.515;

#[derive(Clone, Copy, Debug)]
pub(super) struct InputArrival {
    /// Arrival of the event.
    pub(super) at: Instant,
    /// From the start of a scan-out to the line at the event's position.
    pub(super) beam: Span,
}

/// Input events in order, recorded or with a jitter of a tenth of their interval. They are made on demand, once for all
/// runs side by side. Each run tracks its own progress by event numbers.
pub(super) struct InputArrivals<'a> {
    random: Random,
    interval: Span,
    active: Span,
    /// The events that a run still needs, and the number of the first of them.
    made: Vec<InputArrival>,
    first: usize,
    /// Time of the next event without its jitter; with recorded events, the start of the recording.
    grid: Instant,
    recorded: &'a [Span],
    /// Index of the next recorded event.
    next: usize,
}

impl<'a> InputArrivals<'a> {
    pub(super) fn new(setup: &InteractionSetup<'a>) -> Self {
        let mut random = Random::new(setup.seed ^ 0xE7E7);
        let phase = setup.input_interval.scale((random.unit() * 1_000.0) as i64, 1_000);
        InputArrivals {
            random,
            interval: setup.input_interval,
            active: setup.active,
            made: Vec::new(),
            first: 0,
            grid: START + phase,
            recorded: setup.recorded,
            next: 0,
        }
    }

    fn push(&mut self, at: Instant) {
        let beam = self.active.scale(i64::from(line_at(at)), i64::from(LINES));
        self.made.push(InputArrival { at, beam });
    }

    fn extend(&mut self, until: Instant) {
        let until = until + self.interval * 2;
        while let [.., last] = self.recorded {
            let event = self.grid + self.recorded[self.next];
            if event > until {
                return;
            }
            self.push(event);
            self.next += 1;
            if self.next == self.recorded.len() {
                (self.next, self.grid) = (0, self.grid + *last + self.interval);
            }
        }
        while self.grid <= until {
            let jitter = (self.interval.as_nanos() as f64 * self.random.between(-0.05, 0.05)) as i64;
            self.push(self.grid + Span::from_nanos(jitter));
            self.grid += self.interval;
        }
    }

    /// The last event from number `from` on that arrives at or before `at`.
    pub(super) fn last_before(&mut self, from: usize, at: Instant) -> Option<Instant> {
        let end = self.arrived(from, at);
        (end > from).then(|| self.made[end - 1 - self.first].at)
    }

    /// The number of the first event from `from` on that arrives after `at`.
    pub(super) fn arrived(&mut self, from: usize, at: Instant) -> usize {
        self.extend(at);
        from + self.made[from - self.first..].iter().take_while(|event| event.at <= at).count()
    }

    /// The events with these numbers, which must have been made.
    pub(super) fn between(&self, from: usize, to: usize) -> &[InputArrival] {
        &self.made[from - self.first..to - self.first]
    }

    /// Drops the events before number `first`, because no run needs them.
    pub(super) fn forget(&mut self, first: usize) {
        self.made.drain(..first - self.first);
        self.first = first;
    }
}

/// The line under the pen, which moves up and down.
pub(super) fn line_at(at: Instant) -> i32 {
    let way = (at - START).as_seconds_f64() * STROKE_HEIGHTS_PER_SECOND;
    // The remainder after whole ways up and down: exact, and five times as fast as `%`.
    let way = way - 2.0 * (way / 2.0).floor();
    let height = if way > 1.0 { 2.0 - way } else { way };
    (height * f64::from(LINES - 1)) as i32
}

pub(super) struct AppCosts<'a> {
    random: Random,
    again: Random,
    app: AppCost<'a>,
    heavy: bool,
    /// Index of the current frame of the load.
    frame: usize,
}

impl<'a> AppCosts<'a> {
    pub(super) fn new(setup: &InteractionSetup<'a>) -> Self {
        AppCosts {
            random: Random::new(setup.seed),
            again: Random::new(setup.seed ^ 0x2222),
            app: setup.app,
            heavy: false,
            frame: 0,
        }
    }

    pub(super) fn next(&mut self) -> FrameCost {
        self.advance();
        if let AppCost::Bursty(_, _, kept) = self.app {
            self.heavy ^= self.random.chance(1.0 / kept);
        }
        draw(self.app, self.heavy, self.frame, &mut self.random)
    }

    /// Moves to the next frame of the load, and from the last to the first, without a division.
    fn advance(&mut self) {
        let AppCost::Frames(frames) = self.app else { return };
        self.frame = if self.frame + 1 < frames.len() { self.frame + 1 } else { 0 };
    }

    /// The cost of rendering the same frame once more. It is drawn from another sequence, so that policies with and
    /// without a second shot see the same first costs.
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
        AppCost::Frames(frames) => return frames.get(frame).copied().unwrap_or_default(),
    };
    FrameCost { record: Span::from_millis_f64(millis), render: Span::ZERO }
}
