//! Multi-finger gestures: scrolling a strip, switching workspaces, opening the overview.
//!
//! The value follows the predicted position of the fingers at presentation time ([`DraggedValue`]). At the release its
//! goal depends on its position and velocity.
//!
//! ```text
//!   begin ─► held: follows the fingers ─► released ─► position + velocity · AHEAD ─► the nearest place of rest
//!     └ a running animation stops where it is
//! ```

use smithay::utils::{Logical, Point};

use super::animation::GAP;
use super::tiling::TilingMode;
use super::workspaces::{ScreenId, WorkspaceId, WorkspaceNumber};
use super::{overview, tiling, workspace_actions};
use crate::shell::ShellOutputs;
use crate::state::State;
use upbeat_timing::motion::dragged::DraggedValue;
use upbeat_timing::time::{Clock, Instant, Span};

/// A released value comes to rest nearest to its extrapolated position after this time.
const AHEAD: Span = Span::from_millis(200);
/// Way of a finger on a touchscreen that opens the overview, as a share of the screen's height.
const OVERVIEW_WAY: f64 = 0.4;
/// Way of fingers on a touchpad for the next workspace or the overview, in the unit of pointer motion: a third of a
/// small touchpad.
const TOUCHPAD_WAY: f64 = 300.0;
/// Way on a touchpad that scrolls a strip by the width of the screen: four times as far.
const TOUCHPAD_SCREEN: f64 = 1200.0;

/// The value that a gesture moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwipeTarget {
    /// The scroll position of the visible workspace's columns.
    Columns,
    /// The viewport, from workspace to workspace.
    Workspaces,
    /// The visible share of the overview.
    Overview,
}

/// The device that the fingers are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FingerDevice {
    /// A touchscreen: the fingers lie on the moved content.
    OnScreen,
    OnTouchpad,
}

/// A gesture in progress.
#[derive(Clone, Copy, Debug)]
pub struct SwipeGesture {
    along: SwipeTarget,
    /// The active workspace when the gesture began.
    place: WorkspaceId,
    vertical: bool,
}

/// The value that a gesture on `screen` moves if the fingers have gone this `way`. More than three fingers (`many`)
/// switch workspaces that lie below each other.
pub fn swipe_target(state: &State, screen: ScreenId, way: Point<f64, Logical>, many: bool) -> Option<SwipeTarget> {
    let shell = &state.shell;
    let place = WorkspaceId { screen, number: shell.workspaces.active(screen) };
    let is_vertical = shell.slides.is_vertical(screen);
    match way.x.abs() >= way.y.abs() {
        true if shell.overlays.overview.is_on() => None,
        true if shell.strips.mode(place) == TilingMode::Strip => Some(SwipeTarget::Columns),
        true => (!is_vertical).then_some(SwipeTarget::Workspaces),
        false if many && is_vertical && !shell.overlays.overview.is_on() => Some(SwipeTarget::Workspaces),
        false => Some(SwipeTarget::Overview),
    }
}

/// Fingers were put down on `screen`: stops a running animation there and holds its value. Returns whether there was
/// one.
pub fn stop_animation(state: &mut State, screen: ScreenId, fingers: FingerDevice, at: Instant) -> bool {
    moving(state, screen).is_some_and(|along| begin(state, along, screen, fingers, at))
}

/// The value that is being animated on `screen`, if fingers may stop it.
fn moving(state: &State, screen: ScreenId) -> Option<SwipeTarget> {
    let (shell, now) = (&state.shell, state.clock.now());
    let place = WorkspaceId { screen, number: shell.workspaces.active(screen) };
    if shell.overlays.overview.moves_after(now) {
        return Some(SwipeTarget::Overview);
    }
    let spaces = shell.slides.moves_after(screen, now).then_some(SwipeTarget::Workspaces);
    spaces.or_else(|| shell.pans.moves_after(place, now).then_some(SwipeTarget::Columns))
}

