//! The machine of one scrolled view, from latch to latch: its offset in the latched frame, missing content that holds
//! it up, and the region to render next. The compositor uses it for views that it moves; a client uses it for views
//! that it has to move itself.
//!
//! ```text
//!   handle_request(at, movement) ─► motion ─┐
//!   terms, cover ───────────────────────────┴─ latch(present) ─► ViewUpdate: at · is_moving · wanted · low_water
//! ```

use super::DocumentRegion;
use super::motion::{OffsetRanges, ViewMotion};
use super::rendered_regions::{RenderedRegions, ScrollSide};
use super::supply::{RenderLead, RenderSupply, SupplySettings, WantedRegion};
use super::terms::ViewTerms;
use super::view_course::{ScrollDistance, ViewCourse};
use crate::estimator::{Estimator, WindowQuantile};
use crate::settings::MissBudget;
use crate::time::{Instant, Span};

/// The assumed duration of a render before any measurement.
const FIRST_RENDER: Span = Span::from_millis(100);
/// The number of renders that are remembered.
const RENDERS: usize = 32;
/// The share of renders that may take longer than the estimate.
const RENDER_MISS: MissBudget = MissBudget::per_mille(50);
/// Longer renders count as this long, since the client was probably busy with other work.
const MOST_RENDER: Span = Span::from_millis(250);

/// A request to move a view, from its client or from input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScrollRequest {
    /// Scroll to an offset.
    To {
        /// The offset in the document, in pixels.
        offset: (i64, i64),
        /// Animated instead of at once.
        smoothly: bool,
        /// The requester's number for the request.
        serial: u32,
    },
    /// Scroll by a distance.
    By {
        /// The distance in pixels.
        way: (i64, i64),
        /// Animated instead of at once.
        smoothly: bool,
        /// The requester's number for the request.
        serial: u32,
    },
    /// Fingers drag the view by this.
    Drag(ScrollDistance),
    /// The fingers were lifted.
    Release,
    /// A wheel was turned by this.
    Wheel(ScrollDistance),
    /// Stop at the present offset.
    Stop,
}

/// The position of a view in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ViewPosition {
    /// Offset in the document, in pixels.
    pub offset: (f64, f64),
    /// Velocity in pixels per second.
    pub velocity: ScrollDistance,
    /// The number of the last request that was followed.
    pub serial: u32,
}

/// The frame that is being latched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewLatch {
    /// The moment of the latch.
    pub now: Instant,
    /// When the frame is shown.
    pub present: Instant,
    /// The distance from the previous frame.
    pub interval: Span,
    /// Display pixels per pixel of the view. Offsets are rounded to whole display pixels.
    pub scale: f64,
}

/// A region that the client has to render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderDemand {
    /// The region of the document.
    pub region: DocumentRegion,
    /// When the first missing part of it would be visible.
    pub by: Instant,
}

/// Low water: the rendered content on one side will run out before the requested region can be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowWater {
    /// The side on which content runs out.
    pub side: ScrollSide,
    /// How many rendered pixels are left.
    pub left: i64,
    /// When the content runs out.
    pub until: Instant,
}

/// The result of a latch of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ViewUpdate {
    /// The view's position in the latched frame.
    pub at: ViewPosition,
    /// The offset differs from the previous frame.
    pub moved: bool,
    /// The view is moving, so the next refresh shows another offset.
    pub is_moving: bool,
    /// The view has come to rest, or a request asked for its present state.
    pub has_come_to_rest: bool,
    /// All needed content is rendered.
    pub covered: bool,
    /// Some visible content is missing: the last row or column is stretched instead.
    pub stretched: bool,
    /// The region to render next.
    pub wanted: Option<RenderDemand>,
    /// A warning that the region will be rendered too late.
    pub low_water: Option<LowWater>,
}

