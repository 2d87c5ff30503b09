//! Workspaces in a session: switching, windows on them, and outputs. Their numbers are in
//! [`workspaces`](super::workspaces).

use smithay::output::Output;
use smithay::reexports::wayland_protocols::xdg::shell::server::xdg_toplevel::State as Flag;
use smithay::utils::{Logical, Point, Rectangle};

use super::window_rules::{self, WindowRules as _};
use super::workspaces::{ScreenId, WorkspaceId, WorkspaceNumber};
use super::{Shell, ShellRevision, Window, WindowId, activate, chosen_screen, popup};
use crate::shell::{MonitorIdentity, ShellOutputs};
use crate::state::State;

impl Shell {
    /// Whether a window is mapped, on a visible workspace, and neither minimised nor behind another tab.
    pub fn is_visible(&self, id: WindowId) -> bool {
        self.window(id).is_some_and(|window| window.mapped && !window.is_hidden_tab) && self.workspaces.is_visible(id)
    }

    /// All visible windows, bottom to top.
    pub fn visible_windows(&self) -> impl DoubleEndedIterator<Item = &Window> {
        self.windows().filter(|window| !window.is_hidden_tab && self.workspaces.is_visible(window.id))
    }

    /// Whether a window is mapped and on a visible workspace. It may be minimised or behind another tab.
    pub fn is_on_visible_workspace(&self, id: WindowId) -> bool {
        self.window(id).is_some_and(|window| window.mapped) && self.workspaces.is_on_visible_workspace(id)
    }

    /// Whether a window in a strip lies wholly on its output. Always true for other windows.
    pub fn is_seen_whole(&self, id: WindowId) -> bool {
        let place = self.workspaces.place(id);
        let full = place.and_then(|place| self.strips.full(place.screen)).filter(|_| self.is_tile(id));
        let rect = self.window(id).map(Window::rect).unwrap_or_default();
        full.is_none_or(|full| full.contains_rect(rect))
    }

    /// Windows on visible workspaces, the most recently used first.
    pub fn windows_by_last_use(&self) -> Vec<WindowId> {
        let mut windows: Vec<&Window> =
            self.windows().rev().filter(|window| self.is_on_visible_workspace(window.id)).collect();
        // Floating windows are stacked in this order already, unless a window can have the focus below others.
        if self.strips.is_used() || self.focus_follows_pointer {
            windows.sort_by_key(|window| std::cmp::Reverse(window.focus_number));
        }
        windows.into_iter().map(|window| window.id).collect()
    }

    /// Sets the stacking order and the order of last use, from the bottom (used first) to the top (used last).
    pub fn set_use_order(&mut self, used: &[WindowId]) {
        self.restack(used);
        for id in used {
            self.focuses += 1;
            let number = self.focuses;
            self.windows.get_mut_quietly(*id).into_iter().for_each(|window| window.focus_number = number);
        }
    }

    /// Whether the window is dragged by the pointer or a finger.
    pub(super) fn is_dragged(&self, id: WindowId) -> bool {
        self.drag.as_ref().is_some_and(|drag| drag.window == id)
    }

    /// A window, its ancestors, and all their dialogs.
    pub(super) fn family(&self, id: WindowId) -> Vec<WindowId> {
        let eldest = self.ancestors(id).pop().unwrap_or(id);
        std::iter::once(eldest).chain(self.descendants(eldest)).collect()
    }
}

/// The state when windows were last sent `activated` and `suspended`.
#[derive(Debug, Default)]
pub(super) struct SentWindowStates {
    /// [`Shell::changes`] at that time; `None` before the first time.
    changes: Option<ShellRevision>,
    focused: Option<WindowId>,
    in_overview: bool,
}

