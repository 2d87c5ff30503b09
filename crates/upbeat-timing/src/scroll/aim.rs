//! Where fingers that pull a view will be when a frame is seen.
//!
//! Shown short of its fingers a view is late, as it would be without a guess; shown beyond them it has to come back, and that is
//! seen. So a guess goes no further than fingers on recordings nearly always did: less far while little is known of them, and
//! by less time where guesses have been wrong.

use super::course::Way;
use crate::defaults::SCROLL_PREDICTION;
use crate::input_prediction::{Linear, Predictor, Sample, Tracked};
use crate::time::{Instant, Span};

/// How far ahead the speed of a pull is measured.
const SPEED_HORIZON: Span = Span::from_millis(10);
/// The furthest that a guess goes beyond the last sample, in pixels, while there are few of this pull.
const FURTHEST_OF_FEW: f64 = 12.0;
/// So many are few: a fifth of a second, in which hands start, and flings end.
const FEW: u32 = 24;
/// The furthest of all.
const FURTHEST: f64 = 24.0;

/// Fingers, followed.
#[derive(Clone, Debug)]
pub(super) struct Aim {
    line: Linear,
    tracked: Tracked<Linear>,
    last: Sample,
    samples: u32,
}

impl Aim {
    /// Nothing was seen yet.
    pub fn new() -> Self {
        let tracked = Tracked::new(Linear::new(), SCROLL_PREDICTION);
        Aim { line: Linear::new(), tracked, last: Sample::default(), samples: 0 }
    }

    /// Other fingers. How far guesses have been wrong is not forgotten.
    pub fn begin(&mut self) {
        self.line.reset();
        self.tracked.reset();
        self.samples = 0;
    }

    /// They were there at `at`.
    pub fn observe(&mut self, at: Instant, (x, y): (f64, f64)) {
        self.last = Sample { at, x, y };
        self.line.observe(self.last);
        self.tracked.observe(self.last);
        self.samples = self.samples.saturating_add(1);
    }

    /// Where they will be at `at`, if that can be guessed.
    pub fn at(&self, at: Instant) -> Option<(f64, f64)> {
        let guess = self.tracked.predict(at)?;
        let (x, y) = (guess.x - self.last.x, guess.y - self.last.y);
        let furthest = if self.samples < FEW { FURTHEST_OF_FEW } else { FURTHEST };
        let part = (furthest / x.hypot(y)).min(1.0);
        Some((self.last.x + x * part, self.last.y + y * part))
    }

    /// How fast they went last, in pixels per second.
    pub fn speed(&self) -> Way {
        let at = self.last.at;
        let (now, later) = (self.line.position(at), self.line.position(at + SPEED_HORIZON));
        let Some(((x, y), (later_x, later_y))) = now.zip(later) else { return Way::default() };
        let seconds = SPEED_HORIZON.as_seconds_f64();
        Way { x: (later_x - x) / seconds, y: (later_y - y) / seconds }
    }
}