/// The state of one scrolled view.
#[derive(Clone, Debug)]
pub struct ViewMachine {
    motion: ViewMotion,
    supply: RenderSupply,
    /// The requested offset of a jump whose destination is not rendered yet.
    jump: Option<(f64, f64)>,
    serial: u32,
    /// The view is moving, or a response to a request is pending.
    active: bool,
    /// The fingers were lifted and the view moves on.
    flung: bool,
    /// Missing content holds the view up: it continues when that arrives.
    held_up: bool,
    /// The requested region, and when it was requested.
    requested: Option<(Instant, DocumentRegion)>,
    /// A low-water warning was given.
    warned: bool,
    renders: WindowQuantile<RENDERS>,
}

impl ViewMachine {
    /// A view that rests at the beginning of its document.
    pub fn new(settings: SupplySettings) -> Self {
        ViewMachine {
            motion: ViewMotion::new(0.0, 0.0),
            supply: RenderSupply::new(DocumentRegion::default(), settings).beginning_with_view(),
            jump: None,
            serial: 0,
            active: false,
            flung: false,
            held_up: false,
            requested: None,
            warned: false,
            renders: WindowQuantile::new(),
        }
    }

    /// Changes the limits of rendering beyond the view, for the next requests.
    pub const fn set_supply(&mut self, settings: SupplySettings) {
        self.supply.set_settings(settings);
    }

    /// Whether the view is moving, or a response to a request is pending.
    pub const fn is_active(&self) -> bool {
        self.active
    }

    /// Whether missing content holds the view up.
    pub const fn is_held_up(&self) -> bool {
        self.held_up
    }

    /// Stops the view's time until the next latch.
    pub const fn suspend(&mut self) {
        (self.active, self.held_up) = (false, self.active || self.held_up);
    }

    /// Whether fingers drag the view.
    pub const fn is_dragged(&self) -> bool {
        self.motion.is_dragged()
    }

    /// Whether the view moves on after fingers were lifted, not because of another request.
    pub const fn is_flung(&self) -> bool {
        self.flung
    }

    /// Whether input could move the view this way. Dragging fingers can also move it beyond its end.
    pub fn can_go(&self, way: ScrollDistance, pulls: bool) -> bool {
        self.motion.can_go(way) || (pulls && self.motion.can_overscroll())
    }

    /// Handles a request at `at`, while the view is shown at `shown`.
    pub fn handle_request(&mut self, at: Instant, movement: ScrollRequest, terms: &ViewTerms<'_>, shown: (f64, f64)) {
        self.flung = movement == ScrollRequest::Release;
        self.motion.set_ranges(terms.ranges(), at);
        let goal = self.jump.unwrap_or_else(|| self.motion.goal());
        match movement {
            ScrollRequest::To { offset: (x, y), smoothly, serial } => {
                self.serial = serial;
                self.go(at, (x as f64, y as f64), smoothly);
            }
            ScrollRequest::By { way: (x, y), smoothly, serial } => {
                self.serial = serial;
                self.go(at, (goal.0 + x as f64, goal.1 + y as f64), smoothly);
            }
            ScrollRequest::Wheel(way) => {
                let way = terms.along(way);
                self.go(at, terms.snapped((goal.0 + way.x, goal.1 + way.y), way), true);
            }
            ScrollRequest::Drag(way) => {
                self.jump = None;
                self.motion.drag(at, terms.along(way), shown);
            }
            ScrollRequest::Release => {
                self.motion.release(at, terms.keeps, shown);
                let goal = self.motion.goal();
                let to = terms.snapped(goal, ScrollDistance { x: goal.0 - shown.0, y: goal.1 - shown.1 });
                if to != goal {
                    self.motion.scroll_to(at, to.0, to.1, true);
                }
            }
            ScrollRequest::Stop => {
                self.jump = None;
                self.motion.stop(shown);
            }
        }
        self.active = true;
    }

