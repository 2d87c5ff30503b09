//! Counters and figures of a simulated run.

use super::distribution::RunningMean;
pub use super::distribution::{Histogram, Summary};
use upbeat_timing::time::Span;

/// A gap between two shown frames of more than this many intervals is a hitch.
pub const HITCH: f64 = 1.26;
/// Bytes of a full-screen buffer: 2560 × 1440 at 4 bytes, D-VSync 6.4's 15 MB.
pub const BUFFER_BYTES: f64 = 2_560.0 * 1_440.0 * 4.0;

/// When a frame was shown, relative to its earliest refresh (D-VSync 3.3, figure 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameClass {
    /// At the earliest possible refresh.
    Direct,
    /// A refresh later, because the queue has had one frame too many since an earlier miss.
    Stuffed,
    /// After a refresh without a new frame.
    AfterDrop,
}

/// All counters of a run.
#[derive(Clone, Debug)]
pub struct RunTally {
    interval: Span,
    /// Number of shown frames.
    pub frames: u64,
    /// Refreshes in which content was due and nothing new was shown. A gap on a variable panel counts the whole
    /// intervals that are missing, rounded.
    pub drops: u64,
    /// Gaps of more than 1.26 intervals.
    pub hitches: u64,
    pub longest_gap: Span,
    /// Display time of all frames.
    pub shown_for: Span,
    /// Frames by class: direct, stuffed, after a drop.
    pub classes: [u64; 3],
    /// Renders that were never shown.
    pub wasted: u64,
    /// Frames that were not shown at the time for which they were drawn (off by more than a thousandth of an interval).
    pub wrong_time: u64,
    /// Sum of the squared numbers of drops in a row: a measure of clustering.
    drops_squared: u64,
    content_error: RunningMean,
    latency: Histogram,
    age: RunningMean,
    lead: Span,
    buffers: u64,
    buffer_samples: u64,
    peak_buffers: usize,
}

impl RunTally {
    pub fn new(interval: Span) -> Self {
        RunTally {
            interval,
            frames: 0,
            drops: 0,
            hitches: 0,
            longest_gap: Span::ZERO,
            shown_for: Span::ZERO,
            classes: [0; 3],
            wasted: 0,
            wrong_time: 0,
            drops_squared: 0,
            content_error: RunningMean::default(),
            latency: Histogram::default(),
            age: RunningMean::default(),
            lead: Span::ZERO,
            buffers: 0,
            buffer_samples: 0,
            peak_buffers: 0,
        }
    }

    /// Counts a refresh with this many buffers in use.
    pub fn count_refresh(&mut self, buffers: usize) {
        self.buffers += buffers as u64;
        self.buffer_samples += 1;
        self.peak_buffers = self.peak_buffers.max(buffers);
    }

    /// Counts a shown frame, `gap` after the frame before it (for the first frame: after it was due).
    pub fn count_frame(&mut self, gap: Span, latency: Span, class: FrameClass) {
        self.frames += 1;
        // A fast path: most frames are shown at the refresh after the frame before.
        if gap != self.interval {
            let intervals = gap.as_nanos() as f64 / self.interval.as_nanos() as f64;
            let drops = (intervals.round() as u64).saturating_sub(1);
            self.drops += drops;
            self.drops_squared += drops * drops;
            self.hitches += u64::from(intervals > HITCH);
        }
        self.longest_gap = self.longest_gap.max(gap);
        self.shown_for += gap;
        self.classes[class as usize] += 1;
        self.latency.add(latency.as_millis_f64());
    }

    /// Adds a shown frame's age: the time from the choice of its content to its light.
    pub fn add_age(&mut self, age: Span) {
        self.age.add(age.as_millis_f64());
    }

    /// Counts a frame started ahead: `lead` before its latch, with a content time `error` before it.
    pub fn count_ahead(&mut self, lead: Span, error: Span) {
        self.lead += lead;
        let error = error.abs();
        self.wrong_time += u64::from(error * 1_000 > self.interval);
        self.content_error.add(error.as_millis_f64());
    }

    pub const fn interval(&self) -> Span {
        self.interval
    }

    /// Drops per second of display time.
    pub fn drops_per_second(&self) -> f64 {
        self.drops as f64 / self.shown_for.as_seconds_f64().max(1e-9)
    }

    /// Drops divided by refreshes.
    pub fn drop_share(&self) -> f64 {
        self.drops as f64 * self.interval.as_seconds_f64() / self.shown_for.as_seconds_f64().max(1e-9)
    }

    /// Hitches per second of display time.
    pub fn hitches_per_second(&self) -> f64 {
        self.hitches as f64 / self.shown_for.as_seconds_f64().max(1e-9)
    }

