//! One CRTC with its buffers, as the main thread sees it: it takes plans and reports their outcome. Nothing here
//! blocks: the output's [`presenter`](super::presenter) and the device's [`worker`](super::worker) make the ioctls.

mod hearing;
mod switching;

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use calloop::ping::Ping;
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Mode as DrmMode, connector};

use super::flip_queue::Waiting;
use super::memory::{ClientFrame, Picture};
use super::messages::{Command, FlipContent, News};
use super::mirror::{Mirror, Power};
use super::mode::{DRIVER_MARGIN, Lead, mode_of, scan_of};
use super::patience::Patience;
use super::planes::PlaneFormats;
use super::post::{Inbox, Mailbox};
use super::scanout::Scanout;
use super::verdicts::{Answer, Shape, Verdicts};
use super::worker::Jobs;
use super::{client, readback, vrr};
use crate::backend::plane::{DeviceMemory, Planes};
use crate::backend::{
    Buffer, Capabilities, Change, ClockSource, CursorPlane, DisplayEvent, FrameId, GammaRamp, Identity, LossReason,
    Mode, PixelBuffer, PixelRect, Plan, Shot, SubmitError, overlay,
};
use crate::revision::Revision;
use switching::Switches;
use upbeat_timing::time::{Clock, MonotonicClock};

/// The properties of an output, which the worker reads.
pub(super) struct Facts {
    pub name: String,
    pub connector: connector::Handle,
    pub millimetres: Option<(u32, u32)>,
    pub identity: Option<Identity>,
    /// All modes of its monitor.
    pub modes: Vec<DrmMode>,
    pub mode: DrmMode,
    pub rates: vrr::Rates,
    /// The configured lower limit of a variable rate (mHz).
    pub slowest: Option<u32>,
    /// The range of intervals, if the rate varies.
    pub range: Option<vrr::Range>,
    /// The display scans out line after line, with a vertical blanking.
    pub has_beam: bool,
    /// The driver has a vblank counter.
    pub counts_vblanks: bool,
    /// The image size of the cursor plane; `None` without a cursor plane.
    pub cursor_size: Option<(i32, i32)>,
    /// Entries per channel of the gamma table.
    pub gamma_size: Option<u32>,
    pub formats: PlaneFormats,
    pub device: DrmDeviceFd,
}

/// The channels to a pipe's presenter and worker.
pub(super) struct Ends {
    pub presenter: Mailbox<Command>,
    /// Messages from both of them.
    pub news: Inbox<News>,
    /// Where the worker sends its messages.
    pub answers: Mailbox<News>,
    /// Wakes the main thread for new messages.
    pub heard: Ping,
    pub jobs: Jobs,
}

/// The content of a frame, for screenshots.
#[derive(Debug)]
struct Screen {
    picture: Option<Picture>,
    planes: Planes,
    cursor: Option<CursorPlane>,
}

pub(super) struct Pipe {
    facts: Facts,
    ends: Ends,
    scanout: Scanout,
    /// The worker is allocating another buffer.
    grows: bool,
    mode_revision: Revision,
    switches: Switches,
    mirror: Mirror<Screen>,
    verdicts: Verdicts,
    patience: Patience,
    /// Whether the driver's timestamps are used.
    believed: bool,
    events: VecDeque<DisplayEvent>,
}

impl Pipe {
    /// An output that shows no frame of ours yet.
    pub fn new(facts: Facts, scanout: Scanout, ends: Ends) -> Self {
        Pipe {
            believed: facts.counts_vblanks,
            facts,
            ends,
            scanout,
            grows: false,
            mode_revision: Revision::default(),
            switches: Switches::default(),
            mirror: Mirror::default(),
            verdicts: Verdicts::default(),
            patience: Patience::default(),
            events: VecDeque::new(),
        }
    }

    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    pub fn mode(&self) -> Mode {
        mode_of(self.facts.mode)
    }

