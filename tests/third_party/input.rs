//! Pointer, wheel and key events reach windowed, maximised and fullscreen programs unchanged.
//!
//! The tests read each program's own protocol log. Most of the programs draw all the time meanwhile.

use super::OUTPUT;
use super::session::{ThirdPartySession, installed};

/// Part of the output that a window covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Covers {
    /// A floating window, smaller than the output.
    Part,
    /// The whole output: the window is maximised or fullscreen.
    All,
}

#[derive(Clone, Copy, Debug)]
struct FocusedWindow {
    x: i64,
    y: i64,
    width: i64,
    height: i64,
}

impl FocusedWindow {
    /// The only window, if it is visible and focused.
    fn of(session: &ThirdPartySession) -> Option<Self> {
        let answer: serde_json::Value = serde_json::from_str(&session.message(&["windows"])).unwrap();
        let window =
            answer["windows"].get(0).filter(|window| window["focused"] == true && window["visible"] == true)?;
        let [x, y, width, height] =
            ["x", "y", "width", "height"].map(|side| window["geometry"][side].as_i64().unwrap());
        Some(FocusedWindow { x, y, width, height }).filter(|window| window.width > 1 && window.height > 1)
    }

    fn covers(self) -> Covers {
        let all = self.width >= i64::from(OUTPUT.0) && self.height >= i64::from(OUTPUT.1);
        if all { Covers::All } else { Covers::Part }
    }
}

/// Sends motion, scroll and key events to a program. `key`: the shortcut for the wanted size, if no argument sets it.
#[track_caller]
fn reaches(name: &str, package: &str, command: &[&str], covers: Covers, key: Option<&str>) {
    if !installed(command[0], package) {
        return;
    }
    let mut session = ThirdPartySession::start(name, OUTPUT, None);
    session.spawn(command);
    session.wait("a window", || FocusedWindow::of(&session));
    if let Some(key) = key {
        session.message(&["input", "key", key]);
    }
    let window = session.wait("its size", || FocusedWindow::of(&session).filter(|window| window.covers() == covers));
    let (x, y) = (window.x + window.width / 2, window.y + window.height / 2);
    for x in [x - 5, x] {
        session.message(&["input", "move", &x.to_string(), &y.to_string()]);
    }
    session.message(&["input", "scroll", "0", "15"]);
    session.message(&["input", "key", "b"]);
    for event in ["motion(", "axis(", "key("] {
        let interface = if event == "key(" { "wl_keyboard" } else { "wl_pointer" };
        let heard =
            |line: &str| line.contains(interface) && line.contains(&format!(".{event}")) && !line.contains("->");
        session.wait(event, || session.traffic(command[0]).lines().any(heard).then_some(()));
    }
    session.assert_all_running();
    session.end();
}

const SDL: &str = "/usr/libexec/installed-tests/SDL2/testdraw2";

macro_rules! reaches {
    ($($test:ident: $package:literal, [$($word:expr),+], $covers:ident $(, $key:literal)?;)*) => {$(
        #[test]
        fn $test() {
            let key: Option<&str> = None $(.or(Some($key)))?;
            reaches(concat!("input_", stringify!($test)), $package, &[$($word),+], Covers::$covers, key);
        }
    )*};
}

reaches! {
    foot_windowed: "foot", ["foot", "cat"], Part;
    foot_maximised: "foot", ["foot", "--maximized", "cat"], All;
    foot_fullscreen: "foot", ["foot", "--fullscreen", "cat"], All;
    simple_egl_windowed: "weston", ["weston-simple-egl"], Part;
    simple_egl_maximised: "weston", ["weston-simple-egl", "-m"], All;
    simple_egl_fullscreen: "weston", ["weston-simple-egl", "-f"], All;
    sdl_windowed: "libsdl2-tests", [SDL, "--vsync"], Part;
    sdl_maximised: "libsdl2-tests", [SDL, "--vsync", "--resizable", "--maximize"], All;
    sdl_fullscreen: "libsdl2-tests", [SDL, "--vsync", "--fullscreen-desktop"], All;
    gtk4_windowed: "gtk-4-examples", ["gtk4-demo", "--run=fishbowl"], Part;
    gtk4_fullscreen: "gtk-4-examples", ["gtk4-widget-factory"], All, "f11";
}