    /// Frames per second of display time.
    pub fn frames_per_second(&self) -> f64 {
        self.frames as f64 / self.shown_for.as_seconds_f64().max(1e-9)
    }

    /// Share of `baseline`'s drops that this run avoids, from 0 to 1; negative if it has more.
    pub fn reduction(&self, baseline: &RunTally) -> f64 {
        let base = baseline.drops_per_second();
        if base > 0.0 { 1.0 - self.drops_per_second() / base } else { 0.0 }
    }

    /// The 95 % interval of [`reduction`](Self::reduction) if both runs are samples of a longer run; `None` where
    /// `baseline` dropped nothing.
    ///
    /// Given their sum, the drops of one of two Poisson counts are binomial (Wilson's interval). Drops in a row are not
    /// independent, so the number of independent drops is the sum divided by its mean square over its mean. The same
    /// frames cause both counts: the interval is rather too wide than too narrow.
    pub fn reduction_bounds(&self, baseline: &RunTally) -> Option<[f64; 2]> {
        /// Standard errors on each side of a 95 % interval.
        const Z: f64 = 1.96;
        let (before, after) = (baseline.drops as f64, self.drops as f64);
        if before == 0.0 {
            return None;
        }
        let together = (baseline.drops_squared + self.drops_squared) as f64 / (before + after);
        let (count, share) = ((before + after) / together, after / (before + after));
        let middle = (share + Z * Z / (2.0 * count)) / (1.0 + Z * Z / count);
        let half = Z / (1.0 + Z * Z / count) * (share * (1.0 - share) / count + (Z / (2.0 * count)).powi(2)).sqrt();
        let duration = baseline.shown_for.as_seconds_f64() / self.shown_for.as_seconds_f64().max(1e-9);
        let reduction = |share: f64| 1.0 - duration * share / (1.0 - share).max(1e-9);
        Some([reduction((middle + half).min(1.0)), reduction((middle - half).max(0.0))])
    }

    /// Mean and quantiles of the latency, in milliseconds.
    pub fn latency(&self) -> Summary {
        self.latency.summary()
    }

    /// All latencies in milliseconds.
    pub const fn latencies(&self) -> &Histogram {
        &self.latency
    }

    /// Mean time from the choice of a frame's content to its light, in milliseconds.
    pub fn content_age(&self) -> f64 {
        self.age.mean()
    }

    /// Mean distance of content times from their refreshes, in milliseconds; `None` where no frame had a target.
    pub fn content_error(&self) -> Option<f64> {
        (self.content_error.count() > 0).then(|| self.content_error.mean())
    }

    /// The mean time from start to latch in intervals, for frames that were started ahead.
    pub fn mean_lead(&self) -> f64 {
        let frames = self.content_error.count().max(1) as f64;
        self.lead.as_nanos() as f64 / self.interval.as_nanos() as f64 / frames
    }

    /// Mean number of buffers in use at a refresh.
    pub fn mean_buffers(&self) -> f64 {
        self.buffers as f64 / self.buffer_samples.max(1) as f64
    }

    /// The most buffers in use at a refresh.
    pub const fn peak_buffers(&self) -> usize {
        self.peak_buffers
    }

    /// Megabytes of pixels at the peak.
    pub fn peak_megabytes(&self) -> f64 {
        self.peak_buffers as f64 * BUFFER_BYTES / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_millis(10);

    /// A thousand refreshes with this many drops, in gaps of `together` drops.
    fn tally(drops: u64, together: u64) -> RunTally {
        let mut tally = RunTally::new(INTERVAL);
        for frame in 0..1_000 - drops {
            let gap = if frame < drops / together { 1 + together } else { 1 };
            tally.count_frame(INTERVAL * gap as i64, INTERVAL, FrameClass::Direct);
        }
        tally
    }

    #[test]
    fn few_drops_say_little_and_drops_in_a_row_say_less() {
        let bounds = |before: &RunTally, after: &RunTally| {
            after.reduction_bounds(before).unwrap().map(|bound| (100.0 * bound).round())
        };
        // No drop left of five: 23 to 100 %, from Wilson's interval of 0 in 5, which is 0 to 43 %.
        assert_eq!(bounds(&tally(5, 1), &tally(0, 1)), [23.0, 100.0]);
        let [low, high] = bounds(&tally(100, 1), &tally(28, 1));
        assert!(low > 55.0 && low < 60.0 && high > 80.0 && high < 84.0, "{low} {high}");
        let [wider, _] = bounds(&tally(100, 5), &tally(28, 1));
        assert!(wider < low - 8.0, "{wider} {low}");
        assert_eq!(tally(3, 1).reduction_bounds(&tally(0, 1)), None);
    }
}
