//! The geometry of a view that scrolls over a buffer larger than itself: reuse the buffer or render it anew.
//!
//! SCAR 4.3. The buffer (*exFrame*) holds more of the document than the view shows; while the view stays inside, a
//! scroll is a new offset and costs no rendering at all.
//!
//! ```text
//!   document      Algorithm 1 (SCAR)     extended, moving down       extended, at rest
//!      │          ┌──────┐ origin        ┌ ─ ─ ─┐ quarter            ┌ ─ ─ ─┐
//!      │          │ view │               ┌──────┐                    ┌──────┐
//!      ▼          └──────┘               │ view │                    │ view │
//!                 ┌ ─ ─ ─┐ (N−1) × H     └──────┘                    └──────┘
//!                 └ ─ ─ ─┘               └ ─ ─ ─┘ three quarters     └ ─ ─ ─┘ half and half
//! ```
//!
//! [`ScarDecider`] is the algorithm as printed. [`ScrollView`] goes on where it stops: both directions and both axes,
//! content that changes, a memory budget, and a warning before the buffer runs out.

use super::defaults::{EXTENSION_AHEAD, EXTENSION_LASTING, MOST_EXTENSION};
use crate::time::Span;

/// What a step of scrolling needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScarStep {
    /// The exFrame is shown at this distance from its top: nothing is rendered.
    Reuse {
        /// Pixels from the top of the exFrame.
        offset: i64,
    },
    /// The extended region is rendered and shown from its top.
    RenderExtended,
    /// Only the screen is rendered: a scroll towards the top, or a window that cannot scroll.
    RenderScreen,
}

/// SCAR's Algorithm 1, exactly: vertical, one direction, an extension factor `N`.
///
/// Traps in it that are kept on purpose: a distance of zero is a reuse even if the content changed, and a scroll
/// towards the top renders every frame.
#[derive(Clone, Debug)]
pub struct ScarDecider {
    screen_height: i64,
    /// `N × screen height`, rounded down.
    extended_height: i64,
    total: i64,
}

impl ScarDecider {
    /// For a screen of `screen_height` pixels and the factor `numerator / denominator` (the paper: 1 < N ≤ 2.5, best
    /// 1.5).
    pub const fn new(screen_height: i64, numerator: i64, denominator: i64) -> Self {
        ScarDecider { screen_height, extended_height: screen_height * numerator / denominator, total: 0 }
    }

    /// The decision for one frame; `distance` in pixels, positive when the content moves up.
    pub const fn step(&mut self, distance: i64, scrollable: bool) -> ScarStep {
        if !scrollable {
            return ScarStep::RenderScreen;
        }
        if distance < 0 {
            self.total = 0;
            return ScarStep::RenderScreen;
        }
        self.total += distance;
        if self.total + self.screen_height <= self.extended_height {
            ScarStep::Reuse { offset: self.total }
        } else {
            self.total = 0;
            ScarStep::RenderExtended
        }
    }
}

/// One axis of something in the document: where it starts and how long it is, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The first pixel.
    pub start: i64,
    /// How many pixels.
    pub length: i64,
}

impl Extent {
    /// The pixel after the last.
    pub const fn end(self) -> i64 {
        self.start + self.length
    }

    /// Whether `other` lies inside.
    pub const fn contains(self, other: Extent) -> bool {
        other.start >= self.start && other.end() <= self.end()
    }
}

/// A rectangle of the document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Left to right.
    pub x: Extent,
    /// Top to bottom.
    pub y: Extent,
}

impl Region {
    /// Whether `other` lies inside.
    pub const fn contains(self, other: Region) -> bool {
        self.x.contains(other.x) && self.y.contains(other.y)
    }

    /// How many pixels it has.
    pub const fn pixels(self) -> i64 {
        self.x.length * self.y.length
    }
}

/// How fast a view moves over the document, in pixels per second; positive to the right and down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

/// Limits of the extension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScrollSettings {
    /// The most pixels that a buffer may have: the memory budget divided by the bytes of a pixel.
    pub most_pixels: i64,
    /// The most that an axis is extended by, in lengths of the view: 1.5 is SCAR's N = 2.5.
    pub most_extension: f64,
    /// How long a buffer should last at the present speed.
    pub lasting: Span,
    /// The part of the extension that lies ahead when the view moves; the rest lies behind.
    pub ahead: f64,
}

impl ScrollSettings {
    /// Half a second's worth, at most 1.5 views more, three quarters of it ahead; `most_pixels` is the budget.
    pub const fn with_budget(most_pixels: i64) -> Self {
        ScrollSettings {
            most_pixels,
            most_extension: MOST_EXTENSION,
            lasting: EXTENSION_LASTING,
            ahead: EXTENSION_AHEAD,
        }
    }
}