/// Sends windows the states `activated` (the focused window) and `suspended` (hidden windows, which may stop drawing).
/// Only checks windows whose state may have changed.
pub(super) fn send_window_states(shell: &mut Shell) {
    let now = SentWindowStates {
        changes: Some(shell.changes()),
        focused: shell.focused,
        in_overview: shell.overlays.overview.is_on(),
    };
    let before = std::mem::replace(&mut shell.sent_states, now);
    let is_same_view = before.in_overview == shell.sent_states.in_overview;
    let changed = before.changes.filter(|_| is_same_view).and_then(|changes| shell.changes_since(changes));
    let few: Option<Vec<WindowId>> =
        changed.map(|changed| changed.chain(before.focused).chain(shell.focused).collect());
    let Shell { windows, workspaces, focused, overlays, .. } = shell;
    let mut tell = |window: &mut Window| {
        let active = *focused == Some(window.id);
        let is_seen = workspaces.is_visible(window.id) && !window.is_hidden_tab && !window.is_scrolled_out;
        let suspended = window.mapped && !is_seen && !overlays.overview.is_on();
        if window.sent_state.replace((active, suspended)) == Some((active, suspended)) {
            return;
        }
        window.toplevel.with_pending_state(|pending| {
            for (flag, on) in [(Flag::Activated, active), (Flag::Suspended, suspended)] {
                let _ = if on { pending.states.set(flag) } else { pending.states.unset(flag) };
            }
        });
        window.send_pending();
    };
    match few {
        Some(few) => few.into_iter().filter_map(|id| windows.get_mut_quietly(id).map(&mut tell)).collect(),
        None => windows.iter_mut_quietly().for_each(&mut tell),
    }
    debug_assert!(
        shell.windows().all(|window| {
            let is_seen = shell.workspaces.is_visible(window.id) && !window.is_hidden_tab && !window.is_scrolled_out;
            let suspended = !is_seen && !shell.overlays.overview.is_on();
            window.sent_state == Some((shell.focused == Some(window.id), suspended))
        }),
        "a window was not sent its focus or suspended state"
    );
}

/// The output that shortcuts act on: that of the focused window, or else the output that a key gave the focus to, or
/// else the output under the pointer.
pub fn current_screen(state: &State) -> Option<ScreenId> {
    let workspaces = &state.shell.workspaces;
    let focused = state.shell.focused.and_then(|id| workspaces.place(id)).map(|place| place.screen);
    let (output, _) = chosen_screen::used_area(state)?;
    focused.or_else(|| workspaces.screen(&output.name()))
}

/// The window that gets the focus on an output after the focused window on `place` has vanished.
pub(super) fn next_on(state: &State, place: WorkspaceId) -> Option<WindowId> {
    let shell = &state.shell;
    let there = |window: &&Window| shell.workspaces.place(window.id).map(|it| it.screen) == Some(place.screen);
    shell.next_in_strip(place).or_else(|| shell.visible_windows().rfind(there).map(|window| window.id))
}

/// Shows a workspace. Its most recently used window gets the focus. A dragged window moves to the workspace.
pub fn switch(state: &mut State, to: WorkspaceId) {
    if !state.shell.workspaces.switch(to.screen, to.number) {
        return;
    }
    let held = state.shell.drag.as_ref().filter(|drag| drag.takes_window_along()).map(|drag| drag.window);
    if let Some(held) = held {
        for member in state.shell.family(held) {
            state.shell.workspaces.assign(member, to);
        }
    }
    let there = |window: &&Window| state.shell.workspaces.place(window.id) == Some(to);
    let beside = state.shell.next_in_strip(to);
    let next = beside.or_else(|| state.shell.visible_windows().rfind(there).map(|window| window.id));
    popup::dismiss_grabs(state);
    activate(state, held.or(next));
}

/// Focuses the visible workspace of another output: its window, or without windows the output itself. New windows open
/// there.
pub fn go_to_output(state: &mut State, screen: ScreenId) {
    let place = WorkspaceId { screen, number: state.shell.workspaces.active(screen) };
    let there = |window: &&Window| state.shell.workspaces.place(window.id) == Some(place);
    let beside = state.shell.next_in_strip(place);
    let next = beside.or_else(|| state.shell.visible_windows().rfind(there).map(|window| window.id));
    activate(state, next);
    chosen_screen::choose(state, screen);
}

/// Called after a window was moved: assigns it to the active workspace of the output that contains its centre.
pub(super) fn assign_to_output(state: &mut State, id: WindowId) {
    let is_free = state.shell.is_visible(id) && !state.shell.is_for_strip(id);
    let Some(window) = state.shell.window(id).filter(|_| is_free) else { return };
    let (middle, place) = (centre(window.rect()), state.shell.workspaces.place(id));
    let Some(place) = place else { return };
    if area_of(state, place.screen).is_none_or(|area| area.to_f64().contains(middle)) {
        return;
    }
    let Some((output, _)) = state.usable_area(Some(middle)) else { return };
    if let Some(screen) = state.shell.workspaces.screen(&output.name()).filter(|screen| *screen != place.screen) {
        let number = state.shell.workspaces.active(screen);
        state.shell.workspaces.assign(id, WorkspaceId { screen, number });
        if let Some(window) = state.shell.window_mut(id) {
            window.displaced = None;
        }
    }
}

