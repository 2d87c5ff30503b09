//! What is found out beside a client that is measured, without taking any of its time: the host's noise, and what another
//! process uses.
//!
//! ```text
//!   start ── warm-up ──► begin ── the client draws ──► end ──► stop
//!   threads, stacks        └ both take effect at once: no thread is made, and no file is read by the client's thread
//! ```
//!
//! A thread is milliseconds of page faults where all memory is locked, and so are the files of a process on a slow machine:
//! at the start of what is measured they were the client's one late frame.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use crate::process::{Class, Usage, take_class};
use crate::sentinel::{STACK, Sentinel};
use crate::statistics::Quantiles;
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Behind everybody else.
const NICENESS: i32 = 19;

/// What was found out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Found {
    /// How late a thread that only sleeps was woken.
    pub noise: Option<Quantiles>,
    /// What the process used, and in how long a time.
    pub used: Option<(Usage, Span)>,
}

/// Who finds it out.
#[derive(Debug)]
pub struct Bystander {
    sentinel: Sentinel,
    reader: Option<Reader>,
}

impl Bystander {
    /// Makes its threads; they look at the process `pid`, if there is one.
    pub fn start(pid: Option<u32>) -> Self {
        Bystander { sentinel: Sentinel::start(), reader: pid.and_then(Reader::start) }
    }

    /// From now on it counts.
    pub fn begin(&self) {
        self.sentinel.begin();
        self.reader.iter().for_each(Reader::read);
    }

    /// Until now.
    pub fn end(&self) {
        self.sentinel.end();
        self.reader.iter().for_each(Reader::read);
    }

    /// Waits for what was found out.
    pub fn stop(self) -> Found {
        Found { noise: self.sentinel.stop(), used: self.reader.and_then(Reader::stop) }
    }
}

/// Reads what a process has used when it is told to, as soon as nobody else wants to run.
#[derive(Debug)]
struct Reader {
    ask: Sender<()>,
    thread: JoinHandle<Vec<(Usage, Instant)>>,
}

impl Reader {
    fn start(pid: u32) -> Option<Self> {
        let (ask, asked) = channel();
        let thread = std::thread::Builder::new().name("reader".into()).stack_size(STACK);
        Some(Reader { ask, thread: thread.spawn(move || read(pid, &asked)).ok()? })
    }

    fn read(&self) {
        let _ = self.ask.send(());
    }

    fn stop(self) -> Option<(Usage, Span)> {
        drop(self.ask);
        let readings = self.thread.join().ok()?;
        let [(first, begin), .., (last, end)] = readings.as_slice() else { return None };
        Some((last.since(*first), *end - *begin))
    }
}

fn read(pid: u32, asked: &Receiver<()>) -> Vec<(Usage, Instant)> {
    take_class(Class::Ordinary);
    let _ = rustix::process::setpriority_process(None, NICENESS);
    asked.iter().filter_map(|()| Some((Usage::of(pid).ok()?, MonotonicClock.now()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::burn;

    #[test]
    fn what_was_used_between_begin_and_end_is_found() {
        let bystander = Bystander::start(Some(std::process::id()));
        bystander.begin();
        burn(Span::from_millis(40));
        bystander.end();
        let Found { noise, used } = bystander.stop();
        let (used, elapsed) = used.expect("two readings");
        // The first may be late, by what a burning thread leaves to others.
        assert!(used.cpu > Span::ZERO && elapsed > Span::ZERO, "{used:?} in {elapsed}");
        assert!(noise.is_some(), "40 ms are five wake-ups");
    }

    #[test]
    fn of_nobody_nothing_is_found() {
        let bystander = Bystander::start(None);
        bystander.begin();
        bystander.end();
        assert!(bystander.stop().used.is_none());
    }
}
