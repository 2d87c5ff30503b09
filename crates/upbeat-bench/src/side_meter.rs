//! Side measurements of a client run that take none of the client's time: scheduling noise of the host, and CPU use of
//! another process.
//!
//! ```text
//!   start ── warm-up ──► begin ── the client draws ──► end ──► stop
//!   threads, stacks        └ both take effect at once: no thread is made, and no file is read by the client's thread
//! ```
//!
//! Where all memory is locked, making a thread costs milliseconds of page faults. Reading `/proc` is as slow on a slow
//! machine. At the start of the measured phase this cost the client one late frame, so both happen elsewhere.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::process::{ProcessUsage, ThreadClass, set_scheduling_class};
use crate::sentinel::{STACK, Sentinel};
use crate::statistics::Quantiles;
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// The lowest priority, so that reading `/proc` never delays a measured thread.
const NICENESS: i32 = 19;

/// Results between [`SideMeter::begin`] and [`SideMeter::end`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SideMeasurements {
    /// How late a thread that only sleeps was woken.
    pub noise: Option<Quantiles>,
    /// CPU use of the process, and the time between the two readings.
    pub used: Option<(ProcessUsage, Span)>,
}

/// Threads that measure beside the client.
#[derive(Debug)]
pub struct SideMeter {
    sentinel: Sentinel,
    reader: Option<UsageReader>,
}

impl SideMeter {
    /// Starts the threads; `pid` is the process to read, if any.
    pub fn start(pid: Option<u32>) -> Self {
        SideMeter { sentinel: Sentinel::start(), reader: pid.and_then(UsageReader::start) }
    }

    /// Starts the measured phase.
    pub fn begin(&self) {
        self.sentinel.begin();
        self.reader.iter().for_each(UsageReader::read);
    }

    /// Ends the measured phase.
    pub fn end(&self) {
        self.sentinel.end();
        self.reader.iter().for_each(UsageReader::read);
    }

    /// Joins the threads and returns their results.
    pub fn stop(self) -> SideMeasurements {
        SideMeasurements { noise: self.sentinel.stop(), used: self.reader.and_then(UsageReader::stop) }
    }
}

/// A thread of the lowest priority that reads the CPU use of a process on request.
#[derive(Debug)]
struct UsageReader {
    ask: Sender<()>,
    thread: JoinHandle<Vec<(ProcessUsage, Instant)>>,
}

impl UsageReader {
    fn start(pid: u32) -> Option<Self> {
        let (ask, asked) = channel();
        let thread = std::thread::Builder::new().name("reader".into()).stack_size(STACK);
        Some(UsageReader { ask, thread: thread.spawn(move || read(pid, &asked)).ok()? })
    }

    fn read(&self) {
        let _ = self.ask.send(());
    }

    fn stop(self) -> Option<(ProcessUsage, Span)> {
        drop(self.ask);
        let readings = self.thread.join().ok()?;
        let [(first, begin), .., (last, end)] = readings.as_slice() else { return None };
        Some((last.since(*first), *end - *begin))
    }
}

fn read(pid: u32, asked: &Receiver<()>) -> Vec<(ProcessUsage, Instant)> {
    set_scheduling_class(ThreadClass::Ordinary);
    let _ = rustix::process::setpriority_process(None, NICENESS);
    asked.iter().filter_map(|()| Some((ProcessUsage::of(pid).ok()?, MonotonicClock.now()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::burn;

    #[test]
    fn usage_between_begin_and_end_is_reported() {
        let bystander = SideMeter::start(Some(std::process::id()));
        bystander.begin();
        burn(Span::from_millis(40));
        bystander.end();
        let SideMeasurements { noise, used } = bystander.stop();
        let (used, elapsed) = used.expect("two readings");
        // The first reading may be late, because the burning thread leaves little CPU time to the reader.
        assert!(used.cpu > Span::ZERO && elapsed > Span::ZERO, "{used:?} in {elapsed}");
        assert!(noise.is_some(), "40 ms are five wake-ups");
    }

    #[test]
    fn without_a_process_no_usage_is_reported() {
        let bystander = SideMeter::start(None);
        bystander.begin();
        bystander.end();
        assert!(bystander.stop().used.is_none());
    }
}
