//! GBM buffers: a GPU renders into them and a CRTC scans them out, without a copy.
//!
//! ```text
//!   acquire ─► GBM buffer, some frames old ─► (GPU draws) ─► fill ─► plane, from its fence on
//!                  ▲                                                    │        (`device_buffer_pool` keeps count)
//!                  └────────── not on screen, nor in flight, nor waiting
//! ```
//!
//! The format and modifier are the first pair that the primary plane can show, the renderer can draw into, GBM can
//! allocate, KMS accepts as a framebuffer and the driver accepts in a test commit. A driver without modifiers picks a
//! layout for scan-out itself, and does not report it.

use std::sync::Arc;

use drm_fourcc::DrmFormat;
use smithay::backend::allocator::gbm::{GbmAllocator, GbmBufferFlags, GbmDevice};
use smithay::backend::drm::gbm::framebuffer_from_bo;
use smithay::backend::drm::{DrmDeviceFd, PlaneState};

use super::atomic::CommitKind;
use super::crtc::Crtc;
use super::device_buffer_pool::FEWEST;
use super::memory::ScanoutPicture;
use super::worker::WorkerHandle;
use crate::backend::DeviceRenderer;
use crate::backend::gbm_layout::{GbmLayout, layouts, memory_of};
use crate::backend::plane::DeviceMemory;

/// Allocates buffers of one format and size, on the worker.
#[derive(Clone)]
pub(super) struct GbmBufferAllocator {
    device: DrmDeviceFd,
    allocator: GbmAllocator<DrmDeviceFd>,
    layout: GbmLayout,
    size: (i32, i32),
}

/// A buffer that a GPU draws into.
pub(super) struct GbmScanoutBuffer {
    picture: ScanoutPicture,
    memory: Arc<DeviceMemory>,
}

impl GbmBufferAllocator {
    /// Finds a layout for buffers of `size` pixels on the primary plane of `crtc`, and allocates the first buffer.
    /// `None`: the renderer draws into ordinary memory. An error says why its frames have to be copied.
    pub fn find(
        crtc: &mut Crtc,
        size: (i32, i32),
        renderer: &mut dyn DeviceRenderer,
        jobs: &WorkerHandle,
    ) -> Result<Option<(Self, GbmScanoutBuffer)>, String> {
        let device = crtc.device().clone();
        let number = rustix::fs::fstat(&device).map_err(|error| error.to_string())?.st_rdev;
        let drawn = renderer.formats(number);
        if drawn.is_empty() {
            return Ok(None);
        }
        let shown: Vec<DrmFormat> = crtc.formats().iter().copied().collect();
        let gbm = GbmDevice::new(device.clone()).map_err(|error| format!("GBM: {error}"))?;
        let usage = GbmBufferFlags::SCANOUT | GbmBufferFlags::RENDERING;
        let allocator = GbmAllocator::new(gbm, usage);
        let mut reason = "the primary plane shows no format that can be rendered".to_owned();
        for layout in layouts(&shown, &drawn) {
            let mut candidate =
                GbmBufferAllocator { device: device.clone(), allocator: allocator.clone(), layout, size };
            match candidate.allocate_tested(crtc, renderer, jobs) {
                Ok(first) => return Ok(Some((candidate, first))),
                Err(error) => {
                    tracing::debug!(layout = %candidate.layout, error, "buffers of this layout cannot be scanned out");
                    reason = error;
                }
            }
        }
        Err(reason)
    }

    /// Allocates the first buffer, and tests that the renderer and the driver accept it.
    fn allocate_tested(
        &mut self,
        crtc: &mut Crtc,
        renderer: &mut dyn DeviceRenderer,
        jobs: &WorkerHandle,
    ) -> Result<GbmScanoutBuffer, String> {
        let buffer = self.allocate(jobs)?;
        renderer.try_draw(&buffer.memory)?;
        let config = buffer.picture.plane_config(self.size);
        let plane = PlaneState { handle: crtc.primary().handle, config: Some(config) };
        crtc.commit(&[plane], None, CommitKind::TestLight)
            .map_err(|error| format!("the driver refuses it: {error}"))?;
        Ok(buffer)
    }

    /// The same kind of buffers in another size.
    pub fn resized(&self, size: (i32, i32)) -> Self {
        GbmBufferAllocator { size, ..self.clone() }
    }

    /// The buffers' format and modifiers, for messages.
    pub fn layout(&self) -> &GbmLayout {
        &self.layout
    }

    /// Allocates one buffer; the error is a sentence.
    pub fn allocate(&mut self, jobs: &WorkerHandle) -> Result<GbmScanoutBuffer, String> {
        let buffer = self.layout.allocate(&mut self.allocator, self.size)?;
        let framebuffer = framebuffer_from_bo(&self.device, &buffer, true)
            .map_err(|error| format!("KMS refuses {} as a framebuffer: {error}", self.layout))?;
        let memory = Arc::new(memory_of(&buffer)?);
        Ok(GbmScanoutBuffer { picture: ScanoutPicture::of_gbm(framebuffer, buffer, jobs), memory })
    }

    /// Allocates the initial buffers, of which `first` may exist already. Returns fewer where memory is short.
    pub fn allocate_initial(
        mut self,
        first: Option<GbmScanoutBuffer>,
        jobs: &WorkerHandle,
    ) -> Result<(Self, Vec<GbmScanoutBuffer>), String> {
        let mut buffers: Vec<GbmScanoutBuffer> = first.into_iter().collect();
        while buffers.len() < FEWEST {
            match self.allocate(jobs) {
                Ok(buffer) => buffers.push(buffer),
                Err(error) if buffers.is_empty() => return Err(error),
                Err(error) => {
                    tracing::warn!(error, "fewer buffers than needed: frames may be late");
                    break;
                }
            }
        }
        Ok((self, buffers))
    }
}

impl GbmScanoutBuffer {
    /// The picture that is shown, and the memory that is lent to the renderer.
    pub fn into_parts(self) -> (ScanoutPicture, Arc<DeviceMemory>) {
        (self.picture, self.memory)
    }
}
