//! The source of a drag, and the feedback that its client gets: the type and the action of its target, and the outcome.
//!
//! A target may change its mind with every request. Only changes are sent, and only while the client of the source has
//! room; it would be disconnected for requests of another client otherwise. A client without room is told the newest state
//! when it has read on ([`catch_up`](super::catch_up)).

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
    /// Nothing is accepted.
    pub const NONE: TargetState = TargetState { mime_type: None, action: DndAction::None };
}

/// The source, and the target state that it was told last.
#[derive(Debug)]
pub(super) struct SourceFeedback {
    source: WlDataSource,
    /// It named its actions before the drag.
    has_actions: bool,
    current: TargetState,
    sent: TargetState,
    /// A target has answered, if only that it accepts nothing.
    is_answered: bool,
    /// The source was told a type, or that none is accepted.
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

    /// Its actions. A source that knows of none, or that never named any, is copied, as with wlroots: nothing could be dropped
    /// otherwise.
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

    /// The state of the target is this from now on.
    pub fn set_target(&mut self, state: TargetState) {
        self.current = state;
        self.send_with_room();
    }

    /// Sends the target state if it has changed and the client has room for it.
    pub fn send_with_room(&mut self) {
        let owes_answer = self.is_answered && !self.was_told_target;
        if (owes_answer || self.current != self.sent) && self.source.is_alive() && guard::has_room(&self.source) {
            self.send();
        }
    }

    /// Sends what has changed of the target state.
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

    /// It was dropped on a target.
    pub fn dropped(&mut self) {
        if self.source.is_alive() && self.source.version() >= wl_data_source::EVT_DND_DROP_PERFORMED_SINCE {
            self.send();
            self.source.dnd_drop_performed();
        }
    }

    /// The target has all data that it wanted, and has done `action` with it.
    pub fn finished(&mut self, action: DndAction) {
        if self.source.is_alive() && self.source.version() >= wl_data_source::EVT_DND_FINISHED_SINCE {
            self.current.action = action;
            self.send();
            self.source.dnd_finished();
        }
    }

    /// It was dropped, and the target has not finished with it.
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

/// Tells `source` that its drag is over without effect. Returns `false` where there is no event for that: before version 3
/// `cancelled` says only that another source has replaced this one.
pub(super) fn cancel(source: &WlDataSource) -> bool {
    let hears = source.version() >= wl_data_source::EVT_DND_FINISHED_SINCE;
    if hears && source.is_alive() {
        source.cancelled();
    }
    hears
}
