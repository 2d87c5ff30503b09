//! Multi-finger gestures: scrolling a strip, switching workspaces, opening the overview.
//!
//! The value follows the predicted position of the fingers at presentation time ([`Pulled`]). At the release its goal
//! depends on its position and velocity.
//!
//! ```text
//!   begin ─► held: follows the fingers ─► released ─► position + velocity · AHEAD ─► the nearest place of rest
//!     └ a running animation stops where it is
//! ```

use smithay::utils::{Logical, Point};

use super::animation::GAP;
use super::strips::Mode;
use super::workspaces::{Number, Place, Screen};
use super::{overview, spaces, strips};
use crate::shell::Desk;
use crate::state::State;
use upbeat_timing::motion::pulled::Pulled;
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
pub enum Along {
    /// The scroll position of the visible workspace's columns.
    Columns,
    /// The viewport, from workspace to workspace.
    Spaces,
    /// The visible share of the overview.
    Overview,
}

/// The device that the fingers are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fingers {
    /// A touchscreen: the fingers lie on the moved content.
    OnScreen,
    OnTouchpad,
}

/// A gesture in progress.
#[derive(Clone, Copy, Debug)]
pub struct Swipe {
    along: Along,
    /// The active workspace when the gesture began.
    place: Place,
    vertical: bool,
}

/// The value that a gesture on `screen` moves if the fingers have gone this `way`. More than three fingers (`many`)
/// switch workspaces that lie below each other.
pub fn meant(state: &State, screen: Screen, way: Point<f64, Logical>, many: bool) -> Option<Along> {
    let shell = &state.shell;
    let place = Place { screen, number: shell.workspaces.active(screen) };
    let is_vertical = shell.slides.is_vertical(screen);
    match way.x.abs() >= way.y.abs() {
        true if shell.overlays.overview.is_on() => None,
        true if shell.strips.mode(place) == Mode::Strip => Some(Along::Columns),
        true => (!is_vertical).then_some(Along::Spaces),
        false if many && is_vertical && !shell.overlays.overview.is_on() => Some(Along::Spaces),
        false => Some(Along::Overview),
    }
}

/// Fingers were put down on `screen`: stops a running animation there and holds its value. Returns whether there was
/// one.
pub fn stop(state: &mut State, screen: Screen, fingers: Fingers, at: Instant) -> bool {
    moving(state, screen).is_some_and(|along| begin(state, along, screen, fingers, at))
}

/// The value that is being animated on `screen`, if fingers may stop it.
fn moving(state: &State, screen: Screen) -> Option<Along> {
    let (shell, now) = (&state.shell, state.clock.now());
    let place = Place { screen, number: shell.workspaces.active(screen) };
    if shell.overlays.overview.moves_after(now) {
        return Some(Along::Overview);
    }
    let spaces = shell.slides.moves_after(screen, now).then_some(Along::Spaces);
    spaces.or_else(|| shell.pans.moves_after(place, now).then_some(Along::Columns))
}

