//! What a display can do, as the rest of the compositor sees it: one trait, no Smithay types in it.
//!
//! A backend owns the devices; [`Display`] is one output of it. Its two verbs are [`submit`](Display::submit) and
//! [`supersede`](Display::supersede); what became of a frame comes back as a [`DisplayEvent`]. They are messages in
//! both directions: a presenter on a thread of its own stands behind them where a device may block, and nothing here
//! waits for it.
//!
//! ```text
//!             acquire ─► Buffer{age} ─► (render) ─► submit(Plan{frame, target, change, fence})
//!   compositor                                           │            ▲
//!             ◄── Presented{frame, time, sequence} ──────┤            │ supersede(from): asked back
//!             ◄── Lost{frame, reason}, Refused{frame, error} ─────────┘
//! ```

pub mod drm;
pub mod fence;
pub mod front;
mod gamma;
pub mod headless;
mod identity;
mod mapped;
pub mod nested;
pub(crate) mod overlay;
pub mod plane;
pub mod scroll;
pub mod seat;
mod shot;
pub mod timer;
pub mod x11;

pub use gamma::GammaRamp;
pub use identity::Identity;
pub use mapped::MappedPixels;
pub use shot::Shot;
use std::os::fd::OwnedFd;
pub use upbeat_record::pixels::PixelBuffer;

pub use upbeat_timing::beam::{Beam, PixelRect, ScanDirection};
pub use upbeat_timing::id::FrameId;
use upbeat_timing::time::{Instant, Span};

/// Where a display's timestamps come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The hardware stamps its vblanks.
    Hardware,
    /// The virtual display's own exact grid.
    Virtual,
    /// No usable timestamps: the vsync model runs on its own.
    Software,
    /// Another compositor's presentation feedback.
    Parent,
}

/// What one output can do. It may change with the mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Where timestamps come from.
    pub clock: ClockSource,
    /// How long before `present` a plan must have been submitted, with its fence signalled: the mode's vertical
    /// blanking plus what the driver is known to want.
    pub submit_lead: Span,
    /// What the driver is guessed to want on top of that, until more is known of it; zero where the lead is exact.
    pub driver_margin: Span,
    /// How many submitted plans may wait at once; it may grow without a [`DisplayEvent::Changed`], as buffers are made. One
    /// more is refused with [`SubmitError::Busy`]. Where it is more than one,
    /// each is for its own refresh: one whose refresh was taken, by a frame that was late, gives way to the one behind it
    /// ([`LossReason::Superseded`]), and the last of them is shown late.
    pub pending_flips: u32,
    /// How many plans may be submitted before the first of them is reported: 1, but where reports come late, as from a
    /// parent compositor. These are shown as soon as they can be, not each at a refresh of its own.
    pub unreported: u32,
    /// The range of refresh intervals of a panel with variable refresh (shortest, longest), if it is switched on.
    pub variable_refresh: Option<(Span, Span)>,
    /// How this mode is scanned, seen on the picture as it is composed; `None` where nobody knows: no vblanks of hardware's
    /// or of the virtual display's own, or another compositor in between.
    pub scan: Option<Beam>,
    /// Whether a rectangle of the buffer on screen may be rewritten.
    pub front_buffer: bool,
    /// Whether there is a cursor plane, and the largest image that it takes (width, height in pixels).
    pub cursor_plane: Option<(u32, u32)>,
    /// How many overlay planes may show clients' buffers; see [`plane`].
    pub overlay_planes: u32,
    /// Whether the primary plane may show a client's buffer.
    pub direct_scanout: bool,
    /// Whether the source rectangle of a plane can be moved inside its buffer at each refresh, without the driver being asked
    /// anew.
    pub plane_scroll: bool,
    /// Whether [`Display::supersede`] can withdraw a plan that was submitted already.
    pub can_withdraw: bool,
}

impl Capabilities {
    /// Of a window: it has no planes and no beam, and takes one frame at a time.
    fn of_window(clock: ClockSource, submit_lead: Span) -> Self {
        Capabilities {
            clock,
            submit_lead,
            driver_margin: Span::ZERO,
            pending_flips: 1,
            unreported: 1,
            variable_refresh: None,
            scan: None,
            front_buffer: false,
            cursor_plane: None,
            overlay_planes: 0,
            direct_scanout: false,
            plane_scroll: false,
            can_withdraw: false,
        }
    }
}

