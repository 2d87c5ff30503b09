//! Effects around and below windows: shadows, rounded corners, blur, focus borders. A `Shell` without a configuration,
//! as in tests and benches, has no effects. The configuration's own defaults have focus borders.

use smithay::backend::renderer::element::Id;

use crate::scene::EffectPicture;

/// Effects around and below windows. Lengths are in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowEffects {
    /// Shadow of windows that draw none of their own.
    pub shadow: Option<ShadowStyle>,
    /// Corner radius of these windows; 0 leaves the corners square.
    pub corner_radius: f64,
    /// Strength of the blur behind translucent windows: the number of times that the background is halved; 0 for no
    /// blur.
    pub blur: u8,
    /// Floating windows with server-side decorations have a title bar.
    pub title_bars: bool,
    /// Border of the focused window and of urgent windows.
    pub border: Option<BorderStyle>,
    /// Shadow and corners for GPU rendering, where the configuration does not set them.
    pub on_gpu: GpuEffects,
}

/// Effects that are too expensive for the CPU: only drawn by a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GpuEffects {
    pub shadow: Option<ShadowStyle>,
    pub corner_radius: Option<f64>,
}

impl WindowEffects {
    /// The effects with the values for GPU rendering.
    #[must_use]
    pub fn drawn_by_gpu(self) -> Self {
        WindowEffects {
            shadow: self.on_gpu.shadow.or(self.shadow),
            corner_radius: self.on_gpu.corner_radius.unwrap_or(self.corner_radius),
            ..self
        }
    }
}

/// Border of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BorderStyle {
    /// Width in logical pixels.
    pub width: f64,
    /// Colour for the focused window (red, green, blue, opacity: 0 to 1), if that has a border.
    pub colour: Option<[f32; 4]>,
    /// Colour for urgent windows.
    pub urgent: [f32; 4],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowStyle {
    /// Extent beyond the window's edges, in logical pixels.
    pub reach: f64,
    /// Opacity of the darkest part: 0 to 1.
    pub opacity: f64,
}

/// Ids of a window's effects for damage tracking.
#[derive(Clone, Debug)]
pub struct EffectIds {
    /// Id of the shadow.
    pub shadow: Id,
    /// Id of the blurred background.
    pub blur: Id,
    /// Id of the border.
    pub border: Id,
    /// Id of the title bar or tabs.
    pub titles: Id,
}

impl Default for EffectIds {
    fn default() -> Self {
        EffectIds { shadow: Id::new(), blur: Id::new(), border: Id::new(), titles: Id::new() }
    }
}

/// The reason for a window's border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BorderState {
    /// The window has no border.
    #[default]
    None,
    /// The window has the focus.
    Focus,
    /// The window is urgent: it asks for attention.
    Urgent,
}

impl BorderStyle {
    /// Colour of the border; `None` if there is no border.
    pub const fn colour_for(&self, edge: BorderState) -> Option<[f32; 4]> {
        match edge {
            BorderState::None => None,
            BorderState::Focus => self.colour,
            BorderState::Urgent => Some(self.urgent),
        }
    }
}

/// The effects that apply to a window.
#[derive(Clone, Debug)]
pub struct WindowDecoration {
    pub ids: EffectIds,
    /// The window floats without a decoration of its own, so it may have a shadow and rounded corners.
    pub is_free: bool,
    pub border: BorderState,
    /// Corner radius from a rule.
    pub corner_radius: Option<f64>,
    /// Picture of the title bar or tabs.
    pub titles: Option<EffectPicture>,
    /// `titles` is a title bar: shadow, corners and border surround the bar and the window.
    pub has_bar: bool,
}

// The ids are not compared, because they follow from the window.
impl PartialEq for WindowDecoration {
    fn eq(&self, other: &Self) -> bool {
        self.is_free == other.is_free
            && self.border == other.border
            && self.corner_radius == other.corner_radius
            && self.titles == other.titles
            && self.has_bar == other.has_bar
    }
}
