//! One scroll view: its motion, the parts of its document that are rendered, and the events to its client.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::changes::Changes;
use super::geometry::{Circumstances, circumstances, cover, is_too_deep};
use super::kept::{Kept, KeptContent};
use super::listener::{Mode, Reason, ScrollListener};
use super::shares::Share;
use super::state::{self, Content};
use super::stretched::{Stretched, StretchedContent};
use crate::guard;
use upbeat_timing::scroll::{Cover, Latch, Movement, Region, ShownAt, Step, SupplySettings, ViewMachine, Way};
use upbeat_timing::target::Target;
use upbeat_timing::time::Instant;

/// The result of a latch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// Its offset or its contents changed.
    pub moved: bool,
    /// It is in motion: the next refresh shows another offset.
    pub goes_on: bool,
    /// The view or one of its contents was committed since the latch before.
    pub touched: bool,
    /// The shown offset, if its client asked for offset events.
    pub reported: Option<ShownAt>,
}

#[derive(Debug)]
pub struct Scrolled {
    pub(in crate::surface) listener: Arc<dyn ScrollListener>,
    machine: ViewMachine,
    share: Share,
    supply: SupplySettings,
    /// It is nested in too many views, and does not move.
    too_deep: bool,
    /// The shown offset.
    offset: Point<f64, Logical>,
    /// The view or one of its contents was committed since the last latch.
    touched: bool,
    armed: bool,
    /// Stands in for content that is missing at the ends.
    stretched: Stretched,
    kept: Kept,
    changes: Changes,
    told: Option<(Mode, Reason)>,
}

impl Scrolled {
    pub const fn listener(&self) -> &Arc<dyn ScrollListener> {
        &self.listener
    }

    /// A view at the beginning of its document, at rest. `whole`: the limit for all views of its client together.
    pub fn new(listener: Arc<dyn ScrollListener>, share: Share, whole: SupplySettings) -> Self {
        let supply = share.of(whole);
        listener.tell_budget(supply.most_pixels);
        let mut made = Scrolled {
            listener,
            machine: ViewMachine::new(supply),
            share,
            supply,
            too_deep: false,
            offset: Point::default(),
            touched: false,
            armed: false,
            stretched: Stretched::default(),
            kept: Kept::default(),
            changes: Changes::default(),
            told: None,
        };
        made.tell_effective(Mode::Still, Reason::NoContent);
        made
    }

    /// Sets the limit for all views of its client together; the number of views may have changed as well.
    pub fn set_supply(&mut self, whole: SupplySettings) {
        let supply = self.share.of(whole);
        let before = std::mem::replace(&mut self.supply, supply);
        if before.most_pixels != supply.most_pixels {
            self.listener.tell_budget(supply.most_pixels);
        }
    }

    /// Whether it is in motion or may go on.
    pub const fn is_active(&self) -> bool {
        (self.machine.is_active() || self.machine.is_held_up()) && !self.too_deep
    }

    /// Whether a latch has to look at it.
    pub fn is_concerned(&self) -> bool {
        let on_its_way = self.machine.is_active() || self.machine.is_held_up();
        on_its_way || self.touched || self.too_deep || !self.kept.seen().is_empty()
    }

    /// The view or one of its contents was committed.
    pub const fn touch(&mut self) {
        self.touched = true;
    }

    /// Contents that were removed but stay visible until other contents cover the view.
    pub fn kept(&self) -> &[KeptContent] {
        self.kept.seen()
    }

    /// Contents whose last row or column is repeated where content is missing.
    pub fn stretched(&self) -> &[StretchedContent] {
        self.stretched.contents()
    }

    /// Whether they are stretched at the top and bottom, instead of left and right.
    pub const fn goes_down(&self) -> bool {
        self.stretched.goes_down
    }

    /// The view's document, in the view's coordinates.
    pub fn document(&self) -> Rectangle<f64, Logical> {
        let Region { x, y } = self.stretched.document;
        let start = Point::from((x.start as f64, y.start as f64)) - self.offset;
        Rectangle::new(start, Size::from((x.length as f64, y.length as f64)))
    }

