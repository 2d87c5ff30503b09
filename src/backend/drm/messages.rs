//! Messages between the main thread and the presenters. The threads share no state: commands own their data, and
//! results come back as messages.
//!
//! ```text
//!   main thread ── PresenterCommand ─► presenter    Submit, WriteFront, Withdraw, Cursor, Test, Power, Switch …
//!               ◄── PipeMessage ────                Presented, Lost, Refused, PlanesTested, Switched, Released …
//!   worker ───── PipeMessage ─► main thread         Buffer, Imported, NotSwitched
//! ```

use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use smithay::reexports::drm::control::{Mode as DrmMode, crtc};

use super::command_queue::QueueSender;
use super::flip_clock::{FlipEvent, RefreshStart};
use super::flip_queue::WaitingFlip;
use super::memory::{ClientFrame, ScanoutPicture};
use super::planes::ShownPlanes;
use super::scanout::{NewScanoutBuffer, ScanoutBuffers};
use super::test_commit_cache::PlaneTestKey;
use super::vrr::IntervalRange;
use crate::backend::front::{FrontScanReport, SharedFront};
use crate::backend::plane::{DeviceMemory, PlaneContents};
use crate::backend::{CursorPlane, FrameId, GammaRamp, LossReason, ModeId, PixelRect, SubmitError};
use crate::revision::Revision;
use upbeat_timing::time::Instant;

/// The content of a frame.
#[derive(Debug)]
pub(super) struct FlipContent {
    /// The mode that the frame was made for. In any other mode it is not shown.
    pub mode: Revision,
    /// The previous frame was not reported yet when this one was submitted: both were rendered ahead.
    pub ahead: bool,
    /// The composed picture; `None` keeps the current picture.
    pub picture: Option<ScanoutPicture>,
    /// The rectangles that were redrawn in the picture's buffer.
    pub copied: Vec<PixelRect>,
    /// Signals when the picture is finished; `None` if it is finished already.
    pub fence: Option<OwnedFd>,
    pub cursor: Option<CursorPlane>,
    /// Clients' buffers on planes.
    pub planes: ShownPlanes,
}

/// A rectangle of pixels for the picture on screen.
#[derive(Debug)]
pub(super) struct RectangleWrite {
    /// The mode that it was made for.
    pub mode: Revision,
    pub frame: FrameId,
    pub rect: PixelRect,
    /// `rect.width * rect.height` pixels.
    pub pixels: Vec<u32>,
}

/// A switch to another mode, or to another range of rates in the same mode.
pub(super) struct ModeSwitch {
    /// The id of the request.
    pub request: ModeId,
    /// The mode, with buffers for it; `None` keeps the current mode.
    pub mode: Option<(DrmMode, ScanoutBuffers)>,
    /// The range of refresh intervals if the rate is to vary. In the answer: the range that the driver accepted.
    pub range: Option<IntervalRange>,
}

/// A mode to try in a test commit, with buffers for it.
pub(super) struct ModeTest {
    /// The id of the request.
    pub request: ModeId,
    pub mode: DrmMode,
    pub scanout: ScanoutBuffers,
}

/// A command for a presenter.
pub(super) enum PresenterCommand {
    Submit(WaitingFlip<FlipContent>),
    /// Write a rectangle into the picture on screen.
    WriteFront(RectangleWrite),
    /// Copy a client's memory into the picture on screen once a refresh; `None` ends that.
    ShareFront(Option<SharedFront>),
    /// Withdraw the waiting frames from this one on.
    Withdraw(FrameId),
    /// Set the cursor of all waiting frames.
    Cursor(Option<CursorPlane>),
    /// Set the gamma ramp from the next frame on.
    Gamma(Option<GammaRamp>),
    /// Test commit: would the driver show these planes?
    Test(PlaneTestKey, ShownPlanes),
    /// Switch the output on or off.
    Power(bool),
    Switch(Box<ModeSwitch>),
    /// Test commit: would the driver take this mode?
    TestMode(Box<ModeTest>),
    /// Another session takes the device.
    Pause,
    /// The device is ours again.
    Resume,
    /// The monitor or the device is gone: the presenter ends.
    Unplug,
    /// A flip of its CRTC is done. Another presenter read this event from the shared file.
    Flipped(FlipEvent),
    /// This is the mailbox of the presenter of another CRTC.
    AddPeer(crtc::Handle, QueueSender<PresenterCommand>),
    /// This CRTC has no presenter any more.
    RemovePeer(crtc::Handle),
}

/// A message to the main thread.
pub(super) enum PipeMessage {
    /// A frame is in flight: it cannot be withdrawn any more.
    Committed(FrameId),
    /// The frame's scan-out started.
    Presented { frame: FrameId, time: Instant, sequence: Option<u64>, cursor: Option<CursorPlane> },
    /// The first row of a written rectangle was lit.
    FrontLit { frame: FrameId, light: Instant, sequence: Option<u64>, torn: bool },
    /// The beam has passed the shared rectangle.
    FrontScanned(FrontScanReport),
    /// The last refresh, found by a write into the picture on screen.
    RefreshKnown(RefreshStart),
    /// A written rectangle will not be lit.
    WriteLost { frame: FrameId, reason: LossReason },
    /// The frame will not be shown.
    Lost { frame: FrameId, reason: LossReason },
    /// The device refused the frame.
    Refused { frame: FrameId, error: SubmitError },
    /// No plane shows these any more.
    Released(Vec<ShownPlanes>, Vec<ScanoutPicture>),
    /// The driver's timestamps are not used from now on.
    TimestampsUntrusted,
    /// The cursor plane cannot be used any more.
    NoCursor,
    /// The driver refused a frame with these clients' planes.
    PlanesRefused(PlaneContents),
    /// The result of a test commit; `None` if it could not be made.
    PlanesTested(PlaneTestKey, Option<bool>),
    /// The presenter has panicked: the output stays dark.
    PresenterDied,
    /// The mode was switched: the next frame's commit is the modeset.
    Switched(Box<ModeSwitch>),
    /// The switch with this id failed, for this reason.
    NotSwitched(ModeId, String),
    /// The result of the mode test with this id; an error says why the driver refuses the mode.
    ModeTested(ModeId, Result<(), String>),
    /// Another buffer was allocated for this mode, or there is no memory.
    Buffer(Revision, Result<NewScanoutBuffer, String>),
    /// A client's buffer was imported as a framebuffer; `None` if that is impossible.
    Imported(Weak<DeviceMemory>, Option<Arc<ClientFrame>>),
}

impl PipeMessage {
    /// Whether the main thread need not be woken for it: it goes with the next message.
    pub fn needs_no_wakeup(&self) -> bool {
        matches!(self, PipeMessage::Committed(_) | PipeMessage::RefreshKnown(_))
    }
}
