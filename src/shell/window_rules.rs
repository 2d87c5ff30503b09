//! Window rules of the user: placement and appearance of single windows.

use super::appearance::{DecoratedBy, WindowAppearance};
use super::arrangement::WindowArrangement;
use super::resize::SizeLimits;
use super::workspaces::WorkspaceReference;
use super::{Shell, WindowId, decorations, ruled_size};
use crate::shell::ShellOutputs;
use crate::state::State;
use upbeat_timing::time::{Clock as _, Instant};

/// Settings that rules give a window; `None` where no rule decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowRuleSettings {
    /// The output on which it opens.
    pub output: Option<String>,
    /// The workspace on which it opens.
    pub workspace: Option<WorkspaceReference>,
    /// Whether it opens floating.
    pub floating: Option<bool>,
    /// Width of its column, in thousandths of the screen.
    pub width: Option<u16>,
    /// Whether it opens fullscreen.
    pub fullscreen: Option<bool>,
    /// Whether it gets the focus when it opens.
    pub focused: Option<bool>,
    pub limits: SizeLimits,
    pub decoration: Option<DecoratedBy>,
    /// From 0 (invisible) to 1.
    pub opacity: Option<f64>,
    /// Corner radius in logical pixels.
    pub corner_radius: Option<f64>,
    /// Whether it is visible in screenshots and screen recordings.
    pub capture: Option<bool>,
}

/// Properties of a window that rules match.
#[derive(Clone, Copy, Debug)]
pub struct WindowProperties<'a> {
    pub app_id: &'a str,
    pub title: &'a str,
    /// Identifies it among the windows of its client.
    pub tag: &'a str,
    pub is_focused: bool,
    /// Whether it is in no column.
    pub is_floating: bool,
    /// Whether its client asks for attention.
    pub is_urgent: bool,
    /// Whether its content was drawn for fullscreen.
    pub is_fullscreen: bool,
    /// Whether its content was drawn maximised.
    pub is_maximised: bool,
}

/// The rules for windows and applications. A trait, because `config` has the types of rules, and imports the shell.
pub trait WindowRules {
    /// Whether there are rules for windows.
    fn has_window_rules(&self) -> bool;

    /// Number of rules for windows and applications.
    fn number_of_rules(&self) -> usize;

    /// Evaluates the rules for a window.
    fn rule_settings_of(&self, named: &WindowProperties<'_>) -> WindowRuleSettings;

    /// Whether windows with the application id `app_id` are black in screenshots and screen recordings.
    fn hides_from_capture(&self, app_id: &str) -> bool;

    /// The workspace on which windows with the application id `app_id` open, if a rule says so.
    fn ruled_workspace(&self, app_id: &str) -> Option<WorkspaceReference>;
}

/// Evaluates the rules for a window.
pub(super) fn evaluate(state: &State, id: WindowId) -> WindowRuleSettings {
    let Some(window) = state.shell.window(id).filter(|_| state.has_window_rules()) else {
        return WindowRuleSettings::default();
    };
    let (app_id, title) = (window.app_id().unwrap_or_default(), window.title().unwrap_or_default());
    let named = WindowProperties {
        app_id: &app_id,
        title: &title,
        tag: window.tag().unwrap_or_default(),
        is_focused: state.shell.focused() == Some(id),
        is_floating: !window.in_strip,
        is_urgent: state.shell.workspaces.is_urgent(id),
        is_fullscreen: window.is_fullscreen(),
        is_maximised: matches!(
            window.applied,
            WindowArrangement::Maximized { .. } | WindowArrangement::Tiled { is_maximised: true, .. }
        ),
    };
    state.rule_settings_of(&named)
}

/// Evaluates the rules for a window again, after one of its properties may have changed, and applies the result.
pub fn apply_rules(state: &mut State, id: WindowId) {
    let Some(window) = state.shell.window(id) else { return };
    let kept_out = state.hides_from_capture(&window.app_id().unwrap_or_default());
    let settings = evaluate(state, id);
    set_hidden_from_capture(state, id, settings.capture.map_or(kept_out, |seen| !seen));
    ruled_size::limit(state, id, settings.limits);
    decorations::set_ruled_mode(state, id, settings.decoration);
    let look = WindowAppearance { opacity: settings.opacity.unwrap_or(1.0), corner_radius: settings.corner_radius };
    if state.shell.window(id).is_some_and(|window| window.appearance != look) {
        state.shell.window_mut(id).into_iter().for_each(|window| window.appearance = look);
        state.schedule_update_all();
    }
}

/// Excludes a window from screenshots and screen recordings, or includes it again.
fn set_hidden_from_capture(state: &mut State, id: WindowId, kept_out: bool) {
    if state.shell.window(id).is_none_or(|window| window.hidden_from_capture == kept_out) {
        return;
    }
    if let Some(window) = state.shell.windows.get_mut(id) {
        window.hidden_from_capture = kept_out;
    }
    state.schedule_repaint_all();
}

/// Schedules evaluation of a window's rules, after its names have changed. They are evaluated before the next frame,
/// and only once, however often the names change until then.
pub fn schedule_rules(state: &mut State, id: WindowId) {
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return };
    if !std::mem::replace(&mut window.is_renamed, true) {
        state.shell.renamed.push_back(id);
    }
}

