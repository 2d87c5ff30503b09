//! `[gestures]`: which swipes are the session's own, and not a window's.

use serde::{Deserialize, Serialize};

/// The `[gestures]` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct GestureOptions {
    /// Swipes of three and more fingers on a touchpad.
    pub touchpad: bool,
    /// Swipes of a finger from an edge of a touch screen.
    pub edges: bool,
}

impl Default for GestureOptions {
    fn default() -> Self {
        GestureOptions { touchpad: true, edges: true }
    }
}
