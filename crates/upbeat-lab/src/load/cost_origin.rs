//! Origin of a log's costs, and reasons to doubt them.

use std::fmt;

/// Assumed cost of an unknown stage, as a part of the slower stage.
pub const ASSUMED_SHARE: f64 = 0.4;

/// How the times of a stage were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostOrigin {
    /// The log contains them.
    Measured,
    /// They are computed from other columns.
    Derived,
    /// They are an upper bound.
    Bound,
    /// They are a guess.
    Assumed,
}

pub(super) const KINDS: [CostOrigin; 4] =
    [CostOrigin::Measured, CostOrigin::Derived, CostOrigin::Bound, CostOrigin::Assumed];

impl fmt::Display for CostOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostOrigin::Measured => f.write_str("measured"),
            CostOrigin::Derived => f.write_str("derived"),
            CostOrigin::Bound => f.write_str("at most the interval"),
            CostOrigin::Assumed => write!(f, "assumed ({:.0} % of the other)", 100.0 * ASSUMED_SHARE),
        }
    }
}

/// A reason to doubt the results of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum CaptureWarning {
    /// Its intervals are whole refreshes.
    Synchronised {
        hertz: f64,
        /// Share of such intervals.
        share: f64,
    },
    /// Its intervals are all the same.
    Steady {
        fps: f64,
        /// Share of such intervals.
        share: f64,
    },
    /// The GPU was busy all the time.
    GpuBound {
        /// Whether the CPU times include the wait for the GPU.
        inflated: bool,
    },
    /// Its last line is incomplete.
    CutOff {
        /// Counted from one.
        line: usize,
    },
}

impl fmt::Display for CaptureWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaptureWarning::Synchronised { hertz, share } => write!(
                f,
                "{:.0} % of its intervals are whole refreshes of {hertz:.0} Hz: it was capped there, so it \
                 tells when frames were shown, not what they cost; each is assumed to cost half a refresh less. For the true \
                 costs record it without the cap.",
                100.0 * share
            ),
            CaptureWarning::Steady { fps, share } => write!(
                f,
                "{:.0} % of its intervals are the same ({fps:.1} fps): something may have capped it there, and its frames may \
                 cost less than assumed.",
                100.0 * share
            ),
            CaptureWarning::GpuBound { inflated } => {
                f.write_str("it was GPU-bound: drawing ahead evens such frames out, and makes none of them faster")?;
                f.write_str(if *inflated {
                    "; the CPU times include the wait for the GPU and are too long."
                } else {
                    "."
                })
            }
            CaptureWarning::CutOff { line } => write!(f, "its last line ({line}) is cut off and was left out."),
        }
    }
}

/// Figures of the recorded run itself, where the log has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaptureFigures {
    /// Refreshes without a new frame per second.
    pub drops_per_s: f64,
    /// From presenting a frame to its light, on average, in milliseconds.
    pub present_to_light_ms: f64,
}

/// Origin of a load.
#[derive(Clone, Debug, PartialEq)]
pub struct LogCaptureInfo {
    /// The format of the log.
    pub format: &'static str,
    /// The program, if the log names it.
    pub program: Option<String>,
    /// How the CPU times were found.
    pub record: CostOrigin,
    /// How the GPU times were found.
    pub render: CostOrigin,
    pub warnings: Vec<CaptureWarning>,
    /// Figures of the recorded run, on a display of the requested rate.
    pub recorded: Option<CaptureFigures>,
}

impl fmt::Display for LogCaptureInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogCaptureInfo { format, program, record, render, recorded, .. } = self;
        write!(f, "{format}")?;
        if let Some(program) = program {
            write!(f, ", {program}")?;
        }
        write!(f, "; recording: {record}; rendering: {render}")?;
        if let Some(CaptureFigures { drops_per_s, present_to_light_ms }) = recorded {
            write!(f, "; as recorded: {drops_per_s:.2} drops/s, {present_to_light_ms:.1} ms from presenting to light")?;
        }
        Ok(())
    }
}