    pub fn capabilities(&self) -> Capabilities {
        let lead = Lead::of(self.facts.mode, self.facts.has_beam);
        // Without vblanks there are no misses from which the margin could be learned.
        let (submit_lead, driver_margin) = if self.believed {
            (lead.blanking, DRIVER_MARGIN)
        } else {
            (lead.whole(), upbeat_timing::time::Span::ZERO)
        };
        let cursor = self.facts.cursor_size;
        Capabilities {
            clock: if self.believed { ClockSource::Hardware } else { ClockSource::Software },
            submit_lead,
            driver_margin,
            pending_flips: u32::try_from(1 + self.scanout.most_waiting()).unwrap_or(1),
            unreported: 1,
            variable_refresh: self.facts.range,
            scan: (self.believed && self.facts.has_beam).then(|| scan_of(self.facts.mode)),
            front_buffer: false,
            cursor_plane: cursor.map(|(width, height)| (width.unsigned_abs(), height.unsigned_abs())),
            overlay_planes: u32::try_from(self.facts.formats.overlays.len()).unwrap_or(0),
            direct_scanout: true,
            plane_scroll: true,
            // Frames in the presenter's queue can be withdrawn, but not the frame in flight.
            can_withdraw: true,
        }
    }

    pub fn acquire(&mut self) -> Option<Buffer> {
        // During the backoff no frame is composed, since the device would refuse it.
        if self.mirror.power != Power::On || !self.patience.allows(|| MonotonicClock.now()) {
            return None;
        }
        let buffer = self.scanout.acquire();
        // A renderer that acquires a buffer while a frame is outstanding renders ahead, so it can use more buffers.
        if buffer.is_none() || self.mirror.is_busy() {
            self.grow();
        }
        buffer
    }

    /// Has the worker allocate another buffer if all are in use and the limit is not reached.
    fn grow(&mut self) {
        if self.grows || !self.scanout.wants_more() {
            return;
        }
        self.grows = true;
        let size = (self.mode().width, self.mode().height);
        let recipe = self.scanout.recipe(&self.facts.device, size);
        let (answers, heard, jobs) = (self.ends.answers.clone(), self.ends.heard.clone(), self.ends.jobs.clone());
        let revision = self.mode_revision;
        self.ends.jobs.ask(move || {
            answers.note(News::Buffer(revision, recipe.make(&jobs)));
            heard.ping();
        });
    }

    pub fn release(&mut self, buffer: Buffer) {
        self.scanout.release(buffer);
    }

    /// Whether the driver accepts these planes, as far as is known. If it is unknown, a test commit or an import is
    /// started.
    pub fn can_show(&mut self, planes: &Planes) -> bool {
        if self.mirror.power != Power::On || self.facts.formats.places(planes).is_none() {
            return false;
        }
        if !self.mirror.is_lit {
            // Before the first frame a refusal may be due to the mode, so no test is made.
            self.verdicts.disappoint();
            return false;
        }
        match self.verdicts.ask(planes) {
            Answer::Known(shows) => shows,
            Answer::Import(memories) => {
                memories.iter().for_each(|memory| self.import(memory));
                false
            }
            Answer::Test(shown) => {
                self.ends.presenter.send(Command::Test(Shape::of(planes), shown));
                false
            }
        }
    }

    fn import(&self, memory: &Arc<DeviceMemory>) {
        let (answers, heard, jobs) = (self.ends.answers.clone(), self.ends.heard.clone(), self.ends.jobs.clone());
        let (device, memory) = (self.facts.device.clone(), memory.clone());
        self.ends.jobs.ask(move || {
            let frame = client::import(&device, &memory)
                .inspect_err(|error| tracing::debug!(%error, "a client's buffer cannot be imported for planes"));
            let frame = frame.ok().map(|framebuffer| Arc::new(ClientFrame::new(&device, framebuffer, &jobs)));
            answers.note(News::Imported(Arc::downgrade(&memory), frame));
            heard.ping();
        });
    }

    pub fn test(&self, plan: &Plan) -> Result<(), SubmitError> {
        let full = self.mirror.is_busy() && self.mirror.waiting() >= self.scanout.most_waiting();
        match (self.mirror.power, full, &plan.change) {
            (Power::Off | Power::Gone, ..) => Err(SubmitError::Off),
            (_, true, _) => Err(SubmitError::Busy),
            (.., Change::FrontRectangle { .. }) => Err(SubmitError::Unsupported("no front buffer")),
            (.., Change::Compose { .. } | Change::Planes) => Ok(()),
        }
    }

