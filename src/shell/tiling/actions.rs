//! Actions of the user on a strip, and requests of clients whose windows are in a strip.

use smithay::output::Output;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle};

use super::super::layout::op::{
    ColumnDisplay, ColumnSpan, ColumnWidth, Direction, HorizontalSide, LayoutRect, Resize, RowHeight,
};
use super::super::layout::{ActiveColumn, LayoutOp};
use super::super::workspaces::WorkspaceId;
use super::super::{Shell, Window, WindowArrangement, WindowId, activate, workspace_actions};
use super::{TilingMode, arrange, tile_configure};
use crate::shell::ShellOutputs;
use crate::state::State;

/// Column widths that [`Resize::Next`] cycles through, in thousandths of the screen.
const WIDTHS: [u16; 3] = [333, 500, 667];
/// Range of a column's width in thousandths of the screen when the user resizes it by steps.
const SHARES: std::ops::RangeInclusive<i32> = 50..=1000;
/// Smallest height of a row when the user resizes it by steps, in logical pixels.
const LEAST_HEIGHT: i32 = 50;

/// The workspace that shortcuts act on.
pub fn current_place(state: &State) -> Option<WorkspaceId> {
    let screen = workspace_actions::current_screen(state)?;
    Some(WorkspaceId { screen, number: state.shell.workspaces.active(screen) })
}

/// Applies an op to the focused strip. Returns whether there is one.
fn perform(state: &mut State, op: impl FnOnce(&Shell, WorkspaceId) -> Option<LayoutOp>) -> bool {
    let place = current_place(state).filter(|place| state.shell.strips.mode(*place) == TilingMode::Strip);
    let Some(place) = place.filter(|_| state.shell.drag.is_none()) else { return false };
    arrange(state);
    let shell = &mut state.shell;
    sync_floating_rects(shell, place);
    let Some(op) = op(shell, place) else { return true };
    let layout = &mut shell.strips.layout;
    if layout.focused_place() != place {
        layout.apply(&LayoutOp::Show(place));
    }
    layout.apply(&op);
    let focus = layout.focus_on(place);
    shell.strips.arranged = None;
    if focus.is_some() && focus != shell.focused {
        activate(state, focus);
    }
    arrange(state);
    true
}

/// Updates the layout with the rectangles of floating windows above a strip, which are moved without it.
fn sync_floating_rects(shell: &mut Shell, place: WorkspaceId) {
    let full = shell.strips.full(place.screen).unwrap_or_default();
    let on_place = |id: &WindowId| shell.workspaces.place(*id) == Some(place) && shell.strips.layout.is_floating(*id);
    let floating: Vec<_> =
        shell.windows().map(|window| window.id).filter(on_place).filter_map(|id| shell.window(id)).collect();
    let moves: Vec<LayoutOp> =
        floating.into_iter().map(|window| LayoutOp::MoveFloating(window.id, local(window.rect(), full))).collect();
    moves.iter().for_each(|op| shell.strips.layout.apply(op));
}

fn local(rect: Rectangle<i32, Logical>, full: Rectangle<i32, Logical>) -> LayoutRect {
    let corner = rect.loc - full.loc;
    LayoutRect::new((corner.x, corner.y).into(), (rect.size.w, rect.size.h).into())
}

/// Remembers the positions of windows of a workspace that are about to be minimised.
pub(in crate::shell) fn remember_positions(state: &mut State, place: WorkspaceId, windows: &[WindowId]) {
    let shell = &mut state.shell;
    sync_floating_rects(shell, place);
    windows.iter().for_each(|id| shell.strips.remember_position(*id));
    shell.strips.arranged = None;
}

/// Moves the focus on the strip. Returns `false` if there is no strip.
pub fn focus(state: &mut State, direction: Direction) -> bool {
    perform(state, |_, _| Some(LayoutOp::FocusTo(direction)))
}

/// Swaps the active column, or the active row, with its neighbour. Returns `false` if there is no strip.
pub fn shift(state: &mut State, direction: Direction) -> bool {
    perform(state, |_, _| match direction {
        Direction::Column(side) => Some(LayoutOp::MoveColumn(side)),
        Direction::Up => Some(LayoutOp::MoveUp),
        Direction::Down => Some(LayoutOp::MoveDown),
        Direction::First | Direction::Last | Direction::OtherLayer => None,
    })
}

