//! Panels of one colour with rounded corners, as rectangles that are filled: no pixels are kept for them, however large
//! they are. The pixels on a corner's edge are filled with so much of the colour as lies inside.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use smithay::utils::{Physical, Rectangle};

use crate::scene::Rounded;

/// In how many steps the edge fades.
const STEPS: f32 = 8.0;

/// Rectangles, relative to the panel, and how much of them is filled: 0 to 1.
pub(super) fn parts(area: Rounded) -> Vec<(f32, Vec<Rectangle<i32, Physical>>)> {
    let size = area.rect.size;
    let whole = Rectangle::from_size(size);
    if area.radius <= 0 {
        return vec![(1.0, vec![whole])];
    }
    let area = Rounded { rect: whole, ..area };
    let mut faded: BTreeMap<u8, Vec<Rectangle<i32, Physical>>> = BTreeMap::new();
    let mut full = vec![];
    let rows = (0..area.radius).chain(size.h - area.radius..size.h);
    for y in rows {
        let mut x = 0;
        while x < area.radius && area.coverage(x, y) < 1.0 {
            let step = (area.coverage(x, y) * STEPS).round() as u8;
            if step > 0 {
                let dot = |x: i32| Rectangle::new((x, y).into(), (1, 1).into());
                faded.entry(step).or_default().extend([dot(x), dot(size.w - 1 - x)]);
            }
            x += 1;
        }
        full.push(Rectangle::new((x, y).into(), (size.w - 2 * x, 1).into()));
    }
    full.push(Rectangle::new((0, area.radius).into(), (size.w, size.h - 2 * area.radius).into()));
    full.retain(|rect| !rect.is_empty());
    let faded = faded.into_iter().map(|(step, parts)| (f32::from(step) / STEPS, parts));
    std::iter::once((1.0, full)).chain(faded).collect()
}

/// Another number for another look, size and place left aside.
pub(super) fn look(area: Rounded, hole: Rectangle<i32, Physical>, colour: [f32; 4]) -> usize {
    let mut hasher = std::hash::DefaultHasher::new();
    let Rectangle { loc, size } = hole;
    (area.radius, colour.map(f32::to_bits), (loc.x, loc.y), (size.w, size.h)).hash(&mut hasher);
    hasher.finish() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_pixel_is_filled_once_and_as_much_as_lies_inside(w in 1..60, h in 1..60, radius in 0..40_i32) {
            let radius = radius.min(w / 2).min(h / 2);
            let area = Rounded { rect: Rectangle::new((7, -3).into(), (w, h).into()), radius };
            let mut filled = vec![0.0_f32; (w * h) as usize];
            for (coverage, parts) in parts(area) {
                for part in parts {
                    for y in part.loc.y..part.loc.y + part.size.h {
                        for x in part.loc.x..part.loc.x + part.size.w {
                            let pixel = &mut filled[(y * w + x) as usize];
                            prop_assert_eq!(*pixel, 0.0);
                            *pixel = coverage;
                        }
                    }
                }
            }
            for y in 0..h {
                for x in 0..w {
                    let expected = area.coverage(x + 7, y - 3);
                    let pixel = filled[(y * w + x) as usize];
                    prop_assert!((pixel - expected).abs() <= 0.5 / STEPS + 1e-3, "{} {} {} {}", x, y, pixel, expected);
                }
            }
        }
    }
}
