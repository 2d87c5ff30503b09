//! One view: what moves it, how much of its document is there, and what its client is told.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Size};

use super::geometry::{Circumstances, circumstances, cover, is_too_deep, on_pixels, region, snapped, within};
use super::kept::{Kept, KeptContent};
use super::listener::{Mode, Movement, Reason, ScrollListener, ShownAt};
use super::state::{self, View};
use crate::guard;
use crate::time::{Instant, Span};
use crate::timing::estimator::{Estimator, WindowQuantile};
use crate::timing::scroll::{Cover, Lead, Region, Side, Supply, SupplySettings, ViewMotion, Wanted, Way};
use crate::timing::settings::MissBudget;
use crate::timing::target::Target;

/// Pixels of the document that a view may have rendered at once, unless somebody says otherwise: the screen of a large
/// monitor twice, 64 MB.
const BUDGET: i64 = 16_000_000;
/// A render takes so long until it is known how long it takes.
const FIRST_RENDER: Span = Span::from_millis(100);
/// Renders that are remembered.
const RENDERS: usize = 32;
/// The share of renders that may take longer than what is reckoned with.
const RENDER_MISS: MissBudget = MissBudget::per_mille(50);
/// A render that takes longer is a client that does something else: it is not reckoned with.
const MOST_RENDER: Span = Span::from_millis(250);

/// What a latch came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// It is shown elsewhere than before.
    pub moved: bool,
    /// It is on its way, and the next refresh shows it elsewhere.
    pub goes_on: bool,
    /// Where it is shown, if its client wants to hear.
    pub reported: Option<ShownAt>,
}

/// One view.
#[derive(Debug)]
pub struct Scrolled {
    /// Its client's end.
    pub listener: Arc<dyn ScrollListener>,
    motion: ViewMotion,
    supply: Supply,
    /// It is sent to a place that is not covered yet.
    jump: Option<(f64, f64)>,
    serial: u32,
    /// It is on its way, or an answer is owed.
    active: bool,
    /// It was let go and moves on.
    thrown: bool,
    /// Content that is missing holds it up: it goes on when that comes.
    held_up: bool,
    /// It lies inside of too many others, and waits.
    too_deep: bool,
    /// Where it is shown.
    offset: Point<f64, Logical>,
    /// It or one of its contents was committed since the last latch.
    touched: bool,
    armed: bool,
    kept: Kept,
    told: Option<(Mode, Reason)>,
    /// What was asked for, and when.
    asked: Option<(Instant, Region)>,
    /// It was said that what is there runs out.
    warned: bool,
    renders: WindowQuantile<RENDERS>,
}

impl Scrolled {
    /// A view that rests at the beginning of its document.
    pub fn new(listener: Arc<dyn ScrollListener>) -> Self {
        listener.tell_budget(BUDGET);
        let mut made = Scrolled {
            listener,
            motion: ViewMotion::new(0.0, 0.0),
            supply: Supply::new(Region::default(), SupplySettings::with_budget(BUDGET)),
            jump: None,
            serial: 0,
            active: false,
            thrown: false,
            held_up: false,
            too_deep: false,
            offset: Point::default(),
            touched: false,
            armed: false,
            kept: Kept::default(),
            told: None,
            asked: None,
            warned: false,
            renders: WindowQuantile::new(),
        };
        made.tell_effective(Mode::Still, Reason::NoContent);
        made
    }

    /// Whether latches have anything to do with it.
    pub const fn is_active(&self) -> bool {
        (self.active || self.held_up) && !self.too_deep
    }

    /// Whether a latch has to look at it.
    pub fn is_concerned(&self) -> bool {
        self.active || self.held_up || self.touched || self.too_deep || !self.kept.seen().is_empty()
    }

    /// It or one of its contents was committed.
    pub const fn touch(&mut self) {
        self.touched = true;
    }

    /// Where one of those is, in the view's coordinates.
    pub fn place_of(&self, kept: &KeptContent) -> Point<f64, Logical> {
        let (x, y) = kept.said.position;
        Point::from((x.get() as f64, y.get() as f64)) - self.offset
    }

    /// Contents that are not there any more, and are seen until others cover the view.
    pub fn kept(&self) -> &[KeptContent] {
        self.kept.seen()
    }

    /// Its client wants to hear where each refresh showed it, or not.
    pub const fn arm(&mut self, armed: bool) {
        self.armed = armed;
    }

    /// Whether fingers hold it.
    pub const fn is_pulled(&self) -> bool {
        self.motion.is_pulled()
    }

    /// Whether it goes on after fingers let go of it, not because it was sent somewhere.
    pub const fn is_thrown(&self) -> bool {
        self.thrown
    }

