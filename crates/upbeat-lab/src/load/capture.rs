//! Computes the costs of frames from the columns of a log, and how far they can be trusted.
//!
//! | the log has | recording | rendering |
//! |---|---|---|
//! | both stages | measured | measured |
//! | the interval, time in `Present`, when the GPU was done (PresentMon 1, FrameView, CapFrameX) | interval less `Present`: derived | from the end of the frame before it to its own: derived |
//! | the interval and the GPU's load (MangoHud), which is full | assumed, [`ASSUMED_SHARE`] of the other | the interval, as a bound |
//! | the interval and the GPU's load, which is not full | the interval, as a bound | the load's share of the recent mean interval: derived |
//! | the interval | assumed, [`ASSUMED_SHARE`] of the other | the interval, as a bound |
//!
//! The stages of consecutive frames overlap, so frames that follow each other without a pause are as far apart as the
//! slower stage takes. Where a limit or the display delayed the program, they are further apart: the interval is only a
//! bound.

use std::collections::HashMap;

use super::cost_origin::{ASSUMED_SHARE, CaptureFigures, CaptureWarning, CostOrigin, KINDS, LogCaptureInfo};
use super::{FrameCost, Load, LogRequest, TraceError};
use upbeat_timing::time::Span;

/// GPU load in percent from which the program waits for the GPU.
const FULL_LOAD: f64 = 95.0;
/// A capture is GPU-bound where rendering takes this part of the interval…
const BUSY: f64 = 0.9;
/// …in this part of the frames; and it is capped where this part of its intervals are whole refreshes.
const MOST: f64 = 0.75;
/// Largest distance of an interval from a whole number of refreshes, in refreshes.
const NEAR_REFRESH: f64 = 0.04;
/// Largest deviation of intervals at a capped frame rate, as a part of the interval.
const NEAR_OTHERS: f64 = 0.015;
/// A GPU's load is a mean of the last half second: about this many frames.
const LOAD_FRAMES: f64 = 32.0;
/// Number of frames that are tested for a capped rate.
const STEADY_SAMPLES: usize = 50_000;
/// More refreshes than this without a new frame are a pause, not drops.
const PAUSE_REFRESHES: f64 = 30.0;

/// Columns of a log for one frame, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameSample {
    /// Interval since the frame before it.
    pub whole: Option<f64>,
    /// Time of the CPU's part.
    pub record: Option<f64>,
    /// Time of the GPU's part.
    pub render: Option<f64>,
    /// Duration of the call that presents it.
    pub in_present: Option<f64>,
    /// From the call to the end of its rendering.
    pub until_complete: Option<f64>,
    /// From the call to its light.
    pub until_displayed: Option<f64>,
    /// GPU load in percent.
    pub gpu_load: Option<f64>,
}

/// A log as a load.
#[derive(Clone, Debug)]
pub struct LogCapture {
    pub load: Load,
    /// Origin of the costs.
    pub about: LogCaptureInfo,
}

/// Collects the frames of a log for each program.
pub struct CaptureBuilder {
    format: &'static str,
    interval: Span,
    programs: Vec<ProgramFrames>,
    places: HashMap<String, usize>,
    /// Program of the last frame: usually also of the next, so it is tried first.
    latest: usize,
    cut_off: Option<usize>,
}

#[derive(Default)]
struct ProgramFrames {
    name: String,
    frames: Vec<FrameCost>,
    record: [u64; KINDS.len()],
    render: [u64; KINDS.len()],
    /// Number of frames with an interval, of intervals that are whole refreshes, and of frames with a busy GPU.
    intervals: [u64; 3],
    /// The recent mean interval, in milliseconds.
    usual: Option<f64>,
    /// Times of the last frame: its present, the return from the call, the end of rendering, its light.
    presented: f64,
    returned: Option<f64>,
    completed: f64,
    light: Option<f64>,
    drops: f64,
    lit_for: f64,
    until_light: (f64, u64),
}

impl CaptureBuilder {
    /// For a log of this format, and a display of this interval.
    pub fn new(format: &'static str, interval: Span) -> Self {
        CaptureBuilder { format, interval, programs: Vec::new(), places: HashMap::new(), latest: 0, cut_off: None }
    }