    /// Handles a request before the view is visible: it sets the initial offset.
    pub fn begin(&mut self, movement: ScrollRequest) {
        let before = self.jump.unwrap_or_default();
        match movement {
            ScrollRequest::To { offset: (x, y), serial, .. } => {
                (self.jump, self.serial) = (Some((x as f64, y as f64)), serial);
            }
            ScrollRequest::By { way: (x, y), serial, .. } => {
                (self.jump, self.serial) = (Some((before.0 + x as f64, before.1 + y as f64)), serial);
            }
            ScrollRequest::Stop => self.jump = None,
            ScrollRequest::Drag(_) | ScrollRequest::Release | ScrollRequest::Wheel(_) => return,
        }
        self.active = true;
    }

    fn go(&mut self, at: Instant, (x, y): (f64, f64), smoothly: bool) {
        self.motion.scroll_to(at, x, y, smoothly);
        self.jump = (!smoothly).then_some((x, y));
    }

    /// Moves the view from its offset `shown` to its offset in the latched frame. `cover`: the rendered parts of
    /// the document.
    pub fn latch(
        &mut self,
        latch: ViewLatch,
        terms: &ViewTerms<'_>,
        cover: RenderedRegions,
        shown: (f64, f64),
    ) -> ViewUpdate {
        let ViewLatch { present, interval, scale, .. } = latch;
        let ranges = terms.ranges();
        self.motion.set_ranges(ranges, present);
        self.motion.set_predicts(terms.predicts);
        self.motion.set_overscroll(terms.band);
        let was_waiting = std::mem::take(&mut self.held_up);
        if was_waiting && self.jump.is_none() {
            // The view's time stood still while it waited.
            self.motion.hold_up(present - interval, shown.0, shown.1);
        }
        if let Some((x, y)) = self.jump {
            // The document may have grown meanwhile, so clamp the goal again.
            self.motion.scroll_to(present, x, y, false);
        }
        let place = self.motion.at(present);
        let desired = on_pixels(within(ranges.widened(terms.band), (place.x.value, place.y.value)), scale);
        let offset = self.allowed(&cover, terms, (shown, desired));
        let is_short = offset != desired && self.jump.is_none();
        if is_short {
            self.motion.hold_up(present, offset.0, offset.1);
        }
        let moved = offset != shown;
        // The requested region has arrived: learn how long the render took.
        if let Some((since, _)) = self.requested.take_if(|(_, region)| cover.covers(*region)) {
            self.renders.observe((latch.now - since).min(MOST_RENDER));
        }
        self.supply.set_rendered(cover);
        let (wanted, low_water) = self.find_demand(terms, offset, latch);
        let waits = self.jump.is_some() || (is_short && !moved);
        let goes_on = !waits && self.motion.moves_after(present);
        self.held_up = waits;
        let rests = (self.active || was_waiting) && !goes_on && !waits && !self.motion.is_dragged();
        self.active = goes_on;
        let velocity = ScrollDistance { x: place.x.velocity, y: place.y.velocity };
        let (there, offset_inside) = (self.supply.rendered(), within(ranges, offset));
        let covered = there.covers(terms.needed(offset_inside));
        let stretched = terms.stretches && covered && !there.covers(terms.shown(offset_inside));
        let at = ViewPosition { offset, velocity, serial: self.serial };
        ViewUpdate { at, moved, is_moving: goes_on, has_come_to_rest: rests, covered, stretched, wanted, low_water }
    }

    /// The offset in a later frame, which the next latches will give the view if nothing but time moves it. `None`:
    /// fingers drag it, or content is missing there. Parameters as in [`latch`](Self::latch).
    pub fn foresee(
        &self,
        latch: ViewLatch,
        terms: &ViewTerms<'_>,
        cover: RenderedRegions,
        shown: (f64, f64),
    ) -> Option<(f64, f64)> {
        if self.motion.is_dragged() || self.jump.is_some() || self.held_up {
            return None;
        }
        let mut later = self.clone();
        let step = later.latch(latch, terms, cover, shown);
        (step.covered && !step.stretched && !later.held_up).then_some(step.at.offset)
    }

