//! The private socket of a session, from the client's side: its language ([`message`]), a [`Client`], and where the socket is
//! ([`find_socket`], [`socket_path`]).

mod client;
pub mod message;
mod report;

use std::path::{Path, PathBuf};

pub use client::{Client, ClientError, Follower, find_socket};

/// The environment variable that leads the session's programs to its private socket.
pub const PATH_VARIABLE: &str = "UPBEAT_SOCKET";

/// What is added to the Wayland socket's name for the private socket.
pub const SUFFIX: &str = ".upbeat.sock";

/// The path of the private socket that belongs to the Wayland socket called `name`.
pub fn socket_path(runtime: &Path, name: &str) -> PathBuf {
    runtime.join(format!("{name}{SUFFIX}"))
}
