//! Feeds device reports into the input prediction of the surface that the device is on, if its client asked for
//! predictions ([`surface::foresight`](crate::surface::foresight)).

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use super::held;
use super::held::Focus;
use crate::state::State;
use crate::surface::foresight::Device;
use upbeat_timing::input_prediction::Sample;
use upbeat_timing::time::Instant;

/// The tracked devices, each with the surface that it is on.
#[derive(Debug, Default)]
pub struct Followed(Vec<(Device, WlSurface)>);

/// `device` is at `position` (global logical coordinates), on `focus`.
pub(super) fn reported(state: &mut State, device: Device, time: Instant, position: Point<f64, Logical>, focus: &Focus) {
    let asks = |(surface, _): &&(WlSurface, Point<f64, Logical>)| {
        state.surfaces.get(surface).is_some_and(|entry| entry.foresight().is_some())
    };
    let Some((surface, origin)) = focus.as_ref().filter(asks) else { return left(state, device) };
    let followed = &mut state.input.followed.0;
    match followed.iter().find(|(followed, _)| *followed == device) {
        Some((_, on)) if on == surface => {}
        _ => {
            left(state, device);
            state.input.followed.0.push((device, surface.clone()));
        }
    }
    let place = position - *origin;
    if let Some(foresight) = state.surfaces.get_mut(surface).and_then(|entry| entry.foresight_mut()) {
        foresight.observe(device, Sample { at: time, x: place.x, y: place.y });
    }
}

/// The pointer is at `position`, and its client has been told.
pub(super) fn pointed(state: &mut State, time: Instant, position: Point<f64, Logical>) {
    let pointer = &state.input.pointer;
    let Some(on) = pointer.current_focus() else { return left(state, Device::Pointer) };
    // While a button is held, the surface has the pointer beyond its edges, too.
    let held = pointer.grab_start_data().and_then(|start| start.focus).filter(|(surface, _)| *surface == on);
    let focus = match held {
        Some(held) => held::renewed(state, &Some(held), position),
        None => state.input.pointer_focus.clone().filter(|(surface, _)| *surface == on),
    };
    reported(state, Device::Pointer, time, position, &focus);
}

/// `device` left its surface.
pub(super) fn left(state: &mut State, device: Device) {
    let followed = &mut state.input.followed.0;
    let Some(index) = followed.iter().position(|(followed, _)| *followed == device) else { return };
    let (_, surface) = followed.swap_remove(index);
    if let Some(foresight) = state.surfaces.get_mut(&surface).and_then(|entry| entry.foresight_mut()) {
        foresight.leave(device);
    }
}

/// All fingers were lifted or cancelled.
pub(super) fn fingers_left(state: &mut State) {
    let is_finger = |(device, _): &(Device, WlSurface)| matches!(device, Device::Touch(_));
    while let Some((finger, _)) = state.input.followed.0.iter().find(|followed| is_finger(followed)) {
        left(state, *finger);
    }
}

/// A surface was destroyed: devices on it are not tracked any more.
pub(super) fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    state.input.followed.0.retain(|(_, on)| on != surface);
}
