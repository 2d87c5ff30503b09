//! `upbeat msg`: asking a running session, and telling it something.
//!
//! # How to use it
//! The session makes a [`Server`] on [`ipc_path`](upbeat_record::ipc::socket_path) beside its Wayland socket, passes
//! the path to its children as [`PATH_VARIABLE`](upbeat_record::ipc::PATH_VARIABLE), puts the server's descriptor into its event loop, and calls
//! [`Server::dispatch`] when it is readable. Whatever holds the answers implements [`Respond`].
//!
//! The socket belongs to the user alone (mode 0600). The server never blocks: it reads and answers a bounded amount a
//! turn, stops reading from a client that does not read its answers, and disconnects one that sends a line without end. Whoever
//! asks for events is told of every change in order, before anybody has an answer that it shows in; one who leaves 1 MiB of
//! them unread is let go.
//!
//! [`message`](upbeat_record::ipc::message) is the language; [`Client`](upbeat_record::ipc::Client) speaks it.

mod connection;
pub mod input;
pub mod screenshot;
mod server;

pub use server::{Completion, Respond, Server, ServerError, Ticket};

use upbeat_record::ipc::message::Response;
use upbeat_record::ipc::message::event::Event;

/// The longest request in bytes, with its newline. Answers may be longer.
pub const LONGEST_REQUEST: usize = 64 * 1024;

/// How a request was met.
#[derive(Debug)]
pub enum Met {
    /// With an answer, or a sentence that says why not.
    Now(Result<Response, String>),
    /// It is being worked on elsewhere; the [`Completion`] that came with the request brings the answer.
    Later,
    /// The asker is told of what happens from now on, first of this.
    Follows(Event),
}

impl Met {
    /// Cannot be done, and why.
    pub fn refused(sentence: impl Into<String>) -> Self {
        Met::Now(Err(sentence.into()))
    }
}

#[cfg(test)]
mod tests;
