//! Minimised windows: hidden with their dialogs on their workspace until the user or a client asks for them.
//!
//! ```text
//!   shortcut, xdg_toplevel.set_minimized, taskbar ─► minimise ─► not visible; its column closes up, the focus goes on
//!   overview, Alt+Tab, activation, taskbar ───────► restore ─► where it lay
//! ```
//! [`Workspaces`](super::workspaces::Workspaces) has the list of minimised windows. For visibility they count as
//! windows of a workspace that is not shown. The overview and the switcher show them. In a strip the neighbours take
//! their place, and the position is remembered (`TilingState::remember_position`).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::animation::WindowMotion;
use super::{Shell, ShellSeat, WindowId, activate, animation, release_window, tiling, workspace_actions};
use crate::shell::ShellOutputs;
use crate::state::State;

impl Shell {
    pub fn is_minimised(&self, id: WindowId) -> bool {
        self.workspaces.is_minimised(id)
    }

    /// Minimises a new window whose parent is minimised.
    pub(super) fn minimise_with_parent(&mut self, id: WindowId) {
        if self.parent_of(id).is_some_and(|parent| self.is_minimised(parent)) {
            self.workspaces.set_minimised(id, true);
        }
    }

    /// Called when a window is unmapped, so that it is not minimised when it is mapped again.
    pub(super) fn forget_minimised(&mut self, id: WindowId) {
        self.workspaces.set_minimised(id, false);
        self.strips.forget_position(id);
    }
}

/// Minimises the focused window, for the user.
pub fn minimise_focused(state: &mut State) {
    if let Some(id) = state.shell.focused() {
        minimise(state, id);
    }
}

/// Handles `xdg_toplevel.set_minimized`. A window without content is not minimised, because the user would not know
/// that it exists.
pub fn minimise_surface(state: &mut State, surface: &WlSurface) {
    if let Some(id) = state.shell.window_of_root(surface).map(|window| window.id) {
        minimise(state, id);
    }
}

/// Hides a window and its dialogs. The next window of its output gets the focus.
pub fn minimise(state: &mut State, id: WindowId) {
    let Some(from) = state.shell.workspaces.place(id) else { return };
    let shell = &state.shell;
    let family = shell.family(id).into_iter();
    let members: Vec<WindowId> =
        family.filter(|member| shell.window(*member).is_some_and(|window| window.mapped)).collect();
    if !members.contains(&id) || shell.is_minimised(id) {
        return;
    }
    tiling::arrange(state);
    tiling::actions::remember_positions(state, from, &members);
    for member in &members {
        animation::keep_snapshot(state, *member);
        release_window(state, *member);
        state.shell.workspaces.set_minimised(*member, true);
    }
    tiling::arrange(state);
    if state.shell.focused.is_some_and(|focused| members.contains(&focused)) {
        let next = workspace_actions::next_on(state, from);
        activate(state, next);
    }
    changed(state);
}

/// Shows a minimised window and its dialogs at their previous places. The focus does not change.
pub(super) fn restore(state: &mut State, id: WindowId) {
    let shell = &state.shell;
    let minimised: Vec<WindowId> = shell.family(id).into_iter().filter(|member| shell.is_minimised(*member)).collect();
    if minimised.is_empty() {
        return;
    }
    // The overview shows minimised windows, so there is nothing to animate.
    let appears = !state.shell.overlays.overview.is_on();
    for member in &minimised {
        state.shell.workspaces.set_minimised(*member, false);
        if let Some(window) = state.shell.window_mut(*member).filter(|_| appears) {
            window.motion = WindowMotion::default();
        }
    }
    tiling::arrange(state);
    changed(state);
}

fn changed(state: &mut State) {
    state.shell.strips.invalidate();
    workspace_actions::send_window_states(&mut state.shell);
    state.refresh_focus();
    state.schedule_repaint_all();
}
