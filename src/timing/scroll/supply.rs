//! What is rendered of a document, what is wanted next, and by when.
//!
//! ```text
//!             rendered                      wanted: asked for while what is left still lasts for a render
//!   ├───────────┬──────┬─────────────────┤
//!               │ view │──── left ───────│─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─┤
//!               └──────┘                 └ runs out at way(t) = left
//! ```
//!
//! What was asked for counts as on its way, not as there: whoever renders says when it is.

use super::course::{Course, Way};
use super::cover::{Cover, Side};
use super::{Extent, Region};
use crate::time::Span;
use crate::timing::defaults::{EXTENSION_AHEAD, MOST_EXTENSION};

/// How far ahead it is looked: what lasts longer does not run out.
const FAR: Span = Span::from_seconds(10);
/// Halvings of [`FAR`] that find a time to within 10 µs.
const HALVINGS: u32 = 20;

/// Limits of what is rendered beyond the view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupplySettings {
    /// The most pixels that may be rendered at once: the memory budget divided by the bytes of a pixel.
    pub most_pixels: i64,
    /// The most that an axis is extended by, in lengths of the view.
    pub most_extension: f64,
    /// The part of the extension that lies ahead when the view moves on; the rest lies behind.
    pub ahead: f64,
}

impl SupplySettings {
    /// All that `most_pixels` affords, at most 1.5 views more, three quarters of it ahead.
    pub const fn with_budget(most_pixels: i64) -> Self {
        SupplySettings { most_pixels, most_extension: MOST_EXTENSION, ahead: EXTENSION_AHEAD }
    }
}

/// A region that is to be rendered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanted {
    /// What.
    pub region: Region,
    /// In how long something of it is missed.
    pub within: Span,
}

/// How long before something is missed it has to be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lead {
    /// What a render takes, at its miss budget. So much further the view is when it is there.
    pub render: Span,
    /// What is lost on the way to it and back.
    pub way: Span,
}

/// How things stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// All that the view shows is there.
    pub covered: bool,
    /// In how long that is no longer so; `None` if it stays.
    pub runs_out: Option<Span>,
    /// This is to be asked for now.
    pub wanted: Option<Wanted>,
}

/// Reuse or render, for both axes and directions.
#[derive(Clone, Debug)]
pub struct Supply {
    settings: SupplySettings,
    document: Region,
    rendered: Cover,
    asked: Option<Region>,
}

impl Supply {
    /// Nothing of `document` is rendered.
    pub fn new(document: Region, settings: SupplySettings) -> Self {
        Supply { settings, document, rendered: Cover::default(), asked: None }
    }

    /// The document has another size (content was loaded). What is rendered stays valid.
    pub const fn set_document(&mut self, document: Region) {
        self.document = document;
    }

    /// What is rendered.
    pub const fn rendered(&self) -> &Cover {
        &self.rendered
    }

    /// This is what is rendered from now on.
    pub fn set_rendered(&mut self, rendered: Cover) {
        self.asked = self.asked.filter(|asked| !rendered.covers(*asked));
        self.rendered = rendered;
    }

    /// Content changed in `damage` other than by scrolling: pieces that it touches are not valid any more, nor is what is
    /// being rendered there (SCAR 6; trap: Algorithm 1 would reuse them).
    pub fn damage(&mut self, damage: Region) {
        self.rendered.remove(damage);
        self.asked = self.asked.filter(|asked| !asked.overlaps(damage));
    }

    /// How a `view` on this `course` is supplied. What is wanted is said once: from then on it is on its way.
    pub fn look(&mut self, view: Region, course: &impl Course, lead: Lead) -> Look {
        let covered = self.rendered.covers(view);
        let runs_out = self.lasts(&self.rendered, view, course);
        let with_asked = |asked: Region| {
            let all = Cover::of(self.rendered.regions().iter().copied().chain([asked]));
            if all.covers(view) { self.lasts(&all, view, course) } else { Some(Span::ZERO) }
        };
        let missed = if covered { runs_out } else { Some(Span::ZERO) };
        let (lasts, most) = match self.asked.map(with_asked) {
            None => (missed, lead.render + lead.way),
            // What is on its way helps: another wish would only hold it up, unless it will be left right after.
            Some(with) if missed.is_some_and(|missed| with.is_none_or(|with| with > missed)) => (with, lead.way),
            Some(with) => (with, lead.render + lead.way),
        };
        let within = lasts.filter(|left| *left <= most).and(missed);
        let wanted = within.map(|within| Wanted { region: self.region_for(view, course, lead.render), within });
        let wanted = wanted.filter(|wanted| Some(wanted.region) != self.asked);
        if let Some(wanted) = wanted {
            self.asked = Some(wanted.region);
        }
        Look { covered, runs_out, wanted }
    }

