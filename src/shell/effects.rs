//! What is drawn around and below windows: shadows, rounded corners, blur, edges. A `Shell` without a configuration has none of it, as tests
//! and benches have it; the configuration's own defaults have edges.

use smithay::backend::renderer::element::Id;

use crate::scene::Picture;

/// What is drawn around and below windows. Lengths are in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effects {
    /// The shadow of windows that draw none of their own.
    pub shadow: Option<Shadow>,
    /// The radius of the corners of such windows; 0 leaves them square.
    pub corner_radius: f64,
    /// How far what lies behind translucent windows is blurred, as the number of times that it is halved; 0 for not at
    /// all.
    pub blur: u8,
    /// Windows that float and leave their decoration to us have a title bar.
    pub title_bars: bool,
    /// Around the window with the focus, and around those that want to be looked at.
    pub mark: Option<Mark>,
    /// Shadow and corners where a GPU draws, of which nothing else was said.
    pub on_gpu: OnGpu,
}

/// Effects that are too dear for the CPU: a GPU draws them, and without a GPU nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnGpu {
    /// The shadow.
    pub shadow: Option<Shadow>,
    /// The radius of corners.
    pub corner_radius: Option<f64>,
}

impl Effects {
    /// As a GPU draws them.
    #[must_use]
    pub fn drawn_by_gpu(self) -> Self {
        Effects {
            shadow: self.on_gpu.shadow.or(self.shadow),
            corner_radius: self.on_gpu.corner_radius.unwrap_or(self.corner_radius),
            ..self
        }
    }
}

/// An edge around a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// How wide it is.
    pub width: f64,
    /// Red, green, blue and opacity, 0 to 1, of the window with the focus, if that has an edge.
    pub colour: Option<[f32; 4]>,
    /// The same of one that wants to be looked at.
    pub urgent: [f32; 4],
}

/// A shadow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shadow {
    /// How far it reaches around the window.
    pub reach: f64,
    /// How dark it is at its darkest: 0 to 1.
    pub opacity: f64,
}

/// Names of a window's effects for damage tracking.
#[derive(Clone, Debug)]
pub struct EffectNames {
    /// That of its shadow.
    pub shadow: Id,
    /// That of what is blurred behind it.
    pub blur: Id,
    /// That of the edge around it.
    pub mark: Id,
    /// That of the titles above it.
    pub titles: Id,
}

impl Default for EffectNames {
    fn default() -> Self {
        EffectNames { shadow: Id::new(), blur: Id::new(), mark: Id::new(), titles: Id::new() }
    }
}

/// What an edge around a window says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edge {
    /// Nothing: there is none.
    #[default]
    None,
    /// It has the focus.
    Focus,
    /// It wants to be looked at.
    Urgent,
}

impl Mark {
    /// In which colour it says that.
    pub const fn says(&self, edge: Edge) -> Option<[f32; 4]> {
        match edge {
            Edge::None => None,
            Edge::Focus => self.colour,
            Edge::Urgent => Some(self.urgent),
        }
    }
}

/// Which effects a window takes part in.
#[derive(Clone, Debug)]
pub struct Decoration {
    /// Their names.
    pub names: EffectNames,
    /// It stands free and draws no decoration of its own: it may have a shadow and rounded corners.
    pub stands_free: bool,
    /// What the edge around it says.
    pub edge: Edge,
    /// The radius of its corners, where a rule says another one.
    pub corner_radius: Option<f64>,
    /// The titles above it.
    pub titles: Option<Picture>,
    /// They are its title bar: shadow, corners and edge go around both.
    pub has_bar: bool,
}

// Their names follow from the window.
impl PartialEq for Decoration {
    fn eq(&self, other: &Self) -> bool {
        self.stands_free == other.stands_free
            && self.edge == other.edge
            && self.corner_radius == other.corner_radius
            && self.titles == other.titles
            && self.has_bar == other.has_bar
    }
}
