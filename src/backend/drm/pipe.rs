//! One CRTC with its memory, as the main thread has it: takes plans, and says what became of them.

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smithay::backend::allocator::format::FormatSet;
use smithay::backend::drm::{DrmDeviceFd, DrmSurface, PlaneClaim, PlaneState};
use smithay::reexports::drm::control::{Mode as DrmMode, connector, crtc};

use super::clock::FlipClock;
use super::cursor::CursorImages;
use super::flip_queue::Waiting;
use super::flipper::{DRIVER_MARGIN, Flipper, Power, Shot};
use super::gamma::Gamma;
use super::mode::mode_of;
use super::plane_config::whole;
use super::planes::ClientPlanes;
use super::presenter::Waker;
use super::scanout::{Drawer, Picture, Scanout};
use super::{DrmError, fence, kms, readback, vrr};
use crate::backend::fence::hint_deadline;
use crate::backend::plane::Planes;
use crate::backend::{
    Buffer, Capabilities, Change, ClockSource, CursorPlane, DisplayEvent, FrameId, GammaRamp, LossReason, Mode,
    PixelBuffer, PixelRect, Plan, SubmitError, overlay,
};
use crate::time::{Clock, Instant, Span};

/// A CRTC as both threads know it.
pub(super) type SharedFlipper = Arc<Mutex<Flipper>>;

/// A thread that panicked while it held the lock left nothing half done that matters more than the screen.
pub(super) fn lock(flipper: &Mutex<Flipper>) -> MutexGuard<'_, Flipper> {
    flipper.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a pipe is to know of its device, and of what is wanted.
pub(super) struct Features {
    /// The driver has a vblank counter.
    pub counts_vblanks: bool,
    /// The driver simulates a display: no beam is on its way while lines are invisible, and what was committed when its timer
    /// ticks is shown.
    pub is_simulated: bool,
    /// Of the device's cursor planes, in pixels.
    pub cursor_size: (i32, i32),
    /// The slowest rate in mHz, if it may vary.
    pub slowest: Option<u32>,
}

/// One output's hardware.
pub(super) struct Pipe {
    pub name: String,
    pub crtc: crtc::Handle,
    pub connector: connector::Handle,
    pub millimetres: Option<(u32, u32)>,
    device: DrmDeviceFd,
    scanout: Scanout,
    /// The range of intervals, where the rate varies.
    variable: Option<vrr::Range>,
    /// The kernel waits for pictures that are not finished.
    takes_fences: bool,
    flipper: SharedFlipper,
    presenter: Waker,
    /// The formats, with their layouts, that the primary plane can show.
    pub formats: FormatSet,
}

impl Pipe {
    /// Takes over a CRTC that shows nothing of ours yet.
    pub fn new(
        surface: DrmSurface,
        name: String,
        connector: &connector::Info,
        features: Features,
        presenter: Waker,
        drawer: &mut dyn Drawer,
        now: Instant,
    ) -> Result<Self, DrmError> {
        let device = surface.device_fd().clone();
        let mode = mode_of(surface.pending_mode());
        let variable = vrr::apply(&surface, connector.handle(), &name, mode, features.slowest);
        let scanout = Scanout::new(&surface, &name, drawer)?;
        let cursor = cursor_images(&device, &surface, features.cursor_size).unzip();
        let takes_fences = fence::taken_by(&surface);
        let client = ClientPlanes::new(device.clone(), &surface);
        let formats = client.formats().clone();
        let clock = FlipClock::new(mode.interval(), features.counts_vblanks, now);
        let crtc = surface.crtc();
        let mut flipper = Flipper::new(name.clone(), surface, clock, client, cursor);
        flipper.has_beam = !features.is_simulated;
        Ok(Pipe {
            name,
            crtc,
            connector: connector.handle(),
            millimetres: connector.size().filter(|size| size.0 > 0 && size.1 > 0),
            device,
            scanout,
            variable,
            takes_fences,
            flipper: Arc::new(Mutex::new(flipper)),
            presenter,
            formats,
        })
    }

    /// What the presenter shares.
    pub fn flipper(&self) -> &SharedFlipper {
        &self.flipper
    }

    pub fn mode(&self) -> Mode {
        mode_of(lock(&self.flipper).mode)
    }

    pub fn capabilities(&self) -> Capabilities {
        let flipper = lock(&self.flipper);
        let cursor_size = flipper.cursor.as_ref().map(|cursor| cursor.size);
        let believed = flipper.clock.is_believed();
        // Without vblanks there are no misses to learn from.
        let (submit_lead, driver_margin) =
            if believed { (flipper.blanking(), DRIVER_MARGIN) } else { (flipper.lead(), Span::ZERO) };
        Capabilities {
            clock: if believed { ClockSource::Hardware } else { ClockSource::Software },
            submit_lead,
            driver_margin,
            pending_flips: u32::try_from(1 + self.scanout.most_waiting()).unwrap_or(1),
            unreported: 1,
            variable_refresh: self.variable,
            asynchronous: false,
            front_buffer: false,
            cursor_plane: cursor_size.map(|(width, height)| (width.unsigned_abs(), height.unsigned_abs())),
            overlay_planes: flipper.client.overlays(),
            direct_scanout: true,
            plane_scroll: false,
            // What waits for its refresh; not what the kernel has.
            can_withdraw: true,
        }
    }

