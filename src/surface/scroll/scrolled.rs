//! One view of a client: what moves it, what of its document is there, and what its client is told.

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

/// What a latch came to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// It is shown elsewhere than before.
    pub moved: bool,
    /// It is on its way, and the next refresh shows it elsewhere.
    pub goes_on: bool,
    /// It or one of its contents was committed since the latch before.
    pub touched: bool,
    /// Where it is shown, if its client wants to hear.
    pub reported: Option<ShownAt>,
}

/// One view.
#[derive(Debug)]
pub struct Scrolled {
    /// Its client's end.
    pub(in crate::surface) listener: Arc<dyn ScrollListener>,
    machine: ViewMachine,
    share: Share,
    supply: SupplySettings,
    /// It lies inside of too many others, and waits.
    too_deep: bool,
    /// Where it is shown.
    offset: Point<f64, Logical>,
    /// It or one of its contents was committed since the last latch.
    touched: bool,
    armed: bool,
    /// What makes up for content that is missing at its ends.
    stretched: Stretched,
    kept: Kept,
    changes: Changes,
    told: Option<(Mode, Reason)>,
}

impl Scrolled {
    /// The client, which is told.
    pub const fn listener(&self) -> &Arc<dyn ScrollListener> {
        &self.listener
    }

    /// A view that rests at the beginning of its document. `whole`: what all views of its client may have.
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

    /// What all views of its client may have; there may be more or fewer of them than before.
    pub fn set_supply(&mut self, whole: SupplySettings) {
        let supply = self.share.of(whole);
        let before = std::mem::replace(&mut self.supply, supply);
        if before.most_pixels != supply.most_pixels {
            self.listener.tell_budget(supply.most_pixels);
        }
    }

    /// Whether latches have anything to do with it.
    pub const fn is_active(&self) -> bool {
        (self.machine.is_active() || self.machine.is_held_up()) && !self.too_deep
    }

    /// Whether a latch has to look at it.
    pub fn is_concerned(&self) -> bool {
        let on_its_way = self.machine.is_active() || self.machine.is_held_up();
        on_its_way || self.touched || self.too_deep || !self.kept.seen().is_empty()
    }

    /// It or one of its contents was committed.
    pub const fn touch(&mut self) {
        self.touched = true;
    }

    /// Contents that are not there any more, and are seen until others cover the view.
    pub fn kept(&self) -> &[KeptContent] {
        self.kept.seen()
    }

    /// Contents whose last row or column is seen where more is missing.
    pub fn stretched(&self) -> &[StretchedContent] {
        self.stretched.contents()
    }

    /// They are so at its top and bottom, not at its left and right.
    pub const fn goes_down(&self) -> bool {
        self.stretched.goes_down
    }

    /// Their document, in the view's coordinates.
    pub fn document(&self) -> Rectangle<f64, Logical> {
        let Region { x, y } = self.stretched.document;
        let start = Point::from((x.start as f64, y.start as f64)) - self.offset;
        Rectangle::new(start, Size::from((x.length as f64, y.length as f64)))
    }

    /// Where in the view's coordinates something of the document is.
    pub fn place(&self, said: &Content) -> Point<f64, Logical> {
        let (x, y) = said.position;
        Point::from((x.get() as f64, y.get() as f64)) - self.offset
    }

    /// Its client wants to hear where each refresh showed it, or not.
    pub const fn arm(&mut self, armed: bool) {
        self.armed = armed;
    }

    /// Whether fingers hold it.
    pub const fn is_pulled(&self) -> bool {
        self.machine.is_pulled()
    }

    /// Whether it goes on after fingers let go of it, not because it was sent somewhere.
    pub const fn is_thrown(&self) -> bool {
        self.machine.is_thrown()
    }

    /// Whether input could move it this way; fingers that pull, also beyond its end.
    pub fn can_go(&self, way: Way, pulls: bool) -> bool {
        !self.too_deep && self.machine.can_go(way, pulls)
    }

    /// Somebody asks for this at `at`.
    pub fn ask(&mut self, surface: &WlSurface, at: Instant, movement: Movement) {
        match circumstances(surface) {
            Some(Circumstances { view, size, shown }) => {
                self.machine.ask(at, movement, &view.terms(size), (shown.x, shown.y));
            }
            None => self.machine.begin(movement),
        }
    }

    /// Moves it to where it is in the frame shown at `target`, on whole pixels of an output with this scale.
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
        // What would lie ahead of content that changes is another by the time it is seen.
        let most_extension = if self.changes.is_most() { 0.0 } else { self.supply.most_extension };
        self.machine.set_supply(SupplySettings { most_extension, ..self.supply });
        self.tell_how(&cover);
        let latch = Latch { now, present: target.present, interval: target.interval, scale };
        let step = self.machine.latch(latch, &view.terms(size), cover, (shown.x, shown.y));
        self.offset = Point::from(step.at.offset);
        if step.moved {
            guard::with_states(surface, |states| state::set_offset(states, self.offset));
        }
        // What a commit takes away stays as it was, with its ends.
        if step.covered {
            self.stretched.renew(surface, step.stretched.then_some(&*view));
        }
        // Contents change in latches after a commit only, and are looked at then.
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
