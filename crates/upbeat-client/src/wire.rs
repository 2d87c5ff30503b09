//! Numbers as protocols carry them: 64 bits in two halves, points in time in three parts.

use upbeat_timing::time::{Instant, NANOS_PER_SECOND};

/// A 64-bit number from its high and low half.
pub const fn join(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// A point in time from its seconds (high and low half) and nanoseconds. Saturates.
pub fn instant(seconds_high: u32, seconds_low: u32, nanos: u32) -> Instant {
    let seconds = join(seconds_high, seconds_low).saturating_mul(NANOS_PER_SECOND as u64);
    Instant::from_nanos(seconds.saturating_add(nanos.into()))
}
