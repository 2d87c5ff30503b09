//! `wl_data_device_manager` 3 and `zwp_primary_selection_device_manager_v1` 1: clipboard, primary selection, and drag
//! and drop between clients. The compositor keeps no copy of the data. Both selections follow the keyboard focus
//! (`protocol::seat`). Clipboard managers get them without it ([`data_control`]).
//!
//! Smithay 0.7 removes a device from the seat's list when its client releases it, but not when the client is gone. Such
//! devices are released here, with the next request on a manager: a release can only be forged while a request is
//! handled, and the list grows only with requests. Smithay also does not report a destroyed source before the focus
//! changes, so that is done here, too.

pub mod data_control;
pub(super) mod drag;
pub mod focus;
mod listeners;
mod screenshot_selection;

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

pub use screenshot_selection::{ScreenshotSelection, offer_picture};

use super::dispatch_guard::delegate;
use crate::deferred_calls;
use crate::guard::{self, Handlers};
use crate::input::data_drag;
use crate::state::State;

/// How many devices of each kind are released with a request: more than a request can add, and few enough not to cause
/// a delay after the end of a client that had thousands.
const AT_ONCE: usize = 64;

/// Types that one source may offer; office programs offer 40.
const MOST_TYPES: usize = 512;
/// Bytes of their names together. The client that gets the focus is sent all of them at once, and is disconnected if
/// its socket has no room. A socket holds about 200 KB.
const MOST_TYPE_BYTES: usize = 32 * 1024;

/// Devices, sources and the sources in force. The fields `gone…` have devices of clients that are gone, to be removed
/// from the seat's list.
#[derive(Debug, Default)]
pub struct SelectionDevices {
    gone: Vec<WlDataDevice>,
    gone_primary: Vec<ZwpPrimarySelectionDeviceV1>,
    gone_wlr_control: Vec<ZwlrDataControlDeviceV1>,
    gone_ext_control: Vec<ExtDataControlDeviceV1>,
    devices: Vec<WlDataDevice>,
    /// Types and actions that each source offers.
    offered: HashMap<ObjectId, OfferedTypes>,
    /// The source that the current request wants to set.
    requested: Option<ObjectId>,
    clipboard: Option<ObjectId>,
    primary: Option<ObjectId>,
    /// Source of the current or last drag.
    dragged: Option<ObjectId>,
    feedbacks: drag::Feedbacks,
    /// Clients that get every selection.
    listeners: listeners::Listeners,
    /// The client with keyboard focus, while it was not sent the selections yet.
    pending_focus: Option<Client>,
}

/// Offered types: their number and the bytes of their names.
#[derive(Clone, Copy, Debug, Default)]
struct OfferedTypes {
    types: usize,
    bytes: usize,
    /// The source has sent `set_actions`.
    has_actions: bool,
}

/// Releases devices of clients that are gone. `client` has sent the current request.
fn release_gone_devices(state: &mut State, client: &Client, display: &DisplayHandle, init: &mut DataInit<'_, State>) {
    give_back(state, client, display, init);
    give_back_primary(state, client, display, init);
    data_control::release_gone_devices(state, client, display, init);
}

/// Forwards requests of a manager and its devices to Smithay if `$check` allows them, and collects destroyed devices in
/// `$gone` for `$give_back`. The kinds of selection differ only in the names of their interfaces.
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
                $crate::protocol::selection::release_gone_devices(state, client, display, init);
                if $hears_all {
                    state.protocols.selection.listeners.add(client);
                }
                // Smithay sends a new device the current selection only if the device gets all selections.
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

/// Remembers the source that a request wants to set: [`SelectionHandler::new_selection`] is called if Smithay accepts
/// it. Returns whether Smithay is to handle the request; drags are handled here. The source of a refused request is
/// cancelled.
fn asks(state: &mut State, device: &WlDataDevice, request: &wl_data_device::Request) -> bool {
    match request {
        wl_data_device::Request::SetSelection { source, .. } => {
            if !has_keyboard(state, device) || !listeners::may_set_selection(state, device.client().as_ref()) {
                source.iter().for_each(WlDataSource::cancelled);
                return false;
            }
            state.protocols.selection.requested = source.as_ref().map(Resource::id);
            true
        }
        wl_data_device::Request::StartDrag { origin, serial, source, icon } => {
            drag::start(state, device, source.as_ref(), origin, icon.as_ref(), Serial::from(*serial));
            false
        }
        _ => true,
    }
}

