//! What the kernel knows of one CRTC: the flip under way, frames that wait for theirs, and the commits themselves.
//!
//! Shared by two threads. The main one submits: a frame for the next refresh is committed there and then, so that a
//! refusal is known at once. The [`presenter`](super::presenter) hears of flips that are done and commits what waits.
//!
//! ```text
//!   main:       submit ─┬─► commit                  Presented, Lost, buffers let go ─► main
//!                       └─► queue ─┐                          ▲
//!   presenter:                     └─► commit ─► … ─► flip event ─► FlipClock
//! ```

mod commit;

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};

use smithay::backend::drm::{DrmSurface, PlaneClaim, PlaneConfig, PlaneState};
use smithay::reexports::drm::control::Mode as DrmMode;

use super::caution::Caution;
use super::clock::{Asked, FlipClock, FlipEvent, Light};
use super::cursor::CursorImages;
use super::damage::DamageClips;
use super::fence;
use super::flip_queue::{FlipQueue, Timing, Waiting};
use super::gamma::Gamma;
use super::mode::{blanking, mode_of};
use super::plane_config::{blob, whole};
use super::planes::ClientPlanes;
use super::scanout::Picture;
use crate::backend::plane::Planes;
use crate::backend::{CursorPlane, DisplayEvent, FrameId, LossReason, PixelRect, SubmitError};
use crate::time::{Clock, Instant, Span};

/// What drivers want before the blanking starts: to program the registers, or to wake a thread that does. Those that
/// want more are found out by the output's machine, from frames that were in time and missed all the same.
pub const DRIVER_MARGIN: Span = Span::from_micros(500);

/// What a frame shows.
#[derive(Debug)]
pub(super) struct Shot {
    /// The composed picture, if it is a new one.
    pub picture: Option<Picture>,
    /// What of that is new in its buffer.
    pub copied: Vec<PixelRect>,
    /// Signals when the picture is finished; `None` when it is.
    pub fence: Option<OwnedFd>,
    pub cursor: Option<CursorPlane>,
    /// Clients' buffers on planes.
    pub planes: Planes,
}

/// A flip that the driver has taken.
#[derive(Debug)]
struct Flight {
    frame: FrameId,
    asked: Asked,
    /// The refresh that it was for, if it had waited and was committed in time for it.
    due: Option<Instant>,
    /// The driver has said that it is done, and when that is light.
    light: Option<Light>,
    picture: Option<Picture>,
    planes: Planes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    On,
    /// Off, or the device belongs to another session.
    Off,
    Gone,
}

/// One CRTC with its planes.
pub(super) struct Flipper {
    pub name: String,
    pub surface: DrmSurface,
    pub mode: DrmMode,
    pub clock: FlipClock,
    /// Lines are scanned out one after the other, and none while they are invisible.
    pub has_beam: bool,
    /// Planes for clients' buffers.
    pub client: ClientPlanes,
    clips: DamageClips,
    pub cursor: Option<CursorImages>,
    /// What the cursor plane was last told to show.
    pub shown_cursor: Option<CursorPlane>,
    /// Keeps the cursor plane from being given to another pipe.
    _claim: Option<PlaneClaim>,
    /// The CRTC's colour table, where it has one.
    pub gamma: Option<Gamma>,
    pub power: Power,
    /// The next commit switches the mode, and may block.
    pub modeset: bool,
    flight: Option<Flight>,
    /// Flips that were given up while they were under way, and whose events are for nobody. The kernel numbers none: those
    /// of one CRTC come in the order of its commits.
    pub given_up: u32,
    queue: FlipQueue<Shot>,
    caution: Caution,
    /// Our picture that was committed last; a client's buffer may hide it.
    front: Option<Picture>,
    /// What the planes show: the last entry; others may yet be read by the device.
    held: Vec<Planes>,
    /// Clients' buffers that nobody shows any more, for the main thread to let go.
    released: Vec<Planes>,
    pub events: VecDeque<DisplayEvent>,
}

impl Flipper {
    /// A CRTC that shows nothing of ours yet.
    pub fn new(
        name: String,
        surface: DrmSurface,
        clock: FlipClock,
        client: ClientPlanes,
        (cursor, claim): (Option<CursorImages>, Option<PlaneClaim>),
    ) -> Self {
        Flipper {
            name,
            mode: surface.pending_mode(),
            clips: DamageClips::new(&surface),
            gamma: Gamma::new(&surface),
            surface,
            clock,
            has_beam: true,
            client,
            cursor,
            shown_cursor: None,
            _claim: claim,
            power: Power::On,
            modeset: true,
            flight: None,
            given_up: 0,
            queue: FlipQueue::default(),
            caution: Caution::default(),
            front: None,
            held: Vec::new(),
            released: Vec::new(),
            events: VecDeque::new(),
        }
    }

