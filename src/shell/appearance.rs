//! Appearance of windows that is set by rules.

use serde::{Deserialize, Serialize};

/// Painter of a window's decoration: server-side or client-side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoratedBy {
    /// The compositor draws the decoration.
    Server,
    Client,
}

/// Appearance that a rule sets for a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowAppearance {
    /// From 0 (invisible) to 1.
    pub opacity: f64,
    /// Corner radius in logical pixels.
    pub corner_radius: Option<f64>,
}

impl Default for WindowAppearance {
    fn default() -> Self {
        WindowAppearance { opacity: 1.0, corner_radius: None }
    }
}
