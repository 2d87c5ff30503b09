//! `wl_data_device_manager` 3 and `zwp_primary_selection_device_manager_v1` 1: clipboard, primary selection, and
//! drag and drop between clients. The compositor offers nothing of its own and keeps nothing that is copied; the focus of
//! both follows the keyboard (`protocol::seat`). Clipboard managers see both without it ([`data_control`]).
//!
//! Smithay 0.7 takes a device off the seat's list when its client gives it back, and not when the client is gone. Those
//! are given back here, as soon as that can be: a request can only be made up while another is met, and the list grows
//! only with requests. Nor does it tell anybody that a source is gone before the focus changes: that is done here, too.

pub mod data_control;
pub(super) mod drag;
pub mod focus;
mod listeners;
mod own;

use std::os::fd::OwnedFd;

use ahash::HashMap;
use primary_device::ZwpPrimarySelectionDeviceV1;
use primary_manager::ZwpPrimarySelectionDeviceManagerV1;
use primary_source::ZwpPrimarySelectionSourceV1;
use smithay::input::Seat;
use smithay::reexports::wayland_protocols::ext::data_control::v1::server::ext_data_control_device_v1::ExtDataControlDeviceV1;
use smithay::reexports::wayland_protocols::wp::primary_selection::zv1::server::{
    zwp_primary_selection_device_manager_v1 as primary_manager, zwp_primary_selection_device_v1 as primary_device,
    zwp_primary_selection_source_v1 as primary_source,
};
use smithay::reexports::wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_device_v1::ZwlrDataControlDeviceV1;
use smithay::reexports::wayland_server::backend::{ClientId, ObjectId};
use smithay::reexports::wayland_server::protocol::wl_data_device::{self, WlDataDevice};
use smithay::reexports::wayland_server::protocol::wl_data_device_manager::{self, WlDataDeviceManager};
use smithay::reexports::wayland_server::protocol::wl_data_source::{self, WlDataSource};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::utils::Serial;
use smithay::wayland::selection::data_device::{
    ClientDndGrabHandler, DataDeviceHandler, DataDeviceState, DataDeviceUserData, DataSourceUserData,
    ServerDndGrabHandler, clear_data_device_selection,
};
use smithay::wayland::selection::primary_selection::{
    PrimaryDeviceManagerGlobalData, PrimaryDeviceUserData, PrimarySelectionHandler, PrimarySelectionState,
    PrimarySourceUserData, clear_primary_selection,
};
use smithay::wayland::selection::{SelectionHandler, SelectionSource, SelectionTarget};

pub use own::{OwnSelection, offer_picture};

use super::floor::delegate;
use crate::guard::{self, Handlers};
use crate::input::data_drag;
use crate::later;
use crate::state::State;

/// How many devices of each kind are given back with a request: more than it adds, and no work that is felt when a client
/// that had thousands is gone.
const AT_ONCE: usize = 64;

/// Types that one selection may be offered as; office programs have 40.
const MOST_TYPES: usize = 512;
/// Bytes of their names. Who gets the focus is told of all of them at once, and is thrown out if he has no room for it: a
/// socket holds about 200 KB.
const MOST_TYPE_BYTES: usize = 32 * 1024;

/// The devices that no client has any more and that are still on the seat's list, what sources are offered as, and which
/// of them is in force.
#[derive(Debug, Default)]
pub struct Devices {
    gone: Vec<WlDataDevice>,
    gone_primary: Vec<ZwpPrimarySelectionDeviceV1>,
    gone_wlr_control: Vec<ZwlrDataControlDeviceV1>,
    gone_ext_control: Vec<ExtDataControlDeviceV1>,
    /// Every `wl_data_device`.
    devices: Vec<WlDataDevice>,
    /// What sources are offered as.
    offered: HashMap<ObjectId, Offered>,
    /// What the request that is being met wants to be in force.
    asked: Option<ObjectId>,
    clipboard: Option<ObjectId>,
    primary: Option<ObjectId>,
    /// What is or was dragged last.
    dragged: Option<ObjectId>,
    feedbacks: drag::Feedbacks,
    /// Who hears of it.
    listeners: listeners::Listeners,
    /// Who has the keyboard now, and was not told of them yet.
    coming_to: Option<Client>,
}

/// Types, and bytes of their names.
#[derive(Clone, Copy, Debug, Default)]
struct Offered {
    types: usize,
    bytes: usize,
    /// It said which actions it knows, if any.
    has_actions: bool,
}

/// Gives the devices back that are gone. `client` is who has just asked for something.
fn tidy(state: &mut State, client: &Client, display: &DisplayHandle, init: &mut DataInit<'_, State>) {
    give_back(state, client, display, init);
    give_back_primary(state, client, display, init);
    data_control::tidy(state, client, display, init);
}

