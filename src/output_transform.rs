//! Output and buffer transforms: the eight values of `wl_output.transform`. Pure.
//!
//! ```text
//!   upright           mirror (left for right), if it is         turn, anticlockwise          on the panel
//!   A─────B           B─────A                                   A───┐   (90, not mirrored:   B───┐
//!   │     │    ──►    │     │                             ──►   │   │    B comes to where    │   │
//!   └─────┘           └─────┘                                   B───┘    A was)              A───┘
//! ```
//!
//! Of Smithay 0.7's `Transform` only sizes and texture transforms are used. For the mirrored quarter turns it turns
//! rectangles the other way round than points, and it turns a client's rectangles clockwise.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smithay::utils::{Coordinate, Point, Rectangle, Size, Transform};

/// Quarter turns in a full turn.
const QUARTERS: u8 = 4;

/// A transform: mirrored left for right or not, then turned anticlockwise by quarters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OutputTransform {
    is_mirrored: bool,
    quarters: u8,
}

/// Parse error: the word names no transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected normal, 90, 180, 270, flipped, flipped-90, flipped-180 or flipped-270")]
pub struct UnknownTransform;

impl OutputTransform {
    pub const NORMAL: OutputTransform = OutputTransform { is_mirrored: false, quarters: 0 };
    pub const ALL: [OutputTransform; 8] = [
        OutputTransform::NORMAL,
        OutputTransform { is_mirrored: false, quarters: 1 },
        OutputTransform { is_mirrored: false, quarters: 2 },
        OutputTransform { is_mirrored: false, quarters: 3 },
        OutputTransform { is_mirrored: true, quarters: 0 },
        OutputTransform { is_mirrored: true, quarters: 1 },
        OutputTransform { is_mirrored: true, quarters: 2 },
        OutputTransform { is_mirrored: true, quarters: 3 },
    ];

    /// The transform that undoes this one.
    pub const fn inverse(self) -> Self {
        // A mirrored transform is its own inverse.
        let quarters = if self.is_mirrored { self.quarters } else { (QUARTERS - self.quarters) % QUARTERS };
        OutputTransform { quarters, ..self }
    }

    /// This transform followed by `next`.
    pub const fn then(self, next: OutputTransform) -> Self {
        let own = if next.is_mirrored { QUARTERS - self.quarters } else { self.quarters };
        OutputTransform {
            is_mirrored: self.is_mirrored != next.is_mirrored,
            quarters: (next.quarters + own) % QUARTERS,
        }
    }

    /// Whether width and height are swapped.
    pub const fn swaps_sides(self) -> bool {
        self.quarters % 2 == 1
    }

    /// Whether left and right are swapped before the turn.
    pub const fn is_mirrored(self) -> bool {
        self.is_mirrored
    }

    /// Quarter turns, anticlockwise: 0 to 3.
    pub const fn quarters(self) -> u8 {
        self.quarters
    }

    /// The size after the transform.
    pub fn size<N: Coordinate, Kind>(self, size: Size<N, Kind>) -> Size<N, Kind> {
        if self.swaps_sides() { Size::from((size.h, size.w)) } else { size }
    }

    /// `point` after the transform, in an area of size `area` before the transform.
    pub fn point<N: Coordinate, Kind>(self, point: Point<N, Kind>, area: Size<N, Kind>) -> Point<N, Kind> {
        let Size { w, h, .. } = area;
        let (x, y) = (if self.is_mirrored { w - point.x } else { point.x }, point.y);
        Point::from(match self.quarters {
            0 => (x, y),
            1 => (y, w - x),
            2 => (w - x, h - y),
            _ => (h - y, x),
        })
    }

    /// `rect` after the transform, in an area of size `area` before the transform.
    pub fn rect<N: Coordinate, Kind>(self, rect: Rectangle<N, Kind>, area: Size<N, Kind>) -> Rectangle<N, Kind> {
        let end = Point::from((rect.loc.x + rect.size.w, rect.loc.y + rect.size.h));
        let (a, b) = (self.point(rect.loc, area), self.point(end, area));
        Rectangle::new(Point::from((a.x.min(b.x), a.y.min(b.y))), self.size(rect.size))
    }

    /// Transforms a picture of `width` × `height` pixels, row by row.
    pub fn pixels(self, pixels: &[u32], (width, height): (i32, i32)) -> Vec<u32> {
        let (area, back) = (Size::<i32, PixelKind>::from((width, height)), self.inverse());
        let turned = self.size(area);
        let at = |place: i32| {
            let pixel = Rectangle::new(Point::from((place % turned.w, place / turned.w)), Size::from((1, 1)));
            let from = back.rect(pixel, turned).loc;
            usize::try_from(from.y * width + from.x).ok().and_then(|from| pixels.get(from)).copied().unwrap_or_default()
        };
        (0..turned.w * turned.h).map(at).collect()
    }
}

/// Coordinate kind for `Size`: pixels of a picture.
#[derive(Debug)]
struct PixelKind;