    /// Whether input could move it this way; fingers that pull, also beyond its end.
    pub fn can_go(&self, way: Way, pulls: bool) -> bool {
        !self.too_deep && (self.motion.can_go(way) || (pulls && self.motion.gives_way()))
    }

    /// Somebody asks for this at `at`.
    pub fn ask(&mut self, surface: &WlSurface, at: Instant, movement: Movement) {
        let Some(Circumstances { view, size, shown }) = circumstances(surface) else {
            return self.begin(movement);
        };
        self.thrown = movement == Movement::LetGo;
        self.motion.set_ranges(view.ranges(size), at);
        let (here, goal) = ((shown.x, shown.y), self.jump.unwrap_or_else(|| self.motion.goal()));
        match movement {
            Movement::To { offset: (x, y), smoothly, serial } => {
                self.serial = serial;
                self.go(at, (x as f64, y as f64), smoothly);
            }
            Movement::By { way: (x, y), smoothly, serial } => {
                self.serial = serial;
                self.go(at, (goal.0 + x as f64, goal.1 + y as f64), smoothly);
            }
            Movement::Turn(way) => {
                let way = view.along(way);
                let to = snapped(&view, (goal.0 + way.x, goal.1 + way.y), way);
                self.go(at, to, true);
            }
            Movement::Pull(way) => {
                self.jump = None;
                self.motion.pull(at, view.along(way), here);
            }
            Movement::LetGo => {
                self.motion.let_go(at, view.physics.keeps, here);
                let goal = self.motion.goal();
                let to = snapped(&view, goal, Way { x: goal.0 - here.0, y: goal.1 - here.1 });
                if to != goal {
                    self.motion.go(at, to.0, to.1, true);
                }
            }
            Movement::Stop => {
                self.jump = None;
                self.motion.stop(here);
            }
        }
        self.active = true;
    }

    /// Where it begins can be said before there is anything to be seen.
    fn begin(&mut self, movement: Movement) {
        let before = self.jump.unwrap_or_default();
        match movement {
            Movement::To { offset: (x, y), serial, .. } => {
                (self.jump, self.serial) = (Some((x as f64, y as f64)), serial)
            }
            Movement::By { way: (x, y), serial, .. } => {
                (self.jump, self.serial) = (Some((before.0 + x as f64, before.1 + y as f64)), serial);
            }
            Movement::Stop => self.jump = None,
            Movement::Pull(_) | Movement::LetGo | Movement::Turn(_) => return,
        }
        self.active = true;
    }

    fn go(&mut self, at: Instant, (x, y): (f64, f64), smoothly: bool) {
        self.jump = None;
        self.motion.go(at, x, y, smoothly);
        if !smoothly {
            self.jump = Some((x, y));
        }
    }

    /// Moves it to where it is in the frame shown at `target`, on whole pixels of an output with this scale.
    pub fn latch(&mut self, surface: &WlSurface, target: Target, now: Instant, scale: f64) -> Answer {
        let Some(Circumstances { view, size, shown }) = circumstances(surface) else { return Answer::default() };
        self.too_deep = is_too_deep(surface);
        if self.too_deep {
            // Its time stands still.
            (self.active, self.held_up) = (false, self.active || self.held_up);
            self.tell_effective(Mode::Still, Reason::Nesting);
            return Answer::default();
        }
        let (present, cover) = (target.present, cover(surface, &view));
        let ranges = view.ranges(size);
        self.motion.set_ranges(ranges, present);
        self.motion.set_predicts(!view.unpredicted);
        let band = f64::from(view.physics.rubber_band);
        self.motion.set_band(band);
        let was_waiting = std::mem::take(&mut self.held_up);
        if was_waiting && self.jump.is_none() {
            // Its time stood still.
            self.motion.hold_up(present - target.interval, shown.x, shown.y);
        }
        if let Some((x, y)) = self.jump {
            // The document may have grown meanwhile.
            self.motion.go(present, x, y, false);
        }
        let place = self.motion.at(present);
        let wished = within(ranges.widened(band), Point::from((place.x.value, place.y.value)));
        let desired = on_pixels(wished, scale);
        let offset = self.allowed(&cover, &view, size, (shown, desired));
        let is_short = offset != desired && self.jump.is_none();
        if is_short {
            self.motion.hold_up(present, offset.x, offset.y);
        }
        let moved = offset != shown;
        self.offset = offset;
        if moved {
            guard::with_states(surface, |states| state::set_offset(states, offset));
        }
        self.heed_cover(&cover, now);
        self.look(&view, size, offset, cover, Moment { now, target });
        // Contents change in latches after a commit only, and are looked at then.
        let touched = std::mem::take(&mut self.touched);
        let is_covered = self.supply.rendered().covers(region(within(ranges, offset), size));
        let other_contents = match is_covered {
            true if touched || !self.kept.seen().is_empty() => self.kept.renew(surface, &view),
            true => false,
            false => self.kept.show(),
        };
        let waits = self.jump.is_some() || (is_short && !moved);
        let goes_on = !waits && self.motion.moves_after(present);
        self.held_up = waits;
        let shown_at =
            ShownAt { offset, velocity: Way { x: place.x.velocity, y: place.y.velocity }, serial: self.serial };
        if (self.active || was_waiting) && !goes_on && !waits && !self.motion.is_pulled() {
            self.listener.tell_rest(ShownAt { velocity: Way::default(), ..shown_at });
        }
        self.active = goes_on;
        Answer { moved: moved || other_contents, goes_on, reported: (self.armed && moved).then_some(shown_at) }
    }

