//! The built-in defaults. `config/default.toml` documents the same values; a test compares them.

use super::animations::{
    Damping, Duration, EasingCurve, FadeOptions, FadeScale, FramesAhead, Frequency, MotionOptions, MotionStyleName,
};
use super::effects::{AutoWord, BlurPasses, MarkWidth, RadiusOption, Reach, ShadowOption, Share};
use super::{
    AnimationSettings, Autostart, ClientLimits, Config, CursorOptions, EffectOptions, Environment, FocusOption,
    GestureOptions, InPlaceSize, KeyboardOptions, Keys, KeysWhenLocked, LateLatchOptions, LayoutOption, MissBudgets,
    Percent, PointerSettings, PrivilegeOptions, ProgramCommand, RgbColour, ScreenshotOptions, ScrollSettings,
    TimingOptions, WorkspaceNames, X11Options,
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
            background: RgbColour { red: 0x1d, green: 0x23, blue: 0x30 },
            hint: true,
            workspace_indicator: true,
            workspaces: WorkspaceNames::default(),
            layout: LayoutOption::default(),
            focus: FocusOption::default(),
            planes: true,
            reduced_motion: false,
            timing: TimingOptions::default(),
            scroll: ScrollSettings::default(),
            late_latch: LateLatchOptions::default(),
            animations: AnimationSettings::default(),
            effects: EffectOptions::default(),
            keyboard: KeyboardOptions::default(),
            keys: Keys::default(),
            mouse: PointerSettings::default(),
            touchpad: PointerSettings::default(),
            gestures: GestureOptions::default(),
            cursor: CursorOptions::default(),
            x11: X11Options::default(),
            terminal: ProgramCommand::default(),
            keys_when_locked: KeysWhenLocked::default(),
            privileges: PrivilegeOptions::default(),
            limits: ClientLimits::default(),
            autostart: Autostart::default(),
            environment: Environment::default(),
            screenshots: ScreenshotOptions::default(),
            outputs: Vec::new(),
            devices: Vec::new(),
            apps: Vec::new(),
            windows: Vec::new(),
            layers: Vec::new(),
        }
    }
}

impl Default for ProgramCommand {
    fn default() -> Self {
        ProgramCommand(CommandLine::named("foot"))
    }
}

impl Default for X11Options {
    fn default() -> Self {
        X11Options { satellite: "xwayland-satellite".to_owned() }
    }
}

impl Default for MissBudgets {
    fn default() -> Self {
        MissBudgets { free_running: Percent::FREE_RUNNING, interactive: Percent::INTERACTIVE }
    }
}

impl Default for TimingOptions {
    fn default() -> Self {
        TimingOptions {
            early_latch: true,
            predicted_input: true,
            in_place: false,
            in_place_size: InPlaceSize::default(),
            real_time: true,
        }
    }
}

impl Default for KeyboardOptions {
    fn default() -> Self {
        KeyboardOptions {
            layout: String::new(),
            variant: String::new(),
            model: String::new(),
            options: String::new(),
            repeat_delay: 400,
            repeat_rate: 25,
        }
    }
}

impl Default for CursorOptions {
    fn default() -> Self {
        CursorOptions { theme: "default".to_owned(), size: 24 }
    }
}

impl Default for AnimationSettings {
    fn default() -> Self {
        AnimationSettings {
            enabled: true,
            frames_ahead: FramesAhead(OWN_FRAMES_AHEAD),
            supersede: true,
            open: FadeOptions::default(),
            close: FadeOptions { style: MotionStyleName::Easing, ..FadeOptions::default() },
            place: MotionOptions::default(),
            workspace: MotionOptions::default(),
            overview: MotionOptions::default(),
            help: MotionOptions { style: MotionStyleName::Easing, ..MotionOptions::default() },
        }
    }
}

impl Default for FadeOptions {
    fn default() -> Self {
        let MotionOptions { enabled, style, frequency, damping, duration, curve } = MotionOptions::default();
        FadeOptions { enabled, style, frequency, damping, duration, curve, scale: FadeScale(0.9) }
    }
}

impl Default for MotionOptions {
    fn default() -> Self {
        MotionOptions {
            enabled: true,
            style: MotionStyleName::Spring,
            // Arrives in a quarter of a second, without overshoot.
            frequency: Frequency(4.0),
            damping: Damping(1.0),
            duration: Duration(150.0),
            curve: EasingCurve(CubicBezier::EASE_OUT),
        }
    }
}

// `Auto`: effects that cost time even in frames in which they do not change are drawn only by a GPU.
impl Default for EffectOptions {
    fn default() -> Self {
        EffectOptions {
            shadow: ShadowOption::Auto(AutoWord::Auto),
            shadow_reach: Reach(24.0),
            shadow_opacity: Share(0.6),
            corner_radius: RadiusOption::Auto(AutoWord::Auto),
            blur: BlurPasses(0),
            title_bars: true,
            mark_width: MarkWidth(2.0),
            mark_colour: RgbColour { red: 0x73, green: 0xa5, blue: 0xff },
            urgent_colour: RgbColour { red: 0xff, green: 0xa3, blue: 0x4d },
        }
    }
}
