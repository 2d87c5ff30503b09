//! Drag and drop between clients (`wl_data_device.start_drag`): offers to the surfaces that are passed, and the drop.
//!
//! Ours: Smithay 0.7 drops what nobody has accepted, sends version 3 events to offers of version 1 and 2 and cancels every
//! drop on them, never sends `wl_data_source.target`, and tells one device of a client of `action`.
//!
//! ```text
//!   grab (input::data_drag) ─ moved ─► enter: an offer for each device of the client ─► accept, set_actions ─► source
//!                           └ ended ─► accepted, and an action in common? ─► drop, else cancelled
//! ```

use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_data_device::{self, WlDataDevice};
use smithay::reexports::wayland_server::protocol::wl_data_device_manager::DndAction;
use smithay::reexports::wayland_server::protocol::wl_data_offer::{self, WlDataOffer};
use smithay::reexports::wayland_server::protocol::wl_data_source::{self, WlDataSource};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum, Weak};
use smithay::utils::{Logical, Point, SERIAL_COUNTER, Serial};
use smithay::wayland::compositor;
use smithay::wayland::selection::data_device::{DND_ICON_ROLE, default_action_chooser, with_source_metadata};

use crate::guard::Handlers;
use crate::input::carrying::Carried;
use crate::input::data_drag;
use crate::input::pointer::Focus;
use crate::output;
use crate::state::State;

/// From this version on there are actions: `source_actions`, `action`, `finish`.
const SAYS_ACTIONS: u32 = wl_data_offer::EVT_ACTION_SINCE;

/// User data of an offer of a drag, with the version of the offer: one that is gone does not say it.
#[derive(Debug)]
pub struct DragOffer(Arc<Mutex<Visit>>, u32);

/// What is dragged is, or was, on surfaces of one client.
#[derive(Debug)]
struct Visit {
    source: WlDataSource,
    /// One for each device of the client.
    offers: Vec<Weak<WlDataOffer>>,
    /// It has neither left nor been finished.
    is_active: bool,
    is_dropped: bool,
    accepts: bool,
    /// The client's actions, and the one that it prefers.
    wanted: (DndAction, DndAction),
    /// The action in force.
    action: DndAction,
}

impl Visit {
    fn new(source: &WlDataSource) -> Self {
        Visit {
            source: source.clone(),
            offers: Vec::new(),
            is_active: true,
            is_dropped: false,
            accepts: false,
            wanted: (DndAction::None, DndAction::None),
            action: DndAction::None,
        }
    }

    /// Whether the source is offered as `mime_type`.
    fn has_type(&self, mime_type: &str) -> bool {
        let has = with_source_metadata(&self.source, |source| source.mime_types.iter().any(|known| known == mime_type));
        has.unwrap_or(false)
    }

    fn accept(&mut self, mime_type: Option<String>) {
        if !self.is_active || self.is_dropped {
            return;
        }
        let mime_type = mime_type.filter(|mime_type| self.has_type(mime_type));
        self.accepts = mime_type.is_some();
        if self.source.is_alive() {
            self.source.target(mime_type);
        }
    }

    /// Chooses the action anew. Every offer that knows actions is told, and the source.
    fn choose_action(&mut self) {
        let (possible, preferred) = self.wanted;
        self.set_action(default_action_chooser(possible & actions_of(&self.source), preferred));
    }

    fn set_action(&mut self, action: DndAction) {
        if std::mem::replace(&mut self.action, action) == action {
            return;
        }
        let offers = self.offers.iter().filter_map(|offer| offer.upgrade().ok());
        offers.filter(|offer| offer.version() >= SAYS_ACTIONS).for_each(|offer| offer.action(action));
        if self.source.is_alive() && self.source.version() >= wl_data_source::EVT_ACTION_SINCE {
            self.source.action(action);
        }
    }

    /// What is dragged has left: the source hears that nothing is accepted any more.
    fn leave(&mut self) {
        self.is_active = false;
        self.offers.clear();
        self.set_action(DndAction::None);
        if std::mem::take(&mut self.accepts) && self.source.is_alive() {
            self.source.target(None);
        }
    }

