//! A client that floods, does not read, dies or cheats does not disturb other clients. Here the tests assert only that
//! the other clients go on; their frame times are measured elsewhere.

use upbeat_record::ipc::message::Request;

use crate::session::Session;

fn world() -> (Session, crate::session::Program) {
    let mut session = Session::start(&["--output", "640x480"]);
    let victim = session.shown("draw");
    session.goes_on("draw");
    (session, victim)
}

#[test]
fn a_flood_of_requests_stops_nobody() {
    let (mut session, _victim) = world();
    let flooder = session.program("flood");
    for _ in 0..5 {
        session.goes_on("draw");
    }
    session.ask(Request::Version);
    drop(flooder);
    session.goes_on("draw");
}

#[test]
fn a_client_that_does_not_read_is_let_go() {
    let (mut session, _victim) = world();
    let deaf = session.program("deaf");
    deaf.wait_for_its_end();
    session.goes_on("draw");
    assert!(session.windows().iter().all(|window| window.app_id != "deaf"));
}

#[test]
fn a_client_may_die_at_any_moment() {
    let (mut session, _victim) = world();
    for stage in 0..=5 {
        session.program(&format!("dies:{stage}")).wait_for_its_end();
    }
    session.goes_on("draw");
    crate::session::wait("the dead to go", || (session.windows().len() == 1).then_some(()));
}

#[test]
fn a_client_that_cuts_its_buffers_off_harms_itself_at_most() {
    let (mut session, _victim) = world();
    let _cheat = session.program("shrinks");
    for _ in 0..3 {
        session.goes_on("draw");
    }
}

#[test]
fn without_descriptors_nobody_new_is_let_in_and_everybody_else_goes_on() {
    let (mut session, _victim) = world();
    let pid = rustix::process::Pid::from_raw(session.pid() as i32);
    let few = rustix::process::Rlimit { current: Some(256), maximum: Some(256) };
    rustix::process::prlimit(pid, rustix::process::Resource::Nofile, few).unwrap();
    let connect = |name| std::os::unix::net::UnixStream::connect(session.path(name)).ok();
    let crowd: Vec<_> = (0..400).filter_map(|_| connect("test")).collect();
    let others: Vec<_> = (0..100).filter_map(|_| connect("test.upbeat.sock")).collect();
    assert_eq!(crowd.len(), 400);
    session.goes_on("draw");
    drop((crowd, others));
    let _late = session.shown("idle");
    session.goes_on("draw");
}

/// Bytes in a full pipe: its 64 KiB less the room in which the last line of the log did not fit.
const FULL_PIPE: u64 = 60_000;
/// Rounds until the session must have logged that much.
const MOST_ROUNDS: u32 = 100;

#[test]
fn a_log_on_a_full_disk_or_in_a_pipe_that_nobody_reads_stops_nobody() {
    let full = || std::fs::File::options().write(true).open("/dev/full").map(std::os::fd::OwnedFd::from).unwrap();
    let (unread, to_unread) = rustix::pipe::pipe().unwrap();
    let (left, to_left) = rustix::pipe::pipe().unwrap();
    drop(left);
    let said = || rustix::io::ioctl_fionread(&unread).unwrap();
    for (log, is_full_at) in [(full(), 0), (to_unread, FULL_PIPE), (to_left, 0)] {
        let mut session = Session::logging_to(log, &["--output", "640x480"]);
        let _victim = session.shown("draw");
        for round in 0..MOST_ROUNDS {
            session.goes_on("draw");
            if round >= 2 && said() >= is_full_at {
                break;
            }
        }
        // libwayland logs a message for each of these protocol errors.
        for _ in 0..3 {
            let mut bad = std::os::unix::net::UnixStream::connect(session.path("test")).unwrap();
            let request = [1_u32, 0x0008_0009].map(u32::to_ne_bytes).concat();
            std::io::Write::write_all(&mut bad, &request).unwrap();
            session.goes_on("draw");
        }
        let (status, _) = session.quit();
        assert_eq!(status.code(), Some(0));
    }
    assert!(said() >= FULL_PIPE, "the pipe was never full: {} bytes", said());
}

#[test]
fn one_who_is_stopped_holds_up_nobody_and_goes_on_when_it_is_let() {
    let (mut session, _victim) = world();
    let stopped = session.shown("late");
    session.goes_on("late");
    let pid = rustix::process::Pid::from_raw(stopped.pid() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    session.goes_on("draw");
    let _other = session.shown("idle");
    session.goes_on("draw");
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    session.goes_on("late");
}