    /// The position of a document content, in the view's coordinates.
    pub fn place(&self, said: &Content) -> Point<f64, Logical> {
        let (x, y) = said.position;
        Point::from((x.get() as f64, y.get() as f64)) - self.offset
    }

    /// Turns offset events on or off.
    pub const fn arm(&mut self, armed: bool) {
        self.armed = armed;
    }

    /// Whether fingers hold it.
    pub const fn is_pulled(&self) -> bool {
        self.machine.is_pulled()
    }

    /// Whether it is in a fling, not in a programmed motion.
    pub const fn is_thrown(&self) -> bool {
        self.machine.is_thrown()
    }

    /// Whether input could move it this way; `pulls`: by fingers, which can pull it beyond its end.
    pub fn can_go(&self, way: Way, pulls: bool) -> bool {
        !self.too_deep && self.machine.can_go(way, pulls)
    }

    /// Requests a movement at time `at`.
    pub fn ask(&mut self, surface: &WlSurface, at: Instant, movement: Movement) {
        match circumstances(surface) {
            Some(Circumstances { view, size, shown }) => {
                self.machine.ask(at, movement, &view.terms(size), (shown.x, shown.y));
            }
            None => self.machine.begin(movement),
        }
    }

    /// Moves it to its offset in the frame for `target`, on whole pixels of an output with this scale.
    pub fn latch(&mut self, surface: &WlSurface, target: Target, now: Instant, scale: f64) -> Answer {
        let Some(Circumstances { view, size, shown }) = circumstances(surface) else { return Answer::default() };
        self.too_deep = is_too_deep(surface);
        if self.too_deep {
            self.machine.suspend();
            self.tell_effective(Mode::Still, Reason::Nesting);
            return Answer::default();
        }
        let cover = cover(surface, &view);
        let touched = std::mem::take(&mut self.touched);
        let pixels = i64::from(size.w) * i64::from(size.h);
        self.changes.note((target.present, target.interval), touched, &view, pixels);
        // Content that changes is not rendered ahead: it would be outdated by the time it is seen.
        let most_extension = if self.changes.is_most() { 0.0 } else { self.supply.most_extension };
        self.machine.set_supply(SupplySettings { most_extension, ..self.supply });
        self.tell_how(&cover);
        let latch = Latch { now, present: target.present, interval: target.interval, scale };
        let step = self.machine.latch(latch, &view.terms(size), cover, (shown.x, shown.y));
        self.offset = Point::from(step.at.offset);
        if step.moved {
            guard::with_states(surface, |states| state::set_offset(states, self.offset));
        }
        // Not renewed while a part is missing: a commit that removes content leaves it visible, with its
        // stretched ends.
        if step.covered {
            self.stretched.renew(surface, step.stretched.then_some(&*view));
        }
        // Contents change only in latches after a commit, so they are looked at only then.
        let other_contents = match step.covered {
            true if touched || !self.kept.seen().is_empty() => self.kept.renew(surface, &view),
            true => false,
            false => self.kept.show(),
        };
        self.tell(&step);
        Answer {
            moved: step.moved || other_contents,
            goes_on: step.goes_on,
            touched,
            reported: (self.armed && step.moved).then_some(step.at),
        }
    }

    fn tell(&self, step: &Step) {
        if let Some(wanted) = step.wanted {
            self.listener.tell_wanted(wanted.region, wanted.by);
        }
        if let Some(low) = step.low_water {
            self.listener.tell_low_water(low.side, low.left, low.until);
        }
        if step.rests {
            self.listener.tell_rest(ShownAt { velocity: Way::default(), ..step.at });
        }
    }

    fn tell_how(&mut self, cover: &Cover) {
        let has_content = !cover.regions().is_empty();
        let (mode, reason) = match has_content {
            false => (Mode::Still, Reason::NoContent),
            true if self.changes.is_most() => (Mode::Composited, Reason::Changing),
            true => (Mode::Composited, Reason::Policy),
        };
        self.tell_effective(mode, reason);
    }

    fn tell_effective(&mut self, mode: Mode, reason: Reason) {
        if self.told.replace((mode, reason)) != Some((mode, reason)) {
            self.listener.tell_effective(mode, reason);
        }
    }
}