    /// The offset that rendered content allows: not beyond it, unless the document ends there.
    fn allowed(
        &mut self,
        cover: &RenderedRegions,
        terms: &ViewTerms<'_>,
        (shown, desired): ((f64, f64), (f64, f64)),
    ) -> (f64, f64) {
        let ranges = terms.ranges();
        let (from, to) = (within(ranges, shown), within(ranges, desired));
        if self.jump.is_some() {
            // A jump is not urgent: it waits until all visible content is rendered.
            if !cover.covers(terms.seen(to)) {
                return shown;
            }
            self.jump = None;
            return desired;
        }
        let is_there = |offset| cover.covers(terms.needed(offset));
        if !is_there(from) {
            return if is_there(to) { desired } else { shown };
        }
        let mut offset = from;
        let reach = |offset: (f64, f64), way: f64, forward: ScrollSide, back: ScrollSide| {
            let side = if way > 0.0 { forward } else { back };
            let reach = cover.reach(terms.needed(offset), side, way.abs().ceil() as i64);
            way.abs().min(reach as f64).copysign(way)
        };
        offset.0 += reach(offset, to.0 - offset.0, ScrollSide::Right, ScrollSide::Left);
        offset.1 += reach(offset, to.1 - offset.1, ScrollSide::Down, ScrollSide::Up);
        let beyond = |reached: f64, to: f64, desired: f64| if reached == to { desired } else { reached };
        (beyond(offset.0, to.0, desired.0), beyond(offset.1, to.1, desired.1))
    }

    /// The region to render, and the low-water warning.
    fn find_demand(
        &mut self,
        terms: &ViewTerms<'_>,
        offset: (f64, f64),
        latch: ViewLatch,
    ) -> (Option<RenderDemand>, Option<LowWater>) {
        if terms.document.pixels() <= 0 {
            return (None, None);
        }
        let seen = within(terms.ranges(), self.jump.unwrap_or(offset));
        let render = self.renders.budget(RENDER_MISS).unwrap_or(FIRST_RENDER);
        let lead = RenderLead { render, way: latch.interval };
        let onward = self.motion.ongoing_course(latch.present);
        self.supply.set_document(terms.document);
        let look = self.supply.update(terms.seen(seen), &onward, lead);
        let wanted =
            look.wanted.map(|WantedRegion { region, within }| RenderDemand { region, by: latch.present + within });
        if let Some(RenderDemand { region, .. }) = wanted {
            self.requested = Some((latch.now, region));
            self.warned = false;
        }
        // When the requested region is expected, in the next refresh at the earliest.
        let expected = self.requested.map(|(since, _)| (since + render - latch.now).max(latch.interval));
        let runs_out = look.runs_out.filter(|left| expected.is_some_and(|expected| *left < expected));
        let low_water = runs_out.filter(|_| !self.warned).map(|left| {
            let side = ahead(onward.distance_to_rest());
            let left_there = self.supply.rendered().reach(terms.seen(offset), side, terms.size.0.max(terms.size.1));
            LowWater { side, left: left_there, until: latch.present + left }
        });
        self.warned |= low_water.is_some();
        (wanted, low_water)
    }
}

/// The side of the larger component of a distance.
fn ahead(way: ScrollDistance) -> ScrollSide {
    match (way.x, way.y) {
        (x, y) if x.abs() > y.abs() && x > 0.0 => ScrollSide::Right,
        (x, y) if x.abs() > y.abs() => ScrollSide::Left,
        (_, y) if y > 0.0 => ScrollSide::Down,
        _ => ScrollSide::Up,
    }
}

fn within(ranges: OffsetRanges, offset: (f64, f64)) -> (f64, f64) {
    (ranges.x.clamp(offset.0), ranges.y.clamp(offset.1))
}

fn on_pixels(offset: (f64, f64), scale: f64) -> (f64, f64) {
    ((offset.0 * scale).round() / scale, (offset.1 * scale).round() / scale)
}

#[cfg(test)]
mod tests;
