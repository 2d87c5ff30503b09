//! Measures how long the kernel kept us from running: `/proc/thread-self/schedstat` and `/proc/stat`.
//!
//! Both are read when a miss is recorded, and at most four times a second while frames are shown, so that the measured
//! interval is short. Nothing is read while no frames are shown. `/proc/stat` costs tens of microseconds, more on
//! machines with many CPUs. So it is only read after a miss if no host has ever stolen time, which is nearly always
//! true of hardware.

use std::fs::File;
use std::os::unix::fs::FileExt;

use upbeat_timing::record::{Interference, InterferenceMeter, KernelTimes};
use upbeat_timing::time::{Instant, Span};

/// Largest age of the counters that the next miss is compared with.
const BASELINE: Span = Span::from_millis(250);

/// `/proc/stat` counts in hundredths of a second on every Linux system (`USER_HZ`, which is part of its interface).
const TICK: Span = Span::from_millis(10);

/// Bytes read from `/proc/stat`: enough for its first line, the sum of all CPUs, which has ten numbers.
const FIRST_LINE: usize = 256;

/// Kernel counters of the thread that created this, and of the machine.
#[derive(Debug)]
pub struct KernelTimer {
    thread: Option<File>,
    machine: Option<File>,
    /// Whether the host of this virtual machine has stolen CPU time before.
    has_stolen_time: bool,
    meter: InterferenceMeter,
}

impl KernelTimer {
    /// Starts to measure the calling thread at `now`. Without `/proc` only late wake-ups are measured.
    pub fn start(now: Instant) -> Self {
        let mut timer = KernelTimer {
            thread: File::open("/proc/thread-self/schedstat").ok(),
            machine: File::open("/proc/stat").ok(),
            has_stolen_time: true,
            meter: InterferenceMeter::default(),
        };
        timer.restart(now);
        timer
    }

    /// Notes a wake-up that was late by this much.
    pub fn note_wake(&mut self, late: Span) {
        self.meter.note_wake_delay(late);
    }

    /// Notes that a frame was shown in time.
    pub fn note_frame_in_time(&mut self, now: Instant) {
        if now - self.meter.since() >= BASELINE {
            self.restart(now);
        }
    }

    /// The interference since the last baseline, for a frame that was missed.
    pub fn interference(&mut self, now: Instant) -> Interference {
        let times = self.read();
        self.meter.until(now, times)
    }

    fn restart(&mut self, now: Instant) {
        let stolen = if self.has_stolen_time { self.stolen() } else { Some(Span::ZERO) };
        self.has_stolen_time = stolen.is_some_and(|stolen| stolen > Span::ZERO);
        self.meter.restart(now, KernelTimes { waited: self.waited(), stolen });
    }

    fn read(&mut self) -> KernelTimes {
        let stolen = self.stolen();
        let first_theft = !self.has_stolen_time && stolen != Some(Span::ZERO);
        self.has_stolen_time = stolen.is_some_and(|stolen| stolen > Span::ZERO);
        // At the first stolen time ever there is no baseline to compare with, so it cannot be dated.
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
    // These files are plain ASCII, so that a cut in the middle is still valid UTF-8.
    std::str::from_utf8(&buffer[..length]).ok()
}

/// Parses `/proc/PID/schedstat`: nanoseconds on a CPU, nanoseconds in a run queue, time slices. A kernel without these
/// counters reports zero for all three.
fn run_queue_wait(text: &str) -> Option<Span> {
    let mut fields = text.split_ascii_whitespace().map(str::parse::<i64>);
    let (ran, waited) = (fields.next()?.ok()?, fields.next()?.ok()?);
    (ran > 0).then_some(Span::from_nanos(waited))
}

/// Parses the steal time in the first line of `/proc/stat`: `cpu user nice system idle iowait irq softirq steal …`.
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
        timer.note_wake(Span::from_millis(3));
        timer.note_frame_in_time(start + BASELINE / 2);
        assert_eq!(timer.interference(start + BASELINE / 2).timer, Span::from_millis(3), "too soon to begin anew");
        timer.note_frame_in_time(start + BASELINE);
        let evidence = timer.interference(start + BASELINE + Span::from_millis(20));
        assert_eq!((evidence.over, evidence.timer), (Span::from_millis(20), Span::ZERO));
    }

    #[test]
    fn this_kernel_is_read() {
        let mut timer = KernelTimer::start(Instant::ZERO);
        let evidence = timer.interference(Instant::ZERO + Span::from_millis(1));
        assert!(evidence.stolen.is_some(), "every supported kernel counts steal");
    }
}
