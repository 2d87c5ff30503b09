//! A pipe as a [`Display`], which the compositor holds. The [`DrmCard`](super::DrmCard) holds the same pipe, and
//! through it pauses, resumes and unplugs the output.

use std::cell::RefCell;
use std::rc::Rc;

use drm_fourcc::DrmFormat;

use super::pipe::Pipe;
use crate::backend::front::{ReadAhead, SharedFront};
use crate::backend::plane::PlaneContents;
use crate::backend::{
    Buffer, Capabilities, CursorPlane, Display, DisplayEvent, DriverFeatures, EdidIdentity, FrameId, FramePlan,
    GammaRamp, ModeId, RateLimit, ScreenSnapshot, SubmitError, VideoMode,
};
use upbeat_timing::time::Instant;

pub struct DrmOutput {
    name: String,
    features: DriverFeatures,
    pipe: Rc<RefCell<Pipe>>,
}

impl std::fmt::Debug for DrmOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DrmOutput").field("name", &self.name).finish_non_exhaustive()
    }
}

impl DrmOutput {
    pub(super) fn new(pipe: Rc<RefCell<Pipe>>) -> Self {
        let (name, features) = {
            let pipe = pipe.borrow();
            (pipe.properties().name.clone(), pipe.properties().features.clone())
        };
        DrmOutput { name, features, pipe }
    }

    /// The formats and modifiers that its primary plane can show.
    pub fn scanout_formats(&self) -> Vec<DrmFormat> {
        self.pipe.borrow().properties().formats.primary.iter().copied().collect()
    }
}

impl Display for DrmOutput {
    fn name(&self) -> &str {
        &self.name
    }

    fn mode(&self) -> VideoMode {
        self.pipe.borrow().mode()
    }

    fn modes(&self) -> Vec<VideoMode> {
        self.pipe.borrow().modes()
    }

    fn check_mode(&self, mode: VideoMode) -> Result<(), String> {
        self.pipe.borrow().choose(mode).map(|_| ()).map_err(|error| error.to_string())
    }

    fn check_variable_rate(&self, mode: VideoMode, slowest: u32) -> Result<(), String> {
        self.pipe.borrow().properties().rates.check(mode, slowest)
    }

    fn slowest_rate(&self) -> Option<u32> {
        self.pipe.borrow().properties().slowest
    }

    fn set_mode(&mut self, mode: VideoMode, slowest: RateLimit) -> Result<Option<ModeId>, String> {
        let mut pipe = self.pipe.borrow_mut();
        let chosen = pipe.choose(mode).map_err(|error| error.to_string())?;
        let slowest = match slowest {
            RateLimit::Keep => pipe.slowest(),
            RateLimit::Set(slowest) => slowest,
        };
        Ok(Some(pipe.set_mode(chosen, slowest)))
    }

    fn test_mode(&mut self, mode: VideoMode) -> Result<Option<ModeId>, String> {
        let mut pipe = self.pipe.borrow_mut();
        let chosen = pipe.choose(mode).map_err(|error| error.to_string())?;
        Ok(Some(pipe.test_mode(chosen)))
    }

    fn millimetres(&self) -> Option<(u32, u32)> {
        self.pipe.borrow().properties().millimetres
    }

    fn identity(&self) -> Option<EdidIdentity> {
        self.pipe.borrow().properties().identity.clone()
    }

    fn driver_features(&self) -> Option<&DriverFeatures> {
        Some(&self.features)
    }

    fn capabilities(&self) -> Capabilities {
        self.pipe.borrow().capabilities()
    }

    fn last_vblank(&mut self, now: Instant) -> Option<(Instant, u64)> {
        // The driver is not asked here, which may block. While the picture on screen is written, the presenter asks it.
        self.pipe.borrow().last_refresh(now)
    }

    fn acquire(&mut self) -> Option<Buffer> {
        self.pipe.borrow_mut().acquire()
    }

    fn release(&mut self, buffer: Buffer) {
        self.pipe.borrow_mut().release(buffer);
    }

    fn can_show(&mut self, planes: &PlaneContents) -> bool {
        self.pipe.borrow_mut().can_show(planes)
    }

    fn submit(&mut self, plan: FramePlan) -> Result<(), (SubmitError, FramePlan)> {
        self.pipe.borrow_mut().submit(plan)
    }

    fn share_front(&mut self, front: Option<SharedFront>) -> Option<ReadAhead> {
        self.pipe.borrow_mut().share_front(front)
    }

    fn force_front_buffer(&mut self, on: bool) -> Result<(), &'static str> {
        self.pipe.borrow_mut().force_front_buffer(on)
    }

    fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        self.pipe.borrow_mut().supersede(from)
    }

    fn withdraws_at_once(&self) -> bool {
        false
    }

    fn set_cursor(&mut self, cursor: Option<&CursorPlane>) {
        self.pipe.borrow_mut().set_cursor(cursor);
    }

    fn set_power(&mut self, on: bool) {
        self.pipe.borrow_mut().set_power(on);
    }

    fn gamma_size(&self) -> Option<u32> {
        self.pipe.borrow().gamma_size()
    }

    fn set_gamma(&mut self, ramp: Option<GammaRamp>) -> Result<(), SubmitError> {
        self.pipe.borrow_mut().set_gamma(ramp)
    }

    fn snapshot(&self, with_cursor: bool) -> Option<ScreenSnapshot> {
        self.pipe.borrow().snapshot(with_cursor)
    }

    fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.pipe.borrow_mut().poll_event()
    }
}
