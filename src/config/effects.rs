//! `[effects]`: what is drawn around and below windows.

use serde::{Deserialize, Serialize};

use super::animations::number;
use super::{Colour, ValueError};
use crate::shell::effects::{Effects as Drawn, Mark, OnGpu, Shadow};

/// What is drawn around and below windows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Effects {
    /// Whether windows that draw no shadow of their own are given one.
    pub shadow: ShadowWish,
    /// How far it reaches, in logical pixels.
    pub shadow_reach: Reach,
    /// How dark it is at its darkest: 0 to 1.
    pub shadow_opacity: Share,
    /// The radius of the corners of such windows, in logical pixels.
    pub corner_radius: RadiusWish,
    /// How often what lies behind translucent windows is halved in size to blur it.
    pub blur: Passes,
    /// Whether windows that float and draw no title bar of their own have one.
    pub title_bars: bool,
    /// How wide the edge is around the window with the focus, in logical pixels. 0: that window has none.
    pub mark_width: MarkWidth,
    /// Its colour.
    pub mark_colour: Colour,
    /// That of the one around a window that wants to be looked at.
    pub urgent_colour: Colour,
}

number!(
    /// How far a shadow reaches, in logical pixels.
    Reach,
    1.0..=200.0,
    "expected 1 to 200 pixels, such as 24"
);
number!(
    /// How wide an edge is, in logical pixels; 0 for none.
    MarkWidth,
    0.0..=8.0,
    "expected 0 to 8 pixels, such as 2"
);
number!(
    /// A share: 0 to 1.
    Share,
    0.0..=1.0,
    "expected a share from 0 to 1, such as 0.5"
);
number!(
    /// A radius in logical pixels; 0 for none.
    Radius,
    0.0..=100.0,
    "expected a radius from 0 to 100 pixels, such as 8"
);

/// Says that the renderer decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Automatic {
    /// Where a GPU draws.
    Auto,
}

/// Whether there are shadows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected true, false, or \"auto\" for where a GPU draws")]
pub enum ShadowWish {
    /// Where a GPU draws.
    Auto(Automatic),
    /// Everywhere, or nowhere.
    Fixed(bool),
}

/// How round corners are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a radius from 0 to 100 pixels, such as 8, or \"auto\" for round where a GPU draws"
)]
pub enum RadiusWish {
    /// A little where a GPU draws, square elsewhere.
    Auto(Automatic),
    /// That radius everywhere.
    Fixed(Radius),
}

/// The radius of corners that nothing was said of, in logical pixels: about that of the windows of GTK 3 and KDE, so that those
/// with frames of their own and those without look alike.
const USUAL_RADIUS: f64 = 8.0;

/// How often something is halved in size: 0 to 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Passes(pub(super) u8);

impl TryFrom<u8> for Passes {
    type Error = ValueError;

    fn try_from(passes: u8) -> Result<Self, ValueError> {
        if passes <= 6 { Ok(Passes(passes)) } else { Err(ValueError("expected 0 to 6 passes")) }
    }
}

impl From<Passes> for u8 {
    fn from(passes: Passes) -> u8 {
        passes.0
    }
}

impl Effects {
    /// As the shell takes it.
    pub fn drawn(&self) -> Drawn {
        let shadow = Shadow { reach: self.shadow_reach.0, opacity: self.shadow_opacity.0 };
        let width = self.mark_width.0;
        let mark = Mark {
            // A window that wants to be looked at has its edge all the same.
            width: if width > 0.0 { width } else { Effects::default().mark_width.0 },
            colour: (width > 0.0).then(|| self.mark_colour.components()),
            urgent: self.urgent_colour.components(),
        };
        let corner_radius = match self.corner_radius {
            RadiusWish::Auto(_) => None,
            RadiusWish::Fixed(radius) => Some(radius.0),
        };
        Drawn {
            shadow: (self.shadow == ShadowWish::Fixed(true)).then_some(shadow),
            corner_radius: corner_radius.unwrap_or(0.0),
            blur: self.blur.0,
            title_bars: self.title_bars,
            mark: Some(mark),
            on_gpu: OnGpu {
                shadow: matches!(self.shadow, ShadowWish::Auto(_)).then_some(shadow),
                corner_radius: corner_radius.is_none().then_some(USUAL_RADIUS),
            },
        }
    }
}
