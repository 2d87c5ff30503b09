//! Swipes that are the session's own: three or more fingers on a touchpad, and a finger that comes in from an edge of
//! an output.
//!
//! The meaning of a swipe is decided after a short distance, which is not made up for. A swipe from an edge belongs to
//! the client until then, and is then taken from it (`wl_touch.cancel`). Fingers that rest while
//! workspaces, columns or the overview move stop that motion.
//!
//! A touchpad swipe with a shortcut triggers it once and has no other effect. The number of fingers, the direction and
//! the held modifiers select the shortcut.

use smithay::utils::{Logical, Point, Rectangle};

use super::event::Gesture;
use super::fingers::Edge;
use super::{acting, mouse};
use crate::bindings::{Bound, Swiped, Trigger, Turned};
use crate::output::{self, InputKind};
use crate::shell::swipes::{self, Along, Fingers};
use crate::shell::workspaces::Screen;
use crate::state::State;
use upbeat_timing::time::Instant;

/// Swipes of so many fingers on a touchpad are the session's own.
const FINGERS: u32 = 3;
/// The distance after which the meaning of a swipe is decided, in logical pixels.
const DECIDED: f64 = 8.0;
/// The distance after which a shortcut is triggered, in the coordinates of pointer motion: a third of the way to the
/// next workspace, so that resting fingers trigger none.
const SHORTCUT_WAY: f64 = 100.0;
/// The width of the strip along the edges of an output where a finger comes in, in logical pixels: about the part that
/// a fingertip covers there.
const EDGE: f64 = 16.0;

/// Which swipes are the session's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gestures {
    /// Swipes of three and more fingers on a touchpad.
    pub touchpad: bool,
    /// Swipes from the edges of a touch screen.
    pub edges: bool,
}

/// The state of a touchpad swipe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Swiping {
    /// None, or a client's.
    #[default]
    No,
    /// The session's own, not decided yet. `way`: the distance so far.
    Undecided { fingers: u32, way: Point<f64, Logical> },
    /// It has a shortcut that is not triggered yet. `way`: the distance so far.
    Shortcut { trigger: Trigger, way: Point<f64, Logical> },
    /// The session's own until it ends, even if it has no effect.
    Ours,
}

/// The main direction of `way`.
fn towards(way: Point<f64, Logical>) -> Turned {
    match (way.x.abs() >= way.y.abs(), way.x >= 0.0, way.y >= 0.0) {
        (true, true, _) => Turned::Right,
        (true, false, _) => Turned::Left,
        (false, _, true) => Turned::Down,
        (false, _, false) => Turned::Up,
    }
}

/// How far `way` goes in direction `towards`.
fn length(way: Point<f64, Logical>, towards: Turned) -> f64 {
    match towards {
        Turned::Right => way.x,
        Turned::Left => -way.x,
        Turned::Down => way.y,
        Turned::Up => -way.y,
    }
}

/// The shortcut of a swipe with the modifiers that are held now.
fn shortcut(state: &State, trigger: Trigger) -> Option<Bound> {
    mouse::bound_to(state, &mouse::held(state), trigger)
}

/// Whether any swipe of so many fingers has a shortcut now. There is none behind the question or the list of shortcuts.
fn have_shortcut(state: &State, fingers: u32) -> bool {
    let is_busy = state.shell.overlays().covers_all() || super::drag::is_active(state);
    let all = [Turned::Up, Turned::Down, Turned::Left, Turned::Right];
    let swiped = Swiped::by(fingers).filter(|_| !is_busy);
    swiped.is_some_and(|swiped| all.into_iter().any(|way| shortcut(state, Trigger::Swipe(swiped, way)).is_some()))
}

/// Decides the meaning of a swipe: a shortcut, or the usual effect.
fn decide(state: &mut State, at: Instant, screen: Screen, fingers: u32, way: Point<f64, Logical>) -> Swiping {
    let trigger = Swiped::by(fingers).map(|swiped| Trigger::Swipe(swiped, towards(way)));
    if let Some(trigger) = trigger.filter(|trigger| shortcut(state, *trigger).is_some()) {
        return go_on(state, trigger, way);
    }
    let is_usual = state.input.gestures.touchpad && is_free(state);
    let along = if is_usual { swipes::meant(state, screen, way, fingers > FINGERS) } else { None };
    if let Some(along) = along {
        swipes::begin(state, along, screen, Fingers::OnTouchpad, at);
    }
    Swiping::Ours
}

/// Triggers the shortcut of a swipe once the fingers have gone far enough.
fn go_on(state: &mut State, trigger: Trigger, way: Point<f64, Logical>) -> Swiping {
    let Trigger::Swipe(_, towards) = trigger else { return Swiping::Ours };
    if length(way, towards) < SHORTCUT_WAY {
        return Swiping::Shortcut { trigger, way };
    }
    if let Some(bound) = shortcut(state, trigger) {
        acting::run(state, &bound.action);
    }
    Swiping::Ours
}

