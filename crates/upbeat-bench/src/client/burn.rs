//! Spends CPU time, as a client that draws does.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

use upbeat_timing::time::{Instant, NANOS_PER_SECOND, Span};

/// Steps between two reads of the clock: well under a microsecond, so that the cost is exact to the microsecond.
const STEPS: u32 = 100;

/// Keeps the calling thread busy until it has used `cost` of CPU time (`CLOCK_THREAD_CPUTIME_ID`): preemption makes it
/// later, not cheaper. The loop is plain arithmetic, because a pause instruction would let an emulator give its CPU
/// away.
pub fn burn(cost: Span) {
    burn_rest(cost, || ());
}

/// Does `work` and burns the rest of `cost`, so that both together cost `cost`.
pub fn burn_rest(cost: Span, work: impl FnOnce()) {
    let end = used() + cost;
    work();
    let mut state = 1u32;
    while used() < end {
        for _ in 0..STEPS {
            state = black_box(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        }
    }
}

/// CPU time of the calling thread so far, as a point on its own clock.
fn used() -> Instant {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Instant::from_nanos(time.tv_sec as u64 * NANOS_PER_SECOND as u64 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn burning_uses_at_least_the_cost() {
        let before = used();
        burn(Span::from_millis(3));
        assert!(used() - before >= Span::from_millis(3));
    }
}