/// Passes requests of a manager and of its devices on to Smithay, where `$check` lets them, and remembers the devices that are gone
/// in `$gone`, for `$give_back`. The kinds of selection differ in nothing but the names of their interfaces.
macro_rules! forward {
    ($manager:ty: $manager_data:ty, $device:ty: $data:ty => $kind:ty; $gone:ident, $give_back:ident: $release:expr; $check:path;
     $hears_all:literal; $makes_device:pat) => {
        pub(super) fn $give_back(
            state: &mut State,
            client: &Client,
            display: &DisplayHandle,
            init: &mut DataInit<'_, State>,
        ) {
            let gone = &mut state.protocols.selection.$gone;
            for device in gone.split_off(gone.len().saturating_sub(AT_ONCE)) {
                let Some(data) = device.data::<$data>() else { continue };
                <$kind as Dispatch<_, _, State>>::request(state, client, &device, $release, data, display, init);
            }
        }

        impl Dispatch<$manager, $manager_data, State> for Handlers {
            fn request(
                state: &mut State,
                client: &Client,
                manager: &$manager,
                request: <$manager as Resource>::Request,
                data: &$manager_data,
                display: &DisplayHandle,
                init: &mut DataInit<'_, State>,
            ) {
                $crate::protocol::selection::tidy(state, client, display, init);
                if $hears_all {
                    state.protocols.selection.listeners.add(client);
                }
                // Smithay tells a new device the present selection only where the device hears of all.
                let is_untold = !$hears_all && matches!(request, $makes_device);
                <$kind as Dispatch<_, _, State>>::request(state, client, manager, request, data, display, init);
                if is_untold {
                    $crate::protocol::selection::focus::device_made(state, client, display);
                }
            }
        }

        impl Dispatch<$device, $data, State> for Handlers {
            fn request(
                state: &mut State,
                client: &Client,
                device: &$device,
                request: <$device as Resource>::Request,
                data: &$data,
                display: &DisplayHandle,
                init: &mut DataInit<'_, State>,
            ) {
                if $check(state, device, &request) {
                    <$kind as Dispatch<_, _, State>>::request(state, client, device, request, data, display, init);
                }
            }

            fn destroyed(state: &mut State, _client: ClientId, device: &$device, _data: &$data) {
                let gone = device.id();
                state.protocols.selection.devices.retain(|known| known.id() != gone);
                state.protocols.selection.$gone.push(device.clone());
            }
        }
    };
}

use forward;

forward!(WlDataDeviceManager: (), WlDataDevice: DataDeviceUserData => DataDeviceState;
    gone, give_back: wl_data_device::Request::Release; asks; false; wl_data_device_manager::Request::GetDataDevice { .. });
forward!(ZwpPrimarySelectionDeviceManagerV1: (), ZwpPrimarySelectionDeviceV1: PrimaryDeviceUserData => PrimarySelectionState;
    gone_primary, give_back_primary: primary_device::Request::Destroy; asks_primary; false; primary_manager::Request::GetDevice { .. });

/// Notes which source a request wants to be in force: [`SelectionHandler::new_selection`] is called if it is. Whether Smithay is
/// to meet the request: drags are ours. The source of a request that is refused is cancelled.
fn asks(state: &mut State, device: &WlDataDevice, request: &wl_data_device::Request) -> bool {
    match request {
        wl_data_device::Request::SetSelection { source, .. } => {
            if !has_keyboard(state, device) || !listeners::may_hear(state, device.client().as_ref()) {
                source.iter().for_each(WlDataSource::cancelled);
                return false;
            }
            state.protocols.selection.asked = source.as_ref().map(Resource::id);
            true
        }
        wl_data_device::Request::StartDrag { origin, serial, source, icon } => {
            drag::start(state, device, source.as_ref(), origin, icon.as_ref(), Serial::from(*serial));
            false
        }
        _ => true,
    }
}

/// Whether the client of `device` has the keyboard: no other client may set a selection.
fn has_keyboard(state: &State, device: &impl Resource) -> bool {
    state.input.keyboard().is_some_and(|keyboard| keyboard.client_of_object_has_focus(&device.id()))
}

/// The same for the primary selection.
fn asks_primary(state: &mut State, device: &ZwpPrimarySelectionDeviceV1, request: &primary_device::Request) -> bool {
    if let primary_device::Request::SetSelection { source, .. } = request {
        if !has_keyboard(state, device) || !listeners::may_hear(state, device.client().as_ref()) {
            source.iter().for_each(ZwpPrimarySelectionSourceV1::cancelled);
            return false;
        }
        state.protocols.selection.asked = source.as_ref().map(Resource::id);
    }
    true
}

delegate!(global WlDataDeviceManager: () => DataDeviceState);
delegate!(global ZwpPrimarySelectionDeviceManagerV1: PrimaryDeviceManagerGlobalData => PrimarySelectionState);

