//! A whole desktop: a bar, a wallpaper, a terminal, an input method, a clipboard watcher and an idle notification.

use std::process::{Command, Stdio};
use std::time::Duration;

use upbeat_bench::process::ProcessUsage;

use crate::OUTPUT;
use crate::session::{ThirdPartySession, installed};
use crate::text::{spawn_with_bus, type_keys};
use crate::timed_figure::Noise;

/// The programs of the desktop, each with its Debian package.
const PROGRAMS: [(&str, &str); 8] = [
    ("waybar", "waybar"),
    ("swaybg", "swaybg"),
    ("foot", "foot"),
    ("wl-paste", "wl-clipboard"),
    ("swayidle", "swayidle"),
    ("fcitx5", "fcitx5"),
    ("dbus-daemon", "dbus-daemon"),
    ("grim", "grim"),
];
/// Key presses in the measurement.
const KEYS: usize = 50;
/// Time between two keys; long enough for all effects of a key.
const APART: Duration = Duration::from_millis(60);
/// Configuration of the bar, without modules that change by themselves.
const BAR: &str =
    r#"{"layer": "top", "height": 30, "modules-left": ["wlr/taskbar"], "wlr/taskbar": {"format": "{title}"}}"#;
const STYLE: &str = "* { font-family: 'DejaVu Sans'; font-size: 14px; }";
/// Time until everything is at rest after the start.
const SETTLES: Duration = Duration::from_secs(5);
/// Duration of the measurement at rest.
const QUIET: Duration = Duration::from_secs(10);

/// Starts a terminal whose content never changes, even when keys are typed.
fn terminal(session: &mut ThirdPartySession) {
    let silent = [
        "foot",
        "-o",
        "initial-window-size-pixels=400x300",
        "-o",
        "colors.background=242424",
        "sh",
        "-c",
        "stty -echo; exec cat >/dev/null",
    ];
    session.spawn_quietly(&silent);
}

/// Starts all programs, and waits until all are ready.
fn desktop(session: &mut ThirdPartySession) {
    let [config, style] = [("bar", BAR), ("style.css", STYLE)].map(|(name, text)| {
        let path = session.path(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    });
    session.spawn_quietly(&["swaybg", "--color", "#336699"]);
    session.spawn_quietly(&["waybar", "--config", &config, "--style", &style]);
    session.spawn_quietly(&["wl-paste", "--watch", "true"]);
    session.spawn(&["swayidle", "-w", "-C", "/dev/null", "timeout", "3600", "true"]);
    terminal(session);
    session.wait("swayidle", || session.traffic("swayidle").contains("get_idle_notification").then_some(()));
    let (wide, high) = (OUTPUT.0 as usize, OUTPUT.1 as usize);
    session.wait_for_picture("desk", |picture| {
        // The wallpaper is visible except behind the bar and the terminal.
        let blue = picture.count(0x0033_6699);
        blue > wide * high / 2 && blue < wide * (high - 30) - 100_000
    });
    // fcitx5 starts with the plain keyboard, so it passes keys on unchanged.
    spawn_with_bus(session, "fcitx5");
    session.wait("the input method", || session.traffic("fcitx5").contains("get_input_method").then_some(()));
}

/// Number of timer syscalls of the session while keys are pressed; `None` if strace may not trace it.
fn timers_for_keys(session: &ThirdPartySession) -> Option<usize> {
    let calls = session.path("calls");
    let mut strace = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=timerfd_settime,timer_settime,setitimer", "-o"])
        .arg(&calls)
        .args(["-p", &session.pid().to_string()])
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let status = format!("/proc/{}/status", session.pid());
    let looks = || std::fs::read_to_string(&status).is_ok_and(|status| !status.contains("TracerPid:\t0\n"));
    while !looks() {
        if strace.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(APART);
    }
    std::thread::sleep(APART);
    for _ in 0..KEYS {
        type_keys(session, &["a"]);
        std::thread::sleep(APART);
    }
    rustix::process::kill_process(rustix::process::Pid::from_child(&strace), rustix::process::Signal::INT).unwrap();
    strace.wait().unwrap();
    Some(std::fs::read_to_string(&calls).unwrap().lines().filter(|line| line.contains("settime(")).count())
}

#[test]
#[ignore = "timed: ./up measure"]
fn key_press_sets_no_more_timers_in_a_whole_desktop() {
    if !PROGRAMS.iter().chain(&[("strace", "strace")]).all(|(program, package)| installed(program, package)) {
        return;
    }
    let noise = Noise::begin();
    let mut session = ThirdPartySession::start("keys", OUTPUT, None);
    terminal(&mut session);
    session.wait_for_picture("terminal", |picture| picture.count(0x0024_2424) > 50_000);
    std::thread::sleep(SETTLES);
    let Some(bare) = timers_for_keys(&session) else { return };
    session.end();
    let mut session = ThirdPartySession::start("desk-keys", OUTPUT, None);
    desktop(&mut session);
    std::thread::sleep(SETTLES);
    let whole = timers_for_keys(&session).unwrap();
    session.assert_all_running();
    session.end();
    // Some more are allowed, because a clock in another program may tick during the measurement.
    let keeps = whole <= bare + KEYS / 10;
    noise.judge(keeps, format_args!("timers for {KEYS} keys: {bare} bare, {whole} in a whole desktop"));
}

#[test]
#[ignore = "timed: ./up measure"]
fn idle_desktop_causes_no_wake_up() {
    if !PROGRAMS.iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = ThirdPartySession::start("desk", OUTPUT, None);
    desktop(&mut session);
    std::thread::sleep(SETTLES);
    let (noise, before) = (Noise::begin(), ProcessUsage::of(session.pid()).unwrap());
    std::thread::sleep(QUIET);
    let used = ProcessUsage::of(session.pid()).unwrap().since(before);
    session.assert_all_running();
    session.end();
    noise.judge(used.wake_ups == 0, format_args!("{} wake-ups in {QUIET:?} of a desktop at rest", used.wake_ups));
}
