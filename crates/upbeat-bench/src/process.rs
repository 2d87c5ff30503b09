//! CPU time, wake-ups and scheduling class of a process; the process behind a socket.

use std::fs;
use std::io;
use std::os::fd::AsFd;

use upbeat_record::process_clock::ProcessClock;
use upbeat_timing::time::Span;

/// CPU use of a process since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// User and system time of all threads, including threads that have ended.
    pub cpu: Span,
    /// Voluntary context switches of the living threads: a wake-up follows each.
    pub wake_ups: u64,
}

impl ProcessUsage {
    /// Usage of the process `pid`.
    ///
    /// Reads the process' CPU clock, because `/proc/PID/stat` counts only in ticks of 10 ms; wake-ups come from
    /// `/proc/PID/task/*/status`.
    pub fn of(pid: u32) -> io::Result<Self> {
        let mut usage = ProcessUsage::default();
        let pid_number = i32::try_from(pid).unwrap_or(0);
        usage.cpu = ProcessClock::of(pid_number).and_then(ProcessClock::read).ok_or(io::ErrorKind::NotFound)?;
        for task in fs::read_dir(format!("/proc/{pid}/task"))? {
            let task = task?.path();
            // A thread may end between the listing and the reading.
            let Ok(status) = fs::read_to_string(task.join("status")) else { continue };
            usage.wake_ups += voluntary_switches(&status).unwrap_or(0);
        }
        Ok(usage)
    }

    /// Usage between `earlier` and `self`.
    pub fn since(self, earlier: ProcessUsage) -> ProcessUsage {
        ProcessUsage { cpu: self.cpu - earlier.cpu, wake_ups: self.wake_ups.saturating_sub(earlier.wake_ups) }
    }
}

fn voluntary_switches(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
}

/// Scheduling classes of threads without deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadClass {
    /// `SCHED_OTHER`, the default.
    Ordinary,
    /// `SCHED_IDLE`: runs only on a CPU that is otherwise idle.
    Idle,
}

/// Puts the calling thread into a class, whatever its class was before. Where that fails a measurement is stricter, not
/// wrong.
#[expect(unsafe_code, reason = "no safe wrapper sets a scheduling class")]
pub fn set_scheduling_class(class: ThreadClass) {
    let policy = match class {
        ThreadClass::Ordinary => libc::SCHED_OTHER,
        ThreadClass::Idle => libc::SCHED_IDLE,
    };
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: `parameters` outlives the call, which only reads it; 0 is the calling thread.
    let _ = unsafe { libc::sched_setscheduler(0, policy, &raw const parameters) };
}

/// The process at the other end of a connected Unix socket.
pub fn peer_pid(socket: impl AsFd) -> io::Result<u32> {
    let credentials = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(credentials.pid.as_raw_nonzero().get().unsigned_abs())
}

/// The name (`comm`) of a process, at most 15 bytes; `None` when there is no such process.
pub fn process_name(pid: u32) -> Option<String> {
    fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim().to_owned())
}

/// The scheduling class of a process' first thread, as in `sched(7)`; `None` when there is no such process.
pub fn scheduling_class(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may itself hold spaces and parentheses. The policy is field 41; state is field 3.
    let policy = stat.rsplit_once(')')?.1.split_whitespace().nth(41 - 3)?;
    Some(
        match policy {
            "0" => "SCHED_OTHER",
            "1" => "SCHED_FIFO",
            "2" => "SCHED_RR",
            "3" => "SCHED_BATCH",
            "5" => "SCHED_IDLE",
            "6" => "SCHED_DEADLINE",
            other => return Some(format!("policy {other}")),
        }
        .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::burn;

    #[test]
    fn burnt_time_and_waits_show_up_in_the_usage() {
        let before = ProcessUsage::of(std::process::id()).unwrap();
        burn(Span::from_millis(20));
        let used = ProcessUsage::of(std::process::id()).unwrap().since(before);
        assert!(used.cpu >= Span::from_millis(20), "{used:?}");

        // Another process, whose threads live as long as the test reads them.
        let script = "for wait in 1 2 3 4 5; do sleep 0.001; done; echo done; read end";
        let mut child = std::process::Command::new("sh")
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        let used = ProcessUsage::of(child.id()).unwrap();
        assert!(used.wake_ups >= 5, "{used:?}");
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    #[test]
    fn the_peer_of_a_socket_pair_is_this_process() {
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(peer_pid(&ours).unwrap(), std::process::id());
    }

    #[test]
    fn a_process_that_does_not_exist_is_an_error_and_not_zero() {
        assert!(ProcessUsage::of(u32::MAX).is_err());
        assert_eq!(scheduling_class(u32::MAX), None);
        assert!(scheduling_class(std::process::id()).is_some());
    }
}
