//! Answers of the private socket about workspaces, and requests that switch them.

use super::{ResponseOrReason, list_sentence};
use crate::shell::workspaces::{ScreenId, WorkspaceId, WorkspaceNumber};
use crate::shell::{self, workspace_actions};
use crate::state::State;
use upbeat_record::ipc::message::Response;
use upbeat_record::ipc::message::{WorkspaceInfo, WorkspaceOrder};

/// All workspaces that are visible or have windows.
pub(super) fn all(state: &State) -> Vec<WorkspaceInfo> {
    let workspaces = state.shell.workspaces();
    let of = |(screen, name): (ScreenId, &str)| {
        let name = name.to_owned();
        WorkspaceNumber::all().filter_map(move |number| {
            let (place, active) = (WorkspaceId { screen, number }, workspaces.active(screen) == number);
            let there = state.shell.windows().rev().filter(|window| workspaces.place(window.id) == Some(place));
            let windows: Vec<_> = there.map(|window| window.id).collect();
            let counts = active || !windows.is_empty();
            let urgent = windows.iter().any(|window| workspaces.is_urgent(*window));
            counts.then(|| WorkspaceInfo { output: name.clone(), number, active, urgent, windows })
        })
    };
    workspaces.screens().flat_map(of).collect()
}

/// Switches to a workspace, or moves a window there.
pub(super) fn switch_or_move(state: &mut State, order: &WorkspaceOrder) -> ResponseOrReason {
    if let Some(window) = order.window {
        super::windows::client_of(state, window)?;
    }
    let own = order.window.and_then(|window| state.shell.workspaces().place(window)).map(|place| place.screen);
    let screen = match &order.output {
        Some(name) => Some(named(state, name)?),
        None => own.or_else(|| workspace_actions::current_screen(state)),
    };
    let to = WorkspaceId { screen: screen.ok_or_else(|| "there is no output".to_owned())?, number: order.number };
    match order.window {
        Some(window) => shell::send_to(state, window, to),
        None => workspace_actions::switch(state, to),
    }
    Ok(Response::Done)
}

fn named(state: &State, name: &str) -> Result<ScreenId, String> {
    let workspaces = state.shell.workspaces();
    workspaces.screen(name).ok_or_else(|| {
        let names: Vec<String> = workspaces.screens().map(|(_, name)| name.to_owned()).collect();
        format!("there is no output called {name}; {}", list_sentence(&names))
    })
}
