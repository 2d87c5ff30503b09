//! One CRTC with its buffers, as the main thread sees it: it takes plans and reports their outcome. Nothing here
//! blocks: the output's [`presenter`](super::presenter) and the device's [`worker`](super::worker) make the ioctls.

mod front_writes;
mod message_handling;
mod mode_switching;

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use calloop::ping::Ping;
use smithay::backend::drm::DrmDeviceFd;
use smithay::reexports::drm::control::{Mode as DrmMode, connector};

use super::command_queue::{QueueReceiver, QueueSender};
use super::flip_queue::WaitingFlip;
use super::memory::{ClientFrame, ScanoutPicture};
use super::messages::{FlipContent, PipeMessage, PresenterCommand};
use super::mode::{CommitLead, DRIVER_MARGIN, mode_of, scan_of};
use super::planes::PlaneFormats;
use super::presenter_mirror::{PresenterMirror, PresenterPower};
use super::retry_backoff::RetryBackoff;
use super::scanout::ScanoutBuffers;
use super::test_commit_cache::{TestCommitCache, TestCommitLookup};
use super::worker::WorkerHandle;
use super::{client_framebuffer, readback, vrr};
use crate::backend::plane::{DeviceMemory, PlaneContents};
use crate::backend::{
    Buffer, Capabilities, ClockSource, CursorPlane, DisplayEvent, DriverFeatures, EdidIdentity, FrameId, FramePlan,
    GammaRamp, LossReason, PixelBuffer, PixelRect, PlanChange, ScreenSnapshot, SubmitError, VideoMode, overlay,
};
use crate::revision::Revision;
use front_writes::FrontAccess;
use mode_switching::ModeSwitches;
use upbeat_timing::time::{Clock, MonotonicClock};

/// The properties of an output, which the worker reads.
pub(super) struct PipeProperties {
    pub name: String,
    pub connector: connector::Handle,
    pub millimetres: Option<(u32, u32)>,
    pub identity: Option<EdidIdentity>,
    /// All modes of its monitor.
    pub modes: Vec<DrmMode>,
    pub mode: DrmMode,
    pub rates: vrr::VariableRates,
    /// The configured lower limit of a variable rate (mHz).
    pub slowest: Option<u32>,
    /// The range of intervals, if the rate varies.
    pub range: Option<vrr::IntervalRange>,
    /// The display scans out line after line, with a vertical blanking.
    pub has_beam: bool,
    /// The driver has atomic modesetting.
    pub is_atomic: bool,
    /// The driver has a vblank counter.
    pub counts_vblanks: bool,
    /// The image size of the cursor plane; `None` without a cursor plane.
    pub cursor_size: Option<(i32, i32)>,
    /// Entries per channel of the gamma table.
    pub gamma_size: Option<u32>,
    pub formats: PlaneFormats,
    pub features: DriverFeatures,
    pub device: DrmDeviceFd,
}

/// The channels to a pipe's presenter and worker.
pub(super) struct PipeChannels {
    pub presenter: QueueSender<PresenterCommand>,
    /// Messages from both of them.
    pub messages: QueueReceiver<PipeMessage>,
    /// Where the worker sends its messages.
    pub answers: QueueSender<PipeMessage>,
    /// Wakes the main thread for new messages.
    pub wakeup: Ping,
    pub jobs: WorkerHandle,
}

/// The content of a frame, for screenshots.
#[derive(Debug)]
struct ScreenContent {
    picture: Option<ScanoutPicture>,
    planes: PlaneContents,
    cursor: Option<CursorPlane>,
}

pub(super) struct Pipe {
    properties: PipeProperties,
    channels: PipeChannels,
    scanout: ScanoutBuffers,
    /// The worker is allocating another buffer.
    is_growing: bool,
    mode_revision: Revision,
    switches: ModeSwitches,
    mirror: PresenterMirror<ScreenContent>,
    test_commit_cache: TestCommitCache,
    retry_backoff: RetryBackoff,
    front: FrontAccess,
    /// Whether the driver's timestamps are used.
    timestamps_trusted: bool,
    events: VecDeque<DisplayEvent>,
}

impl Pipe {
    /// An output that shows no frame of ours yet.
    pub fn new(properties: PipeProperties, scanout: ScanoutBuffers, channels: PipeChannels) -> Self {
        Pipe {
            timestamps_trusted: properties.counts_vblanks,
            properties,
            channels,
            scanout,
            is_growing: false,
            mode_revision: Revision::default(),
            switches: ModeSwitches::default(),
            mirror: PresenterMirror::default(),
            test_commit_cache: TestCommitCache::default(),
            retry_backoff: RetryBackoff::default(),
            front: FrontAccess::default(),
            events: VecDeque::new(),
        }
    }

    pub fn properties(&self) -> &PipeProperties {
        &self.properties
    }

    pub fn mode(&self) -> VideoMode {
        mode_of(self.properties.mode)
    }

