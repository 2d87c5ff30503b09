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

use super::event::TouchpadGesture;
use super::touch_points::OutputEdge;
use super::{actions, mouse_shortcuts};
use crate::bindings::{Binding, ShortcutTrigger, SwipeFingers, TriggerDirection};
use crate::output::{self, InputKind};
use crate::shell::swipes::{self, FingerDevice, SwipeTarget};
use crate::shell::workspaces::ScreenId;
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
pub struct EnabledSwipes {
    /// Swipes of three and more fingers on a touchpad.
    pub touchpad: bool,
    /// Swipes from the edges of a touch screen.
    pub edges: bool,
}

/// The state of a touchpad swipe.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum SwipeState {
    /// None, or a client's.
    #[default]
    No,
    /// The session's own, not decided yet. `way`: the distance so far.
    Undecided { fingers: u32, way: Point<f64, Logical> },
    /// It has a shortcut that is not triggered yet. `way`: the distance so far.
    Shortcut { trigger: ShortcutTrigger, way: Point<f64, Logical> },
    /// The session's own until it ends, even if it has no effect.
    Ours,
}

/// The main direction of `way`.
fn towards(way: Point<f64, Logical>) -> TriggerDirection {
    match (way.x.abs() >= way.y.abs(), way.x >= 0.0, way.y >= 0.0) {
        (true, true, _) => TriggerDirection::Right,
        (true, false, _) => TriggerDirection::Left,
        (false, _, true) => TriggerDirection::Down,
        (false, _, false) => TriggerDirection::Up,
    }
}

/// How far `way` goes in direction `towards`.
fn length(way: Point<f64, Logical>, towards: TriggerDirection) -> f64 {
    match towards {
        TriggerDirection::Right => way.x,
        TriggerDirection::Left => -way.x,
        TriggerDirection::Down => way.y,
        TriggerDirection::Up => -way.y,
    }
}

/// The shortcut of a swipe with the modifiers that are held now.
fn shortcut(state: &State, trigger: ShortcutTrigger) -> Option<Binding> {
    mouse_shortcuts::bound_to(state, &mouse_shortcuts::held(state), trigger)
}

/// Whether any swipe of so many fingers has a shortcut now. There is none behind the question or the list of shortcuts.
fn have_shortcut(state: &State, fingers: u32) -> bool {
    let is_busy = state.shell.overlays().covers_all() || super::drag::is_active(state);
    let all = [TriggerDirection::Up, TriggerDirection::Down, TriggerDirection::Left, TriggerDirection::Right];
    let swiped = SwipeFingers::by(fingers).filter(|_| !is_busy);
    swiped
        .is_some_and(|swiped| all.into_iter().any(|way| shortcut(state, ShortcutTrigger::Swipe(swiped, way)).is_some()))
}

/// Decides the meaning of a swipe: a shortcut, or the usual effect.
fn decide(state: &mut State, at: Instant, screen: ScreenId, fingers: u32, way: Point<f64, Logical>) -> SwipeState {
    let trigger = SwipeFingers::by(fingers).map(|swiped| ShortcutTrigger::Swipe(swiped, towards(way)));
    if let Some(trigger) = trigger.filter(|trigger| shortcut(state, *trigger).is_some()) {
        return go_on(state, trigger, way);
    }
    let is_usual = state.input.gestures.touchpad && is_free(state);
    let along = if is_usual { swipes::swipe_target(state, screen, way, fingers > FINGERS) } else { None };
    if let Some(along) = along {
        swipes::begin(state, along, screen, FingerDevice::OnTouchpad, at);
    }
    SwipeState::Ours
}

/// Triggers the shortcut of a swipe once the fingers have gone far enough.
fn go_on(state: &mut State, trigger: ShortcutTrigger, way: Point<f64, Logical>) -> SwipeState {
    let ShortcutTrigger::Swipe(_, towards) = trigger else { return SwipeState::Ours };
    if length(way, towards) < SHORTCUT_WAY {
        return SwipeState::Shortcut { trigger, way };
    }
    if let Some(bound) = shortcut(state, trigger) {
        actions::run(state, &bound.action);
    }
    SwipeState::Ours
}

/// The output at `place`, with its rectangle.
fn screen_at(state: &State, place: Point<f64, Logical>) -> Option<(ScreenId, Rectangle<i32, Logical>)> {
    let (output, _) = output::usable_area(state, Some(place))?;
    Some((state.shell.workspaces().screen(&output.name())?, output::geometry(&output)))
}

/// Whether no lock, question or drag takes all input.
fn is_free(state: &State) -> bool {
    !state.shell.lock().takes_input() && !state.shell.overlays().covers_all() && !super::drag::is_active(state)
}

