//! Shortcuts that move and resize the focused floating window: on a floating workspace, or above columns.
//!
//! Maximised and fullscreen windows stay as they are. Moving a window that is snapped to a half or a quarter of the
//! screen restores its size, as a drag by the pointer does.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::layout::op::{Direction, HorizontalSide, Resize};
use super::{Window, WindowArrangement, WindowId, placement, set_location, snapping, tiling, workspace_actions};
use crate::state::State;

/// Distance per move, in logical pixels: few presses cross a screen, and the effect of a single press is visible.
const STEP: i32 = 50;
/// Smallest width and height that a shortcut asks for, in logical pixels. The client's limits override it.
const LEAST: i32 = 50;
/// Sizes that [`Resize::Next`] cycles through, in thousandths of the usable area.
const SHARES: [i32; 3] = [333, 500, 667];
/// Clients round their size to a grid (terminals to cells) by less than this, in logical pixels.
const CLIENT_GRID: i32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeAxis {
    Width,
    Height,
}

/// Moves the focused window by one step. Returns `false` if it does not float.
pub fn shift(state: &mut State, direction: Direction) -> bool {
    let Some((id, area)) = focused(state) else { return is_focused_alone(state) };
    let by = match direction {
        Direction::Column(HorizontalSide::Left) => Point::from((-STEP, 0)),
        Direction::Column(HorizontalSide::Right) => Point::from((STEP, 0)),
        Direction::Up => Point::from((0, -STEP)),
        Direction::Down => Point::from((0, STEP)),
        Direction::First | Direction::Last | Direction::OtherLayer => return true,
    };
    let Some(window) = state.shell.window_mut(id) else { return true };
    window.finish_stretch();
    let size = match window.snapped.take() {
        Some(snapped) => {
            window.floating_size = Some(snapped.before.size);
            window.set_pending_arrangement(WindowArrangement::Floating);
            window.send_pending();
            snapped.before.size
        }
        None => asked_size(window),
    };
    let (corner, surface) = (window.floating, window.surface().clone());
    let below = state.shell.below_bar(id, area);
    set_location(state, &surface, placement::move_within_reach(Rectangle::new(corner, size), by, below));
    true
}

/// Changes the width or height of the focused window. Its top left corner stays in place if the screen has room.
/// Returns `false` if the window does not float.
pub fn resize(state: &mut State, axis: ResizeAxis, resize: Resize) -> bool {
    let Some((id, area)) = focused(state) else { return is_focused_alone(state) };
    let below = state.shell.below_bar(id, area);
    let Some(window) = state.shell.window_mut(id) else { return true };
    window.finish_stretch();
    let before = Rectangle::new(window.floating, asked_size(window));
    let limits = window.size_limits();
    let clamp = |size: Size<i32, Logical>| {
        let most = |size: i32, room: i32| size.clamp(LEAST.min(room), room);
        // Leave the other axis alone, even where the client chose a size beyond its limits.
        match axis {
            ResizeAxis::Width => Size::from((limits.clamp((most(size.w, below.size.w), size.h).into()).w, size.h)),
            ResizeAxis::Height => Size::from((size.w, limits.clamp((size.w, most(size.h, below.size.h)).into()).h)),
        }
    };
    let with = |length: i32| match axis {
        ResizeAxis::Width => clamp(Size::from((length.max(0), before.size.h))),
        ResizeAxis::Height => clamp(Size::from((before.size.w, length.max(0)))),
    };
    let along = |size: Size<i32, Logical>| if axis == ResizeAxis::Width { size.w } else { size.h };
    let (now, room) = (along(before.size), along(area.size));
    let size = match resize {
        Resize::By(percent) => with(now.saturating_add(part(room, i32::from(percent) * 10))),
        Resize::To(percent) => with(part(room, i32::from(percent) * 10)),
        Resize::Next => {
            let steps = SHARES.map(|share| with(part(room, share)));
            steps.into_iter().find(|size| along(*size) > now + CLIENT_GRID).unwrap_or(steps[0])
        }
    };
    if size == before.size && window.snapped.is_none() {
        return true;
    }
    window.snapped = None;
    let rect = Rectangle::new(before.loc, size);
    let inside = placement::keep_inside(rect, below);
    let corner = match axis {
        ResizeAxis::Width => Point::from((inside.x, rect.loc.y)),
        ResizeAxis::Height => Point::from((rect.loc.x, inside.y)),
    };
    snapping::move_floating(state, id, corner, size);
    true
}

/// The focused window, if it floats and is not dragged, and the usable area of its screen.
fn focused(state: &mut State) -> Option<(WindowId, Rectangle<i32, Logical>)> {
    tiling::arrange(state);
    let window = alone(state).filter(|window| window.wanted == WindowArrangement::Floating)?;
    let id = window.id;
    let (_, area) = workspace_actions::usable_area_of(state, id)?;
    (!state.shell.is_dragged(id)).then_some((id, area))
}

/// The focused window, if it is in no column.
fn alone(state: &State) -> Option<&Window> {
    let shell = &state.shell;
    let window = shell.window(shell.focused()?).filter(|window| shell.is_visible(window.id))?;
    (!window.in_strip && !shell.is_for_strip(window.id)).then_some(window)
}

fn is_focused_alone(state: &State) -> bool {
    alone(state).is_some()
}

/// The last size that was sent to the client, or its current size if all are answered: so presses that come faster than
/// the client's answers add up.
fn asked_size(window: &Window) -> Size<i32, Logical> {
    window.sent.back().and_then(|sent| sent.size).unwrap_or(window.geometry.size)
}

fn part(length: i32, thousandths: i32) -> i32 {
    (i64::from(length) * i64::from(thousandths) / 1000) as i32
}
