//! One view from latch to latch: where it is in the frame that is chosen, what holds it up, what is to be rendered next. The same
//! for the compositor that moves a view and for a client that has to do so itself.
//!
//! ```text
//!   ask(at, movement) ─► motion ─┐
//!   terms, cover ────────────────┴─ latch(present) ─► Step: offset · goes on? · rests? · wanted · low water
//! ```

use super::Region;
use super::course::{Course, Way};
use super::cover::{Cover, Side};
use super::motion::{Ranges, ViewMotion};
use super::supply::{Lead, Supply, SupplySettings, Wanted};
use super::terms::Terms;
use crate::estimator::{Estimator, WindowQuantile};
use crate::settings::MissBudget;
use crate::time::{Instant, Span};

/// A render takes so long until it is known how long it takes.
const FIRST_RENDER: Span = Span::from_millis(100);
/// Renders that are remembered.
const RENDERS: usize = 32;
/// The share of renders that may take longer than what is reckoned with.
const RENDER_MISS: MissBudget = MissBudget::per_mille(50);
/// A render that takes longer is a client that does something else: it is not reckoned with.
const MOST_RENDER: Span = Span::from_millis(250);

/// What somebody asks of a view.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Movement {
    /// Go there.
    To {
        /// Where.
        offset: (i64, i64),
        /// Not at once.
        smoothly: bool,
        /// The asker's number for it.
        serial: u32,
    },
    /// Go on.
    By {
        /// How far.
        way: (i64, i64),
        /// Not at once.
        smoothly: bool,
        /// The asker's number for it.
        serial: u32,
    },
    /// Fingers pull.
    Pull(Way),
    /// They are lifted.
    LetGo,
    /// A wheel was turned.
    Turn(Way),
    /// It stays where it is.
    Stop,
}

/// Where a view is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShownAt {
    /// Its offset.
    pub offset: (f64, f64),
    /// In pixels per second.
    pub velocity: Way,
    /// Of the last request that was heeded.
    pub serial: u32,
}

/// The frame that is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latch {
    /// When it is chosen.
    pub now: Instant,
    /// When it is shown.
    pub present: Instant,
    /// The distance to the frame before it.
    pub interval: Span,
    /// Pixels of the display for one of the view, which is shown on whole ones.
    pub scale: f64,
}

/// Something is to be rendered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand {
    /// What of the document.
    pub region: Region,
    /// When something of it is missed.
    pub by: Instant,
}

/// What is there on one side will not last until what is asked for can be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowWater {
    /// Where.
    pub side: Side,
    /// How many pixels are left.
    pub left: i64,
    /// Until when.
    pub until: Instant,
}

/// What a latch came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// Where it is shown.
    pub at: ShownAt,
    /// That is elsewhere than before.
    pub moved: bool,
    /// It is on its way, and the next refresh shows it elsewhere.
    pub goes_on: bool,
    /// It has come to rest, or answers somebody who asked for what it does already.
    pub rests: bool,
    /// All that it has to show is there.
    pub covered: bool,
    /// What else it shows is not: the last row or column is, instead of that.
    pub stretched: bool,
    /// This is to be rendered.
    pub wanted: Option<Demand>,
    /// It will be too late.
    pub low_water: Option<LowWater>,
}

/// One view.
#[derive(Clone, Debug)]
pub struct ViewMachine {
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
    /// What was asked for, and when.
    asked: Option<(Instant, Region)>,
    /// It was said that what is there runs out.
    warned: bool,
    renders: WindowQuantile<RENDERS>,
}

impl ViewMachine {
    /// A view that rests at the beginning of its document.
    pub fn new(settings: SupplySettings) -> Self {
        ViewMachine {
            motion: ViewMotion::new(0.0, 0.0),
            supply: Supply::new(Region::default(), settings),
            jump: None,
            serial: 0,
            active: false,
            thrown: false,
            held_up: false,
            asked: None,
            warned: false,
            renders: WindowQuantile::new(),
        }
    }