    /// The region that should be rendered for `view`: as much as the budget affords, ahead of the motion but not further than
    /// that goes, and inside the document. It is for where the view is after `render`, and holds what is seen until then.
    pub fn region_for(&self, view: Region, course: &impl Course, render: Span) -> Region {
        let (rest, gone) = (course.rest(), course.way(render));
        let wish = |view: Extent, document: Extent, way: f64, other: f64| {
            // An axis that cannot move needs nothing; nor does one that rests while the other moves.
            let rests = view.contains(document) || (way == 0.0 && other != 0.0);
            if rests { 0.0 } else { view.length as f64 * self.settings.most_extension }
        };
        let x = wish(view.x, self.document.x, rest.x, rest.y);
        let y = wish(view.y, self.document.y, rest.y, rest.x);
        let scale = self.affordable(view, x, y);
        Region {
            x: self.extend(view.x, self.document.x, x * scale, (rest.x, gone.x)),
            y: self.extend(view.y, self.document.y, y * scale, (rest.y, gone.y)),
        }
    }

    /// The part of the wished extension that the budget pays for, from 0 to 1: the positive root of
    /// `(w + s·x) (h + s·y) = budget`.
    fn affordable(&self, view: Region, x: f64, y: f64) -> f64 {
        let (width, height) = (view.x.length as f64, view.y.length as f64);
        let budget = self.settings.most_pixels as f64;
        if (width + x) * (height + y) <= budget {
            return 1.0;
        }
        let (a, b, c) = (x * y, width * y + height * x, width * height - budget);
        if c >= 0.0 {
            return 0.0;
        }
        let root = if a > 0.0 { (-b + (b * b - 4.0 * a * c).sqrt()) / (2.0 * a) } else { -c / b };
        root.clamp(0.0, 1.0)
    }

    /// `way`: until the view rests, and until this is rendered. Where rest is near, what is left is for both directions from
    /// there.
    fn extend(&self, view: Extent, document: Extent, by: f64, (way, gone): (f64, f64)) -> Extent {
        let way = way - gone;
        let ahead = ((by + way.abs()) / 2.0).min(by * self.settings.ahead).max(by / 2.0);
        let behind = if way < 0.0 { ahead } else { by - ahead };
        let length = view.length + by as i64;
        let start = (view.start + gone as i64 - behind as i64).max(view.end() - length);
        // Slide into the document, so that what lies beyond its end is spent on the other side.
        let start = start.min(document.end() - length).max(document.start).min(view.start);
        let end = (start + length).min(document.end()).max(view.end());
        Extent { start, length: end - start }
    }

    /// In how long `view` leaves `cover` on this course; `None` when it does not, or the document ends there anyway.
    fn lasts(&self, cover: &Cover, view: Region, course: &impl Course) -> Option<Span> {
        let (rest, seen) = (course.rest(), view);
        let axis = |way: f64, sides: [Side; 2], view: Extent, document: Extent, along: fn(Way) -> f64| {
            let (side, most) = match way {
                way if way > 0.0 => (sides[1], document.end() - view.end()),
                _ => (sides[0], view.start - document.start),
            };
            let leaves = |left: i64| left < most && (left as f64) < way.abs();
            let left = Some(cover.reach(seen, side, most.max(0))).filter(|left| way != 0.0 && leaves(*left))?;
            time_of(left as f64, |after| along(course.way(after)).abs())
        };
        let x = axis(rest.x, [Side::Left, Side::Right], view.x, self.document.x, |way| way.x);
        let y = axis(rest.y, [Side::Up, Side::Down], view.y, self.document.y, |way| way.y);
        x.into_iter().chain(y).min()
    }
}

/// When something that never turns back has gone `distance`; `None`: not in any time that counts.
fn time_of(distance: f64, way: impl Fn(Span) -> f64) -> Option<Span> {
    if way(FAR) < distance {
        return None;
    }
    let (mut before, mut after) = (Span::ZERO, FAR);
    for _ in 0..HALVINGS {
        let middle = before + (after - before) / 2;
        if way(middle) < distance { before = middle } else { after = middle }
    }
    Some(before)
}

#[cfg(test)]
mod tests {
    use super::super::course::Steady;
    use super::*;
    use proptest::prelude::*;

