//! Options: the configuration file and what its values mean.
//!
//! The file is TOML. [`Config`] is what it says, with the built-in default for whatever it leaves out;
//! `config/default.toml` documents every option with its unit, and a test holds it to the built-in defaults.
//! [`ConfigFile`] loads it with what it [includes](include), and keeps the last good one when it is read again and is wrong;
//! [`watch`] says when it was saved.

pub mod animations;
pub mod clients;
mod default;
mod device;
pub mod effects;
mod effort;
mod error;
mod file;
mod gestures;
mod include;
pub mod keymap;
mod keys;
mod layers;
mod layout;
mod length;
mod matcher;
mod programs;
pub mod screenshots;
mod scroll;
mod size;
mod starter;
mod text;
mod value;
pub mod watch;
mod windows;

pub use animations::Animations;
pub use clients::{Limits, Privileges};
pub use device::{Acceleration, AccelerationProfile, Cursor, DeviceRule, Keyboard, PointerSettings};
pub use effects::Effects;
pub use error::ConfigError;
pub use file::{ConfigFile, default_path};
pub use gestures::Gestures;
pub use keymap::NoSuchKeymap;
pub use keys::{Keys, KeysWhenLocked};
pub use layers::LayerRule;
pub use layout::{FocusWish, LayoutWish};
pub use matcher::Matcher;
pub use programs::{Autostart, Environment, Program};
pub use screenshots::{PictureFolder, Screenshots};
pub use scroll::Scroll;
use serde::{Deserialize, Serialize};
pub use starter::{StarterError, write_starter};
pub use text::parse;
pub use value::{Colour, Pattern, Percent, Scale, ValueError};
pub use windows::WindowRule;

use crate::shell::workspaces::Number;
use crate::turn::Turn;
pub use upbeat_record::ipc::message::{DEFAULT_REFRESH, ModeError, OutputMode, Refresh};
use upbeat_timing::pacing::PacingWish;

/// The whole configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Other files that count as if they stood above this one, by names that are relative to it. Nothing once they are read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// How clients and outputs are paced unless an output or app says otherwise.
    pub pacing: PacingWish,
    /// Which share of frames may be late.
    pub miss_budget: MissBudgets,
    /// What is seen where no window is.
    pub background: Colour,
    /// Whether an empty desktop says which keys there are.
    pub hint: bool,
    /// How the windows of workspaces lie.
    pub layout: LayoutWish,
    /// What gives a window the focus.
    pub focus: FocusWish,
    /// Whether planes of a display show clients' buffers.
    pub planes: bool,
    /// Whether windows appear and move without animation.
    pub reduced_motion: bool,
    /// Mechanisms that can be switched off.
    pub timing: Timing,
    /// Content that is scrolled for clients.
    pub scroll: Scroll,
    /// Content that is placed for clients as late as can be.
    pub late_latch: LateLatch,
    /// How they do otherwise.
    pub animations: Animations,
    /// What is drawn around and below windows.
    pub effects: Effects,
    /// The keyboard.
    pub keyboard: Keyboard,
    /// Shortcuts.
    pub keys: Keys,
    /// Mice and other pointing devices (on the displays of this machine).
    pub mouse: PointerSettings,
    /// Touchpads (the same).
    pub touchpad: PointerSettings,
    /// Swipes that mean the session.
    pub gestures: Gestures,
    /// The pointer's image.
    pub cursor: Cursor,
    /// Programs for X11.
    pub x11: X11,
    /// What the shortcut for a terminal runs.
    pub terminal: Program,
    /// Shortcuts that work while the session is locked, too.
    pub keys_when_locked: KeysWhenLocked,
    /// What programs may do to others.
    pub privileges: Privileges,
    /// How many of what one program may have.
    pub limits: Limits,
    /// What is run when the session starts.
    pub autostart: Autostart,
    /// Variables of what the session starts.
    pub environment: Environment,
    /// The folder of screenshots, and whether they can be pasted.
    pub screenshots: Screenshots,
    /// Rules for outputs, by name; where several match, the later one counts.
    #[serde(rename = "output", deserialize_with = "effort::rules")]
    pub outputs: Vec<OutputRule>,
    /// Rules for mice and touchpads, by name; where several match, the later one counts.
    #[serde(rename = "device", deserialize_with = "effort::rules")]
    pub devices: Vec<DeviceRule>,
    /// Rules for applications, by app id; where several match, the later one counts.
    #[serde(rename = "app", deserialize_with = "effort::rules")]
    pub apps: Vec<AppRule>,
    /// Rules for windows; where several match, the later one counts.
    #[serde(rename = "window", deserialize_with = "effort::rules")]
    pub windows: Vec<WindowRule>,
    /// Rules for layer surfaces; where several match, the later one counts.
    #[serde(rename = "layer", deserialize_with = "effort::rules")]
    pub layers: Vec<LayerRule>,
}

/// Which share of frames may be late: what the estimators are asked for, and so what a callback's start is weighed by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MissBudgets {
    /// While nobody touches the window, in percent.
    pub free_running: Percent,
    /// While a button or finger is down on it, in percent.
    pub interactive: Percent,
}

/// Mechanisms of timing that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Timing {
    /// Whether content of which all is there is chosen before its latch.
    pub early_latch: bool,
    /// Whether clients that ask for it are told where pointers, fingers and pens will be.
    pub predicted_input: bool,
    /// Whether small changes near the hand are written into the picture on screen.
    pub in_place: bool,
    /// Whether the thread that latches and composes is asked to be in a real-time class.
    pub real_time: bool,
}

/// Content that is placed for clients as late as can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LateLatch {
    /// Whether clients are offered to have surfaces kept at the pointer.
    pub followers: bool,
    /// Whether they are offered to write into what is on screen, ahead of the beam.
    pub front_buffers: bool,
}

