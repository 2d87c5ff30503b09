//! A client that floods, does not read, dies or cheats does not disturb other clients. Here the tests assert only that
//! the other clients go on; their frame times are measured elsewhere.

use upbeat_record::ipc::message::Request;

use crate::session::TestSession;

fn world() -> (TestSession, crate::session::ClientProcess) {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let victim = session.shown("draw");
    session.wait_for_new_frames("draw");
    (session, victim)
}

#[test]
fn flood_of_requests_does_not_stop_other_clients() {
    let (mut session, _victim) = world();
    let flooder = session.program("flood");
    for _ in 0..5 {
        session.wait_for_new_frames("draw");
    }
    session.ask(Request::Version);
    drop(flooder);
    session.wait_for_new_frames("draw");
}

#[test]
fn client_that_does_not_read_is_disconnected() {
    let (mut session, _victim) = world();
    let deaf = session.program("deaf");
    deaf.wait_for_its_end();
    session.wait_for_new_frames("draw");
    assert!(session.windows().iter().all(|window| window.app_id != "deaf"));
}

#[test]
fn client_death_at_any_stage_disturbs_no_other_client() {
    let (mut session, _victim) = world();
    for stage in 0..=5 {
        session.program(&format!("dies:{stage}")).wait_for_its_end();
    }
    session.wait_for_new_frames("draw");
    crate::session::wait("the dead to go", || (session.windows().len() == 1).then_some(()));
}

#[test]
fn client_that_truncates_its_pool_disturbs_no_other_client() {
    let (mut session, _victim) = world();
    let _cheat = session.program("shrinks");
    for _ in 0..3 {
        session.wait_for_new_frames("draw");
    }
}

#[test]
fn without_file_descriptors_new_clients_are_refused_and_connected_clients_go_on() {
    let (mut session, _victim) = world();
    let pid = rustix::process::Pid::from_raw(session.pid() as i32);
    let few = rustix::process::Rlimit { current: Some(256), maximum: Some(256) };
    rustix::process::prlimit(pid, rustix::process::Resource::Nofile, few).unwrap();
    let connect = |name| std::os::unix::net::UnixStream::connect(session.path(name)).ok();
    let crowd: Vec<_> = (0..400).filter_map(|_| connect("test")).collect();
    let others: Vec<_> = (0..100).filter_map(|_| connect("test.upbeat.sock")).collect();
    assert_eq!(crowd.len(), 400);
    session.wait_for_new_frames("draw");
    drop((crowd, others));
    let _late = session.shown("idle");
    session.wait_for_new_frames("draw");
}

/// Bytes in a full pipe: its 64 KiB less the room in which the last line of the log did not fit.
const FULL_PIPE: u64 = 60_000;
/// Rounds until the session must have logged that much.
const MOST_ROUNDS: u32 = 100;

#[test]
fn blocked_log_does_not_stop_the_session() {
    let full = || std::fs::File::options().write(true).open("/dev/full").map(std::os::fd::OwnedFd::from).unwrap();
    let (unread, to_unread) = rustix::pipe::pipe().unwrap();
    let (left, to_left) = rustix::pipe::pipe().unwrap();
    drop(left);
    let said = || rustix::io::ioctl_fionread(&unread).unwrap();
    for (log, is_full_at) in [(full(), 0), (to_unread, FULL_PIPE), (to_left, 0)] {
        let mut session = TestSession::logging_to(log, &["--output", "640x480"]);
        let _victim = session.shown("draw");
        for round in 0..MOST_ROUNDS {
            session.wait_for_new_frames("draw");
            if round >= 2 && said() >= is_full_at {
                break;
            }
        }
        // libwayland logs a message for each of these protocol errors.
        for _ in 0..3 {
            let mut bad = std::os::unix::net::UnixStream::connect(session.path("test")).unwrap();
            let request = [1_u32, 0x0008_0009].map(u32::to_ne_bytes).concat();
            std::io::Write::write_all(&mut bad, &request).unwrap();
            session.wait_for_new_frames("draw");
        }
        let (status, _) = session.quit();
        assert_eq!(status.code(), Some(0));
    }
    assert!(said() >= FULL_PIPE, "the pipe was never full: {} bytes", said());
}

#[test]
fn stopped_client_delays_no_other_client_and_resumes() {
    let (mut session, _victim) = world();
    let stopped = session.shown("late");
    session.wait_for_new_frames("late");
    let pid = rustix::process::Pid::from_raw(stopped.pid() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    session.wait_for_new_frames("draw");
    let _other = session.shown("idle");
    session.wait_for_new_frames("draw");
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    session.wait_for_new_frames("late");
}