    const WIDTH: i64 = 400;
    const HEIGHT: i64 = 1_000;
    const DOCUMENT: Region = Region { x: Extent { start: 0, length: WIDTH }, y: Extent { start: 0, length: 50_000 } };
    const DOWN: Steady = Steady(Way { x: 0.0, y: 1_000.0 });
    const UP: Steady = Steady(Way { x: 0.0, y: -1_000.0 });
    const REST: Steady = Steady(Way { x: 0.0, y: 0.0 });

    fn view_at(y: i64) -> Region {
        Region { x: Extent { start: 0, length: WIDTH }, y: Extent { start: y, length: HEIGHT } }
    }

    fn later(seconds: i64) -> Lead {
        Lead { render: Span::ZERO, way: Span::from_seconds(seconds) }
    }

    fn supply() -> Supply {
        Supply::new(DOCUMENT, SupplySettings::with_budget(i64::MAX))
    }

    /// Looks, and renders at once what is wanted.
    fn render(supply: &mut Supply, view: Region, course: &impl Course) -> Option<Region> {
        let wanted = supply.look(view, course, Lead::default()).wanted?;
        supply.set_rendered(Cover::of([wanted.region]));
        Some(wanted.region)
    }

    #[test]
    fn both_directions_reuse_and_what_is_wanted_is_asked_for_a_render_before_it_is_missed() {
        let mut supply = supply();
        let first = render(&mut supply, view_at(10_000), &DOWN).unwrap();
        assert_eq!((first.y.start, first.y.end()), (10_000 - 375, 11_000 + 1_125));
        let lead = Lead { render: Span::ZERO, way: Span::from_millis(50) };
        let look = supply.look(view_at(10_100), &DOWN, lead);
        assert!(look.covered && look.wanted.is_none());
        assert!((look.runs_out.unwrap() - Span::from_millis(1_025)).abs() < Span::from_micros(20), "{look:?}");
        assert!(supply.look(view_at(9_950), &UP, lead).wanted.is_none());
        assert!(supply.look(view_at(11_074), &DOWN, lead).wanted.is_none());
        let look = supply.look(view_at(11_076), &DOWN, lead);
        let wanted = look.wanted.unwrap();
        assert!(look.covered && wanted.within <= lead.way && wanted.within > Span::from_millis(48), "{wanted:?}");
        assert_eq!(wanted.region.y.end(), 12_076 + 1_125);
    }

    #[test]
    fn what_was_asked_for_is_not_there_yet_and_is_not_asked_for_again() {
        let mut supply = supply();
        render(&mut supply, view_at(10_000), &DOWN);
        let wanted = supply.look(view_at(11_125), &DOWN, Lead::default()).wanted.unwrap();
        let look = supply.look(view_at(11_140), &DOWN, Lead::default());
        assert!(!look.covered && look.wanted.is_none(), "{look:?}");
        assert!(supply.look(view_at(9_000), &UP, Lead::default()).wanted.is_some(), "it went elsewhere");
        supply.set_rendered(Cover::of([wanted.region]));
        assert!(supply.look(view_at(11_140), &DOWN, Lead::default()).covered);
    }

    #[test]
    fn what_is_on_its_way_is_not_asked_for_again_unless_it_does_not_help() {
        let mut supply = supply();
        let lead = Lead { render: Span::from_millis(800), way: Span::from_millis(16) };
        render(&mut supply, view_at(10_000), &DOWN);
        let asked = supply.look(view_at(10_400), &DOWN, lead).wanted.unwrap().region;
        let soon = asked.y.end() - HEIGHT - 500;
        assert_eq!(supply.look(view_at(soon), &DOWN, lead).wanted, None, "it would be asked for if it were there");
        assert!(supply.look(view_at(10_400), &UP, lead).wanted.is_some(), "it goes the other way");
    }

    #[test]
    fn a_view_that_waits_wants_nothing_twice() {
        let mut supply = supply();
        let fast = Steady(Way { x: 0.0, y: 50_000.0 });
        let lead = Lead { render: Span::from_millis(40), way: Span::from_millis(16) };
        render(&mut supply, view_at(10_000), &DOWN);
        let wants = (0..10).filter(|_| supply.look(view_at(11_125), &fast, lead).wanted.is_some());
        assert_eq!(wants.count(), 1);
    }

