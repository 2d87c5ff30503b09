//! What is said of a log before anybody believes what follows from it.

use std::fmt;

/// The part of the slower stage that the other is taken to take where a log does not tell.
pub const ASSUMED_SHARE: f64 = 0.4;

/// How a stage's times came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The log has them.
    Measured,
    /// They follow from what it has.
    Derived,
    /// They are at most that.
    Bound,
    /// They are a guess.
    Assumed,
}

pub(super) const KINDS: [Known; 4] = [Known::Measured, Known::Derived, Known::Bound, Known::Assumed];

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Known::Measured => f.write_str("measured"),
            Known::Derived => f.write_str("derived"),
            Known::Bound => f.write_str("at most the interval"),
            Known::Assumed => write!(f, "assumed ({:.0} % of the other)", 100.0 * ASSUMED_SHARE),
        }
    }
}

/// What has to be said of a log before anybody believes what follows from it.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// Its intervals are whole refreshes.
    Synchronised {
        /// Refreshes per second.
        hertz: f64,
        /// Part of the intervals.
        share: f64,
    },
    /// Its intervals are all the same.
    Steady {
        /// Frames per second.
        fps: f64,
        /// Part of the intervals.
        share: f64,
    },
    /// The GPU was busy all the time.
    GpuBound {
        /// Whether the CPU's times hold the wait for it.
        inflated: bool,
    },
    /// Its last line is not whole.
    CutOff {
        /// Counted from one.
        line: usize,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Synchronised { hertz, share } => write!(
                f,
                "{:.0} % of its intervals are whole refreshes of {hertz:.0} Hz: it was capped there, and tells when frames were \
                 shown rather than what they cost; each is taken to have cost half a refresh less. Log it uncapped to know.",
                100.0 * share
            ),
            Warning::Steady { fps, share } => write!(
                f,
                "{:.0} % of its intervals are the same ({fps:.1} fps): something may have capped it there, and its frames may \
                 cost less than they are taken to.",
                100.0 * share
            ),
            Warning::GpuBound { inflated } => {
                f.write_str("it was GPU-bound: drawing ahead evens such frames out, and makes none of them faster")?;
                f.write_str(if *inflated {
                    "; the CPU's times hold its wait for the GPU and are too long."
                } else {
                    "."
                })
            }
            Warning::CutOff { line } => write!(f, "its last line ({line}) is cut off and was left out."),
        }
    }
}

/// How the frames fared when they were recorded, where the log tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AsRecorded {
    /// Refreshes without a new frame per second.
    pub drops_per_s: f64,
    /// From presenting a frame to its light in milliseconds, on average.
    pub present_to_light_ms: f64,
}

/// Where a load comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// The format of the log.
    pub format: &'static str,
    /// The program, where the log tells.
    pub program: Option<String>,
    /// How the CPU's part came about.
    pub record: Known,
    /// How the GPU's part came about.
    pub render: Known,
    /// What to be careful of.
    pub warnings: Vec<Warning>,
    /// How it was, on a display of the rate that is asked for.
    pub recorded: Option<AsRecorded>,
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let About { format, program, record, render, recorded, .. } = self;
        write!(f, "{format}")?;
        if let Some(program) = program {
            write!(f, ", {program}")?;
        }
        write!(f, "; recording: {record}; rendering: {render}")?;
        if let Some(AsRecorded { drops_per_s, present_to_light_ms }) = recorded {
            write!(f, "; as recorded: {drops_per_s:.2} drops/s, {present_to_light_ms:.1} ms from presenting to light")?;
        }
        Ok(())
    }
}
