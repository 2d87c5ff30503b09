//! The place of a floating window after a change of outputs. Pure.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{keep_inside, keep_reachable, map_between_areas};

/// An output as windows use it (global logical coordinates).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OutputAreas {
    /// The whole output.
    pub full: Rectangle<i32, Logical>,
    /// The part that bars leave.
    pub usable: Rectangle<i32, Logical>,
}

impl OutputAreas {
    fn moved_by(self, by: Point<i32, Logical>) -> Self {
        let moved = |area: Rectangle<i32, Logical>| Rectangle::new(area.loc + by, area.size);
        OutputAreas { full: moved(self.full), usable: moved(self.usable) }
    }

    /// The usable area without a strip of `height` at its top, in logical pixels.
    pub fn below(&self, height: i32) -> Rectangle<i32, Logical> {
        let Rectangle { loc, size } = self.usable;
        let height = height.min(size.h - 1).max(0);
        Rectangle::new(loc + Point::from((0, height)), Size::from((size.w, size.h - height)))
    }
}

/// Change of the output that shows a window.
#[derive(Clone, Copy, Debug)]
pub struct AreasChange {
    /// The output before; `None` for a window that followed no output yet.
    pub was: Option<OutputAreas>,
    pub now: OutputAreas,
    /// Whether it is the same output before and after.
    pub is_same_output: bool,
    /// Whether it is the window's own output after the change, and not one that shows the windows of an unplugged
    /// output.
    pub is_own_output: bool,
    /// The same before the change.
    pub was_own_output: bool,
}

/// Place of a floating window (global logical coordinates).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FloatingPlace {
    /// Top left corner of the window geometry.
    pub corner: Point<i32, Logical>,
    pub displaced: Option<Displacement>,
}

/// A window had to leave the place that its user or its client chose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Displacement {
    /// That place, relative to the corner of its own output.
    pub former: Point<i32, Logical>,
    /// The place where it was put. A user who has moved the window since wants it where it is.
    pub moved_to: Point<i32, Logical>,
}

impl FloatingPlace {
    /// The place after `change`, for a window of `size` that draws `above` logical pixels above its geometry.
    pub fn after(self, size: Size<i32, Logical>, above: i32, change: &AreasChange) -> FloatingPlace {
        let AreasChange { was, now, is_same_output, is_own_output, was_own_output } = *change;
        let was = was.unwrap_or(now);
        let by = if is_same_output { now.full.loc - was.full.loc } else { Point::default() };
        let is_moved_since = self.displaced.is_some_and(|displaced| displaced.moved_to != self.corner);
        let mut place = self.moved_by(by);
        if was_own_output && is_moved_since {
            place.displaced = None;
        }
        let was = was.moved_by(by);
        let returns = place.take_return(change);
        let wish = returns.unwrap_or(place.corner);
        let rect = Rectangle::new(wish, size);
        let below = now.below(above);
        let with_top = |rect: Rectangle<i32, Logical>| {
            Rectangle::new(rect.loc - Point::from((0, above)), rect.size + Size::from((0, above)))
        };
        let is_cut = (returns.is_some() || was.full.contains_rect(rect)) && !now.full.contains_rect(rect);
        let is_covered =
            returns.is_none() && was.usable.contains_rect(with_top(rect)) && !now.usable.contains_rect(with_top(rect));
        place.corner = if !is_same_output && returns.is_none() {
            let there = map_between_areas(with_top(rect), was.usable, now.usable);
            keep_inside(Rectangle::new(there + Point::from((0, above)), size), below)
        } else if is_cut || is_covered {
            keep_inside(rect, below)
        } else {
            keep_reachable(rect, below)
        };
        if place.corner != wish || !(is_same_output || is_own_output) {
            let own = if is_own_output { now.full.loc } else { was.full.loc };
            let former = place.displaced.map_or(wish - own, |displaced| displaced.former);
            place.displaced = Some(Displacement { former, moved_to: place.corner });
        }
        place
    }

    /// The place after the window was put somewhere else, for other reasons than its user's.
    pub fn put_at(self, corner: Point<i32, Logical>) -> FloatingPlace {
        let displaced = self.displaced.map(|displaced| Displacement { moved_to: corner, ..displaced });
        FloatingPlace { corner, displaced }
    }

    fn moved_by(self, by: Point<i32, Logical>) -> FloatingPlace {
        self.put_at(self.corner + by).with_moved_to(self.displaced.map(|displaced| displaced.moved_to + by))
    }

    fn with_moved_to(self, moved_to: Option<Point<i32, Logical>>) -> FloatingPlace {
        let displaced = self.displaced.zip(moved_to);
        FloatingPlace { displaced: displaced.map(|(it, moved_to)| Displacement { moved_to, ..it }), ..self }
    }

