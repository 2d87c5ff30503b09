//! A whole desktop: a bar, a wallpaper, a terminal, who watches the clipboard, and who waits until nobody does anything.

use std::time::Duration;

use upbeat::bench::process::Usage;

use super::OUTPUT;
use super::session::{Session, installed};

/// What it is made of, each with its Debian package.
const PROGRAMS: [(&str, &str); 6] = [
    ("waybar", "waybar"),
    ("swaybg", "swaybg"),
    ("foot", "foot"),
    ("wl-paste", "wl-clipboard"),
    ("swayidle", "swayidle"),
    ("grim", "grim"),
];
/// What the bar has on it: nothing of it changes by itself.
const BAR: &str =
    r#"{"layer": "top", "height": 30, "modules-left": ["wlr/taskbar"], "wlr/taskbar": {"format": "{title}"}}"#;
const STYLE: &str = "* { font-family: 'DejaVu Sans'; font-size: 14px; }";
/// Until what was begun has come to its end.
const SETTLES: Duration = Duration::from_secs(5);
/// How long nothing happens.
const QUIET: Duration = Duration::from_secs(10);

/// Starts all of it, and waits until all of it is there.
fn desktop(session: &mut Session) {
    let [config, style] = [("bar", BAR), ("style.css", STYLE)].map(|(name, text)| {
        let path = session.path(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    });
    session.spawn_quietly(&["swaybg", "--color", "#336699"]);
    session.spawn_quietly(&["waybar", "--config", &config, "--style", &style]);
    session.spawn_quietly(&["wl-paste", "--watch", "true"]);
    session.spawn(&["swayidle", "-w", "-C", "/dev/null", "timeout", "3600", "true"]);
    session.spawn_quietly(&["foot", "-o", "initial-window-size-pixels=400x300", "cat"]);
    session.wait("who waits", || session.traffic("swayidle").contains("get_idle_notification").then_some(()));
    let (wide, high) = (OUTPUT.0 as usize, OUTPUT.1 as usize);
    session.wait_for_picture("desk", |picture| {
        // The bar, and the terminal above the wallpaper.
        let blue = picture.count(0x0033_6699);
        blue > wide * high / 2 && blue < wide * (high - 30) - 100_000
    });
}

#[test]
fn a_desktop_on_which_nothing_happens_makes_no_wake_up() {
    if !PROGRAMS.iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = Session::start("desk", OUTPUT, None);
    desktop(&mut session);
    std::thread::sleep(SETTLES);
    let before = Usage::of(session.pid()).unwrap();
    std::thread::sleep(QUIET);
    let used = Usage::of(session.pid()).unwrap().since(before);
    assert_eq!(used.wake_ups, 0, "{used:?}");
    session.still_runs();
    session.end();
}
