//! The flip state machine of one CRTC: the flip in flight, the frames that wait, and the commits. It belongs to the
//! [`presenter`](super::presenter) thread of its output.
//!
//! ```text
//!   Submit ─┬─► commit ───────────┐             Presented, Lost, Refused, Released ─► main thread
//!           └─► queue ─► commit ──┴─► … flip event ─► FlipClock ─┘
//! ```

mod abandoned_flips;
mod commit;
mod front_writes;
mod switching;

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};

use smithay::backend::drm::{PlaneClaim, PlaneConfig};
use smithay::reexports::drm::control::Mode as DrmMode;

use super::commit_slack::CommitSlack;
use super::crtc::Crtc;
use super::cursor::CursorImages;
use super::damage::DamageClips;
use super::fence::{self, LONGEST_WAIT};
use super::flip_clock::{FlipClock, FlipCommit, FlipEvent, FlipLight};
use super::flip_queue::{CommitTiming, FlipQueue, WaitingFlip};
use super::gamma::Gamma;
use super::memory::ScanoutPicture;
use super::messages::{FlipContent, PipeMessage};
use super::mode::{CommitLead, mode_of};
use super::plane_config::blob;
use super::planes::{ClientPlanes, ShownPlanes};
use crate::backend::fence::hint_deadline;
use crate::backend::{CursorPlane, FrameId, LossReason, SubmitError};
use crate::revision::Revision;
use abandoned_flips::AbandonedFlips;
use front_writes::FrontWrites;
use upbeat_timing::time::{Clock, Instant};

/// A committed flip whose frame was not reported yet.
#[derive(Debug)]
struct FlipInFlight {
    frame: FrameId,
    commit: FlipCommit,
    /// The refresh that the frame was meant for, if it had waited and was committed in time.
    due: Option<Instant>,
    /// Set by the flip event: when the frame reaches light.
    light: Option<FlipLight>,
    picture: Option<ScanoutPicture>,
    planes: ShownPlanes,
}

/// The arguments of [`Flipper::new`].
pub(super) struct FlipperParts {
    pub name: String,
    pub crtc: Crtc,
    pub mode: DrmMode,
    pub clock: FlipClock,
    /// The display scans out line after line, with a vertical blanking.
    pub has_beam: bool,
    /// The kernel waits for a frame's fence.
    pub takes_fences: bool,
    /// Planes for clients' buffers.
    pub client: ClientPlanes,
    /// The cursor plane, and the claim that keeps other pipes from taking it.
    pub cursor: Option<(CursorImages, PlaneClaim)>,
    /// `None` where the CRTC has no gamma table.
    pub gamma: Option<Gamma>,
    /// The CRTC's index on its device.
    pub crtc_index: u32,
    /// Changed pixels of the picture on screen are shown only after `DIRTYFB`.
    pub needs_dirtyfb: bool,
}

/// One CRTC with its planes.
pub(super) struct Flipper {
    name: String,
    crtc: Crtc,
    mode: DrmMode,
    mode_revision: Revision,
    clock: FlipClock,
    has_beam: bool,
    takes_fences: bool,
    client: ClientPlanes,
    clips: DamageClips,
    cursor: Option<CursorImages>,
    /// The cursor of the last commit.
    shown_cursor: Option<CursorPlane>,
    _claim: Option<PlaneClaim>,
    gamma: Option<Gamma>,
    crtc_index: u32,
    needs_dirtyfb: bool,
    front_writes: FrontWrites,
    is_on: bool,
    /// We are DRM master: no other session has the device.
    is_ours: bool,
    /// The next commit is a modeset, and may block.
    modeset: bool,
    /// Fault injection: commits are refused until the next mode switch.
    is_refused: bool,
    in_flight: Option<FlipInFlight>,
    /// Flips that were given up while in flight.
    abandoned_flips: AbandonedFlips,
    queue: FlipQueue<FlipContent>,
    commit_slack: CommitSlack,
    /// Our last committed picture; a client's buffer may hide it.
    front: Option<ScanoutPicture>,
    /// Pictures of the previous mode that may still be on screen.
    retired: Vec<ScanoutPicture>,
    /// Clients' buffers on planes. The last entry is on screen; the device may still read the entries before it.
    held: Vec<ShownPlanes>,
    /// Messages for the main thread.
    pub messages: VecDeque<PipeMessage>,
}

