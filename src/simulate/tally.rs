//! What a run is judged by.

use crate::time::Span;

/// A gap between two shown frames of more than this many intervals is a hitch.
pub const HITCH: f64 = 1.26;
/// Bytes of a full-screen buffer: 2560 × 1440 at 4 bytes, D-VSync 6.4's 15 MB.
pub const BUFFER_BYTES: f64 = 2_560.0 * 1_440.0 * 4.0;

/// How a frame came to its refresh (D-VSync 3.3, figure 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameClass {
    /// At the first refresh possible.
    Direct,
    /// It waited a refresh longer, because the queue has one frame too many since an earlier miss.
    Stuffed,
    /// The refresh before it showed nothing new.
    AfterDrop,
}

/// Mean and quantiles of a set of spans, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many.
    pub count: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

impl Summary {
    /// Summarises `values`, which are reordered.
    pub fn of(values: &mut [f32]) -> Summary {
        if values.is_empty() {
            return Summary::default();
        }
        values.sort_unstable_by(f32::total_cmp);
        let at = |share: f64| f64::from(values[((values.len() - 1) as f64 * share).round() as usize]);
        Summary {
            count: values.len(),
            mean: values.iter().map(|value| f64::from(*value)).sum::<f64>() / values.len() as f64,
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

/// Everything counted in a run.
#[derive(Clone, Debug)]
pub struct Tally {
    interval: Span,
    /// Frames shown.
    pub frames: u64,
    /// Refreshes in which content was due and nothing new was shown; a gap on a variable panel counts as many as whole
    /// intervals are missing, rounded.
    pub drops: u64,
    /// Gaps of more than 1.26 intervals.
    pub hitches: u64,
    /// The longest gap.
    pub longest_gap: Span,
    /// Display time.
    pub shown_for: Span,
    /// Frames by class: direct, stuffed, after a drop.
    pub classes: [u64; 3],
    /// Renders that were never shown.
    pub wasted: u64,
    /// Frames whose content was for another time than they were shown at (by more than a thousandth of an interval).
    pub wrong_time: u64,
    content_error: Vec<f32>,
    latency: Vec<f32>,
    lead: Span,
    buffers: u64,
    buffer_samples: u64,
    peak_buffers: usize,
}

impl Tally {
    /// Nothing counted yet; room for `frames` frames.
    pub fn new(interval: Span, frames: usize) -> Self {
        Tally {
            interval,
            frames: 0,
            drops: 0,
            hitches: 0,
            longest_gap: Span::ZERO,
            shown_for: Span::ZERO,
            classes: [0; 3],
            wasted: 0,
            wrong_time: 0,
            content_error: Vec::new(),
            latency: Vec::with_capacity(frames),
            lead: Span::ZERO,
            buffers: 0,
            buffer_samples: 0,
            peak_buffers: 0,
        }
    }

    /// A refresh with this many buffers in use.
    pub fn refresh(&mut self, buffers: usize) {
        self.buffers += buffers as u64;
        self.buffer_samples += 1;
        self.peak_buffers = self.peak_buffers.max(buffers);
    }

    /// A frame was shown `gap` after the one before it (or after it was due, for a first one).
    pub fn frame(&mut self, gap: Span, latency: Span, class: FrameClass) {
        let intervals = gap.as_nanos() as f64 / self.interval.as_nanos() as f64;
        self.frames += 1;
        self.drops += (intervals.round() as u64).saturating_sub(1);
        self.hitches += u64::from(intervals > HITCH);
        self.longest_gap = self.longest_gap.max(gap);
        self.shown_for += gap;
        self.classes[class as usize] += 1;
        self.latency.push(latency.as_millis_f64() as f32);
    }

    /// The frame was started `lead` before its latch; its content was for a moment `error` before it.
    pub fn ahead(&mut self, lead: Span, error: Span) {
        self.lead += lead;
        let error = error.abs();
        self.wrong_time += u64::from(error * 1_000 > self.interval);
        self.content_error.push(error.as_millis_f64() as f32);
    }

    /// The refresh interval of the display.
    pub const fn interval(&self) -> Span {
        self.interval
    }

    /// Drops per second of display time.
    pub fn drops_per_second(&self) -> f64 {
        self.drops as f64 / self.shown_for.as_seconds_f64().max(1e-9)
    }

    /// Drops per refresh.
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

    /// By how much fewer drops than `baseline`, from 0 to 1; negative when there are more.
    pub fn reduction(&self, baseline: &Tally) -> f64 {
        let base = baseline.drops_per_second();
        if base > 0.0 { 1.0 - self.drops_per_second() / base } else { 0.0 }
    }

    /// Latency in milliseconds.
    pub fn latency(&self) -> Summary {
        Summary::of(&mut self.latency.clone())
    }

    /// The latencies in milliseconds, in the order of frames.
    pub fn latencies(&self) -> &[f32] {
        &self.latency
    }

    /// How far content was off its refresh, in milliseconds; `None` where no frame had a target.
    pub fn content_error(&self) -> Option<Summary> {
        (!self.content_error.is_empty()).then(|| Summary::of(&mut self.content_error.clone()))
    }

    /// The mean time from start to latch in intervals, for frames that were started ahead.
    pub fn mean_lead(&self) -> f64 {
        let frames = self.content_error.len().max(1) as f64;
        self.lead.as_nanos() as f64 / self.interval.as_nanos() as f64 / frames
    }

    /// Mean number of buffers in use at a refresh.
    pub fn mean_buffers(&self) -> f64 {
        self.buffers as f64 / self.buffer_samples.max(1) as f64
    }

    /// The most buffers that were in use at a refresh.
    pub const fn peak_buffers(&self) -> usize {
        self.peak_buffers
    }

    /// Megabytes of pixels at the peak.
    pub fn peak_megabytes(&self) -> f64 {
        self.peak_buffers as f64 * BUFFER_BYTES / 1e6
    }
}
