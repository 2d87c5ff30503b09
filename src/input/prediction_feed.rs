//! Feeds device reports into the input prediction of the surface that the device is on, if its client asked for
//! predictions ([`surface::input_prediction`](crate::surface::input_prediction)), and to surfaces that follow the
//! device ([`output::scene::followers`](crate::output::scene::followers)).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use super::scroll_view_grab;
use super::scroll_view_grab::SurfaceFocus;
use crate::output::scene::followers;
use crate::state::State;
use crate::surface::input_prediction::TrackedDevice;
use upbeat_timing::input_prediction::PositionSample;
use upbeat_timing::time::Instant;

/// The tracked devices, each with the surface that it is on.
#[derive(Debug, Default)]
pub struct TrackedDevices(Vec<(TrackedDevice, WlSurface)>);

/// `device` is at `position` (global logical coordinates), on `focus`.
pub(super) fn device_moved(
    state: &mut State,
    device: TrackedDevice,
    time: Instant,
    position: Point<f64, Logical>,
    focus: &SurfaceFocus,
) {
    match focus {
        Some((surface, _)) => followers::device_moved(state, device, time, position, surface),
        None => followers::device_left(state, device),
    }
    let asks = |(surface, _): &&(WlSurface, Point<f64, Logical>)| {
        state.surfaces.get(surface).is_some_and(|entry| entry.input_prediction().is_some())
    };
    let Some((surface, origin)) = focus.as_ref().filter(asks) else { return forget(state, device) };
    let followed = &mut state.input.tracked_devices.0;
    match followed.iter().find(|(followed, _)| *followed == device) {
        Some((_, on)) if on == surface => {}
        _ => {
            forget(state, device);
            state.input.tracked_devices.0.push((device, surface.clone()));
        }
    }
    let place = position - *origin;
    if let Some(foresight) = state.surfaces.get_mut(surface).and_then(|entry| entry.input_prediction_mut()) {
        foresight.observe(device, PositionSample { at: time, x: place.x, y: place.y });
    }
}

/// The pointer is at `position`, and its client has been told.
pub(super) fn pointer_moved(state: &mut State, time: Instant, position: Point<f64, Logical>) {
    let pointer = &state.input.pointer;
    let Some(on) = pointer.current_focus() else { return device_left(state, TrackedDevice::Pointer) };
    // While a button is held, the surface has the pointer beyond its edges, too.
    let held = pointer.grab_start_data().and_then(|start| start.focus).filter(|(surface, _)| *surface == on);
    let focus = match held {
        Some(held) => scroll_view_grab::with_present_origin(state, &Some(held), position),
        None => state.input.pointer_focus.clone().filter(|(surface, _)| *surface == on),
    };
    device_moved(state, TrackedDevice::Pointer, time, position, &focus);
}

/// The surface under the standing pointer has changed, or asks for the first time.
pub(super) fn pointer_stands(state: &mut State) {
    let position = state.input.pointer.current_location();
    match state.input.pointer.current_focus() {
        Some(surface) => followers::pointer_stands(state, position, &surface),
        None => followers::device_left(state, TrackedDevice::Pointer),
    }
}

/// `device` left its surface.
pub(super) fn device_left(state: &mut State, device: TrackedDevice) {
    followers::device_left(state, device);
    forget(state, device);
}

/// Ends the prediction of `device` for its surface.
fn forget(state: &mut State, device: TrackedDevice) {
    let followed = &mut state.input.tracked_devices.0;
    let Some(index) = followed.iter().position(|(followed, _)| *followed == device) else { return };
    let (_, surface) = followed.swap_remove(index);
    if let Some(foresight) = state.surfaces.get_mut(&surface).and_then(|entry| entry.input_prediction_mut()) {
        foresight.leave(device);
    }
}

/// All fingers were lifted or cancelled.
pub(super) fn fingers_lifted(state: &mut State) {
    followers::fingers_lifted(state);
    let is_finger = |(device, _): &(TrackedDevice, WlSurface)| matches!(device, TrackedDevice::Touch(_));
    while let Some((finger, _)) = state.input.tracked_devices.0.iter().find(|followed| is_finger(followed)) {
        device_left(state, *finger);
    }
}

/// A surface was destroyed: devices on it are not tracked any more.
pub(super) fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    state.input.tracked_devices.0.retain(|(_, on)| on != surface);
}
