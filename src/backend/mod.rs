//! The [`Display`] trait: the interface between the compositor and its backends. It uses no Smithay types.
//!
//! A backend owns the devices; a [`Display`] is one output of it. The compositor calls [`submit`](Display::submit) and
//! [`supersede`](Display::supersede), and the display reports the outcome of each frame as a [`DisplayEvent`]. Calls
//! and events are messages: where a device may block, a presenter thread stands behind them. So the caller never waits.
//!
//! ```text
//!             acquire ─► Buffer{age} ─► (render) ─► submit(FramePlan{frame, present, change, in_fence})
//!   compositor                                           │            ▲
//!             ◄── Presented{frame, time, sequence} ──────┤            │ supersede(from): withdraw
//!             ◄── Lost{frame, reason}, Refused{frame, error} ─────────┘
//! ```

mod device_renderer;
pub mod drm;
pub mod fence;
pub mod front;
mod gamma;
mod gbm_layout;
pub mod headless;
mod identity;
pub mod kept;
mod mapped;
pub mod nested;
pub(crate) mod overlay;
pub mod plane;
mod screen_snapshot;
pub mod scroll;
pub mod seat;
pub mod timer;
pub mod x11;

pub use device_renderer::DeviceRenderer;
pub use gamma::GammaRamp;
pub use identity::EdidIdentity;
pub use mapped::MappedPixels;
pub use screen_snapshot::ScreenSnapshot;
use std::os::fd::OwnedFd;
pub use upbeat_record::ipc::message::DriverFeatures;
pub use upbeat_record::pixels::PixelBuffer;

pub use upbeat_timing::beam::{Beam, PixelRect, ScanDirection};
pub use upbeat_timing::id::FrameId;
use upbeat_timing::time::{Instant, Span};

/// The source of a display's timestamps.
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

/// The features of an output in its current mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub clock: ClockSource,
    /// How long before `present` a plan must be submitted, with its fence signalled: the mode's vertical blanking
    /// plus the driver's known margin.
    pub submit_lead: Span,
    /// An additional margin, guessed until the driver's real one is measured; zero where `submit_lead` is exact.
    pub driver_margin: Span,
    /// How many submitted plans may wait at once. A further plan is refused with [`SubmitError::Busy`]. The number
    /// may grow without a [`DisplayEvent::Changed`], as buffers are allocated.
    ///
    /// Where it is more than one, each plan is for its own refresh. If a late frame takes the refresh of a later
    /// plan, that plan is dropped in favour of the plan behind it ([`LossReason::Superseded`]); the last plan is
    /// never dropped but shown late.
    pub pending_flips: u32,
    /// How many plans may be submitted before the first of them is reported: 1, or more where reports come late, as
    /// from a parent compositor. Such plans are shown as soon as possible, not each at its own refresh.
    pub unreported: u32,
    /// With variable refresh switched on: the shortest and the longest refresh interval of the panel.
    pub variable_refresh: Option<(Span, Span)>,
    /// How the beam scans this mode, relative to the composed picture. `None` where this is unknown: without
    /// vblanks (of the hardware or of the virtual display), or behind another compositor.
    pub scan: Option<Beam>,
    /// Whether a rectangle of the buffer on screen may be rewritten.
    pub front_buffer: bool,
    /// The largest image that the cursor plane takes (width, height in pixels); `None` without a cursor plane.
    pub cursor_plane: Option<(u32, u32)>,
    /// How many overlay planes may show clients' buffers; see [`plane`].
    pub overlay_planes: u32,
    /// Whether overlay planes have a known order, so that their contents may overlap each other.
    pub stacked_overlays: bool,
    /// Whether overlay planes blend translucent buffers with the picture below.
    pub translucent_overlays: bool,
    /// Whether overlay planes show buffers in shared memory as well, unscaled. Device memory alone needs no copy, so
    /// real devices take nothing else.
    pub shared_memory_planes: bool,
    /// Whether the primary plane may show a client's buffer.
    pub direct_scanout: bool,
    /// Whether the source rectangle of a plane can be moved inside its buffer at each refresh, without a new test
    /// commit.
    pub plane_scroll: bool,
    /// Whether [`Display::supersede`] can withdraw a plan that was already submitted.
    pub can_withdraw: bool,
}

impl Capabilities {
    /// The features of a window on another display server: no planes, no beam, one frame at a time.
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
            stacked_overlays: false,
            translucent_overlays: false,
            shared_memory_planes: false,
            direct_scanout: false,
            plane_scroll: false,
            can_withdraw: false,
        }
    }
}

/// The lower limit of a variable rate after a mode switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// Keep the limit of the previous switch.
    Keep,
    /// This rate in mHz; `None` for a fixed rate.
    Set(Option<u32>),
}

