//! Unmodified third-party programs, each in a session of its own, headless or nested in another compositor. The tests
//! click and type into them and capture the screen with grim. No program may get a protocol error.
//!
//! Each program runs for a few seconds; `UPBEAT_THIRD_PARTY_SECONDS=60` makes it a minute. Pictures and the programs'
//! protocol logs are left in `target/tmp/third_party`. A program that is not installed is skipped with the name of its
//! Debian package, unless `CI=true`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

mod arrangement;
mod browsers;
mod bus;
mod capture;
mod clipboard;
mod desktop;
mod globals;
mod idle;
mod input;
mod lock;
mod picture;
mod pointer;
mod portal;
mod session;
mod text;
mod timed;
#[path = "../timed/mod.rs"]
mod timed_figure;
mod toolkits;
mod vnc;
mod x11;

use picture::ScreenPicture;
use session::{ParentCompositor, ThirdPartySession, installed};

/// The output's size. Windows are centred in it, so a click at its centre hits them.
const OUTPUT: (u32, u32) = (1024, 768);
const TEXT: &str = "keeping time";
/// Fewest pixels that typing a line changes: two letters.
const TYPED_PIXELS: usize = 60;

/// Expected look of a program's window.
#[derive(Clone, Copy)]
struct Expectation {
    /// Fewest pixels that are not background.
    pixels: usize,
    /// Fewest colours besides the background.
    colours: usize,
    typing: Typing,
}

/// Expected reaction of a program to typing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Typing {
    /// The window shows no reaction.
    Ignored,
    Echoes,
    /// The program exits, because wtype's keymap begins with the key code that is Escape elsewhere, and the program
    /// checks only the code.
    Leaves,
}

/// Runs a program of a Debian package: captures its window, clicks, types, and captures again.
fn run(name: &str, renderer: Option<&str>, package: &str, command: &[&str], expected: Expectation) {
    let tools = [("grim", "grim"), ("wtype", "wtype"), (command[0], package)];
    if !tools.iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    try_out(ThirdPartySession::start(name, OUTPUT, renderer), command, expected);
}

/// Does the same in a session that is nested in another compositor.
fn run_nested(parent: ParentCompositor, name: &str, package: &str, command: &[&str], expected: Expectation) {
    let outer = match parent {
        ParentCompositor::Weston => ("weston", "weston"),
        ParentCompositor::Sway => ("sway", "sway"),
        ParentCompositor::Xvfb => ("Xvfb", "xvfb"),
        ParentCompositor::Upbeat => ("grim", "grim"),
    };
    let tools = [("grim", "grim"), ("wtype", "wtype"), outer, (command[0], package)];
    if tools.iter().all(|(program, package)| installed(program, package)) {
        try_out(ThirdPartySession::start_in(parent, name, OUTPUT), command, expected);
    }
}

fn try_out(mut session: ThirdPartySession, command: &[&str], expected: Expectation) {
    let name = command[0];
    session.spawn(command);
    let first = session.wait_for_picture("first", |picture| {
        picture.content() >= expected.pixels && picture.colours() >= expected.colours
    });
    session.click(OUTPUT.0 / 2, OUTPUT.1 / 2);
    if expected.typing != Typing::Leaves {
        session.type_text(TEXT);
    }
    session.linger();
    session.assert_all_running();
    if expected.typing == Typing::Echoes {
        session.wait_for_picture("typed", |picture| picture.differs(&first) >= TYPED_PIXELS);
    }
    let last = session.picture("last");
    assert!(last.content() >= expected.pixels, "{name}: only {} pixels are left", last.content());
    assert!(last.colours() >= expected.colours, "{name}: {} colours", last.colours());
    if expected.typing == Typing::Leaves {
        session.type_text(TEXT);
        session.wait_for_exits();
    }
    session.end();
}

/// Area of a square window, in pixels.
const fn square(side: usize) -> usize {
    side * side
}

macro_rules! runs {
    ($renderer:expr; $($test:ident: $package:literal, [$($word:literal),+], $pixels:expr, $colours:literal, $typing:ident;)*) => {$(
        #[test]
        fn $test() {
            let expected = Expectation { pixels: $pixels, colours: $colours, typing: Typing::$typing };
            run(stringify!($test), $renderer, $package, &[$($word),+], expected);
        }
    )*};
}

runs! {
    None;
    foot: "foot", ["foot", "-o", "initial-window-size-pixels=400x300", "cat"], 100_000, 2, Echoes;
    weston_terminal: "weston", ["weston-terminal", "--shell=/bin/cat"], 100_000, 3, Echoes;
    weston_simple_shm: "weston", ["weston-simple-shm"], square(200), 8, Leaves;
    weston_simple_egl: "weston", ["weston-simple-egl"], 10_000, 3, Leaves;
    weston_simple_damage: "weston", ["weston-simple-damage"], square(200), 2, Ignored;
    weston_subsurfaces: "weston", ["weston-subsurfaces"], 30_000, 20, Ignored;
    // Few pixels, because the flower is random and sometimes has thin petals.
    weston_flower: "weston", ["weston-flower"], 1_000, 3, Ignored;
    weston_presentation_feedback: "weston", ["weston-presentation-shm", "-f"], square(200), 3, Ignored;
    weston_presentation_idle: "weston", ["weston-presentation-shm", "-i"], square(200), 3, Ignored;
    weston_presentation_low_latency: "weston", ["weston-presentation-shm", "-p"], square(200), 3, Ignored;
    gtk4_demo: "gtk-4-examples", ["gtk4-demo"], 200_000, 20, Ignored;
}