    pub fn acquire(&mut self) -> Option<Buffer> {
        let flipper = lock(&self.flipper);
        let used = (flipper.power == Power::On).then(|| flipper.used());
        drop(flipper);
        self.scanout.acquire(&used?)
    }

    pub fn release(&mut self, buffer: Buffer) {
        self.scanout.release(buffer);
    }

    pub fn screenshot(&self, with_cursor: bool) -> Option<PixelBuffer> {
        let flipper = lock(&self.flipper);
        let lit = flipper.power == Power::On && !flipper.modeset;
        let (picture, planes) = flipper.shown();
        let (picture, planes, cursor) = (picture, planes.cloned(), flipper.shown_cursor.clone());
        drop(flipper);
        let planes = planes.filter(|_| lit).unwrap_or_default();
        let mut shot = match &planes.direct {
            Some(content) => readback::whole(content)?,
            None => self.scanout.read(picture.filter(|_| lit)?)?,
        };
        for content in &planes.overlays {
            readback::put(content, &mut shot)?;
        }
        if let Some(cursor) = cursor.filter(|_| with_cursor) {
            let whole = PixelRect { x: 0, y: 0, width: shot.width, height: shot.height };
            overlay::put_cursor(&cursor, whole, &mut shot.pixels);
        }
        Some(shot)
    }

    pub fn poll_event(&mut self) -> Option<DisplayEvent> {
        let mut flipper = lock(&self.flipper);
        let released = flipper.take_released();
        let event = flipper.events.pop_front();
        drop(flipper);
        // Telling clients is for this thread, and nothing that the presenter should wait for.
        drop(released);
        event
    }

    /// Whether the driver takes these, as far as it tells.
    pub fn can_show(&mut self, planes: &Planes) -> bool {
        lock(&self.flipper).can_show(planes)
    }

    pub fn test(&self, plan: &Plan) -> Result<(), SubmitError> {
        let flipper = lock(&self.flipper);
        let full = !flipper.is_idle() && flipper.waiting() >= self.scanout.most_waiting();
        match (flipper.power, full, &plan.change) {
            (Power::Off | Power::Gone, ..) => Err(SubmitError::Off),
            (_, true, _) => Err(SubmitError::Busy),
            (.., Change::FrontRectangle { .. }) => Err(SubmitError::Unsupported("no front buffer")),
            (.., Change::Compose { .. } | Change::Planes) => Ok(()),
        }
    }

    #[expect(clippy::result_large_err, reason = "as in the trait")]
    pub fn submit(&mut self, mut plan: Plan, clock: &impl Clock) -> Result<(), (SubmitError, Plan)> {
        if let Err(error) = self.test(&plan) {
            return Err((error, plan));
        }
        if let Some(fence) = plan.in_fence.take_if(|_| !self.takes_fences)
            && !fence::wait(&fence)
        {
            plan.in_fence = Some(fence);
            return Err((SubmitError::Device("the GPU does not finish".to_owned()), plan));
        }
        if let Some(unfinished) = &plan.in_fence {
            hint_deadline(unfinished.as_fd(), plan.present - lock(&self.flipper).lead());
        }
        // Pixels are copied before the lock is taken: the presenter does not wait for that.
        let used = lock(&self.flipper).used();
        let (picture, copied) = match std::mem::replace(&mut plan.change, Change::Planes) {
            Change::Compose { buffer, damage } => match self.scanout.fill(buffer, &damage, &used) {
                Ok((picture, copied)) => (Some(picture), copied),
                Err(buffer) => {
                    plan.change = Change::Compose { buffer, damage };
                    return Err((SubmitError::Busy, plan));
                }
            },
            _ => (None, Vec::new()),
        };
        let Plan { frame, present, final_at, .. } = plan;
        let (fence, cursor) = (plan.in_fence.take(), plan.cursor.take());
        let content = Shot { picture, copied, fence, cursor, planes: std::mem::take(&mut plan.planes) };
        let submitted = lock(&self.flipper).submit(Waiting { frame, present, final_at, content }, clock);
        let Err((error, shot)) = submitted else {
            self.presenter.wake_for(&self.flipper);
            return Ok(());
        };
        if let Some(buffer) = picture.and_then(|picture| self.scanout.refused(picture)) {
            plan.change = Change::Compose { buffer, damage: Vec::new() };
        }
        (plan.in_fence, plan.cursor, plan.planes) = (shot.fence, shot.cursor, shot.planes);
        Err((error, plan))
    }

