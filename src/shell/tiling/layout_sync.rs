//! Translates changes of windows, outputs and the focus into operations on the layout.

use ahash::HashMap;
use smithay::output::Output;

use super::super::layout::op::{self, ColumnWidth, LayoutRect, MinimumSize, WindowOpening};
use super::super::layout::{ArrangedWindow, LayoutOp};
use super::super::window_rules::{self, WindowRules as _};
use super::super::workspaces::{ScreenId, WorkspaceId};
use super::super::{Shell, Window, WindowArrangement, WindowId};
use super::super::{chosen_screen, workspace_actions};
use super::{TilingMode, TilingState, tile_configure};
use crate::shell::{ShellOutputs, geometry};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// After each arrangement, changes by clients wait for this multiple of its duration. So a client that changes its
/// limits in every turn uses at most an eighth of the time. With a usual number of windows an arrangement takes some
/// ten microseconds.
const PAUSE: i64 = 8;
/// Longest pause, for an arrangement that took long because another process was running.
const LONGEST_PAUSE: Span = Span::from_millis(100);

/// Whether anything has changed since the windows of all strips were last arranged.
fn is_stale(shell: &Shell) -> bool {
    shell.strips.is_used() && shell.strips.arranged != Some(shell.changes())
}

/// Arranges the windows of all strips, if anything has changed since the last time.
pub fn arrange(state: &mut State) {
    if !is_stale(&state.shell) {
        return;
    }
    let start = state.clock.now();
    sync_screens(state);
    sync_windows(state);
    sync_focus(state);
    tile_configure::place(state);
    let end = state.clock.now();
    let shell = &mut state.shell;
    let strips = &mut shell.strips;
    (strips.pauses_until, strips.arrangements) =
        (end + ((end - start) * PAUSE).min(LONGEST_PAUSE), strips.arrangements + 1);
    shell.strips.arranged = Some(shell.changes());
}

/// Arranges after changes by clients in a turn, but not in the pause after the last arrangement. Then it must be done
/// before the next frame that may show the change, and no later than the returned time.
pub fn arrange_in_time(state: &mut State) -> Option<Instant> {
    if !is_stale(&state.shell) {
        return None;
    }
    let until = state.shell.strips.pauses_until;
    if state.clock.now() < until {
        return Some(until);
    }
    arrange(state);
    None
}

/// Updates the layout with the connected outputs and their usable areas.
fn sync_screens(state: &mut State) {
    let outputs: Vec<Output> = state.outputs().cloned().collect();
    let shell = &mut state.shell;
    let there: Vec<(ScreenId, String)> =
        shell.workspaces.screens().map(|(screen, name)| (screen, name.to_owned())).collect();
    let gone: Vec<ScreenId> =
        shell.strips.layout.screens().filter(|screen| there.iter().all(|(known, _)| known != screen)).collect();
    gone.into_iter().for_each(|screen| shell.strips.layout.apply(&LayoutOp::Disconnect(screen)));
    shell.strips.screens.clear();
    for (screen, name) in there {
        let Some(output) = outputs.iter().find(|output| output.name() == name) else { continue };
        shell.strips.screens.push((screen, geometry(output)));
        let area = TilingState::area(shell, output);
        if shell.strips.layout.area(screen) != Some(&area) {
            shell.strips.layout.apply(&LayoutOp::Connect(screen, area));
        }
    }
}