/// Id of one [`Display::set_mode`] request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModeId(pub u32);

/// The video mode of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VideoMode {
    /// Width in physical pixels.
    pub width: i32,
    /// Height in physical pixels.
    pub height: i32,
    /// Refresh rate in millihertz (as `wl_output.mode`).
    pub refresh: u32,
}

impl VideoMode {
    /// The time between two refreshes.
    pub const fn interval(self) -> Span {
        Span::from_millihertz(self.refresh)
    }
}

/// A buffer to compose into. It belongs to the compositor from [`Display::acquire`] until it is submitted or
/// [released](Display::release). A buffer that is merely dropped is lost to the pool.
#[derive(Debug)]
pub struct Buffer {
    pub storage: BufferStorage,
    /// How many composed frames ago this buffer's content was current: 1 is the last frame, 0 means unknown content.
    pub age: u32,
    /// Index of the buffer in its pool.
    pub slot: usize,
}

/// The memory that holds a [`Buffer`]'s pixels.
#[derive(Debug)]
pub enum BufferStorage {
    /// Memory that the CPU draws into.
    Memory(PixelBuffer),
    /// Memory whose pixels the renderer keeps until they are read. Only displays that do not
    /// [need the pixels](Display::needs_pixels) get it.
    Kept(kept::KeptPixels),
    /// Memory of a display device that the CPU draws into, and the display reads without a copy.
    Mapped(Box<dyn MappedPixels>),
    /// Memory of a display device that a GPU (or its stand-in) draws into, and the display reads without a copy.
    Device(std::sync::Arc<plane::DeviceMemory>),
}

/// The effect of a plan on the screen.
#[derive(Debug)]
pub enum PlanChange {
    /// Show a newly composed buffer.
    Compose {
        buffer: Buffer,
        /// The difference from the previous composed frame.
        damage: Vec<PixelRect>,
    },
    /// Keep the buffer; only planes change (cursor, clients' buffers, scroll offset).
    Planes,
    /// Rewrite a rectangle of the buffer on screen at once, ahead of the beam; planes stay as they are.
    ///
    /// It does not wait for a flip and is never [`SubmitError::Busy`]. It does not count as a composed frame: the
    /// damage of the next frame has to include it. [`DisplayEvent::FrontLit`] reports when its rows were lit.
    FrontRectangle {
        rect: PixelRect,
        /// `rect.width * rect.height` pixels.
        pixels: Vec<u32>,
    },
}

/// The state of the cursor plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorPlane {
    /// Left edge of the image on the output.
    pub x: i32,
    /// Top edge of the image on the output.
    pub y: i32,
    /// Premultiplied `ARGB8888`; shared, so that moving the cursor copies nothing.
    pub image: std::sync::Arc<PixelBuffer>,
}

/// One refresh of one output: its content, and the time for which it is meant.
#[derive(Debug)]
pub struct FramePlan {
    /// The frame's number, which its report carries.
    pub frame: FrameId,
    /// The expected start of the refresh that the frame is made for.
    pub present: Instant,
    /// From this time on no fresh frame takes the place of this frame, so a display that holds it back need not
    /// wait any longer.
    pub final_at: Instant,
    pub change: PlanChange,
    /// `None` hides the cursor plane. Displays without a cursor plane ignore it.
    pub cursor: Option<CursorPlane>,
    /// All clients' buffers that planes show in this frame; [tested](Display::can_show) before.
    pub planes: plane::PlaneContents,
    /// Signals when rendering is done; `None` when it is done already.
    pub in_fence: Option<OwnedFd>,
}

impl FramePlan {
    /// A finished frame that is meant for no refresh in particular, without cursor plane and clients' planes.
    pub fn plain(frame: FrameId, change: PlanChange) -> Self {
        FramePlan {
            frame,
            present: Instant::ZERO,
            final_at: Instant::ZERO,
            change,
            cursor: None,
            planes: plane::PlaneContents::default(),
            in_fence: None,
        }
    }
}

/// Why a plan was refused.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum SubmitError {
    /// [`Capabilities::pending_flips`] plans are waiting already. Try again after the next [`DisplayEvent::Presented`].
    #[error("a flip is pending already")]
    Busy,
    /// The output is off or gone.
    #[error("the output is off")]
    Off,
    /// The display lacks a feature that the plan uses.
    #[error("the display cannot do that: {0}")]
    Unsupported(&'static str),
    /// The renderer did not finish in time; the display is not at fault.
    #[error("the GPU did not finish the frame in time")]
    Unfinished,
    /// The device refused it, with this error.
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
    /// The mode changed before the frame was shown.
    ModeChange,
    /// The device dropped it.
    Device,
}

