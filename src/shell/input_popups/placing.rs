//! Placement of input method popups beside the caret. Pure.

use smithay::utils::{Logical, Point, Rectangle, Size};

/// Position of a popup of `size` for the caret at `caret` on an output at `area`: right below the caret, or above it if
/// only that side has room; kept on the output as far as the popup fits.
pub fn place(
    caret: Rectangle<i32, Logical>,
    size: Size<i32, Logical>,
    area: Rectangle<i32, Logical>,
) -> Point<i32, Logical> {
    let (top, bottom) = (area.loc.y, area.loc.y + area.size.h);
    let (below, above) = (caret.loc.y + caret.size.h, caret.loc.y - size.h);
    let flips = below + size.h > bottom && above >= top;
    let within = |at: i32, length: i32, start: i32, room: i32| at.min(start + room - length).max(start);
    // Clamp, because the caret may lie far outside the output.
    let y = within(if flips { above } else { below }, size.h, top, area.size.h);
    Point::from((within(caret.loc.x, size.w, area.loc.x, area.size.w), y))
}

/// Whether a keyboard that covers `rect` may lie above the lock of an output at `area`: only in the lower half. The
/// upper half is reserved for the locker, so that no other client can imitate it.
pub fn fits_above_lock(rect: Rectangle<i32, Logical>, area: Rectangle<i32, Logical>) -> bool {
    let upper = area.size.h / 2;
    let lower =
        Rectangle::new(Point::from((area.loc.x, area.loc.y + upper)), Size::from((area.size.w, area.size.h - upper)));
    lower.contains_rect(rect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MAX_EXTENT;
    use proptest::prelude::*;

    fn rect(x: i32, y: i32, width: i32, height: i32) -> Rectangle<i32, Logical> {
        Rectangle::new((x, y).into(), (width, height).into())
    }

    fn placed(caret: (i32, i32), size: (i32, i32)) -> (i32, i32) {
        let at = place(rect(caret.0, caret.1, 1, 20), size.into(), rect(100, 50, 640, 480));
        (at.x, at.y)
    }

    #[test]
    fn it_lies_below_the_caret_and_above_it_at_the_lower_edge() {
        assert_eq!(placed((200, 100), (50, 30)), (200, 120));
        assert_eq!(placed((200, 500), (50, 30)), (200, 470), "between 520 and 530 there is no room");
        assert_eq!(placed((200, 480), (50, 30)), (200, 500), "it just fits");
    }

    #[test]
    fn it_stays_on_the_output_where_it_fits() {
        assert_eq!(placed((720, 100), (50, 30)), (690, 120));
        assert_eq!(placed((0, 100), (50, 30)), (100, 120));
        assert_eq!(placed((200, 300), (800, 600)), (100, 50), "what is too large begins where the output does");
        assert_eq!(placed((200, 5_000), (50, 30)), (200, 500));
    }

    #[test]
    fn above_a_lock_is_room_for_a_keyboard_and_for_nothing_larger() {
        let fits = |x, y, width, height| fits_above_lock(rect(x, y, width, height), rect(100, 50, 640, 481));
        assert!(fits(100, 290, 640, 241), "all of the lower half");
        assert!(fits(100, 430, 640, 101));
        assert!(!fits(100, 289, 640, 242), "a row more");
        assert!(!fits(100, 50, 640, 100), "at the upper edge");
        assert!(!fits(100, 50, 640, 481), "all of it");
        assert!(!fits(90, 430, 640, 100) && !fits(100, 430, 641, 100) && !fits(100, 430, 640, 102), "outside");
    }

    proptest! {
        /// A debug build panics where anything overflows.
        #[test]
        fn it_is_on_the_output_and_covers_no_caret_that_leaves_room(
            caret in (-MAX_EXTENT..MAX_EXTENT, -MAX_EXTENT..MAX_EXTENT, 0..MAX_EXTENT, 0..MAX_EXTENT),
            size in (0..4_000_i32, 0..4_000_i32),
            at in (-MAX_EXTENT..MAX_EXTENT, -MAX_EXTENT..MAX_EXTENT),
            room in (1..8_000_i32, 1..8_000_i32),
        ) {
            let (caret, area) = (rect(caret.0, caret.1, caret.2, caret.3), rect(at.0, at.1, room.0, room.1));
            let it = Rectangle::new(place(caret, size.into(), area), size.into());
            if size.0 <= room.0 && size.1 <= room.1 {
                prop_assert!(area.contains_rect(it), "{it:?} in {area:?}");
                let is_there = area.contains_rect(caret);
                let has_room = caret.loc.y - size.1 >= area.loc.y
                    || caret.loc.y + caret.size.h + size.1 <= area.loc.y + area.size.h;
                prop_assert!(!(is_there && has_room && it.overlaps(caret)));
            }
        }
    }
}
