//! Layer surfaces (bars, wallpapers, notifications) as the private socket describes them.

use serde::{Deserialize, Serialize};

use super::LogicalRect;

/// A layer surface, which is anchored to an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayerInfo {
    /// The namespace that the client has set, such as `waybar`.
    pub namespace: String,
    /// Process id of the client, if known.
    pub pid: Option<u32>,
    /// Name of the output that it is on.
    pub output: String,
    /// The layer that it is in.
    pub level: LayerLevel,
    /// Position and size in global logical coordinates.
    pub geometry: LogicalRect,
}

/// A layer: `background` and `bottom` lie below windows, `top` and `overlay` above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "named as in wlr-layer-shell")]
pub enum LayerLevel {
    Background,
    Bottom,
    Top,
    Overlay,
}

impl std::fmt::Display for LayerLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            LayerLevel::Background => "background",
            LayerLevel::Bottom => "bottom",
            LayerLevel::Top => "top",
            LayerLevel::Overlay => "overlay",
        })
    }
}
