//! Measures the scheduling noise of the host: how late the kernel wakes a thread that only sleeps.
//!
//! A figure of latency from an ordinary machine means nothing without it. The sentinel asks for a wake-up every
//! `PERIOD` and notes the delay; a compositor's timer on the same machine is late by as much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec};

use crate::statistics::Quantiles;
use upbeat_timing::time::{Clock, Instant, MonotonicClock, NANOS_PER_SECOND, Span};

/// Not a divisor of a common refresh interval, so that all phases of the refresh are sampled.
const PERIOD: Span = Span::from_micros(7_300);

/// A small stack in bytes, because the kernel allocates all of it at once where memory is locked.
pub(super) const STACK: usize = 64 * 1024;

#[derive(Debug)]
pub struct Sentinel {
    counts: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<Span>>>,
}

impl Sentinel {
    /// Starts the thread, with the scheduling class of the caller. Counting starts with [`Self::begin`]. If the thread
    /// cannot be made, the report is empty.
    pub fn start() -> Self {
        let [counts, stop] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let seen = (Arc::clone(&counts), Arc::clone(&stop));
        let thread = std::thread::Builder::new().name("sentinel".into()).stack_size(STACK);
        let thread = thread.spawn(move || watch(&seen.0, &seen.1)).ok();
        Sentinel { counts, stop, thread }
    }

    /// Wake-ups count from now on.
    pub fn begin(&self) {
        self.counts.store(true, Ordering::Relaxed);
    }

    /// Wake-ups no longer count.
    pub fn end(&self) {
        self.counts.store(false, Ordering::Relaxed);
    }

    /// Ends the thread (within `PERIOD`) and returns the delays of its wake-ups.
    pub fn stop(mut self) -> Option<Quantiles> {
        self.stop.store(true, Ordering::Relaxed);
        Quantiles::of(self.thread.take()?.join().ok()?)
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn watch(counts: &AtomicBool, stop: &AtomicBool) -> Vec<Span> {
    let mut late = Vec::with_capacity(16 * 1024);
    let mut due = MonotonicClock.now();
    while !stop.load(Ordering::Relaxed) {
        due += PERIOD;
        if sleep_until(due).is_err() {
            break;
        }
        let now = MonotonicClock.now();
        if counts.load(Ordering::Relaxed) {
            late.push(now - due);
        }
        if now - due > PERIOD {
            due = now; // a suspend, or a stopped process: one late wake-up, not hundreds
        }
    }
    late
}

fn sleep_until(due: Instant) -> rustix::io::Result<()> {
    let nanos = due.as_nanos() as i64;
    let due = Timespec { tv_sec: nanos / NANOS_PER_SECOND, tv_nsec: nanos % NANOS_PER_SECOND };
    loop {
        match clock_nanosleep_absolute(ClockId::Monotonic, &due) {
            Err(rustix::io::Errno::INTR) => {}
            other => return other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentinel_reports_wake_ups_that_are_never_early() {
        let sentinel = Sentinel::start();
        sentinel.begin();
        std::thread::sleep((PERIOD * 5).to_duration());
        let late = sentinel.stop().expect("five periods give at least one wake-up");
        assert!(late.p50 >= 0.0 && late.max >= late.p50);
    }
}