    #[test]
    fn a_motion_that_ends_soon_asks_for_no_more_than_it_reaches_and_leaves_the_rest_for_both_ways() {
        struct Short;
        impl Course for Short {
            fn way(&self, after: Span) -> Way {
                Way { x: 0.0, y: (after.as_seconds_f64() * 1_000.0).min(300.0) }
            }
            fn rest(&self) -> Way {
                Way { x: 0.0, y: 300.0 }
            }
        }
        let mut supply = supply();
        let region = render(&mut supply, view_at(10_000), &Short).unwrap();
        assert_eq!((10_000 - region.y.start, region.y.end() - 11_000), (600, 900), "as far both ways from its rest");
        let look = supply.look(view_at(10_000), &Short, later(5));
        assert_eq!((look.runs_out, look.wanted), (None, None), "it will rest on what is there");
        assert!(supply.look(view_at(10_000), &DOWN, later(5)).wanted.is_some());
    }

    #[test]
    fn at_the_end_of_the_document_nothing_runs_out() {
        let mut supply = supply();
        let region = render(&mut supply, view_at(49_000), &DOWN).unwrap();
        assert_eq!((region.y.start, region.y.end()), (47_500, 50_000), "what lies beyond is spent before");
        assert_eq!(supply.look(view_at(49_000), &DOWN, later(1)).runs_out, None);
    }

    #[test]
    fn changed_content_is_rendered_even_without_motion() {
        let mut supply = supply();
        render(&mut supply, view_at(0), &REST);
        assert!(supply.look(view_at(0), &REST, Lead::default()).covered);
        supply.damage(view_at(40_000));
        assert!(supply.look(view_at(0), &REST, Lead::default()).covered);
        supply.damage(view_at(500));
        let look = supply.look(view_at(0), &REST, Lead::default());
        assert!(!look.covered && look.wanted.is_some(), "{look:?}");
    }

    #[test]
    fn without_a_budget_only_the_view_is_rendered() {
        let supply = Supply::new(DOCUMENT, SupplySettings::with_budget(1));
        assert_eq!(supply.region_for(view_at(3_000), &DOWN, Span::ZERO), view_at(3_000));
    }

    /// What `upbeat simulate` prints, with a client whose renders take time: the formula of a document that is rendered
    /// `ahead` and asked for in time.
    #[test]
    fn it_renders_as_often_as_what_lies_ahead_and_the_time_of_a_render_say() {
        for (speed, render) in [(100, 40), (1_000, 40), (1_000, 150)] {
            let mut supply = supply();
            let course = Steady(Way { x: 0.0, y: f64::from(speed) });
            let (mut renders, mut ready) = (0, None::<(i64, Region)>);
            let lead = Lead { render: Span::from_millis(render), way: Span::from_millis(5) };
            let seconds = 40;
            for millis in 0..seconds * 1_000 {
                if let Some((_, region)) = ready.take_if(|(at, _)| *at <= millis) {
                    supply.set_rendered(Cover::of([region]));
                }
                let view = view_at(1_000 + millis * i64::from(speed) / 1_000);
                let look = supply.look(view, &course, lead);
                assert!(look.covered || renders <= 1, "blank after {millis} ms at {speed} px/s");
                if let Some(wanted) = look.wanted {
                    renders += 1;
                    ready = Some((millis + render, wanted.region));
                }
            }
            let ahead = HEIGHT as f64 * MOST_EXTENSION * EXTENSION_AHEAD;
            let formula = f64::from(speed) / (ahead - f64::from(speed) * render as f64 / 1e3);
            let measured = (renders - 1) as f64 / seconds as f64;
            assert!(measured <= 1.1 * formula + 1.0 / seconds as f64, "{measured} for {formula} at {speed} px/s");
        }
    }

    proptest! {
        #[test]
        fn a_wanted_region_holds_the_view_within_document_and_budget(
            x in 0_i64..3_000, y in 0_i64..40_000, vx in -5_000.0..5_000.0, vy in -5_000.0..5_000.0,
            views in 1.0..4.0, render in 0_i64..200
        ) {
            let document = Region { x: Extent { start: 0, length: 4_000 }, y: Extent { start: 0, length: 50_000 } };
            let view = Region {
                x: Extent { start: x, length: WIDTH }, y: Extent { start: y, length: HEIGHT },
            };
            let budget = (view.pixels() as f64 * views) as i64;
            let supply = Supply::new(document, SupplySettings::with_budget(budget));
            let region = supply.region_for(view, &Steady(Way { x: vx, y: vy }), Span::from_millis(render));
            prop_assert!(region.contains(view), "{region:?}");
            prop_assert!(document.contains(region), "{region:?}");
            prop_assert!(region.pixels() <= budget, "{} > {budget}", region.pixels());
        }
    }
}
