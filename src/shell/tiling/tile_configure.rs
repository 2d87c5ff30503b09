//! Puts windows where the layout has them: sends configures and sets places.

use ahash::HashSet;
use smithay::output::Output;
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::super::layout::op::LayoutRect;
use super::super::layout::{ArrangedWindow, LayoutOp, TilingLayout};
use super::super::workspace_actions;
use super::super::workspaces::WorkspaceId;
use super::super::{Window, WindowArrangement, WindowId, configure_bounds, surface_outputs, window_rules};
use super::TilingMode;
use crate::shell::ShellOutputs;
use crate::state::State;

/// Coarsest grid, in logical pixels, on which edges are aligned to whole physical pixels; a coarser grid is not used.
const COARSEST_GRID: i32 = 5;
/// Scales are counted in 120ths (`wp_fractional_scale_v1`).
const SCALE_UNIT: i32 = 120;

/// Smallest number of logical pixels that is a whole number of physical pixels; 1 if it is too large.
fn grid(scale: f64) -> i32 {
    let scale = (scale * f64::from(SCALE_UNIT)).round() as i32;
    let (mut divisor, mut rest) = (SCALE_UNIT, scale.max(1));
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    let grid = SCALE_UNIT / divisor;
    if grid <= COARSEST_GRID { grid } else { 1 }
}

/// Converts a rectangle of the layout to global logical coordinates, with its edges on whole physical pixels where the
/// scale has them.
pub(super) fn to_global(rect: LayoutRect, full: Rectangle<i32, Logical>, scale: f64) -> Rectangle<i32, Logical> {
    let grid = grid(scale);
    let edge = |at: i32| (at + grid / 2).div_euclid(grid) * grid;
    let (left, top) = (edge(rect.loc.x), edge(rect.loc.y));
    let (right, bottom) = (edge(rect.loc.x + rect.size.w), edge(rect.loc.y + rect.size.h));
    let size = Size::from(((right - left).max(1), (bottom - top).max(1)));
    Rectangle::new(full.loc + Point::from((left, top)), size)
}

/// Applies an op to the column of a window without changing the focus.
pub(super) fn on_column_of(layout: &mut TilingLayout, id: WindowId, op: &LayoutOp) {
    let Some(place) = layout.place_of(id) else { return };
    let (focus, before) = (layout.focus_on(place), layout.focused_place());
    layout.apply(&LayoutOp::Focus(id));
    layout.apply(op);
    focus.filter(|focus| *focus != id).iter().for_each(|focus| layout.apply(&LayoutOp::Focus(*focus)));
    if before != place {
        layout.apply(&LayoutOp::Show(before));
    }
}

/// Sends every window of every strip its place, and releases windows that are no longer on a strip.
pub(super) fn place(state: &mut State) {
    let screens: Vec<_> = state.shell.strips.layout.screens().collect();
    let mut tiles = HashSet::default();
    let mut changed = Vec::new();
    let mut above = Vec::new();
    let mut arranged = Vec::new();
    for screen in screens {
        let Some((output, full)) = workspace_actions::output_of(state, screen) else { continue };
        for number in state.shell.workspaces.numbers() {
            let place = WorkspaceId { screen, number };
            if state.shell.strips.mode(place) != TilingMode::Strip {
                continue;
            }
            state.shell.strips.layout.arrange(place, &mut arranged);
            let is_shown = state.shell.workspaces.active(screen) == number;
            for it in &arranged {
                let on = StripOutput { output: &output, full };
                if it.is_floating {
                    changed.extend(float(state, it, &on).then_some(it.window));
                    above.extend((is_shown && it.is_seen).then_some(it.window));
                } else {
                    tiles.insert(it.window);
                    changed.extend(tile(state, it, &on).then_some(it.window));
                }
            }
        }
    }
    changed.extend(release(state, &tiles));
    if state.shell.drag.is_none() && !above.is_empty() {
        // Keep floating windows above the columns, even after a column was raised.
        state.shell.restack(&above);
    }
    if changed.is_empty() {
        return;
    }
    workspace_actions::send_window_states(&mut state.shell);
    for id in changed {
        surface_outputs::update_outputs(state, id);
        window_rules::state_changed(state, id);
    }
    state.schedule_update_all();
}

/// The output of a strip, and its rectangle.
struct StripOutput<'a> {
    output: &'a Output,
    full: Rectangle<i32, Logical>,
}

