//! One CRTC with its planes: takes plans, flips, and says what became of them.

use std::collections::VecDeque;

use smithay::backend::allocator::format::FormatSet;
use smithay::backend::drm::{DrmDeviceFd, DrmSurface, PlaneClaim, PlaneConfig, PlaneState};
use smithay::reexports::drm::control::{Mode as DrmMode, connector, crtc, framebuffer};
use smithay::utils::{Physical, Point, Rectangle, Size, Transform};

use super::clock::{FlipClock, FlipEvent, Light};
use super::cursor::CursorImages;
use super::mode::{blanking, mode_of};
use super::planes::ClientPlanes;
use super::scanout::Scanout;
use super::{DrmError, kms, readback};
use crate::backend::plane::Planes;
use crate::backend::{
    Buffer, Capabilities, Change, ClockSource, CursorPlane, DisplayEvent, FrameId, LossReason, Mode, PixelBuffer,
    PixelRect, Plan, SubmitError, overlay,
};
use crate::time::{Clock, Instant, Span};

/// What drivers want before the blanking starts: to program the registers, or to wake a thread that does. Those that
/// want more are found out by the output's machine, from frames that were in time and missed all the same.
const DRIVER_MARGIN: Span = Span::from_micros(500);

/// A flip that the driver has taken.
#[derive(Debug)]
struct Flight {
    frame: FrameId,
    /// When the kernel had taken it.
    submitted: Instant,
    /// The driver has said that it is done, and when that is light.
    light: Option<Light>,
    /// Clients' buffers on planes.
    planes: Planes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Power {
    On,
    /// Off, or the device belongs to another session.
    Off,
    Gone,
}

/// One output's hardware.
pub(super) struct Pipe {
    pub name: String,
    pub crtc: crtc::Handle,
    pub connector: connector::Handle,
    pub millimetres: Option<(u32, u32)>,
    device: DrmDeviceFd,
    surface: DrmSurface,
    mode: DrmMode,
    scanout: Scanout,
    /// Planes for clients' buffers.
    client: ClientPlanes,
    /// What they show: the last entry; others may yet be read by the device.
    held: Vec<Planes>,
    cursor: Option<CursorImages>,
    /// What the cursor plane was last told to show.
    shown_cursor: Option<CursorPlane>,
    /// Keeps the cursor plane from being given to another pipe.
    _claim: Option<PlaneClaim>,
    clock: FlipClock,
    flight: Option<Flight>,
    power: Power,
    /// The next commit switches the mode, and may block.
    modeset: bool,
    events: VecDeque<DisplayEvent>,
}

impl Pipe {
    /// `counts_vblanks`: the driver has a vblank counter. `cursor_size`: of the device's cursor planes, in pixels.
    pub fn new(
        device: DrmDeviceFd,
        surface: DrmSurface,
        name: String,
        connector: &connector::Info,
        (counts_vblanks, cursor_size): (bool, (i32, i32)),
        now: Instant,
    ) -> Result<Self, DrmError> {
        let mode = surface.pending_mode();
        let size = (mode_of(mode).width, mode_of(mode).height);
        let scanout = Scanout::new(&device, size)?;
        let (cursor, claim) = cursor_images(&device, &surface, cursor_size).unzip();
        Ok(Pipe {
            name,
            crtc: surface.crtc(),
            connector: connector.handle(),
            millimetres: connector.size().filter(|size| size.0 > 0 && size.1 > 0),
            clock: FlipClock::new(mode_of(mode).interval(), counts_vblanks, now),
            client: ClientPlanes::new(device.clone(), &surface),
            held: Vec::new(),
            device,
            surface,
            mode,
            scanout,
            cursor,
            shown_cursor: None,
            _claim: claim,
            flight: None,
            power: Power::On,
            modeset: true,
            events: VecDeque::new(),
        })
    }

    pub fn mode(&self) -> Mode {
        mode_of(self.mode)
    }

