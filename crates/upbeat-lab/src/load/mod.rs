//! Loads: what frames cost, from logs or made up by seed.
//!
//! ```text
//!  CSV ───────► csv ───────┐
//!  CapFrameX ─► capframex ─┤
//!  ftrace, Sysprof ► marks ┴─► Sample ─► capture: which stages are known, what is wrong with it ─► Capture { Load, About }
//!  --frame-log ──────────────────────────────────────────────────────────────────► frame_log ─► Recorded
//! ```

mod about;
pub mod capframex;
mod capture;
pub mod csv;
pub mod frame_log;
pub mod ftrace;
mod marks;
pub mod synthetic;
pub mod sysprof;

use std::io::{BufRead, BufReader};
use std::path::Path;

pub use about::{About, AsRecorded, Known, Warning};
pub use capture::Capture;

use upbeat_timing::time::Span;

/// The cost of one frame, in the two stages of the pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCost {
    /// Recording: the CPU part (layout, animation, command list).
    pub record: Span,
    /// Rendering: the GPU part, which overlaps with the recording of the next frame.
    pub render: Span,
}

impl FrameCost {
    /// Both stages, one after the other.
    pub fn total(self) -> Span {
        self.record + self.render
    }

    /// The stage that takes longer: with frames that follow each other without a pause, their distance.
    pub fn slower(self) -> Span {
        self.record.max(self.render)
    }
}

/// A sequence of frames.
#[derive(Clone, Debug)]
pub struct Load {
    /// What it is called in reports.
    pub name: String,
    /// The refresh interval of the display that it runs on.
    pub interval: Span,
    /// Frames of one animation; the pipeline is empty at the start of each. Zero: all frames are one animation.
    pub animation: usize,
    /// The costs in order.
    pub frames: Vec<FrameCost>,
}

impl Load {
    /// The animations, one after the other.
    pub fn animations(&self) -> impl Iterator<Item = &[FrameCost]> {
        let length = if self.animation == 0 { self.frames.len() } else { self.animation };
        self.frames.chunks(length.max(1))
    }

    /// The same load in animations of `length` frames.
    pub fn in_animations_of(&self, length: usize) -> Load {
        Load { animation: length, name: format!("{} in {length}s", self.name), ..self.clone() }
    }

    /// The share of frames whose total cost exceeds `periods` refresh intervals.
    pub fn share_above(&self, periods: f64) -> f64 {
        let limit = self.interval.as_nanos() as f64 * periods;
        let above = self.frames.iter().filter(|frame| frame.total().as_nanos() as f64 > limit).count();
        above as f64 / self.frames.len().max(1) as f64
    }

    /// The mean total cost in refresh intervals.
    pub fn mean_periods(&self) -> f64 {
        let sum: Span = self.frames.iter().map(|frame| frame.total()).sum();
        sum.as_nanos() as f64 / self.interval.as_nanos().max(1) as f64 / self.frames.len().max(1) as f64
    }
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be opened or read.
    #[error("{path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// A line is not what the format asks for.
    #[error("{path}:{line}:{column}: {what}")]
    Malformed {
        /// The file.
        path: String,
        /// Counted from one.
        line: usize,
        /// In characters, counted from one.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// Frames of several programs are in it.
    #[error("{path}: frames of several programs are in it: {programs}; say which with --process NAME or ID")]
    Several {
        /// The file.
        path: String,
        /// Their names, numbers and frames.
        programs: String,
    },
    /// No frame of the one that was asked for is in it.
    #[error("{path}: no frame of `{wanted}` is in it; there are {programs}")]
    NoSuchProgram {
        /// The file.
        path: String,
        /// What was asked for.
        wanted: String,
        /// Those that are there.
        programs: String,
    },
}

/// What is asked of a log.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// The refresh interval of the display that its frames are to run on.
    pub interval: Span,
    /// The program, by its name or number; needed where there are several.
    pub process: Option<&'a str>,
}

/// Reads a log of frame times: CSV, CapFrameX's JSON, or the marks of a trace (ftrace as text, Sysprof).
///
/// # Errors
/// If it cannot be opened, is of no known format, has a line that makes no sense (which is named), or has frames of
/// several programs and none is asked for.
pub fn read(path: &Path, wanted: &Wanted<'_>) -> Result<Capture, TraceError> {
    let name = path.display().to_string();
    let unreadable = |source| TraceError::Unreadable { path: name.clone(), source };
    let mut reader = BufReader::with_capacity(1 << 16, std::fs::File::open(path).map_err(unreadable)?);
    let start = reader.fill_buf().map_err(unreadable)?;
    let is_capture = start.starts_with(&sysprof::MAGIC);
    let is_trace = !is_capture && ftrace::is_trace(start);
    let is_json = start.iter().find(|byte| !byte.is_ascii_whitespace() && **byte < 0x80) == Some(&b'{');
    let title = path.file_stem().map_or_else(|| name.clone(), |stem| stem.to_string_lossy().into_owned());
    if is_capture {
        sysprof::parse(reader, &name, title, wanted)
    } else if is_trace {
        ftrace::parse(reader, &name, title, wanted)
    } else if is_json {
        capframex::parse(reader, &name, title, wanted)
    } else {
        csv::parse(reader, &name, title, wanted)
    }
}
