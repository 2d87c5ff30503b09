//! Places at which a window can be seen and taken hold of. Pure.

use smithay::utils::{Logical, Point, Rectangle};

/// Part of a window that stays on the screen along each axis, in logical pixels: enough to drag it back.
pub const REACHABLE: i32 = 48;

/// The top left corner nearest to that of `rect` that keeps it inside `area`; a rectangle that is too large starts at
/// the area's corner.
pub fn keep_inside(rect: Rectangle<i32, Logical>, area: Rectangle<i32, Logical>) -> Point<i32, Logical> {
    let axis = |start: i32, size: i32, area_start: i32, area_size: i32| {
        start.min(area_start + area_size - size).max(area_start)
    };
    Point::from((
        axis(rect.loc.x, rect.size.w, area.loc.x, area.size.w),
        axis(rect.loc.y, rect.size.h, area.loc.y, area.size.h),
    ))
}

/// The corner of `rect` moved by `by`, so that a part of the window that can be dragged stays within `area`. Its top
/// edge stays below the top of the area. An axis without movement stays as it is.
pub fn move_within_reach(
    rect: Rectangle<i32, Logical>,
    by: Point<i32, Logical>,
    area: Rectangle<i32, Logical>,
) -> Point<i32, Logical> {
    let moved = Point::from((rect.loc.x.saturating_add(by.x), rect.loc.y.saturating_add(by.y)));
    let reachable = keep_reachable(Rectangle::new(moved, rect.size), area);
    Point::from((if by.x == 0 { rect.loc.x } else { reachable.x }, if by.y == 0 { rect.loc.y } else { reachable.y }))
}

/// The corner nearest to that of `rect` with which a part of the window that can be dragged lies within `area`, and its
/// top edge below the top of the area.
pub fn keep_reachable(rect: Rectangle<i32, Logical>, area: Rectangle<i32, Logical>) -> Point<i32, Logical> {
    let kept = |length: i32, room: i32| REACHABLE.min(length).min(room);
    let (across, down) = (kept(rect.size.w, area.size.w), kept(rect.size.h, area.size.h));
    let least = area.loc + Point::from((across - rect.size.w, 0));
    let most = area.loc + Point::from((area.size.w - across, area.size.h - down));
    let along = |start: i32, least: i32, most: i32| start.clamp(least.min(most), most);
    Point::from((along(rect.loc.x, least.x, most.x), along(rect.loc.y, least.y, most.y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area() -> Rectangle<i32, Logical> {
        Rectangle::new((100, 30).into(), (1280, 690).into())
    }

    proptest! {
        #[test]
        fn keeping_inside_moves_only_what_sticks_out(x in -3000..3000, y in -3000..3000, w in 1..1280, h in 1..690) {
            let rect = Rectangle::new((x, y).into(), (w, h).into());
            let corner = keep_inside(rect, area());
            prop_assert!(area().contains_rect(Rectangle::new(corner, rect.size)));
            if area().contains_rect(rect) { prop_assert_eq!(corner, rect.loc); }
        }

        #[test]
        fn moved_window_can_be_taken_hold_of(
            x in -5000..5000, y in -5000..5000, w in 1..3000, h in 1..3000, left in any::<bool>(), up in any::<bool>(),
        ) {
            let by = Point::from((if left { -50 } else { 50 }, if up { -50 } else { 50 }));
            let rect = Rectangle::new((x, y).into(), (w, h).into());
            let moved = |by| move_within_reach(rect, by, area());
            let common = Rectangle::new(moved(by), rect.size).intersection(area()).unwrap();
            prop_assert!(common.size.w >= REACHABLE.min(w) && common.size.h >= REACHABLE.min(h));
            prop_assert!(moved(by).y >= area().loc.y);
            prop_assert_eq!(moved(Point::default()), rect.loc);
        }
    }
}
