//! The ways in which a session ends.

use rustix::process::Signal;

use crate::session::{TestSession, run, wait};

const HEADLESS: [&str; 4] = ["--output", "320x200", "--", "sh"];

fn status_of(script: &str) -> Option<i32> {
    let arguments: Vec<&str> = HEADLESS.into_iter().chain(["-c", script]).collect();
    run(&arguments).status.code()
}

#[test]
fn session_exits_with_the_status_of_its_command() {
    assert_eq!(status_of("exit 7"), Some(7));
    assert_eq!(status_of("true"), Some(0));
}

#[test]
fn command_killed_by_a_signal_gives_status_128_plus_signal() {
    assert_eq!(status_of("kill -TERM $$"), Some(128 + 15));
    assert_eq!(status_of("kill -KILL $$"), Some(128 + 9));
}

#[test]
fn the_command_finds_both_sockets() {
    assert_eq!(status_of(r#"test -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY" && test -S "$UPBEAT_SOCKET""#), Some(0));
}

#[test]
fn missing_command_is_named_in_the_error() {
    let output = run(&["--output", "320x200", "--", "/no/such/program"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("cannot run `/no/such/program`: No such file"), "{text}");
}

#[test]
fn quit_succeeds_and_removes_the_sockets() {
    let session = TestSession::start(&["--output", "320x200"]);
    let (status, directory) = session.quit();
    assert_eq!(status.code(), Some(0));
    assert!(!directory.path().join("test.upbeat.sock").exists());
    assert!(!directory.path().join("test").exists());
}

#[test]
fn sigterm_ends_the_session_cleanly() {
    let session = TestSession::start(&["--output", "320x200"]);
    session.signal(Signal::TERM);
    let socket = session.path("test.upbeat.sock");
    wait("the private socket to go", || (!socket.exists()).then_some(()));
}

/// Faults can be injected in builds with debug assertions only.
#[cfg(debug_assertions)]
#[test]
fn panic_ends_session_and_command_with_a_message() {
    let directory = tempfile::tempdir().unwrap();
    // Each `msg` is a turn of the loop, so the fault comes long after the command has started.
    let script = "echo $$ > \"$XDG_RUNTIME_DIR/pid\"; while :; do \"$0\" msg version; done";
    let asks = env!("CARGO_BIN_EXE_upbeat");
    let arguments = ["--output", "320x200", "--", "sh", "-c", script, asks];
    let mut command = crate::session::upbeat(directory.path(), &arguments);
    let output = command.env("UPBEAT_FAULTS", "turn:60").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("upbeat: a bug ended the session, please report it: a fault on purpose: Turn ("), "{text}");
    assert!(text.contains("src/faults.rs:"), "{text}");
    let pid = std::fs::read_to_string(directory.path().join("pid")).unwrap();
    wait("the command to end", || (!std::path::Path::new(&format!("/proc/{}", pid.trim())).exists()).then_some(()));
    assert!(!directory.path().join("wayland-1").exists() && !directory.path().join("wayland-0").exists());
}

/// The caller may be C code, through which no panic can unwind. Then the process can only print the reason and abort.
#[cfg(debug_assertions)]
#[test]
fn panic_that_cannot_unwind_is_reported_before_abort() {
    let (status, said) = refused("abort:3", &["--output", "320x200", "--", "sleep", "1"]);
    assert_eq!(status, None, "{said}");
    assert!(said.contains("a fault on purpose: Abort") && said.contains("src/faults.rs:"), "{said}");
}

/// Exit status and output of a session with injected faults.
#[cfg(debug_assertions)]
fn refused(faults: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let mut command = crate::session::upbeat(directory.path(), arguments);
    let output = command.current_dir(directory.path()).env("UPBEAT_FAULTS", faults).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(debug_assertions)]
#[test]
fn start_fails_with_a_message_if_a_requested_resource_is_refused() {
    let start = ["--output", "320x200", "--frame-log", "frames.jsonl", "--", "true"];
    for fault in ["file:1", "thread:1"] {
        let (status, said) = refused(fault, &start);
        assert_eq!(status, Some(1), "{fault}: {said}");
        assert!(said.contains("upbeat: ") && said.contains("frames.jsonl"), "{fault}: {said}");
        assert!(said.contains("Cannot allocate memory") && !said.contains("panicked"), "{fault}: {said}");
    }
}

#[cfg(debug_assertions)]
#[test]
fn refused_thread_buffer_or_file_does_not_break_a_running_session() {
    let script = "\"$0\" msg screenshot \"$PWD/a.png\"; \"$0\" msg reload; \"$0\" msg version; exit 7";
    let upbeat = env!("CARGO_BIN_EXE_upbeat");
    let start = ["--output", "320x200", "--renderer", "pixman", "--", "sh", "-c", script, upbeat];
    for nth in 1..=3 {
        for fault in ["thread", "buffer", "file"] {
            // Skip the first two files, which write and read the configuration, because no session starts without it.
            let nth = nth + 2 * u32::from(fault == "file");
            let (status, said) = refused(&format!("{fault}:{nth}"), &start);
            assert_eq!(status, Some(7), "{fault}:{nth}: {said}");
            assert!(!said.contains("panicked"), "{fault}:{nth}: {said}");
        }
    }
}