    #[expect(clippy::result_large_err, reason = "as in the trait")]
    pub fn submit(&mut self, mut plan: Plan) -> Result<(), (SubmitError, Plan)> {
        if let Err(error) = self.test(&plan) {
            return Err((error, plan));
        }
        let Some(planes) = self.verdicts.with_frames(plan.planes.clone()) else {
            return Err((SubmitError::Unsupported("a plane for a client's buffer"), plan));
        };
        let (picture, copied) = match std::mem::replace(&mut plan.change, Change::Planes) {
            Change::Compose { buffer, damage } => match self.scanout.fill(buffer, &damage) {
                Ok((picture, copied)) => (Some(picture), copied),
                Err(buffer) => {
                    plan.change = Change::Compose { buffer, damage };
                    return Err((SubmitError::Busy, plan));
                }
            },
            _ => (None, Vec::new()),
        };
        let Plan { frame, present, final_at, cursor, planes: shown, in_fence: fence, .. } = plan;
        let screen = Screen { picture: picture.clone(), planes: shown, cursor: None };
        let (mode, ahead) = (self.mode_revision, self.mirror.is_busy());
        self.mirror.give(frame, screen);
        let content = FlipContent { mode, ahead, picture, copied, fence, cursor, planes };
        self.ends.presenter.send(Command::Submit(Waiting { frame, present, final_at, content }));
        Ok(())
    }

    /// Withdraws the waiting frames from `from` on; returns the newest frame that is sure to stay.
    pub fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        // A frame may be in flight already, with its message still unread.
        self.hear();
        self.ends.presenter.send(Command::Withdraw(from));
        self.mirror.withdraw(from)
    }

    /// Sets the cursor of all waiting frames.
    pub fn set_cursor(&mut self, cursor: Option<&CursorPlane>) {
        self.ends.presenter.send(Command::Cursor(cursor.cloned()));
    }

    /// Entries per channel of the gamma table.
    pub fn gamma_size(&self) -> Option<u32> {
        self.facts.gamma_size
    }

    /// Sets the gamma ramp from the next frame on.
    pub fn set_gamma(&mut self, ramp: Option<GammaRamp>) -> Result<(), SubmitError> {
        if self.facts.gamma_size.is_none() {
            return Err(SubmitError::Unsupported("a gamma ramp"));
        }
        self.ends.presenter.send(Command::Gamma(ramp));
        Ok(())
    }

    pub fn set_power(&mut self, on: bool) {
        match (self.mirror.power, on) {
            (Power::On, false) => {
                self.mirror.power = Power::Off;
                self.lose_all(LossReason::Gone);
                self.settle_dark();
            }
            (Power::Off, true) => self.mirror.power = Power::On,
            _ => return,
        }
        self.ends.presenter.send(Command::Power(on));
    }

    /// Reports all outstanding frames as lost, and forgets the driver's state.
    fn lose_all(&mut self, reason: LossReason) {
        self.events.extend(self.mirror.lose_all().map(|(frame, _)| DisplayEvent::Lost { frame, reason }));
        self.mirror.darken();
        self.verdicts.forget();
        self.patience.renew();
    }

    /// Sends a command to the presenter.
    pub fn tell(&self, command: Command) {
        self.ends.presenter.send(command);
    }

    /// The monitor or the device was unplugged.
    pub fn unplug(&mut self) {
        if self.mirror.power != Power::Gone {
            self.mirror.power = Power::Gone;
            self.lose_all(LossReason::Gone);
            self.give_switches_up();
            self.events.push_back(DisplayEvent::Gone);
            self.ends.presenter.send(Command::Unplug);
        }
    }

    /// A snapshot of the screen, to be read on another thread. The first read copies all of it there.
    pub fn shot(&self, with_cursor: bool) -> Option<Shot> {
        let Screen { picture, planes, cursor } = self.mirror.shown()?;
        let (picture, planes) = (picture.clone(), planes.clone());
        let cursor = cursor.clone().filter(|_| with_cursor);
        let copied = OnceLock::new();
        let Mode { width, height, .. } = self.mode();
        Some(Shot::new(width, height, move |rect, pixels| {
            let copied = copied.get_or_init(|| copy(picture.clone(), &planes, cursor.as_ref()).map(Shot::copied));
            copied.as_ref().is_some_and(|copied| copied.read(rect, pixels))
        }))
    }
}

/// Composes the picture, the overlays and the cursor into one copy.
fn copy(picture: Option<Picture>, planes: &Planes, cursor: Option<&CursorPlane>) -> Option<PixelBuffer> {
    let mut shot = match &planes.direct {
        Some(content) => readback::whole(content)?,
        None => picture?.read()?,
    };
    for content in &planes.overlays {
        readback::put(content, &mut shot)?;
    }
    if let Some(cursor) = cursor {
        let whole = PixelRect { x: 0, y: 0, width: shot.width, height: shot.height };
        overlay::put_cursor(cursor, whole, &mut shot.pixels);
    }
    Some(shot)
}
