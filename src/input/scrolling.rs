//! Input that moves scroll views ([`surface::scroll`](crate::surface::scroll)) instead of going to their clients.
//!
//! Of nested views the innermost one that can move in this direction is chosen when a gesture begins, and gets all of
//! that gesture. A gesture that moves no view goes to the client as usual, until it ends.

use smithay::reexports::wayland_server::Weak;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::compositor;

use super::event::{ScrollAxis, ScrollSource, StopScope};
use crate::output::scene::scrolling;
use crate::output::{self, InputKind};
use crate::state::State;
use crate::surface::scroll::{ScrollInputs, moved_by};
use upbeat_timing::scroll::{NOTCH_PARTS, ScrollDistance, ScrollRequest, WHEEL_TURN};
use upbeat_timing::time::{Instant, Span};

/// After this pause a wheel begins a new gesture, for the view that is under the pointer then.
const WHEEL_PAUSE: Span = Span::from_millis(300);

/// The scroll gesture in progress.
#[derive(Debug, Default)]
pub struct ScrollState(Option<ScrollGesture>);

#[derive(Debug)]
struct ScrollGesture {
    input: ScrollInputs,
    /// The view that it moves; `None`: it goes to the client.
    view: Option<Weak<WlSurface>>,
    last: Instant,
}

/// A wheel turned or a finger scrolled. Returns whether that moved a view: then it is not sent to the client.
pub(super) fn scroll_view(
    state: &mut State,
    time: Instant,
    source: ScrollSource,
    x: ScrollAxis,
    y: ScrollAxis,
) -> bool {
    let input = match source {
        ScrollSource::Finger => ScrollInputs::FINGER,
        ScrollSource::Wheel => ScrollInputs::WHEEL,
        ScrollSource::Continuous | ScrollSource::WheelTilt => return false,
    };
    let way = ScrollDistance { x: distance(input, x), y: distance(input, y) };
    let lifted = input == ScrollInputs::FINGER && (x.stop || y.stop) && way == ScrollDistance::default();
    let goes_on = |gesture: &ScrollGesture| {
        gesture.input == input && (input == ScrollInputs::FINGER || time.since(gesture.last) < WHEEL_PAUSE)
    };
    let owner = match state.input.scrolling.0.take().filter(goes_on) {
        Some(gesture) => gesture.view,
        None => choose(state, state.input.pointer.current_focus(), input, way)
            .map(|view| smithay::reexports::wayland_server::Resource::downgrade(&view)),
    };
    let view = owner.as_ref().and_then(|view| view.upgrade().ok());
    if !lifted {
        state.input.scrolling.0 = Some(ScrollGesture { input, view: owner, last: time });
    }
    let Some(view) = view else { return false };
    // No surface is named, because no client has to answer this input.
    output::input(state, InputKind::Scroll, None, time);
    let movement = match input {
        _ if lifted => ScrollRequest::Release,
        ScrollInputs::FINGER => ScrollRequest::Drag(way),
        _ => ScrollRequest::Wheel(way),
    };
    scrolling::move_view_at(state, &view, time, movement);
    true
}

fn distance(input: ScrollInputs, scroll: ScrollAxis) -> f64 {
    match scroll.v120.filter(|_| input == ScrollInputs::WHEEL) {
        Some(parts) => f64::from(parts) / NOTCH_PARTS * WHEEL_TURN,
        None => crate::bounds::coordinate_f64(scroll.distance),
    }
}

/// The innermost view around `focus` that this input can move in this direction.
fn choose(state: &State, focus: Option<WlSurface>, input: ScrollInputs, way: ScrollDistance) -> Option<WlSurface> {
    around(focus).find(|surface| {
        let view = state.surfaces.get(surface).and_then(|entry| entry.scroll());
        moved_by(surface, input, way)
            .zip(view)
            .is_some_and(|(way, view)| view.can_go(way, input != ScrollInputs::WHEEL))
    })
}

/// A finger on `surface` has moved. Returns the view that it drags from now on.
pub(super) fn drag(state: &mut State, time: Instant, surface: WlSurface, way: ScrollDistance) -> Option<WlSurface> {
    let view = choose(state, Some(surface), ScrollInputs::DRAG, way)?;
    // The view follows from here: the distance that was needed to tell a drag from a tap is not made up for.
    dragged(state, time, &view, ScrollDistance::default());
    Some(view)
}

/// A finger that drags a view has moved.
pub(super) fn dragged(state: &mut State, time: Instant, view: &WlSurface, way: ScrollDistance) {
    output::input(state, InputKind::Touch, None, time);
    scrolling::move_view_at(state, view, time, ScrollRequest::Drag(way));
}

/// A finger that dragged a view was lifted or `cancelled`.
pub(super) fn drag_ended(state: &mut State, time: Instant, view: &WlSurface, cancelled: bool) {
    output::input(state, InputKind::Touch, None, time);
    scrolling::move_view_at(state, view, time, ScrollRequest::Release);
    if cancelled {
        scrolling::move_view_at(state, view, time, ScrollRequest::Stop);
    }
}

/// A surface and its ancestors.
fn around(surface: Option<WlSurface>) -> impl Iterator<Item = WlSurface> {
    std::iter::successors(surface, compositor::get_parent)
}

/// Whether `surface` is a scroll view, or lies in one.
pub(super) fn is_in_view(state: &State, surface: &WlSurface) -> bool {
    around(Some(surface.clone()))
        .any(|surface| state.surfaces.get(&surface).is_some_and(|entry| entry.scroll().is_some()))
}

/// Whether `surface` moves with a scroll view now.
pub(super) fn moves(state: &State, surface: &WlSurface) -> bool {
    around(Some(surface.clone())).any(|surface| {
        state.surfaces.get(&surface).and_then(|entry| entry.scroll()).is_some_and(|view| view.is_active())
    })
}

/// Stops views in motion, because the user touched or pressed something, or the focus moved. Returns whether there were
/// any.
pub(super) fn stop(state: &mut State, time: Instant, stops: StopScope) -> bool {
    let moving = |entry: &&crate::surface::SurfaceEntry| {
        let stops = |view: &crate::surface::scroll::ScrolledView| stops == StopScope::All || view.is_flinging();
        entry.scroll().is_some_and(|view| view.is_active() && !view.is_held() && stops(view))
    };
    let views: Vec<WlSurface> = state.surfaces.awake().filter(moving).map(|entry| entry.surface().clone()).collect();
    for view in &views {
        scrolling::move_view_at(state, view, time, ScrollRequest::Stop);
    }
    !views.is_empty()
}