/// The focused window joins the column on that side, or leaves its own column towards that side.
pub fn join(state: &mut State, side: HorizontalSide) -> bool {
    perform(state, |_, _| Some(LayoutOp::Join(side)))
}

/// Shows the windows of the active column as tabs, or below each other again.
pub fn toggle_tabs(state: &mut State) -> bool {
    on_active(state, |active| {
        LayoutOp::SetDisplay(match active.display {
            ColumnDisplay::Stacked => ColumnDisplay::Tabbed,
            ColumnDisplay::Tabbed => ColumnDisplay::Stacked,
        })
    })
}

/// Makes the active column as wide as the screen, or restores its width.
pub fn toggle_full_width(state: &mut State) -> bool {
    on_active(state, |active| {
        LayoutOp::SetSpan(if active.span == ColumnSpan::FullWidth { ColumnSpan::Plain } else { ColumnSpan::FullWidth })
    })
}

/// Changes the width of the active column.
pub fn set_width(state: &mut State, resize: Resize) -> bool {
    perform(state, |shell, place| {
        let room = shell.strips.layout.area(place.screen)?.usable.size.w.max(1);
        let active = shell.strips.layout.active_column(place)?;
        let now = match (active.span, active.width) {
            (ColumnSpan::FullWidth | ColumnSpan::Maximised, _) => *SHARES.end(),
            (ColumnSpan::Plain, ColumnWidth::Share(share)) => i32::from(share),
            (ColumnSpan::Plain, ColumnWidth::Pixels(width)) => (i64::from(width) * 1000 / i64::from(room)) as i32,
        };
        let share = match resize {
            Resize::By(percent) => now + i32::from(percent) * 10,
            Resize::To(percent) => i32::from(percent) * 10,
            Resize::Next => {
                let next = WIDTHS.into_iter().map(i32::from).find(|share| *share > now);
                next.unwrap_or(i32::from(WIDTHS[0]))
            }
        };
        Some(LayoutOp::SetWidth(ColumnWidth::Share(share.clamp(*SHARES.start(), *SHARES.end()) as u16)))
    })
}

/// Changes the height of the active row.
pub fn set_height(state: &mut State, resize: Resize) -> bool {
    perform(state, |shell, place| {
        let room = shell.strips.layout.area(place.screen)?.usable.size.h.max(1);
        let window = shell.window(shell.strips.layout.focus_on(place)?)?;
        let percent = |percent: i32| (i64::from(room) * i64::from(percent) / 100) as i32;
        let height = match resize {
            Resize::By(by) => window.rect().size.h + percent(i32::from(by)),
            Resize::To(to) => percent(i32::from(to)),
            // Back to an equal share of the column.
            Resize::Next => return Some(LayoutOp::SetHeight(RowHeight::Weight(1))),
        };
        Some(LayoutOp::SetHeight(RowHeight::Pixels(height.clamp(LEAST_HEIGHT.min(room), room))))
    })
}

fn on_active(state: &mut State, op: impl FnOnce(ActiveColumn) -> LayoutOp) -> bool {
    perform(state, |shell, place| shell.strips.layout.active_column(place).map(op))
}

/// Makes the focused window float above its strip, or puts it back into a column.
pub fn toggle_floating(state: &mut State) -> bool {
    perform(state, |shell, place| {
        let id = shell.strips.layout.focus_on(place)?;
        Some(LayoutOp::SetFloating(id, !shell.strips.layout.is_floating(id), None))
    })
}

/// Switches the current workspace between columns and floating windows.
pub fn toggle_mode(state: &mut State) {
    let Some(place) = current_place(state).filter(|_| state.shell.drag.is_none()) else { return };
    arrange(state);
    let other = state.shell.strips.mode(place).other();
    state.shell.strips.override_mode(place, other);
    state.schedule_repaint_all();
}

