//! Workspaces with a name in a session: where they are, and changes of the list by the configuration.

use std::sync::Arc;

use super::overview::put_down;
use super::workspaces::{ScreenId, UnknownWorkspace, WorkspaceId, WorkspaceName, WorkspaceReference};
use super::{Shell, following, outputs_changed, popup, tiling, workspace_actions};
use crate::state::State;

/// The workspace that a user means who works on `screen`.
///
/// # Errors
/// If there is none with this name.
pub fn place_of(
    state: &State,
    screen: ScreenId,
    reference: &WorkspaceReference,
) -> Result<WorkspaceId, UnknownWorkspace> {
    let workspaces = &state.shell.workspaces;
    workspaces.find(reference).map(|number| workspaces.meant(screen, number))
}

/// Shows a workspace, and focuses its output if that is another one.
pub fn show(state: &mut State, to: WorkspaceId) {
    let is_elsewhere = workspace_actions::current_screen(state).is_some_and(|screen| screen != to.screen);
    if is_elsewhere && state.shell.workspaces.active(to.screen) == to.number {
        workspace_actions::go_to_output(state, to.screen);
    } else {
        workspace_actions::switch(state, to);
    }
}

/// Sets the names of the workspaces from 10. Windows follow the names
/// ([`Workspaces::rename`](super::workspaces::Workspaces::rename)).
pub fn set_names(state: &mut State, names: &Arc<[WorkspaceName]>) {
    if state.shell.workspaces.names() == names {
        return;
    }
    // Strips must have all windows, so that columns follow their workspace as they are.
    tiling::arrange(state);
    if let Some(press) = state.shell.overlays.press.take() {
        put_down(state, &press);
    }
    state.shell.swipe = None;
    state.shell.forget_snap_preview();
    popup::dismiss_grabs(state);
    let homes: Vec<_> =
        state.shell.windows().map(|window| (window.id, state.shell.workspaces.home(window.id))).collect();
    let Shell { workspaces, strips, slides, pans, overlays, closing_windows, .. } = &mut state.shell;
    let renumbering = workspaces.rename(names.clone());
    strips.renumber(&renumbering);
    slides.forget();
    pans.forget();
    overlays.indicators.forget();
    for closing in closing_windows {
        closing.place = closing.place.and_then(|place| {
            let number = renumbering.of(place.number)?;
            Some(WorkspaceId { number, ..place })
        });
    }
    outputs_changed(state);
    tiling::arrange(state);
    // Windows whose workspace is gone join others, perhaps at the same place.
    for (id, _) in homes.iter().filter(|(_, home)| home.is_some_and(|home| renumbering.of(home.number).is_none())) {
        following::separate(state, *id);
    }
    focus_visible(state);
}

/// Gives the focus to a window of the current output, if no window has it.
fn focus_visible(state: &mut State) {
    let screen = workspace_actions::current_screen(state).filter(|_| state.shell.focused.is_none());
    if let Some(screen) = screen {
        workspace_actions::go_to_output(state, screen);
    }
}
