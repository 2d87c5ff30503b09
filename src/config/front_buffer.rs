//! `front-buffer` of an output: whether the buffer on screen may be written.

use serde::{Deserialize, Serialize};

/// Whether the buffer on an output's screen may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrontBufferOption {
    /// On virtual displays, which scan row by row as they say. Real displays are untested.
    #[default]
    Auto,
    /// On every display that can do it.
    On,
    Off,
}
