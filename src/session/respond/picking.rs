//! Answers `upbeat msg pick-window` with the window that the user picks.

use crate::input::picking::{self, Picks};
use crate::ipc::{Completion, Met, Ticket};
use crate::shell::WindowId;
use crate::state::State;
use upbeat_record::ipc::message::Response;

#[derive(Debug)]
struct Asker(Completion);

impl Picks for Asker {
    fn waits(&self) -> bool {
        self.0.is_awaited()
    }

    fn picked(self: Box<Self>, window: Option<WindowId>) {
        self.0.finish(Ok(Response::Picked { window }));
    }
}

/// Lets the user pick a window, and answers the request afterwards.
pub(super) fn begin(state: &mut State, ticket: &Ticket<'_>) -> Met {
    if state.shell.lock().takes_input() {
        return Met::refused("the session is locked");
    }
    picking::begin(state, Box::new(Asker(ticket.completion())));
    Met::Later
}