    pub fn capabilities(&self) -> Capabilities {
        Capabilities {
            clock: if self.clock.is_believed() { ClockSource::Hardware } else { ClockSource::Software },
            submit_lead: blanking(self.mode) + DRIVER_MARGIN,
            pending_flips: 1,
            unreported: 1,
            variable_refresh: None,
            asynchronous: false,
            front_buffer: false,
            cursor_plane: self
                .cursor
                .as_ref()
                .map(|cursor| (cursor.size.0.unsigned_abs(), cursor.size.1.unsigned_abs())),
            overlay_planes: self.client.overlays(),
            direct_scanout: true,
            plane_scroll: false,
            can_withdraw: false,
        }
    }

    pub fn acquire(&mut self) -> Option<Buffer> {
        if self.power == Power::On { self.scanout.acquire() } else { None }
    }

    pub fn release(&mut self, buffer: Buffer) {
        self.scanout.release(buffer);
    }

    pub fn screenshot(&self, with_cursor: bool) -> Option<PixelBuffer> {
        let lit = self.power == Power::On && !self.modeset;
        let planes = self.flight.as_ref().map(|flight| &flight.planes).or(self.held.last()).filter(|_| lit);
        let mut picture = match planes.and_then(|planes| planes.direct.as_ref()) {
            Some(content) => readback::whole(content)?,
            None => lit.then(|| self.scanout.screenshot())?,
        };
        for content in planes.iter().flat_map(|planes| &planes.overlays) {
            readback::put(content, &mut picture)?;
        }
        if with_cursor && let Some(cursor) = &self.shown_cursor {
            let whole = PixelRect { x: 0, y: 0, width: picture.width, height: picture.height };
            overlay::put_cursor(cursor, whole, &mut picture.pixels);
        }
        Some(picture)
    }

    pub fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.events.pop_front()
    }

    /// The frame whose flip is under way.
    pub fn flight(&self) -> Option<FrameId> {
        self.flight.as_ref().map(|flight| flight.frame)
    }

    /// The formats that the primary plane can show.
    pub fn formats(&self) -> &FormatSet {
        self.client.formats()
    }

    /// Whether the driver takes these, as far as it tells.
    pub fn can_show(&mut self, planes: &Planes) -> bool {
        self.power == Power::On && !self.modeset && self.client.can_show(&self.surface, planes)
    }

    pub fn test(&self, plan: &Plan) -> Result<(), SubmitError> {
        match (self.power, &self.flight, &plan.change) {
            (Power::Off | Power::Gone, ..) => Err(SubmitError::Off),
            (_, Some(_), _) => Err(SubmitError::Busy),
            (.., Change::FrontRectangle { .. }) => Err(SubmitError::Unsupported("no front buffer")),
            (.., Change::Compose { .. } | Change::Planes) => Ok(()),
        }
    }

    #[expect(clippy::result_large_err, reason = "as in the trait")]
    pub fn submit(&mut self, plan: Plan, clock: &impl Clock) -> Result<(), (SubmitError, Plan)> {
        if let Err(error) = self.test(&plan) {
            return Err((error, plan));
        }
        let Plan { frame, target, present, change, cursor, planes, in_fence } = plan;
        // After a mode switch there is nothing on the plane yet; after a client's buffer comes our own again.
        let bare = self.modeset || self.held.last().is_some_and(|held| held.direct.is_some());
        let (primary, composed) = match change {
            Change::Compose { buffer, damage } => (Some(self.scanout.fill_back(buffer, &damage)), true),
            _ => (bare.then(|| self.scanout.front()), false),
        };
        match self.commit(primary.filter(|_| planes.direct.is_none()), cursor.as_ref(), &planes) {
            Ok(()) => {
                if composed {
                    self.scanout.flipped();
                }
                self.shown_cursor = cursor.filter(|_| self.cursor.is_some());
                self.flight = Some(Flight { frame, submitted: clock.now(), light: None, planes });
                Ok(())
            }
            Err(error) => {
                // The picture is in the shadow: the next frame brings it along.
                let change = match composed.then(|| self.scanout.acquire()).flatten() {
                    Some(buffer) => Change::Compose { buffer, damage: Vec::new() },
                    None => Change::Planes,
                };
                Err((error, Plan { frame, target, present, change, cursor, planes, in_fence }))
            }
        }
    }