    pub fn capabilities(&self) -> Capabilities {
        let lead = CommitLead::of(self.properties.mode, self.properties.has_beam);
        // Without vblanks there are no misses from which the margin could be learned.
        let (submit_lead, driver_margin) = if self.timestamps_trusted {
            (lead.blanking, DRIVER_MARGIN)
        } else {
            (lead.whole(), upbeat_timing::time::Span::ZERO)
        };
        let cursor = self.properties.cursor_size;
        Capabilities {
            clock: if self.timestamps_trusted { ClockSource::Hardware } else { ClockSource::Software },
            submit_lead,
            driver_margin,
            pending_flips: u32::try_from(1 + self.scanout.most_waiting()).unwrap_or(1),
            unreported: 1,
            variable_refresh: self.properties.range,
            // A display without vblanks has no known beam. Where writes are forced, it counts as that of the mode.
            scan: (self.timestamps_trusted && self.properties.has_beam || self.has_front_buffer())
                .then(|| scan_of(self.properties.mode)),
            front_buffer: self.has_front_buffer(),
            cursor_plane: cursor.map(|(width, height)| (width.unsigned_abs(), height.unsigned_abs())),
            overlay_planes: u32::try_from(self.properties.formats.overlays.len()).unwrap_or(0),
            direct_scanout: true,
            plane_scroll: true,
            stacked_overlays: self.properties.formats.are_stacked,
            // Framebuffers of clients' buffers have no alpha.
            translucent_overlays: false,
            shared_memory_planes: false,
            // Frames in the presenter's queue can be withdrawn, but not the frame in flight.
            can_withdraw: true,
        }
    }

    pub fn acquire(&mut self) -> Option<Buffer> {
        // During the backoff no frame is composed, since the device would refuse it.
        if self.mirror.power != PresenterPower::On || !self.retry_backoff.allows_retry(|| MonotonicClock.now()) {
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
        if self.is_growing || !self.scanout.wants_more() {
            return;
        }
        self.is_growing = true;
        let size = (self.mode().width, self.mode().height);
        let allocator = self.scanout.allocator(&self.properties.device, size);
        let (answers, wakeup, jobs) =
            (self.channels.answers.clone(), self.channels.wakeup.clone(), self.channels.jobs.clone());
        let revision = self.mode_revision;
        self.channels.jobs.queue_job(move || {
            answers.send_quietly(PipeMessage::Buffer(revision, allocator.allocate(&jobs)));
            wakeup.ping();
        });
    }

    pub fn release(&mut self, buffer: Buffer) {
        self.scanout.release(buffer);
    }

    /// Whether the driver accepts these planes, as far as is known. If it is unknown, a test commit or an import is
    /// started.
    pub fn can_show(&mut self, planes: &PlaneContents) -> bool {
        if self.mirror.power != PresenterPower::On || self.properties.formats.places(planes).is_none() {
            return false;
        }
        if !self.mirror.is_lit {
            // Before the first frame a refusal may be due to the mode, so no test is made.
            self.test_commit_cache.want_retry();
            return false;
        }
        let VideoMode { width, height, .. } = self.mode();
        self.test_commit_cache.set_screen((width, height));
        match self.test_commit_cache.lookup(planes) {
            TestCommitLookup::Known(shows) => shows,
            TestCommitLookup::Import(memories) => {
                memories.iter().for_each(|memory| self.import(memory));
                false
            }
            TestCommitLookup::Test(shown) => {
                let key = self.test_commit_cache.key(planes);
                self.channels.presenter.send(PresenterCommand::Test(key, shown));
                false
            }
        }
    }

    fn import(&self, memory: &Arc<DeviceMemory>) {
        let (answers, wakeup, jobs) =
            (self.channels.answers.clone(), self.channels.wakeup.clone(), self.channels.jobs.clone());
        let (device, memory) = (self.properties.device.clone(), memory.clone());
        self.channels.jobs.queue_job(move || {
            let frame = client_framebuffer::import(&device, &memory)
                .inspect_err(|error| tracing::debug!(%error, "a client's buffer cannot be imported for planes"));
            let frame = frame.ok().map(|framebuffer| Arc::new(ClientFrame::new(&device, framebuffer, &jobs)));
            answers.send_quietly(PipeMessage::Imported(Arc::downgrade(&memory), frame));
            wakeup.ping();
        });
    }

    pub fn test(&self, plan: &FramePlan) -> Result<(), SubmitError> {
        let full = self.mirror.is_busy() && self.mirror.waiting() >= self.scanout.most_waiting();
        match (self.mirror.power, full, &plan.change) {
            (PresenterPower::Off | PresenterPower::Gone, ..) => Err(SubmitError::Off),
            (.., PlanChange::FrontRectangle { rect, .. }) => self.test_front(*rect),
            (_, true, _) => Err(SubmitError::Busy),
            (.., PlanChange::Compose { .. } | PlanChange::Planes) => Ok(()),
        }
    }

    #[expect(clippy::result_large_err, reason = "as in the trait")]
    pub fn submit(&mut self, mut plan: FramePlan) -> Result<(), (SubmitError, FramePlan)> {
        if let Err(error) = self.test(&plan) {
            return Err((error, plan));
        }
        if let PlanChange::FrontRectangle { rect, pixels } = plan.change {
            self.write_front(plan.frame, rect, pixels);
            return Ok(());
        }
        let Some(planes) = self.test_commit_cache.with_frames(plan.planes.clone()) else {
            return Err((SubmitError::Unsupported("a plane for a client's buffer"), plan));
        };
        let (picture, copied) = match std::mem::replace(&mut plan.change, PlanChange::Planes) {
            PlanChange::Compose { buffer, damage } => match self.scanout.fill(buffer, &damage) {
                Ok((picture, copied)) => (Some(picture), copied),
                Err(buffer) => {
                    plan.change = PlanChange::Compose { buffer, damage };
                    return Err((SubmitError::Busy, plan));
                }
            },
            _ => (None, Vec::new()),
        };
        let FramePlan { frame, present, final_at, cursor, planes: shown, in_fence: fence, .. } = plan;
        let screen = ScreenContent { picture: picture.clone(), planes: shown, cursor: None };
        let (mode, ahead) = (self.mode_revision, self.mirror.is_busy());
        self.mirror.record_submit(frame, screen);
        let content = FlipContent { mode, ahead, picture, copied, fence, cursor, planes };
        self.channels.presenter.send(PresenterCommand::Submit(WaitingFlip { frame, present, final_at, content }));
        Ok(())
    }

    /// Withdraws the waiting frames from `from` on; returns the newest frame that is sure to stay.
    pub fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        // A frame may be in flight already, with its message still unread.
        self.receive_messages();
        self.channels.presenter.send(PresenterCommand::Withdraw(from));
        self.mirror.withdraw(from)
    }

