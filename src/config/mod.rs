//! The configuration file: its options, their values and defaults.
//!
//! The file is TOML. [`Config`] has all options, with the built-in default for each that the file leaves out.
//! `config/default.toml` documents every option with its unit, and a test compares it with the built-in defaults.
//! [`ConfigFile`] loads the file with its [includes](include), and keeps the last valid configuration when a reload
//! fails. [`watch`] tells when a file was saved.

pub mod animations;
pub mod clients;
mod default;
mod device;
pub mod effects;
mod entry_limits;
mod error;
mod file;
mod front_buffer;
mod gestures;
mod include;
pub mod keymap;
mod keys;
mod layers;
mod layout;
mod length;
mod match_budget;
mod matcher;
mod parsing;
mod programs;
mod rotation;
pub mod screenshots;
mod scroll;
mod starter;
mod values;
pub mod watch;
mod windows;
mod workspaces;

pub use animations::AnimationSettings;
pub use clients::{ClientLimits, PrivilegeOptions};
pub use device::{Acceleration, AccelerationProfile, CursorOptions, DeviceRule, KeyboardOptions, PointerSettings};
pub use effects::EffectOptions;
pub use error::ConfigError;
pub use file::{ConfigFile, default_path};
pub use front_buffer::FrontBufferOption;
pub use gestures::GestureOptions;
pub use keymap::NoSuchKeymap;
pub use keys::{Keys, KeysWhenLocked};
pub use layers::LayerRule;
pub use layout::{FocusOption, LayoutOption};
pub use matcher::TextMatcher;
pub use parsing::parse;
pub use programs::{Autostart, Environment, ProgramCommand};
pub use rotation::RotationOption;
pub use screenshots::{PictureFolder, ScreenshotOptions};
pub use scroll::ScrollSettings;
use serde::{Deserialize, Serialize};
pub use starter::{StarterError, write_starter};
pub use values::{InPlaceSize, OutputScale, Percent, RgbColour, ValueError, WildcardPattern};
pub use windows::WindowRule;
pub use workspaces::WorkspaceNames;

use crate::output_transform::OutputTransform;
use crate::shell::workspaces::WorkspaceReference;
pub use upbeat_record::ipc::message::{DEFAULT_REFRESH, ModeError, OutputMode, RefreshRate};
use upbeat_timing::pacing::PacingWish;

/// All options of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Files, by paths relative to this one, that count as if they stood above it. Empty once they are read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// How clients and outputs are paced unless an output or app rule says otherwise.
    pub pacing: PacingWish,
    /// Which share of frames may be late.
    pub miss_budget: MissBudgets,
    /// The colour behind all windows.
    pub background: RgbColour,
    /// Whether an empty desktop shows a hint about shortcuts.
    pub hint: bool,
    /// Whether an output shows its workspaces for a moment after a switch.
    pub workspace_indicator: bool,
    /// Workspaces with a name, besides 1 to 9.
    pub workspaces: WorkspaceNames,
    /// How the windows of workspaces are arranged.
    pub layout: LayoutOption,
    /// How a window gets the focus.
    pub focus: FocusOption,
    /// Whether planes of a display show client buffers.
    pub planes: bool,
    /// Whether windows open and move without animation.
    pub reduced_motion: bool,
    /// Timing mechanisms that can be switched off.
    pub timing: TimingOptions,
    /// Views that the compositor scrolls for clients.
    pub scroll: ScrollSettings,
    /// Content that the compositor places for clients as late as possible.
    pub late_latch: LateLatchOptions,
    /// How windows open and move without `reduced-motion`.
    pub animations: AnimationSettings,
    /// Shadows, corners, blur and marks of windows.
    pub effects: EffectOptions,
    pub keyboard: KeyboardOptions,
    pub keys: Keys,
    /// Mice and other pointing devices (on the displays of this machine).
    pub mouse: PointerSettings,
    /// Touchpads (on the displays of this machine).
    pub touchpad: PointerSettings,
    /// Swipes that are the session's own.
    pub gestures: GestureOptions,
    pub cursor: CursorOptions,
    /// Support for X11 programs.
    pub x11: X11Options,
    /// The program of the shortcut for a terminal.
    pub terminal: ProgramCommand,
    /// Shortcuts that work while the session is locked, too.
    pub keys_when_locked: KeysWhenLocked,
    /// Which privileged protocols clients may use.
    pub privileges: PrivilegeOptions,
    /// Resource limits of one client.
    pub limits: ClientLimits,
    /// Programs that start with the session.
    pub autostart: Autostart,
    /// Environment variables of the programs that the session starts.
    pub environment: Environment,
    /// The folder of screenshots, and whether they are copied to the clipboard.
    pub screenshots: ScreenshotOptions,
    /// Rules for outputs, by name; where several match, the later one counts.
    #[serde(rename = "output", deserialize_with = "match_budget::rules")]
    pub outputs: Vec<OutputRule>,
    /// Rules for mice and touchpads, by name; where several match, the later one counts.
    #[serde(rename = "device", deserialize_with = "match_budget::rules")]
    pub devices: Vec<DeviceRule>,
    /// Rules for applications, by app id; where several match, the later one counts.
    #[serde(rename = "app", deserialize_with = "match_budget::rules")]
    pub apps: Vec<AppRule>,
    /// Rules for windows; where several match, the later one counts.
    #[serde(rename = "window", deserialize_with = "match_budget::rules")]
    pub windows: Vec<WindowRule>,
    /// Rules for layer surfaces; where several match, the later one counts.
    #[serde(rename = "layer", deserialize_with = "match_budget::rules")]
    pub layers: Vec<LayerRule>,
}