/// Scrolls the strip to `view` when a gesture releases it; the view snaps to a column. The gesture's value changes by
/// the distance that all columns move, so that they stay in place on the screen.
pub(in crate::shell) fn scroll_to(state: &mut State, place: WorkspaceId, view: i32) {
    let shell = &mut state.shell;
    let Some(before) = shell.strips.view(place) else { return };
    shell.strips.layout.apply(&LayoutOp::ScrollTo(place, view));
    let by = shell.strips.view(place).map_or(0, |after| after.at - before.at);
    if by != 0 {
        shell.pans.gesture(place).into_iter().for_each(|gesture| gesture.shift_origin(f64::from(by)));
        let Shell { windows, workspaces, .. } = shell;
        let is_there = |window: &Window| window.in_strip && workspaces.place(window.id) == Some(place);
        windows.iter_mut_quietly().filter(|window| is_there(window)).for_each(|window| window.motion.skip_next_move());
    }
    shell.strips.arranged = None;
    let focus = shell.strips.layout.focus_on(place);
    if focus.is_some() && focus != shell.focused {
        activate(state, focus);
    }
    arrange(state);
}

/// Handles a client's request to maximise or unmaximise its window. Returns `false` if the window is not in a strip.
pub(in crate::shell) fn maximise(state: &mut State, surface: &WlSurface, on: bool) -> bool {
    let Some(id) = state.shell.window_of_root(surface).filter(|window| window.in_strip).map(|window| window.id) else {
        return false;
    };
    let span = if on { ColumnSpan::Maximised } else { ColumnSpan::Plain };
    if state.shell.is_minimised(id) {
        // It is in no column now; its column will have this span when it is restored.
        state.shell.strips.set_restored_span(id, span);
    }
    tile_configure::on_column_of(&mut state.shell.strips.layout, id, &LayoutOp::SetSpan(span));
    changed(state);
    true
}

/// Handles a client's request for fullscreen on the named output or its own. Returns `false` if its window is on no
/// strip.
pub(in crate::shell) fn fill_screen(state: &mut State, surface: &WlSurface, output: Option<&Output>) -> bool {
    let Some(id) = on_strip(state, surface) else { return false };
    let there = output.and_then(|output| state.shell.workspaces.screen(&output.name()));
    workspace_actions::move_to_screen(state, id, there);
    if on_strip(state, surface).is_none() {
        return false;
    }
    arrange(state);
    if let Some(place) = state.shell.workspaces.place(id) {
        sync_floating_rects(&mut state.shell, place);
    }
    state.shell.strips.layout.apply(&LayoutOp::SetFullscreen(id, true));
    changed(state);
    true
}

/// Handles a client's request to leave fullscreen. Returns `false` if its window is not fullscreen in a strip.
pub(in crate::shell) fn unfill_screen(state: &mut State, surface: &WlSurface) -> bool {
    let window = state.shell.window_of_root(surface).filter(|window| window.in_strip);
    let Some(id) =
        window.filter(|it| matches!(it.wanted, WindowArrangement::Fullscreen { .. })).map(|window| window.id)
    else {
        return false;
    };
    state.shell.strips.layout.apply(&LayoutOp::SetFullscreen(id, false));
    if state.shell.is_minimised(id) {
        // It has no place now; it will not be fullscreen when it is restored.
        state
            .shell
            .window_mut(id)
            .into_iter()
            .for_each(|window| window.set_pending_arrangement(WindowArrangement::Floating));
    }
    changed(state);
    true
}

/// Makes a tiled window float at its current place, because the pointer drags it out of the strip.
pub(in crate::shell) fn detach_from_strip(state: &mut State, id: WindowId) {
    let Some(window) = state.shell.window(id).filter(|window| !window.is_fullscreen()) else { return };
    let full = state.shell.workspaces.place(id).and_then(|place| state.shell.strips.full(place.screen));
    let rect = local(window.rect(), full.unwrap_or_default());
    state.shell.strips.layout.apply(&LayoutOp::SetFloating(id, true, Some(rect)));
    changed(state);
}

fn on_strip(state: &State, surface: &WlSurface) -> Option<WindowId> {
    let window = state.shell.window_of_root(surface).filter(|window| window.mapped)?;
    let place = state.shell.workspaces.place(window.id)?;
    let is_strip =
        state.shell.strips.mode(place) == TilingMode::Strip && state.shell.strips.full(place.screen).is_some();
    is_strip.then_some(window.id)
}

/// Rearranges the windows after a change of the layout.
fn changed(state: &mut State) {
    state.shell.strips.arranged = None;
    arrange(state);
}
