//! Figures of a game: drops, hitches and content error. Pure.

use serde::{Deserialize, Serialize};

use crate::statistics::Quantiles;
use upbeat_lab::tally::HITCH;
use upbeat_timing::time::{Instant, Span};

/// A frame that was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShownGameFrame {
    /// The display's refresh counter.
    pub(super) sequence: u64,
    /// Start of its scan-out.
    pub(super) present: Instant,
    /// Content time: the moment that the frame is drawn for.
    pub(super) content_time: Instant,
}

/// The figures of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SmoothRun {
    pub load: String,
    /// The display's rate, or its range of rates, in Hz.
    #[serde(default)]
    pub display: String,
    /// `vsync-3`, `ahead-4`, `ahead-4+run-ahead-2` …
    pub policy: String,
    /// Pixel buffers of the client.
    pub buffers: u8,
    pub refresh_hz: f64,
    /// Frames that were shown.
    pub frames: usize,
    /// Drawn frames that a newer frame replaced.
    pub discarded: usize,
    /// Refreshes without a new frame during the animation. With a variable rate: repeats of the picture by the panel.
    pub drops: u64,
    pub drops_per_s: f64,
    /// Share of drops avoided, from 0 to 1, against the first run of the same load (triple-buffered vsync).
    pub drop_reduction: f64,
    /// The same share in the simulator, with the same costs and policy.
    pub simulated_drop_reduction: f64,
    /// Gaps of more than 1.26 intervals, per second.
    pub hitches_per_s: f64,
    /// Shown frames per second.
    pub fps: f64,
    /// The longest gap between two frames.
    pub longest_freeze_ms: f64,
    /// From content time to light. By vsync, the content time is the refresh of the callback. Ahead, it is the refresh
    /// that shows the frame.
    pub latency_ms: Option<Quantiles>,
    /// Deviation of the latency from its median: how unevenly the content moves.
    pub content_error_ms: Option<Quantiles>,
    /// Content error read from recorded pixels; only of a recorded run.
    pub pixel_error_ms: Option<Quantiles>,
    /// CPU time of the compositor for each shown frame.
    pub compositor_cpu_ms_per_frame: Option<f64>,
    /// CPU time of the client for each shown frame.
    pub client_cpu_ms_per_frame: Option<f64>,
    /// Wake-ups of the compositor for each refresh.
    pub wake_ups_per_refresh: Option<f64>,
    /// Memory of the client's buffers.
    pub buffer_megabytes: f64,
}

impl SmoothRun {
    /// The figures of shown frames on a display with this interval.
    pub(super) fn count(mut shown: Vec<ShownGameFrame>, interval: Span) -> SmoothRun {
        shown.sort_by_key(|frame| frame.sequence);
        let pairs = || shown.windows(2).map(|pair| (pair[0], pair[1]));
        let drops: u64 = pairs().map(|(before, after)| (after.sequence - before.sequence).saturating_sub(1)).sum();
        let gaps = || pairs().map(|(before, after)| after.present - before.present);
        let hitches = gaps().filter(|gap| gap.as_nanos() as f64 > interval.as_nanos() as f64 * HITCH).count();
        let length: Span = gaps().sum();
        let seconds = (length.as_millis_f64() / 1e3).max(f64::MIN_POSITIVE);
        let mut ages: Vec<Span> = shown.iter().map(|frame| frame.present - frame.content_time).collect();
        ages.sort();
        let median = ages.get(ages.len() / 2).copied().unwrap_or_default();
        SmoothRun {
            frames: shown.len(),
            drops,
            drops_per_s: drops as f64 / seconds,
            hitches_per_s: hitches as f64 / seconds,
            fps: shown.len() as f64 / seconds,
            longest_freeze_ms: gaps().max().unwrap_or_default().as_millis_f64(),
            content_error_ms: Quantiles::of(ages.iter().map(|age| (*age - median).abs())),
            latency_ms: Quantiles::of(ages),
            ..SmoothRun::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_count_by_display_sequence_and_content_error_from_the_median() {
        let interval = Span::from_millis(10);
        let frame = |refresh: u64, represents: u64| ShownGameFrame {
            sequence: refresh,
            present: Instant::from_nanos(refresh * 10_000_000),
            content_time: Instant::from_nanos(represents * 10_000_000),
        };
        let run = SmoothRun::count(vec![frame(1, 1), frame(2, 2), frame(3, 3), frame(6, 4), frame(7, 7)], interval);
        assert_eq!((run.drops, run.frames, run.longest_freeze_ms), (2, 5, 30.0));
        assert_eq!(run.content_error_ms.unwrap().max, 20.0);
        assert_eq!(run.latency_ms.unwrap().p50, 0.0);
    }
}
