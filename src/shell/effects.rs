//! Effects around and below windows: shadows, rounded corners, blur, focus borders. A `Shell` without a configuration,
//! as in tests and benches, has no effects. The configuration's own defaults have focus borders.

use smithay::backend::renderer::element::Id;

use crate::scene::Picture;

/// Effects around and below windows. Lengths are in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effects {
    /// Shadow of windows that draw none of their own.
    pub shadow: Option<Shadow>,
    /// Corner radius of these windows; 0 leaves the corners square.
    pub corner_radius: f64,
    /// Strength of the blur behind translucent windows: the number of times that the background is halved; 0 for no
    /// blur.
    pub blur: u8,
    /// Floating windows with server-side decorations have a title bar.
    pub title_bars: bool,
    /// Border of the focused window and of urgent windows.
    pub mark: Option<Mark>,
    /// Shadow and corners for GPU rendering, where the configuration does not set them.
    pub on_gpu: OnGpu,
}

/// Effects that are too expensive for the CPU: only drawn by a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnGpu {
    pub shadow: Option<Shadow>,
    pub corner_radius: Option<f64>,
}

impl Effects {
    /// The effects with the values for GPU rendering.
    #[must_use]
    pub fn drawn_by_gpu(self) -> Self {
        Effects {
            shadow: self.on_gpu.shadow.or(self.shadow),
            corner_radius: self.on_gpu.corner_radius.unwrap_or(self.corner_radius),
            ..self
        }
    }
}

/// Border of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Width in logical pixels.
    pub width: f64,
    /// Colour for the focused window (red, green, blue, opacity: 0 to 1), if that has a border.
    pub colour: Option<[f32; 4]>,
    /// Colour for urgent windows.
    pub urgent: [f32; 4],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadow {
    /// Extent beyond the window's edges, in logical pixels.
    pub reach: f64,
    /// Opacity of the darkest part: 0 to 1.
    pub opacity: f64,
}

/// Ids of a window's effects for damage tracking.
#[derive(Clone, Debug)]
pub struct EffectNames {
    /// Id of the shadow.
    pub shadow: Id,
    /// Id of the blurred background.
    pub blur: Id,
    /// Id of the border.
    pub mark: Id,
    /// Id of the title bar or tabs.
    pub titles: Id,
}

impl Default for EffectNames {
    fn default() -> Self {
        EffectNames { shadow: Id::new(), blur: Id::new(), mark: Id::new(), titles: Id::new() }
    }
}

/// The reason for a window's border.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edge {
    /// The window has no border.
    #[default]
    None,
    /// The window has the focus.
    Focus,
    /// The window is urgent: it asks for attention.
    Urgent,
}

impl Mark {
    /// Colour of the border; `None` if there is no border.
    pub const fn says(&self, edge: Edge) -> Option<[f32; 4]> {
        match edge {
            Edge::None => None,
            Edge::Focus => self.colour,
            Edge::Urgent => Some(self.urgent),
        }
    }
}

/// The effects that apply to a window.
#[derive(Clone, Debug)]
pub struct Decoration {
    pub names: EffectNames,
    /// The window floats without a decoration of its own, so it may have a shadow and rounded corners.
    pub stands_free: bool,
    pub edge: Edge,
    /// Corner radius from a rule.
    pub corner_radius: Option<f64>,
    /// Picture of the title bar or tabs.
    pub titles: Option<Picture>,
    /// `titles` is a title bar: shadow, corners and border surround the bar and the window.
    pub has_bar: bool,
}

// The ids are not compared, because they follow from the window.
impl PartialEq for Decoration {
    fn eq(&self, other: &Self) -> bool {
        self.stands_free == other.stands_free
            && self.edge == other.edge
            && self.corner_radius == other.corner_radius
            && self.titles == other.titles
            && self.has_bar == other.has_bar
    }
}
