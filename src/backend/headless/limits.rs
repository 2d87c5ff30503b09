//! What modes and options a virtual output takes.

use crate::backend::Mode;
use upbeat_timing::time::Span;

/// The largest width and height that a virtual output takes, in pixels: it can be recorded.
pub use upbeat_record::recording::LARGEST_SIZE;
/// The most pixels that it takes: an 8K panel twice over. Beyond that one frame takes seconds of the CPU.
pub const MOST_PIXELS: i64 = 2 * 7_680 * 4_320;
/// The slowest and the fastest rate that it takes, in millihertz.
pub const RATES: std::ops::RangeInclusive<u32> = 1_000..=1_000_000;
/// One buffer on screen, one waiting, one being composed.
pub const FEWEST_BUFFERS: usize = 3;
/// More make the buffers older and nothing faster.
pub const MOST_BUFFERS: usize = 8;

/// What is wrong with a mode or an option.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum OptionsError {
    /// The size is out of range.
    #[error("size {0}x{1}: width and height must lie in 1..={LARGEST_SIZE}")]
    Size(i32, i32),
    /// Too many pixels.
    #[error("size {0}x{1}: more than {MOST_PIXELS} pixels")]
    Pixels(i32, i32),
    /// The rate is out of range.
    #[error("refresh rate {0} mHz: must lie in 1000..=1000000")]
    Rate(u32),
    /// The range of variable refresh is empty, backwards or out of range.
    #[error("variable refresh {shortest} to {longest}: must be ascending and lie in 1 ms to 1 s")]
    VariableRefresh {
        /// The shortest interval asked for.
        shortest: Span,
        /// The longest interval asked for.
        longest: Span,
    },
    /// Too few or too many buffers.
    #[error("{0} buffers: must lie in {FEWEST_BUFFERS}..={MOST_BUFFERS}")]
    Buffers(usize),
    /// The submit lead is negative or longer than a second.
    #[error("submit lead {0}: must lie in 0 to 1 s")]
    SubmitLead(Span),
}

/// Whether a virtual output can have this mode.
pub(super) fn check_mode(mode: Mode) -> Result<(), OptionsError> {
    let sizes = 1..=LARGEST_SIZE;
    if !sizes.contains(&mode.width) || !sizes.contains(&mode.height) {
        return Err(OptionsError::Size(mode.width, mode.height));
    }
    if i64::from(mode.width) * i64::from(mode.height) > MOST_PIXELS {
        return Err(OptionsError::Pixels(mode.width, mode.height));
    }
    if !RATES.contains(&mode.refresh) {
        return Err(OptionsError::Rate(mode.refresh));
    }
    Ok(())
}