impl From<Transform> for OutputTransform {
    fn from(transform: Transform) -> Self {
        OutputTransform { is_mirrored: transform.flipped(), quarters: (transform.degrees() / 90) as u8 % QUARTERS }
    }
}

impl From<OutputTransform> for Transform {
    fn from(turn: OutputTransform) -> Self {
        match (turn.is_mirrored, turn.quarters) {
            (false, 0) => Transform::Normal,
            (false, 1) => Transform::_90,
            (false, 2) => Transform::_180,
            (false, _) => Transform::_270,
            (true, 0) => Transform::Flipped,
            (true, 1) => Transform::Flipped90,
            (true, 2) => Transform::Flipped180,
            (true, _) => Transform::Flipped270,
        }
    }
}

impl fmt::Display for OutputTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let degrees = u32::from(self.quarters) * 90;
        match (self.is_mirrored, degrees) {
            (false, 0) => f.write_str("normal"),
            (false, _) => write!(f, "{degrees}"),
            (true, 0) => f.write_str("flipped"),
            (true, _) => write!(f, "flipped-{degrees}"),
        }
    }
}

impl FromStr for OutputTransform {
    type Err = UnknownTransform;

    fn from_str(text: &str) -> Result<Self, UnknownTransform> {
        OutputTransform::ALL.into_iter().find(|turn| turn.to_string() == text).ok_or(UnknownTransform)
    }
}

impl TryFrom<String> for OutputTransform {
    type Error = UnknownTransform;

    fn try_from(text: String) -> Result<Self, UnknownTransform> {
        text.parse()
    }
}

impl From<OutputTransform> for String {
    fn from(turn: OutputTransform) -> String {
        turn.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use smithay::utils::Logical;

    fn turn() -> impl Strategy<Value = OutputTransform> {
        prop::sample::select(OutputTransform::ALL.to_vec())
    }

    #[test]
    fn each_transform_matches_the_protocol() {
        // A picture of 3 x 2 pixels:  a b c
        //                             d e f
        let turned = |name: &str| {
            let pixels = name
                .parse::<OutputTransform>()
                .unwrap()
                .pixels(&"abcdef".chars().map(u32::from).collect::<Vec<_>>(), (3, 2));
            pixels.into_iter().filter_map(char::from_u32).collect::<String>()
        };
        let all = OutputTransform::ALL.map(|turn| turned(&turn.to_string()));
        // "90 degrees counter-clockwise"; "an initial flip around a vertical axis followed by rotation".
        assert_eq!(all, ["abcdef", "cfbead", "fedcba", "daebfc", "cbafed", "adbecf", "defabc", "fcebda"]);
    }

    #[test]
    fn each_transform_has_one_name() {
        for turn in OutputTransform::ALL {
            assert_eq!(turn.to_string().parse(), Ok(turn));
            assert_eq!(OutputTransform::from(Transform::from(turn)), turn);
        }
        for wrong in ["", "0", "360", "91", "Normal", "flipped-0", "flipped-45", "flipped90"] {
            assert_eq!(wrong.parse::<OutputTransform>(), Err(UnknownTransform), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn inverse_undoes_the_transform(
            turn in turn(), (w, h) in (1..5000_i32, 1..5000_i32), x in 0.0..1.0_f64, y in 0.0..1.0_f64
        ) {
            let area = Size::<f64, Logical>::from((f64::from(w), f64::from(h)));
            let point = Point::from((x * area.w, y * area.h));
            let there = turn.point(point, area);
            let turned = turn.size(area);
            prop_assert!(Rectangle::from_size(turned).to_f64().contains(there) || there.x == turned.w || there.y == turned.h);
            let back = turn.inverse().point(there, turned);
            prop_assert!((back.x - point.x).abs() < 1e-6 && (back.y - point.y).abs() < 1e-6);
        }

        #[test]
        fn rectangles_stay_inside_and_inverse_restores_them(
            turn in turn(), (w, h) in (1..5000_i32, 1..5000_i32), x in 0..5000_i32, y in 0..5000_i32, side in (1..500_i32, 1..500_i32)
        ) {
            let area = Size::<i32, Logical>::from((w, h));
            let rect = Rectangle::new((x % w, y % h).into(), side.into());
            let Some(rect) = rect.intersection(Rectangle::from_size(area)) else { return Ok(()) };
            let there = turn.rect(rect, area);
            prop_assert!(Rectangle::from_size(turn.size(area)).contains_rect(there));
            prop_assert_eq!(turn.inverse().rect(there, turn.size(area)), rect);
        }

        #[test]
        fn then_equals_one_transform_after_the_other(first in turn(), second in turn(), (w, h) in (2..50_i32, 2..50_i32), x in 0..50_i32, y in 0..50_i32) {
            let area = Size::<i32, Logical>::from((w, h));
            let point = Point::from((x % w, y % h));
            let step = second.point(first.point(point, area), first.size(area));
            prop_assert_eq!(first.then(second).point(point, area), step);
            prop_assert_eq!(first.then(first.inverse()), OutputTransform::NORMAL);
        }
    }
}
