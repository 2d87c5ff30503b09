//! The area around the newest input that must contain a whole write. Pure.
//!
//! Presto 3.2.1 takes 200 × 200 pixels around the finger. Its panel has 500 pixels an inch, so the side is 10 mm. The
//! eye follows a hand by its distance, so the area has the same side in millimetres on each panel.

use smithay::utils::{Physical, Point};

use crate::backend::{PixelRect, VideoMode};
use crate::config::InPlaceSize;
use crate::output::guessed_scale;

/// Pixels per millimetre of a display that reports no credible size, such as a virtual display: Presto's panel.
const DEFAULT_DENSITY: f64 = 20.0;

/// The area around `input` (pixels of the output) with sides of `size`, on a display of this mode and the reported
/// size `millimetres`. Pixels that are not square give each side its own number of them.
pub(super) fn around(
    input: Point<i32, Physical>,
    size: InPlaceSize,
    mode: VideoMode,
    millimetres: Option<(u32, u32)>,
) -> PixelRect {
    let known = millimetres.and_then(|size| guessed_scale::density((mode.width, mode.height), size));
    let (across, down) = known.unwrap_or((DEFAULT_DENSITY, DEFAULT_DENSITY));
    // Bounded by the largest size and by the densest credible display.
    let side = |density: f64| (size.millimetres() * density).round() as i32;
    let (width, height) = (side(across), side(down));
    let (x, y) = (input.x.saturating_sub(width / 2), input.y.saturating_sub(height / 2));
    PixelRect { x, y, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: f64 = 10.0;

    fn side(pixels: (i32, i32), millimetres: Option<(u32, u32)>, size: f64) -> (i32, i32) {
        let mode = VideoMode { width: pixels.0, height: pixels.1, refresh: 60_000 };
        let size = InPlaceSize::try_from(size).unwrap();
        let area = around(Point::from((700, 400)), size, mode, millimetres);
        assert_eq!((area.x, area.y), (700 - area.width / 2, 400 - area.height / 2), "the input is in the middle");
        (area.width, area.height)
    }

    #[test]
    fn side_is_ten_millimetres_of_the_panel() {
        for (panel, pixels, millimetres, expected) in [
            ("Presto's tablet, 500 DPI", (2560, 1600), (130, 81), (197, 198)),
            ("24 inches, Full HD", (1920, 1080), (531, 299), (36, 36)),
            ("27 inches, 4K", (3840, 2160), (597, 336), (64, 64)),
            ("14 inches, 2.8K", (2880, 1800), (302, 188), (95, 96)),
            ("pixels that are wider than high", (1600, 1200), (400, 240), (40, 50)),
            ("a panel mounted on its side", (800, 1280), (150, 94), (85, 85)),
        ] {
            assert_eq!(side(pixels, Some(millimetres), TEN), expected, "{panel}");
        }
        assert_eq!(side((1920, 1080), Some((531, 299)), 20.0), (72, 72));
    }

    #[test]
    fn display_without_a_credible_size_has_two_hundred_pixels() {
        for size in [None, Some((0, 0)), Some((16, 9)), Some((160, 90)), Some((1, 1)), Some((u32::MAX, 1))] {
            assert_eq!(side((3840, 2160), size, TEN), (200, 200), "{size:?}");
        }
    }

    #[test]
    fn any_input_position_gives_an_area() {
        let mode = VideoMode { width: 1920, height: 1080, refresh: 60_000 };
        for at in [i32::MIN, i32::MAX] {
            let area = around(Point::from((at, at)), InPlaceSize::try_from(TEN).unwrap(), mode, None);
            assert_eq!((area.width, area.height), (200, 200));
            assert!(!area.contains(&PixelRect { x: 10, y: 10, width: 5, height: 5 }));
        }
    }
}