/// How slow a rate may get in another mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slowest {
    /// As was said last.
    AsSaid,
    /// So slow (mHz), or it is fixed.
    This(Option<u32>),
}

/// Names one [`Display::set_mode`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeId(pub u32);

/// The video mode of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Width in physical pixels.
    pub width: i32,
    /// Height in physical pixels.
    pub height: i32,
    /// Refresh rate in millihertz (as `wl_output.mode`).
    pub refresh: u32,
}

impl Mode {
    /// The time between two refreshes.
    pub const fn interval(self) -> Span {
        Span::from_millihertz(self.refresh)
    }
}

/// A buffer to compose into. It belongs to the compositor from [`Display::acquire`] until it is submitted
/// or [released](Display::release); one that is merely dropped is lost to the pool.
#[derive(Debug)]
pub struct Buffer {
    /// What holds the pixels.
    pub storage: BufferStorage,
    /// How many composed frames ago this buffer's content was current: 1 is the last one, 0 means unknown content.
    pub age: u32,
    /// Which buffer of the pool.
    pub slot: usize,
}

/// What holds a [`Buffer`]'s pixels.
#[derive(Debug)]
pub enum BufferStorage {
    /// Memory that the CPU draws into.
    Memory(PixelBuffer),
    /// Memory of a display device that the CPU draws into, and the display reads without a copy.
    Mapped(Box<dyn MappedPixels>),
    /// Memory of a display device, which a GPU (or its stand-in) draws into and the display reads without a copy.
    Device(std::sync::Arc<plane::DeviceMemory>),
}

/// What a refresh does.
#[derive(Debug)]
pub enum Change {
    /// Show a newly composed buffer.
    Compose {
        /// The composed buffer.
        buffer: Buffer,
        /// What differs from the frame composed before it.
        damage: Vec<PixelRect>,
    },
    /// Keep the buffer; only planes change (cursor, clients' buffers, scroll offset).
    Planes,
    /// Rewrite a rectangle of the buffer on screen at once, ahead of the beam; planes stay as they are.
    ///
    /// It does not wait for a flip and is never [`SubmitError::Busy`]. It counts as no composed frame: what it changes is
    /// part of what differs in the next one. [`DisplayEvent::Written`] says when its rows were lit.
    FrontRectangle {
        /// Where.
        rect: PixelRect,
        /// The new pixels, `rect.width * rect.height` of them.
        pixels: Vec<u32>,
    },
}

/// The cursor, where it has a plane of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorPlane {
    /// Left edge of the image on the output.
    pub x: i32,
    /// Top edge of the image on the output.
    pub y: i32,
    /// The image, premultiplied `ARGB8888`; shared, so that moving it copies nothing.
    pub image: std::sync::Arc<PixelBuffer>,
}

/// One refresh of one output: what it shows and when it wants to be on screen.
#[derive(Debug)]
pub struct Plan {
    /// The frame's number, reported back with what became of it.
    pub frame: FrameId,
    /// When the refresh that it was made for is expected.
    pub present: Instant,
    /// When a fresh frame for it would be chosen at the latest: nothing takes its place from then on, and a display that
    /// keeps it waiting need not wait any longer.
    pub final_at: Instant,
    /// What changes.
    pub change: Change,
    /// The cursor plane; `None` leaves it dark. Displays without one ignore it.
    pub cursor: Option<CursorPlane>,
    /// Clients' buffers on planes, all of them that are seen there; [tested](Display::can_show) before.
    pub planes: plane::Planes,
    /// Signals when rendering is done; `None` when it is done already.
    pub in_fence: Option<OwnedFd>,
}

impl Plan {
    /// A finished frame that makes no claim as to its refresh, with nothing on other planes.
    pub fn plain(frame: FrameId, change: Change) -> Self {
        Plan {
            frame,
            present: Instant::ZERO,
            final_at: Instant::ZERO,
            change,
            cursor: None,
            planes: plane::Planes::default(),
            in_fence: None,
        }
    }
}