    /// Why the client may not say that it is done with the data.
    fn unfinishable(&self) -> Option<&'static str> {
        match self {
            Visit { is_active: false, .. } => Some("the offer is not active any more"),
            Visit { is_dropped: false, .. } => Some("nothing was dropped"),
            Visit { accepts: false, .. } => Some("nothing was accepted"),
            Visit { action: DndAction::None, .. } => Some("there is no action in common"),
            _ => None,
        }
    }

    /// An offer is gone. One that was dropped on and that is not finished ends the transfer: well for a client that knows no
    /// `finish`, else the source hears that it came to nothing.
    fn offer_gone(&mut self, version: u32) {
        if !(self.is_active && self.is_dropped) {
            return;
        }
        self.is_active = false;
        if !self.source.is_alive() || self.source.version() < wl_data_source::EVT_DND_FINISHED_SINCE {
            return;
        }
        if version < SAYS_ACTIONS { self.source.dnd_finished() } else { self.source.cancelled() }
    }
}

/// The actions of a source. One that knows none is copied.
fn actions_of(source: &WlDataSource) -> DndAction {
    if source.version() < wl_data_source::REQ_SET_ACTIONS_SINCE {
        return DndAction::Copy;
    }
    with_source_metadata(source, |source| source.dnd_action).unwrap_or(DndAction::None)
}

fn lock(visit: &Mutex<Visit>) -> MutexGuard<'_, Visit> {
    visit.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A drag in progress.
struct Drag {
    /// `None`: its client drags something within its own surfaces.
    source: Option<WlDataSource>,
    origin: WlSurface,
    over: Option<Over>,
}

/// The surface that it is on, whose client was told.
struct Over {
    surface: WlSurface,
    visit: Option<Arc<Mutex<Visit>>>,
}

/// A client wants to drag data. What is refused is cancelled.
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
        source.into_iter().for_each(WlDataSource::cancelled);
        return;
    }
    let has_other_role = |icon: &WlSurface| {
        compositor::give_role(icon, DND_ICON_ROLE).is_err() && compositor::get_role(icon) != Some(DND_ICON_ROLE)
    };
    if icon.is_some_and(has_other_role) {
        return device.post_error(wl_data_device::Error::Role, "the icon has another role");
    }
    state.protocols.selection.dragged = source.map(Resource::id);
    state.input.drag_icon = icon.cloned();
    let drag = Drag { source: source.cloned(), origin: origin.clone(), over: None };
    data_drag::begin(state, serial, Box::new(drag));
    output::need_all(state);
}

/// The devices of the client of `surface`.
fn devices_of(state: &State, surface: &WlSurface) -> Vec<WlDataDevice> {
    let devices = state.protocols.selection.devices.iter();
    devices.filter(|device| device.is_alive() && device.id().same_client_as(&surface.id())).cloned().collect()
}

impl Drag {
    /// Whether the client of `surface` hears of it.
    fn concerns(&self, surface: &WlSurface) -> bool {
        match &self.source {
            Some(source) => surface.is_alive() && source.is_alive(),
            None => surface.is_alive() && self.origin.id().same_client_as(&surface.id()),
        }
    }

    fn enter(&mut self, state: &State, surface: &WlSurface, place: Point<f64, Logical>) {
        let Some(client) = surface.client() else { return };
        let serial: u32 = SERIAL_COUNTER.next_serial().into();
        let devices = devices_of(state, surface);
        let visit = self.source.as_ref().map(|source| Arc::new(Mutex::new(Visit::new(source))));
        for device in &devices {
            let offer = visit.as_ref().and_then(|visit| offer(&client, &state.display_handle, device, visit));
            if offer.is_some() || visit.is_none() {
                device.enter(serial, surface, place.x, place.y, offer.as_ref());
            }
        }
        if let Some(visit) = &visit
            && devices.iter().any(|device| device.version() < SAYS_ACTIONS)
        {
            // Clients that know no actions copy.
            let mut visit = lock(visit);
            visit.wanted = (DndAction::Copy, DndAction::Copy);
            visit.choose_action();
        }
        self.over = Some(Over { surface: surface.clone(), visit });
    }

    fn leave(&mut self, state: &State) {
        let Some(Over { surface, visit }) = self.over.take() else { return };
        devices_of(state, &surface).iter().for_each(WlDataDevice::leave);
        visit.iter().for_each(|visit| lock(visit).leave());
    }

    /// Whether it can be dropped where it is.
    fn is_wanted(&self) -> bool {
        match &self.over {
            None => false,
            Some(Over { visit: None, .. }) => true,
            Some(Over { visit: Some(visit), .. }) => {
                let visit = lock(visit);
                visit.source.is_alive() && visit.accepts && !visit.action.is_empty()
            }
        }
    }
}

