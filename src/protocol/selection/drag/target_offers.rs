//! The offers of one drag to one client, from `enter` until the transfer has ended.
//!
//! A client may have several devices, each of a library that does not know of the others. So each offer has its own
//! type, action and end. The source gets the state of the offer that can be dropped on.

use std::sync::{Arc, Mutex};

use smithay::reexports::wayland_server::protocol::wl_data_device::WlDataDevice;
use smithay::reexports::wayland_server::protocol::wl_data_device_manager::DndAction;
use smithay::reexports::wayland_server::protocol::wl_data_offer::{self, WlDataOffer};
use smithay::reexports::wayland_server::{Resource, Weak};
use smithay::wayland::selection::data_device::default_action_chooser;

use super::feedback::{SourceFeedback, TargetState};
use super::lock;

/// From this version on there are actions: `source_actions`, `action`, `finish`.
pub(super) const SAYS_ACTIONS: u32 = wl_data_offer::EVT_ACTION_SINCE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TargetPhase {
    /// The drag is on a surface of the client.
    Over,
    /// The data was dropped there, and the client transfers it.
    Dropped,
    /// The drag has left, or the transfer has ended.
    Ended,
}

/// An offer, and its client's answers to it.
#[derive(Debug)]
struct OfferState {
    offer: Weak<WlDataOffer>,
    /// Version of the offer, kept because a destroyed object does not have it any more.
    version: u32,
    device: WlDataDevice,
    target: TargetState,
    is_finished: bool,
}

impl OfferState {
    /// Whether the data can be dropped on this offer.
    fn is_target(&self) -> bool {
        self.device.is_alive() && self.target.mime_type.is_some() && !self.target.action.is_empty()
    }
}

/// All offers of one drag to one client.
#[derive(Debug)]
pub(super) struct TargetOffers {
    feedback: Arc<Mutex<SourceFeedback>>,
    phase: TargetPhase,
    /// After the drop: only the offers that were dropped on.
    offers: Vec<OfferState>,
}

impl TargetOffers {
    pub fn new(feedback: &Arc<Mutex<SourceFeedback>>) -> Self {
        TargetOffers { feedback: feedback.clone(), phase: TargetPhase::Over, offers: Vec::new() }
    }

    pub fn feedback(&self) -> &Arc<Mutex<SourceFeedback>> {
        &self.feedback
    }

    /// Adds the `offer` of `device`. The action of an offer without actions is copy.
    pub fn add(&mut self, offer: &WlDataOffer, device: &WlDataDevice) {
        let version = offer.version();
        let copies = version < SAYS_ACTIONS;
        let action = if copies { self.choose(DndAction::Copy, DndAction::Copy) } else { DndAction::None };
        let target = TargetState { mime_type: None, action };
        let (offer, device) = (offer.downgrade(), device.clone());
        self.offers.push(OfferState { offer, version, device, target, is_finished: false });
        self.send_to_source();
    }

    fn choose(&self, possible: DndAction, preferred: DndAction) -> DndAction {
        default_action_chooser(possible & lock(&self.feedback).actions(), preferred)
    }

    fn state_of(&mut self, offer: &WlDataOffer) -> Option<&mut OfferState> {
        self.offers.iter_mut().find(|state| state.offer == *offer)
    }

    /// The state of the offer that comes nearest to a target.
    fn nearest(&self) -> TargetState {
        let rank = |state: &&OfferState| (state.is_target(), state.target.mime_type.is_some());
        let nearest = self.offers.iter().max_by_key(rank);
        nearest.map_or(TargetState::NONE, |state| state.target.clone())
    }

    fn send_to_source(&self) {
        lock(&self.feedback).set_target(self.nearest());
    }