/// Called when a window was tiled, maximised or made fullscreen, or the reverse: rules may match that.
pub(super) fn state_changed(state: &mut State, id: WindowId) {
    if state.has_window_rules() {
        schedule_rules(state, id);
    }
}

/// Evaluates the rules for all windows again, after the rules have changed.
pub fn apply_rules_to_all(state: &mut State) {
    let ids: Vec<WindowId> = state.shell.windows.iter().map(|window| window.id).collect();
    ids.into_iter().for_each(|id| apply_rules(state, id));
}

impl Shell {
    /// Takes the next window whose names have changed.
    fn take_renamed(&mut self) -> Option<WindowId> {
        while let Some(id) = self.renamed.pop_front() {
            if let Some(window) = self.windows.get_mut_quietly(id) {
                window.is_renamed = false;
                return Some(id);
            }
        }
        None
    }

    /// Called when a window is removed: its rules need not be evaluated any more.
    pub(super) fn forget_names(&mut self, id: WindowId) {
        if self.window(id).is_some_and(|window| window.is_renamed) {
            self.renamed.retain(|renamed| *renamed != id);
        }
    }

    /// The previous and the current focused window, if the focus has changed since the last call.
    pub(super) fn take_refocused(&mut self) -> Option<[Option<WindowId>; 2]> {
        let before = std::mem::replace(&mut self.rules_focus, self.focused);
        (before != self.focused).then_some([before, self.focused])
    }
}

/// Number of rules that are evaluated per turn for windows whose names have changed; always all rules of one window.
const RULES_IN_A_TURN: usize = 1_000;

/// Evaluates the rules of windows whose names have changed.
fn follow_names(state: &mut State) {
    let windows = (RULES_IN_A_TURN / state.number_of_rules().max(1)).max(1);
    for _ in 0..windows {
        let Some(id) = state.shell.take_renamed() else { return };
        apply_rules(state, id);
    }
}

/// Evaluates the rules of windows whose focus or names have changed. Called once in a turn.
pub fn apply_changed_rules(state: &mut State) {
    follow_focus(state);
    follow_names(state);
}

/// The time at which rules are to be evaluated next.
pub fn next_wake(state: &State) -> Option<Instant> {
    (!state.shell.renamed.is_empty()).then(|| state.clock.now())
}

fn follow_focus(state: &mut State) {
    if let Some(windows) = state.shell.take_refocused().filter(|_| state.has_window_rules()) {
        windows.into_iter().flatten().for_each(|id| apply_rules(state, id));
    }
}