/// A new offer for `device`, with all that the source says of itself.
fn offer(
    client: &Client,
    display: &DisplayHandle,
    device: &WlDataDevice,
    visit: &Arc<Mutex<Visit>>,
) -> Option<WlDataOffer> {
    let data = DragOffer(visit.clone(), device.version());
    let offer = client.create_resource::<WlDataOffer, _, State>(display, device.version(), data).ok()?;
    device.data_offer(&offer);
    let source = {
        let mut visit = lock(visit);
        visit.offers.push(offer.downgrade());
        visit.source.clone()
    };
    let types = with_source_metadata(&source, |source| source.mime_types.clone()).unwrap_or_default();
    types.into_iter().for_each(|mime_type| offer.offer(mime_type));
    if offer.version() >= SAYS_ACTIONS {
        offer.source_actions(actions_of(&source));
    }
    Some(offer)
}

impl Carried for Drag {
    fn moved(&mut self, state: &mut State, focus: Focus, location: Point<f64, Logical>, time: u32) {
        let focus = focus.filter(|(surface, _)| self.concerns(surface));
        let stays = match (&self.over, &focus) {
            (Some(over), Some((surface, _))) => over.surface == *surface,
            _ => false,
        };
        if !stays {
            self.leave(state);
        }
        let Some((surface, origin)) = focus else { return };
        let place = location - origin;
        if stays {
            devices_of(state, &surface).iter().for_each(|device| device.motion(time, place.x, place.y));
        } else {
            self.enter(state, &surface, place);
        }
    }

    fn ended(&mut self, state: &mut State) {
        let is_dropped = self.is_wanted();
        if let Some(Over { surface, visit }) = self.over.take() {
            let devices = devices_of(state, &surface);
            if is_dropped {
                devices.iter().for_each(WlDataDevice::drop);
                visit.iter().for_each(|visit| lock(visit).is_dropped = true);
            } else {
                visit.iter().for_each(|visit| lock(visit).is_active = false);
            }
            devices.iter().for_each(WlDataDevice::leave);
        }
        if let Some(source) = self.source.take().filter(Resource::is_alive) {
            if !is_dropped {
                source.cancelled();
            } else if source.version() >= wl_data_source::EVT_DND_DROP_PERFORMED_SINCE {
                source.dnd_drop_performed();
            }
        }
        state.input.drag_icon = None;
        output::need_all(state);
    }
}

impl Dispatch<WlDataOffer, DragOffer, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        offer: &WlDataOffer,
        request: wl_data_offer::Request,
        DragOffer(visit, _): &DragOffer,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use wl_data_offer::{Error, Request};
        let mut visit = lock(visit);
        match request {
            Request::Accept { mime_type, .. } => visit.accept(mime_type),
            Request::Receive { mime_type, fd } => {
                // The owner would be thrown out for what others ask of it. The descriptor is closed: nothing comes.
                let is_read = state.protocols.selection.are_read_by_owners("wl_data_offer", &state.display_handle);
                if is_read && visit.is_active && visit.source.is_alive() && visit.has_type(&mime_type) {
                    visit.source.send(mime_type, fd.as_fd());
                }
            }
            Request::Finish => match visit.unfinishable() {
                Some(why) => offer.post_error(Error::InvalidFinish, why),
                None => {
                    visit.is_active = false;
                    if visit.source.is_alive() && visit.source.version() >= wl_data_source::EVT_DND_FINISHED_SINCE {
                        visit.source.dnd_finished();
                    }
                }
            },
            Request::SetActions { dnd_actions, preferred_action } => {
                let WEnum::Value(actions) = dnd_actions else {
                    return offer.post_error(Error::InvalidActionMask, "there are no such actions");
                };
                let single = [DndAction::None, DndAction::Copy, DndAction::Move, DndAction::Ask];
                let WEnum::Value(preferred) = preferred_action else {
                    return offer.post_error(Error::InvalidAction, "there is no such action");
                };
                if !single.contains(&preferred) {
                    return offer.post_error(Error::InvalidAction, "several actions cannot be preferred");
                }
                if visit.is_active {
                    visit.wanted = (actions, preferred);
                    visit.choose_action();
                }
            }
            _ => {}
        }
    }

    fn destroyed(_state: &mut State, _client: ClientId, _: &WlDataOffer, DragOffer(visit, version): &DragOffer) {
        lock(visit).offer_gone(*version);
    }
}
