//! X11 programs, with a stand-in for xwayland-satellite that accepts a connection and sends "hello".

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::session::{PATIENCE, upbeat, wait};

/// Ends when it reads a byte; with `BAD` set it fails at once.
const STAND_IN: &str = r#"#!/usr/bin/python3
import os, select, socket, sys
if "--test-listenfd-support" in sys.argv:
    sys.exit(0)
with open(os.path.join(os.environ["XDG_RUNTIME_DIR"], "started"), "a") as log:
    print(" ".join(sys.argv[1:]), os.environ["WAYLAND_DISPLAY"], file=log)
if os.environ.get("BAD"):
    sys.exit(1)
descriptors = [int(number) for word, number in zip(sys.argv, sys.argv[1:]) if word == "-listenfd"]
listeners = [socket.socket(fileno=number) for number in descriptors]
for listener in listeners:
    listener.setblocking(True)
ready, _, _ = select.select(listeners, [], [])
stream, _ = ready[0].accept()
stream.setblocking(True)
stream.sendall(b"hello")
stream.recv(1)
"#;

const HELLO: &[u8] = b"hello";

struct SatelliteSession {
    directory: TempDir,
    process: Child,
}

impl SatelliteSession {
    /// A session with the stand-in and a fake Xwayland of this version. Its command writes its `DISPLAY` to a file.
    fn start(version: &str, environment: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        program(&at("xwayland-satellite"), STAND_IN);
        let says = format!("#!/bin/sh\necho 'The X.Org Foundation Xwayland Version {version} (1)' >&2\n");
        program(&at("Xwayland"), &says);
        let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
        let script = r#"echo "${DISPLAY-none}" > "$XDG_RUNTIME_DIR/new"; mv "$XDG_RUNTIME_DIR/new" "$XDG_RUNTIME_DIR/display"; exec sleep 1000"#;
        let process = upbeat(
            directory.path(),
            &["--backend", "headless", "--output", "320x200", "--socket", "test", "--", "sh", "-c", script],
        )
        .env("PATH", path)
        .envs(environment.iter().copied())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
        SatelliteSession { directory, process }
    }

    fn display(&self) -> String {
        let path = self.directory.path().join("display");
        wait("the command", || fs::read_to_string(&path).ok()).trim().to_owned()
    }

    fn socket(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/.X11-unix/X{}", self.display().trim_start_matches(':')))
    }

    fn starts(&self) -> Vec<String> {
        let log = fs::read_to_string(self.directory.path().join("started")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    fn version(&self) -> String {
        let socket = self.directory.path().join("test.upbeat.sock");
        wait("the private socket", || socket.exists().then_some(()));
        let words = ["msg", "--socket", socket.to_str().unwrap(), "version"];
        let answer = upbeat(self.directory.path(), &words).output().unwrap();
        String::from_utf8(answer.stdout).unwrap()
    }

    fn end(&mut self) {
        let pid = self.process.id().to_string();
        Command::new("kill").arg(pid).status().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for SatelliteSession {
    fn drop(&mut self) {
        if self.process.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.end();
        }
    }
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[track_caller]
fn hello(stream: &mut UnixStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut said = [0; HELLO.len()];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(said, HELLO);
}

#[test]
fn connection_starts_the_satellite_also_after_the_last_one_has_ended() {
    let mut session = SatelliteSession::start("24.1.6", &[]);
    let (display, path) = (session.display(), session.socket());
    assert!(display.starts_with(':'), "{display}");
    assert!(session.version().contains(&format!("X11: {display}\n")), "{}", session.version());
    assert!(session.starts().is_empty(), "no client has connected");
    let mut first = UnixStream::connect(&path).unwrap();
    hello(&mut first);
    let starts = session.starts();
    assert!(starts.len() == 1 && starts[0].starts_with(&format!("{display} -listenfd ")), "{starts:?}");
    assert!(starts[0].ends_with(" test"), "the satellite gets WAYLAND_DISPLAY: {starts:?}");
    first.write_all(b"q").unwrap();
    // Connect to the abstract socket this time.
    let name = SocketAddr::from_abstract_name(path.as_os_str().as_encoded_bytes()).unwrap();
    hello(&mut UnixStream::connect_addr(&name).unwrap());
    assert_eq!(session.starts().len(), 2);
    session.end();
    assert!(
        !path.exists() && !Path::new(&format!("/tmp/.X{}-lock", &display[1..])).exists(),
        "{display} was left behind"
    );
}

#[test]
fn satellite_that_fails_at_once_is_restarted_with_a_growing_delay() {
    let session = SatelliteSession::start("24.1.6", &[("BAD", "1")]);
    let path = session.socket();
    let begin = Instant::now();
    let _waits = UnixStream::connect(path).unwrap();
    wait("a second try", || (session.starts().len() > 1).then_some(()));
    assert!(begin.elapsed() >= Duration::from_secs(1), "restarted without a delay");
    wait("a third try", || (session.starts().len() > 2).then_some(()));
    assert!(begin.elapsed() >= Duration::from_secs(3), "restarted without a longer delay");
}

#[test]
fn outdated_xwayland_leaves_display_unset() {
    // Programs must not see the `DISPLAY` that the session itself was started with, either.
    let session = SatelliteSession::start("22.1.9", &[("DISPLAY", ":77")]);
    assert_eq!(session.display(), "none");
    assert!(session.version().contains("X11: none: Xwayland is version 22.1"), "{}", session.version());
}