/// The miss budget: the share of frames that may be late. The estimators aim for it, so it decides how early callbacks
/// are sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MissBudgets {
    /// While the user does not touch the window, in percent.
    pub free_running: Percent,
    /// While a button or finger is down on it, in percent.
    pub interactive: Percent,
}

/// Timing mechanisms that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct TimingOptions {
    /// Whether content is latched early once all of it has arrived.
    pub early_latch: bool,
    /// Whether clients that ask for it get predicted positions of pointers, fingers and pens.
    pub predicted_input: bool,
    /// Whether small changes near the pointer or finger are written into the buffer on screen.
    pub in_place: bool,
    /// Such a change must lie within a square of this side around the newest input, in millimetres.
    pub in_place_size: InPlaceSize,
    /// Whether real-time scheduling is requested for the thread that latches and composites.
    pub real_time: bool,
}

/// Content that the compositor places for clients as late as possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LateLatchOptions {
    /// Whether clients may have surfaces that follow the pointer.
    pub followers: bool,
    /// Whether clients may write into the buffer on screen, ahead of the beam.
    pub front_buffers: bool,
}

/// Support for X11 programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct X11Options {
    /// The program that serves as X server, started when the first X11 program connects; empty for none.
    pub satellite: String,
}

/// A rule for outputs. Options that it leaves out keep their value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutputRule {
    /// Matches outputs, such as `HEADLESS-1` or `DP-*`, or monitors, such as `DEL DELL U2720Q 2MK7Z13`.
    pub name: WildcardPattern,
    /// Whether it is on.
    pub enabled: Option<bool>,
    /// Size in physical pixels and refresh rate in Hz.
    pub mode: Option<OutputMode>,
    /// Left and top edge in logical pixels.
    pub position: Option<(i32, i32)>,
    /// Physical pixels per logical pixel.
    pub scale: Option<OutputScale>,
    /// How the image is turned on the panel.
    pub transform: Option<OutputTransform>,
    /// Whether the picture turns with the device.
    pub rotation: Option<RotationOption>,
    pub pacing: Option<PacingWish>,
    /// Whether the buffer on screen may be written.
    pub front_buffer: Option<FrontBufferOption>,
}

/// A rule for applications. Options that it leaves out keep their value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AppRule {
    /// Matches app ids, such as `foot` or `org.gnome.*`.
    pub app_id: WildcardPattern,
    pub pacing: Option<PacingWish>,
    /// Which share of their frames may be late.
    pub miss_budget: Option<MissBudgetRule>,
    /// Whether they may get callbacks early, once their pixels prove that their content depends only on the callback's
    /// time. A program for which that is not true would show its motion a refresh too late.
    pub early_callbacks: Option<bool>,
    /// Whether they get predicted positions of pointers, fingers and pens.
    pub predicted_input: Option<bool>,
    /// Whether small changes near the pointer or finger are written into the buffer on screen.
    pub in_place: Option<bool>,
    /// The workspace of their output on which their windows open, by its number or name.
    pub workspace: Option<WorkspaceReference>,
    /// Whether screen captures contain them; otherwise they are black there.
    pub capture: Option<bool>,
}

