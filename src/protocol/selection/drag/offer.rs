//! Requests on the offers of a drag.

use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex};

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_data_device::WlDataDevice;
use smithay::reexports::wayland_server::protocol::wl_data_device_manager::DndAction;
use smithay::reexports::wayland_server::protocol::wl_data_offer::{self, WlDataOffer};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, WEnum};

use super::lock;
use super::target_offers::{SAYS_ACTIONS, TargetOffers};
use crate::guard::Handlers;
use crate::state::State;

/// User data of an offer of a drag.
#[derive(Debug)]
pub struct DragOffer(Arc<Mutex<TargetOffers>>);

/// Creates an offer for `device` and sends the types and actions of the source.
pub(super) fn make(
    client: &Client,
    display: &DisplayHandle,
    device: &WlDataDevice,
    visit: &Arc<Mutex<TargetOffers>>,
) -> Option<WlDataOffer> {
    let data = DragOffer(visit.clone());
    let offer = client.create_resource::<WlDataOffer, _, State>(display, device.version(), data).ok()?;
    device.data_offer(&offer);
    let mut visit = lock(visit);
    let (types, actions) = {
        let feedback = lock(visit.feedback());
        (feedback.mime_types(), feedback.actions())
    };
    types.into_iter().for_each(|mime_type| offer.offer(mime_type));
    if offer.version() >= SAYS_ACTIONS {
        offer.source_actions(actions);
    }
    visit.add(&offer, device);
    Some(offer)
}

impl Dispatch<WlDataOffer, DragOffer, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        offer: &WlDataOffer,
        request: wl_data_offer::Request,
        DragOffer(visit): &DragOffer,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use wl_data_offer::{Error, Request};
        let mut visit = lock(visit);
        match request {
            Request::Accept { mime_type, .. } => visit.accept(offer, mime_type),
            Request::Receive { mime_type, fd } => {
                // The owner is behind: more events would fill its socket and disconnect it. The descriptor is closed,
                // so that the client reads an empty file.
                let is_read = state.protocols.selection.do_owners_read("wl_data_offer", &state.display_handle);
                if is_read && visit.may_receive(offer) {
                    let feedback = lock(visit.feedback());
                    if feedback.has_type(&mime_type) {
                        feedback.request_data(mime_type, fd.as_fd());
                    }
                }
            }
            Request::Finish => {
                if let Err(why) = visit.finish(offer) {
                    offer.post_error(Error::InvalidFinish, why);
                }
            }
            Request::SetActions { dnd_actions, preferred_action } => {
                let WEnum::Value(actions) = dnd_actions else {
                    return offer.post_error(Error::InvalidActionMask, "unknown actions");
                };
                let single = [DndAction::None, DndAction::Copy, DndAction::Move, DndAction::Ask];
                let WEnum::Value(preferred) = preferred_action else {
                    return offer.post_error(Error::InvalidAction, "there is no such action");
                };
                if !single.contains(&preferred) {
                    return offer.post_error(Error::InvalidAction, "several actions cannot be preferred");
                }
                visit.set_actions(offer, actions, preferred);
            }
            _ => {}
        }
    }

    fn destroyed(_state: &mut State, _client: ClientId, offer: &WlDataOffer, DragOffer(visit): &DragOffer) {
        lock(visit).offer_destroyed(offer);
    }
}