/// A report of a display. Times are `CLOCK_MONOTONIC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisplayEvent {
    /// A frame's scan-out started.
    Presented {
        frame: FrameId,
        /// The vblank's timestamp as the display states it. A broken driver may state any value.
        time: Instant,
        /// The display's refresh counter, if it has one.
        sequence: Option<u64>,
    },
    /// A [rectangle](PlanChange::FrontRectangle) was lit; reported when its first row was.
    FrontLit {
        frame: FrameId,
        /// When its first row was lit. This is no vblank timestamp and must not feed the vsync model.
        light: Instant,
        /// The refresh in which it was lit, by the display's counter.
        sequence: Option<u64>,
        /// The beam was within the rectangle when it was written, so the rows above were lit a refresh later.
        torn: bool,
    },
    /// The beam has passed the [shared](Display::share_front) rectangle.
    FrontScanned(front::FrontScanReport),
    /// A frame will never be shown.
    Lost { frame: FrameId, reason: LossReason },
    /// The device refused a frame after [`submit`](Display::submit) had accepted it. Handle it as if `submit` had
    /// returned the error.
    Refused { frame: FrameId, error: SubmitError },
    /// [`Display::can_show`] may now accept planes that it rejected before: assign planes again.
    PlanesKnown,
    /// [`Capabilities::pending_flips`] has grown: more frames may be submitted.
    QueueGrown,
    /// The mode or the capabilities changed; read them again.
    Changed,
    /// The result of a requested or tested mode, reported once for each request. `Ok`: a frame was shown in it (or the
    /// output is dark, or it was a test, and the driver would take it). An error says why the driver refused it; the
    /// display goes back to the previous mode.
    ModeSettled {
        /// The id that [`Display::set_mode`] or [`Display::test_mode`] returned.
        request: ModeId,
        result: Result<(), String>,
    },
    /// The output is gone. This is its last event.
    Gone,
}

/// One output of a backend.
pub trait Display {
    /// The name shown to users and clients, such as `HEADLESS-1`; unique in the session.
    fn name(&self) -> &str;

    fn mode(&self) -> VideoMode;

    /// The monitor's own modes, the preferred mode first. The current mode need not be among them.
    fn modes(&self) -> Vec<VideoMode> {
        vec![self.mode()]
    }

    /// Whether the display can be switched to `mode`; the error is a sentence that gives the reason.
    fn check_mode(&self, mode: VideoMode) -> Result<(), String> {
        if mode == self.mode() { Ok(()) } else { Err("its mode cannot be changed".to_owned()) }
    }

    /// Whether the rate can vary between `slowest` (mHz) and the rate of `mode`; the error is a sentence that gives the
    /// reason.
    fn check_variable_rate(&self, mode: VideoMode, slowest: u32) -> Result<(), String> {
        let _ = (mode, slowest);
        Err("such displays have a fixed rate".to_owned())
    }

    /// The configured lower limit of a variable rate in the current mode (mHz), whether or not the display can vary
    /// its rate.
    fn slowest_rate(&self) -> Option<u32> {
        None
    }

    /// Switches to `mode`, with `slowest` as the lower limit of a variable rate. Returns without waiting:
    /// [`Changed`](DisplayEvent::Changed) reports that the mode is in force. Where a driver may refuse it later,
    /// the returned id names the request, and [`ModeSettled`](DisplayEvent::ModeSettled) reports the result.
    fn set_mode(&mut self, mode: VideoMode, slowest: RateLimit) -> Result<Option<ModeId>, String> {
        let _ = slowest;
        self.check_mode(mode).map(|()| None)
    }

    /// Asks the driver whether it would switch to `mode`; nothing changes on the screen. Returns without waiting: where
    /// the answer comes later, the returned id names the request, and [`ModeSettled`](DisplayEvent::ModeSettled)
    /// reports the result.
    fn test_mode(&mut self, mode: VideoMode) -> Result<Option<ModeId>, String> {
        self.check_mode(mode).map(|()| None)
    }

    /// Width and height of the visible area in millimetres, if known.
    fn millimetres(&self) -> Option<(u32, u32)> {
        None
    }

    /// The monitor's identity; `None` if there is no monitor, or it states none.
    fn identity(&self) -> Option<EdidIdentity> {
        None
    }

    /// The features of its kernel driver; `None` without one.
    fn driver_features(&self) -> Option<&DriverFeatures> {
        None
    }

    /// The features in the current mode.
    fn capabilities(&self) -> Capabilities;

