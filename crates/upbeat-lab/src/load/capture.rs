//! From what logs tell of a frame to what it cost, and how far that can be trusted.
//!
//! | the log tells | recording | rendering |
//! |---|---|---|
//! | both stages | measured | measured |
//! | the interval, time in `Present`, when the GPU was done (PresentMon 1, FrameView, CapFrameX) | interval less `Present`: derived | from the end of the frame before it to its own: derived |
//! | the interval and the GPU's load (MangoHud), which is full | assumed, [`ASSUMED_SHARE`] of the other | the interval, as a bound |
//! | the interval and the GPU's load, which is not full | the interval, as a bound | the load's share of the intervals of late: derived |
//! | the interval | assumed, [`ASSUMED_SHARE`] of the other | the interval, as a bound |
//!
//! The stages of consecutive frames overlap, so that frames that follow each other without a pause are as far apart as the
//! slower stage takes. Where a limit or the display held the program up they are further apart: a bound, and no more.

use std::collections::HashMap;

use super::about::{ASSUMED_SHARE, About, AsRecorded, KINDS, Known, Warning};
use super::{FrameCost, Load, TraceError, Wanted};
use upbeat_timing::time::Span;

/// A GPU with this much load in percent is what the program waits for.
const FULL_LOAD: f64 = 95.0;
/// A capture is GPU-bound where rendering takes this part of the interval…
const BUSY: f64 = 0.9;
/// …in this part of the frames; and it is capped where this part of its intervals are whole refreshes.
const MOST: f64 = 0.75;
/// How far from a whole number of refreshes an interval may be, in refreshes.
const NEAR_REFRESH: f64 = 0.04;
/// How far apart the intervals of a capture that something holds at one rate are, as a part of them.
const NEAR_OTHERS: f64 = 0.015;
/// A GPU's load is that of the half second before it was read, about so many frames.
const LOAD_FRAMES: f64 = 32.0;
/// Frames that are looked at to find out whether they are steady.
const STEADY_SAMPLES: usize = 50_000;
/// Refreshes without a new frame that are a pause, and no drops.
const PAUSE_REFRESHES: f64 = 30.0;

/// What a log says of one frame, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Since the frame before it.
    pub whole: Option<f64>,
    /// The CPU's part.
    pub record: Option<f64>,
    /// The GPU's part.
    pub render: Option<f64>,
    /// How long the call took that presents it.
    pub in_present: Option<f64>,
    /// From that call to the end of its rendering.
    pub until_complete: Option<f64>,
    /// From that call to its light.
    pub until_displayed: Option<f64>,
    /// How busy the GPU was, in percent.
    pub gpu_load: Option<f64>,
}

/// A log as a load.
#[derive(Clone, Debug)]
pub struct Capture {
    /// What its frames cost.
    pub load: Load,
    /// How that is known.
    pub about: About,
}

/// Gathers the frames of a log, of each program for itself.
pub struct Gatherer {
    format: &'static str,
    interval: Span,
    programs: Vec<Program>,
    places: HashMap<String, usize>,
    /// The program of the frame before: mostly that of the next.
    latest: usize,
    cut_off: Option<usize>,
}

#[derive(Default)]
struct Program {
    name: String,
    frames: Vec<FrameCost>,
    record: [u64; KINDS.len()],
    render: [u64; KINDS.len()],
    /// Frames with an interval, those of them at whole refreshes, and those whose GPU was busy.
    intervals: [u64; 3],
    /// The mean interval of late, in milliseconds.
    usual: Option<f64>,
    /// When the frame before was presented, and left the call; when its rendering was done, and when it was light.
    presented: f64,
    returned: Option<f64>,
    completed: f64,
    light: Option<f64>,
    drops: f64,
    lit_for: f64,
    until_light: (f64, u64),
}

impl Gatherer {
    /// For a log of this format and a display of this interval.
    pub fn new(format: &'static str, interval: Span) -> Self {
        Gatherer { format, interval, programs: Vec::new(), places: HashMap::new(), latest: 0, cut_off: None }
    }

    /// The number of the program called `name`.
    pub fn program(&mut self, name: &str) -> usize {
        // Two empty names are not compared: some processors take as long for that as for the rest of a line.
        let is_same = |latest: &str| latest.len() == name.len() && (name.is_empty() || latest == name);
        if self.programs.get(self.latest).is_some_and(|latest| is_same(&latest.name)) {
            return self.latest;
        }
        let next = self.programs.len();
        self.latest = *self.places.entry(name.to_owned()).or_insert(next);
        if self.latest == next {
            self.programs.push(Program { name: name.to_owned(), ..Program::default() });
        }
        self.latest
    }

