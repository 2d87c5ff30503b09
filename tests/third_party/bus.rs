//! The D-Bus session bus: a program that the bus starts finds the bus's own session, and no other session.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use super::session::installed;

const PROGRAMS: [(&str, &str); 3] = [
    ("dbus-run-session", "dbus-daemon"),
    ("dbus-send", "dbus-bin"),
    ("dbus-update-activation-environment", "dbus-bin"),
];

/// The `WAYLAND_DISPLAY` of a program that the bus starts for a program in a session. `line` is the shell line that
/// starts the session, as `$SESSION`.
fn display_of_a_service(line: &str) -> Option<String> {
    if !PROGRAMS.iter().all(|(program, package)| installed(program, package)) {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(path("config.toml"), "[x11]\nsatellite = \"\"\n").unwrap();
    let services = path("data/dbus-1/services");
    fs::create_dir_all(&services).unwrap();
    let (found, begun) = (path("found"), path("begun"));
    // Written under another name and renamed, so that a reader never finds a partial file.
    let service = format!(
        "#!/bin/sh\nprintf '%s' \"${{WAYLAND_DISPLAY-none}}\" >{begun}; mv {begun} {found}\n",
        begun = begun.display(),
        found = found.display()
    );
    fs::write(path("service"), service).unwrap();
    fs::set_permissions(path("service"), fs::Permissions::from_mode(0o755)).unwrap();
    let entry = format!("[D-BUS Service]\nName=org.upbeat.Probe\nExec={}\n", path("service").display());
    fs::write(services.join("org.upbeat.Probe.service"), entry).unwrap();
    let command = format!(
        "dbus-send --session --dest=org.upbeat.Probe / org.upbeat.Probe.Ask; until [ -e {} ]; do sleep 0.1; done",
        found.display()
    );
    fs::write(path("command"), command).unwrap();
    let session = format!(
        "{} --backend headless --output 320x200 --socket wayland-bus --config {} -- sh {}",
        env!("CARGO_BIN_EXE_upbeat"),
        path("config.toml").display(),
        path("command").display()
    );
    let output = Command::new("sh")
        .args(["-c", line])
        .env("SESSION", session)
        .env("XDG_RUNTIME_DIR", folder.path())
        .env("XDG_DATA_DIRS", path("data"))
        .env("UPBEAT_LOG", "info")
        .env_remove("NOTIFY_SOCKET")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("DISPLAY")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(fs::read_to_string(found).unwrap())
}

#[test]
fn service_started_by_the_bus_finds_the_session_of_that_bus() {
    let Some(found) = display_of_a_service("exec dbus-run-session -- $SESSION") else { return };
    assert_eq!(found, "wayland-bus");
}

#[test]
fn bus_of_another_desktop_keeps_its_environment() {
    // The session is started in a terminal of another desktop, with that desktop's bus.
    let Some(found) = display_of_a_service("exec dbus-run-session -- sh -c '$SESSION; true'") else { return };
    assert_eq!(found, "none");
}
