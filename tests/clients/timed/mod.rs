//! Measurements of a session in one process with its clients: CPU time of the session's thread.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

mod bands;
mod capture;
mod crowded_trees;
mod disconnect;
mod drawing;
mod each_turn;
mod layout;
mod many_windows;
mod strips;

pub fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
