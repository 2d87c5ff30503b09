//! `[animations]`: how windows open, move and close; the options of the file, and their conversion for the shell.

use serde::{Deserialize, Serialize};

use super::ValueError;
use crate::shell::animation::{AnimationStyles as Motions, FadeStyle};
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::motion::spring::SpringShape;
use upbeat_timing::time::Span;

/// The `[animations]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AnimationSettings {
    /// Whether anything is animated.
    pub enabled: bool,
    /// How many frames are rendered ahead of their refreshes, at most.
    pub frames_ahead: FramesAhead,
    /// Whether frames rendered ahead are replaced when a press changes the animation.
    pub supersede: bool,
    /// Opening of a window.
    pub open: FadeOptions,
    /// Closing of a window.
    pub close: FadeOptions,
    /// Changes of a window's position or size.
    pub place: MotionOptions,
    /// The switch to another workspace.
    pub workspace: MotionOptions,
    /// Opening and closing of the overview.
    pub overview: MotionOptions,
    /// Opening and closing of the list of shortcuts.
    pub help: MotionOptions,
}

/// How a window opens or closes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FadeOptions {
    /// Whether it is animated.
    pub enabled: bool,
    /// A spring, or an easing curve.
    pub style: MotionStyleName,
    /// Undamped frequency of the spring, in hertz.
    pub frequency: Frequency,
    /// Damping ratio of the spring.
    pub damping: Damping,
    /// Duration of the easing.
    pub duration: Duration,
    /// Curve of the easing.
    pub curve: EasingCurve,
    /// The fraction of its size that a window has while it is fully transparent.
    pub scale: FadeScale,
}

/// How a window, a workspace or an overlay moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MotionOptions {
    /// Whether it is animated.
    pub enabled: bool,
    /// A spring, or an easing curve.
    pub style: MotionStyleName,
    /// Undamped frequency of the spring, in hertz.
    pub frequency: Frequency,
    /// Damping ratio of the spring.
    pub damping: Damping,
    /// Duration of the easing.
    pub duration: Duration,
    /// Curve of the easing.
    pub curve: EasingCurve,
}

/// The kind of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MotionStyleName {
    /// A damped spring.
    Spring,
    /// An easing curve with a fixed duration.
    Easing,
}

/// How many frames are rendered ahead: 0 to 5, since a display has no buffers for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct FramesAhead(pub(super) u8);

impl FramesAhead {
    const MOST: u8 = 5;

    pub const fn frames(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for FramesAhead {
    type Error = ValueError;

    fn try_from(frames: u8) -> Result<Self, ValueError> {
        if frames <= Self::MOST { Ok(FramesAhead(frames)) } else { Err(ValueError("expected 0 to 5 frames")) }
    }
}

impl From<FramesAhead> for u8 {
    fn from(frames: FramesAhead) -> u8 {
        frames.0
    }
}

/// Defines a number that is checked when it is read from TOML.
macro_rules! number {
    ($(#[$about:meta])* $name:ident, $range:expr, $error:literal) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(pub(super) f64);

        impl TryFrom<f64> for $name {
            type Error = ValueError;

            fn try_from(number: f64) -> Result<Self, ValueError> {
                if $range.contains(&number) { Ok($name(number)) } else { Err(ValueError($error)) }
            }
        }

        impl From<$name> for f64 {
            fn from(number: $name) -> f64 {
                number.0
            }
        }
    };
}

pub(super) use number;

number!(
    /// Undamped frequency of a spring, in hertz.
    Frequency,
    SpringShape::SLOWEST..=SpringShape::FASTEST,
    "expected a spring's frequency from 0.5 to 30 Hz, such as 4.0"
);
number!(
    /// Damping ratio of a spring.
    Damping,
    SpringShape::LEAST_DAMPED..=SpringShape::MOST_DAMPED,
    "expected a spring's damping ratio from 0.1 to 3, such as 1.0"
);
number!(
    /// Duration of an easing, in milliseconds.
    Duration,
    1.0..=10_000.0,
    "expected a duration from 1 to 10000 milliseconds, such as 200"
);
number!(
    /// A fraction of a window's size.
    FadeScale,
    0.1..=2.0,
    "expected a share of the size from 0.1 to 2, such as 0.9"
);

/// An easing curve, by its name in CSS or by its control points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CurveText", into = "CurveText")]
pub struct EasingCurve(pub(super) CubicBezier);

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a curve: a name such as \"ease-out\", or [x1, y1, x2, y2]")]
enum CurveText {
    Name(String),
    Points([f64; 4]),
}

/// The curves that have a name.
const NAMED: [(&str, CubicBezier); 5] = [
    ("linear", CubicBezier::LINEAR),
    ("ease", CubicBezier::EASE),
    ("ease-in", CubicBezier::EASE_IN),
    ("ease-out", CubicBezier::EASE_OUT),
    ("ease-in-out", CubicBezier::EASE_IN_OUT),
];

impl TryFrom<CurveText> for EasingCurve {
    type Error = ValueError;

    fn try_from(text: CurveText) -> Result<Self, ValueError> {
        match text {
            CurveText::Points([x1, y1, x2, y2]) => {
                CubicBezier::new(x1, y1, x2, y2).map(EasingCurve).map_err(|error| ValueError(error.0))
            }
            CurveText::Name(name) => {
                let known = NAMED.iter().find(|(known, _)| *known == name);
                known.map(|(_, curve)| EasingCurve(*curve)).ok_or(ValueError(
                    "expected \"linear\", \"ease\", \"ease-in\", \"ease-out\", \"ease-in-out\" or [x1, y1, x2, y2]",
                ))
            }
        }
    }
}

impl From<EasingCurve> for CurveText {
    fn from(EasingCurve(curve): EasingCurve) -> CurveText {
        match NAMED.iter().find(|(_, known)| *known == curve) {
            Some((name, _)) => CurveText::Name((*name).to_owned()),
            None => CurveText::Points(curve.points()),
        }
    }
}

/// Converts the options for the shell.
fn style(
    name: MotionStyleName,
    frequency: Frequency,
    damping: Damping,
    duration: Duration,
    curve: EasingCurve,
) -> MotionStyle {
    match name {
        MotionStyleName::Spring => MotionStyle::Spring(SpringShape::nearest(frequency.0, damping.0)),
        MotionStyleName::Easing => MotionStyle::Easing { duration: Span::from_millis_f64(duration.0), curve: curve.0 },
    }
}

impl FadeOptions {
    fn fade(&self) -> Option<FadeStyle> {
        let style = style(self.style, self.frequency, self.damping, self.duration, self.curve);
        self.enabled.then_some(FadeStyle { style, scale: self.scale.0 })
    }
}

impl MotionOptions {
    fn style(&self) -> Option<MotionStyle> {
        self.enabled.then(|| style(self.style, self.frequency, self.damping, self.duration, self.curve))
    }
}

impl AnimationSettings {
    /// The animations for the shell; none if `reduced`.
    pub fn to_shell(&self, reduced: bool) -> Motions {
        if reduced || !self.enabled {
            return Motions::default();
        }
        Motions {
            open: self.open.fade(),
            close: self.close.fade(),
            place: self.place.style(),
            workspace: self.workspace.style(),
            overview: self.overview.style(),
            help: self.help.style(),
        }
    }
}
