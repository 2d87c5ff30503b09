//! Chooses the renderer and its device, when a session starts and when devices come and go.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use calloop::ping::Ping;

use super::device;
use super::fault::InjectedFaults;
use super::gles::GlesPainter;
use super::pending_context::{ContextResult, PendingContext, ProvenContext};
use super::pixman::PixmanPainter;
use super::thread::MakeContext;
use super::threaded::Gles;
use super::{RenderError, Renderer, SoftwareDriver};
use crate::backend::drm::RendererNode;

/// How long the start of a session waits for a driver. Without the wait, programs that start before the renderer is
/// known would never be offered dmabufs. Drivers that first compile their shaders take half a second.
const PATIENCE: Duration = Duration::from_secs(3);
/// The same for tests, in which a driver may run on an emulated processor.
const PATIENCE_IN_TESTS: Duration = Duration::from_secs(60);

/// Why a driver is not used that does not answer in time.
pub const SLOW: &str = "the driver takes too long";

impl Renderer {
    /// Draws with the CPU until a device with a GPU is available. With [`SoftwareDriver::InPlace`], any device will do.
    pub fn automatic(software: SoftwareDriver) -> Result<Self, RenderError> {
        let mut pixman = PixmanPainter::new()?;
        pixman.stands_in = Some((software, "no device draws in hardware".to_owned()));
        Ok(Renderer::Pixman(Box::new(pixman)))
    }

    /// For a session without displays of its own: switches to a GPU off screen, if there is one. Waits for its
    /// driver, up to [`patience`](Self::patience).
    pub fn find_gpu(&mut self) -> Result<(), RenderError> {
        let Some(software) = self.stands_in() else { return Ok(()) };
        if !device::is_there() {
            self.record_reason("this machine has no render node".to_owned());
            return Ok(());
        }
        let make: MakeContext = Arc::new(move || GlesPainter::on_gpu(software));
        match PendingContext::start(make, software, InjectedFaults::default(), None)?.outcome(self.patience()) {
            ContextResult::Proven(proven) => self.adopt(proven),
            ContextResult::Failed(pending, reason) => self.give_up(pending, reason),
            ContextResult::Pending(pending) => self.give_up(pending, SLOW.to_owned()),
        }
        Ok(())
    }

    /// How long the start of a session waits for another renderer.
    pub fn patience(&self) -> Duration {
        if self.software() == Some(SoftwareDriver::InPlace) { PATIENCE_IN_TESTS } else { PATIENCE }
    }

    /// Whether it could draw into displays' own buffers after a move to their device.
    pub fn wants_device(&self) -> bool {
        match self {
            Renderer::Gles(gles) => gles.abilities.device.is_none(),
            Renderer::Pixman(pixman) => pixman.stands_in.is_some(),
        }
    }

    /// Starts to create a context on a display device that draws into the displays' own buffers. The caller
    /// [adopts](Self::adopt) it once it has proven that it draws. `open` opens the device as a file of its own, on
    /// the render thread. `number`: the device's number, as for
    /// [`RenderTargets::formats`](super::RenderTargets::formats). `wake` is pinged when the result is known.
    pub fn try_device(
        &self,
        open: impl Fn() -> std::io::Result<OwnedFd> + Send + Sync + 'static,
        number: u64,
        wake: Option<Ping>,
    ) -> Result<PendingContext, RenderError> {
        let (software, injected) = match self {
            Renderer::Gles(gles) => (gles.software, gles.thread.injected_faults()),
            Renderer::Pixman(_) if !device::is_there() && self.stands_in() != Some(SoftwareDriver::InPlace) => {
                return Err(RenderError::Gles("this machine has no render node".to_owned()));
            }
            Renderer::Pixman(_) => (self.stands_in().unwrap_or(SoftwareDriver::OffScreen), InjectedFaults::default()),
        };
        let make: MakeContext = Arc::new(move || {
            let device = open().map_err(|error| RenderError::Gles(format!("its device cannot be opened: {error}")))?;
            GlesPainter::on_display(device, number, software)
        });
        PendingContext::start(make, software, injected, wake)
    }