/// The miss budget of an application. Options that it leaves out keep their value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MissBudgetRule {
    /// While the user does not touch the window, in percent.
    pub free_running: Option<Percent>,
    /// While a button or finger is down on it, in percent.
    pub interactive: Option<Percent>,
}

/// The settings of one output, from all rules that match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputSettings {
    /// Whether it is on.
    pub enabled: bool,
    /// `None`: its preferred mode.
    pub mode: Option<OutputMode>,
    /// `None`: to the right of the other outputs.
    pub position: Option<(i32, i32)>,
    /// Physical pixels per logical pixel; `None`: guessed from its size.
    pub scale: Option<OutputScale>,
    /// How the image is turned on the panel.
    pub turn: OutputTransform,
    /// Whether the picture turns with the device.
    pub rotation: RotationOption,
    pub pacing: PacingWish,
    /// Whether the buffer on screen may be written.
    pub front_buffer: FrontBufferOption,
}

/// The settings of one application, from all rules that match.
#[derive(Clone, Debug, PartialEq)]
pub struct AppSettings {
    /// How its windows are paced; `None` leaves it to their output.
    pub pacing: Option<PacingWish>,
    /// Which share of its frames may be late.
    pub miss_budget: MissBudgets,
    /// Whether it may get callbacks early.
    pub early_callbacks: bool,
    /// Whether it gets predicted positions of devices; `None`: the general setting.
    pub predicted_input: Option<bool>,
    /// Whether its small changes near the newest input are written into the buffer on screen; `None`: the general
    /// setting.
    pub in_place: Option<bool>,
    /// The workspace on which its windows open; `None`: the visible one.
    pub workspace: Option<WorkspaceReference>,
    /// Whether screen captures contain its windows.
    pub capture: bool,
}

impl Config {
    /// The settings of the output called `name`. `monitor`: the maker, model and serial number of its monitor.
    pub fn output(&self, name: &str, monitor: Option<&str>) -> OutputSettings {
        let start = OutputSettings {
            enabled: true,
            mode: None,
            position: None,
            scale: None,
            turn: OutputTransform::NORMAL,
            rotation: RotationOption::Auto,
            pacing: self.pacing,
            front_buffer: FrontBufferOption::Auto,
        };
        let is_meant =
            |rule: &&OutputRule| rule.name.matches(name) || monitor.is_some_and(|monitor| rule.name.matches(monitor));
        self.outputs.iter().filter(is_meant).fold(start, |settings, rule| OutputSettings {
            enabled: rule.enabled.unwrap_or(settings.enabled),
            mode: rule.mode.or(settings.mode),
            position: rule.position.or(settings.position),
            scale: rule.scale.or(settings.scale),
            turn: rule.transform.unwrap_or(settings.turn),
            rotation: rule.rotation.unwrap_or(settings.rotation),
            pacing: rule.pacing.unwrap_or(settings.pacing),
            front_buffer: rule.front_buffer.unwrap_or(settings.front_buffer),
        })
    }

    /// The settings of the pointing device called `name`.
    pub fn device(&self, name: &str, is_touchpad: bool) -> PointerSettings {
        let start = if is_touchpad { self.touchpad } else { self.mouse };
        let rules = self.devices.iter().filter(|rule| rule.name.matches(name));
        rules.fold(start, |settings, rule| rule.apply(settings))
    }
}

impl AppSettings {
    /// The settings of the application with `app_id`. `miss_budget`: the general one.
    pub fn apply_rules(rules: &[AppRule], app_id: &str, miss_budget: MissBudgets) -> Self {
        let start = AppSettings {
            pacing: None,
            miss_budget,
            early_callbacks: false,
            predicted_input: None,
            in_place: None,
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
            in_place: rule.in_place.or(settings.in_place),
            workspace: rule.workspace.clone().or(settings.workspace),
            capture: rule.capture.unwrap_or(settings.capture),
        })
    }
}

#[cfg(test)]
mod tests;
