//! Time limits for one piece of work.
//!
//! The time that work takes depends on the host, and on other programs on it. Here a limit finds hangs, and counts
//! only the CPU time of the thread. Where `UPBEAT_COUNTED=1` is set the tests run in a guest whose clock counts
//! instructions: there the tight limits hold, and waiting counts, too.

use std::sync::LazyLock;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// No piece of work needs this much CPU time on any host, unless it hangs or is quadratic.
const HANG_LIMIT: Duration = Duration::from_secs(60);

static COUNTED: LazyLock<bool> = LazyLock::new(|| std::env::var("UPBEAT_COUNTED").is_ok_and(|value| value == "1"));

/// Measures one piece of work of this thread.
pub struct Stopwatch {
    start: Duration,
}

impl Stopwatch {
    pub fn start() -> Self {
        Stopwatch { start: now() }
    }

    pub fn elapsed(&self) -> Duration {
        now().saturating_sub(self.start)
    }
}

fn now() -> Duration {
    let clock = if *COUNTED { ClockId::Monotonic } else { ClockId::ThreadCPUTime };
    clock_gettime(clock).try_into().unwrap()
}

/// `tight` in a guest that counts instructions, the hang limit elsewhere.
pub fn limit(tight: Duration) -> Duration {
    if *COUNTED { tight } else { HANG_LIMIT }
}