    /// Commits the planes; without the cursor's if the driver does not like that one.
    fn commit(
        &mut self,
        primary: Option<framebuffer::Handle>,
        cursor: Option<&CursorPlane>,
        planes: &Planes,
    ) -> Result<(), SubmitError> {
        let Some(client) = self.client.states(planes, self.modeset) else {
            return Err(SubmitError::Unsupported("a plane for a client's buffer"));
        };
        let with_cursor = [self.planes(primary, cursor), client.clone()].concat();
        let Err(error) = self.flip(with_cursor) else {
            self.client.committed(&client);
            return Ok(());
        };
        if !planes.is_empty() && !is_passing(&error) {
            // Not the cursor's fault, as far as anybody can tell.
            self.client.refused(planes);
            return Err(refusal(&error));
        }
        let Some(images) = self.cursor.take() else { return Err(refusal(&error)) };
        let without = [self.planes(primary, None), client.clone()].concat();
        if primary.is_some() && self.surface.test_state(without.clone(), self.modeset).is_ok() && !is_passing(&error) {
            tracing::warn!(output = self.name, %error, "the cursor plane is refused: the cursor is drawn from now on");
            let _ = self.surface.clear_plane(images.plane);
            self.events.push_back(DisplayEvent::Changed);
            self.flip(without).map_err(|error| refusal(&error))?;
            self.client.committed(&client);
            return Ok(());
        }
        self.cursor = Some(images);
        Err(refusal(&error))
    }

    fn flip(&mut self, planes: Vec<PlaneState<'static>>) -> Result<(), smithay::backend::drm::DrmError> {
        if self.modeset || self.surface.commit_pending() {
            self.surface.commit(planes, true)?;
            self.modeset = false;
            return Ok(());
        }
        self.surface.page_flip(planes, true)
    }

    fn planes(
        &mut self,
        primary: Option<framebuffer::Handle>,
        cursor: Option<&CursorPlane>,
    ) -> Vec<PlaneState<'static>> {
        let Mode { width, height, .. } = self.mode();
        let primary = primary
            .map(|fb| PlaneState { handle: self.surface.plane(), config: Some(whole(fb, (width, height), (0, 0))) });
        let cursor = self.cursor.as_mut().map(|images| PlaneState {
            handle: images.plane,
            config: cursor.map(|cursor| whole(images.framebuffer(cursor), images.size, (cursor.x, cursor.y))),
        });
        primary.into_iter().chain(cursor).collect()
    }

    /// The driver says that the flip is done.
    pub fn flipped(&mut self, event: FlipEvent, now: Instant) {
        let Some(flight) = &mut self.flight else { return };
        let believed = self.clock.is_believed();
        let light = self.clock.flipped(event, flight.submitted, now);
        flight.light = Some(light);
        if believed && !self.clock.is_believed() {
            tracing::warn!(output = self.name, "the driver's timestamps make no sense: software vsync from now on");
            self.events.push_back(DisplayEvent::Changed);
        }
        self.advance(now);
    }

    /// When [`advance`](Self::advance) has something to do.
    pub fn next_wake(&self) -> Option<Instant> {
        self.flight.as_ref()?.light.map(|light| light.time)
    }

    /// Reports a flip whose light has come.
    pub fn advance(&mut self, now: Instant) {
        let believed = self.clock.is_believed();
        let is_due = |flight: &mut Flight| flight.light.is_some_and(|light| believed || light.time <= now);
        let Some(flight) = self.flight.take_if(is_due) else { return };
        let Some(light) = flight.light else { return };
        let Light { time, sequence } = light;
        // What was shown before is off the screen now.
        self.held.clear();
        self.held.push(flight.planes);
        self.client.tidy();
        self.events.push_back(DisplayEvent::Presented { frame: flight.frame, time, sequence });
    }

    /// Switches the picture on or off.
    pub fn set_power(&mut self, on: bool, now: Instant) {
        match (self.power, on) {
            (Power::On, false) => {
                self.power = Power::Off;
                self.lose(LossReason::Gone);
                if self.surface.is_active()
                    && let Err(error) = self.surface.clear()
                {
                    tracing::warn!(output = self.name, %error, "the output cannot be switched off");
                }
                self.held.clear();
            }
            (Power::Off, true) => {
                self.power = Power::On;
                self.modeset = true;
                self.client.forget_verdicts();
                self.clock.restart(self.mode().interval(), now);
            }
            _ => {}
        }
    }

    /// The device is ours again after another session had it.
    pub fn resume(&mut self) {
        // The mode's blob is gone with the other session's state: say it anew.
        if let Err(error) = self.surface.reset_state().and_then(|()| self.surface.use_mode(self.mode)) {
            tracing::warn!(output = self.name, %error, "the output's state is not known after the switch");
        }
        self.modeset = true;
    }

    /// Shows another of the monitor's modes. On an error the old one stays.
    pub fn set_mode(&mut self, mode: DrmMode, now: Instant) -> Result<(), DrmError> {
        if mode == self.mode || self.power == Power::Gone {
            return Ok(());
        }
        let (width, height) = (mode_of(mode).width, mode_of(mode).height);
        let scanout = Scanout::new(&self.device, (width, height))?;
        self.surface.use_mode(mode).map_err(kms("the mode was refused"))?;
        let plane =
            PlaneState { handle: self.surface.plane(), config: Some(whole(scanout.front(), (width, height), (0, 0))) };
        if let Err(error) = self.surface.test_state([plane], true) {
            let _ = self.surface.use_mode(self.mode);
            return Err(kms("the mode was refused")(error));
        }
        self.lose(LossReason::ModeChange);
        (self.mode, self.scanout, self.modeset) = (mode, scanout, true);
        self.client.forget_verdicts();
        self.clock.restart(mode_of(mode).interval(), now);
        self.events.push_back(DisplayEvent::Changed);
        Ok(())
    }

    /// The monitor was unplugged, or the whole device.
    pub fn unplug(&mut self) {
        if self.power != Power::Gone {
            self.power = Power::Gone;
            self.lose(LossReason::Gone);
            let _ = self.surface.is_active().then(|| self.surface.clear());
            self.held.clear();
            self.events.push_back(DisplayEvent::Gone);
        }
    }

    fn lose(&mut self, reason: LossReason) {
        if let Some(Flight { frame, planes, .. }) = self.flight.take() {
            // The device may get to show it all the same.
            self.held.push(planes);
            self.events.push_back(DisplayEvent::Lost { frame, reason });
        }
    }
}

