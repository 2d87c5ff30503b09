//! A session goes on when a resource that it needs becomes scarce or disappears.

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use upbeat_record::ipc::message::Request;

use crate::session::TestSession;

/// Remaining address space: less than a new thread's heap arena takes, which glibc tries first.
const LEFT: u64 = 24 << 20;

/// Bytes of address space that a process uses.
fn address_space(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB")).unwrap();
    kilobytes.trim().parse::<u64>().unwrap() * 1024
}

#[test]
fn without_address_space_connected_clients_go_on() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _victim = session.shown("draw");
    session.wait_for_new_frames("draw");
    let limit = Some(address_space(session.pid()) + LEFT);
    let pid = Pid::from_raw(session.pid() as i32);
    prlimit(pid, Resource::As, Rlimit { current: limit, maximum: limit }).unwrap();
    // Each of these requests either succeeds or gets an error.
    let _more: Vec<_> = (0..4).map(|_| session.program("draw")).collect();
    let huge = session.program("huge");
    let _ = session.client.request(Request::Screenshot { output: None, path: session.path("picture.png") });
    huge.wait_for_its_end();
    session.wait_for_new_frames("draw");
    let (status, _) = session.quit();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn session_survives_the_removal_of_its_runtime_directory() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _victim = session.shown("draw");
    std::fs::remove_dir_all(session.directory.path()).unwrap();
    session.wait_for_new_frames("draw");
    // The configuration is gone; the reload may fail.
    let _ = session.client.request(Request::Reload);
    let path = session.path("picture.png");
    session.refused(Request::Screenshot { output: None, path });
    session.wait_for_new_frames("draw");
    let (status, _) = session.quit();
    assert_eq!(status.code(), Some(0));
}