    /// How long before a refresh its frame must have been submitted.
    pub fn lead(&self) -> Span {
        self.blanking() + DRIVER_MARGIN
    }

    /// The same, without what the driver is guessed to want.
    pub fn blanking(&self) -> Span {
        if self.has_beam { blanking(self.mode) } else { Span::ZERO }
    }

    fn timing(&self) -> Timing {
        let interval = mode_of(self.mode).interval();
        Timing { interval, lead: self.lead(), early: self.caution.early(interval) }
    }

    /// The newest frame that has not reached light.
    pub fn newest(&self) -> Option<FrameId> {
        self.queue.newest().or(self.flight.as_ref().map(|flight| flight.frame))
    }

    /// How many frames wait, the one under way left aside.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.flight.is_none() && self.queue.is_empty()
    }

    /// Which pictures must not be drawn into.
    pub fn used(&self) -> Vec<usize> {
        let flight = self.flight.as_ref().and_then(|flight| flight.picture);
        let queued = self.queue.contents().filter_map(|shot| shot.picture);
        self.front.into_iter().chain(flight).chain(queued).map(|picture| picture.slot).collect()
    }

    /// Our picture and the clients' buffers that are on screen, or will be after the flip under way.
    pub fn shown(&self) -> (Option<Picture>, Option<&Planes>) {
        let flight = self.flight.as_ref();
        let picture = flight.and_then(|flight| flight.picture).or(self.front);
        (picture, flight.map(|flight| &flight.planes).or(self.held.last()))
    }

    /// Whether the driver takes these, as far as it tells.
    pub fn can_show(&mut self, planes: &Planes) -> bool {
        if self.power != Power::On {
            return false;
        }
        let mode = mode_of(self.mode);
        // A CRTC that is lit shows something on its primary plane; most drivers insist.
        let front = self.front.filter(|_| self.modeset && planes.direct.is_none());
        let config = front.map(|front| whole(front.framebuffer, (mode.width, mode.height), (0, 0)));
        let primary = config.map(|config| PlaneState { handle: self.surface.plane(), config: Some(config) });
        self.client.can_show(&self.surface, planes, primary, self.modeset)
    }

    /// Takes a frame. One for the next refresh is committed at once unless others come before it.
    #[expect(clippy::result_large_err, reason = "what was refused comes back, without an allocation")]
    pub fn submit(&mut self, frame: Waiting<Shot>, clock: &impl Clock) -> Result<(), (SubmitError, Shot)> {
        // If the main thread has not heard of the frame before this one, that one was finished ahead, and so is this.
        let ahead = !self.modeset && !self.events.is_empty();
        let waits = ahead && self.timing().is_early(frame.present, clock.now());
        if !self.is_idle() || waits {
            self.queue.push(frame);
            return Ok(());
        }
        self.fly(frame, None, clock)
    }

    #[expect(clippy::result_large_err, reason = "as above")]
    fn fly(
        &mut self,
        frame: Waiting<Shot>,
        due: Option<Instant>,
        clock: &impl Clock,
    ) -> Result<(), (SubmitError, Shot)> {
        let Waiting { frame, content: shot, .. } = frame;
        // After a mode switch there is nothing on the plane yet; after a client's buffer comes our own again.
        let bare = self.modeset || self.held.last().is_some_and(|held| held.direct.is_some());
        let own = shot.picture.or(self.front.filter(|_| bare)).filter(|_| shot.planes.direct.is_none());
        if bare {
            self.clips.forget();
        }
        let mode = mode_of(self.mode);
        let size = (mode.width, mode.height);
        let device = self.surface.device_fd();
        let clips = own.filter(|_| !bare).and_then(|_| self.clips.of(device, &shot.copied, size));
        // A picture that was on screen before is finished.
        let fence = shot.fence.as_ref().filter(|_| shot.picture.is_some()).map(AsFd::as_fd);
        let primary = own.map(|picture| PlaneConfig {
            fence,
            damage_clips: clips.as_ref().map(blob),
            ..whole(picture.framebuffer, size, (0, 0))
        });
        let asked = Asked { at: clock.now(), modeset: self.modeset || self.surface.commit_pending() };
        if let Err(error) = self.commit(primary, shot.cursor.as_ref(), &shot.planes) {
            return Err((error, shot));
        }
        if own.is_some() {
            self.clips.forget();
        }
        let Shot { picture, cursor, planes, .. } = shot;
        self.shown_cursor = cursor.filter(|_| self.cursor.is_some());
        self.flight = Some(Flight { frame, asked, due, light: None, picture, planes });
        Ok(())
    }

    /// The driver says that the flip is done.
    pub fn flipped(&mut self, event: FlipEvent, clock: &impl Clock) {
        if self.given_up > 0 {
            self.given_up -= 1;
            return;
        }
        let Some(flight) = &mut self.flight else { return };
        let believed = self.clock.is_believed();
        let light = self.clock.flipped(event, flight.asked, clock.now());
        flight.light = Some(light);
        if believed && !self.clock.is_believed() {
            tracing::warn!(output = self.name, "the driver's timestamps make no sense: software vsync from now on");
            self.events.push_back(DisplayEvent::Changed);
        }
    }

    /// When [`advance`](Self::advance) has something to do.
    pub fn next_wake(&self) -> Option<Instant> {
        match &self.flight {
            Some(flight) => flight.light.map(|light| light.time),
            None => self.queue.next_commit(&self.timing()),
        }
    }

    /// Reports a flip whose light has come, and commits what waits if its time has come.
    pub fn advance(&mut self, clock: &impl Clock) {
        let now = clock.now();
        let was_free = self.flight.is_none();
        let believed = self.clock.is_believed();
        let is_due = |flight: &mut Flight| flight.light.is_some_and(|light| believed || light.time <= now);
        if let Some(Flight { frame, due, light: Some(light), picture, planes, .. }) = self.flight.take_if(is_due) {
            let Light { time, sequence } = light;
            if let Some(due) = due.filter(|_| time != Instant::ZERO) {
                self.caution.learn(time - due > mode_of(self.mode).interval() / 2);
            }
            self.front = picture.or(self.front);
            // What was shown before is off the screen now.
            self.released.append(&mut self.held);
            self.held.push(planes);
            self.events.push_back(DisplayEvent::Presented { frame, time, sequence });
        }
        if was_free && self.queue.is_late(&self.timing(), now) {
            // Nothing was in its way: this thread was not let run.
            self.caution.learn(true);
        }
        let timing = self.timing();
        while self.flight.is_none() && self.power == Power::On && !self.modeset {
            while let Some(late) = self.queue.take_late(&timing, now) {
                self.clips.carry(&late.content.copied);
                self.released.push(late.content.planes);
                self.events.push_back(DisplayEvent::Lost { frame: late.frame, reason: LossReason::Superseded });
            }
            let is_late = self.queue.is_late(&timing, now);
            let Some(next) = self.queue.take_due(&timing, now) else { return };
            let frame = next.frame;
            // A GPU that is late is not the kernel's fault.
            let is_drawn = next.content.fence.as_ref().is_none_or(fence::has_signalled);
            let due = Some(next.present).filter(|_| is_drawn && !is_late);
            if let Err((error, shot)) = self.fly(next, due, clock) {
                tracing::debug!(output = self.name, %error, "a frame that waited was refused");
                self.clips.carry(&shot.copied);
                self.released.push(shot.planes);
                self.events.push_back(DisplayEvent::Lost { frame, reason: LossReason::Device });
            }
        }
    }

    /// Frames that wait are shown with the cursor like this.
    pub fn move_cursor(&mut self, cursor: Option<&CursorPlane>) {
        self.queue.contents_mut().for_each(|shot| shot.cursor = cursor.cloned());
    }

    /// Withdraws what waits from `from` on.
    pub fn withdraw(&mut self, from: FrameId, reason: LossReason) {
        for Waiting { frame, content, .. } in self.queue.withdraw(from) {
            self.clips.carry(&content.copied);
            self.released.push(content.planes);
            self.events.push_back(DisplayEvent::Lost { frame, reason });
        }
    }

    /// All that was submitted is lost.
    pub fn lose(&mut self, reason: LossReason) {
        if let Some(Flight { frame, planes, light, .. }) = self.flight.take() {
            self.given_up += u32::from(light.is_none());
            // The device may get to show it all the same.
            self.held.push(planes);
            self.events.push_back(DisplayEvent::Lost { frame, reason });
        }
        self.withdraw(FrameId(0), reason);
        if reason == LossReason::ModeChange {
            self.front = None;
        }
    }

    /// Nothing is on screen.
    pub fn dark(&mut self) {
        self.released.append(&mut self.held);
    }

    /// Clients' buffers that are to be let go, on the main thread.
    pub fn take_released(&mut self) -> Vec<Planes> {
        self.client.tidy();
        std::mem::take(&mut self.released)
    }
}