/// Why a plan was not taken.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum SubmitError {
    /// As many plans as the display allows are waiting already. Try again after the next [`DisplayEvent::Presented`].
    #[error("a flip is pending already")]
    Busy,
    /// The output is off or gone.
    #[error("the output is off")]
    Off,
    /// The plan asks for what this display cannot do.
    #[error("the display cannot do that: {0}")]
    Unsupported(&'static str),
    /// Whoever draws did not finish in time, which is not the display's doing.
    #[error("the GPU does not finish")]
    Unfinished,
    /// The device refused.
    #[error("the device refused the frame: {0}")]
    Device(String),
}

/// Why a submitted frame never reached the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// A newer frame took its place.
    Superseded,
    /// The output was switched off or unplugged.
    Gone,
    /// The mode changed before it was shown.
    ModeChange,
    /// The device dropped it.
    Device,
}

/// What a display reports. Times are `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisplayEvent {
    /// A frame's scan-out started.
    Presented {
        /// Which frame.
        frame: FrameId,
        /// The vblank's timestamp as the display states it: a broken driver may state anything.
        time: Instant,
        /// The display's refresh counter, if it has one.
        sequence: Option<u64>,
    },
    /// A [rectangle](Change::FrontRectangle) was lit; told when its first row was.
    Written {
        /// Which frame.
        frame: FrameId,
        /// When its first row was lit with it. Not a vblank, and no news of when those are.
        light: Instant,
        /// The refresh in which that was, by the display's counter.
        sequence: Option<u64>,
        /// The beam was within the rectangle when it was written: the rows above were lit a refresh later.
        torn: bool,
    },
    /// The beam has passed what is [shared](Display::share).
    Scanned(front::Scanned),
    /// A frame will never be shown.
    Lost {
        /// Which frame.
        frame: FrameId,
        /// Why.
        reason: LossReason,
    },
    /// The device did not take a frame that [`submit`](Display::submit) had taken: as if that had returned the error.
    Refused {
        /// Which frame.
        frame: FrameId,
        /// Why.
        error: SubmitError,
    },
    /// [`Display::can_show`] might say yes by now to what it said no to: choose anew what planes show.
    PlanesKnown,
    /// It lets more frames wait than it said before: see [`Capabilities::pending_flips`].
    MoreRoom,
    /// The mode or the capabilities changed; ask for them again.
    Changed,
    /// What became of a mode that was asked for: it was seen (or the output is dark, and the driver would show it), or it was
    /// refused, for this reason, and the display has what it had before, or is about to. Said once of each.
    ModeSettled {
        /// Which request for it.
        asked: ModeId,
        /// What came of it.
        result: Result<(), String>,
    },
    /// The output is gone. Nothing more comes.
    Gone,
}

/// One output of a backend.
pub trait Display {
    /// The name shown to users and clients, such as `HEADLESS-1`; unique in the session.
    fn name(&self) -> &str;

    /// The mode in force.
    fn mode(&self) -> Mode;

    /// The modes that it has by itself, the one that it prefers first; that in force may be another.
    fn modes(&self) -> Vec<Mode> {
        vec![self.mode()]
    }

    /// Whether it can be switched to `mode`; if not, a sentence that says why.
    fn takes_mode(&self, mode: Mode) -> Result<(), String> {
        if mode == self.mode() { Ok(()) } else { Err("its mode cannot be changed".to_owned()) }
    }

    /// How slow the rate may get in the mode in force (mHz), if somebody wants it to vary; as it was said, whatever it can do.
    fn slowest(&self) -> Option<u32> {
        None
    }

    /// Switches to `mode`, with such a rate. Returns without waiting for it: [`Changed`](DisplayEvent::Changed) says that it is in force. Where a
    /// driver may refuse it later there is a name, under which [`ModeSettled`](DisplayEvent::ModeSettled) says what came of it.
    fn set_mode(&mut self, mode: Mode, slowest: Slowest) -> Result<Option<ModeId>, String> {
        let _ = slowest;
        self.takes_mode(mode).map(|()| None)
    }

    /// Width and height of the picture in millimetres, if it is known.
    fn millimetres(&self) -> Option<(u32, u32)> {
        None
    }