    /// The former place of a window that is on its own output.
    fn take_return(&mut self, change: &AreasChange) -> Option<Point<i32, Logical>> {
        let displaced = self.displaced.take_if(|_| change.is_own_output)?;
        Some(change.now.full.loc + displaced.former)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::placement::REACHABLE;
    use proptest::prelude::*;

    fn rect(x: i32, y: i32, w: i32, h: i32) -> Rectangle<i32, Logical> {
        Rectangle::new((x, y).into(), (w, h).into())
    }

    prop_compose! {
        fn output()(x in -3000..3000, y in -3000..3000, w in 320..3000, h in 240..2000, top in 0..60, left in 0..60)
            -> OutputAreas {
            OutputAreas { full: rect(x, y, w, h), usable: rect(x + left, y + top, w - left, h - top) }
        }
    }

    /// Before the change a window is on its own output if it stays on the output, or leaves its own.
    fn change(was: OutputAreas, now: OutputAreas, is_same_output: bool, is_own_output: bool) -> AreasChange {
        let was_own_output = is_same_output == is_own_output;
        AreasChange { was: Some(was), now, is_same_output, is_own_output, was_own_output }
    }

    proptest! {
        #[test]
        fn window_can_be_taken_hold_of_after_every_change(
            was in output(), now in output(), x in -4000..4000, y in -4000..4000, w in 1..2500, h in 1..2500,
            above in prop_oneof![Just(0), 20..60], is_same_output in any::<bool>(), is_own_output in any::<bool>(),
        ) {
            let size = Size::from((w, h));
            let place = FloatingPlace { corner: (x, y).into(), displaced: None };
            let after = place.after(size, above, &change(was, now, is_same_output, is_own_output));
            let seen = Rectangle::new(after.corner, size).intersection(now.usable).unwrap_or_default();
            prop_assert!(seen.size.w >= REACHABLE.min(w), "{:?}", after);
            prop_assert!(after.corner.y - above >= now.usable.loc.y, "its title bar is in reach: {:?}", after);
            prop_assert!(after.corner.y < now.usable.loc.y + now.usable.size.h);
        }

        #[test]
        fn window_returns_to_its_place_when_the_output_is_as_before(
            was in output(), other in output(), x in 0..3000, y in 0..2000, w in 1..3000, h in 1..2000,
            unplugged in any::<bool>(), by in (-500..500, -500..500),
        ) {
            let room = was.usable.size;
            let size = Size::from((1 + w % room.w, 1 + h % room.h));
            let corner = was.usable.loc + Point::from((x % (room.w - size.w + 1), y % (room.h - size.h + 1)));
            let place = FloatingPlace { corner, displaced: None };
            // It returns at another position.
            let back = was.moved_by(by.into());
            let there = place.after(size, 0, &change(was, other, !unplugged, !unplugged));
            let returned = there.after(size, 0, &change(other, back, !unplugged, true));
            prop_assert_eq!(returned, FloatingPlace { corner: corner + Point::from(by), displaced: None });
        }

        #[test]
        fn window_that_was_moved_on_the_smaller_output_stays_there(x in 0..200, y in 0..100) {
            let (large, small) = (rect(0, 0, 1280, 720), rect(0, 0, 640, 360));
            let [large, small] = [large, small].map(|full| OutputAreas { full, usable: full });
            let size = Size::from((400, 200));
            let place = FloatingPlace { corner: (800, 500).into(), displaced: None };
            let mut there = place.after(size, 0, &change(large, small, true, true));
            prop_assert_eq!(there.corner, Point::from((240, 160)));
            there.corner = Point::from((x, y));
            let after = there.after(size, 0, &change(small, large, true, true));
            prop_assert_eq!(after, FloatingPlace { corner: (x, y).into(), displaced: None });
        }
    }

    #[test]
    fn window_moved_after_a_bar_appeared_returns_to_its_last_place_on_its_own_output() {
        let full = rect(0, 0, 1280, 720);
        let (bare, with_bar) =
            (OutputAreas { full, usable: full }, OutputAreas { full, usable: rect(0, 30, 1280, 690) });
        let (own, other) = (with_bar, bare.moved_by((1280, 0).into()));
        let size = Size::from((400, 300));
        let mut place = FloatingPlace { corner: (100, 20).into(), displaced: None };
        place = place.after(size, 0, &change(bare, with_bar, true, true));
        // Its user moves it, its output is unplugged, and returns.
        place.corner = Point::from((600, 200));
        place = place.after(size, 0, &change(own, other, false, false));
        place = place.after(size, 0, &change(other, own, false, true));
        assert_eq!(place, FloatingPlace { corner: (600, 200).into(), displaced: None });
    }

    #[test]
    fn window_moves_with_its_output_and_past_a_bar_that_appears() {
        let full = rect(0, 0, 1280, 720);
        let bare = OutputAreas { full, usable: full };
        let with_bar = OutputAreas { full, usable: rect(0, 30, 1280, 690) };
        let place = FloatingPlace { corner: (100, 20).into(), displaced: None };
        let size = Size::from((400, 300));
        let below = place.after(size, 20, &change(bare, with_bar, true, true));
        assert_eq!(below.corner, Point::from((100, 50)));
        assert_eq!(below.after(size, 20, &change(with_bar, bare, true, true)), place);
        let aside = with_bar.moved_by((640, 0).into());
        assert_eq!(below.after(size, 20, &change(with_bar, aside, true, true)).corner, Point::from((740, 50)));
    }
}