    /// How far it may go now: not beyond what is there, unless that is the end of the document.
    fn allowed(
        &mut self,
        cover: &Cover,
        view: &View,
        size: Size<i32, Logical>,
        (shown, desired): (Point<f64, Logical>, Point<f64, Logical>),
    ) -> Point<f64, Logical> {
        let ranges = view.ranges(size);
        let (from, to) = (within(ranges, shown), within(ranges, desired));
        let is_there = |offset| cover.covers(region(offset, size));
        if is_there(to) && (self.jump.take().is_some() || !is_there(from)) {
            return desired;
        }
        if self.jump.is_some() || !is_there(from) {
            return shown;
        }
        let mut offset = from;
        let reach = |offset: Point<f64, Logical>, way: f64, forward: Side, back: Side| {
            let side = if way > 0.0 { forward } else { back };
            let reach = cover.reach(region(offset, size), side, way.abs().ceil() as i64);
            way.abs().min(reach as f64).copysign(way)
        };
        offset.x += reach(offset, to.x - offset.x, Side::Right, Side::Left);
        offset.y += reach(offset, to.y - offset.y, Side::Down, Side::Up);
        let beyond = |reached: f64, to: f64, desired: f64| if reached == to { desired } else { reached };
        Point::from((beyond(offset.x, to.x, desired.x), beyond(offset.y, to.y, desired.y)))
    }

    /// What was asked for is there: so long it took.
    fn heed_cover(&mut self, cover: &Cover, now: Instant) {
        if let Some((since, _)) = self.asked.take_if(|(_, region)| cover.covers(*region)) {
            self.renders.observe((now - since).min(MOST_RENDER));
        }
    }

    fn look(
        &mut self,
        view: &View,
        size: Size<i32, Logical>,
        offset: Point<f64, Logical>,
        cover: Cover,
        moment: Moment,
    ) {
        let Moment { now, target } = moment;
        let has_content = !cover.regions().is_empty();
        let (mode, reason) =
            if has_content { (Mode::Composited, Reason::Policy) } else { (Mode::Still, Reason::NoContent) };
        self.tell_effective(mode, reason);
        self.supply.set_rendered(cover);
        if view.document.pixels() <= 0 {
            return;
        }
        let seen = within(view.ranges(size), self.jump.map_or(offset, Point::from));
        let render = self.renders.budget(RENDER_MISS).unwrap_or(FIRST_RENDER);
        let lead = Lead { render, way: target.interval };
        self.supply.set_document(view.document);
        let look = self.supply.look(region(seen, size), &self.motion.onward(target.present), lead);
        if let Some(Wanted { region, within }) = look.wanted {
            self.asked = Some((now, region));
            self.warned = false;
            self.listener.tell_wanted(region, target.present + within);
        }
        // It is there in so long, in the next refresh at the soonest.
        let expected = self.asked.map(|(since, _)| (since + render - now).max(target.interval));
        let runs_out = look.runs_out.filter(|left| expected.is_some_and(|expected| *left < expected));
        let Some(left) = runs_out.filter(|_| !self.warned) else { return };
        self.warned = true;
        let way = crate::timing::scroll::Course::rest(&self.motion.onward(target.present));
        let side = match (way.x, way.y) {
            (x, y) if x.abs() > y.abs() && x > 0.0 => Side::Right,
            (x, y) if x.abs() > y.abs() => Side::Left,
            (_, y) if y > 0.0 => Side::Down,
            _ => Side::Up,
        };
        let reach = self.supply.rendered().reach(region(offset, size), side, i64::from(size.w.max(size.h)));
        self.listener.tell_low_water(side, reach, target.present + left);
    }

    fn tell_effective(&mut self, mode: Mode, reason: Reason) {
        if self.told.replace((mode, reason)) != Some((mode, reason)) {
            self.listener.tell_effective(mode, reason);
        }
    }
}

#[derive(Clone, Copy)]
struct Moment {
    now: Instant,
    target: Target,
}
