//! What another process used: CPU time, wake-ups, scheduling class; and which process is behind a socket.

use std::fs;
use std::io;
use std::os::fd::AsFd;

use crate::time::Span;

/// What a process has used since it began, all of its living threads together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on a CPU, user and system.
    pub cpu: Span,
    /// How often a thread gave up the CPU to wait: each is followed by a wake-up.
    pub wake_ups: u64,
}

impl Usage {
    /// Of the process `pid`.
    ///
    /// Reads `/proc/PID/task/*/schedstat` (nanoseconds; `/proc/PID/stat` counts in ticks of 10 ms) and `status`.
    pub fn of(pid: u32) -> io::Result<Self> {
        let mut usage = Usage::default();
        for task in fs::read_dir(format!("/proc/{pid}/task"))? {
            let task = task?.path();
            // A thread may end between the listing and the reading.
            let (Ok(schedstat), Ok(status)) =
                (fs::read_to_string(task.join("schedstat")), fs::read_to_string(task.join("status")))
            else {
                continue;
            };
            let nanos = schedstat.split_whitespace().next().and_then(|text| text.parse().ok()).unwrap_or(0);
            usage.cpu += Span::from_nanos(nanos);
            usage.wake_ups += voluntary_switches(&status).unwrap_or(0);
        }
        Ok(usage)
    }

    /// What was used since `earlier`.
    pub fn since(self, earlier: Usage) -> Usage {
        Usage { cpu: self.cpu - earlier.cpu, wake_ups: self.wake_ups.saturating_sub(earlier.wake_ups) }
    }
}

fn voluntary_switches(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
}

/// The process at the other end of a connected Unix socket.
pub fn peer_of(socket: impl AsFd) -> io::Result<u32> {
    let credentials = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(credentials.pid.as_raw_nonzero().get().unsigned_abs())
}

/// The name that a process has given itself, at most 15 bytes; `None` when there is no such process.
pub fn name_of(pid: u32) -> Option<String> {
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
    use crate::bench::client::burn;

    #[test]
    fn burnt_time_and_waits_show_up_in_the_usage() {
        let pid = std::process::id();
        let before = Usage::of(pid).unwrap();
        burn(Span::from_millis(20));
        for _ in 0..5 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let used = Usage::of(pid).unwrap().since(before);
        assert!(used.cpu >= Span::from_millis(20), "{used:?}");
        assert!(used.wake_ups >= 5, "{used:?}");
    }

    #[test]
    fn the_peer_of_a_socket_pair_is_this_process() {
        let (ours, _theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(peer_of(&ours).unwrap(), std::process::id());
    }

    #[test]
    fn a_process_that_does_not_exist_is_an_error_and_not_zero() {
        assert!(Usage::of(u32::MAX).is_err());
        assert_eq!(scheduling_class(u32::MAX), None);
        assert!(scheduling_class(std::process::id()).is_some());
    }
}