    /// Index of the program called `name`.
    pub fn program(&mut self, name: &str) -> usize {
        // Do not compare two empty names: on some processors that takes as long as the rest of a line.
        let is_same = |latest: &str| latest.len() == name.len() && (name.is_empty() || latest == name);
        if self.programs.get(self.latest).is_some_and(|latest| is_same(&latest.name)) {
            return self.latest;
        }
        let next = self.programs.len();
        self.latest = *self.places.entry(name.to_owned()).or_insert(next);
        if self.latest == next {
            self.programs.push(ProgramFrames { name: name.to_owned(), ..ProgramFrames::default() });
        }
        self.latest
    }

    /// Adds the next frame of a program.
    pub fn add(&mut self, program: usize, sample: &FrameSample) {
        let interval = self.interval.as_millis_f64();
        if let Some(program) = self.programs.get_mut(program) {
            program.add(sample, interval);
        }
    }

    /// Notes that the last line was incomplete and left out.
    pub fn cut_off(&mut self, line: usize) {
        self.cut_off = Some(line);
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.programs.iter().all(|program| program.frames.is_empty())
    }

    /// The frames of the wanted program.
    ///
    /// # Errors
    /// If there are several programs and none is wanted, or if the wanted program is missing.
    pub fn finish(mut self, path: &str, title: String, wanted: &LogRequest<'_>) -> Result<LogCapture, TraceError> {
        self.programs.retain(|program| !program.frames.is_empty());
        let programs = || {
            let one = |program: &ProgramFrames| format!("{} ({} frames)", program.name, program.frames.len());
            self.programs.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let path = path.to_owned();
        let place = match wanted.process {
            Some(wanted) => {
                self.programs.iter().position(|program| program.is_called(wanted)).ok_or_else(|| {
                    TraceError::NoSuchProgram { path, wanted: wanted.to_owned(), programs: programs() }
                })?
            }
            None if self.programs.len() > 1 => return Err(TraceError::Several { path, programs: programs() }),
            None => 0,
        };
        let mut program =
            if self.programs.is_empty() { ProgramFrames::default() } else { self.programs.swap_remove(place) };
        let mut about = program.about(self.format, self.interval);
        about.warnings.extend(self.cut_off.map(|line| CaptureWarning::CutOff { line }));
        let frames = std::mem::take(&mut program.frames);
        Ok(LogCapture { load: Load { name: title, interval: self.interval, animation: 0, frames }, about })
    }
}

impl ProgramFrames {
    /// Accepts `name (number)`, `name`, or the number.
    fn is_called(&self, wanted: &str) -> bool {
        let bare = self.name.split(" (").next().unwrap_or_default();
        self.name == wanted || bare == wanted || self.name.ends_with(&format!("({wanted})"))
    }

    fn add(&mut self, sample: &FrameSample, interval: f64) {
        if let Some(whole) = sample.whole {
            let usual = self.usual.unwrap_or(whole);
            self.usual = Some(usual + (whole - usual) / LOAD_FRAMES);
        }
        let mut rendered = None;
        if let Some((record, render, [record_known, render_known])) = self.stages(sample) {
            let span = Span::from_millis_f64;
            self.frames.push(FrameCost { record: span(record), render: span(render) });
            self.record[record_known as usize] += 1;
            self.render[render_known as usize] += 1;
            rendered = Some(render).filter(|_| render_known != CostOrigin::Bound);
        }
        if let Some(whole) = sample.whole {
            let refreshes = whole / interval;
            let near = refreshes > 0.5 && (refreshes - refreshes.round()).abs() < NEAR_REFRESH;
            let busy = rendered.is_some_and(|render| render > BUSY * whole);
            let full = sample.gpu_load.map_or(busy, |load| load >= FULL_LOAD);
            self.intervals[0] += 1;
            self.intervals[1] += u64::from(near);
            self.intervals[2] += u64::from(full);
            self.presented += whole;
        }
        self.returned = sample.in_present.map(|inside| self.presented + inside);
        if let Some(until) = sample.until_complete {
            self.completed = self.presented + until;
        }
        if let Some(until) = sample.until_displayed.filter(|until| *until > 0.0) {
            self.record_light(self.presented + until, until, interval);
        }
    }

