//! Answers `upbeat msg pick-window` with the window that the user picks.

use crate::input::window_picking::{self, WindowPicker};
use crate::ipc::{Completion, RequestOutcome, Ticket};
use crate::shell::WindowId;
use crate::state::State;
use upbeat_record::ipc::message::Response;

#[derive(Debug)]
struct PickRequest(Completion);

impl WindowPicker for PickRequest {
    fn waits(&self) -> bool {
        self.0.is_awaited()
    }

    fn picked(self: Box<Self>, window: Option<WindowId>) {
        self.0.finish(Ok(Response::Picked { window }));
    }
}

/// Lets the user pick a window, and answers the request afterwards.
pub(super) fn begin(state: &mut State, ticket: &Ticket<'_>) -> RequestOutcome {
    if state.shell.lock().takes_input() {
        return RequestOutcome::refused("the session is locked");
    }
    window_picking::begin(state, Box::new(PickRequest(ticket.completion())));
    RequestOutcome::Pending
}