impl Flipper {
    /// A CRTC that shows no frame of ours yet.
    pub fn new(parts: FlipperParts) -> Self {
        let FlipperParts { name, crtc, mode, clock, has_beam, takes_fences, client, cursor, gamma, .. } = parts;
        let (cursor, claim) = cursor.unzip();
        Flipper {
            name,
            mode,
            mode_revision: Revision::default(),
            clips: DamageClips::new(&crtc),
            crtc,
            clock,
            has_beam,
            takes_fences,
            client,
            cursor,
            shown_cursor: None,
            _claim: claim,
            gamma,
            crtc_index: parts.crtc_index,
            needs_dirtyfb: parts.needs_dirtyfb,
            front_writes: FrontWrites::default(),
            is_on: true,
            is_ours: true,
            modeset: true,
            is_refused: false,
            in_flight: None,
            abandoned_flips: AbandonedFlips::default(),
            queue: FlipQueue::default(),
            commit_slack: CommitSlack::default(),
            front: None,
            retired: Vec::new(),
            held: Vec::new(),
            messages: VecDeque::new(),
        }
    }

    fn timing(&self) -> CommitTiming {
        let interval = mode_of(self.mode).interval();
        let lead = CommitLead::of(self.mode, self.has_beam).whole();
        CommitTiming { interval, lead, early: self.commit_slack.slack(interval) }
    }

    /// Whether a flip event is outstanding.
    pub fn awaits_event(&self) -> bool {
        self.abandoned_flips.are_awaited() || self.in_flight.as_ref().is_some_and(|flight| flight.light.is_none())
    }

