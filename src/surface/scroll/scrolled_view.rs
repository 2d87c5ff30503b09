//! One scroll view: its motion, the parts of its document that are rendered, and the events to its client.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::budget_shares::ScrollBudgetShare;
use super::content_changes::ContentChanges;
use super::geometry::{ViewSnapshot, circumstances, cover, is_too_deep};
use super::kept_contents::{KeptContent, KeptContents};
use super::listener::{ScrollListener, ScrollModeReason, ViewScrollMode};
use super::state::{self, ScrollContent};
use super::stretched::{StretchedContent, StretchedContents};
use crate::guard;
use upbeat_timing::scroll::{
    DocumentRegion, RenderedRegions, ScrollDistance, ScrollRequest, SupplySettings, ViewLatch, ViewMachine,
    ViewPosition, ViewUpdate,
};
use upbeat_timing::time::Instant;

/// The result of a latch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ViewLatchResult {
    /// Its offset or its contents changed.
    pub moved: bool,
    /// It is in motion: the next refresh shows another offset.
    pub goes_on: bool,
    /// Time alone moves it, and all content on its way is rendered or will be in time.
    pub is_foreseen: bool,
    /// The view or one of its contents was committed since the latch before.
    pub touched: bool,
    /// The shown offset, if its client asked for offset events.
    pub reported: Option<ViewPosition>,
}

#[derive(Debug)]
pub struct ScrolledView {
    pub(in crate::surface) listener: Arc<dyn ScrollListener>,
    machine: ViewMachine,
    share: ScrollBudgetShare,
    supply: SupplySettings,
    /// It is nested in too many views, and does not move.
    too_deep: bool,
    /// The shown offset.
    offset: Point<f64, Logical>,
    /// The view or one of its contents was committed since the last latch.
    touched: bool,
    sends_offsets: bool,
    /// Stands in for content that is missing at the ends.
    stretched: StretchedContents,
    kept: KeptContents,
    changes: ContentChanges,
    /// It cannot be moved now.
    is_still: bool,
    /// How the last frame with its contents showed them; `None` before the first, and while it has none.
    path: Option<(ViewScrollMode, ScrollModeReason)>,
    /// The display refused a plane in the last frame.
    was_refused: bool,
    last_mode: Option<(ViewScrollMode, ScrollModeReason)>,
}

impl ScrolledView {
    pub const fn listener(&self) -> &Arc<dyn ScrollListener> {
        &self.listener
    }

    /// A view at the beginning of its document, at rest. `whole`: the limit for all views of its client together.
    pub fn new(listener: Arc<dyn ScrollListener>, share: ScrollBudgetShare, whole: SupplySettings) -> Self {
        let supply = share.of(whole);
        listener.send_budget(supply.most_pixels);
        let mut made = ScrolledView {
            listener,
            machine: ViewMachine::new(supply),
            share,
            supply,
            too_deep: false,
            offset: Point::default(),
            touched: false,
            sends_offsets: false,
            stretched: StretchedContents::default(),
            kept: KeptContents::default(),
            changes: ContentChanges::default(),
            is_still: true,
            path: None,
            was_refused: false,
            last_mode: None,
        };
        made.tell_effective(ViewScrollMode::Still, ScrollModeReason::NoContent);
        made
    }

    /// Sets the limit for all views of its client together; the number of views may have changed as well.
    pub fn set_supply(&mut self, whole: SupplySettings) {
        let supply = self.share.of(whole);
        let before = std::mem::replace(&mut self.supply, supply);
        if before.most_pixels != supply.most_pixels {
            self.listener.send_budget(supply.most_pixels);
        }
    }

    /// Whether it is in motion or may go on.
    pub const fn is_active(&self) -> bool {
        (self.machine.is_active() || self.machine.is_held_up()) && !self.too_deep
    }

    /// Whether a latch has to look at it.
    pub fn needs_latch(&self) -> bool {
        let on_its_way = self.machine.is_active() || self.machine.is_held_up();
        on_its_way || self.touched || self.too_deep || !self.kept.seen().is_empty()
    }

