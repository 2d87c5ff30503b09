//! Server of the private socket, through which `upbeat msg` queries and controls a running session.
//!
//! # How to use it
//! The session makes an [`IpcServer`] on [`ipc_path`](upbeat_record::ipc::socket_path) beside its Wayland socket,
//! passes the path to its children as [`PATH_VARIABLE`](upbeat_record::ipc::PATH_VARIABLE), puts the server's
//! descriptor into its event loop, and calls [`IpcServer::dispatch`] when it is readable. The session implements
//! [`Respond`], which handles the requests.
//!
//! The socket belongs to the user alone (mode 0600). The server never blocks: in one turn it reads and answers a
//! bounded amount. It stops reading from a client that does not read its answers, and disconnects a client that sends a
//! line without end. A client that follows events gets each change in order, and before any client gets an answer that
//! shows the change. It is disconnected when 1 MiB of events are unread.
//!
//! [`message`](upbeat_record::ipc::message) defines the messages; [`IpcClient`](upbeat_record::ipc::IpcClient) is a
//! client.

mod connection;
pub mod injected_input;
pub mod screenshot;
mod server;

pub use server::{Completion, IpcServer, IpcServerError, Respond, Ticket};

use upbeat_record::ipc::message::Response;
use upbeat_record::ipc::message::event::Event;

/// The longest request in bytes, with its newline. Answers may be longer.
pub const LONGEST_REQUEST: usize = 64 * 1024;

/// Result of handling a request.
#[derive(Debug)]
pub enum RequestOutcome {
    /// An answer, or an error text.
    Answer(Result<Response, String>),
    /// The answer is prepared elsewhere and sent through the request's [`Completion`].
    Pending,
    /// The client follows events from now on; this is the first.
    Follow(Event),
}

impl RequestOutcome {
    /// An error with this text.
    pub fn refused(sentence: impl Into<String>) -> Self {
        RequestOutcome::Answer(Err(sentence.into()))
    }
}

#[cfg(test)]
mod tests;
