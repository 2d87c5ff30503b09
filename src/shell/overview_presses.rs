//! Presses in the overview: a click acts at the release, and a window that is dragged goes to the workspace where it is
//! released.
//!
//! ```text
//!   pressed ─┬─ released on the same window, card or button ─► chosen, or asked to close
//!            ├─ released elsewhere ─────────────────────────► nothing
//!            └─ moved from a window by `SLOP` ─► lifted ─► released on a workspace ─► sent there
//! ```

use smithay::output::Output;
use smithay::utils::{Logical, Point};

use super::overview::layout::OverviewTarget;
use super::overview::{
    LiftedWindow, OverviewPress, OverviewPressKind, activate_target, cancel, put_down, select, toggle_help,
};
use super::region_selection::PickedWith;
use super::workspaces::WorkspaceId;
use super::{ShellOutputs, Window, arrangement_requests, close, focus};
use crate::state::State;

/// Distance in logical pixels from which a press drags: less is an unsteady click or tap.
const SLOP: f64 = 8.0;

/// Handles the press of a button or finger at `point` (global logical coordinates). Returns whether an overlay used it.
pub fn pressed(state: &mut State, point: Point<f64, Logical>, with: PickedWith, kind: OverviewPressKind) -> bool {
    if state.shell.overlays.help.is_on() {
        toggle_help(state);
        return true;
    }
    if !state.shell.overlays.overview.is_on() {
        return false;
    }
    let (output, target) = target(state, point, with).unzip();
    // Layer surfaces above windows also lie above the overview.
    if output.as_ref().is_some_and(|output| state.shell.hit_above(point, output).is_some()) {
        return false;
    }
    let on = (output.and_then(|output| state.shell.workspaces.screen(&output.name())), target.flatten());
    let press = &mut state.shell.overlays.press;
    if press.is_none() {
        *press = Some(OverviewPress { with, kind, start: point, at: point, on, lifted: None });
    }
    true
}

/// Handles motion of the pointer or a finger to `point`.
pub fn moved(state: &mut State, point: Point<f64, Logical>, with: PickedWith) {
    if !state.shell.overlays.overview.is_on() {
        return;
    }
    if state.shell.overlays.press.as_ref().is_some_and(|press| press.with == with) {
        drag(state, point);
    } else if with == PickedWith::Pointer {
        let over = target(state, point, with).and_then(|(_, target)| target).and_then(OverviewTarget::window);
        if over.is_some() {
            select(state, over);
        }
        if std::mem::replace(&mut state.shell.overlays.hovered, over) != over {
            state.schedule_repaint_all();
        }
    }
}

/// Moves the press, and lifts the window below it once it has moved far enough.
fn drag(state: &mut State, point: Point<f64, Logical>) {
    let may_lift = !state.shell.overlays.is_switcher();
    let Some(press) = &mut state.shell.overlays.press else { return };
    press.at = point;
    let way = point - press.start;
    let window = match press.on.1 {
        Some(OverviewTarget::Window(id)) if may_lift && press.kind == OverviewPressKind::Choose => Some(id),
        _ => None,
    };
    if let (Some(id), None, true) = (window, press.lifted, way.x.hypot(way.y) > SLOP) {
        let from = state.outputs().find_map(|output| state.shell.overview(output).window(id));
        let press = state.shell.overlays.press.as_mut();
        press.zip(from).into_iter().for_each(|(press, from)| press.lifted = Some(LiftedWindow { id, from }));
        // After the drop it lies elsewhere, not under the pointer.
        state.shell.overlays.hovered = None;
        select(state, Some(id));
    }
    if state.shell.overlays.lifted().is_some() {
        state.schedule_repaint_all();
    }
}

/// Handles the release of a button or finger.
pub fn released(state: &mut State, with: PickedWith) {
    let Some(press) = state.shell.overlays.press.take_if(|press| press.with == with) else { return };
    if !state.shell.overlays.overview.is_on() {
        return;
    }
    if press.lifted.is_some() {
        return drop_window(state, &press);
    }
    let (output, target) = target(state, press.at, with).unzip();
    let target = target.flatten();
    let screen = output.as_ref().and_then(|output| state.shell.workspaces.screen(&output.name()));
    if (screen, target) != press.on {
        return;
    }
    match (press.kind, target) {
        (_, Some(OverviewTarget::CloseButton(id))) | (OverviewPressKind::Close, Some(OverviewTarget::Window(id))) => {
            close(state, id);
        }
        (OverviewPressKind::Close, _) => {}
        (OverviewPressKind::Choose, target) if output.is_some() => activate_target(state, target, output.as_ref()),
        (OverviewPressKind::Choose, _) => cancel(state),
    }
}

/// Sends the dragged window to the workspace below the pointer or finger, if there is one. The focus stays, unless the
/// focused window goes to a hidden workspace.
fn drop_window(state: &mut State, press: &OverviewPress) {
    put_down(state, press);
    let lifted =
        press.lifted.map(|lifted| lifted.id).filter(|id| state.shell.window(*id).is_some_and(Window::is_mapped));
    let (Some(id), Some((output, _))) = (lifted, state.usable_area(Some(press.at))) else { return };
    let card = state.shell.overview(&output).card_at(press.at);
    let (Some(number), Some(screen)) = (card, state.shell.workspaces.screen(&output.name())) else { return };
    let focused = state.shell.focused;
    arrangement_requests::send_to(state, id, WorkspaceId { screen, number });
    if let Some(before) =
        focused.filter(|before| Some(*before) != state.shell.focused && state.shell.is_visible(*before))
    {
        focus(state, before);
    }
}

/// The output at `point`, and the window, button or card there. Only the pointer sees buttons.
fn target(state: &State, point: Point<f64, Logical>, with: PickedWith) -> Option<(Output, Option<OverviewTarget>)> {
    let (output, _) = state.usable_area(Some(point))?;
    let layout = state.shell.overview(&output);
    let hovered = state.shell.overlays.hovered().filter(|_| with == PickedWith::Pointer);
    let target = layout.at(point).map(|target| match target {
        OverviewTarget::Window(id)
            if hovered == Some(id) && layout.close_button(id).is_some_and(|it| it.contains(point)) =>
        {
            OverviewTarget::CloseButton(id)
        }
        other => other,
    });
    Some((output, target))
}