fn cursor_images(device: &DrmDeviceFd, surface: &DrmSurface, size: (i32, i32)) -> Option<(CursorImages, PlaneClaim)> {
    let claim = surface.planes().cursor.iter().find_map(|plane| surface.claim_plane(plane.handle))?;
    let images = CursorImages::new(device, claim.plane(), size)
        .inspect_err(|error| tracing::warn!(%error, "the cursor plane cannot be used: the cursor is drawn"));
    Some((images.ok()?, claim))
}

/// A whole framebuffer, unscaled, at a place of the CRTC.
fn whole(fb: framebuffer::Handle, (width, height): (i32, i32), (x, y): (i32, i32)) -> PlaneConfig<'static> {
    PlaneConfig {
        src: Rectangle::from_size((f64::from(width), f64::from(height)).into()),
        dst: Rectangle::<i32, Physical>::new(Point::from((x, y)), Size::from((width, height))),
        transform: Transform::Normal,
        alpha: 1.0,
        damage_clips: None,
        fb,
        fence: None,
    }
}

/// Whether the refusal says nothing about what was asked for.
fn is_passing(error: &smithay::backend::drm::DrmError) -> bool {
    matches!(refusal(error), SubmitError::Busy | SubmitError::Off)
}

fn refusal(error: &smithay::backend::drm::DrmError) -> SubmitError {
    use smithay::backend::drm::DrmError as Smithay;
    match error {
        Smithay::DeviceInactive => SubmitError::Off,
        Smithay::Access(access) => match access.source.raw_os_error() {
            Some(libc::EBUSY) => SubmitError::Busy,
            Some(libc::EACCES | libc::EPERM | libc::ENODEV) => SubmitError::Off,
            _ => SubmitError::Device(error.to_string()),
        },
        _ => SubmitError::Device(error.to_string()),
    }
}