    /// What the monitor says that it is, if it is one and says so.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// What it can do in this mode.
    fn capabilities(&self) -> Capabilities;

    /// The last refresh at or before `now` as the device knows it (time and sequence), if it can tell without having
    /// presented anything: read before a deadline is trusted after a long idle.
    fn last_vblank(&mut self, now: Instant) -> Option<(Instant, u64)>;

    /// A buffer to compose the next frame into; `None` while all are in use.
    fn acquire(&mut self) -> Option<Buffer>;

    /// Gives a buffer back unused; its content counts as unknown.
    fn release(&mut self, buffer: Buffer);

    /// Whether its planes can show these buffers together, as far as the driver tells. It may still refuse the frame. A
    /// display whose driver has to be asked first says no, and [`DisplayEvent::PlanesKnown`] when it knows better.
    fn can_show(&mut self, _planes: &plane::Planes) -> bool {
        false
    }

    /// Hands a frame over. Returns without waiting for the display. On an error the plan comes back. A frame that was taken
    /// is reported once: [`Presented`](DisplayEvent::Presented) (a rectangle: [`Written`](DisplayEvent::Written)),
    /// [`Lost`](DisplayEvent::Lost) or [`Refused`](DisplayEvent::Refused).
    #[expect(clippy::result_large_err, reason = "the plan owns a buffer that must come back, without an allocation")]
    fn submit(&mut self, plan: Plan) -> Result<(), (SubmitError, Plan)>;

    /// From the next refresh on a rectangle of the screen shows memory as it stands, and each refresh is reported
    /// ([`Scanned`](DisplayEvent::Scanned)); `None`: no more, from now on, and what was seen last stays. Returns how long before
    /// its light a row may be read, or `None` where it cannot be done.
    fn share(&mut self, _front: Option<front::Front>) -> Option<front::ReadAhead> {
        None
    }

    /// Asks back every frame numbered `from` or later that is not on its way to the screen yet. Nothing is withdrawn until it
    /// is said to be [`Lost`](DisplayEvent::Lost): what was on its way already is [`Presented`](DisplayEvent::Presented).
    ///
    /// Returns the newest frame that is known to stay, if any is waiting: what is newer may stay, too, on a display that is
    /// told by a message. A caller may compose a frame in place of those that it asked for, and has to bear that one of them
    /// is shown before it.
    fn supersede(&mut self, from: FrameId) -> Option<FrameId>;

    /// Whether [`supersede`](Self::supersede) says all there is to say: what it does not name is withdrawn. If not, each frame
    /// is said to be lost, or shown, in its time.
    fn withdraws_at_once(&self) -> bool {
        true
    }

    /// Frames that wait, and are not on their way to the screen yet, are shown with the cursor like this. A display
    /// that lets no more than one frame wait has nothing to do.
    fn set_cursor(&mut self, _cursor: Option<&CursorPlane>) {}

    /// Switches the output on or off. Returns without waiting for it. What it held is [`Lost`](DisplayEvent::Lost); after that
    /// it makes no event while it is off.
    fn set_power(&mut self, on: bool);

    /// How many entries each channel of its gamma table has; `None` where it has no table.
    fn gamma_size(&self) -> Option<u32> {
        None
    }

    /// Shows colours through `ramp`, which fits the table, from the next frame on; `None`: as they are. A driver may refuse it
    /// later; then colours stay as they were.
    fn set_gamma(&mut self, _ramp: Option<GammaRamp>) -> Result<(), SubmitError> {
        Err(SubmitError::Unsupported("a gamma ramp"))
    }

    /// A copy of what is on screen, with or without the cursor plane; `None` where it is dark or cannot be read back.
    fn screenshot(&self, _with_cursor: bool) -> Option<PixelBuffer> {
        None
    }

    /// The same to be read elsewhere: where it can be, nothing is copied here.
    fn shot(&self, with_cursor: bool) -> Option<Shot> {
        self.screenshot(with_cursor).map(Shot::copied)
    }

    /// What happened since it was last asked, in order.
    fn poll_event(&mut self) -> Option<DisplayEvent>;
}
