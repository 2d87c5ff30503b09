//! Answers of the private socket about windows.

use ahash::HashMap;

use super::list_sentence;
use super::outputs::rect;
use crate::shell::{self, WindowArrangement};
use crate::state::State;
use crate::surface::SurfaceEntry;
use upbeat_record::ipc::message::event::WindowState;
use upbeat_record::ipc::message::{ColumnPosition, WindowInfo, WindowLayout, WindowMode};
use upbeat_timing::id::{ClientId, WindowId};
use upbeat_timing::pacing::{ClientClass, Pacing};
use upbeat_timing::time::Clock;

/// The reason given for a client that no output paces yet.
const UNSEEN: &str = "it is on no output, or was not visible there yet";

/// Every window with content, the topmost first.
pub(super) fn all(state: &State) -> Vec<WindowInfo> {
    let positions = state.shell.strips().column_positions();
    state.shell.windows().rev().filter_map(|window| describe(state, window, &positions)).collect()
}

/// Every window with content and its root surface, the topmost first.
pub(super) fn with_surfaces(state: &State) -> impl Iterator<Item = (&shell::Window, &SurfaceEntry)> {
    state.shell.windows().rev().filter_map(|window| Some((window, state.surfaces.get(window.surface())?)))
}

pub(super) fn number(window: &shell::Window) -> WindowId {
    window.id
}

/// The client of window `wanted`. The error is a sentence that lists the windows.
pub(super) fn client_of(state: &State, wanted: WindowId) -> Result<ClientId, String> {
    let found = with_surfaces(state).find(|(window, _)| number(window) == wanted);
    found.map(|(_, entry)| entry.client()).ok_or_else(|| {
        let numbers: Vec<String> = with_surfaces(state).map(|(window, _)| number(window).0.to_string()).collect();
        format!("there is no window {}; {}", wanted.0, list_sentence(&numbers))
    })
}

/// All windows, without the values that change with each frame.
pub(super) fn states(state: &State) -> Vec<WindowState> {
    all(state).into_iter().map(Into::into).collect()
}

/// How a window lies on its workspace. `positions`: the places of all tiled windows.
pub(super) fn layout(window: &shell::Window, positions: &HashMap<WindowId, ColumnPosition>) -> WindowLayout {
    WindowLayout {
        mode: match window.arrangement() {
            WindowArrangement::Floating => WindowMode::Floating,
            WindowArrangement::Tiled { is_maximised: false, .. } => WindowMode::Tiled,
            WindowArrangement::Tiled { is_maximised: true, .. } | WindowArrangement::Maximized { .. } => {
                WindowMode::Maximised
            }
            WindowArrangement::Fullscreen { .. } => WindowMode::Fullscreen,
        },
        snapped: window.snapped_part(),
        column: positions.get(&window.id).copied(),
    }
}

/// Whether any part of a window is visible, and the name of its output.
pub(super) fn visibility(state: &State, window: &shell::Window) -> Option<(bool, Option<String>)> {
    let entry = state.surfaces.get(window.surface())?;
    Some((state.outputs.is_visible(entry), output_name(state, window, entry)))
}

/// The output that paces a window. A window that is not visible may have moved since it was paced: then it is the output of
/// its workspace.
fn output_name(state: &State, window: &shell::Window, entry: &SurfaceEntry) -> Option<String> {
    let pacing = || entry.output().and_then(|id| state.outputs.by_id(id)).map(|output| output.output().name());
    let workspaces = state.shell.workspaces();
    let of_workspace = || {
        let name = workspaces.name(workspaces.place(window.id)?.screen)?;
        workspaces.screen(name).map(|_| name.to_owned())
    };
    if state.outputs.is_visible(entry) { pacing().or_else(of_workspace) } else { of_workspace().or_else(pacing) }
}

fn describe(
    state: &State,
    window: &shell::Window,
    positions: &HashMap<WindowId, ColumnPosition>,
) -> Option<WindowInfo> {
    let now = state.clock.now();
    let entry = state.surfaces.get(window.surface())?;
    let output = entry.output().and_then(|id| state.outputs.by_id(id));
    let pacer = output.and_then(|output| output.pacer(entry.client()));
    let history = state.outputs.statistics().get(entry.id()).map(|history| &history.statistics);
    let by_callback = pacer.map_or((Pacing::default(), UNSEEN), |pacer| {
        let (pacing, reason) = pacer.effective();
        (pacing, reason.words())
    });
    // A window with frame pacing is paced by its targets, not by callbacks.
    let by_target = entry.frame_pacing().and_then(|listener| listener.ledger()).map(|ledger| {
        let effective = ledger.machine.effective();
        (effective.pacing, effective.reason.words())
    });
    let (pacing, reason) = by_target.unwrap_or(by_callback);
    let workspaces = state.shell.workspaces();
    let place = workspaces.place(window.id);
    Some(WindowInfo {
        window: number(window),
        client: entry.client(),
        pid: window.client_pid(&state.display_handle),
        app_id: window.app_id().unwrap_or_default(),
        title: window.title().unwrap_or_default(),
        tag: window.tag().map(str::to_owned),
        content: window.content().map(str::to_owned),
        geometry: rect(window.rect()),
        focused: state.shell.focused() == Some(window.id),
        urgent: state.shell.workspaces().is_urgent(window.id),
        minimised: state.shell.is_minimised(window.id),
        visible: state.outputs.is_visible(entry),
        output: output_name(state, window, entry),
        layout: layout(window, positions),
        workspace: place.map(|place| place.number),
        workspace_name: place.and_then(|place| workspaces.name_of(place.number)).map(ToString::to_string),
        class: pacer.map_or(ClientClass::Unknown, |pacer| pacer.class()),
        slope: pacer.and_then(|pacer| pacer.slope()),
        wish: pacer.map_or(state.outputs.rules().default_wish(), |pacer| pacer.wished()),
        pacing,
        reason: reason.to_owned(),
        early_callbacks: pacer.and_then(|pacer| pacer.early_verdict()).map(|verdict| verdict.words().to_owned()),
        budget: pacer.and_then(|pacer| pacer.budget(now)),
        cost: history.and_then(|history| history.cost.summary()),
        cpu: history.and_then(|history| history.cpu.summary()),
        slack_periods: pacer.map_or(0, |pacer| (pacer.slack_periods() - 1) as u8),
    })
}