/// Moves a visible window to the active workspace of another output.
pub(super) fn move_to_screen(state: &mut State, id: WindowId, screen: Option<ScreenId>) {
    let Some(place) = state.shell.workspaces.place(id).filter(|_| state.shell.is_visible(id)) else { return };
    if let Some(screen) = screen.filter(|screen| *screen != place.screen) {
        let number = state.shell.workspaces.active(screen);
        state.shell.workspaces.assign(id, WorkspaceId { screen, number });
    }
}

/// Assigns a new window to a workspace: that of its parent, the one that a rule names for it, or the active one of
/// `output`. Returns whether the window is visible there.
pub(super) fn assign_new_window(state: &mut State, id: WindowId, output: Option<&str>) -> bool {
    let app_id = state.shell.window(id).and_then(super::Window::app_id).unwrap_or_default();
    let settings = window_rules::evaluate(state, id);
    let ruled = settings.workspace.or_else(|| state.ruled_workspace(&app_id));
    let ruled = ruled.and_then(|reference| state.shell.workspaces.find(&reference).ok());
    let has_output = settings.output.is_some();
    let output = settings.output.as_deref().or(output);
    window_rules::apply_rules(state, id);
    let shell = &mut state.shell;
    let meant = |shell: &Shell, screen: ScreenId, number: WorkspaceNumber| match has_output {
        true => WorkspaceId { screen, number },
        false => shell.workspaces.meant(screen, number),
    };
    let parent = shell.parent_of(id).and_then(|parent| shell.workspaces.home(parent));
    match parent {
        Some(home) => {
            shell.workspaces.assign(id, home);
            shell.minimise_with_parent(id);
        }
        None => {
            let screen = output.and_then(|name| shell.workspaces.screen(name));
            let stays = shell.workspaces.place(id).filter(|place| screen.is_none_or(|screen| place.screen == screen));
            match stays.map(|place| (place, ruled.unwrap_or(shell.workspaces.active(place.screen)))) {
                Some((place, number)) if place.number != number => {
                    shell.workspaces.assign(id, meant(shell, place.screen, number));
                }
                Some(_) => {}
                None => {
                    // Looked up before the new window counts as one of its workspace.
                    let there = screen.or_else(|| shell.workspaces.screens().next().map(|(screen, _)| screen));
                    let to = ruled.zip(there).map(|(number, screen)| meant(shell, screen, number));
                    shell.workspaces.add(id, screen);
                    let own = ruled.zip(shell.workspaces.home(id));
                    if let Some(to) = to.or_else(|| own.map(|(number, home)| WorkspaceId { number, ..home })) {
                        shell.workspaces.assign(id, to);
                    }
                }
            }
        }
    }
    shell.workspaces.is_visible(id)
}

/// An output that is plugged in, and its rectangle (global logical coordinates).
pub(super) fn output_of(state: &State, screen: ScreenId) -> Option<(Output, Rectangle<i32, Logical>)> {
    let name = state.shell.workspaces.name(screen)?;
    let found = state.output_areas().find(|(output, _)| output.name() == name);
    found.map(|(output, area)| (output.clone(), area))
}

/// The output that shows a window, and its usable area (global logical coordinates). Outputs may overlap, so the
/// window's place does not say it. `None` for a window without content.
pub(super) fn usable_area_of(state: &State, id: WindowId) -> Option<(Output, Rectangle<i32, Logical>)> {
    let window = state.shell.window(id).filter(|window| window.mapped)?;
    let own = state.shell.workspaces.place(id).and_then(|place| output_of(state, place.screen));
    own.map(|(output, _)| {
        let usable = state.shell.layers.usable(&output);
        (output, usable)
    })
    .or_else(|| state.usable_area(Some(centre(window.rect()))))
}

/// Rectangle of an output that is plugged in (global logical coordinates).
pub fn area_of(state: &State, screen: ScreenId) -> Option<Rectangle<i32, Logical>> {
    let name = state.shell.workspaces.name(screen)?;
    state.output_areas().find(|(output, _)| output.name() == name).map(|(_, area)| area)
}

/// Called after an output was plugged or unplugged: updates the workspaces.
pub(super) fn sync_outputs(state: &mut State) {
    let outputs: Vec<_> =
        state.outputs().map(|output| (output.name(), MonitorIdentity::of(output).map(str::to_owned))).collect();
    let plugged = outputs.iter().map(|(name, monitor)| (name.as_str(), monitor.as_deref()));
    state.shell.workspaces.connect_monitors(plugged);
}

pub(super) fn centre(rect: Rectangle<i32, Logical>) -> Point<f64, Logical> {
    rect.loc.to_f64() + rect.size.to_f64().to_point().downscale(2.0)
}
