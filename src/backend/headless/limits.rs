//! The valid modes and options of a virtual output.

use crate::backend::VideoMode;
use upbeat_timing::time::Span;

/// The largest width and height of a virtual output in pixels, which is the limit of recordings.
pub use upbeat_record::recording::LARGEST_SIZE;
/// The largest number of pixels: two 8K panels. Beyond that one frame takes seconds of CPU time.
pub const MOST_PIXELS: i64 = 2 * 7_680 * 4_320;
/// The slowest and the fastest rate, in millihertz.
pub const RATES: std::ops::RangeInclusive<u32> = 1_000..=1_000_000;
/// One buffer each: on screen, waiting, composed into.
pub const FEWEST_BUFFERS: usize = 3;
/// More buffers only get older, and make nothing faster.
pub const MOST_BUFFERS: usize = 8;

/// The most overlay planes. The CPU copies each of them, and hardware has fewer.
pub const MOST_OVERLAYS: u32 = 8;

/// Why a mode or an option is invalid.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum OptionsError {
    /// The size is out of range.
    #[error("size {0}x{1}: width and height must lie in 1..={LARGEST_SIZE}")]
    Size(i32, i32),
    /// Width and height exceed [`MOST_PIXELS`].
    #[error("size {0}x{1}: more than {MOST_PIXELS} pixels")]
    Pixels(i32, i32),
    /// The rate is out of range.
    #[error("refresh rate {0} mHz: must lie in 1000..=1000000")]
    Rate(u32),
    /// The range of variable refresh is empty, backwards or out of range.
    #[error("variable refresh {shortest} to {longest}: must be ascending and lie in 1 ms to 1 s")]
    VariableRefresh {
        /// The requested shortest interval.
        shortest: Span,
        /// The requested longest interval.
        longest: Span,
    },
    /// Too few or too many buffers.
    #[error("{0} buffers: must lie in {FEWEST_BUFFERS}..={MOST_BUFFERS}")]
    Buffers(usize),
    /// Too many overlay planes.
    #[error("{0} overlay planes: must lie in 0..={MOST_OVERLAYS}")]
    Overlays(u32),
    /// The submit lead is negative or longer than a second.
    #[error("submit lead {0}: must lie in 0 to 1 s")]
    SubmitLead(Span),
}

/// Whether a virtual output can have this mode.
pub(super) fn check_mode(mode: VideoMode) -> Result<(), OptionsError> {
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