    /// The client accepts a type, or none. The type need not be offered by the source, since toolkits map some types:
    /// Qt accepts `text/x-moz-url` as `text/uri-list`, and rejects with an empty name.
    pub fn accept(&mut self, offer: &WlDataOffer, mime_type: Option<String>) {
        if self.phase != TargetPhase::Over {
            return;
        }
        let mime_type = mime_type.filter(|mime_type| !mime_type.is_empty());
        if let Some(state) = self.state_of(offer) {
            state.target.mime_type = mime_type;
            lock(&self.feedback).answered(self.nearest());
        }
    }

    pub fn set_actions(&mut self, offer: &WlDataOffer, possible: DndAction, preferred: DndAction) {
        if self.phase == TargetPhase::Ended {
            return;
        }
        let action = self.choose(possible, preferred);
        if self.phase == TargetPhase::Dropped && action.is_empty() {
            // The client sent it before it got the drop. The transfer keeps the last action that the client was sent.
            return;
        }
        let Some(state) = self.state_of(offer).filter(|state| state.target.action != action) else { return };
        state.target.action = action;
        offer.action(action);
        if self.phase == TargetPhase::Over {
            self.send_to_source();
        }
    }

    /// Whether `offer` may request the data.
    pub fn may_receive(&mut self, offer: &WlDataOffer) -> bool {
        self.state_of(offer).is_some_and(|state| !state.is_finished)
    }

    /// Whether the data can be dropped on any offer.
    pub fn is_target(&self) -> bool {
        lock(&self.feedback).is_alive() && self.offers.iter().any(OfferState::is_target)
    }

    /// Drops the data. Returns the devices of the offers that it is dropped on.
    pub fn drop_on_targets(&mut self) -> Vec<WlDataDevice> {
        self.phase = TargetPhase::Dropped;
        self.offers.retain(OfferState::is_target);
        self.offers.iter().map(|state| state.device.clone()).collect()
    }

    /// The drag moves on to another surface.
    pub fn leave(&mut self) {
        self.close();
        lock(&self.feedback).set_target(TargetState::NONE);
    }

    /// Ends these offers: they can request nothing more.
    pub fn close(&mut self) {
        self.phase = TargetPhase::Ended;
        self.offers.clear();
    }

    /// The client has finished with `offer`. The first offer that finishes ends the transfer for the source; other
    /// offers that were dropped on may finish later. Returns an error text if the offer may not finish.
    pub fn finish(&mut self, offer: &WlDataOffer) -> Result<(), &'static str> {
        let phase = self.phase;
        let Some(state) = self.state_of(offer) else { return Err("nothing was dropped on this offer") };
        match state {
            _ if phase == TargetPhase::Over => return Err("nothing was dropped"),
            OfferState { is_finished: true, .. } => return Err("the offer was finished before"),
            OfferState { target: TargetState { action: DndAction::None, .. }, .. } => {
                return Err("there is no action in common");
            }
            _ => {}
        }
        state.is_finished = true;
        let action = state.target.action;
        if phase == TargetPhase::Dropped {
            self.end(action);
        }
        Ok(())
    }

    fn end(&mut self, action: DndAction) {
        self.phase = TargetPhase::Ended;
        lock(&self.feedback).finished(action);
    }

    /// `offer` is destroyed. For an offer without `finish` this ends the transfer. For other offers the transfer is
    /// cancelled with the last offer that was dropped on.
    pub fn offer_destroyed(&mut self, offer: &WlDataOffer) {
        let Some(index) = self.offers.iter().position(|state| state.offer == *offer) else { return };
        let OfferState { target, version, .. } = self.offers.remove(index);
        match self.phase {
            TargetPhase::Ended => {}
            TargetPhase::Dropped if version < SAYS_ACTIONS => self.end(target.action),
            TargetPhase::Dropped if self.offers.is_empty() => {
                self.phase = TargetPhase::Ended;
                lock(&self.feedback).failed();
            }
            TargetPhase::Over => self.send_to_source(),
            // The source gets the action of a drop right before its end.
            TargetPhase::Dropped => {}
        }
    }
}
