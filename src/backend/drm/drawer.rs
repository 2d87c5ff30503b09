//! Whoever composes, as a display device sees it.

use std::sync::Arc;

use drm_fourcc::DrmFormat;

use crate::backend::plane::DeviceMemory;

/// So many frames may wait behind the one on its way to the screen: they hide a frame of ours that takes three refreshes.
pub(super) const MOST_WAITING: usize = 3;

/// Whoever composes. Asked on the device's worker.
pub trait Drawer: Send {
    /// The formats, with their layouts, that it can draw into if they lie in the memory of the device with this number
    /// (`st_rdev`). None: it draws into ordinary memory.
    fn formats(&self, device: u64) -> Vec<DrmFormat>;

    /// Whether it draws with the CPU, into whatever is mapped.
    fn is_cpu(&self) -> bool;

    /// Makes sure that it can draw into this; an error says why not.
    fn try_draw(&mut self, memory: &Arc<DeviceMemory>) -> Result<(), String>;
}