/// The output at `place`, with its rectangle.
fn screen_at(state: &State, place: Point<f64, Logical>) -> Option<(Screen, Rectangle<i32, Logical>)> {
    let (output, _) = output::usable_area(state, Some(place))?;
    Some((state.shell.workspaces().screen(&output.name())?, output::geometry(&output)))
}

/// Whether no lock, question or drag takes all input.
fn is_free(state: &State) -> bool {
    !state.shell.lock().takes_input() && !state.shell.overlays().covers_all() && !super::drag::is_active(state)
}

/// A touchpad gesture came in. Returns whether it is the session's own.
pub(super) fn heard(state: &mut State, at: Instant, gesture: Gesture) -> bool {
    let screen = screen_at(state, super::pointer_position(state)).map(|(screen, _)| screen);
    let Some(screen) = screen else { return false };
    let is_for_us = |fingers| fingers >= FINGERS && state.input.gestures.touchpad && is_free(state);
    let swiping = state.input.swiping;
    let (next, is_ours) = match (gesture, swiping) {
        (Gesture::HoldBegin { fingers }, _) if is_for_us(fingers) => {
            let stops = swipes::stop(state, screen, Fingers::OnTouchpad, at);
            (if stops { Swiping::Ours } else { Swiping::No }, stops)
        }
        // The fingers begin to move.
        (Gesture::HoldEnd { cancelled: true }, Swiping::Ours) => (Swiping::Ours, true),
        (Gesture::SwipeBegin { .. }, Swiping::Ours) => (Swiping::Ours, true),
        (Gesture::SwipeBegin { fingers }, _) if is_for_us(fingers) || have_shortcut(state, fingers) => {
            (Swiping::Undecided { fingers, way: Point::default() }, true)
        }
        (Gesture::SwipeUpdate { delta }, Swiping::Undecided { fingers, way }) => {
            let way = way + delta;
            if way.x.hypot(way.y) < DECIDED {
                (Swiping::Undecided { fingers, way }, true)
            } else {
                (decide(state, at, screen, fingers, way), true)
            }
        }
        (Gesture::SwipeUpdate { delta }, Swiping::Ours) => {
            swipes::moved(state, at, delta);
            (Swiping::Ours, true)
        }
        (Gesture::SwipeUpdate { delta }, Swiping::Shortcut { trigger, way }) => {
            (go_on(state, trigger, way + delta), true)
        }
        (Gesture::SwipeEnd { .. }, Swiping::Undecided { .. } | Swiping::Shortcut { .. }) => (Swiping::No, true),
        (Gesture::SwipeEnd { cancelled } | Gesture::HoldEnd { cancelled }, Swiping::Ours) => {
            swipes::end(state, at, cancelled);
            (Swiping::No, true)
        }
        (Gesture::PinchBegin { .. }, Swiping::Ours) => {
            swipes::end(state, at, true);
            (Swiping::No, false)
        }
        (_, swiping) => (swiping, false),
    };
    state.input.swiping = next;
    if is_ours {
        output::input(state, InputKind::Scroll, None, at);
    }
    is_ours
}

/// The edge of an output at which a finger went down, if swipes from edges are on.
pub(super) fn edge_at(state: &State, place: Point<f64, Logical>) -> Option<Edge> {
    if !state.input.gestures.edges || !is_free(state) {
        return None;
    }
    let (_, area) = screen_at(state, place)?;
    let (from, to) = (area.loc.to_f64(), (area.loc + area.size.to_point()).to_f64());
    let distances = [(Edge::Left, place.x - from.x), (Edge::Right, to.x - place.x), (Edge::Bottom, to.y - place.y)];
    distances.into_iter().find(|(_, distance)| *distance < EDGE).map(|(edge, _)| edge)
}

/// A finger went down at an edge. Returns whether it stopped a motion there, which it then holds.
pub(super) fn stops(state: &mut State, at: Instant, place: Point<f64, Logical>) -> bool {
    let Some((screen, _)) = screen_at(state, place) else { return false };
    let stops = swipes::stop(state, screen, Fingers::OnScreen, at);
    if stops {
        output::input(state, InputKind::Touch, None, at);
    }
    stops
}

/// A finger that went down at `edge` has gone this `way` since. `None`: not far enough to decide. Otherwise whether it
/// is the session's own from now on.
pub(super) fn comes_in(
    state: &mut State,
    at: Instant,
    edge: Edge,
    place: Point<f64, Logical>,
    way: Point<f64, Logical>,
) -> Option<bool> {
    if way.x.hypot(way.y) < DECIDED {
        return None;
    }
    let is_inward = match edge {
        Edge::Left => way.x >= way.y.abs(),
        Edge::Right => -way.x >= way.y.abs(),
        Edge::Bottom => -way.y >= way.x.abs(),
    };
    let screen = screen_at(state, place).map(|(screen, _)| screen).filter(|_| is_inward && is_free(state));
    let along = screen.and_then(|screen| match edge {
        Edge::Bottom => Some(Along::Overview),
        Edge::Left | Edge::Right => swipes::meant(state, screen, way, false),
    });
    let begun = screen.zip(along).map(|(screen, along)| swipes::begin(state, along, screen, Fingers::OnScreen, at));
    Some(begun == Some(true))
}