    /// The fence that the next frame waits for, if the driver does not wait for it.
    pub fn awaits_fence(&self) -> Option<BorrowedFd<'_>> {
        let next = self.queue.next().filter(|_| self.in_flight.is_none() && self.is_ours)?;
        next.content.fence.as_ref().filter(|fence| self.waits_for(fence)).map(AsFd::as_fd)
    }

    fn waits_for(&self, fence: &std::os::fd::OwnedFd) -> bool {
        !self.takes_fences && !fence::has_signalled(fence)
    }

    /// Takes a frame. A frame for the next refresh is committed at once unless other frames come before it.
    pub fn submit(&mut self, frame: WaitingFlip<FlipContent>, clock: &impl Clock) {
        let content = &frame.content;
        if !self.is_on {
            return self.refuse(frame.frame, SubmitError::Off, frame.content);
        }
        if content.mode != self.mode_revision {
            return self.report_lost(frame.frame, LossReason::ModeChange, frame.content);
        }
        let timing = self.timing();
        if let Some(unfinished) = &content.fence {
            hint_deadline(unfinished.as_fd(), frame.present - timing.lead);
        }
        let waits = content.ahead && !self.modeset && timing.is_early(frame.present, clock.now());
        let unfinished = content.fence.as_ref().is_some_and(|fence| self.waits_for(fence));
        if self.in_flight.is_some() || !self.queue.is_empty() || waits || unfinished || !self.is_ours {
            return self.queue.push(frame);
        }
        self.commit_frame(frame, None, clock);
    }

    fn commit_frame(&mut self, frame: WaitingFlip<FlipContent>, due: Option<Instant>, clock: &impl Clock) {
        let WaitingFlip { frame, mut content, .. } = frame;
        self.put_shared_pixels(&mut content);
        // The primary plane has no picture after a mode switch, and a client's buffer after direct scanout: set
        // ours again.
        let bare = self.modeset || self.held.last().is_some_and(|held| held.direct().is_some());
        let front = self.front.as_ref().filter(|_| bare);
        let own = content.picture.as_ref().or(front).filter(|_| content.planes.direct().is_none()).cloned();
        if bare {
            self.clips.forget();
        }
        let mode = mode_of(self.mode);
        let size = (mode.width, mode.height);
        let clips =
            own.as_ref().filter(|_| !bare).and_then(|_| self.clips.of(self.crtc.device(), &content.copied, size));
        // The fence is that of a new picture; a picture that was already on screen is finished.
        let fence = content.fence.as_ref().filter(|_| content.picture.is_some() && self.takes_fences).map(AsFd::as_fd);
        let primary = own.as_ref().map(|picture| PlaneConfig {
            fence,
            damage_clips: clips.as_ref().map(blob),
            ..picture.plane_config(size)
        });
        let commit = FlipCommit { at: clock.now(), modeset: self.modeset };
        if let Err(error) = self.commit(primary, content.cursor.as_ref(), &content.planes) {
            return self.refuse(frame, error, content);
        }
        if own.is_some() {
            self.clips.forget();
        }
        let FlipContent { picture, cursor, planes, .. } = content;
        self.shown_cursor = cursor.filter(|_| self.cursor.is_some());
        self.in_flight = Some(FlipInFlight { frame, commit, due, light: None, picture, planes });
        self.messages.push_back(PipeMessage::Committed(frame));
    }

    /// Handles the flip event of the flip in flight.
    pub fn flipped(&mut self, event: FlipEvent, clock: &impl Clock) {
        if self.abandoned_flips.consume_event() {
            return;
        }
        let Some(flight) = &mut self.in_flight else { return };
        let was_trusted = self.clock.is_trusted();
        let light = self.clock.flipped(event, flight.commit, clock.now());
        flight.light = Some(light);
        if was_trusted && !self.clock.is_trusted() {
            tracing::warn!(output = self.name, "the driver's timestamps make no sense: software vsync from now on");
            self.messages.push_back(PipeMessage::TimestampsUntrusted);
        }
    }

    /// When [`advance`](Self::advance) has work to do, if nothing else happens before.
    pub fn next_wake(&self) -> Option<Instant> {
        self.next_flip_wake().into_iter().chain(self.front_writes.next_wake()).min()
    }

    fn next_flip_wake(&self) -> Option<Instant> {
        if let Some(flight) = &self.in_flight {
            return flight.light.map(|light| light.time);
        }
        let next = self.queue.next().filter(|_| self.is_ours)?;
        let unfinished = next.content.fence.as_ref().is_some_and(|fence| self.waits_for(fence));
        if unfinished { Some(next.present + LONGEST_WAIT) } else { self.queue.next_commit(&self.timing()) }
    }

    /// Reports the flip in flight if it has reached light, and commits the next frame if it is due.
    pub fn advance(&mut self, clock: &impl Clock) {
        self.advance_front_writes(clock);
        let now = clock.now();
        let was_free = self.in_flight.is_none();
        self.finish_flip(now);
        if was_free && self.is_ours && self.queue.is_late(&self.timing(), now) && self.awaits_fence().is_none() {
            // No flip was in flight, so this thread was scheduled late.
            self.commit_slack.record_frame(true);
        }
        while self.in_flight.is_none() && self.is_on && self.is_ours {
            let timing = self.timing();
            while let Some(late) = self.queue.take_late(&timing, now) {
                self.report_lost(late.frame, LossReason::Superseded, late.content);
            }
            if self.awaits_fence().is_some() {
                // The frame stays in the queue until its fence signals or its timeout passes.
                let Some(WaitingFlip { frame, content, .. }) = self.queue.take_overdue(LONGEST_WAIT, now) else {
                    return;
                };
                self.refuse(frame, SubmitError::Unfinished, content);
                continue;
            }
            let is_late = self.queue.is_late(&timing, now);
            let Some(next) = self.queue.take_due(&timing, now) else { return };
            // A late GPU must not count as a late commit.
            let is_drawn = next.content.fence.as_ref().is_none_or(fence::has_signalled);
            let due = Some(next.present).filter(|_| is_drawn && !is_late);
            self.commit_frame(next, due, clock);
        }
    }

    fn finish_flip(&mut self, now: Instant) {
        let was_trusted = self.clock.is_trusted();
        let is_due = |flight: &mut FlipInFlight| flight.light.is_some_and(|light| was_trusted || light.time <= now);
        let Some(FlipInFlight { frame, due, light: Some(light), picture, planes, .. }) = self.in_flight.take_if(is_due)
        else {
            return;
        };
        let FlipLight { time, sequence } = light;
        if let Some(due) = due.filter(|_| time != Instant::ZERO) {
            self.commit_slack.record_frame(time - due > mode_of(self.mode).interval() / 2);
        }
        // The previous frame is off the screen now.
        let mut pictures = std::mem::take(&mut self.retired);
        pictures.extend(picture.and_then(|picture| self.front.replace(picture)));
        self.messages.push_back(PipeMessage::Released(std::mem::take(&mut self.held), pictures));
        self.held.push(planes);
        self.messages.push_back(PipeMessage::Presented { frame, time, sequence, cursor: self.shown_cursor.clone() });
    }

    /// Sets the cursor of all waiting frames.
    pub fn set_waiting_cursor(&mut self, cursor: Option<&CursorPlane>) {
        self.queue.contents_mut().for_each(|content| content.cursor = cursor.cloned());
    }

    /// Withdraws the waiting frames from `from` on.
    pub fn withdraw(&mut self, from: FrameId, reason: LossReason) {
        for WaitingFlip { frame, content, .. } in self.queue.withdraw(from) {
            self.report_lost(frame, reason, content);
        }
    }

    /// Reports a frame as lost.
    fn report_lost(&mut self, frame: FrameId, reason: LossReason, content: FlipContent) {
        self.release_content(content);
        self.messages.push_back(PipeMessage::Lost { frame, reason });
    }

    fn refuse(&mut self, frame: FrameId, error: SubmitError, content: FlipContent) {
        self.release_content(content);
        self.messages.push_back(PipeMessage::Refused { frame, error });
    }

    fn release_content(&mut self, FlipContent { copied, planes, picture, .. }: FlipContent) {
        self.clips.carry(&copied);
        self.messages.push_back(PipeMessage::Released(vec![planes], picture.into_iter().collect()));
    }
}