/// What a step of the view needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScrollStep {
    /// The buffer holds what the view shows.
    Reuse {
        /// The view's position inside the buffer, horizontally.
        x: i64,
        /// And vertically.
        y: i64,
        /// In how long the buffer runs out at the present speed; `None` if it does not.
        runs_out: Option<Span>,
    },
    /// This region has to be rendered before the view can be shown.
    Render(Region),
}

/// Reuse or render, for both axes and directions.
#[derive(Clone, Debug)]
pub struct ScrollView {
    settings: ScrollSettings,
    document: Region,
    buffer: Option<Region>,
}

impl ScrollView {
    /// A view over `document` with nothing rendered.
    pub const fn new(document: Region, settings: ScrollSettings) -> Self {
        ScrollView { settings, document, buffer: None }
    }

    /// The document has another size (content was loaded). What is rendered stays valid.
    pub const fn set_document(&mut self, document: Region) {
        self.document = document;
    }

    /// What is rendered.
    pub const fn buffer(&self) -> Option<Region> {
        self.buffer
    }

    /// Content changed in `damage` other than by scrolling: what was rendered is valid only if it is not touched
    /// (SCAR 6; trap: Algorithm 1 would reuse it).
    pub fn damage(&mut self, damage: Region) {
        let disjoint = |a: Extent, b: Extent| a.end() <= b.start || b.end() <= a.start;
        if self.buffer.is_some_and(|buffer| !disjoint(buffer.x, damage.x) && !disjoint(buffer.y, damage.y)) {
            self.buffer = None;
        }
    }

    /// The decision for a frame that shows `view`, moving with `velocity`. A region to render counts as rendered.
    pub fn step(&mut self, view: Region, velocity: Velocity) -> ScrollStep {
        if let Some(buffer) = self.buffer.filter(|buffer| buffer.contains(view)) {
            return ScrollStep::Reuse {
                x: view.x.start - buffer.x.start,
                y: view.y.start - buffer.y.start,
                runs_out: runs_out(buffer, self.document, view, velocity),
            };
        }
        let region = self.region_for(view, velocity);
        self.buffer = Some(region);
        ScrollStep::Render(region)
    }