    /// Sets the cursor of all waiting frames.
    pub fn set_cursor(&mut self, cursor: Option<&CursorPlane>) {
        self.channels.presenter.send(PresenterCommand::Cursor(cursor.cloned()));
    }

    /// Entries per channel of the gamma table.
    pub fn gamma_size(&self) -> Option<u32> {
        self.properties.gamma_size
    }

    /// Sets the gamma ramp from the next frame on.
    pub fn set_gamma(&mut self, ramp: Option<GammaRamp>) -> Result<(), SubmitError> {
        if self.properties.gamma_size.is_none() {
            return Err(SubmitError::Unsupported("a gamma ramp"));
        }
        self.channels.presenter.send(PresenterCommand::Gamma(ramp));
        Ok(())
    }

    pub fn set_power(&mut self, on: bool) {
        match (self.mirror.power, on) {
            (PresenterPower::On, false) => {
                self.mirror.power = PresenterPower::Off;
                self.lose_all(LossReason::Gone);
                self.settle_dark();
            }
            (PresenterPower::Off, true) => self.mirror.power = PresenterPower::On,
            _ => return,
        }
        self.channels.presenter.send(PresenterCommand::Power(on));
    }

    /// Reports all outstanding frames as lost, and forgets the driver's state.
    fn lose_all(&mut self, reason: LossReason) {
        self.lose_front_writes(reason);
        self.events.extend(self.mirror.lose_all().map(|(frame, _)| DisplayEvent::Lost { frame, reason }));
        self.mirror.clear_shown();
        self.test_commit_cache.forget();
        self.retry_backoff.reset();
    }

    /// Sends a command to the presenter.
    pub fn send_command(&self, command: PresenterCommand) {
        self.channels.presenter.send(command);
    }

    /// The monitor or the device was unplugged.
    pub fn unplug(&mut self) {
        if self.mirror.power != PresenterPower::Gone {
            self.mirror.power = PresenterPower::Gone;
            self.lose_all(LossReason::Gone);
            self.cancel_mode_requests();
            self.events.push_back(DisplayEvent::Gone);
            self.channels.presenter.send(PresenterCommand::Unplug);
        }
    }

    /// A snapshot of the screen, to be read on another thread. The first read copies all of it there.
    pub fn snapshot(&self, with_cursor: bool) -> Option<ScreenSnapshot> {
        let ScreenContent { picture, planes, cursor } = self.mirror.shown()?;
        let (picture, planes) = (picture.clone(), planes.clone());
        let cursor = cursor.clone().filter(|_| with_cursor);
        let copied = OnceLock::new();
        let VideoMode { width, height, .. } = self.mode();
        Some(ScreenSnapshot::new(width, height, move |rect, pixels| {
            let copied =
                copied.get_or_init(|| copy(picture.clone(), &planes, cursor.as_ref()).map(ScreenSnapshot::copied));
            copied.as_ref().is_some_and(|copied| copied.read(rect, pixels))
        }))
    }
}

/// Composes the picture, the overlays and the cursor into one copy.
fn copy(picture: Option<ScanoutPicture>, planes: &PlaneContents, cursor: Option<&CursorPlane>) -> Option<PixelBuffer> {
    let mut copied = match &planes.direct {
        Some(content) => readback::whole(content)?,
        None => picture?.read()?,
    };
    for content in planes.overlays.iter().rev() {
        readback::put(content, &mut copied)?;
    }
    if let Some(cursor) = cursor {
        let whole = PixelRect { x: 0, y: 0, width: copied.width, height: copied.height };
        overlay::put_cursor(cursor, whole, &mut copied.pixels);
    }
    Some(copied)
}
