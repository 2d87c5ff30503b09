//! Runs commands in the session: the command that the session is for, and the programs of shortcuts.
//!
//! A command runs in a process group of its own and finds the compositor through its environment. Its pidfd becomes
//! readable when it ends, so that its end is an event like any other. If the session ends first, the whole group gets
//! SIGTERM, and SIGKILL after a grace period.
//!
//! Processes that a shortcut's program leaves behind outlive this program.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Signal, kill_process_group, pidfd_open, setrlimit};

use super::{ExitStatus, open_file_limit};

/// How long a command may take to end after SIGTERM.
const GRACE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };

const IMMEDIATELY: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Why a command could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// The process could not be started.
    #[error("cannot run `{}`: {source}", command.display())]
    Start {
        /// The program, without its arguments.
        command: OsString,
        /// The error of `fork` or `exec`.
        source: io::Error,
    },
    /// The command was started, but its end cannot be watched. It was killed.
    #[error("cannot watch process {pid}: {source}")]
    Watch {
        /// Process id of the command.
        pid: u32,
        /// The error of `pidfd_open`.
        source: io::Error,
    },
}

/// A running command. Dropping it ends the command.
///
/// As an event source: wait until [`as_fd`](AsFd::as_fd) is readable, then call
/// [`try_wait_ending_group`](ChildProcess::try_wait_ending_group).
#[derive(Debug)]
pub struct ChildProcess {
    process: std::process::Child,
    group: Pid,
    pidfd: OwnedFd,
    ended: Option<ExitStatus>,
}

impl ChildProcess {
    /// Runs `command` (the program and its arguments) with `environment` added to the compositor's own environment.
    ///
    /// `WAYLAND_SOCKET` and `DISPLAY` are not inherited, because they would lead the program to our parent
    /// compositor. `NOTIFY_SOCKET` is not inherited because only the compositor reports when the session is ready.
    pub fn spawn(command: &[OsString], environment: &[(&str, OsString)]) -> Result<Self, ChildError> {
        Self::spawn_with_fds(command, environment, &[])
    }

