//! Minimised windows: with their dialogs out of sight on the workspace that they are on, until they are wanted again.
//!
//! ```text
//!   shortcut, xdg_toplevel.set_minimized, taskbar ─► minimise ─► not visible; its column closes up, the focus goes on
//!   overview, Alt+Tab, activation, taskbar ───────► bring_back ─► where it lay
//! ```
//! [`Workspaces`](super::workspaces::Workspaces) knows which windows are minimised: for all that asks what is seen they are like
//! windows of a workspace that is not shown. The overview and the switcher show them. A strip gives its place to its
//! neighbours, and keeps the way back to it (`Strips::keep_way_back`).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::animation::WindowMotion;
use super::{Hand, Shell, WindowId, activate, animation, let_go_of, spaces, strips};
use crate::shell::Desk;
use crate::state::State;

impl Shell {
    /// Whether a window is minimised.
    pub fn is_minimised(&self, id: WindowId) -> bool {
        self.workspaces.is_minimised(id)
    }

    /// A window appears whose parent is minimised: it waits with it.
    pub(super) fn wait_with_parent(&mut self, id: WindowId) {
        if self.parent_of(id).is_some_and(|parent| self.is_minimised(parent)) {
            self.workspaces.set_minimised(id, true);
        }
    }

    /// A window is unmapped: mapped again, it is not minimised.
    pub(super) fn forget_minimised(&mut self, id: WindowId) {
        self.workspaces.set_minimised(id, false);
        self.strips.forget_way_back(id);
    }
}

/// The user minimises the focused window.
pub fn minimise_focused(state: &mut State) {
    if let Some(id) = state.shell.focused() {
        minimise(state, id);
    }
}

/// The client minimises a window of its own. A window that has no content yet is not minimised: nothing would show that it is
/// there.
pub fn minimise_surface(state: &mut State, surface: &WlSurface) {
    if let Some(id) = state.shell.window_of_root(surface).map(|window| window.id) {
        minimise(state, id);
    }
}

/// Takes a window and its dialogs out of sight. The focus goes to the next window of its output.
pub fn minimise(state: &mut State, id: WindowId) {
    let Some(from) = state.shell.workspaces.place(id) else { return };
    let shell = &state.shell;
    let family = shell.family(id).into_iter();
    let members: Vec<WindowId> =
        family.filter(|member| shell.window(*member).is_some_and(|window| window.mapped)).collect();
    if !members.contains(&id) || shell.is_minimised(id) {
        return;
    }
    strips::arrange(state);
    strips::acting::keep_ways_back(state, from, &members);
    for member in &members {
        animation::leave(state, *member);
        let_go_of(state, *member);
        state.shell.workspaces.set_minimised(*member, true);
    }
    strips::arrange(state);
    if state.shell.focused.is_some_and(|focused| members.contains(&focused)) {
        let next = spaces::next_on(state, from);
        activate(state, next);
    }
    changed(state);
}

/// Shows a minimised window and its dialogs where they lay. The focus stays.
pub(super) fn bring_back(state: &mut State, id: WindowId) {
    let shell = &state.shell;
    let minimised: Vec<WindowId> = shell.family(id).into_iter().filter(|member| shell.is_minimised(*member)).collect();
    if minimised.is_empty() {
        return;
    }
    // In the overview they are seen already.
    let appears = !state.shell.overlays.overview.is_on();
    for member in minimised {
        state.shell.workspaces.set_minimised(member, false);
        if let Some(window) = state.shell.window_mut(member).filter(|_| appears) {
            window.motion = WindowMotion::default();
        }
    }
    strips::arrange(state);
    changed(state);
}

fn changed(state: &mut State) {
    state.shell.strips.stale();
    spaces::tell_windows(&mut state.shell);
    state.refresh_focus();
    state.need_all();
}
