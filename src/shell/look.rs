//! The look of a window as rules want it.

use serde::{Deserialize, Serialize};

/// The painter of the title bar and the edges of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecoratedBy {
    /// The session.
    Server,
    /// The program.
    Client,
}

/// How a window looks because a rule says so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// How much of it is seen: 0 to 1.
    pub opacity: f64,
    /// The radius of its corners, in logical pixels.
    pub corner_radius: Option<f64>,
}

impl Default for Look {
    fn default() -> Self {
        Look { opacity: 1.0, corner_radius: None }
    }
}
