//! Decides which region of a document is rendered next, and by when.
//!
//! ```text
//!             rendered                      wanted: requested before the rest runs out
//!   ├───────────┬──────┬─────────────────┤
//!               │ view │──── left ───────│─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─┤
//!               └──────┘                 └ runs out at way(t) = left
//! ```
//!
//! A requested region counts as on its way, not as rendered: the caller reports when it is.

use super::rendered_regions::{RenderedRegions, ScrollSide};
use super::view_course::{ScrollDistance, ViewCourse};
use super::{DocumentExtent, DocumentRegion};
use crate::defaults::{EXTENSION_AHEAD, MOST_EXTENSION, MOST_FAST_EXTENSION, SCROLL_BUDGET};
use crate::time::Span;

/// The horizon: content that lasts longer than this does not run out.
const FAR: Span = Span::from_seconds(10);
/// The precision of computed times.
const STEP: Span = Span::from_micros(10);
/// The first time to check: most content that runs out does so in less than a second.
const NEAR: Span = Span::from_millis(20);
/// The factor between a checked time and the next.
const FURTHER: i64 = 4;
/// The distance ahead of a fast view, in renders: the render that it waits for, which is partly seen meanwhile, and two
/// more.
const RENDERS_AHEAD: f64 = 3.0;
/// The number of secant and bisection steps that find a time to within [`STEP`] for any course.
const CUTS: u32 = 24;

/// Limits for rendering beyond the view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupplySettings {
    /// The most pixels that may be rendered at once: the memory budget divided by the bytes of a pixel.
    pub most_pixels: i64,
    /// The extension of an axis, in lengths of the view, if the budget allows it. A view that moves further than
    /// half of the part ahead during a render is extended by more.
    pub most_extension: f64,
    /// The part of the extension that lies ahead of a moving view; the rest lies behind.
    pub ahead: f64,
}

impl Default for SupplySettings {
    fn default() -> Self {
        SupplySettings::with_budget(SCROLL_BUDGET)
    }
}

impl SupplySettings {
    /// As much as `most_pixels` allows, at most 1.5 views more, three quarters of it ahead.
    pub const fn with_budget(most_pixels: i64) -> Self {
        SupplySettings { most_pixels, most_extension: MOST_EXTENSION, ahead: EXTENSION_AHEAD }
    }

    /// The same settings with this many lengths of the view ahead of a motion.
    #[must_use]
    pub const fn ahead_by(self, views: f64) -> Self {
        SupplySettings { most_extension: views / self.ahead, ..self }
    }
}

/// A region to render.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WantedRegion {
    /// The region of the document.
    pub region: DocumentRegion,
    /// Time until the first missing part of it would be visible.
    pub within: Span,
}

/// How long before content is missing it has to be requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RenderLead {
    /// The duration of a render at its miss budget. The view moves on during that time.
    pub render: Span,
    /// The delay of sending the request and of latching the result.
    pub way: Span,
}

/// The state of the supply for one view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupplyState {
    /// All visible content is rendered.
    pub covered: bool,
    /// Time until content is missing; `None` if it never is.
    pub runs_out: Option<Span>,
    /// The region to request now.
    pub wanted: Option<WantedRegion>,
}

/// Decides between reuse and rendering, for both axes and directions.
#[derive(Clone, Debug)]
pub struct RenderSupply {
    settings: SupplySettings,
    document: DocumentRegion,
    rendered: RenderedRegions,
    requested: Option<DocumentRegion>,
    /// Nothing is rendered yet, and the view is requested without any extension. The extension follows.
    begins_with_view: bool,
}

impl RenderSupply {
    /// A supply for `document` without any rendered content.
    pub fn new(document: DocumentRegion, settings: SupplySettings) -> Self {
        RenderSupply {
            settings,
            document,
            rendered: RenderedRegions::default(),
            requested: None,
            begins_with_view: false,
        }
    }