/// Starts a gesture that holds the value. Returns whether it can.
pub fn begin(state: &mut State, along: Along, screen: Screen, fingers: Fingers, at: Instant) -> bool {
    let is_busy = state.shell.swipe.is_some() || state.shell.drag.is_some() || state.shell.lock.takes_input();
    let Some(area) = spaces::area_of(state, screen).filter(|_| !is_busy) else { return false };
    let now = state.clock.now();
    let place = Place { screen, number: state.shell.workspaces.active(screen) };
    let (width, height) = (f64::from(area.size.w), f64::from(area.size.h));
    let mut vertical = false;
    let held = match along {
        Along::Columns => {
            let pixel = if fingers == Fingers::OnScreen { 1.0 } else { width / TOUCHPAD_SCREEN };
            hold_columns(state, place, pixel, at, now)
        }
        Along::Spaces => {
            vertical = state.shell.slides.is_vertical(screen);
            let length = if vertical { height } else { width } * (1.0 + GAP);
            let way = if fingers == Fingers::OnScreen { length } else { TOUCHPAD_WAY };
            let number = f64::from(place.number.get());
            let eye = state.shell.slides.eye(screen, now).unwrap_or(number);
            let least = (number - 1.0).max(Number::FIRST.get().into()).min(eye);
            let most = (number + 1.0).min(Number::LAST.get().into()).max(eye);
            state.shell.slides.hold(screen, Pulled::new(at, eye, -1.0 / way, (least, most)));
            true
        }
        Along::Overview => {
            vertical = true;
            let way = if fingers == Fingers::OnScreen { height * OVERVIEW_WAY } else { TOUCHPAD_WAY };
            let share = state.shell.overlays.overview.at(now);
            let is_there = !state.shell.overlays.are_switched() && overview::show(state);
            if is_there {
                let hand = Pulled::new(at, share, -1.0 / way, (0.0, share.max(1.0)));
                state.shell.overlays.overview.hold(hand);
            }
            is_there
        }
    };
    if held {
        state.shell.swipe = Some(Swipe { along, place, vertical });
        changed(state);
    }
    held
}

fn hold_columns(state: &mut State, place: Place, pixel: f64, at: Instant, now: Instant) -> bool {
    strips::arrange(state);
    let shell = &mut state.shell;
    let Some(seen) = shell.strips.view(place) else { return false };
    let from = shell.pans.at(place, now);
    let (least, most) = (f64::from(seen.at - seen.most), f64::from(seen.at - seen.least));
    shell.pans.hold(place, Pulled::new(at, from, pixel, (least.min(from), most.max(from))));
    true
}

fn changed(state: &mut State) {
    state.shell.still = None;
    state.need_all();
}

/// The fingers moved by `delta`.
pub fn moved(state: &mut State, at: Instant, delta: Point<f64, Logical>) {
    let Some(Swipe { along, place, vertical }) = state.shell.swipe else { return };
    let shell = &mut state.shell;
    let hand = match along {
        Along::Columns => shell.pans.hand(place),
        Along::Spaces => shell.slides.hand(place.screen),
        Along::Overview => shell.overlays.overview.hand(),
    };
    if let Some(hand) = hand {
        hand.moved(at, if vertical { delta.y } else { delta.x });
        changed(state);
    }
}

/// Ends the gesture. A gesture that was `cancelled` has no velocity, and switches nothing.
pub fn end(state: &mut State, at: Instant, cancelled: bool) {
    let Some(Swipe { along, place, .. }) = state.shell.swipe.take() else { return };
    // The extrapolated position at the time of rest.
    let onward = |hand: &mut Pulled| {
        let velocity = if cancelled { 0.0 } else { hand.velocity(at) };
        hand.at(at) + velocity * AHEAD.as_seconds_f64()
    };
    let shell = &mut state.shell;
    match along {
        Along::Columns => {
            let pan = shell.pans.hand(place).map(onward);
            let view = shell.strips.view(place).map(|seen| seen.at);
            if let Some((pan, view)) = pan.zip(view) {
                strips::acting::look(state, place, if cancelled { view } else { view - pan.round() as i32 });
            }
            state.shell.pans.let_go(place, at);
        }
        Along::Spaces => {
            let eye = shell.slides.hand(place.screen).map(onward).filter(|_| !cancelled);
            shell.slides.let_go(place.screen, at);
            let from = place.number;
            let to = eye.map_or(0.0, |eye| eye - f64::from(from.get())).round();
            let number = match to {
                _ if to >= 1.0 => from.next(),
                _ if to <= -1.0 => from.previous(),
                _ => from,
            };
            // Even if the number is unchanged, because another workspace may be active by now.
            if eye.is_some() {
                spaces::switch(state, Place { number, ..place });
            }
        }
        Along::Overview => {
            let share = shell.overlays.overview.hand().map(onward);
            shell.overlays.overview.let_go(at);
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
