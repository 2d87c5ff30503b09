//! `[limits]` and `[privileges]`: what programs may have, and what they may do to others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ValueError;
use crate::descriptors;
use crate::guard::{Kind, Privilege, Rules};

/// The largest number that is a bound at all.
const LARGEST: i64 = 1_000_000;

/// How many of something one program may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub struct Most(u32);

impl TryFrom<i64> for Most {
    type Error = ValueError;

    fn try_from(most: i64) -> Result<Self, ValueError> {
        let wrong = ValueError("expected a whole number from 1 to 1000000");
        u32::try_from(most).ok().filter(|_| (1..=LARGEST).contains(&most)).map(Most).ok_or(wrong)
    }
}

impl From<Most> for i64 {
    fn from(most: Most) -> i64 {
        i64::from(most.0)
    }
}

/// How many of what one program may have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<Kind, Most>")]
pub struct Limits(BTreeMap<Kind, Most>);

impl Default for Limits {
    fn default() -> Self {
        Limits(Kind::ALL.iter().map(|kind| (*kind, Most(kind.most()))).collect())
    }
}

impl From<BTreeMap<Kind, Most>> for Limits {
    /// What is left out stays as it is built in.
    fn from(said: BTreeMap<Kind, Most>) -> Self {
        let mut limits = Limits::default();
        limits.0.extend(said);
        limits
    }
}

/// What programs outside of sandboxes may do to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Privileges {
    /// Take pictures of the screen.
    pub capture: bool,
    /// Type and point in the user's place, and have keys that are typed into fields of text.
    pub virtual_input: bool,
    /// Pin bars, wallpapers and launchers to the screen, and take the keyboard there.
    pub layers: bool,
    /// Change the colours of displays.
    pub gamma: bool,
    /// See and switch workspaces.
    pub workspaces: bool,
    /// Switch and arrange outputs.
    pub outputs: bool,
    /// See, close and arrange the windows of others.
    pub toplevels: bool,
    /// Make sandboxes.
    pub sandboxes: bool,
    /// See and set what is copied, without having the focus.
    pub selections: bool,
    /// Lock the session.
    pub lock: bool,
}

impl Default for Privileges {
    fn default() -> Self {
        Privileges {
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

/// Puts both in force.
pub fn apply(limits: &Limits, privileges: &Privileges, rules: &Rules) {
    limits.0.iter().for_each(|(kind, most)| rules.set_most(*kind, most.0));
    // One alone must not have what all need.
    let half = descriptors::most() / 2;
    rules.set_most(Kind::Descriptors, rules.most(Kind::Descriptors).min(half).max(1));
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