/// Whether the client of `device` has keyboard focus. No other client may set a selection.
fn has_keyboard(state: &State, device: &impl Resource) -> bool {
    state.input.keyboard().is_some_and(|keyboard| keyboard.client_of_object_has_focus(&device.id()))
}

/// As [`asks`], for the primary selection.
fn asks_primary(state: &mut State, device: &ZwpPrimarySelectionDeviceV1, request: &primary_device::Request) -> bool {
    if let primary_device::Request::SetSelection { source, .. } = request {
        if !has_keyboard(state, device) || !listeners::may_set_selection(state, device.client().as_ref()) {
            source.iter().for_each(ZwpPrimarySelectionSourceV1::cancelled);
            return false;
        }
        state.protocols.selection.requested = source.as_ref().map(Resource::id);
    }
    true
}

delegate!(global WlDataDeviceManager: () => DataDeviceState);
delegate!(global ZwpPrimarySelectionDeviceManagerV1: PrimaryDeviceManagerGlobalData => PrimarySelectionState);

/// Forwards the requests of a source to Smithay if `$check` allows them, up to the limits that a client's socket has
/// room for. `$note` is called for each forwarded request.
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
                        return $crate::guard::end_for_reason(display, client, &$crate::protocol::selection::too_many_types());
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

/// Allows types to be added at any time: the protocol does not forbid it.
fn at_any_time<S>(_state: &mut State, _source: &S) -> bool {
    true
}

/// Remembers that a source has sent `set_actions`: Smithay does not distinguish a source without actions from one that
/// never sent it.
fn note_actions(state: &mut State, source: &WlDataSource, request: &wl_data_source::Request) {
    if matches!(request, wl_data_source::Request::SetActions { .. }) {
        state.protocols.selection.offered.entry(source.id()).or_default().has_actions = true;
    }
}

/// A source is destroyed: if it was in force, the selection is cleared.
fn source_gone(state: &mut State, source: &ObjectId) {
    state.protocols.selection.offered.remove(source);
    data_control::forget(state, source);
    let selection = &mut state.protocols.selection;
    let (seat, display) = (state.input.seat().clone(), state.display_handle.clone());
    if selection.dragged.take_if(|dragged| dragged == source).is_some() {
        // Not at once, because its client may be going, and the grab of the drag may be in use.
        deferred_calls::queue(state, |state| {
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

impl SelectionDevices {
    /// Whether the owners that an offer with this interface may ask for data read their events. Otherwise requests of
    /// other clients would fill their sockets and disconnect them.
    pub(super) fn do_owners_read(&self, interface: &str, display: &DisplayHandle) -> bool {
        let owners = match interface {
            "wl_data_offer" => [&self.clipboard, &self.dragged],
            "zwp_primary_selection_offer_v1" => [&self.primary, &None],
            _ => [&self.clipboard, &self.primary],
        };
        owners.into_iter().flatten().all(|source| {
            let client = display.get_client(source.clone()).ok();
            client.is_none_or(|client| guard::may_send_to_client(&client))
        })
    }

    /// Counts one more type of a source. Returns whether the source stays within the limits.
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
    type SelectionUserData = ScreenshotSelection;

    fn new_selection(&mut self, target: SelectionTarget, source: Option<SelectionSource>, _seat: Seat<Self>) {
        let selection = &mut self.protocols.selection;
        let asked = selection.requested.take().filter(|_| source.is_some());
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
        picture: &ScreenshotSelection,
    ) {
        screenshot_selection::send(picture, &mime_type, into);
    }
}

impl DataDeviceHandler for State {
    fn data_device_state(&self) -> &DataDeviceState {
        &self.protocols.data_device
    }
}

/// Required by Smithay, which never starts a drag here.
impl ClientDndGrabHandler for State {}

impl ServerDndGrabHandler for State {}

impl PrimarySelectionHandler for State {
    fn primary_selection_state(&self) -> &PrimarySelectionState {
        &self.protocols.primary_selection
    }
}
