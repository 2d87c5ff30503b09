//! CPU time of one thread of the client.

use rustix::time::{ClockId, clock_gettime};

use upbeat_timing::time::{NANOS_PER_SECOND, Span};

/// CPU time of this thread, without the playing thread.
pub(super) fn own_cpu() -> Span {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Span::from_nanos(time.tv_sec * NANOS_PER_SECOND + time.tv_nsec)
}
