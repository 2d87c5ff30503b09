//! Bars, wallpapers and whatever else is pinned to outputs, as they are talked about.

use serde::{Deserialize, Serialize};

use super::Rect;

/// A surface that is pinned to an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Layer {
    /// What its program calls its purpose, such as `waybar`.
    pub namespace: String,
    /// The process, if known.
    pub pid: Option<u32>,
    /// The output that it is on.
    pub output: String,
    /// How far up it is.
    pub level: LayerLevel,
    /// Its place in the logical space.
    pub geometry: Rect,
}

/// How far up something pinned is: `background` and `bottom` lie below windows, `top` and `overlay` above.
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
