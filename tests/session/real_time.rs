//! Real-time scheduling: only the main thread has it, and only where it is permitted.

use std::path::Path;
use std::process::Command;

use crate::session::{TestSession, wait};

const ORDINARY: u32 = 0;
const ROUND_ROBIN: u32 = 2;

/// Scheduling class of a process's main thread: field 41 of `stat` in proc(5).
fn class(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The second field is a name and may contain blanks.
    let behind_name = stat.rsplit_once(") ")?.1;
    behind_name.split(' ').nth(41 - 3)?.parse().ok()
}

/// Whether this user may use a real-time class.
fn is_permitted() -> bool {
    let asked = Command::new("chrt").args(["--rr", "1", "true"]).output();
    asked.is_ok_and(|output| output.status.success())
}

fn session(config: &Path, directory: tempfile::TempDir) -> TestSession {
    TestSession::running(directory, &["--config", config.to_str().unwrap()], &["sleep", "20"])
}

#[test]
fn only_the_main_thread_is_real_time_and_only_if_configured() {
    if !is_permitted() {
        eprintln!("skipped: this user may not use a real-time class");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("config.toml");
    std::fs::write(&config, "").unwrap();
    let session = session(&config, directory);
    let becomes = |wanted: u32| wait("the class", || (class(session.pid()) == Some(wanted)).then_some(()));
    becomes(ROUND_ROBIN);
    let children = format!("/proc/{0}/task/{0}/children", session.pid());
    let child = wait("its child process", || std::fs::read_to_string(&children).ok()?.split(' ').next()?.parse().ok());
    assert_eq!(class(child), Some(ORDINARY));
    for (text, wanted) in [("[timing]\nreal-time = false\n", ORDINARY), ("", ROUND_ROBIN)] {
        std::fs::write(&config, text).unwrap();
        assert!(session.msg(&["reload"]).status.success());
        becomes(wanted);
    }
    assert_eq!(class(child), Some(ORDINARY));
}