    /// Withdraws what waits from `from` on; returns the newest frame that stays.
    pub fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        let mut flipper = lock(&self.flipper);
        flipper.withdraw(from, LossReason::Superseded);
        flipper.newest()
    }

    /// Frames that wait are shown with the cursor like this.
    pub fn set_cursor(&mut self, cursor: Option<&CursorPlane>) {
        lock(&self.flipper).move_cursor(cursor);
    }

    /// Entries of a channel of the colour table.
    pub fn gamma_size(&self) -> Option<u32> {
        lock(&self.flipper).gamma.as_ref().map(Gamma::size)
    }

    /// Shows colours through `ramp` from the next frame on.
    pub fn set_gamma(&mut self, ramp: Option<&GammaRamp>) -> Result<(), SubmitError> {
        let mut flipper = lock(&self.flipper);
        let gamma = flipper.gamma.as_mut().ok_or(SubmitError::Unsupported("a gamma ramp"))?;
        gamma.set(ramp).map_err(|error| SubmitError::Device(error.to_string()))
    }

    /// Switches the picture on or off.
    pub fn set_power(&mut self, on: bool, now: Instant) {
        let flipper = &mut *lock(&self.flipper);
        match (flipper.power, on) {
            (Power::On, false) => {
                flipper.power = Power::Off;
                flipper.lose(LossReason::Gone);
                if flipper.surface.is_active()
                    && let Err(error) = flipper.surface.clear()
                {
                    tracing::warn!(output = self.name, %error, "the output cannot be switched off");
                }
                flipper.dark();
            }
            (Power::Off, true) => {
                flipper.power = Power::On;
                flipper.modeset = true;
                flipper.client.forget_verdicts();
                flipper.clock.restart(mode_of(flipper.mode).interval(), now);
            }
            _ => {}
        }
    }

    /// The device is ours again after another session had it.
    pub fn resume(&mut self) {
        let mut flipper = lock(&self.flipper);
        // The mode's blob is gone with the other session's state: say it anew.
        let known = flipper.surface.reset_state().and_then(|()| flipper.surface.use_mode(flipper.mode));
        if let Err(error) = known {
            tracing::warn!(output = self.name, %error, "the output's state is not known after the switch");
        }
        // The other session's pictures came long after our last flip.
        (flipper.modeset, flipper.given_up) = (true, 0);
        if let Some(gamma) = &mut flipper.gamma {
            gamma.tell_again();
        }
        if let Err(error) = flipper.surface.use_vrr(self.variable.is_some()) {
            tracing::warn!(output = self.name, %error, "the rate does not vary any more");
        }
    }

    /// Shows another of the monitor's modes, whose rate varies down to `slowest` (mHz), if that is wanted. On an error the
    /// old one stays.
    pub fn set_mode(&mut self, mode: DrmMode, slowest: Option<u32>, now: Instant) -> Result<(), DrmError> {
        let flipper = &mut *lock(&self.flipper);
        if flipper.power == Power::Gone {
            return Ok(());
        }
        if mode == flipper.mode {
            let variable = vrr::apply(&flipper.surface, self.connector, &self.name, mode_of(mode), slowest);
            if std::mem::replace(&mut self.variable, variable) != variable {
                flipper.events.push_back(DisplayEvent::Changed);
            }
            return Ok(());
        }
        let size = (mode_of(mode).width, mode_of(mode).height);
        let mut scanout = self.scanout.resized(&self.device, size)?;
        flipper.surface.use_mode(mode).map_err(kms("the mode was refused"))?;
        let Picture { framebuffer, .. } = scanout.first();
        let plane = PlaneState { handle: flipper.surface.plane(), config: Some(whole(framebuffer, size, (0, 0))) };
        if let Err(error) = flipper.surface.test_state([plane], true) {
            let _ = flipper.surface.use_mode(flipper.mode);
            return Err(kms("the mode was refused")(error));
        }
        // Before the losses: what is made up for them is made for the new mode.
        flipper.events.push_back(DisplayEvent::Changed);
        flipper.lose(LossReason::ModeChange);
        (flipper.mode, self.scanout, flipper.modeset) = (mode, scanout, true);
        self.variable = vrr::apply(&flipper.surface, self.connector, &self.name, mode_of(mode), slowest);
        flipper.client.forget_verdicts();
        flipper.clock.restart(mode_of(mode).interval(), now);
        Ok(())
    }

    /// The monitor was unplugged, or the whole device.
    pub fn unplug(&mut self) {
        let flipper = &mut *lock(&self.flipper);
        if flipper.power != Power::Gone {
            flipper.power = Power::Gone;
            flipper.lose(LossReason::Gone);
            let _ = flipper.surface.is_active().then(|| flipper.surface.clear());
            flipper.dark();
            flipper.events.push_back(DisplayEvent::Gone);
        }
    }
}

fn cursor_images(device: &DrmDeviceFd, surface: &DrmSurface, size: (i32, i32)) -> Option<(CursorImages, PlaneClaim)> {
    let claim = surface.planes().cursor.iter().find_map(|plane| surface.claim_plane(plane.handle))?;
    let images = CursorImages::new(device, claim.plane(), size)
        .inspect_err(|error| tracing::warn!(%error, "the cursor plane cannot be used: the cursor is drawn"));
    Some((images.ok()?, claim))
}