/// Updates the layout with the windows and their workspaces.
fn sync_windows(state: &mut State) {
    let widths = ruled_widths(state);
    let shell = &mut state.shell;
    let mut there: HashMap<WindowId, WorkspaceId> = shell.strips.layout.windows().collect();
    // Minimised windows have no place: their neighbours use it until they are restored.
    let windows = shell.windows().map(|window| window.id).filter(|id| !shell.is_minimised(*id));
    let mut windows: Vec<WindowId> = windows.collect();
    windows.sort_unstable();
    for id in windows {
        let place = shell.workspaces.place(id).filter(|place| shell.strips.layout.area(place.screen).is_some());
        let Some(place) = place else {
            // Without an output, keep its place in the layout.
            there.remove(&id);
            continue;
        };
        match (there.remove(&id), shell.strips.mode(place)) {
            (None, TilingMode::Strip) => open(shell, id, place, widths.get(&id).copied()),
            (Some(known), TilingMode::Strip) if known != place => shell.strips.layout.apply(&LayoutOp::Send(id, place)),
            (Some(_), TilingMode::Strip) => {}
            (Some(_), TilingMode::Floating) => shell.strips.layout.apply(&LayoutOp::Close(id)),
            (None, TilingMode::Floating) => {}
        }
        if let Some(window) =
            shell.windows.get_mut_quietly(id).filter(|_| shell.strips.mode(place) == TilingMode::Strip)
        {
            let limits = limits_of(window);
            if std::mem::replace(&mut window.layout_limits, limits) != limits {
                shell.strips.layout.apply(&LayoutOp::SetMinimumSize(id, limits));
            }
        }
    }
    // In the order of their ids, because the order decides which window gets the focus next.
    let mut gone: Vec<WindowId> = there.into_keys().collect();
    gone.sort_unstable();
    gone.into_iter().for_each(|gone| shell.strips.layout.apply(&LayoutOp::Close(gone)));
    shell.strips.has_windows = shell.strips.layout.windows().next().is_some();
}

/// Column widths from rules for windows that have no column yet, in thousandths of the screen.
fn ruled_widths(state: &State) -> HashMap<WindowId, u16> {
    let shell = &state.shell;
    if !state.has_window_rules() {
        return HashMap::default();
    }
    let fresh = shell.windows().filter(|window| !window.in_strip && !window.placed);
    fresh.filter_map(|window| Some((window.id, window_rules::evaluate(state, window.id).width?))).collect()
}

/// Called after a client may have set another minimum size: schedules an arrangement if it has changed.
pub(in crate::shell) fn minimum_size_changed(shell: &mut Shell, id: WindowId) {
    let is_other = |window: &Window| window.in_strip && limits_of(window) != window.layout_limits;
    if shell.window(id).is_some_and(is_other) {
        shell.strips.arranged = None;
    }
}

fn limits_of(window: &Window) -> MinimumSize {
    let least = window.size_limits().min;
    MinimumSize { width: least.w.max(0), height: least.h.max(0) }
}

/// Adds a window to a strip: beside the active column, or floating above.
fn open(shell: &mut Shell, id: WindowId, place: WorkspaceId, width: Option<u16>) {
    let Some(window) = shell.window(id) else { return };
    let corner = shell.strips.full(place.screen).map(|full| full.loc).unwrap_or_default();
    let rect = window.rect();
    let at = rect.loc - corner;
    let floats =
        window.floats_always().then(|| LayoutRect::new((at.x, at.y).into(), (rect.size.w, rect.size.h).into()));
    let (wanted, limits) = (window.wanted.clone(), limits_of(window));
    let back = shell.strips.restore_positions.iter().find(|(known, _)| *known == id).map(|(_, back)| *back);
    shell.strips.forget_position(id);
    let opening = WindowOpening { place: Some(place), floating: floats, focused: shell.focused == Some(id), back };
    let layout = &mut shell.strips.layout;
    layout.apply(&LayoutOp::Open(id, limits, opening));
    if let Some(width) = width.filter(|_| floats.is_none() && back.is_none()) {
        tile_configure::on_column_of(layout, id, &LayoutOp::SetWidth(ColumnWidth::Share(width)));
    }
    // Apply the state that the client requested before.
    match wanted {
        WindowArrangement::Fullscreen { .. } => layout.apply(&LayoutOp::SetFullscreen(id, true)),
        WindowArrangement::Maximized { .. } if floats.is_none() && back.is_none() => {
            tile_configure::on_column_of(layout, id, &LayoutOp::SetSpan(op::ColumnSpan::Maximised))
        }
        _ => {}
    }
}

