//! The built-in defaults. `config/default.toml` documents the same values; a test compares them.

use super::animations::{
    Curve, Damping, Duration, FadeOptions, FadeScale, FramesAhead, Frequency, PlaceOptions, StyleName,
};
use super::effects::{Automatic, MarkWidth, Passes, RadiusWish, Reach, ShadowWish, Share};
use super::{
    Animations, Autostart, Colour, Config, Cursor, Effects, Environment, FocusWish, Gestures, Keyboard, Keys,
    KeysWhenLocked, LateLatch, LayoutWish, Limits, MissBudgets, Percent, PointerSettings, Privileges, Program,
    Screenshots, Scroll, Timing, X11,
};
use crate::bindings::CommandLine;
use upbeat_timing::defaults::OWN_FRAMES_AHEAD;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::pacing::PacingWish;

impl Default for Config {
    fn default() -> Self {
        Config {
            include: Vec::new(),
            pacing: PacingWish::Auto,
            miss_budget: MissBudgets::default(),
            background: Colour { red: 0x1d, green: 0x23, blue: 0x30 },
            hint: true,
            layout: LayoutWish::default(),
            focus: FocusWish::default(),
            planes: true,
            reduced_motion: false,
            timing: Timing::default(),
            scroll: Scroll::default(),
            late_latch: LateLatch::default(),
            animations: Animations::default(),
            effects: Effects::default(),
            keyboard: Keyboard::default(),
            keys: Keys::default(),
            mouse: PointerSettings::default(),
            touchpad: PointerSettings::default(),
            gestures: Gestures::default(),
            cursor: Cursor::default(),
            x11: X11::default(),
            terminal: Program::default(),
            keys_when_locked: KeysWhenLocked::default(),
            privileges: Privileges::default(),
            limits: Limits::default(),
            autostart: Autostart::default(),
            environment: Environment::default(),
            screenshots: Screenshots::default(),
            outputs: Vec::new(),
            devices: Vec::new(),
            apps: Vec::new(),
            windows: Vec::new(),
            layers: Vec::new(),
        }
    }
}

impl Default for Program {
    fn default() -> Self {
        Program(CommandLine::named("foot"))
    }
}

impl Default for X11 {
    fn default() -> Self {
        X11 { satellite: "xwayland-satellite".to_owned() }
    }
}

impl Default for MissBudgets {
    fn default() -> Self {
        MissBudgets { free_running: Percent::FREE_RUNNING, interactive: Percent::INTERACTIVE }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Timing { early_latch: true, predicted_input: true, in_place: false, real_time: true }
    }
}

impl Default for Keyboard {
    fn default() -> Self {
        Keyboard {
            layout: String::new(),
            variant: String::new(),
            model: String::new(),
            options: String::new(),
            repeat_delay: 400,
            repeat_rate: 25,
        }
    }
}

impl Default for Cursor {
    fn default() -> Self {
        Cursor { theme: "default".to_owned(), size: 24 }
    }
}

impl Default for Animations {
    fn default() -> Self {
        Animations {
            enabled: true,
            frames_ahead: FramesAhead(OWN_FRAMES_AHEAD),
            supersede: true,
            open: FadeOptions::default(),
            close: FadeOptions { style: StyleName::Easing, ..FadeOptions::default() },
            place: PlaceOptions::default(),
            workspace: PlaceOptions::default(),
            overview: PlaceOptions::default(),
            help: PlaceOptions { style: StyleName::Easing, ..PlaceOptions::default() },
        }
    }
}

impl Default for FadeOptions {
    fn default() -> Self {
        let PlaceOptions { enabled, style, frequency, damping, duration, curve } = PlaceOptions::default();
        FadeOptions { enabled, style, frequency, damping, duration, curve, scale: FadeScale(0.9) }
    }
}

impl Default for PlaceOptions {
    fn default() -> Self {
        PlaceOptions {
            enabled: true,
            style: StyleName::Spring,
            // Arrives in a quarter of a second, without overshoot.
            frequency: Frequency(4.0),
            damping: Damping(1.0),
            duration: Duration(150.0),
            curve: Curve(CubicBezier::EASE_OUT),
        }
    }
}

// `Auto`: effects that cost time even in frames in which they do not change are drawn only by a GPU.
impl Default for Effects {
    fn default() -> Self {
        Effects {
            shadow: ShadowWish::Auto(Automatic::Auto),
            shadow_reach: Reach(24.0),
            shadow_opacity: Share(0.6),
            corner_radius: RadiusWish::Auto(Automatic::Auto),
            blur: Passes(0),
            title_bars: true,
            mark_width: MarkWidth(2.0),
            mark_colour: Colour { red: 0x73, green: 0xa5, blue: 0xff },
            urgent_colour: Colour { red: 0xff, green: 0xa3, blue: 0x4d },
        }
    }
}
