//! Drag and drop between clients (`wl_data_device.start_drag`): offers to the surfaces under the pointer, and the drop.
//!
//! Our own implementation: Smithay 0.7 drops data that no client has accepted, sends version 3 events to offers of
//! version 1 and 2 and cancels every drop on them, never sends `wl_data_source.target`, and confuses the devices of a
//! client.
//!
//! ```text
//!   grab (input::data_drag) ─ moved ─► enter: an offer for each device of the client ─► accept, set_actions ─► source
//!                           └ ended ─► accepted, and an action in common? ─► drop, else cancelled
//! ```

mod feedback;
mod offer;
mod target_offers;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use smithay::reexports::wayland_server::protocol::wl_data_device::{self, WlDataDevice};
use smithay::reexports::wayland_server::protocol::wl_data_source::WlDataSource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, Resource};
use smithay::utils::{Logical, Point, SERIAL_COUNTER, Serial};
use smithay::wayland::compositor;
use smithay::wayland::selection::data_device::DND_ICON_ROLE;

use crate::input::data_drag;
use crate::input::data_drag_grabs::DraggedData;
use crate::input::pointer::SurfaceFocus;
use crate::output;
use crate::state::State;
use feedback::SourceFeedback;
pub use offer::DragOffer;
use target_offers::TargetOffers;

/// Sources whose clients may not have been sent the newest state of their target.
#[derive(Debug, Default)]
pub(super) struct Feedbacks(Vec<Weak<Mutex<SourceFeedback>>>);

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends postponed target states to sources whose clients have room now.
pub(in crate::protocol) fn catch_up(state: &mut State) {
    state.protocols.selection.feedbacks.0.retain(|feedback| {
        let feedback = feedback.upgrade();
        feedback.iter().for_each(|feedback| lock(feedback).send_with_room());
        feedback.is_some_and(|feedback| lock(&feedback).is_alive())
    });
}

/// A drag in progress.
struct DataDrag {
    /// `None`: the drag is internal to its client.
    source: Option<Arc<Mutex<SourceFeedback>>>,
    client: Option<Client>,
    target: Option<DragTarget>,
}

/// The surface under the pointer, and the devices that were sent `enter`.
struct DragTarget {
    surface: WlSurface,
    devices: Vec<WlDataDevice>,
    visit: Option<Arc<Mutex<TargetOffers>>>,
}

/// Starts a drag. The source of a refused drag is cancelled.
pub(super) fn start(
    state: &mut State,
    device: &WlDataDevice,
    source: Option<&WlDataSource>,
    origin: &WlSurface,
    icon: Option<&WlSurface>,
    serial: Serial,
) {
    let begins = data_drag::may_start(state, serial, origin);
    if !begins {
        source.into_iter().for_each(|source| _ = feedback::cancel(source));
        return;
    }
    let has_other_role = |icon: &WlSurface| {
        compositor::give_role(icon, DND_ICON_ROLE).is_err() && compositor::get_role(icon) != Some(DND_ICON_ROLE)
    };
    if icon.is_some_and(has_other_role) {
        return device.post_error(wl_data_device::Error::Role, "the icon has another role");
    }
    let selection = &mut state.protocols.selection;
    selection.dragged = source.map(Resource::id);
    let has_actions =
        |source: &WlDataSource| selection.offered.get(&source.id()).is_some_and(|known| known.has_actions);
    let source = source.map(|source| Arc::new(Mutex::new(SourceFeedback::new(source, has_actions(source)))));
    selection.feedbacks.0.retain(|feedback| feedback.strong_count() > 0);
    selection.feedbacks.0.extend(source.as_ref().map(Arc::downgrade));
    state.surfaces.set_drag_icon(icon.cloned());
    let drag = DataDrag { source, client: device.client(), target: None };
    data_drag::begin(state, serial, Box::new(drag));
    output::schedule_repaint_all(state);
}

/// The devices of the client of `surface`.
fn devices_of(state: &State, surface: &WlSurface) -> Vec<WlDataDevice> {
    let devices = state.protocols.selection.devices.iter();
    devices.filter(|device| device.is_alive() && device.id().same_client_as(&surface.id())).cloned().collect()
}

impl DragTarget {
    /// The devices that are still alive.
    fn devices(&self) -> impl Iterator<Item = &WlDataDevice> {
        self.devices.iter().filter(|device| device.is_alive())
    }

    /// Ends the drag on this surface. Returns whether the data was dropped.
    fn end(&self) -> bool {
        let is_there = self.surface.is_alive();
        let is_dropped = is_there && self.visit.as_ref().is_none_or(|visit| lock(visit).is_target());
        match &self.visit {
            Some(visit) if is_dropped => {
                let targets = lock(visit).drop_on_targets();
                targets.iter().filter(|device| device.is_alive()).for_each(WlDataDevice::drop);
            }
            Some(visit) => lock(visit).close(),
            None if is_dropped => self.devices().for_each(WlDataDevice::drop),
            None => {}
        }
        self.devices().for_each(WlDataDevice::leave);
        is_dropped
    }
}

impl DataDrag {
    /// Whether the client of `surface` gets events of this drag.
    fn concerns(&self, surface: &WlSurface) -> bool {
        match &self.source {
            Some(source) => surface.is_alive() && lock(source).is_alive(),
            None => surface.is_alive() && self.client.is_some() && surface.client() == self.client,
        }
    }

    fn enter(&mut self, state: &State, surface: &WlSurface, place: Point<f64, Logical>) {
        let Some(client) = surface.client() else { return };
        let serial: u32 = SERIAL_COUNTER.next_serial().into();
        let mut devices = devices_of(state, surface);
        let visit = self.source.as_ref().map(|source| Arc::new(Mutex::new(TargetOffers::new(source))));
        devices.retain(|device| {
            let offer = visit.as_ref().and_then(|visit| offer::make(&client, &state.display_handle, device, visit));
            let enters = offer.is_some() || visit.is_none();
            if enters {
                device.enter(serial, surface, place.x, place.y, offer.as_ref());
            }
            enters
        });
        self.target = Some(DragTarget { surface: surface.clone(), devices, visit });
    }

    fn leave(&mut self) {
        let Some(over) = self.target.take() else { return };
        over.devices().for_each(WlDataDevice::leave);
        over.visit.iter().for_each(|visit| lock(visit).leave());
    }
}

impl DraggedData for DataDrag {
    fn moved(&mut self, state: &mut State, focus: SurfaceFocus, location: Point<f64, Logical>, time: u32) {
        let focus = focus.filter(|(surface, _)| self.concerns(surface));
        let over = self.target.as_ref().zip(focus.as_ref());
        if let Some((over, (_, origin))) = over.filter(|(over, (surface, _))| over.surface == *surface) {
            let place = location - *origin;
            return over.devices().for_each(|device| device.motion(time, place.x, place.y));
        }
        self.leave();
        if let Some((surface, origin)) = focus {
            self.enter(state, &surface, location - origin);
        }
    }

    fn ended(&mut self, state: &mut State) {
        let is_dropped = self.target.take().is_some_and(|over| over.end());
        if let Some(source) = self.source.take() {
            let mut source = lock(&source);
            if is_dropped { source.dropped() } else { source.cancelled() }
        }
        state.surfaces.set_drag_icon(None);
        output::schedule_repaint_all(state);
    }
}
