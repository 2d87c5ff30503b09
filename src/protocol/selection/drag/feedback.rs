//! The source of a drag, and the feedback that its client gets: the type and the action of its target, and the outcome.
//!
//! A target may change its answer with every request. Only changes are sent, and only while the socket of the source's
//! client has room, because otherwise requests of another client would disconnect it. When that client has read on, it
//! is sent the newest state ([`catch_up`](super::catch_up)).

use std::os::fd::BorrowedFd;

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_data_device_manager::DndAction;
use smithay::reexports::wayland_server::protocol::wl_data_source::{self, WlDataSource};
use smithay::wayland::selection::data_device::with_source_metadata;

use crate::guard;

/// The accepted type and the action in force, for the surface that the drag is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TargetState {
    pub(in crate::protocol) mime_type: Option<String>,
    pub(in crate::protocol) action: DndAction,
}

impl TargetState {
    pub const NONE: TargetState = TargetState { mime_type: None, action: DndAction::None };
}

/// The source, and the target state that was sent to it last.
#[derive(Debug)]
pub(super) struct SourceFeedback {
    source: WlDataSource,
    /// The source has sent `set_actions`.
    has_actions: bool,
    current: TargetState,
    sent: TargetState,
    /// A target has answered, if only that it accepts nothing.
    is_answered: bool,
    /// The source was sent a type, or that none is accepted.
    was_told_target: bool,
}

impl SourceFeedback {
    pub fn new(source: &WlDataSource, has_actions: bool) -> Self {
        SourceFeedback {
            source: source.clone(),
            has_actions,
            current: TargetState::NONE,
            sent: TargetState::NONE,
            is_answered: false,
            was_told_target: false,
        }
    }

    pub fn is_alive(&self) -> bool {
        self.source.is_alive()
    }

    /// Its actions. A source that sets none, or no known action, is copied, as in wlroots, because otherwise nothing
    /// could be dropped.
    pub fn actions(&self) -> DndAction {
        let named = with_source_metadata(&self.source, |source| source.dnd_action).unwrap_or(DndAction::None);
        let is_old = self.source.version() < wl_data_source::REQ_SET_ACTIONS_SINCE;
        if is_old || (!self.has_actions && named.is_empty()) { DndAction::Copy } else { named }
    }

    pub fn mime_types(&self) -> Vec<String> {
        with_source_metadata(&self.source, |source| source.mime_types.clone()).unwrap_or_default()
    }

    pub fn has_type(&self, mime_type: &str) -> bool {
        let has = with_source_metadata(&self.source, |source| source.mime_types.iter().any(|known| known == mime_type));
        has.unwrap_or(false)
    }

    /// Asks the source to write its data into `fd`.
    pub fn request_data(&self, mime_type: String, fd: BorrowedFd<'_>) {
        if self.source.is_alive() {
            self.source.send(mime_type, fd);
        }
    }

    /// A target has answered. The first answer is sent even if it accepts nothing.
    pub fn answered(&mut self, state: TargetState) {
        self.is_answered = true;
        self.set_target(state);
    }

    /// Sets the state of the target.
    pub fn set_target(&mut self, state: TargetState) {
        self.current = state;
        self.send_with_room();
    }

    /// Sends the target state if it has changed and the client has room for it.
    pub fn send_with_room(&mut self) {
        let owes_answer = self.is_answered && !self.was_told_target;
        if (owes_answer || self.current != self.sent) && self.source.is_alive() && guard::may_send_urgent(&self.source)
        {
            self.send();
        }
    }

    /// Sends the changes of the target state.
    fn send(&mut self) {
        let (before, now) = (std::mem::replace(&mut self.sent, self.current.clone()), &self.sent);
        if before.action != now.action && self.source.version() >= wl_data_source::EVT_ACTION_SINCE {
            self.source.action(now.action);
        }
        if before.mime_type != now.mime_type || (self.is_answered && !self.was_told_target) {
            self.was_told_target = true;
            self.source.target(now.mime_type.clone());
        }
    }

    /// The data was dropped on a target.
    pub fn dropped(&mut self) {
        if self.source.is_alive() && self.source.version() >= wl_data_source::EVT_DND_DROP_PERFORMED_SINCE {
            self.send();
            self.source.dnd_drop_performed();
        }
    }

    /// The target has received all data, and has done `action` with it.
    pub fn finished(&mut self, action: DndAction) {
        if self.source.is_alive() && self.source.version() >= wl_data_source::EVT_DND_FINISHED_SINCE {
            self.current.action = action;
            self.send();
            self.source.dnd_finished();
        }
    }

    /// The data was dropped, but the transfer has failed.
    pub fn failed(&self) {
        cancel(&self.source);
    }

    /// The drag is over without a drop.
    pub fn cancelled(&mut self) {
        if !cancel(&self.source) {
            self.set_target(TargetState::NONE);
        }
    }
}

/// Sends `source` that its drag has ended without effect. Returns `false` if there is no event for that: before version
/// 3 `cancelled` only means that another source has replaced this one.
pub(super) fn cancel(source: &WlDataSource) -> bool {
    let has_event = source.version() >= wl_data_source::EVT_DND_FINISHED_SINCE;
    if has_event && source.is_alive() {
        source.cancelled();
    }
    has_event
}
