//! A session as a systemd service, and sessions without a usable display.

use std::os::unix::net::UnixDatagram;

use crate::session::{PATIENCE, upbeat};

#[test]
fn service_manager_is_notified_when_clients_can_connect() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(PATIENCE)).unwrap();
    // The command's end also ends the session. The command must not be able to notify the service manager.
    let script = r#"test -z "$NOTIFY_SOCKET" && test -S "$XDG_RUNTIME_DIR/$WAYLAND_DISPLAY""#;
    let status = upbeat(directory.path(), &["--output", "320x200", "--", "sh", "-c", script])
        .env("NOTIFY_SOCKET", &path)
        // The host's own service manager and bus must not learn of the test.
        .env("PATH", "/nonexistent:/bin")
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent")
        .status()
        .unwrap();
    assert!(status.success());
    let mut said = [0; 64];
    let length = manager.recv(&mut said).unwrap();
    assert_eq!(String::from_utf8_lossy(&said[..length]).trim(), "READY=1");
}

#[test]
fn programs_get_the_session_type_and_desktop_name() {
    let directory = tempfile::tempdir().unwrap();
    let script = r#"echo "$XDG_SESSION_TYPE $XDG_CURRENT_DESKTOP ${DISPLAY-none}" > "$XDG_RUNTIME_DIR/found""#;
    let found = |config: &str| {
        let path = directory.path().join("config.toml");
        std::fs::write(&path, format!("[x11]\nsatellite = \"\"\n{config}")).unwrap();
        let arguments = [
            "--backend",
            "headless",
            "--output",
            "320x200",
            "--config",
            path.to_str().unwrap(),
            "--",
            "sh",
            "-c",
            script,
        ];
        let mut command = upbeat(directory.path(), &arguments);
        command.env("XDG_SESSION_TYPE", "tty").env("XDG_CURRENT_DESKTOP", "GNOME").env("DISPLAY", ":77");
        assert!(command.status().unwrap().success());
        std::fs::read_to_string(directory.path().join("found")).unwrap()
    };
    assert_eq!(found(""), "wayland Upbeat:wlroots none\n");
    let of_the_user = "[environment]\nXDG_CURRENT_DESKTOP = \"sway\"\nDISPLAY = \":9\"\n";
    assert_eq!(found(of_the_user), "wayland sway :9\n");
}

fn refused(arguments: &[&str]) -> String {
    let directory = tempfile::tempdir().unwrap();
    let output = upbeat(directory.path(), arguments)
        .env("LIBSEAT_BACKEND", "seatd")
        .env("SEATD_SOCK", directory.path().join("nobody"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_session_without_a_seat_says_how_to_get_one() {
    let said = refused(&["--backend", "drm"]);
    assert!(said.contains("no seat: ") && said.contains("seatd") && !said.contains("panicked"), "{said}");
}

#[test]
fn options_without_effect_on_drm_are_named_in_the_error() {
    let said = refused(&["--backend", "drm", "--output", "640x480"]);
    assert!(said.contains("--output") && said.contains("[[output]]"), "{said}");
    let said = refused(&["--backend", "drm", "--record", "somewhere"]);
    assert!(said.contains("--record") && said.contains("headless"), "{said}");
}
