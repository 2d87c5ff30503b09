//! The renderer's interface towards a DRM device.

use std::sync::Arc;

use drm_fourcc::DrmFormat;

use crate::backend::plane::DeviceMemory;

/// How many frames may wait behind the frame in flight: enough to hide one render of ours that takes three refreshes.
pub(super) const MOST_WAITING: usize = 3;

/// The renderer, as the device's worker calls it.
pub trait ScanoutRenderer: Send {
    /// The formats and modifiers that it can render into, in the memory of the device with this number (`st_rdev`).
    /// Empty: it renders into ordinary memory.
    fn formats(&self, device: u64) -> Vec<DrmFormat>;

    /// Whether it renders with the CPU, into any mapped memory.
    fn is_cpu(&self) -> bool;

    /// Renders into `memory` as a test; the error gives the reason.
    fn try_draw(&mut self, memory: &Arc<DeviceMemory>) -> Result<(), String>;
}