/// Starts a gesture that holds the value. Returns whether it can.
pub fn begin(state: &mut State, along: SwipeTarget, screen: ScreenId, fingers: FingerDevice, at: Instant) -> bool {
    let is_busy = state.shell.swipe.is_some() || state.shell.drag.is_some() || state.shell.lock.takes_input();
    let Some(area) = workspace_actions::area_of(state, screen).filter(|_| !is_busy) else { return false };
    let now = state.clock.now();
    let place = WorkspaceId { screen, number: state.shell.workspaces.active(screen) };
    let (width, height) = (f64::from(area.size.w), f64::from(area.size.h));
    let mut vertical = false;
    let held = match along {
        SwipeTarget::Columns => {
            let pixel = if fingers == FingerDevice::OnScreen { 1.0 } else { width / TOUCHPAD_SCREEN };
            hold_columns(state, place, pixel, at, now)
        }
        SwipeTarget::Workspaces => {
            vertical = state.shell.slides.is_vertical(screen);
            let length = if vertical { height } else { width } * (1.0 + GAP);
            let way = if fingers == FingerDevice::OnScreen { length } else { TOUCHPAD_WAY };
            let number = f64::from(place.number.get());
            let viewport = state.shell.slides.position(screen, now).unwrap_or(number);
            let least = (number - 1.0).max(WorkspaceNumber::FIRST.get().into()).min(viewport);
            let most = (number + 1.0).min(state.shell.workspaces.last_number().get().into()).max(viewport);
            state.shell.slides.hold(screen, DraggedValue::new(at, viewport, -1.0 / way, (least, most)));
            true
        }
        SwipeTarget::Overview => {
            vertical = true;
            let way = if fingers == FingerDevice::OnScreen { height * OVERVIEW_WAY } else { TOUCHPAD_WAY };
            let share = state.shell.overlays.overview.at(now);
            let is_there = !state.shell.overlays.is_switcher_open() && overview::show(state);
            if is_there {
                let gesture = DraggedValue::new(at, share, -1.0 / way, (0.0, share.max(1.0)));
                state.shell.overlays.overview.hold(gesture);
            }
            is_there
        }
    };
    if held {
        state.shell.swipe = Some(SwipeGesture { along, place, vertical });
        changed(state);
    }
    held
}

fn hold_columns(state: &mut State, place: WorkspaceId, pixel: f64, at: Instant, now: Instant) -> bool {
    tiling::arrange(state);
    let shell = &mut state.shell;
    let Some(seen) = shell.strips.view(place) else { return false };
    let from = shell.pans.at(place, now);
    let (least, most) = (f64::from(seen.at - seen.most), f64::from(seen.at - seen.least));
    shell.pans.hold(place, DraggedValue::new(at, from, pixel, (least.min(from), most.max(from))));
    true
}

fn changed(state: &mut State) {
    state.shell.at_rest_since = None;
    state.schedule_repaint_all();
}

/// The fingers moved by `delta`.
pub fn moved(state: &mut State, at: Instant, delta: Point<f64, Logical>) {
    let Some(SwipeGesture { along, place, vertical }) = state.shell.swipe else { return };
    let shell = &mut state.shell;
    let gesture = match along {
        SwipeTarget::Columns => shell.pans.gesture(place),
        SwipeTarget::Workspaces => shell.slides.gesture(place.screen),
        SwipeTarget::Overview => shell.overlays.overview.gesture(),
    };
    if let Some(gesture) = gesture {
        gesture.moved(at, if vertical { delta.y } else { delta.x });
        changed(state);
    }
}

/// Ends the gesture. If it was `cancelled`, its velocity does not count: columns and workspaces go back, and the
/// overview opens or closes, whichever is nearer.
pub fn end(state: &mut State, at: Instant, cancelled: bool) {
    let Some(SwipeGesture { along, place, .. }) = state.shell.swipe.take() else { return };
    // The extrapolated position at the time of rest.
    let onward = |gesture: &mut DraggedValue| {
        let velocity = if cancelled { 0.0 } else { gesture.velocity(at) };
        gesture.at(at) + velocity * AHEAD.as_seconds_f64()
    };
    let shell = &mut state.shell;
    match along {
        SwipeTarget::Columns => {
            let pan = shell.pans.gesture(place).map(onward);
            let view = shell.strips.view(place).map(|seen| seen.at);
            if let Some((pan, view)) = pan.zip(view) {
                tiling::actions::scroll_to(state, place, if cancelled { view } else { view - pan.round() as i32 });
            }
            state.shell.pans.release(place, at);
        }
        SwipeTarget::Workspaces => {
            let viewport = shell.slides.gesture(place.screen).map(onward).filter(|_| !cancelled);
            shell.slides.release(place.screen, at);
            let from = place.number;
            let to = viewport.map_or(0.0, |viewport| viewport - f64::from(from.get())).round();
            let number = match to {
                _ if to >= 1.0 => from.next(shell.workspaces.last_number()),
                _ if to <= -1.0 => from.previous(),
                _ => from,
            };
            // Even if the number is unchanged, because another workspace may be active by now.
            if viewport.is_some() {
                workspace_actions::switch(state, WorkspaceId { number, ..place });
            }
        }
        SwipeTarget::Overview => {
            let share = shell.overlays.overview.gesture().map(onward);
            shell.overlays.overview.release(at);
            if share.is_some_and(|share| share < 0.5) {
                overview::hide(state);
            }
        }
    }
    changed(state);
}

/// Whether a gesture is in progress.
pub const fn is_held(state: &State) -> bool {
    state.shell.swipe.is_some()
}
