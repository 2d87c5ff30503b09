//! How a session ends.

use rustix::process::Signal;

use crate::session::{Session, run, wait};

const HEADLESS: [&str; 4] = ["--output", "320x200", "--", "sh"];

fn status_of(script: &str) -> Option<i32> {
    let arguments: Vec<&str> = HEADLESS.into_iter().chain(["-c", script]).collect();
    run(&arguments).status.code()
}

#[test]
fn the_status_of_the_command_is_that_of_the_session() {
    assert_eq!(status_of("exit 7"), Some(7));
    assert_eq!(status_of("true"), Some(0));
}

#[test]
fn a_command_that_a_signal_ends_gives_128_and_the_signal() {
    assert_eq!(status_of("kill -TERM $$"), Some(128 + 15));
    assert_eq!(status_of("kill -KILL $$"), Some(128 + 9));
}

#[test]
fn the_command_finds_both_sockets() {
    assert_eq!(status_of(r#"test -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" && test -S "$UPBEAT_SOCKET""#), Some(0));
}

#[test]
fn a_command_that_does_not_exist_is_named() {
    let output = run(&["--output", "320x200", "--", "/no/such/program"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("cannot run `/no/such/program`: No such file"), "{text}");
}

#[test]
fn quit_ends_it_with_success_and_takes_the_sockets_away() {
    let session = Session::start(&["--output", "320x200"]);
    let (status, directory) = session.quit();
    assert_eq!(status.code(), Some(0));
    assert!(!directory.path().join("test.upbeat.sock").exists());
    assert!(!directory.path().join("test").exists());
}

#[test]
fn a_signal_ends_it_in_order() {
    let session = Session::start(&["--output", "320x200"]);
    session.signal(Signal::TERM);
    let socket = session.path("test.upbeat.sock");
    wait("the private socket to go", || (!socket.exists()).then_some(()));
}
