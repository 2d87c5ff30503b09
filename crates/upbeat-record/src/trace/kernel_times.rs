//! Asking the kernel what it did instead of running us: `/proc/thread-self/schedstat` and `/proc/stat`.
//!
//! Both are read when a miss is recorded, and at most four times a second while frames are shown, so that the while
//! that is told about is short. Nothing is read while nothing is shown. `/proc/stat` costs tens of microseconds, more
//! on machines with many CPUs: where no host ever took anything (hardware, nearly always) only a miss reads it.

use std::fs::File;
use std::os::unix::fs::FileExt;

use upbeat_timing::record::{Interference, InterferenceMeter, KernelTimes};
use upbeat_timing::time::{Instant, Span};

/// How old what the next miss is compared with may be.
const BASELINE: Span = Span::from_millis(250);

/// `/proc/stat` counts in hundredths of a second on every Linux that has it (`USER_HZ`, a part of its interface).
const TICK: Span = Span::from_millis(10);

/// The beginning of `/proc/stat`, where the sum of all CPUs is: ten numbers.
const FIRST_LINE: usize = 256;

/// What the kernel counts for the thread that made it, and for the machine.
#[derive(Debug)]
pub struct KernelTimer {
    thread: Option<File>,
    machine: Option<File>,
    /// A host took time from this machine before.
    has_thief: bool,
    meter: InterferenceMeter,
}

impl KernelTimer {
    /// For the calling thread, from `now` on. Where there is no `/proc` it measures late wake-ups only.
    pub fn start(now: Instant) -> Self {
        let mut timer = KernelTimer {
            thread: File::open("/proc/thread-self/schedstat").ok(),
            machine: File::open("/proc/stat").ok(),
            has_thief: true,
            meter: InterferenceMeter::default(),
        };
        timer.restart(now);
        timer
    }

    /// A wake-up came this late.
    pub fn woke(&mut self, late: Span) {
        self.meter.woke(late);
    }

    /// A frame was shown in time.
    pub fn passed(&mut self, now: Instant) {
        if now - self.meter.since() >= BASELINE {
            self.restart(now);
        }
    }

    /// A frame was missed: what happened meanwhile.
    pub fn missed(&mut self, now: Instant) -> Interference {
        let times = self.read();
        self.meter.until(now, times)
    }

    fn restart(&mut self, now: Instant) {
        let stolen = if self.has_thief { self.stolen() } else { Some(Span::ZERO) };
        self.has_thief = stolen.is_some_and(|stolen| stolen > Span::ZERO);
        self.meter.restart(now, KernelTimes { waited: self.waited(), stolen });
    }

    fn read(&mut self) -> KernelTimes {
        let stolen = self.stolen();
        let first_theft = !self.has_thief && stolen != Some(Span::ZERO);
        self.has_thief = stolen.is_some_and(|stolen| stolen > Span::ZERO);
        // The first theft ever: nobody looked when it was.
        KernelTimes { waited: self.waited(), stolen: stolen.filter(|_| !first_theft) }
    }

    fn waited(&self) -> Option<Span> {
        run_queue_wait(beginning(self.thread.as_ref()?, &mut [0; FIRST_LINE])?)
    }

    fn stolen(&self) -> Option<Span> {
        steal(beginning(self.machine.as_ref()?, &mut [0; FIRST_LINE])?)
    }
}

fn beginning<'a>(file: &File, buffer: &'a mut [u8; FIRST_LINE]) -> Option<&'a str> {
    let length = file.read_at(buffer, 0).ok()?;
    // All ASCII.
    std::str::from_utf8(&buffer[..length]).ok()
}

/// From `/proc/PID/schedstat`: nanoseconds on a CPU, nanoseconds in a run queue, time slices. A kernel that does not count
/// says zero for all three.
fn run_queue_wait(text: &str) -> Option<Span> {
    let mut fields = text.split_ascii_whitespace().map(str::parse::<i64>);
    let (ran, waited) = (fields.next()?.ok()?, fields.next()?.ok()?);
    (ran > 0).then_some(Span::from_nanos(waited))
}

/// From the first line of `/proc/stat`: `cpu user nice system idle iowait irq softirq steal …`.
fn steal(text: &str) -> Option<Span> {
    let mut fields = text.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace();
    let ticks: i64 = fields.nth(7)?.parse().ok()?;
    Some(TICK * ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lines_are_understood() {
        assert_eq!(run_queue_wait("123456789 4200000 77\n"), Some(Span::from_micros(4_200)));
        assert_eq!(run_queue_wait("0 0 0\n"), None, "a kernel without the counters");
        assert_eq!(run_queue_wait(""), None);
        let stat = "cpu  10 0 20 3000 4 0 5 17 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\n";
        assert_eq!(steal(stat), Some(Span::from_millis(170)));
        assert_eq!(steal("cpu  10 0 20\n"), None, "a kernel older than steal");
        assert_eq!(steal("intr 1\n"), None);
    }

    #[test]
    fn a_miss_is_compared_with_a_recent_baseline_and_late_wake_ups_of_before_are_forgotten() {
        let start = Instant::ZERO + Span::from_seconds(1);
        let mut timer = KernelTimer::start(start);
        timer.woke(Span::from_millis(3));
        timer.passed(start + BASELINE / 2);
        assert_eq!(timer.missed(start + BASELINE / 2).timer, Span::from_millis(3), "too soon to begin anew");
        timer.passed(start + BASELINE);
        let evidence = timer.missed(start + BASELINE + Span::from_millis(20));
        assert_eq!((evidence.over, evidence.timer), (Span::from_millis(20), Span::ZERO));
    }

    #[test]
    fn this_kernel_is_read() {
        let mut timer = KernelTimer::start(Instant::ZERO);
        let evidence = timer.missed(Instant::ZERO + Span::from_millis(1));
        assert!(evidence.stolen.is_some(), "every supported kernel counts steal");
    }
}