/// Passes what is offered on to Smithay, where `$check` lets it, up to what whoever has the focus next can be told. `$note` sees
/// each request that is passed on.
macro_rules! offered {
    ($source:ty: $data:ty => $kind:ty, $request:ident, $check:path $(, $note:path)?) => {
        impl Dispatch<$source, $data, State> for Handlers {
            fn request(
                state: &mut State,
                client: &Client,
                source: &$source,
                request: $request::Request,
                data: &$data,
                display: &DisplayHandle,
                init: &mut DataInit<'_, State>,
            ) {
                if let $request::Request::Offer { mime_type } = &request {
                    if !$check(state, source) {
                        return;
                    }
                    if !state.protocols.selection.may_offer(source.id(), mime_type) {
                        return $crate::guard::end_for(display, client, &$crate::protocol::selection::too_many_types());
                    }
                }
                $($note(state, source, &request);)?
                <$kind as Dispatch<_, _, State>>::request(state, client, source, request, data, display, init);
            }

            fn destroyed(state: &mut State, client: ClientId, source: &$source, data: &$data) {
                <$kind as Dispatch<_, _, State>>::destroyed(state, client, source, data);
                $crate::protocol::selection::source_gone(state, &source.id());
            }
        }
    };
}

use offered;

offered!(WlDataSource: DataSourceUserData => DataDeviceState, wl_data_source, at_any_time, note_actions);
offered!(ZwpPrimarySelectionSourceV1: PrimarySourceUserData => PrimarySelectionState, primary_source, at_any_time);

/// Types may be added to sources of the focused client whenever it likes.
fn at_any_time<S>(_state: &mut State, _source: &S) -> bool {
    true
}

/// Notes that a source names its actions: Smithay does not tell a source that names none from one that never does.
fn note_actions(state: &mut State, source: &WlDataSource, request: &wl_data_source::Request) {
    if matches!(request, wl_data_source::Request::SetActions { .. }) {
        state.protocols.selection.offered.entry(source.id()).or_default().has_actions = true;
    }
}

/// A source is gone: if it was in force, everybody hears that there is nothing to paste.
fn source_gone(state: &mut State, source: &ObjectId) {
    state.protocols.selection.offered.remove(source);
    data_control::forget(state, source);
    let selection = &mut state.protocols.selection;
    let (seat, display) = (state.input.seat().clone(), state.display_handle.clone());
    if selection.dragged.take_if(|dragged| dragged == source).is_some() {
        // Not at once: its client may be going, and the grab of the drag may be in use.
        later::soon(state, |state| {
            if state.protocols.selection.dragged.is_none() && data_drag::is_active(state) {
                data_drag::cancel(state);
            }
        });
    }
    let selection = &mut state.protocols.selection;
    if selection.clipboard.take_if(|clipboard| clipboard == source).is_some() {
        clear_data_device_selection::<State>(&display, &seat);
    }
    if selection.primary.take_if(|primary| primary == source).is_some() {
        clear_primary_selection::<State>(&display, &seat);
    }
}

impl Devices {
    /// Whether those read on who may be asked for data through an offer with this interface: else they would be thrown out for
    /// what others ask for.
    pub(super) fn are_read_by_owners(&self, interface: &str, display: &DisplayHandle) -> bool {
        let owners = match interface {
            "wl_data_offer" => [&self.clipboard, &self.dragged],
            "zwp_primary_selection_offer_v1" => [&self.primary, &None],
            _ => [&self.clipboard, &self.primary],
        };
        owners.into_iter().flatten().all(|source| {
            let client = display.get_client(source.clone()).ok();
            client.is_none_or(|client| guard::client_reads_on(&client))
        })
    }

    /// A source is offered as one more type. Whether it may be.
    fn may_offer(&mut self, source: ObjectId, mime_type: &str) -> bool {
        let offered = self.offered.entry(source).or_default();
        offered.types += 1;
        offered.bytes += mime_type.len();
        offered.types <= MOST_TYPES && offered.bytes <= MOST_TYPE_BYTES
    }
}

fn too_many_types() -> String {
    format!("more than {MOST_TYPES} types, or {MOST_TYPE_BYTES} bytes of their names, in one data source")
}

impl SelectionHandler for State {
    type SelectionUserData = OwnSelection;

    fn new_selection(&mut self, target: SelectionTarget, source: Option<SelectionSource>, _seat: Seat<Self>) {
        let selection = &mut self.protocols.selection;
        let asked = selection.asked.take().filter(|_| source.is_some());
        match target {
            SelectionTarget::Clipboard => selection.clipboard = asked,
            SelectionTarget::Primary => selection.primary = asked,
        }
    }

    fn send_selection(
        &mut self,
        _target: SelectionTarget,
        mime_type: String,
        into: OwnedFd,
        _seat: Seat<Self>,
        picture: &OwnSelection,
    ) {
        own::send(picture, &mime_type, into);
    }
}

impl DataDeviceHandler for State {
    fn data_device_state(&self) -> &DataDeviceState {
        &self.protocols.data_device
    }
}

/// Smithay begins no drag.
impl ClientDndGrabHandler for State {}

impl ServerDndGrabHandler for State {}

impl PrimarySelectionHandler for State {
    fn primary_selection_state(&self) -> &PrimarySelectionState {
        &self.protocols.primary_selection
    }
}
