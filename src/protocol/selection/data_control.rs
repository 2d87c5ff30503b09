//! `zwlr_data_control_manager_v1` 2 and `ext_data_control_manager_v1` 1: clipboard and primary selection for clients
//! without focus, such as clipboard managers, `wl-copy` and `wl-paste`.
//!
//! Smithay 0.7 accepts a source that is used twice, or that offers a type after its use. In both protocols this is an
//! error, which is sent here.

use ahash::HashSet;
use smithay::reexports::wayland_protocols::ext::data_control::v1::server::ext_data_control_device_v1::{
    self as ext_device, ExtDataControlDeviceV1,
};
use smithay::reexports::wayland_protocols::ext::data_control::v1::server::ext_data_control_manager_v1::ExtDataControlManagerV1;
use smithay::reexports::wayland_protocols::ext::data_control::v1::server::ext_data_control_source_v1::{
    self as ext_source, ExtDataControlSourceV1,
};
use smithay::reexports::wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_device_v1::{
    self as wlr_device, ZwlrDataControlDeviceV1,
};
use smithay::reexports::wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_manager_v1::ZwlrDataControlManagerV1;
use smithay::reexports::wayland_protocols_wlr::data_control::v1::server::zwlr_data_control_source_v1::{
    self as wlr_source, ZwlrDataControlSourceV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, ObjectId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::selection::ext_data_control as ext;
use smithay::wayland::selection::primary_selection::PrimarySelectionState;
use smithay::wayland::selection::wlr_data_control as wlr;

use super::{AT_ONCE, forward, listeners, offered};
use crate::guard::Handlers;
use crate::protocol::dispatch_guard::delegate;
use crate::protocol::privileges;
use crate::state::State;

/// Both managers, and the sources that were used.
#[derive(Debug)]
pub struct DataControls {
    wlr: wlr::DataControlState,
    ext: ext::DataControlState,
    used: HashSet<ObjectId>,
}

impl DataControls {
    /// Advertises both globals, to privileged clients.
    pub fn new(display: &DisplayHandle, primary: &PrimarySelectionState) -> Self {
        DataControls {
            wlr: wlr::DataControlState::new::<State, _>(
                display,
                Some(primary),
                privileges::may_bind::<ZwlrDataControlManagerV1>,
            ),
            ext: ext::DataControlState::new::<State, _>(
                display,
                Some(primary),
                privileges::may_bind::<ExtDataControlManagerV1>,
            ),
            used: HashSet::default(),
        }
    }
}

/// Releases devices of clients that are gone.
pub(super) fn release_gone_devices(
    state: &mut State,
    client: &Client,
    display: &DisplayHandle,
    init: &mut DataInit<'_, State>,
) {
    give_back_wlr(state, client, display, init);
    give_back_ext(state, client, display, init);
}

/// Whether `source` may be set, which it may once; remembers it.
fn may_use(state: &mut State, source: Option<ObjectId>) -> bool {
    state.protocols.selection.requested.clone_from(&source);
    source.is_none_or(|source| state.protocols.data_control.used.insert(source))
}

/// Whether `source` may offer one more type, because it was not used yet.
fn is_unused<S: Resource>(state: &mut State, source: &S) -> bool {
    !state.protocols.data_control.used.contains(&source.id())
}

/// Forgets a destroyed source.
pub(super) fn forget(state: &mut State, source: &ObjectId) {
    state.protocols.data_control.used.remove(source);
}

/// The checks of one of the two protocols, which differ only in the names of their interfaces.
macro_rules! checks {
    ($device:ty, $device_module:ident, $source:ty, $source_module:ident, $may_set:ident, $may_offer:ident) => {
        fn $may_set(state: &mut State, device: &$device, request: &$device_module::Request) -> bool {
            use $device_module::{Error, Request};
            let (Request::SetSelection { source } | Request::SetPrimarySelection { source }) = request else {
                return true;
            };
            if !listeners::may_set_selection(state, device.client().as_ref()) {
                source.iter().for_each(<$source>::cancelled);
                return false;
            }
            let may = may_use(state, source.as_ref().map(Resource::id));
            if !may {
                device.post_error(Error::UsedSource, "a source can be the selection once");
            }
            may
        }

        fn $may_offer(state: &mut State, source: &$source) -> bool {
            let may = is_unused(state, source);
            if !may {
                source.post_error(
                    $source_module::Error::InvalidOffer,
                    "a type was offered after the source became the selection",
                );
            }
            may
        }
    };
}

checks!(ZwlrDataControlDeviceV1, wlr_device, ZwlrDataControlSourceV1, wlr_source, may_set_wlr, may_offer_wlr);
checks!(ExtDataControlDeviceV1, ext_device, ExtDataControlSourceV1, ext_source, may_set_ext, may_offer_ext);

forward!(ZwlrDataControlManagerV1: wlr::DataControlManagerUserData, ZwlrDataControlDeviceV1: wlr::DataControlDeviceUserData
    => wlr::DataControlState; gone_wlr_control, give_back_wlr: wlr_device::Request::Destroy; may_set_wlr; true; _);
forward!(ExtDataControlManagerV1: ext::ExtDataControlManagerUserData, ExtDataControlDeviceV1: ext::ExtDataControlDeviceUserData
    => ext::DataControlState; gone_ext_control, give_back_ext: ext_device::Request::Destroy; may_set_ext; true; _);

offered!(ZwlrDataControlSourceV1: wlr::DataControlSourceUserData => wlr::DataControlState, wlr_source, may_offer_wlr);
offered!(ExtDataControlSourceV1: ext::ExtDataControlSourceUserData => ext::DataControlState, ext_source, may_offer_ext);

delegate!(global ZwlrDataControlManagerV1: wlr::DataControlManagerGlobalData => wlr::DataControlState);
delegate!(global ExtDataControlManagerV1: ext::ExtDataControlManagerGlobalData => ext::DataControlState);

impl wlr::DataControlHandler for State {
    fn data_control_state(&self) -> &wlr::DataControlState {
        &self.protocols.data_control.wlr
    }
}

impl ext::DataControlHandler for State {
    fn data_control_state(&self) -> &ext::DataControlState {
        &self.protocols.data_control.ext
    }
}
