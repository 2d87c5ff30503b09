//! Checks whether X programs can be supported: this needs an xwayland-satellite that accepts sockets, and an Xwayland
//! that is recent enough for it.

use std::io::Read;
use std::process::{Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The first version of Xwayland with the options that satellite uses.
const OLDEST: (u32, u32) = (23, 1);
/// How long each program may take to print its version, at the start of a session.
const PATIENCE: Timespec = Timespec { tv_sec: 2, tv_nsec: 0 };
/// Bytes of a program's output that are read.
const LONGEST: u64 = 4096;
const XWAYLAND: &str = "Xwayland";

/// Checks both programs. The error is a sentence that says what is missing.
pub fn check(program: &str) -> Result<(), String> {
    let (content, _) = run(program, "--test-listenfd-support")?;
    if !content {
        return Err(format!("`{program}` does not accept sockets (-listenfd): version 0.7 or newer is needed"));
    }
    let (_, output) = run(XWAYLAND, "-version")?;
    match version(&output) {
        Some(version) if version >= OLDEST => Ok(()),
        Some((major, minor)) => {
            Err(format!("Xwayland is version {major}.{minor}, but satellite needs {}.{} or newer", OLDEST.0, OLDEST.1))
        }
        None => Err("Xwayland does not say which version it is".to_owned()),
    }
}

/// Runs a program to its end. Returns whether it succeeded, and its output on stderr.
fn run(program: &str, argument: &str) -> Result<(bool, String), String> {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.spawn().map_err(|error| format!("cannot run `{program}`: {error}"))?;
    let ended = pidfd_open(Pid::from_child(&process), PidfdFlags::empty()).is_ok_and(|pidfd| {
        poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&PATIENCE)).is_ok_and(|ready| ready > 0)
    });
    if !ended {
        let _ = process.kill();
    }
    let status = process.wait().map_err(|error| format!("`{program}`: {error}"))?;
    if !ended {
        return Err(format!("`{program} {argument}` did not end within {} s", PATIENCE.tv_sec));
    }
    let mut output = Vec::new();
    if let Some(stderr) = process.stderr.take() {
        // Another process may hold the pipe open and go on writing: read only the output that is there now.
        let _ = fcntl_getfl(&stderr).and_then(|flags| fcntl_setfl(&stderr, flags | OFlags::NONBLOCK));
        let _ = stderr.take(LONGEST).read_to_end(&mut output);
    }
    Ok((status.success(), String::from_utf8_lossy(&output).into_owned()))
}

/// Parses the version in `The X.Org Foundation Xwayland Version 22.1.9 (12201009)`.
fn version(output: &str) -> Option<(u32, u32)> {
    let (_, rest) = output.split_once("Xwayland Version ")?;
    let mut numbers = rest.split(|letter: char| !letter.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xwayland_version_is_parsed() {
        assert_eq!(
            version("The X.Org Foundation Xwayland Version 22.1.9 (12201009)\nX Protocol Version 11\n"),
            Some((22, 1))
        );
        assert_eq!(version("The X.Org Foundation Xwayland Version 24.1.6 (12401006)"), Some((24, 1)));
        assert_eq!(version("X.Org X Server 1.21.1.7"), None);
        assert_eq!(version("Xwayland Version 99999999999.1"), None);
    }

    #[test]
    fn missing_program_is_named() {
        assert!(check("/no/such/satellite").unwrap_err().contains("/no/such/satellite"));
        assert!(check("false").unwrap_err().contains("-listenfd"));
    }
}
