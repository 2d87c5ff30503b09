//! The wall clock jumps: no part of a session depends on it.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::session::TestSession;

/// Source of a library for `LD_PRELOAD` that adds the seconds from a file to the wall clock.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
    char text[32] = "";
    int file = open(getenv("JUMP"), O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
        close(file);
    }
    return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    long result = syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += offset();
    return (int)result;
}
"#;

/// Offsets in seconds: ten years forward, sixty years back (before the epoch), and none.
const JUMPS: [&str; 3] = ["315360000", "-1892160000", "0"];

fn build(shim: &Path) -> bool {
    let source = shim.with_extension("c");
    std::fs::write(&source, SHIM).unwrap();
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O1", "-o"]).arg(shim).arg(source).stderr(Stdio::inherit());
    command.status().inspect_err(|_| eprintln!("skipped: cc is needed")).is_ok_and(|status| status.success())
}

#[test]
fn wall_clock_jump_does_not_disturb_clients() {
    let directory = tempfile::tempdir().unwrap();
    let (shim, jump) = (directory.path().join("jump.so"), directory.path().join("jump"));
    if !build(&shim) {
        return;
    }
    std::fs::write(&jump, "0").unwrap();
    let mut session = TestSession::with_environment(
        &[("LD_PRELOAD", shim.as_path()), ("JUMP", jump.as_path())],
        &["--output", "640x480"],
    );
    let _victim = session.shown("draw");
    session.wait_for_new_frames("draw");
    for seconds in JUMPS {
        std::fs::write(&jump, seconds).unwrap();
        for _ in 0..3 {
            session.wait_for_new_frames("draw");
        }
        // A protocol error, so that a line is logged, too.
        let mut bad = std::os::unix::net::UnixStream::connect(session.path("test")).unwrap();
        let request = [1_u32, 0x0008_0009].map(u32::to_ne_bytes).concat();
        std::io::Write::write_all(&mut bad, &request).unwrap();
        let _other = session.shown("idle");
        session.wait_for_new_frames("draw");
    }
    let (status, _) = session.quit();
    assert_eq!(status.code(), Some(0));
}