/// Updates the layout with the focused window and the visible workspaces.
fn sync_focus(state: &mut State) {
    let current = workspace_actions::current_screen(state);
    let shell = &mut state.shell;
    let layout = &mut shell.strips.layout;
    for (screen, _) in shell.workspaces.screens() {
        let place = WorkspaceId { screen, number: shell.workspaces.active(screen) };
        if layout.shown(screen).is_some_and(|shown| shown != place) {
            layout.apply(&LayoutOp::Show(place));
        }
    }
    let focused = shell.focused.and_then(|id| Some((id, layout.place_of(id)?)));
    match focused {
        Some((id, place)) if layout.focus_on(place) != Some(id) => layout.apply(&LayoutOp::Focus(id)),
        Some((_, place)) if layout.focused_place() != place => layout.apply(&LayoutOp::Show(place)),
        Some(_) => {}
        None => {
            let place = current.map(|screen| WorkspaceId { screen, number: shell.workspaces.active(screen) });
            if let Some(place) = place.filter(|place| layout.focused_place() != *place) {
                layout.apply(&LayoutOp::Show(place));
            }
        }
    }
}

/// Called before the first configure of a window: if it will be in a strip, the configure has its size there.
pub(in crate::shell) fn set_initial_tile(state: &mut State, id: WindowId) {
    let settings = window_rules::evaluate(state, id);
    if let Some(window) = state.shell.windows.get_mut_quietly(id) {
        window.ruled_floating = settings.floating;
    }
    let floats =
        |window: &Window| window.wanted != WindowArrangement::Floating || window.placed || window.floats_always();
    if !state.shell.strips.is_used() || state.shell.window(id).is_none_or(floats) {
        return;
    }
    let Some(place) =
        expected_workspace(state, id).filter(|place| state.shell.strips.mode(*place) == TilingMode::Strip)
    else {
        return;
    };
    sync_screens(state);
    let Some(window) = state.shell.window(id) else { return };
    let mut layout = state.shell.strips.layout.clone();
    let opening = WindowOpening {
        place: Some(place),
        floating: None,
        back: None,
        focused: state.shell.workspaces.active(place.screen) == place.number,
    };
    layout.apply(&LayoutOp::Open(id, limits_of(window), opening));
    if let Some(width) = settings.width {
        tile_configure::on_column_of(&mut layout, id, &LayoutOp::SetWidth(ColumnWidth::Share(width)));
    }
    let mut arranged: Vec<ArrangedWindow> = Vec::new();
    layout.arrange(place, &mut arranged);
    let Some(found) = arranged.into_iter().find(|it| it.window == id && !it.is_fullscreen) else { return };
    let Some((output, full)) = workspace_actions::output_of(state, place.screen) else { return };
    let area = tile_configure::to_global(found.rect, full, output.current_scale().fractional_scale());
    if let Some(window) = state.shell.windows.get_mut_quietly(id) {
        window.set_pending_arrangement(WindowArrangement::Tiled { area, is_maximised: found.is_maximised });
        // Makes sure that the strips are arranged, even if the window is closed at once.
        state.shell.strips.has_windows = true;
    }
}

/// Called when a window is mapped. Many clients set the application id only after the first configure. If a rule for
/// that id makes the window float, it leaves the strip.
pub(in crate::shell) fn recheck_floating_rule(state: &mut State, id: WindowId) {
    let floating = window_rules::evaluate(state, id).floating;
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return };
    window.ruled_floating = floating;
    if floating == Some(true) && !window.placed && matches!(window.wanted, WindowArrangement::Tiled { .. }) {
        window.set_pending_arrangement(WindowArrangement::Floating);
        window.send_pending();
    }
}

/// The workspace on which a window will appear.
pub(in crate::shell) fn expected_workspace(state: &State, id: WindowId) -> Option<WorkspaceId> {
    let (output, _) = chosen_screen::used_area(state)?;
    let settings = window_rules::evaluate(state, id);
    let named = settings.output.as_deref().and_then(|name| state.shell.workspaces.screen(name));
    let screen = named.or_else(|| state.shell.workspaces.screen(&output.name()))?;
    let app_id = state.shell.window(id)?.app_id().unwrap_or_default();
    let workspaces = &state.shell.workspaces;
    let ruled = settings.workspace.or_else(|| state.ruled_workspace(&app_id));
    let number = ruled.and_then(|reference| workspaces.find(&reference).ok());
    Some(match number {
        Some(number) if named.is_none() => workspaces.meant(screen, number),
        number => WorkspaceId { screen, number: number.unwrap_or(workspaces.active(screen)) },
    })
}
