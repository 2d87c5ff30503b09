//! Answers of the private socket about workspaces, and requests that switch them.

use super::{ResponseOrReason, list_sentence};
use crate::shell::tiling::TilingMode;
use crate::shell::workspaces::{ScreenId, WorkspaceId, WorkspaceName, WorkspaceNumber, WorkspaceReference, Workspaces};
use crate::shell::{self, named_workspaces, workspace_actions};
use crate::state::State;
use upbeat_record::ipc::message::workspace::WorkspaceLayout;
use upbeat_record::ipc::message::{Response, WorkspaceInfo, WorkspaceOrder};

/// All workspaces that are visible or have windows.
pub(super) fn all(state: &State) -> Vec<WorkspaceInfo> {
    let workspaces = state.shell.workspaces();
    let of = |(screen, name): (ScreenId, &str)| {
        let name = name.to_owned();
        workspaces.numbers().filter_map(move |number| {
            let (place, active) = (WorkspaceId { screen, number }, workspaces.active(screen) == number);
            let there = state.shell.windows().rev().filter(|window| workspaces.place(window.id) == Some(place));
            let windows: Vec<_> = there.map(|window| window.id).collect();
            let counts = active || !windows.is_empty();
            let urgent = windows.iter().any(|window| workspaces.is_urgent(*window));
            let own = workspaces.name_of(number).map(WorkspaceName::to_string);
            let layout = layout(state, place);
            counts.then(|| WorkspaceInfo { output: name.clone(), number, name: own, active, layout, urgent, windows })
        })
    };
    workspaces.screens().flat_map(of).collect()
}

/// A known workspace with its current layout, which may change alone.
pub(super) fn with_current_layout(state: &State, known: &WorkspaceInfo) -> WorkspaceInfo {
    let screen = state.shell.workspaces().screen(&known.output);
    let place = screen.map(|screen| WorkspaceId { screen, number: known.number });
    WorkspaceInfo { layout: place.map(|place| layout(state, place)).unwrap_or_default(), ..known.clone() }
}

fn layout(state: &State, place: WorkspaceId) -> WorkspaceLayout {
    match state.shell.strips().mode(place) {
        TilingMode::Strip => WorkspaceLayout::Strip,
        TilingMode::Floating => WorkspaceLayout::Floating,
    }
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
    let screen = screen.ok_or_else(|| "there is no output".to_owned())?;
    let number = number(state.shell.workspaces(), order)?;
    let to = match order.output {
        Some(_) => WorkspaceId { screen, number },
        None => state.shell.workspaces().meant(screen, number),
    };
    match order.window {
        Some(window) => shell::send_to(state, window, to),
        None if order.output.is_some() => workspace_actions::switch(state, to),
        None => named_workspaces::show(state, to),
    }
    Ok(Response::Done)
}

/// The number of the workspace that an order means, by number or by name.
fn number(workspaces: &Workspaces, order: &WorkspaceOrder) -> Result<WorkspaceNumber, String> {
    match (order.number, &order.name) {
        (Some(number), None) if number <= workspaces.last_number() => Ok(number),
        (Some(number), None) => {
            Err(format!("there is no workspace {number}; the last is {}", workspaces.last_number()))
        }
        (None, Some(name)) => {
            let name: WorkspaceName = name.parse().map_err(|error| format!("the workspace \"{name}\": {error}"))?;
            workspaces.find(&WorkspaceReference::Name(name)).map_err(|error| error.to_string())
        }
        (Some(_), Some(_)) => Err("a workspace was expected by its number or its name, not both".to_owned()),
        (None, None) => Err("the number or the name of a workspace was expected".to_owned()),
    }
}

fn named(state: &State, name: &str) -> Result<ScreenId, String> {
    let workspaces = state.shell.workspaces();
    workspaces.screen(name).ok_or_else(|| {
        let names: Vec<String> = workspaces.screens().map(|(_, name)| name.to_owned()).collect();
        format!("there is no output called {name}; {}", list_sentence(&names))
    })
}
