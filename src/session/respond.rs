//! What `upbeat msg` is answered with.

use crate::ipc::message::Request;
use crate::ipc::{Met, Respond, Ticket};
use crate::state::State;

impl Respond for State {
    fn respond(&mut self, request: Request, _ticket: &Ticket<'_>) -> Met {
        match request {
            Request::Quit => {
                self.session.end(super::ExitStatus::default());
                Met::Now(Ok(crate::ipc::message::Response::Done))
            }
            _ => Met::Now(Err("not answered yet".to_owned())),
        }
    }
}