    /// The device's last refresh at or before `now` (time and sequence), if it is known without a presented frame.
    /// It is read after a long idle, before a deadline is trusted.
    fn last_vblank(&mut self, now: Instant) -> Option<(Instant, u64)>;

    /// A buffer to compose the next frame into; `None` while all are in use.
    fn acquire(&mut self) -> Option<Buffer>;

    /// Gives a buffer back unused; its content counts as unknown.
    fn release(&mut self, buffer: Buffer);

    /// Whether the planes can show these buffers together, as far as the driver tells. It may still refuse the
    /// frame. A display whose driver needs a test commit first returns false, and emits
    /// [`DisplayEvent::PlanesKnown`] when the result is known.
    fn can_show(&mut self, _planes: &plane::PlaneContents) -> bool {
        false
    }

    /// Submits a frame. Returns without waiting for the display. On an error the plan comes back. Each accepted
    /// frame is reported once: as [`Presented`](DisplayEvent::Presented) (a rectangle:
    /// [`FrontLit`](DisplayEvent::FrontLit)), [`Lost`](DisplayEvent::Lost) or [`Refused`](DisplayEvent::Refused).
    #[expect(clippy::result_large_err, reason = "the plan owns a buffer that must come back, without an allocation")]
    fn submit(&mut self, plan: FramePlan) -> Result<(), (SubmitError, FramePlan)>;

    /// Scans a rectangle of the screen out of client memory from the next refresh on, and reports each refresh
    /// ([`FrontScanned`](DisplayEvent::FrontScanned)). `None` ends this at once; the rows that were read last stay
    /// on screen. Returns how long before its light a row may be read, or `None` where this is not supported.
    fn share_front(&mut self, _front: Option<front::SharedFront>) -> Option<front::ReadAhead> {
        None
    }

    /// Permits writes into the buffer on screen where they are off because they are untested, as on real displays.
    ///
    /// # Errors
    /// A phrase that says why the display cannot do it now. It may be able to after a change of its mode.
    fn force_front_buffer(&mut self, on: bool) -> Result<(), &'static str> {
        if on && !self.capabilities().front_buffer { Err("such displays have no front buffer") } else { Ok(()) }
    }

    /// Asks to withdraw every frame numbered `from` or later that is not on its way to the screen yet. A frame is
    /// withdrawn only when it is reported as [`Lost`](DisplayEvent::Lost); a frame that was on its way already is
    /// reported as [`Presented`](DisplayEvent::Presented).
    ///
    /// Returns the newest waiting frame that is known to stay. On a display behind a message queue, newer frames
    /// may stay, too. A caller may compose a frame in place of the withdrawn frames, but one of them may still be
    /// shown before it.
    fn supersede(&mut self, from: FrameId) -> Option<FrameId>;

    /// Whether the result of [`supersede`](Self::supersede) is final: all frames newer than the returned frame are
    /// withdrawn. If false, each of them is reported as lost or presented later.
    fn withdraws_at_once(&self) -> bool {
        true
    }

    /// Moves the cursor on frames that wait and are not on their way to the screen yet. A display that lets no more
    /// than one frame wait has nothing to do.
    fn set_cursor(&mut self, _cursor: Option<&CursorPlane>) {}

    /// Switches the output on or off. Returns without waiting for it. When it is switched off, its frames are
    /// reported as [`Lost`](DisplayEvent::Lost); after that it emits no event until it is on again.
    fn set_power(&mut self, on: bool);

    /// Entries per channel of the gamma table; `None` without a table.
    fn gamma_size(&self) -> Option<u32> {
        None
    }

    /// Sets the gamma ramp, which must fit the table, from the next frame on. `None` removes the ramp. A
    /// driver may refuse it later; the colours then stay as they were.
    fn set_gamma(&mut self, _ramp: Option<GammaRamp>) -> Result<(), SubmitError> {
        Err(SubmitError::Unsupported("a gamma ramp"))
    }

    /// Whether the display itself reads the pixels of frames in memory. Otherwise a renderer on a GPU may
    /// [keep](BufferStorage::Kept) them.
    fn needs_pixels(&self) -> bool {
        true
    }

    /// A copy of the screen's content, with or without the cursor plane; `None` where the output is dark or cannot
    /// be read back.
    fn screenshot(&self, _with_cursor: bool) -> Option<PixelBuffer> {
        None
    }

    /// Like [`screenshot`](Self::screenshot), but to be read on another thread: where possible nothing is copied here.
    fn snapshot(&self, with_cursor: bool) -> Option<ScreenSnapshot> {
        self.screenshot(with_cursor).map(ScreenSnapshot::copied)
    }

    /// The next event since the last call, in order.
    fn poll_event(&mut self) -> Option<DisplayEvent>;
}
