//! Plain panels with rounded corners, drawn as filled rectangles: they need no texture, whatever their size. Pixels on
//! a corner's edge are filled in proportion to their coverage.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use smithay::utils::{Physical, Rectangle};

use crate::scene::RoundedRect;

/// Number of coverage steps at an edge.
const STEPS: f32 = FULL as f32;
/// The last step: the pixel lies wholly inside.
const FULL: u8 = 8;

/// The part of a panel in which nothing is drawn, as rectangles relative to the panel: the hole without its rounded
/// corners.
pub(super) fn free(hole: RoundedRect) -> [Rectangle<i32, Physical>; 2] {
    let (Rectangle { loc, size }, side) = (hole.rect, hole.radius.max(0));
    let across = Rectangle::new((loc.x, loc.y + side).into(), (size.w, (size.h - 2 * side).max(0)).into());
    let down = Rectangle::new((loc.x + side, loc.y).into(), ((size.w - 2 * side).max(0), size.h).into());
    [across, down]
}

/// Rectangles, relative to the panel, by coverage: 0 to 1. Of the hole only its rounded corners are left out; [`free`]
/// gives the rest.
pub(super) fn parts(area: RoundedRect, hole: RoundedRect) -> Vec<(f32, Vec<Rectangle<i32, Physical>>)> {
    let size = area.rect.size;
    let whole = Rectangle::from_size(size);
    if area.radius <= 0 {
        return vec![(1.0, vec![whole])];
    }
    let (area, radius) = (RoundedRect { rect: whole, ..area }, area.radius);
    let step_at = |x: i32, y: i32| {
        let left_out = if hole.radius > 0 { hole.coverage(x, y) } else { 0.0 };
        ((area.coverage(x, y) - left_out).max(0.0) * STEPS).round() as u8
    };
    let mut filled: BTreeMap<u8, Vec<Rectangle<i32, Physical>>> = BTreeMap::new();
    for y in (0..radius).chain(size.h - radius..size.h) {
        let mut start = 0;
        while start < radius {
            let step = step_at(start, y);
            // Without rounded corners in the hole, coverage never decreases again along the row.
            let is_last = hole.radius <= 0 && step == FULL;
            let end = if is_last { radius } else { (start..radius).find(|x| step_at(*x, y) != step).unwrap_or(radius) };
            if step > 0 {
                let run = |x: i32| Rectangle::new((x, y).into(), (end - start, 1).into());
                filled.entry(step).or_default().extend([run(start), run(size.w - end)]);
            }
            start = end;
        }
    }
    let full = filled.entry(FULL).or_default();
    let band = |x: i32, y: i32, w: i32, h: i32| Rectangle::new((x, y).into(), (w, h).into());
    full.extend([
        band(radius, 0, size.w - 2 * radius, radius),
        band(radius, size.h - radius, size.w - 2 * radius, radius),
        band(0, radius, size.w, size.h - 2 * radius),
    ]);
    full.retain(|rect| !rect.is_empty());
    filled.into_iter().map(|(step, parts)| (f32::from(step) / STEPS, parts)).collect()
}

/// Hash of the look, without size and position.
pub(super) fn look(area: RoundedRect, hole: RoundedRect, colour: [f32; 4]) -> usize {
    let mut hasher = std::hash::DefaultHasher::new();
    let Rectangle { loc, size } = hole.rect;
    (area.radius, hole.radius, colour.map(f32::to_bits), (loc.x, loc.y), (size.w, size.h)).hash(&mut hasher);
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
            let area = RoundedRect { rect: Rectangle::new((7, -3).into(), (w, h).into()), radius };
            let mut filled = vec![0.0_f32; (w * h) as usize];
            for (coverage, parts) in parts(area, RoundedRect::default()) {
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

        #[test]
        fn an_edge_is_filled_as_much_as_lies_inside_and_not_in_its_hole(w in 20..60, h in 20..60, width in 1..4, radius in 1..8_i32) {
            let rect = Rectangle::from_size((w, h).into());
            let area = RoundedRect { rect, radius: radius + width };
            let inner = Rectangle::new((width, width).into(), (w - 2 * width, h - 2 * width).into());
            let hole = RoundedRect { rect: inner, radius };
            let mut filled = vec![0.0_f32; (w * h) as usize];
            for (coverage, parts) in parts(area, hole) {
                for part in Rectangle::subtract_rects_many(parts, free(hole)) {
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
                    let expected = (area.coverage(x, y) - hole.coverage(x, y)).max(0.0);
                    let pixel = filled[(y * w + x) as usize];
                    prop_assert!((pixel - expected).abs() <= 0.5 / STEPS + 1e-3, "{} {} {} {}", x, y, pixel, expected);
                }
            }
        }
    }
}
