//! `./up install` into a separate folder, and a session that is started from there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::session::{upbeat, wait};

/// Runs the installation of this build with these arguments.
fn install(arguments: &[&str]) -> std::process::Output {
    let up = Path::new(env!("CARGO_MANIFEST_DIR")).join("up");
    Command::new(up).arg("install").args(arguments).env("UPBEAT_BINARY", env!("CARGO_BIN_EXE_upbeat")).output().unwrap()
}

/// Result of a session that `prefix/bin/upbeat-session` started and that has ended.
struct InstalledRun {
    program: PathBuf,
    /// `PATH` inside the session, without the folder of the fake `systemctl`.
    path: String,
    said: String,
}

/// Runs such a session, with `systemctl` as the body of a fake `systemctl` and `folders` first in `PATH`.
fn run_session(prefix: &Path, systemctl: &str, folders: &[PathBuf]) -> InstalledRun {
    let directory = tempfile::tempdir().unwrap();
    let fake = directory.path().join("systemctl");
    fs::write(&fake, format!("#!/bin/sh\n{systemctl}\n")).unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(prefix.join("bin/upbeat-session"));
    command.args(["--backend", "headless", "--output", "320x200", "--socket", "test"]);
    let first = folders.iter().map(|folder| format!("{}:", folder.display())).collect::<String>();
    command.env("PATH", format!("{first}{}:/usr/bin:/bin", directory.path().display()));
    let said = directory.path().join("said");
    command.stderr(fs::File::create(&said).unwrap());
    command.env("XDG_RUNTIME_DIR", directory.path()).env("XDG_CONFIG_HOME", directory.path());
    command.env_remove("WAYLAND_DISPLAY").env_remove("DISPLAY").stdin(Stdio::null());
    let mut session = command.spawn().unwrap();
    let socket = directory.path().join("test.upbeat.sock");
    wait("the private socket", || socket.exists().then_some(()));
    let program = fs::read_link(format!("/proc/{}/exe", session.id())).unwrap();
    let environment = fs::read_to_string(format!("/proc/{}/environ", session.id())).unwrap();
    let path = environment.split('\0').find_map(|variable| variable.strip_prefix("PATH=")).unwrap();
    let path = path.replace(&format!("{}:", directory.path().display()), "");
    let message = |words: &[&str]| {
        let socket = ["msg", "--socket", socket.to_str().unwrap()];
        upbeat(directory.path(), &[&socket, words].concat()).output().unwrap()
    };
    let version = String::from_utf8(message(&["version"]).stdout).unwrap();
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let picture = directory.path().join("picture.png");
    // Retry, because the socket exists before the first frame is on screen.
    wait("a screenshot", || message(&["screenshot", picture.to_str().unwrap()]).status.success().then_some(()));
    assert!(fs::read(picture).unwrap().starts_with(b"\x89PNG"));
    assert!(message(&["quit"]).status.success());
    assert!(session.wait().unwrap().success());
    InstalledRun { program, path, said: fs::read_to_string(said).unwrap() }
}

#[test]
fn session_under_a_prefix_starts_the_binary_of_that_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = fs::canonicalize(folder.path()).unwrap().join("empty");
    let installed = install(&["--prefix", prefix.to_str().unwrap()]);
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let program = prefix.join("bin/upbeat");
    let says = |file: &str, line: String| {
        let text = fs::read_to_string(prefix.join(file)).unwrap();
        assert!(text.lines().any(|other| other.starts_with(&line)), "{file} has no line {line}:\n{text}");
    };
    says("share/wayland-sessions/upbeat.desktop", format!("Exec={}-session", program.display()));
    says("share/systemd/user/upbeat.service", format!("ExecStart={} --backend drm", program.display()));
    let size = |path: &Path| fs::metadata(path).unwrap().len();
    let built = Path::new(env!("CARGO_BIN_EXE_upbeat"));
    assert!(size(&program) < size(built), "debug information is in a separate file");
    assert!(size(&prefix.join("bin/.debug/upbeat.debug")) > 0);
    let bin = prefix.join("bin");
    let ran = run_session(&prefix, "exit 1", &[]);
    assert_eq!((ran.program, ran.path), (program.clone(), format!("{}:/usr/bin:/bin", bin.display())));
    assert!(!ran.said.contains("another installation"), "{}", ran.said);
    // Ignore a systemd unit of another installation, and a program of another installation that is first in `PATH`.
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy("/bin/true", other.join("upbeat")).unwrap();
    let others = "echo 'ExecStart=/usr/bin/upbeat --backend drm'";
    let ran = run_session(&prefix, others, &[other.clone(), bin.clone()]);
    assert_eq!(ran.program, program);
    assert!(ran.path.starts_with(&format!("{}:{}:", bin.display(), other.display())), "{}", ran.path);
    assert!(ran.said.contains("belongs to another installation"), "{}", ran.said);
    // If `PATH` finds our program already, its order is kept.
    let empty = folder.path().join("empty folder");
    let ran = run_session(&prefix, "exit 1", &[empty.clone(), bin.clone()]);
    assert_eq!(ran.path, format!("{}:{}:/usr/bin:/bin", empty.display(), bin.display()));
}

#[test]
fn prefix_unsuitable_for_shell_scripts_is_rejected() {
    for (arguments, words) in [
        (&["--prefix", "relative"][..], "absolute path"),
        (&["--prefix"], "absolute path"),
        (&["--prefix=/no such/folder"], "without blanks"),
        (&["/no|such"], "without blanks"),
        (&["--perfix", "/tmp"], "no option --perfix"),
    ] {
        let refused = install(arguments);
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && told.contains(words), "{arguments:?}: {told}");
    }
}
