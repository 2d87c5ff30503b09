//! A composed picture that a CRTC reads, and whoever composes it.

use std::sync::Arc;

use drm_fourcc::DrmFormat;
use smithay::reexports::drm::control::framebuffer;

use crate::backend::plane::DeviceMemory;

/// So many frames may wait behind the one on its way to the screen: they hide a frame of ours that takes three refreshes.
pub(super) const MOST_WAITING: usize = 3;

/// Whoever composes, as a display device sees it.
pub trait Drawer {
    /// The formats, with their layouts, that it can draw into if they lie in the memory of the device with this number
    /// (`st_rdev`). None: it draws into ordinary memory.
    fn formats(&self, device: u64) -> Vec<DrmFormat>;

    /// Makes sure that it can draw into this; an error says why not.
    fn try_draw(&mut self, memory: &Arc<DeviceMemory>) -> Result<(), String>;
}

/// A composed picture that the CRTC can read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picture {
    /// Which of the buffers.
    pub slot: usize,
    pub framebuffer: framebuffer::Handle,
}