    /// Requests the view alone first, and the extension once the view is rendered, so that a new view is visible as early
    /// as without any extension (SCAR: starting takes 3 to 24 % longer).
    #[must_use]
    pub const fn beginning_with_view(self) -> Self {
        RenderSupply { begins_with_view: true, ..self }
    }

    /// Changes the limits. Rendered content stays valid.
    pub const fn set_settings(&mut self, settings: SupplySettings) {
        self.settings = settings;
    }

    /// The document's size changed (content was loaded). Rendered content stays valid.
    pub const fn set_document(&mut self, document: DocumentRegion) {
        self.document = document;
    }

    /// The rendered parts of the document.
    pub const fn rendered(&self) -> &RenderedRegions {
        &self.rendered
    }

    /// Replaces the rendered parts of the document.
    pub fn set_rendered(&mut self, rendered: RenderedRegions) {
        self.requested = self.requested.filter(|asked| !rendered.covers(*asked));
        self.rendered = rendered;
    }

    /// The state for a `view` on this `course`. A wanted region is returned once: from then on it counts as requested.
    pub fn update(&mut self, view: DocumentRegion, course: &impl ViewCourse, lead: RenderLead) -> SupplyState {
        let covered = self.rendered.covers(view);
        let runs_out = self.time_until_missing(&self.rendered, view, course);
        let with_asked = |asked: DocumentRegion| {
            let all = RenderedRegions::of(self.rendered.regions().iter().copied().chain([asked]));
            if all.covers(view) { self.time_until_missing(&all, view, course) } else { Some(Span::ZERO) }
        };
        let missed = if covered { runs_out } else { Some(Span::ZERO) };
        let (lasts, most) = match self.requested.map(with_asked) {
            None => (missed, lead.render + lead.way),
            // A requested region helps: another request would only delay it, unless the view leaves it right after.
            Some(with) if missed.is_some_and(|missed| with.is_none_or(|with| with > missed)) => (with, lead.way),
            Some(with) => (with, lead.render + lead.way),
        };
        let within = lasts.filter(|left| *left <= most).and(missed);
        let wanted = if self.begins_with_view && !covered {
            within.map(|within| WantedRegion { region: view, within })
        } else {
            let is_first = std::mem::take(&mut self.begins_with_view);
            let within = within.or_else(|| is_first.then(|| missed.unwrap_or(FAR)));
            within
                .map(|within| WantedRegion { region: self.region_for(view, course, lead.render), within })
                .filter(|wanted| !is_first || !self.rendered.covers(wanted.region))
        };
        let wanted = wanted.filter(|wanted| Some(wanted.region) != self.requested);
        if let Some(wanted) = wanted {
            self.requested = Some(wanted.region);
        }
        SupplyState { covered, runs_out, wanted }
    }

    /// The region to render for `view`: as much as the budget allows, ahead of the motion but not beyond its end,
    /// and inside the document. It suits the view's position after `render`, and contains all content that is
    /// visible until then.
    pub fn region_for(&self, view: DocumentRegion, course: &impl ViewCourse, render: Span) -> DocumentRegion {
        let (rest, gone) = (course.distance_to_rest(), course.distance_after(render));
        let wish = |view: DocumentExtent, document: DocumentExtent, (way, gone): (f64, f64), other: f64| {
            // An axis that cannot move needs no extension; an axis at rest needs none while the other moves.
            if view.contains(document) || (way == 0.0 && other != 0.0) {
                return 0.0;
            }
            let length = view.length as f64;
            let fast = RENDERS_AHEAD * gone.abs();
            (length * self.settings.most_extension).max(fast.min(length * MOST_FAST_EXTENSION))
        };
        let x = wish(view.x, self.document.x, (rest.x, gone.x), rest.y);
        let y = wish(view.y, self.document.y, (rest.y, gone.y), rest.x);
        let scale = self.affordable(view, x, y);
        DocumentRegion {
            x: self.extend(view.x, self.document.x, x * scale, (rest.x, gone.x)),
            y: self.extend(view.y, self.document.y, y * scale, (rest.y, gone.y)),
        }
    }

