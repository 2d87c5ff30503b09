//! The private socket of a session, from the client's side: its protocol ([`message`]), an [`IpcClient`], and the path of
//! the socket ([`find_socket`], [`socket_path`]).

mod client;
mod from_statistics;
pub mod message;

use std::path::{Path, PathBuf};

pub use client::{EventSubscription, IpcClient, IpcClientError, find_socket};

/// The environment variable with the path of the private socket, which the session sets for its programs.
pub const PATH_VARIABLE: &str = "UPBEAT_SOCKET";

/// The name of the private socket is the name of the Wayland socket with this suffix.
pub const SUFFIX: &str = ".upbeat.sock";

/// The path of the private socket that belongs to the Wayland socket called `name`.
pub fn socket_path(runtime: &Path, name: &str) -> PathBuf {
    runtime.join(format!("{name}{SUFFIX}"))
}
