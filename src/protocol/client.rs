//! Inserts new connections as clients.

pub use crate::guard::Client;
pub use crate::guard::connection::connect;