/// Sends a window its place in its column. Returns whether that has changed.
fn tile(state: &mut State, it: &ArrangedWindow, on: &StripOutput<'_>) -> bool {
    let scale = on.output.current_scale().fractional_scale();
    let wanted = if it.is_fullscreen {
        let area = Rectangle::new(on.full.loc + Point::from((it.rect.loc.x, it.rect.loc.y)), on.full.size);
        WindowArrangement::Fullscreen { output: on.output.clone(), area }
    } else {
        WindowArrangement::Tiled { area: to_global(it.rect, on.full, scale), is_maximised: it.is_maximised }
    };
    let is_aside = !it.is_behind && !it.is_seen;
    let is_known = |output: &Output| state.outputs().any(|known| known == output);
    let Some(window) = state.shell.window(it.window) else { return false };
    let is_orphan = matches!(&window.applied, WindowArrangement::Fullscreen { output, .. } if !is_known(output));
    let is_same = (window.in_strip, window.is_hidden_tab, window.is_scrolled_out) == (true, it.is_behind, is_aside);
    if is_same && window.wanted == wanted && !is_orphan {
        return false;
    }
    configure_bounds::set_pending_bounds(state, it.window);
    // A dragged edge is drawn where the pointer is.
    let is_dragged = state.shell.resizes_tile();
    let Some(window) = state.shell.window_mut(it.window) else { return false };
    (window.in_strip, window.is_hidden_tab, window.is_scrolled_out) = (true, it.is_behind, is_aside);
    if is_orphan {
        // The window's output is gone: show the old content at the new place until the client answers.
        window.applied = wanted.clone();
    }
    if window.wanted != wanted {
        if window.placed {
            window.remember_floating();
        }
        window.stretch = None;
        window.set_pending_arrangement(wanted);
        if is_dragged {
            window.motion.skip_next_move();
        } else {
            window.motion.animate_next_move();
        }
        window.send_pending();
    }
    true
}

/// Puts a window that was tiled until now at its floating place. Returns whether it was tiled, or was configured as a
/// tile: a dialog may name its parent only after its first configure.
fn float(state: &mut State, it: &ArrangedWindow, on: &StripOutput<'_>) -> bool {
    let was_tile = |window: &&Window| window.in_strip || matches!(window.wanted, WindowArrangement::Tiled { .. });
    let Some(window) = state.shell.window(it.window).filter(was_tile) else { return false };
    let was_fullscreen = matches!(window.wanted, WindowArrangement::Fullscreen { .. }) && window.placed;
    let rect = to_global(it.rect, on.full, on.output.current_scale().fractional_scale());
    let Some(window) = state.shell.window_mut(it.window) else { return false };
    if !was_fullscreen {
        window.floating = rect.loc;
        window.floating_size = Some(rect.size);
    }
    window.release_from_strip();
    true
}

/// Makes windows float that are no longer on a strip: at their previous floating place, or else at their place in the
/// strip.
fn release(state: &mut State, tiles: &HashSet<WindowId>) -> Vec<WindowId> {
    let shell = &state.shell;
    let is_released = |id: WindowId| {
        let on = shell.workspaces.place(id).filter(|place| shell.strips.layout.area(place.screen).is_some());
        // A minimised window is in no column, but returns to one when it is restored.
        let on = on.filter(|place| !shell.is_minimised(id) || shell.strips.mode(*place) == TilingMode::Floating);
        on.is_some() && !tiles.contains(&id) && !shell.strips.layout.is_floating(id)
    };
    let was_tile = |window: &&Window| window.in_strip || matches!(window.wanted, WindowArrangement::Tiled { .. });
    let released = shell.windows().filter(was_tile).filter(|window| is_released(window.id));
    let released: Vec<WindowId> = released.map(|window| window.id).collect();
    for id in &released {
        let Some(window) = state.shell.window_mut(*id) else { continue };
        if !window.placed {
            let rect = window.rect();
            window.floating = rect.loc;
            window.floating_size = Some(rect.size);
        }
        window.release_from_strip();
    }
    released
}

impl Window {
    /// Makes a tiled window float.
    fn release_from_strip(&mut self) {
        (self.in_strip, self.is_hidden_tab, self.is_scrolled_out, self.placed) = (false, false, false, true);
        if matches!(self.wanted, WindowArrangement::Tiled { .. } | WindowArrangement::Fullscreen { .. }) {
            self.set_pending_arrangement(WindowArrangement::Floating);
        }
        self.motion.animate_next_move();
        self.send_pending();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_lie_on_whole_pixels_where_the_scale_has_them() {
        assert_eq!([1.0, 1.25, 1.5, 1.75, 2.0, 3.0, 1.1].map(grid), [1, 4, 2, 4, 1, 1, 1]);
        let full = Rectangle::new((1000, 0).into(), (853, 480).into());
        let rect = to_global(LayoutRect::new((9, 8).into(), (403, 463).into()), full, 1.5);
        assert_eq!(rect, Rectangle::new((1010, 8).into(), (402, 464).into()));
    }
}