    /// Other limits of what is rendered beyond the view, from the next question on.
    pub const fn set_supply(&mut self, settings: SupplySettings) {
        self.supply.set_settings(settings);
    }

    /// It is on its way, or an answer is owed.
    pub const fn is_active(&self) -> bool {
        self.active
    }

    /// Content that is missing holds it up.
    pub const fn is_held_up(&self) -> bool {
        self.held_up
    }

    /// Its time stands still until it is latched again.
    pub const fn suspend(&mut self) {
        (self.active, self.held_up) = (false, self.active || self.held_up);
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
        self.motion.can_go(way) || (pulls && self.motion.gives_way())
    }

    /// Somebody asks for this at `at`, while it is shown at `shown`.
    pub fn ask(&mut self, at: Instant, movement: Movement, terms: &Terms<'_>, shown: (f64, f64)) {
        self.thrown = movement == Movement::LetGo;
        self.motion.set_ranges(terms.ranges(), at);
        let goal = self.jump.unwrap_or_else(|| self.motion.goal());
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
                let way = terms.along(way);
                self.go(at, terms.snapped((goal.0 + way.x, goal.1 + way.y), way), true);
            }
            Movement::Pull(way) => {
                self.jump = None;
                self.motion.pull(at, terms.along(way), shown);
            }
            Movement::LetGo => {
                self.motion.let_go(at, terms.keeps, shown);
                let goal = self.motion.goal();
                let to = terms.snapped(goal, Way { x: goal.0 - shown.0, y: goal.1 - shown.1 });
                if to != goal {
                    self.motion.go(at, to.0, to.1, true);
                }
            }
            Movement::Stop => {
                self.jump = None;
                self.motion.stop(shown);
            }
        }
        self.active = true;
    }

    /// The same before there is anything to be seen: where it begins.
    pub fn begin(&mut self, movement: Movement) {
        let before = self.jump.unwrap_or_default();
        match movement {
            Movement::To { offset: (x, y), serial, .. } => {
                (self.jump, self.serial) = (Some((x as f64, y as f64)), serial);
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
        self.motion.go(at, x, y, smoothly);
        self.jump = (!smoothly).then_some((x, y));
    }

    /// Moves it from where it is `shown` to where it is in the frame that is chosen. `cover` is what of the document is there.
    pub fn latch(&mut self, latch: Latch, terms: &Terms<'_>, cover: Cover, shown: (f64, f64)) -> Step {
        let Latch { present, interval, scale, .. } = latch;
        let ranges = terms.ranges();
        self.motion.set_ranges(ranges, present);
        self.motion.set_predicts(terms.predicts);
        self.motion.set_band(terms.band);
        let was_waiting = std::mem::take(&mut self.held_up);
        if was_waiting && self.jump.is_none() {
            // Its time stood still.
            self.motion.hold_up(present - interval, shown.0, shown.1);
        }
        if let Some((x, y)) = self.jump {
            // The document may have grown meanwhile.
            self.motion.go(present, x, y, false);
        }
        let place = self.motion.at(present);
        let desired = on_pixels(within(ranges.widened(terms.band), (place.x.value, place.y.value)), scale);
        let offset = self.allowed(&cover, terms, (shown, desired));
        let is_short = offset != desired && self.jump.is_none();
        if is_short {
            self.motion.hold_up(present, offset.0, offset.1);
        }
        let moved = offset != shown;
        // What was asked for is there: so long it took.
        if let Some((since, _)) = self.asked.take_if(|(_, region)| cover.covers(*region)) {
            self.renders.observe((latch.now - since).min(MOST_RENDER));
        }
        self.supply.set_rendered(cover);
        let (wanted, low_water) = self.look(terms, offset, latch);
        let waits = self.jump.is_some() || (is_short && !moved);
        let goes_on = !waits && self.motion.moves_after(present);
        self.held_up = waits;
        let rests = (self.active || was_waiting) && !goes_on && !waits && !self.motion.is_pulled();
        self.active = goes_on;
        let velocity = Way { x: place.x.velocity, y: place.y.velocity };
        let (there, offset_inside) = (self.supply.rendered(), within(ranges, offset));
        let covered = there.covers(terms.needed(offset_inside));
        let stretched = terms.stretches && covered && !there.covers(terms.shown(offset_inside));
        let at = ShownAt { offset, velocity, serial: self.serial };
        Step { at, moved, goes_on, rests, covered, stretched, wanted, low_water }
    }

    /// How far it may go now: not beyond what is there, unless that is the end of the document.
    fn allowed(&mut self, cover: &Cover, terms: &Terms<'_>, (shown, desired): ((f64, f64), (f64, f64))) -> (f64, f64) {
        let ranges = terms.ranges();
        let (from, to) = (within(ranges, shown), within(ranges, desired));
        if self.jump.is_some() {
            // Nothing hurries it: it arrives with all that is to be seen.
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
        let reach = |offset: (f64, f64), way: f64, forward: Side, back: Side| {
            let side = if way > 0.0 { forward } else { back };
            let reach = cover.reach(terms.needed(offset), side, way.abs().ceil() as i64);
            way.abs().min(reach as f64).copysign(way)
        };
        offset.0 += reach(offset, to.0 - offset.0, Side::Right, Side::Left);
        offset.1 += reach(offset, to.1 - offset.1, Side::Down, Side::Up);
        let beyond = |reached: f64, to: f64, desired: f64| if reached == to { desired } else { reached };
        (beyond(offset.0, to.0, desired.0), beyond(offset.1, to.1, desired.1))
    }

    /// What is to be rendered, and what will be missed before it is.
    fn look(&mut self, terms: &Terms<'_>, offset: (f64, f64), latch: Latch) -> (Option<Demand>, Option<LowWater>) {
        if terms.document.pixels() <= 0 {
            return (None, None);
        }
        let seen = within(terms.ranges(), self.jump.unwrap_or(offset));
        let render = self.renders.budget(RENDER_MISS).unwrap_or(FIRST_RENDER);
        let lead = Lead { render, way: latch.interval };
        let onward = self.motion.onward(latch.present);
        self.supply.set_document(terms.document);
        let look = self.supply.look(terms.seen(seen), &onward, lead);
        let wanted = look.wanted.map(|Wanted { region, within }| Demand { region, by: latch.present + within });
        if let Some(Demand { region, .. }) = wanted {
            self.asked = Some((latch.now, region));
            self.warned = false;
        }
        // It is there in so long, in the next refresh at the soonest.
        let expected = self.asked.map(|(since, _)| (since + render - latch.now).max(latch.interval));
        let runs_out = look.runs_out.filter(|left| expected.is_some_and(|expected| *left < expected));
        let low_water = runs_out.filter(|_| !self.warned).map(|left| {
            let side = ahead(onward.rest());
            let left_there = self.supply.rendered().reach(terms.seen(offset), side, terms.size.0.max(terms.size.1));
            LowWater { side, left: left_there, until: latch.present + left }
        });
        self.warned |= low_water.is_some();
        (wanted, low_water)
    }
}

/// The side that most of a way goes to.
fn ahead(way: Way) -> Side {
    match (way.x, way.y) {
        (x, y) if x.abs() > y.abs() && x > 0.0 => Side::Right,
        (x, y) if x.abs() > y.abs() => Side::Left,
        (_, y) if y > 0.0 => Side::Down,
        _ => Side::Up,
    }
}

fn within(ranges: Ranges, offset: (f64, f64)) -> (f64, f64) {
    (ranges.x.clamp(offset.0), ranges.y.clamp(offset.1))
}

fn on_pixels(offset: (f64, f64), scale: f64) -> (f64, f64) {
    ((offset.0 * scale).round() / scale, (offset.1 * scale).round() / scale)
}

#[cfg(test)]
mod tests;
