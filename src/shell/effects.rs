//! What is drawn around and below windows: shadows, rounded corners, blur. All of it is off without a configuration.

use smithay::backend::renderer::element::Id;

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
}

impl Default for EffectNames {
    fn default() -> Self {
        EffectNames { shadow: Id::new(), blur: Id::new() }
    }
}

/// Which effects a window takes part in.
#[derive(Clone, Debug)]
pub struct Decoration {
    /// Their names.
    pub names: EffectNames,
    /// It stands free and draws no decoration of its own: it may have a shadow and rounded corners.
    pub stands_free: bool,
}

// Their names follow from the window.
impl PartialEq for Decoration {
    fn eq(&self, other: &Self) -> bool {
        self.stands_free == other.stands_free
    }
}
