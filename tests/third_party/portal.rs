//! Screen sharing as in browsers: xdg-desktop-portal, its backend for wlroots' protocols, PipeWire.

use std::path::Path;
use std::process::Command;

use super::session::installed;

/// Needed programs, each with its Debian package.
const PROGRAMS: [(&str, &str); 8] = [
    ("/usr/libexec/xdg-desktop-portal", "xdg-desktop-portal"),
    ("/usr/libexec/xdg-desktop-portal-wlr", "xdg-desktop-portal-wlr"),
    ("pipewire", "pipewire"),
    ("wireplumber", "wireplumber"),
    ("gst-launch-1.0", "gstreamer1.0-tools"),
    ("/usr/lib/python3/dist-packages/dbus/__init__.py", "python3-dbus"),
    ("dbus-run-session", "dbus-daemon"),
    ("foot", "foot"),
];

#[test]
fn portal_delivers_a_frame_of_the_screen_unchanged() {
    if !PROGRAMS.iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/portal");
    let output = Command::new(script).args(["--upbeat", env!("CARGO_BIN_EXE_upbeat")]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
