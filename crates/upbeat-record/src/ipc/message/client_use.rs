//! Clients as the private socket describes them: the resources of each, and its limits.

use serde::{Deserialize, Serialize};

use upbeat_timing::time::Span;

/// A connected client and its resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientUse {
    /// Process id of the client, if known.
    pub pid: Option<u32>,
    /// Name of its program, as the kernel reports it.
    pub name: String,
    /// Name of its sandbox, as the sandbox engine reports it; `None` for other clients.
    #[serde(default)]
    pub sandbox: Option<String>,
    /// Number of its protocol objects, of all kinds.
    pub objects: u32,
    /// Use of each kind of resource that the client has or had.
    pub uses: Vec<ResourceUse>,
}

/// A client that the compositor has disconnected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndedClient {
    /// Process id of the client; 0 if it is not known.
    pub pid: u32,
    /// Name of its program, as the kernel reported it.
    pub name: String,
    /// Why it was disconnected, as a sentence.
    pub reason: String,
    /// How often in a row this happened.
    pub times: u32,
    /// Time since the last time.
    pub ago: Span,
}

/// A client's use of one kind of resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResourceUse {
    /// Name of the kind, such as `surfaces`.
    pub kind: String,
    /// Number that the client has now.
    pub used: u32,
    /// Largest number that the client has had.
    pub most_used: u32,
    /// Largest number that the client may have.
    pub bound: u32,
}

impl ResourceUse {
    /// The largest number that the client has had, as a fraction of its limit.
    pub fn fraction(&self) -> f64 {
        f64::from(self.most_used) / f64::from(self.bound.max(1))
    }
}
