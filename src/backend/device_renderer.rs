//! The renderer's interface towards backends that allocate its buffers in the memory of a device.

use std::sync::Arc;

use drm_fourcc::DrmFormat;

use super::plane::DeviceMemory;

/// The renderer, as a backend calls it.
pub trait DeviceRenderer: Send {
    /// The formats and modifiers that it can render into, in the memory of the device with this number (`st_rdev`).
    /// Empty: it renders into ordinary memory.
    fn formats(&self, device: u64) -> Vec<DrmFormat>;

    /// Whether it renders with the CPU, into any mapped memory.
    fn is_cpu(&self) -> bool;

    /// Renders into `memory` as a test; the error gives the reason.
    fn try_draw(&mut self, memory: &Arc<DeviceMemory>) -> Result<(), String>;
}
