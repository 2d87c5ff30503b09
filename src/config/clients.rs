//! `[limits]` and `[privileges]`: resource limits of clients, and which protocols they may use.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ValueError;
use crate::descriptors;
use crate::guard::{Kind, Privilege, Rules};

/// A larger number would not be a limit.
const LARGEST: i64 = 1_000_000;

/// The limit of one kind of object for one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct ObjectLimit(u32);

impl TryFrom<i64> for ObjectLimit {
    type Error = ValueError;

    fn try_from(most: i64) -> Result<Self, ValueError> {
        let wrong = ValueError("expected a whole number from 1 to 1000000");
        u32::try_from(most).ok().filter(|_| (1..=LARGEST).contains(&most)).map(ObjectLimit).ok_or(wrong)
    }
}

impl From<ObjectLimit> for i64 {
    fn from(most: ObjectLimit) -> i64 {
        i64::from(most.0)
    }
}

/// The limits of one client, by kind of object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<Kind, ObjectLimit>")]
pub struct ClientLimits(BTreeMap<Kind, ObjectLimit>);

impl Default for ClientLimits {
    fn default() -> Self {
        ClientLimits(Kind::ALL.iter().map(|kind| (*kind, ObjectLimit(kind.most()))).collect())
    }
}

impl From<BTreeMap<Kind, ObjectLimit>> for ClientLimits {
    /// Kinds that are left out keep the built-in limit.
    fn from(configured: BTreeMap<Kind, ObjectLimit>) -> Self {
        let mut limits = ClientLimits::default();
        limits.0.extend(configured);
        limits
    }
}

/// Privileges of clients outside sandboxes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PrivilegeOptions {
    /// Capture the screen.
    pub capture: bool,
    /// Send virtual key and pointer events, and be the input method.
    pub virtual_input: bool,
    /// Use layer surfaces (bars, wallpapers, launchers), and take the keyboard there.
    pub layers: bool,
    /// Set the gamma ramps of outputs.
    pub gamma: bool,
    /// List and switch workspaces.
    pub workspaces: bool,
    /// Switch and arrange outputs.
    pub outputs: bool,
    /// List, close and arrange windows of other clients.
    pub toplevels: bool,
    /// Create security contexts (sandboxes).
    pub sandboxes: bool,
    /// Read and set the clipboard without having the focus.
    pub selections: bool,
    /// Lock the session.
    pub lock: bool,
}

impl Default for PrivilegeOptions {
    fn default() -> Self {
        PrivilegeOptions {
            capture: true,
            virtual_input: true,
            layers: true,
            gamma: true,
            workspaces: true,
            outputs: true,
            toplevels: true,
            sandboxes: true,
            selections: true,
            lock: true,
        }
    }
}

/// Puts both tables in force.
pub fn apply(limits: &ClientLimits, privileges: &PrivilegeOptions, rules: &Rules) {
    limits.0.iter().for_each(|(kind, most)| rules.set_limit(*kind, most.0));
    // A single client must not use up the descriptors that all clients need.
    let half = descriptors::descriptor_limit() / 2;
    rules.set_limit(Kind::Descriptors, rules.limit(Kind::Descriptors).min(half).max(1));
    for (privilege, granted) in [
        (Privilege::Capture, privileges.capture),
        (Privilege::VirtualInput, privileges.virtual_input),
        (Privilege::Layers, privileges.layers),
        (Privilege::Gamma, privileges.gamma),
        (Privilege::Workspaces, privileges.workspaces),
        (Privilege::Outputs, privileges.outputs),
        (Privilege::Toplevels, privileges.toplevels),
        (Privilege::Sandboxes, privileges.sandboxes),
        (Privilege::Selections, privileges.selections),
        (Privilege::Lock, privileges.lock),
    ] {
        rules.grant(privilege, granted);
    }
}
