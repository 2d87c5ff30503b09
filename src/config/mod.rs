//! Options: the configuration file and what its values mean.
//!
//! The file is TOML. [`Config`] is what it says, with the built-in default for whatever it leaves out;
//! `config/default.toml` documents every option with its unit, and a test holds it to the built-in defaults.
//! [`ConfigFile`] loads it, and keeps the last good one when it is read again and is wrong.

pub mod animations;
pub mod clients;
mod default;
mod device;
pub mod effects;
mod error;
mod file;
pub mod keys;
mod mode;
mod value;

pub use animations::Animations;
pub use clients::{Limits, Privileges};
pub use device::{Acceleration, AccelerationProfile, Cursor, DeviceRule, Keyboard, PointerSettings};
pub use effects::Effects;
pub use error::ConfigError;
pub use file::{ConfigFile, default_path, parse};
pub use keys::{Keys, KeysWhenLocked};
pub use mode::{DEFAULT_REFRESH, ModeError, OutputMode, Refresh};
use serde::{Deserialize, Serialize};
pub use value::{Colour, Pattern, Percent, Scale, ValueError};

use crate::shell::workspaces::Number;
use crate::timing::estimator::MissBudget;
use crate::timing::pacing::PacingWish;

/// The whole configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// How clients and outputs are paced unless an output or app says otherwise.
    pub pacing: PacingWish,
    /// Which share of frames may be late.
    pub miss_budget: MissBudgets,
    /// What is seen where no window is.
    pub background: Colour,
    /// Whether planes of a display show clients' buffers.
    pub planes: bool,
    /// Whether windows appear and move without animation.
    pub reduced_motion: bool,
    /// Mechanisms that can be switched off.
    pub timing: Timing,
    /// Content that is scrolled for clients.
    pub scroll: Scroll,
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
    /// The pointer's image.
    pub cursor: Cursor,
    /// Programs for X11.
    pub x11: X11,
    /// What the shortcut for a terminal runs: a program and its arguments, separated by blanks.
    pub terminal: String,
    /// Shortcuts that work while the session is locked, too.
    pub keys_when_locked: KeysWhenLocked,
    /// What programs may do to others.
    pub privileges: Privileges,
    /// How many of what one program may have.
    pub limits: Limits,
    /// Rules for outputs, by name; where several match, the later one counts.
    #[serde(rename = "output")]
    pub outputs: Vec<OutputRule>,
    /// Rules for mice and touchpads, by name; where several match, the later one counts.
    #[serde(rename = "device")]
    pub devices: Vec<DeviceRule>,
    /// Rules for applications, by app id; where several match, the later one counts.
    #[serde(rename = "app")]
    pub apps: Vec<AppRule>,
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
}

/// Content that is scrolled for clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scroll {
    /// Whether clients are offered to have views of theirs scrolled.
    pub views: bool,
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
    /// Which outputs, such as `HEADLESS-1` or `DP-*`.
    pub name: Pattern,
    /// Whether it is on.
    pub enabled: Option<bool>,
    /// Size in physical pixels and refresh rate in Hz.
    pub mode: Option<OutputMode>,
    /// Left and top edge in logical pixels.
    pub position: Option<(i32, i32)>,
    /// Physical pixels per logical pixel.
    pub scale: Option<Scale>,
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
    /// Physical pixels per logical pixel.
    pub scale: Scale,
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
    /// On which workspace its windows appear; `None`: on the one that is seen.
    pub workspace: Option<Number>,
    /// Whether its windows are in pictures of the screen.
    pub capture: bool,
}

impl Config {
    /// What the configuration says about the output called `name`.
    pub fn output(&self, name: &str) -> OutputSettings {
        let start =
            OutputSettings { enabled: true, mode: None, position: None, scale: Scale::ONE, pacing: self.pacing };
        let rules = self.outputs.iter().filter(|rule| rule.name.matches(name));
        rules.fold(start, |settings, rule| OutputSettings {
            enabled: rule.enabled.unwrap_or(settings.enabled),
            mode: rule.mode.or(settings.mode),
            position: rule.position.or(settings.position),
            scale: rule.scale.unwrap_or(settings.scale),
            pacing: rule.pacing.unwrap_or(settings.pacing),
        })
    }

    /// What the configuration says about the pointing device called `name`.
    pub fn device(&self, name: &str, is_touchpad: bool) -> PointerSettings {
        let start = if is_touchpad { self.touchpad } else { self.mouse };
        let rules = self.devices.iter().filter(|rule| rule.name.matches(name));
        rules.fold(start, |settings, rule| rule.apply(settings))
    }

    /// What the configuration says about the application that calls itself `app_id`.
    pub fn app(&self, app_id: &str) -> AppSettings {
        AppSettings::settle(&self.apps, app_id, self.miss_budget)
    }
}

impl AppSettings {
    /// What `rules` say about the application that calls itself `app_id`, where `miss_budget` holds for the others.
    pub fn settle(rules: &[AppRule], app_id: &str, miss_budget: MissBudgets) -> Self {
        let start = AppSettings { pacing: None, miss_budget, early_callbacks: false, workspace: None, capture: true };
        let rules = rules.iter().filter(|rule| rule.app_id.matches(app_id));
        rules.fold(start, |settings, rule| AppSettings {
            pacing: rule.pacing.or(settings.pacing),
            miss_budget: rule.miss_budget.map_or(settings.miss_budget, |rule| MissBudgets {
                free_running: rule.free_running.unwrap_or(settings.miss_budget.free_running),
                interactive: rule.interactive.unwrap_or(settings.miss_budget.interactive),
            }),
            early_callbacks: rule.early_callbacks.unwrap_or(settings.early_callbacks),
            workspace: rule.workspace.or(settings.workspace),
            capture: rule.capture.unwrap_or(settings.capture),
        })
    }
}

impl MissBudgets {
    /// The share that counts now.
    pub fn now(&self, interactive: bool) -> MissBudget {
        if interactive { self.interactive.miss_budget() } else { self.free_running.miss_budget() }
    }
}

#[cfg(test)]
mod tests;