    /// The region that should be rendered for `view`: extended by what the speed needs, within the budget, ahead of the
    /// motion and inside the document.
    pub fn region_for(&self, view: Region, velocity: Velocity) -> Region {
        let lasting = self.settings.lasting.as_seconds_f64();
        let wish = |extent: Extent, speed: f64| {
            let most = extent.length as f64 * self.settings.most_extension;
            // At rest half of what is possible: the direction of the next gesture is unknown.
            let needed = if speed == 0.0 { most / 2.0 } else { speed.abs() * lasting / self.settings.ahead };
            needed.min(most)
        };
        let (mut x, mut y) = (wish(view.x, velocity.x), wish(view.y, velocity.y));
        // An axis that cannot move needs no extension; nor does one that rests while the other moves.
        if view.x.contains(self.document.x) || (velocity.x == 0.0 && velocity.y != 0.0) {
            x = 0.0;
        }
        if view.y.contains(self.document.y) || (velocity.y == 0.0 && velocity.x != 0.0) {
            y = 0.0;
        }
        let scale = self.affordable(view, x, y);
        Region {
            x: self.extend(view.x, self.document.x, x * scale, velocity.x),
            y: self.extend(view.y, self.document.y, y * scale, velocity.y),
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

    fn extend(&self, view: Extent, document: Extent, by: f64, speed: f64) -> Extent {
        let share = match speed {
            speed if speed > 0.0 => 1.0 - self.settings.ahead,
            speed if speed < 0.0 => self.settings.ahead,
            _ => 0.5,
        };
        let length = view.length + by as i64;
        let start = view.start - (by * share) as i64;
        // Slide into the document, so that what lies beyond its end is spent on the other side.
        let start = start.min(document.end() - length).max(document.start).min(view.start);
        let end = (start + length).min(document.end()).max(view.end());
        Extent { start, length: end - start }
    }
}

/// In how long `view` leaves `buffer` at this speed; `None` when it does not move or the document ends there anyway.
fn runs_out(buffer: Region, document: Region, view: Region, velocity: Velocity) -> Option<Span> {
    let axis = |buffer: Extent, document: Extent, view: Extent, speed: f64| {
        let (left, ends) = if speed > 0.0 {
            (buffer.end() - view.end(), buffer.end() >= document.end())
        } else {
            (view.start - buffer.start, buffer.start <= document.start)
        };
        (speed != 0.0 && !ends).then(|| Span::from_nanos((left as f64 / speed.abs() * 1e9) as i64))
    };
    let x = axis(buffer.x, document.x, view.x, velocity.x);
    let y = axis(buffer.y, document.y, view.y, velocity.y);
    x.into_iter().chain(y).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIDTH: i64 = 400;
    const HEIGHT: i64 = 1_000;
    const DOCUMENT: Region = Region { x: Extent { start: 0, length: WIDTH }, y: Extent { start: 0, length: 50_000 } };

    fn view_at(y: i64) -> Region {
        Region { x: Extent { start: 0, length: WIDTH }, y: Extent { start: y, length: HEIGHT } }
    }

    #[test]
    fn algorithm_1_reuses_up_to_and_with_the_last_line_of_the_buffer() {
        let mut scar = ScarDecider::new(1_000, 3, 2);
        assert_eq!(scar.step(200, true), ScarStep::Reuse { offset: 200 });
        assert_eq!(scar.step(300, true), ScarStep::Reuse { offset: 500 });
        assert_eq!(scar.step(0, true), ScarStep::Reuse { offset: 500 });
        assert_eq!(scar.step(1, true), ScarStep::RenderExtended);
        assert_eq!(scar.step(500, true), ScarStep::Reuse { offset: 500 });
        assert_eq!(scar.step(-1, true), ScarStep::RenderScreen);
        assert_eq!(scar.step(500, true), ScarStep::Reuse { offset: 500 }, "the total starts anew");
        assert_eq!(scar.step(10, false), ScarStep::RenderScreen);
    }

    #[test]
    fn both_directions_reuse_and_the_buffer_warns_before_it_runs_out() {
        let mut scroll = ScrollView::new(DOCUMENT, ScrollSettings::with_budget(i64::MAX));
        let down = Velocity { x: 0.0, y: 1_000.0 };
        let ScrollStep::Render(first) = scroll.step(view_at(10_000), down) else { panic!("nothing was rendered") };
        assert!(first.y.start < 10_000 && first.y.end() > 11_000, "{first:?}");
        let ahead = first.y.end() - 11_000;
        assert_eq!(
            scroll.step(view_at(10_100), down),
            ScrollStep::Reuse { x: 0, y: 10_100 - first.y.start, runs_out: Some(Span::from_millis(ahead - 100)) }
        );
        let up = Velocity { x: 0.0, y: -1_000.0 };
        assert!(matches!(scroll.step(view_at(9_950), up), ScrollStep::Reuse { .. }));
    }

    #[test]
    fn changed_content_is_rendered_even_without_motion() {
        let mut scroll = ScrollView::new(DOCUMENT, ScrollSettings::with_budget(i64::MAX));
        scroll.step(view_at(0), Velocity::default());
        assert!(matches!(scroll.step(view_at(0), Velocity::default()), ScrollStep::Reuse { .. }));
        scroll.damage(view_at(40_000));
        assert!(matches!(scroll.step(view_at(0), Velocity::default()), ScrollStep::Reuse { .. }));
        scroll.damage(view_at(500));
        assert!(matches!(scroll.step(view_at(0), Velocity::default()), ScrollStep::Render(_)));
    }

    #[test]
    fn without_a_budget_only_the_view_is_rendered() {
        let scroll = ScrollView::new(DOCUMENT, ScrollSettings::with_budget(1));
        assert_eq!(scroll.region_for(view_at(3_000), Velocity { x: 0.0, y: 900.0 }), view_at(3_000));
    }

    proptest! {
        #[test]
        fn a_rendered_region_holds_the_view_within_document_and_budget(
            x in 0_i64..3_000, y in 0_i64..40_000, vx in -5_000.0..5_000.0, vy in -5_000.0..5_000.0,
            views in 1.0..4.0
        ) {
            let document = Region { x: Extent { start: 0, length: 4_000 }, y: Extent { start: 0, length: 50_000 } };
            let view = Region {
                x: Extent { start: x, length: WIDTH }, y: Extent { start: y, length: HEIGHT },
            };
            let budget = (view.pixels() as f64 * views) as i64;
            let scroll = ScrollView::new(document, ScrollSettings::with_budget(budget));
            let region = scroll.region_for(view, Velocity { x: vx, y: vy });
            prop_assert!(region.contains(view), "{region:?}");
            prop_assert!(document.contains(region), "{region:?}");
            prop_assert!(region.pixels() <= budget, "{} > {budget}", region.pixels());
        }
    }
}
