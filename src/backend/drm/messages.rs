//! Messages between the main thread and the presenters. The threads share no state: commands own their data, and
//! results come back as news.
//!
//! ```text
//!   main thread ── Command ─► presenter       Submit, Withdraw, Cursor, Test, Power, Switch …
//!               ◄── News ────                 Presented, Lost, Refused, Verdict, Switched, Released …
//!   worker ───── News ─► main thread          Buffer, Imported, NotSwitched
//! ```

use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};

use smithay::reexports::drm::control::{Mode as DrmMode, crtc};

use super::clock::FlipEvent;
use super::flip_queue::Waiting;
use super::memory::{ClientFrame, Picture};
use super::planes::Shown;
use super::post::Mailbox;
use super::scanout::{Fresh, Scanout};
use super::verdicts::Shape;
use super::vrr::Range;
use crate::backend::plane::{DeviceMemory, Planes};
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
    pub picture: Option<Picture>,
    /// The rectangles that were redrawn in the picture's buffer.
    pub copied: Vec<PixelRect>,
    /// Signals when the picture is finished; `None` if it is finished already.
    pub fence: Option<OwnedFd>,
    pub cursor: Option<CursorPlane>,
    /// Clients' buffers on planes.
    pub planes: Shown,
}

/// A switch to another mode, or to another range of rates in the same mode.
pub(super) struct Switch {
    /// The id of the request.
    pub asked: ModeId,
    /// The mode, with buffers for it; `None` keeps the current mode.
    pub mode: Option<(DrmMode, Scanout)>,
    /// The range of refresh intervals if the rate is to vary. In the answer: the range that the driver accepted.
    pub range: Option<Range>,
}

/// A command for a presenter.
pub(super) enum Command {
    Submit(Waiting<FlipContent>),
    /// Withdraw the waiting frames from this one on.
    Withdraw(FrameId),
    /// Set the cursor of all waiting frames.
    Cursor(Option<CursorPlane>),
    /// Set the gamma ramp from the next frame on.
    Gamma(Option<GammaRamp>),
    /// Test commit: would the driver show these planes?
    Test(Shape, Shown),
    /// Switch the output on or off.
    Power(bool),
    Switch(Box<Switch>),
    /// Another session takes the device.
    Pause,
    /// The device is ours again.
    Resume,
    /// The monitor or the device is gone: the presenter ends.
    Unplug,
    /// A flip of its CRTC is done. Another presenter read this event from the shared file.
    Flipped(FlipEvent),
    /// This is the mailbox of the presenter of another CRTC.
    Meet(crtc::Handle, Mailbox<Command>),
    /// This CRTC has no presenter any more.
    Part(crtc::Handle),
}

/// A message to the main thread.
pub(super) enum News {
    /// A frame is in flight: it cannot be withdrawn any more.
    Committed(FrameId),
    /// The frame's scan-out started.
    Presented { frame: FrameId, time: Instant, sequence: Option<u64>, cursor: Option<CursorPlane> },
    /// The frame will not be shown.
    Lost { frame: FrameId, reason: LossReason },
    /// The device refused the frame.
    Refused { frame: FrameId, error: SubmitError },
    /// No plane shows these any more.
    Released(Vec<Shown>, Vec<Picture>),
    /// The driver's timestamps are not used from now on.
    Disbelieved,
    /// The cursor plane cannot be used any more.
    NoCursor,
    /// The driver refused a frame with these clients' planes.
    Refuses(Planes),
    /// The result of a test commit; `None` if it could not be made.
    Verdict(Shape, Option<bool>),
    /// The presenter has panicked: the output stays dark.
    Died,
    /// The mode was switched: the next frame's commit is the modeset.
    Switched(Box<Switch>),
    /// The switch with this id failed, for this reason.
    NotSwitched(ModeId, String),
    /// Another buffer was allocated for this mode, or there is no memory.
    Buffer(Revision, Result<Fresh, String>),
    /// A client's buffer was imported as a framebuffer; `None` if that is impossible.
    Imported(Weak<DeviceMemory>, Option<Arc<ClientFrame>>),
}

impl News {
    /// Whether the main thread need not be woken for it: it goes with the next message.
    pub fn is_quiet(&self) -> bool {
        matches!(self, News::Committed(_))
    }
}