    /// The view or one of its contents was committed.
    pub const fn note_commit(&mut self) {
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
    pub const fn is_vertical(&self) -> bool {
        self.stretched.is_vertical
    }

    /// The view's document, in the view's coordinates.
    pub fn document(&self) -> Rectangle<f64, Logical> {
        let DocumentRegion { x, y } = self.stretched.document;
        let start = Point::from((x.start as f64, y.start as f64)) - self.offset;
        Rectangle::new(start, Size::from((x.length as f64, y.length as f64)))
    }

    /// The position of a document content, in the view's coordinates.
    pub fn place(&self, content: &ScrollContent) -> Point<f64, Logical> {
        let (x, y) = content.position;
        Point::from((x.get() as f64, y.get() as f64)) - self.offset
    }

    /// Turns offset events on or off.
    pub const fn set_offset_events(&mut self, armed: bool) {
        self.sends_offsets = armed;
    }

    /// Whether fingers hold it.
    pub const fn is_held(&self) -> bool {
        self.machine.is_dragged()
    }

    /// Whether it is in a fling, not in a programmed motion.
    pub const fn is_flinging(&self) -> bool {
        self.machine.is_flung()
    }

    /// Whether input could move it this way; `pulls`: by fingers, which can pull it beyond its end.
    pub fn can_go(&self, way: ScrollDistance, pulls: bool) -> bool {
        !self.too_deep && self.machine.can_go(way, pulls)
    }

    /// Requests a movement at time `at`.
    pub fn request_movement(&mut self, surface: &WlSurface, at: Instant, movement: ScrollRequest) {
        match circumstances(surface) {
            Some(ViewSnapshot { view, size, shown }) => {
                self.machine.handle_request(at, movement, &view.terms(size), (shown.x, shown.y));
            }
            None => self.machine.begin(movement),
        }
    }

    /// Moves it to its offset in the latched frame.
    pub fn latch(&mut self, surface: &WlSurface, latch: ViewLatch) -> ViewLatchResult {
        let Some(ViewSnapshot { view, size, shown }) = circumstances(surface) else {
            return ViewLatchResult::default();
        };
        self.too_deep = is_too_deep(surface);
        if self.too_deep {
            self.machine.suspend();
            self.is_still = true;
            self.tell_effective(ViewScrollMode::Still, ScrollModeReason::Nesting);
            return ViewLatchResult::default();
        }
        let cover = cover(surface, &view);
        let touched = std::mem::take(&mut self.touched);
        let pixels = i64::from(size.w) * i64::from(size.h);
        self.changes.note((latch.present, latch.interval), touched, &view, pixels);
        // Content that changes is not rendered ahead: it would be outdated by the time it is seen.
        let most_extension = if self.changes.is_changing() { 0.0 } else { self.supply.most_extension };
        self.machine.set_supply(SupplySettings { most_extension, ..self.supply });
        self.send_mode(&cover);
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
        let is_foreseen = step.covered && !step.stretched && !self.machine.is_dragged() && self.may_be_foreseen();
        ViewLatchResult {
            is_foreseen,
            moved: step.moved || other_contents,
            goes_on: step.is_moving,
            touched,
            reported: (self.sends_offsets && step.moved).then_some(step.at),
        }
    }

    /// Whether its content allows that frames with later offsets are rendered ahead.
    fn may_be_foreseen(&self) -> bool {
        let is_composited = self.path.is_some_and(|(mode, _)| mode == ViewScrollMode::Composited);
        is_composited && !self.too_deep && !self.touched && self.kept.seen().is_empty()
    }

    /// Its offset in a later frame than the latched frame; `None` if more than time decides it.
    pub fn foresee(&self, surface: &WlSurface, later: ViewLatch) -> Option<Point<f64, Logical>> {
        let ViewSnapshot { view, size, shown } = circumstances(surface).filter(|_| self.may_be_foreseen())?;
        let offset = self.machine.foresee(later, &view.terms(size), cover(surface, &view), (shown.x, shown.y));
        offset.map(Point::from)
    }

    fn tell(&self, step: &ViewUpdate) {
        if let Some(wanted) = step.wanted {
            self.listener.send_wanted(wanted.region, wanted.by);
        }
        if let Some(low) = step.low_water {
            self.listener.send_low_water(low.side, low.left, low.until);
        }
        if step.has_come_to_rest {
            self.listener.send_rest(ViewPosition { velocity: ScrollDistance::default(), ..step.at });
        }
    }

    /// Notes how the frame that was chosen after its latch shows its contents.
    pub fn note_path(&mut self, mode: ViewScrollMode, reason: ScrollModeReason) {
        if self.is_still {
            return;
        }
        // A display refuses planes that it has not tested yet, so the first refusal means nothing.
        let is_unsure = reason == ScrollModeReason::Refused && !self.was_refused;
        self.was_refused = reason == ScrollModeReason::Refused;
        if !is_unsure || self.path.is_none() {
            self.path = Some((mode, if is_unsure { ScrollModeReason::Policy } else { reason }));
            self.send_path();
        }
    }

    /// How the last frame with its contents showed them, as far as its client was told.
    pub const fn path(&self) -> Option<(ViewScrollMode, ScrollModeReason)> {
        self.path
    }

    fn send_mode(&mut self, cover: &RenderedRegions) {
        self.is_still = cover.regions().is_empty();
        if self.is_still {
            self.path = None;
            self.tell_effective(ViewScrollMode::Still, ScrollModeReason::NoContent);
        } else {
            self.send_path();
        }
    }

    fn send_path(&mut self) {
        let Some((mode, reason)) = self.path else { return };
        let reason = if self.changes.is_changing() { ScrollModeReason::Changing } else { reason };
        self.tell_effective(mode, reason);
    }

    fn tell_effective(&mut self, mode: ViewScrollMode, reason: ScrollModeReason) {
        let (mode, reason) = if self.listener.knows_planes() { (mode, reason) } else { without_planes(mode, reason) };
        if self.last_mode.replace((mode, reason)) != Some((mode, reason)) {
            self.listener.send_effective(mode, reason);
        }
    }
}

/// The mode and the reason for clients that know no planes.
const fn without_planes(mode: ViewScrollMode, reason: ScrollModeReason) -> (ViewScrollMode, ScrollModeReason) {
    use ScrollModeReason::{Appearance, Buffer, Changing, Covered, Nesting, NoContent, NoPlane, Policy, Refused};
    let mode = match mode {
        ViewScrollMode::Overlay => ViewScrollMode::Composited,
        ViewScrollMode::Still | ViewScrollMode::Composited => mode,
    };
    match reason {
        NoPlane | Buffer | Appearance | Covered | Refused => (mode, Policy),
        Policy | NoContent | Nesting | Changing => (mode, reason),
    }
}
