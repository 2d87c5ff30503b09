//! Decodes numbers as protocols carry them: 64 bits in two halves, times in three parts.

use upbeat_timing::time::{Instant, NANOS_PER_SECOND};

/// Joins the high and low half of a 64-bit number.
pub const fn join(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// A time from its seconds (high and low half) and nanoseconds. Saturates on overflow.
pub fn instant(seconds_high: u32, seconds_low: u32, nanos: u32) -> Instant {
    let seconds = join(seconds_high, seconds_low).saturating_mul(NANOS_PER_SECOND as u64);
    Instant::from_nanos(seconds.saturating_add(nanos.into()))
}
