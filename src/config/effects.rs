//! `[effects]`: shadows, corners, blur, title bars and focus marks of windows.

use serde::{Deserialize, Serialize};

use super::animations::number;
use super::{RgbColour, ValueError};
use crate::shell::effects::{BorderStyle, GpuEffects, ShadowStyle, WindowEffects as Drawn};

/// The `[effects]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct EffectOptions {
    /// Whether windows that draw no shadow of their own get one.
    pub shadow: ShadowOption,
    /// How far the shadow reaches, in logical pixels.
    pub shadow_reach: Reach,
    /// The largest opacity of the shadow: 0 to 1.
    pub shadow_opacity: Share,
    /// The corner radius of such windows, in logical pixels.
    pub corner_radius: RadiusOption,
    /// Blur behind translucent windows: how often the image is halved in size.
    pub blur: BlurPasses,
    /// Whether floating windows without a title bar of their own get one.
    pub title_bars: bool,
    /// The width of the mark around the focused window, in logical pixels; 0: no mark.
    pub mark_width: MarkWidth,
    /// Colour of the mark around the focused window.
    pub mark_colour: RgbColour,
    /// Colour of the mark around an urgent window.
    pub urgent_colour: RgbColour,
}

number!(
    /// How far a shadow reaches, in logical pixels.
    Reach,
    1.0..=200.0,
    "expected 1 to 200 pixels, such as 24"
);
number!(
    /// Width of a mark, in logical pixels; 0 for none.
    MarkWidth,
    0.0..=8.0,
    "expected 0 to 8 pixels, such as 2"
);
number!(
    /// A fraction: 0 to 1.
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

/// The renderer decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AutoWord {
    /// On if a GPU draws.
    Auto,
}

/// The option `shadow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected true, false, or \"auto\" for where a GPU draws")]
pub enum ShadowOption {
    /// On if a GPU draws.
    Auto(AutoWord),
    /// Always on, or always off.
    Fixed(bool),
}

/// The option `corner-radius`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a radius from 0 to 100 pixels, such as 8, or \"auto\" for round where a GPU draws"
)]
pub enum RadiusOption {
    /// A small radius if a GPU draws, otherwise square.
    Auto(AutoWord),
    /// Always this radius.
    Fixed(Radius),
}

/// The corner radius for `auto`, in logical pixels: about that of windows in GTK 3 and KDE, so that windows with and
/// without frames of their own look alike.
const USUAL_RADIUS: f64 = 8.0;

/// How often an image is halved in size: 0 to 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct BlurPasses(pub(super) u8);

impl TryFrom<u8> for BlurPasses {
    type Error = ValueError;

    fn try_from(passes: u8) -> Result<Self, ValueError> {
        if passes <= 6 { Ok(BlurPasses(passes)) } else { Err(ValueError("expected 0 to 6 passes")) }
    }
}

impl From<BlurPasses> for u8 {
    fn from(passes: BlurPasses) -> u8 {
        passes.0
    }
}

impl EffectOptions {
    /// Converts the options for the shell.
    pub fn to_shell(&self) -> Drawn {
        let shadow = ShadowStyle { reach: self.shadow_reach.0, opacity: self.shadow_opacity.0 };
        let width = self.mark_width.0;
        let mark = BorderStyle {
            // Urgent windows are marked even if the mark of the focused window is off.
            width: if width > 0.0 { width } else { EffectOptions::default().mark_width.0 },
            colour: (width > 0.0).then(|| self.mark_colour.components()),
            urgent: self.urgent_colour.components(),
        };
        let corner_radius = match self.corner_radius {
            RadiusOption::Auto(_) => None,
            RadiusOption::Fixed(radius) => Some(radius.0),
        };
        Drawn {
            shadow: (self.shadow == ShadowOption::Fixed(true)).then_some(shadow),
            corner_radius: corner_radius.unwrap_or(0.0),
            blur: self.blur.0,
            title_bars: self.title_bars,
            border: Some(mark),
            on_gpu: GpuEffects {
                shadow: matches!(self.shadow, ShadowOption::Auto(_)).then_some(shadow),
                corner_radius: corner_radius.is_none().then_some(USUAL_RADIUS),
            },
        }
    }
}