    /// The part of the desired extension that the budget allows, from 0 to 1: the positive root of `(w + s·x) (h + s·y)
    /// = budget`.
    fn affordable(&self, view: DocumentRegion, x: f64, y: f64) -> f64 {
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

    /// The rendered extent of one axis. `way`: the distances until the view rests, and until the render is done. If
    /// the view will rest soon, the remaining extension is for both directions from there.
    fn extend(
        &self,
        view: DocumentExtent,
        document: DocumentExtent,
        by: f64,
        (way, gone): (f64, f64),
    ) -> DocumentExtent {
        let way = way - gone;
        let ahead = ((by + way.abs()) / 2.0).min(by * self.settings.ahead).max(by / 2.0);
        let behind = if way < 0.0 { ahead } else { by - ahead };
        let length = view.length + by as i64;
        let start = (view.start + gone as i64 - behind as i64).max(view.end() - length);
        // Slide into the document, so that extension beyond its end is used on the other side.
        let start = start.min(document.end() - length).max(document.start).min(view.start);
        let end = (start + length).min(document.end()).max(view.end());
        DocumentExtent { start, length: end - start }
    }

    /// Time until `view` leaves `cover` on this course; `None` if it does not, or only where the document ends.
    fn time_until_missing(
        &self,
        cover: &RenderedRegions,
        view: DocumentRegion,
        course: &impl ViewCourse,
    ) -> Option<Span> {
        let (rest, seen) = (course.distance_to_rest(), view);
        let axis = |way: f64,
                    sides: [ScrollSide; 2],
                    view: DocumentExtent,
                    document: DocumentExtent,
                    along: fn(ScrollDistance) -> f64| {
            let (side, most) = match way {
                way if way > 0.0 => (sides[1], document.end() - view.end()),
                _ => (sides[0], view.start - document.start),
            };
            let leaves = |left: i64| left < most && (left as f64) < way.abs();
            let left = Some(cover.reach(seen, side, most.max(0))).filter(|left| way != 0.0 && leaves(*left))?;
            time_of(left as f64, |after| along(course.distance_after(after)).abs())
        };
        let x = axis(rest.x, [ScrollSide::Left, ScrollSide::Right], view.x, self.document.x, |way| way.x);
        let y = axis(rest.y, [ScrollSide::Up, ScrollSide::Down], view.y, self.document.y, |way| way.y);
        x.into_iter().chain(y).min()
    }
}

/// When a motion that never turns back has covered `distance`; `None` if not within [`FAR`].
fn time_of(distance: f64, way: impl Fn(Span) -> f64) -> Option<Span> {
    let (mut before, mut short) = (Span::ZERO, distance);
    let (mut after, mut over) = (NEAR, way(NEAR) - distance);
    while over < 0.0 {
        if after == FAR {
            return None;
        }
        (before, short) = (after, -over);
        after = (after * FURTHER).min(FAR);
        over = way(after) - distance;
    }
    for cut in 0..CUTS {
        if after - before <= STEP {
            break;
        }
        // Where the secant crosses zero; every third time the middle, since on an uneven course secants make
        // slow progress.
        let part = if cut % 3 == 2 { 0.5 } else { short / (short + over) };
        let guess = before + Span::from_nanos(((after - before).as_nanos() as f64 * part) as i64);
        for at in [guess - STEP / 2, guess + STEP / 2] {
            if at <= before || at >= after {
                continue;
            }
            let beyond = way(at) - distance;
            if beyond < 0.0 { (before, short) = (at, -beyond) } else { (after, over) = (at, beyond) }
        }
    }
    Some(before)
}

#[cfg(test)]
mod tests;
