//! What the main thread and a presenter say to each other. Nothing is shared between them: commands own what they need,
//! and what becomes of it comes back as news.
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

/// What a frame shows.
#[derive(Debug)]
pub(super) struct FlipContent {
    /// The mode that it was made for: what was made for another one shows nothing in this one.
    pub mode: Revision,
    /// The main thread had not heard of the frame before this one: that one was finished ahead, and so is this.
    pub ahead: bool,
    /// The composed picture, if it is a new one.
    pub picture: Option<Picture>,
    /// What of that is new in its buffer.
    pub copied: Vec<PixelRect>,
    /// Signals when the picture is finished; `None` when it is.
    pub fence: Option<OwnedFd>,
    pub cursor: Option<CursorPlane>,
    /// Clients' buffers on planes.
    pub planes: Shown,
}

/// Another mode, or another range of rates in the same.
pub(super) struct Switch {
    /// Which request for it.
    pub asked: ModeId,
    /// The mode with buffers for it; `None`: it stays as it is.
    pub mode: Option<(DrmMode, Scanout)>,
    /// The range of intervals, if the rate is to vary; as far as the driver does, when it comes back.
    pub range: Option<Range>,
}

/// What a presenter is to do.
pub(super) enum Command {
    /// Show this.
    Submit(Waiting<FlipContent>),
    /// Withdraw what waits from this frame on.
    Withdraw(FrameId),
    /// What waits is shown with the cursor like this.
    Cursor(Option<CursorPlane>),
    /// Colours are shown through this from the next frame on.
    Gamma(Option<GammaRamp>),
    /// Would the driver show this?
    Test(Shape, Shown),
    /// On or off.
    Power(bool),
    /// Another mode.
    Switch(Box<Switch>),
    /// Another session has the device.
    Pause,
    /// It is ours again.
    Resume,
    /// The monitor is gone, or the device: the presenter ends.
    Unplug,
    /// A flip of its CRTC is done, as another presenter heard.
    Flipped(FlipEvent),
    /// This presenter has this CRTC.
    Meet(crtc::Handle, Mailbox<Command>),
    /// Nobody has it.
    Part(crtc::Handle),
}

/// What became of it.
pub(super) enum News {
    /// A frame is on its way: it cannot be withdrawn any more.
    Committed(FrameId),
    /// Its scan-out started.
    Presented {
        frame: FrameId,
        time: Instant,
        sequence: Option<u64>,
        /// The cursor on it.
        cursor: Option<CursorPlane>,
    },
    /// It will not be shown.
    Lost { frame: FrameId, reason: LossReason },
    /// The device refused it.
    Refused { frame: FrameId, error: SubmitError },
    /// Nobody shows these any more.
    Released(Vec<Shown>, Vec<Picture>),
    /// The driver's timestamps are nothing to go by from now on.
    Disbelieved,
    /// There is no cursor plane any more.
    NoCursor,
    /// A frame with these on planes was refused.
    Refuses(Planes),
    /// Whether the driver would show this; `None` if it could not be asked.
    Verdict(Shape, Option<bool>),
    /// The presenter has panicked: the output shows nothing any more.
    Died,
    /// The mode was switched: the next frame lights it.
    Switched(Box<Switch>),
    /// It was not: which request, and why.
    NotSwitched(ModeId, String),
    /// One more buffer was made for this mode, or there is no memory.
    Buffer(Revision, Result<Fresh, String>),
    /// A client's buffer is a framebuffer, or cannot be one.
    Imported(Weak<DeviceMemory>, Option<Arc<ClientFrame>>),
}

impl News {
    /// Whether it can wait until there is something else to say.
    pub fn is_quiet(&self) -> bool {
        matches!(self, News::Committed(_))
    }
}
