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

use std::fmt;
use std::sync::Arc;

use drm_fourcc::{DrmFormat, DrmFourcc, DrmModifier};
use smithay::backend::allocator::Buffer as _;
use smithay::backend::allocator::dmabuf::AsDmabuf;
use smithay::backend::allocator::gbm::{GbmAllocator, GbmBuffer, GbmBufferFlags, GbmDevice};
use smithay::backend::drm::gbm::framebuffer_from_bo;
use smithay::backend::drm::{DrmDeviceFd, PlaneState};

use super::atomic::CommitKind;
use super::crtc::Crtc;
use super::device_buffer_pool::FEWEST;
use super::memory::ScanoutPicture;
use super::scanout_renderer::ScanoutRenderer;
use super::worker::WorkerHandle;
use crate::backend::plane::{DeviceMemory, MemoryPart};

/// Eight bits a channel, preferably without alpha: nothing lies below the primary plane that it could blend with.
const CODES: [DrmFourcc; 4] = [DrmFourcc::Xrgb8888, DrmFourcc::Argb8888, DrmFourcc::Xbgr8888, DrmFourcc::Abgr8888];

/// The format of the buffers, with its possible modifiers.
#[derive(Clone, Debug)]
pub(super) struct GbmLayout {
    code: DrmFourcc,
    /// Any of these; [`DrmModifier::Invalid`] leaves the choice to the driver.
    modifiers: Vec<DrmModifier>,
}

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
        renderer: &mut dyn ScanoutRenderer,
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
        renderer: &mut dyn ScanoutRenderer,
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
        let GbmLayout { code, modifiers } = &self.layout;
        let (width, height) = (self.size.0.unsigned_abs(), self.size.1.unsigned_abs());
        let made = self.allocator.create_buffer_with_flags(width, height, *code, modifiers, usage(modifiers));
        let buffer = made.map_err(|error| format!("GBM cannot allocate {}: {error}", self.layout))?;
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

/// The usage flags for GBM.
fn usage(modifiers: &[DrmModifier]) -> GbmBufferFlags {
    let usage = GbmBufferFlags::SCANOUT | GbmBufferFlags::RENDERING;
    // For a GBM without modifiers this flag means the same.
    if modifiers == [DrmModifier::Linear] { usage | GbmBufferFlags::LINEAR } else { usage }
}

fn memory_of(buffer: &GbmBuffer) -> Result<DeviceMemory, String> {
    let shared = buffer.export().map_err(|error| format!("it cannot be shared: {error}"))?;
    let layout = shared.offsets().zip(shared.strides());
    let parts = shared.handles().zip(layout).map(|(descriptor, (offset, stride))| {
        let descriptor = descriptor.try_clone_to_owned()?;
        Ok(MemoryPart { descriptor, offset, stride })
    });
    let parts: std::io::Result<Vec<_>> = parts.collect();
    let size = buffer.size();
    Ok(DeviceMemory {
        width: size.w.unsigned_abs(),
        height: size.h.unsigned_abs(),
        format: buffer.format().code as u32,
        modifier: buffer.format().modifier.into(),
        parts: parts.map_err(|error| format!("it cannot be shared: {error}"))?,
    })
}

/// The layouts that can be rendered and shown, the best first: the modifiers that both sides list, then linear, then
/// the driver's own choice.
fn layouts(shown: &[DrmFormat], drawn: &[DrmFormat]) -> Vec<GbmLayout> {
    let mut layouts = Vec::new();
    for code in CODES {
        let of = |formats: &[DrmFormat]| -> Vec<DrmModifier> {
            formats.iter().filter(|format| format.code == code).map(|format| format.modifier).collect()
        };
        let (shown, drawn) = (of(shown), of(drawn));
        if shown.is_empty() || drawn.is_empty() {
            continue;
        }
        let unnamed = DrmModifier::Invalid;
        let both = drawn.iter().copied().filter(|modifier| *modifier != unnamed && shown.contains(modifier));
        let named: Vec<_> = both.collect();
        let linear =
            drawn.contains(&DrmModifier::Linear) && (shown.contains(&DrmModifier::Linear) || shown.contains(&unnamed));
        let mut push = |modifiers: Vec<DrmModifier>| layouts.push(GbmLayout { code, modifiers });
        if !named.is_empty() && named != [DrmModifier::Linear] {
            push(named);
        }
        if linear {
            push(vec![DrmModifier::Linear]);
        }
        if drawn.contains(&unnamed) {
            push(vec![unnamed]);
        }
    }
    layouts
}

impl fmt::Display for GbmLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layout = match self.modifiers.as_slice() {
            [DrmModifier::Invalid] => "with the driver's own layout",
            [DrmModifier::Linear] => "with the linear layout",
            _ => "with a modifier that both sides list",
        };
        write!(f, "{} {layout}", self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILED: DrmModifier = DrmModifier::I915_x_tiled;

    fn formats(code: DrmFourcc, modifiers: &[DrmModifier]) -> Vec<DrmFormat> {
        modifiers.iter().map(|modifier| DrmFormat { code, modifier: *modifier }).collect()
    }

    fn tried(shown: &[DrmFormat], drawn: &[DrmFormat]) -> Vec<(DrmFourcc, Vec<DrmModifier>)> {
        layouts(shown, drawn).into_iter().map(|layout| (layout.code, layout.modifiers)).collect()
    }

    #[test]
    fn a_layout_that_both_sides_name_comes_before_rows() {
        let shown = formats(DrmFourcc::Xrgb8888, &[DrmModifier::Linear, TILED]);
        let drawn = formats(DrmFourcc::Xrgb8888, &[TILED, DrmModifier::Linear, DrmModifier::Invalid]);
        let expected = [vec![TILED, DrmModifier::Linear], vec![DrmModifier::Linear], vec![DrmModifier::Invalid]];
        assert_eq!(tried(&shown, &drawn), expected.map(|modifiers| (DrmFourcc::Xrgb8888, modifiers)));
    }

    #[test]
    fn a_driver_without_modifiers_chooses_by_itself() {
        let none = formats(DrmFourcc::Xrgb8888, &[DrmModifier::Invalid]);
        assert_eq!(tried(&none, &none), [(DrmFourcc::Xrgb8888, vec![DrmModifier::Invalid])]);
    }

    #[test]
    fn rows_are_all_that_another_devices_gpu_may_draw_into() {
        let shown = formats(DrmFourcc::Argb8888, &[DrmModifier::Invalid]);
        let drawn = formats(DrmFourcc::Argb8888, &[DrmModifier::Linear]);
        assert_eq!(tried(&shown, &drawn), [(DrmFourcc::Argb8888, vec![DrmModifier::Linear])]);
    }

    #[test]
    fn a_format_that_only_one_side_knows_is_not_tried() {
        let shown = formats(DrmFourcc::Xrgb8888, &[DrmModifier::Linear]);
        let drawn = formats(DrmFourcc::Abgr8888, &[DrmModifier::Linear]);
        assert!(tried(&shown, &drawn).is_empty());
    }
}