runs! {
    Some("gles");
    foot_under_gles: "foot", ["foot", "-o", "initial-window-size-pixels=400x300", "cat"], 100_000, 2, Echoes;
    weston_simple_egl_under_gles: "weston", ["weston-simple-egl"], 10_000, 3, Leaves;
    weston_subsurfaces_under_gles: "weston", ["weston-subsurfaces"], 30_000, 20, Ignored;
    gtk4_demo_under_gles: "gtk-4-examples", ["gtk4-demo"], 200_000, 20, Ignored;
}

macro_rules! runs_nested {
    ($($test:ident: $parent:ident, $package:literal, [$($word:literal),+], $pixels:expr, $colours:literal, $typing:ident;)*) => {$(
        #[test]
        fn $test() {
            let expected = Expectation { pixels: $pixels, colours: $colours, typing: Typing::$typing };
            run_nested(ParentCompositor::$parent, stringify!($test), $package, &[$($word),+], expected);
        }
    )*};
}

runs_nested! {
    foot_in_weston: Weston, "foot", ["foot", "-o", "initial-window-size-pixels=400x300", "cat"], 100_000, 2, Echoes;
    weston_simple_shm_in_weston: Weston, "weston", ["weston-simple-shm"], square(200), 8, Leaves;
    gtk4_demo_in_weston: Weston, "gtk-4-examples", ["gtk4-demo"], 200_000, 20, Ignored;
    foot_in_sway: Sway, "foot", ["foot", "-o", "initial-window-size-pixels=400x300", "cat"], 100_000, 2, Echoes;
    weston_simple_shm_in_sway: Sway, "weston", ["weston-simple-shm"], square(200), 8, Leaves;
    foot_in_upbeat: Upbeat, "foot", ["foot", "-o", "initial-window-size-pixels=400x300", "cat"], 100_000, 2, Echoes;
    foot_on_x11: Xvfb, "foot", ["foot", "-o", "initial-window-size-pixels=400x300", "cat"], 100_000, 2, Echoes;
    weston_simple_shm_on_x11: Xvfb, "weston", ["weston-simple-shm"], square(200), 8, Leaves;
    weston_simple_shm_in_upbeat: Upbeat, "weston", ["weston-simple-shm"], square(200), 8, Leaves;
}

/// Mesa draws the next frame before it waits for the last frame's callback: the callback only releases a finished
/// frame.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "a slow compositor reads the client's CPU time late, when it draws the next frame"
)]
fn weston_simple_egl_is_classed_as_gated() {
    if !installed("weston-simple-egl", "weston") {
        return;
    }
    let mut session = ThirdPartySession::start("gated", OUTPUT, None);
    session.spawn_quietly(&["weston-simple-egl"]);
    session.wait_for_class("gated");
    session.assert_all_running();
    session.end();
}

/// Number of open windows.
fn windows(session: &ThirdPartySession) -> usize {
    let answer: serde_json::Value = serde_json::from_str(&session.message(&["windows"])).unwrap();
    answer["windows"].as_array().map_or(0, Vec::len)
}

#[test]
fn several_programs_share_a_screen() {
    let programs = [
        ("foot", "foot"),
        ("weston-simple-shm", "weston"),
        ("weston-flower", "weston"),
        ("weston-simple-egl", "weston"),
        ("grim", "grim"),
        ("wtype", "wtype"),
    ];
    if !programs.iter().all(|(program, package)| installed(program, package)) {
        return;
    }
    let mut session = ThirdPartySession::start("several", OUTPUT, None);
    let mut seen: Option<ScreenPicture> = None;
    let commands = [["weston-simple-egl"].as_slice(), &["weston-flower"], &["weston-simple-shm"], &["foot", "cat"]];
    for (before_it, command) in commands.into_iter().enumerate() {
        session.spawn(command);
        // Ask the session, because the other windows move, so that the screen does not show whether a window was added.
        session.wait("its window", || (windows(&session) > before_it).then_some(()));
        let before = seen.as_ref().map_or(0, ScreenPicture::content);
        seen = Some(session.wait_for_picture("first", |picture| picture.content() >= before.max(1)));
    }
    let seen = seen.expect("the pictures of four programs");
    // Type without a click: the newest window has the keyboard focus, and a click might hit another program that exits
    // at its first key.
    session.type_text(TEXT);
    session.linger();
    session.assert_all_running();
    session.wait_for_picture("last", |picture| picture.differs(&seen) >= TYPED_PIXELS);
    session.end();
}
