//! The stale region of a buffer: where it differs from the newest frame.

use crate::backend::PixelRect;

/// More rectangles than this are replaced by their bounding box.
const MOST_RECTANGLES: usize = 16;

/// A rectangle that covers a whole picture.
pub(super) fn whole((width, height): (i32, i32)) -> PixelRect {
    PixelRect { x: 0, y: 0, width, height }
}

/// Adds damage. Rectangles within other rectangles are dropped, since most frames change the same place as the frame
/// before, and it would be copied twice. Many rectangles become their bounding box.
pub(super) fn add(stale: &mut Vec<PixelRect>, damage: &[PixelRect]) {
    for rect in damage {
        if !stale.iter().any(|known| contains(known, rect)) {
            stale.retain(|known| !contains(rect, known));
            stale.push(*rect);
        }
    }
    if stale.len() > MOST_RECTANGLES
        && let Some(all) = stale.drain(..).reduce(around)
    {
        stale.push(all);
    }
}

const fn contains(outer: &PixelRect, inner: &PixelRect) -> bool {
    let right = inner.x + inner.width <= outer.x + outer.width;
    let bottom = inner.y + inner.height <= outer.y + outer.height;
    outer.x <= inner.x && outer.y <= inner.y && right && bottom
}

fn around(a: PixelRect, b: PixelRect) -> PixelRect {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    let right = (a.x + a.width).max(b.x + b.width);
    let bottom = (a.y + a.height).max(b.y + b.height);
    PixelRect { x, y, width: right - x, height: bottom - y }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_of_two_frames_is_merged() {
        let window = PixelRect { x: 10, y: 10, width: 320, height: 240 };
        let within = PixelRect { x: 10, y: 100, width: 320, height: 20 };
        let beside = PixelRect { x: 300, y: 10, width: 320, height: 240 };
        let mut stale = Vec::new();
        for damage in [within, window, window, within, beside] {
            add(&mut stale, &[damage]);
        }
        assert_eq!(stale, [window, beside]);
    }

    #[test]
    fn many_small_damages_become_one_that_covers_them() {
        let mut stale = Vec::new();
        let damage: Vec<_> = (0..40).map(|step| PixelRect { x: step * 3, y: 5, width: 2, height: 2 }).collect();
        damage.iter().for_each(|rect| add(&mut stale, &[*rect]));
        assert!(stale.len() <= MOST_RECTANGLES, "{stale:?}");
        let all = stale.into_iter().reduce(around).unwrap();
        assert_eq!(all, PixelRect { x: 0, y: 5, width: 39 * 3 + 2, height: 2 });
    }
}