    /// Like [`spawn`](Self::spawn), but the command also gets the descriptors `inherited`, under the same numbers.
    pub fn spawn_with_fds(
        command: &[OsString],
        environment: &[(&str, OsString)],
        inherited: &[BorrowedFd<'_>],
    ) -> Result<Self, ChildError> {
        let (program, arguments) = command.split_first().ok_or_else(|| ChildError::Start {
            command: OsString::new(),
            source: io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"),
        })?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_remove("WAYLAND_SOCKET")
            .env_remove("DISPLAY")
            .env_remove("NOTIFY_SOCKET")
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .process_group(0);
        restore_signals_and_limits(&mut command);
        keep_fds_open(&mut command, inherited);
        let process = command.spawn().map_err(|source| ChildError::Start { command: program.clone(), source })?;
        Self::watch(process)
    }

    fn watch(mut process: std::process::Child) -> Result<Self, ChildError> {
        let group = Pid::from_child(&process);
        match pidfd_open(group, PidfdFlags::empty()) {
            Ok(pidfd) => Ok(ChildProcess { process, group, pidfd, ended: None }),
            Err(error) => {
                let pid = process.id();
                let _ = process.kill();
                let _ = process.wait();
                Err(ChildError::Watch { pid, source: error.into() })
            }
        }
    }

    /// The exit status of the command, or `None` while it runs. Does not wait. Processes that the command left
    /// behind go on: a screen locker, the program of a launcher and the owner of the clipboard must stay after the
    /// process that started them has ended.
    pub fn try_wait(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() && self.has_exited(&IMMEDIATELY) {
            self.ended = self.process.wait().ok().map(ExitStatus::from);
        }
        self.ended
    }

    /// Like [`try_wait`](Self::try_wait), but sends SIGTERM to the processes that the command left behind in its group.
    pub fn try_wait_ending_group(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() && self.has_exited(&IMMEDIATELY) {
            self.signal_and_reap(Signal::TERM);
        }
        self.ended
    }

    /// Ends the whole group with SIGTERM, and with SIGKILL after two seconds. Returns the exit status of the command.
    pub fn terminate(&mut self) -> ExitStatus {
        if self.try_wait_ending_group().is_none() {
            let _ = kill_process_group(self.group, Signal::TERM);
            self.has_exited(&GRACE);
            self.signal_and_reap(Signal::KILL);
        }
        self.ended.unwrap_or_default()
    }

    /// Waits for the exit of the command for at most `patience`, and returns whether it has exited.
    fn has_exited(&self, patience: &Timespec) -> bool {
        let mut exit = [PollFd::new(&self.pidfd, PollFlags::IN)];
        poll(&mut exit, Some(patience)).is_ok_and(|ready| ready > 0)
    }

    /// Signals the group, then reaps the command. The order matters: until the command is reaped, its process id
    /// cannot be reused, so that the signal cannot reach an unrelated process.
    fn signal_and_reap(&mut self, signal: Signal) {
        let _ = kill_process_group(self.group, signal);
        self.ended = self.process.wait().ok().map(ExitStatus::from);
    }
}

/// Gives the command an empty signal mask, and the limits on real-time threads and open files that the compositor
/// itself was started with. All of them are inherited, so that without this:
/// - the command could not be ended by the signals that the compositor blocks and reads as events;
/// - real-time threads of the command would be killed by the signal that stops the compositor's own.
#[expect(unsafe_code, reason = "code between fork and exec may only make calls that are safe there")]
fn restore_signals_and_limits(command: &mut Command) {
    let (limit, files) = (crate::real_time::limit_before(), open_file_limit::original_limit());
    let restore = move || {
        // SAFETY: `mask` is a valid place for a signal set, and both calls are async-signal-safe.
        let failed = unsafe {
            let mut mask = std::mem::zeroed();
            libc::sigemptyset(&mut mask);
            libc::sigprocmask(libc::SIG_SETMASK, &mask, std::ptr::null_mut()) != 0
        };
        if failed {
            return Err(io::Error::last_os_error());
        }
        open_file_limit::restore_open_files(files)?;
        limit.map_or(Ok(()), |limit| setrlimit(Resource::Rttime, limit).map_err(io::Error::from))
    };
    // SAFETY: the closure allocates nothing and takes no lock. It makes only calls that signal-safety(7) lists, and
    // one system call.
    unsafe { command.pre_exec(restore) };
}

/// Lets the descriptors `inherited` stay open in this command. Every other command closes them at `exec`.
#[expect(unsafe_code, reason = "code between fork and exec may only make calls that are safe there")]
fn keep_fds_open(command: &mut Command, inherited: &[BorrowedFd<'_>]) {
    let inherited: Vec<RawFd> = inherited.iter().map(AsRawFd::as_raw_fd).collect();
    let keep = move || {
        // SAFETY: fcntl is async-signal-safe, and the caller of `spawn` keeps the descriptors open until the
        // command runs.
        let is_kept = |descriptor: &RawFd| unsafe { libc::fcntl(*descriptor, libc::F_SETFD, 0) } == 0;
        if inherited.iter().all(is_kept) { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: the closure allocates nothing, takes no lock and makes only that call.
    unsafe { command.pre_exec(keep) };
}

impl AsFd for ChildProcess {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.terminate();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> ChildProcess {
        let command = ["sh", "-c", script].map(OsString::from);
        ChildProcess::spawn(&command, &[("WAYLAND_DISPLAY", "wayland-7".into())]).unwrap()
    }

    fn wait(child: &mut ChildProcess) -> u8 {
        poll(&mut [PollFd::new(&child.pidfd, PollFlags::IN)], None).unwrap();
        child.try_wait_ending_group().expect("the pidfd is readable").code()
    }

    #[test]
    fn the_status_of_the_command_is_passed_on() {
        assert_eq!(wait(&mut shell("exit 0")), 0);
        assert_eq!(wait(&mut shell("exit 42")), 42);
    }

    #[test]
    fn a_signal_becomes_128_plus_its_number_as_in_a_shell() {
        assert_eq!(wait(&mut shell("kill -KILL $$")), 128 + 9);
        assert_eq!(wait(&mut shell("kill -SEGV $$")), 128 + 11);
    }

    #[test]
    fn command_has_the_environment_and_its_own_process_group() {
        assert_eq!(wait(&mut shell(r#"test "$WAYLAND_DISPLAY" = wayland-7"#)), 0);
        assert_eq!(wait(&mut shell(r#"test "$(cut -d' ' -f5 /proc/$$/stat)" = $$"#)), 0);
        assert_eq!(wait(&mut shell(r#"test -z "$WAYLAND_SOCKET""#)), 0);
    }

    #[test]
    fn ending_reaches_the_whole_group() {
        let directory = tempfile::tempdir().unwrap();
        let note = directory.path().join("grandchild");
        let mut child = shell(&format!("sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", note.display()));
        while !note.exists() {
            std::thread::yield_now();
        }
        let grandchild = std::fs::read_to_string(&note).unwrap();
        assert_eq!(child.terminate().code(), 128 + 15);
        poll_until_gone(grandchild.trim());
    }

    #[test]
    fn processes_left_behind_go_on_unless_the_group_is_ended() {
        let directory = tempfile::tempdir().unwrap();
        let note = directory.path().join("left");
        let script = format!("sleep 1000 & echo $! > {}; exit 3", note.display());
        for goes_on in [true, false] {
            let mut child = shell(&script);
            poll(&mut [PollFd::new(&child.pidfd, PollFlags::IN)], None).unwrap();
            let ended = if goes_on { child.try_wait() } else { child.try_wait_ending_group() };
            assert_eq!(ended.map(|status| status.code()), Some(3));
            drop(child);
            let left = std::fs::read_to_string(&note).unwrap();
            if goes_on {
                let left: i32 = left.trim().parse().unwrap();
                let left = Pid::from_raw(left).unwrap();
                // A process that got SIGTERM has ended, or is about to, once its signal is pending.
                std::thread::sleep(std::time::Duration::from_millis(50));
                rustix::process::kill_process(left, Signal::KILL).expect("it is there");
            }
            poll_until_gone(left.trim());
        }
    }

    /// Returns once the process is gone, or is a zombie that its new parent has not reaped yet.
    fn poll_until_gone(pid: &str) {
        let gone = |stat: String| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'));
        while !std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, gone) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn command_inherits_only_the_descriptors_passed_to_it() {
        let (inherited, kept) = (std::fs::File::open("/dev/null").unwrap(), std::fs::File::open("/dev/null").unwrap());
        let script =
            format!("test -e /proc/self/fd/{} && ! test -e /proc/self/fd/{}", inherited.as_raw_fd(), kept.as_raw_fd());
        let command = ["sh".into(), "-c".into(), script.into()];
        assert_eq!(wait(&mut ChildProcess::spawn_with_fds(&command, &[], &[inherited.as_fd()]).unwrap()), 0);
    }

    #[test]
    fn a_command_that_cannot_be_run_is_named() {
        let error = ChildProcess::spawn(&["/no/such/program".into()], &[]).unwrap_err().to_string();
        assert!(error.starts_with("cannot run `/no/such/program`: No such file"), "{error}");
        assert!(ChildProcess::spawn(&[], &[]).is_err());
    }
}