    /// Times of both stages in milliseconds, record first, and how they were found; `None` without any column.
    fn stages(&self, sample: &FrameSample) -> Option<(f64, f64, [CostOrigin; 2])> {
        use CostOrigin::{Assumed, Bound, Derived, Measured};
        let share = |other: f64| ASSUMED_SHARE * other;
        Some(match (sample.record, sample.render, sample.whole) {
            (Some(record), Some(render), _) => (record, render, [Measured, Measured]),
            (None, Some(render), _) => (share(render), render, [Assumed, Measured]),
            (Some(record), None, _) => (record, share(record), [Measured, Assumed]),
            (None, None, None) => return None,
            (None, None, Some(whole)) => match (self.returned, sample.until_complete, sample.gpu_load) {
                (Some(returned), Some(until), _) => {
                    let present = self.presented + whole;
                    let render = present + until - self.completed.max(returned);
                    ((present - returned).max(0.0), render.max(0.0), [Derived, Derived])
                }
                (.., Some(load)) if load < FULL_LOAD => {
                    let usual = self.usual.unwrap_or(whole);
                    (whole, (usual * load.max(1.0) / 100.0).min(whole), [Bound, Derived])
                }
                _ => (share(whole), whole, [Assumed, Bound]),
            },
        })
    }

    /// Records the light of a frame: at `at`, `until` after its present; all in milliseconds.
    fn record_light(&mut self, at: f64, until: f64, interval: f64) {
        self.until_light = (self.until_light.0 + until, self.until_light.1 + 1);
        let gap = self.light.map_or(0.0, |light| at - light);
        if gap > 0.0 && gap / interval <= PAUSE_REFRESHES {
            self.drops += ((gap / interval).round() - 1.0).max(0.0);
            self.lit_for += gap;
        }
        self.light = Some(at);
    }

    fn about(&mut self, format: &'static str, interval: Span) -> LogCaptureInfo {
        let most = |counts: [u64; KINDS.len()]| {
            KINDS.into_iter().max_by_key(|known| counts[*known as usize]).unwrap_or(CostOrigin::Assumed)
        };
        let (record, render) = (most(self.record), most(self.render));
        let mut warnings = Vec::new();
        let share = |count: u64| count as f64 / self.intervals[0].max(1) as f64;
        if record == CostOrigin::Bound || render == CostOrigin::Bound {
            let synchronised = share(self.intervals[1]);
            if synchronised >= MOST {
                warnings
                    .push(CaptureWarning::Synchronised { hertz: 1.0 / interval.as_seconds_f64(), share: synchronised });
                half_a_refresh_less(&mut self.frames, interval);
            } else if let Some((fps, share)) = steady(&self.frames) {
                warnings.push(CaptureWarning::Steady { fps, share });
            }
        }
        if share(self.intervals[2]) >= MOST {
            warnings.push(CaptureWarning::GpuBound { inflated: record == CostOrigin::Derived });
        }
        let recorded = (self.lit_for > 0.0).then(|| CaptureFigures {
            drops_per_s: 1e3 * self.drops / self.lit_for,
            present_to_light_ms: self.until_light.0 / self.until_light.1.max(1) as f64,
        });
        let program = Some(std::mem::take(&mut self.name)).filter(|name| !name.is_empty());
        LogCaptureInfo { format, program, record, render, warnings, recorded }
    }
}

/// Reduces capped costs by half a refresh: an interval of n refreshes means a cost between n − 1 and n of them.
fn half_a_refresh_less(frames: &mut [FrameCost], interval: Span) {
    for frame in frames {
        let slower = frame.slower();
        let refreshes = ((slower + interval / 2).as_nanos() / interval.as_nanos().max(1)).max(1);
        let shorter = (interval * refreshes - interval / 2).min(slower).as_nanos();
        let scaled = |stage: Span| stage.scale(shorter, slower.as_nanos().max(1));
        *frame = FrameCost { record: scaled(frame.record), render: scaled(frame.render) };
    }
}

/// The frame rate that nearly all intervals have, and the share of such intervals.
fn steady(frames: &[FrameCost]) -> Option<(f64, f64)> {
    let step = frames.len() / STEADY_SAMPLES + 1;
    let mut some: Vec<f64> = frames.iter().step_by(step).map(|frame| frame.slower().as_millis_f64()).collect();
    some.sort_unstable_by(f64::total_cmp);
    let median = some.get(some.len() / 2).copied().filter(|median| *median > 0.0)?;
    let near = some.iter().filter(|interval| (*interval - median).abs() < NEAR_OTHERS * median).count();
    let share = near as f64 / some.len() as f64;
    (share >= MOST).then_some((1e3 / median, share))
}

#[cfg(test)]
mod tests;
