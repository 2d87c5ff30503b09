//! `[gestures]`: swipes that mean the session and no window.

use serde::{Deserialize, Serialize};

/// Which swipes mean the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Gestures {
    /// Those of three and more fingers on a touchpad.
    pub touchpad: bool,
    /// Those of a finger from an edge of a touch screen.
    pub edges: bool,
}

impl Default for Gestures {
    fn default() -> Self {
        Gestures { touchpad: true, edges: true }
    }
}
