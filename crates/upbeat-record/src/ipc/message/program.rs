//! Clients as they are talked about: what each has, beside how much it may have.

use serde::{Deserialize, Serialize};

use upbeat_timing::time::Span;

/// Somebody who is connected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientUse {
    /// The process, if known.
    pub pid: Option<u32>,
    /// What the system calls its program.
    pub name: String,
    /// The sandbox that it runs in, as the sandbox says; none for others.
    #[serde(default)]
    pub sandbox: Option<String>,
    /// Objects of all kinds.
    pub objects: u32,
    /// What it has or had any of.
    pub uses: Vec<Use>,
}

/// Somebody who was ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EndedClient {
    /// The process; 0 if it was not known.
    pub pid: u32,
    /// What the system called its program.
    pub name: String,
    /// Why.
    pub reason: String,
    /// So often in a row.
    pub times: u32,
    /// How long ago, the last time.
    pub ago: Span,
}

/// What a client has of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Use {
    /// Of what, such as `surfaces`.
    pub kind: String,
    /// How many it has.
    pub used: u32,
    /// How many it had when it had most.
    pub most_used: u32,
    /// How many it may have.
    pub bound: u32,
}

impl Use {
    /// The most that it had, as a part of what it may have.
    pub fn part(&self) -> f64 {
        f64::from(self.most_used) / f64::from(self.bound.max(1))
    }
}
