//! Guesses the scale of an output without a configured scale, from its physical size and its pixels, and decides
//! whether a reported size is credible. Pure.
//!
//! Content drawn for 96 DPI is comfortable on a desktop monitor at 110 physical pixels an inch. On smaller devices it
//! is comfortable at 135, because these are closer to the eye: the same numbers as in GNOME. The size that a monitor
//! reports is often wrong: many televisions and projectors report their aspect ratio (16:9) in some unit, or the size
//! of another model of the series. If the size is not credible, the scale is 1: too small to read comfortably is better
//! than too large to use.

/// Pixels an inch at which a desktop monitor gets scale 1.
const DESK_DENSITY: f64 = 110.0;
/// Pixels an inch at which a device closer to the eye gets scale 1.
const NEAR_DENSITY: f64 = 135.0;
/// Diagonal in inches; smaller displays (laptops, tablets, phones) are used at a shorter distance.
const DESK_DIAGONAL: f64 = 20.0;
/// No panel has more pixels an inch; a size that implies more is wrong.
const DENSEST: f64 = 900.0;
/// Largest credible ratio of horizontal to vertical pixel density. No panel has pixels far from square, but many report
/// their sides in whole centimetres, so some error must be allowed.
const UNEVEN: f64 = 1.3;
/// The scale is a multiple of one over this. Programs of most toolkits have been tested with these steps, and finer
/// steps differ little to the eye.
const STEPS: f64 = 4.0;
const LARGEST: f64 = 4.0;
/// Smallest allowed logical size, shorter and longer side: that of phones.
const LEAST: (f64, f64) = (360.0, 640.0);
const MILLIMETRES_PER_INCH: f64 = 25.4;

/// Reported sizes that are aspect ratios: 16:9, 16:10, 4:3, in centimetres or millimetres.
const SHAPES: [(u32, u32); 9] =
    [(16, 9), (160, 90), (1600, 900), (16, 10), (160, 100), (1600, 1000), (4, 3), (40, 30), (400, 300)];

/// Physical pixels of a logical pixel, a multiple of a quarter from 1 to 4, for an output of `pixels` and the reported
/// size `millimetres`.
pub fn guess(pixels: (i32, i32), millimetres: Option<(u32, u32)>) -> f64 {
    let (width, height) = (f64::from(pixels.0), f64::from(pixels.1));
    let (short, long) = (width.min(height), width.max(height));
    let Some(inches) = millimetres.filter(|size| !is_shape(*size)).and_then(|size| diagonal((width, height), size))
    else {
        return 1.0;
    };
    let density = width.hypot(height) / inches;
    let wanted = density / if inches < DESK_DIAGONAL { NEAR_DENSITY } else { DESK_DENSITY };
    let most = (short / LEAST.0).min(long / LEAST.1).min(LARGEST);
    let nearest = (wanted * STEPS).round().min((most * STEPS).floor());
    (nearest / STEPS).max(1.0)
}

/// Pixels per millimetre, horizontally and vertically, of a display of `pixels` and the reported size `millimetres`;
/// `None` if that size is not credible.
pub fn density(pixels: (i32, i32), millimetres: (u32, u32)) -> Option<(f64, f64)> {
    let pixels = (f64::from(pixels.0), f64::from(pixels.1));
    if is_shape(millimetres) {
        return None;
    }
    diagonal(pixels, millimetres)?;
    let size = (f64::from(millimetres.0), f64::from(millimetres.1));
    let (across, down) = if is_even(pixels, size) { size } else { (size.1, size.0) };
    Some((pixels.0 / across, pixels.1 / down))
}

fn is_shape((width, height): (u32, u32)) -> bool {
    // No panel is square. (400, 300) may be a real 20-inch monitor, but for it 1 is right anyway.
    SHAPES.contains(&(width, height)) || SHAPES.contains(&(height, width))
}

