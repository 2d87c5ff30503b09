//! Taking clients in.

pub use crate::guard::Client;
pub use crate::guard::connection::connect;