/// A touchpad gesture came in. Returns whether it is the session's own.
pub(super) fn handle_gesture(state: &mut State, at: Instant, gesture: TouchpadGesture) -> bool {
    let screen = screen_at(state, super::pointer_position(state)).map(|(screen, _)| screen);
    let Some(screen) = screen else { return false };
    let is_for_us = |fingers| fingers >= FINGERS && state.input.gestures.touchpad && is_free(state);
    let swiping = state.input.swipe;
    let (next, is_ours) = match (gesture, swiping) {
        (TouchpadGesture::HoldBegin { fingers }, _) if is_for_us(fingers) => {
            let stops = swipes::stop_animation(state, screen, FingerDevice::OnTouchpad, at);
            (if stops { SwipeState::Ours } else { SwipeState::No }, stops)
        }
        // The fingers begin to move.
        (TouchpadGesture::HoldEnd { cancelled: true }, SwipeState::Ours) => (SwipeState::Ours, true),
        (TouchpadGesture::SwipeBegin { .. }, SwipeState::Ours) => (SwipeState::Ours, true),
        (TouchpadGesture::SwipeBegin { fingers }, _) if is_for_us(fingers) || have_shortcut(state, fingers) => {
            (SwipeState::Undecided { fingers, way: Point::default() }, true)
        }
        (TouchpadGesture::SwipeUpdate { delta }, SwipeState::Undecided { fingers, way }) => {
            let way = way + delta;
            if way.x.hypot(way.y) < DECIDED {
                (SwipeState::Undecided { fingers, way }, true)
            } else {
                (decide(state, at, screen, fingers, way), true)
            }
        }
        (TouchpadGesture::SwipeUpdate { delta }, SwipeState::Ours) => {
            swipes::moved(state, at, delta);
            (SwipeState::Ours, true)
        }
        (TouchpadGesture::SwipeUpdate { delta }, SwipeState::Shortcut { trigger, way }) => {
            (go_on(state, trigger, way + delta), true)
        }
        (TouchpadGesture::SwipeEnd { .. }, SwipeState::Undecided { .. } | SwipeState::Shortcut { .. }) => {
            (SwipeState::No, true)
        }
        (TouchpadGesture::SwipeEnd { cancelled } | TouchpadGesture::HoldEnd { cancelled }, SwipeState::Ours) => {
            swipes::end(state, at, cancelled);
            (SwipeState::No, true)
        }
        (TouchpadGesture::PinchBegin { .. }, SwipeState::Ours) => {
            swipes::end(state, at, true);
            (SwipeState::No, false)
        }
        (_, swiping) => (swiping, false),
    };
    state.input.swipe = next;
    if is_ours {
        output::input(state, InputKind::Scroll, None, at);
    }
    is_ours
}

/// The edge of an output at which a finger went down, if swipes from edges are on.
pub(super) fn edge_at(state: &State, place: Point<f64, Logical>) -> Option<OutputEdge> {
    if !state.input.gestures.edges || !is_free(state) {
        return None;
    }
    let (_, area) = screen_at(state, place)?;
    let (from, to) = (area.loc.to_f64(), (area.loc + area.size.to_point()).to_f64());
    let distances = [
        (OutputEdge::Left, place.x - from.x),
        (OutputEdge::Right, to.x - place.x),
        (OutputEdge::Bottom, to.y - place.y),
    ];
    distances.into_iter().find(|(_, distance)| *distance < EDGE).map(|(edge, _)| edge)
}

/// A finger went down at an edge. Returns whether it stopped a motion there, which it then holds.
pub(super) fn stop_motion(state: &mut State, at: Instant, place: Point<f64, Logical>) -> bool {
    let Some((screen, _)) = screen_at(state, place) else { return false };
    let stops = swipes::stop_animation(state, screen, FingerDevice::OnScreen, at);
    if stops {
        output::input(state, InputKind::Touch, None, at);
    }
    stops
}

/// A finger that went down at `edge` has gone this `way` since. `None`: not far enough to decide. Otherwise whether it
/// is the session's own from now on.
pub(super) fn decide_edge_swipe(
    state: &mut State,
    at: Instant,
    edge: OutputEdge,
    place: Point<f64, Logical>,
    way: Point<f64, Logical>,
) -> Option<bool> {
    if way.x.hypot(way.y) < DECIDED {
        return None;
    }
    let is_inward = match edge {
        OutputEdge::Left => way.x >= way.y.abs(),
        OutputEdge::Right => -way.x >= way.y.abs(),
        OutputEdge::Bottom => -way.y >= way.x.abs(),
    };
    let screen = screen_at(state, place).map(|(screen, _)| screen).filter(|_| is_inward && is_free(state));
    let along = screen.and_then(|screen| match edge {
        OutputEdge::Bottom => Some(SwipeTarget::Overview),
        OutputEdge::Left | OutputEdge::Right => swipes::swipe_target(state, screen, way, false),
    });
    let begun =
        screen.zip(along).map(|(screen, along)| swipes::begin(state, along, screen, FingerDevice::OnScreen, at));
    Some(begun == Some(true))
}