    /// Switches to this context. Pending jobs are still returned by [`finished`](Self::finished), as failed.
    pub fn adopt(&mut self, proven: ProvenContext) {
        match self {
            Renderer::Gles(gles) => gles.adopt(proven),
            Renderer::Pixman(pixman) => {
                let left = pixman.leave();
                let instead_of = pixman.stands_in.is_some();
                *self = Renderer::Gles(Box::new(Gles::proven(proven, left, instead_of)));
            }
        }
    }

    /// Drops a context that is not used, and records the reason. Does not wait for its thread.
    pub fn give_up(&mut self, pending: impl Into<PendingContext>, why: String) {
        let thread = pending.into().thread;
        match self {
            Renderer::Gles(gles) => gles.give_up(thread),
            Renderer::Pixman(pixman) => pixman.give_up(thread),
        }
        self.record_reason(why);
    }

    /// Records why no GPU is used.
    pub fn record_reason(&mut self, why: String) {
        if let Renderer::Pixman(pixman) = self
            && let Some((_, known)) = &mut pixman.stands_in
        {
            *known = why;
        }
    }

    /// The kind of node (display or render) to open for drawing on a display device.
    pub fn draws_on(&self) -> RendererNode {
        if self.software() == Some(SoftwareDriver::InPlace) { RendererNode::Display } else { RendererNode::Render }
    }

    /// Display device `number` was removed: none of its memory may be touched any more. Returns whether it was in
    /// use. If so, drawing continues off screen, or with Pixman until another device is available; pending jobs are
    /// still returned by [`finished`](Self::finished), as failed.
    pub fn device_removed(&mut self, number: u64) -> Result<bool, RenderError> {
        let Renderer::Gles(gles) = self else { return Ok(false) };
        if gles.abilities.device != Some(number) {
            return Ok(false);
        }
        if !gles.stood_in_for {
            return gles.move_to(Arc::new(GlesPainter::off_screen)).map(|()| true);
        }
        let stand_in = Self::automatic(gles.software)?;
        let old = std::mem::replace(self, stand_in);
        if let (Renderer::Gles(old), Renderer::Pixman(pixman)) = (old, self) {
            pixman.take_over(old.end());
        }
        Ok(true)
    }

    /// The number of the device that it draws on; `None`: the CPU.
    pub fn node(&self) -> Option<u64> {
        match self {
            Renderer::Gles(gles) => gles.abilities.node,
            Renderer::Pixman(_) => None,
        }
    }

    pub fn is_hardware(&self) -> bool {
        matches!(self, Renderer::Gles(gles) if gles.abilities.is_hardware)
    }

    /// The renderer and the reason for its choice, for messages.
    pub fn describe(&self) -> String {
        match self {
            Renderer::Gles(gles) => {
                let copied = if gles.abilities.device.is_none() { ", off screen: frames are copied" } else { "" };
                format!("OpenGL ES on {}{copied}", gles.abilities.name)
            }
            Renderer::Pixman(pixman) => match &pixman.stands_in {
                Some((_, why)) => format!("Pixman, with the CPU: {why}"),
                None => "Pixman, with the CPU".to_owned(),
            },
        }
    }

    /// Its name on the command line.
    pub const fn command_line_name(&self) -> &'static str {
        match self {
            Renderer::Gles(_) => "gles",
            Renderer::Pixman(_) => "pixman",
        }
    }

    fn software(&self) -> Option<SoftwareDriver> {
        match self {
            Renderer::Gles(gles) => Some(gles.software),
            Renderer::Pixman(_) => self.stands_in(),
        }
    }

    fn stands_in(&self) -> Option<SoftwareDriver> {
        match self {
            Renderer::Gles(_) => None,
            Renderer::Pixman(pixman) => pixman.stands_in.as_ref().map(|(software, _)| *software),
        }
    }
}
