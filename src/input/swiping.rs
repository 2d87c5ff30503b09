//! Fingers that mean the session and no window: three or more on a touchpad, and one that comes in from an edge of a screen.
//!
//! What a swipe means is decided when it has gone far enough; what it took until then is not made up for. One that comes in from
//! an edge is its client's until that moment, and is taken from it then (`wl_touch.cancel`). Fingers that rest on what moves by
//! itself stop it.
//!
//! A swipe on a touchpad that has a shortcut has that done, once, and nothing else: which shortcut is decided by the
//! number of fingers, the way that they take, and the modifiers that are held.

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

/// So many fingers on a touchpad mean the session.
const FINGERS: u32 = 3;
/// How far fingers go before it is decided what they mean, in logical pixels.
const DECIDED: f64 = 8.0;
/// How far they go until a shortcut is done, in the coordinates of pointer motion: a third of the way to the next workspace, so that
/// fingers that only rest do nothing.
const SHORTCUT_WAY: f64 = 100.0;
/// How wide the strip is along the edges of a screen from which a finger comes in, in logical pixels: about what a fingertip
/// covers there.
const EDGE: f64 = 16.0;

/// Which swipes are the session's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gestures {
    /// Those of three and more fingers on a touchpad.
    pub touchpad: bool,
    /// Those from the edges of a touch screen.
    pub edges: bool,
}

/// What fingers on a touchpad do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Swiping {
    /// Nothing that is ours.
    #[default]
    No,
    /// Something; they have gone so far.
    Undecided { fingers: u32, way: Point<f64, Logical> },
    /// They have a shortcut, which is not done yet; they have gone so far.
    Shortcut { trigger: Trigger, way: Point<f64, Logical> },
    /// What they do is ours, whatever it comes to.
    Ours,
}

/// Where fingers go that have taken this way.
fn towards(way: Point<f64, Logical>) -> Turned {
    match (way.x.abs() >= way.y.abs(), way.x >= 0.0, way.y >= 0.0) {
        (true, true, _) => Turned::Right,
        (true, false, _) => Turned::Left,
        (false, _, true) => Turned::Down,
        (false, _, false) => Turned::Up,
    }
}

/// How far that is along `towards`.
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

/// Whether any swipe of so many fingers has a shortcut now. The question, and the list of shortcuts, are not gone past.
fn have_shortcut(state: &State, fingers: u32) -> bool {
    let is_busy = state.shell.overlays().covers_all() || super::drag::is_active(state);
    let all = [Turned::Up, Turned::Down, Turned::Left, Turned::Right];
    let swiped = Swiped::by(fingers).filter(|_| !is_busy);
    swiped.is_some_and(|swiped| all.into_iter().any(|way| shortcut(state, Trigger::Swipe(swiped, way)).is_some()))
}

/// Fingers have gone far enough to say what they mean: a shortcut, or what such swipes always do.
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

/// Fingers that have a shortcut have gone this way: it is done once they are far enough.
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

/// Whether nobody else has all input.
fn is_free(state: &State) -> bool {
    !state.shell.lock().takes_input() && !state.shell.overlays().covers_all() && !super::drag::is_active(state)
}

/// Fingers on a touchpad did something. Returns whether that is ours.
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
        // They begin to move.
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

/// The edge of a screen at which a finger went down, if swipes from it are ours.
pub(super) fn edge_at(state: &State, place: Point<f64, Logical>) -> Option<Edge> {
    if !state.input.gestures.edges || !is_free(state) {
        return None;
    }
    let (_, area) = screen_at(state, place)?;
    let (from, to) = (area.loc.to_f64(), (area.loc + area.size.to_point()).to_f64());
    let distances = [(Edge::Left, place.x - from.x), (Edge::Right, to.x - place.x), (Edge::Bottom, to.y - place.y)];
    distances.into_iter().find(|(_, distance)| *distance < EDGE).map(|(edge, _)| edge)
}

/// A finger went down at an edge of a screen. Returns whether it stopped what moved there, and has it.
pub(super) fn stops(state: &mut State, at: Instant, place: Point<f64, Logical>) -> bool {
    let Some((screen, _)) = screen_at(state, place) else { return false };
    let stops = swipes::stop(state, screen, Fingers::OnScreen, at);
    if stops {
        output::input(state, InputKind::Touch, None, at);
    }
    stops
}

/// A finger that went down at `edge` has gone this `way` since. `None`: not far enough to say whose it is. Else whether it is
/// ours from now on.
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