/// The diagonal in inches; `None` if the reported size is not credible.
fn diagonal((width, height): (f64, f64), (across, down): (u32, u32)) -> Option<f64> {
    let (across, down) = (f64::from(across), f64::from(down));
    if across <= 0.0 || down <= 0.0 || width <= 0.0 || height <= 0.0 {
        return None;
    }
    let inches = across.hypot(down) / MILLIMETRES_PER_INCH;
    // A panel mounted sideways may report its size as mounted, so both orientations are tried.
    let is_any_even = is_even((width, height), (across, down)) || is_even((width, height), (down, across));
    let believed = is_any_even && width.hypot(height) <= DENSEST * inches;
    believed.then_some(inches)
}

/// Whether the pixels of a display with this width and height in pixels and in millimetres are nearly square.
fn is_even((width, height): (f64, f64), (across, down): (f64, f64)) -> bool {
    let (x, y) = (width / across, height / down);
    x.max(y) <= UNEVEN * x.min(y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn usual_screens_are_shown_as_their_users_set_them() {
        for (what, pixels, millimetres, scale) in [
            ("24 inches, Full HD", (1920, 1080), (531, 299), 1.0),
            ("27 inches, QHD", (2560, 1440), (597, 336), 1.0),
            ("27 inches, 4K", (3840, 2160), (597, 336), 1.5),
            ("32 inches, 4K", (3840, 2160), (708, 398), 1.25),
            ("27 inches, 5K", (5120, 2880), (597, 336), 2.0),
            ("34 inches, ultrawide", (3440, 1440), (797, 334), 1.0),
            ("15.6 inches, Full HD", (1920, 1080), (344, 194), 1.0),
            ("14 inches, 2.8K", (2880, 1800), (302, 188), 1.75),
            ("13.5 inches, 3:2", (2256, 1504), (285, 190), 1.5),
            ("5.5 inches, upright", (1080, 1920), (68, 121), 3.0),
            ("55 inches, 4K television", (3840, 2160), (1210, 680), 1.0),
            ("7 inches, mounted on its side", (800, 1280), (150, 94), 1.5),
        ] {
            assert_eq!(guess(pixels, Some(millimetres)), scale, "{what}");
        }
    }

    #[test]
    fn implausible_sizes_give_scale_one() {
        for size in SHAPES.into_iter().chain([(0, 0), (0, 300), (1, 1), (30, 20), (597, 90), (u32::MAX, 1)]) {
            assert_eq!(guess((3840, 2160), Some(size)), 1.0, "{size:?}");
        }
        assert_eq!(guess((3840, 2160), None), 1.0);
        assert_eq!(guess((0, -5), Some((300, 200))), 1.0);
    }

    proptest! {
        #[test]
        fn any_reported_size_gives_a_scale_that_clients_can_draw_at(
            w in -10..20_000_i32, h in -10..20_000_i32, size in prop::option::of((any::<u32>(), any::<u32>()))
        ) {
            let scale = guess((w, h), size);
            prop_assert!((1.0..=LARGEST).contains(&scale) && (scale * STEPS).fract() == 0.0, "{}", scale);
        }

        #[test]
        fn room_is_left_and_more_pixels_never_make_it_smaller(
            w in 200..10_000_i32, h in 200..10_000_i32, across in 60..2_000_u32
        ) {
            let down = (f64::from(across) * f64::from(h) / f64::from(w)).round() as u32;
            let scale = guess((w, h), Some((across, down)));
            if scale > 1.0 {
                prop_assert!(f64::from(w.min(h)) / scale >= LEAST.0 && f64::from(w.max(h)) / scale >= LEAST.1);
            }
            // The scale does not depend on how the panel is mounted.
            prop_assert_eq!(guess((h, w), Some((down, across))), scale);
            let size = (across, down);
            if !is_shape(size) && f64::from(w * 2).hypot(f64::from(h * 2)) < DENSEST * f64::from(across).hypot(f64::from(down)) / 25.4 {
                prop_assert!(guess((w * 2, h * 2), Some(size)) >= scale);
            }
        }
    }
}