/// Programs for X11.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct X11 {
    /// What is their X server, started when the first of them connects; empty for none.
    pub satellite: String,
}

/// A rule for outputs. What it leaves out stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutputRule {
    /// Which outputs, such as `HEADLESS-1` or `DP-*`; or which monitors, such as `DEL DELL U2720Q 2MK7Z13`.
    pub name: Pattern,
    /// Whether it is on.
    pub enabled: Option<bool>,
    /// Size in physical pixels and refresh rate in Hz.
    pub mode: Option<OutputMode>,
    /// Left and top edge in logical pixels.
    pub position: Option<(i32, i32)>,
    /// Physical pixels per logical pixel.
    pub scale: Option<Scale>,
    /// How what is seen lies on the panel.
    pub transform: Option<Turn>,
    /// How it is paced.
    pub pacing: Option<PacingWish>,
}

/// A rule for applications. What it leaves out stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AppRule {
    /// Which applications, such as `foot` or `org.gnome.*`.
    pub app_id: Pattern,
    /// How their windows are paced.
    pub pacing: Option<PacingWish>,
    /// Which share of their frames may be late.
    pub miss_budget: Option<MissBudgetRule>,
    /// Whether they may be called back early, once their pixels prove that what they draw follows from the time that a
    /// callback carries. Of a program for which that is not true, what moves would be seen a refresh too late.
    pub early_callbacks: Option<bool>,
    /// Whether they are told where pointers, fingers and pens will be.
    pub predicted_input: Option<bool>,
    /// On which workspace of their output their windows appear.
    pub workspace: Option<Number>,
    /// Whether they are in pictures of the screen; where not, they are black there.
    pub capture: Option<bool>,
}

/// Which share of an application's frames may be late. What it leaves out stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MissBudgetRule {
    /// While nobody touches the window, in percent.
    pub free_running: Option<Percent>,
    /// While a button or finger is down on it, in percent.
    pub interactive: Option<Percent>,
}

/// What the rules make of one output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputSettings {
    /// Whether it is on.
    pub enabled: bool,
    /// Its mode, unless its own preferred one is meant.
    pub mode: Option<OutputMode>,
    /// Its place, unless it is put to the right of the others.
    pub position: Option<(i32, i32)>,
    /// Physical pixels per logical pixel; `None`: guessed from its size.
    pub scale: Option<Scale>,
    /// How what is seen lies on the panel.
    pub turn: Turn,
    /// How it is paced.
    pub pacing: PacingWish,
}

/// What the rules make of one application on one output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AppSettings {
    /// How its windows are paced; `None` leaves it to their output.
    pub pacing: Option<PacingWish>,
    /// Which share of its frames may be late.
    pub miss_budget: MissBudgets,
    /// Whether it may be called back early.
    pub early_callbacks: bool,
    /// Whether it is told where devices will be; `None`: as all are.
    pub predicted_input: Option<bool>,
    /// On which workspace its windows appear; `None`: on the one that is seen.
    pub workspace: Option<Number>,
    /// Whether its windows are in pictures of the screen.
    pub capture: bool,
}

impl Config {
    /// What the configuration says about the output called `name`, with `monitor` at it: its maker, model and serial number.
    pub fn output(&self, name: &str, monitor: Option<&str>) -> OutputSettings {
        let start = OutputSettings {
            enabled: true,
            mode: None,
            position: None,
            scale: None,
            turn: Turn::NORMAL,
            pacing: self.pacing,
        };
        let is_meant =
            |rule: &&OutputRule| rule.name.matches(name) || monitor.is_some_and(|monitor| rule.name.matches(monitor));
        self.outputs.iter().filter(is_meant).fold(start, |settings, rule| OutputSettings {
            enabled: rule.enabled.unwrap_or(settings.enabled),
            mode: rule.mode.or(settings.mode),
            position: rule.position.or(settings.position),
            scale: rule.scale.or(settings.scale),
            turn: rule.transform.unwrap_or(settings.turn),
            pacing: rule.pacing.unwrap_or(settings.pacing),
        })
    }

    /// What the configuration says about the pointing device called `name`.
    pub fn device(&self, name: &str, is_touchpad: bool) -> PointerSettings {
        let start = if is_touchpad { self.touchpad } else { self.mouse };
        let rules = self.devices.iter().filter(|rule| rule.name.matches(name));
        rules.fold(start, |settings, rule| rule.apply(settings))
    }
}

impl AppSettings {
    /// What `rules` say about the application that calls itself `app_id`, where `miss_budget` holds for the others.
    pub fn settle(rules: &[AppRule], app_id: &str, miss_budget: MissBudgets) -> Self {
        let start = AppSettings {
            pacing: None,
            miss_budget,
            early_callbacks: false,
            predicted_input: None,
            workspace: None,
            capture: true,
        };
        let rules = rules.iter().filter(|rule| rule.app_id.matches(app_id));
        rules.fold(start, |settings, rule| AppSettings {
            pacing: rule.pacing.or(settings.pacing),
            miss_budget: rule.miss_budget.map_or(settings.miss_budget, |rule| MissBudgets {
                free_running: rule.free_running.unwrap_or(settings.miss_budget.free_running),
                interactive: rule.interactive.unwrap_or(settings.miss_budget.interactive),
            }),
            early_callbacks: rule.early_callbacks.unwrap_or(settings.early_callbacks),
            predicted_input: rule.predicted_input.or(settings.predicted_input),
            workspace: rule.workspace.or(settings.workspace),
            capture: rule.capture.unwrap_or(settings.capture),
        })
    }
}

#[cfg(test)]
mod tests;