    /// The next frame of a program.
    pub fn add(&mut self, program: usize, sample: &Sample) {
        let interval = self.interval.as_millis_f64();
        if let Some(program) = self.programs.get_mut(program) {
            program.add(sample, interval);
        }
    }

    /// The last line, which is this one, was left out.
    pub fn cut_off(&mut self, line: usize) {
        self.cut_off = Some(line);
    }

    /// Whether no frame has come.
    pub fn is_empty(&self) -> bool {
        self.programs.iter().all(|program| program.frames.is_empty())
    }

    /// The frames of the program that is wanted.
    ///
    /// # Errors
    /// If there are several and none is wanted, or not the one that is.
    pub fn finish(mut self, path: &str, title: String, wanted: &Wanted<'_>) -> Result<Capture, TraceError> {
        self.programs.retain(|program| !program.frames.is_empty());
        let programs = || {
            let one = |program: &Program| format!("{} ({} frames)", program.name, program.frames.len());
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
        let mut program = if self.programs.is_empty() { Program::default() } else { self.programs.swap_remove(place) };
        let mut about = program.about(self.format, self.interval);
        about.warnings.extend(self.cut_off.map(|line| Warning::CutOff { line }));
        let frames = std::mem::take(&mut program.frames);
        Ok(Capture { load: Load { name: title, interval: self.interval, animation: 0, frames }, about })
    }
}

impl Program {
    /// Programs are called `name (number)`, `name`, or by their number.
    fn is_called(&self, wanted: &str) -> bool {
        let bare = self.name.split(" (").next().unwrap_or_default();
        self.name == wanted || bare == wanted || self.name.ends_with(&format!("({wanted})"))
    }

    fn add(&mut self, sample: &Sample, interval: f64) {
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
            rendered = Some(render).filter(|_| render_known != Known::Bound);
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
            self.lit(self.presented + until, until, interval);
        }
    }

    /// A frame's stages in milliseconds, record first, and how they are known; `None` where nothing is.
    fn stages(&self, sample: &Sample) -> Option<(f64, f64, [Known; 2])> {
        use Known::{Assumed, Bound, Derived, Measured};
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

    /// It was light at `at`, `until` after it was presented; all in milliseconds.
    fn lit(&mut self, at: f64, until: f64, interval: f64) {
        self.until_light = (self.until_light.0 + until, self.until_light.1 + 1);
        let gap = self.light.map_or(0.0, |light| at - light);
        if gap > 0.0 && gap / interval <= PAUSE_REFRESHES {
            self.drops += ((gap / interval).round() - 1.0).max(0.0);
            self.lit_for += gap;
        }
        self.light = Some(at);
    }

    fn about(&mut self, format: &'static str, interval: Span) -> About {
        let most = |counts: [u64; KINDS.len()]| {
            KINDS.into_iter().max_by_key(|known| counts[*known as usize]).unwrap_or(Known::Assumed)
        };
        let (record, render) = (most(self.record), most(self.render));
        let mut warnings = Vec::new();
        let share = |count: u64| count as f64 / self.intervals[0].max(1) as f64;
        if record == Known::Bound || render == Known::Bound {
            let synchronised = share(self.intervals[1]);
            if synchronised >= MOST {
                warnings.push(Warning::Synchronised { hertz: 1.0 / interval.as_seconds_f64(), share: synchronised });
                half_a_refresh_less(&mut self.frames, interval);
            } else if let Some((fps, share)) = steady(&self.frames) {
                warnings.push(Warning::Steady { fps, share });
            }
        }
        if share(self.intervals[2]) >= MOST {
            warnings.push(Warning::GpuBound { inflated: record == Known::Derived });
        }
        let recorded = (self.lit_for > 0.0).then(|| AsRecorded {
            drops_per_s: 1e3 * self.drops / self.lit_for,
            present_to_light_ms: self.until_light.0 / self.until_light.1.max(1) as f64,
        });
        let program = Some(std::mem::take(&mut self.name)).filter(|name| !name.is_empty());
        About { format, program, record, render, warnings, recorded }
    }
}

/// An interval of n whole refreshes was made by a frame that took more than n − 1 of them and at most n.
fn half_a_refresh_less(frames: &mut [FrameCost], interval: Span) {
    for frame in frames {
        let slower = frame.slower();
        let refreshes = ((slower + interval / 2).as_nanos() / interval.as_nanos().max(1)).max(1);
        let shorter = (interval * refreshes - interval / 2).min(slower).as_nanos();
        let scaled = |stage: Span| stage.scale(shorter, slower.as_nanos().max(1));
        *frame = FrameCost { record: scaled(frame.record), render: scaled(frame.render) };
    }
}

/// The rate at which nearly all frames follow each other, and how many do.
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
