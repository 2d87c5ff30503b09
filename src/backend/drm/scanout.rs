//! The buffers that a CRTC scans out: GPU buffers, dumb buffers that the CPU draws into, or dumb buffers that the CPU
//! copies into. The last kind is for dumb buffers that are slow to read, since blending reads.

use std::sync::Arc;

use smithay::backend::drm::{DrmDeviceFd, PlaneState};
use smithay::reexports::drm::{Device as _, DriverCapability};

use super::atomic::CommitKind;
use super::crtc::Crtc;
use super::device_buffer_pool::{DeviceBufferPool, FEWEST};
use super::dumb::{DumbFrame, Format};
use super::gbm::{GbmBufferAllocator, GbmScanoutBuffer};
use super::memory::{CpuDrawnStorage, ScanoutPicture};
use super::shadow::{self, ShadowBuffers};
use super::worker::WorkerHandle;
use super::{DrmError, damage};
use crate::backend::plane::DeviceMemory;
use crate::backend::{Buffer, DeviceRenderer, PixelRect};

/// The buffers of one pipe in one mode.
pub(super) enum ScanoutBuffers {
    /// A GPU draws into them; with their allocator.
    Device(GbmBufferAllocator, DeviceBufferPool<Arc<DeviceMemory>>),
    /// The CPU draws into them.
    Mapped(DeviceBufferPool<CpuDrawnStorage>),
    /// The CPU copies into them.
    Shadow(ShadowBuffers),
}

/// Allocates buffers of one kind, on the worker.
pub(super) enum ScanoutAllocator {
    Device(GbmBufferAllocator),
    Mapped(DrmDeviceFd, (i32, i32)),
    Shadow(DrmDeviceFd, (i32, i32)),
}

/// A newly allocated buffer.
pub(super) enum NewScanoutBuffer {
    Device(GbmScanoutBuffer),
    Mapped(ScanoutPicture),
    Shadow(ScanoutPicture),
}

impl ScanoutAllocator {
    /// Chooses the kind of buffers for a mode of `size` pixels, and allocates the first buffers. GPU buffers are
    /// preferred, if `renderer` can draw into buffers that the pipe's primary plane can show.
    pub fn find(
        crtc: &mut Crtc,
        size: (i32, i32),
        name: &str,
        renderer: &mut dyn DeviceRenderer,
        jobs: &WorkerHandle,
    ) -> Result<ScanoutBuffers, DrmError> {
        let found = GbmBufferAllocator::find(crtc, size, renderer, jobs);
        let made = found.and_then(|found| {
            found.map(|(allocator, first)| allocator.allocate_initial(Some(first), jobs)).transpose()
        });
        match made {
            Ok(Some((allocator, buffers))) => {
                tracing::info!(output = name, buffers = %allocator.layout(), "composed in the display's own buffers");
                return Ok(device(allocator, buffers, size));
            }
            Ok(None) if renderer.is_cpu() && wants_no_shadow(crtc.device()) => {
                if let Some(mapped) = stacked(crtc, size, jobs).or_else(|| mapped(crtc.device(), size, jobs)) {
                    tracing::info!(output = name, "composed by the CPU in the display's own buffers");
                    return Ok(mapped);
                }
            }
            Ok(None) => {}
            Err(reason) => {
                tracing::warn!(output = name, %reason, "OpenGL ES frames are read back and copied to the display");
            }
        }
        shadow(crtc.device(), size, jobs)
    }

    /// Allocates the first buffers of the same kind in another size.
    pub fn resized(
        self,
        size: (i32, i32),
        with: &DrmDeviceFd,
        jobs: &WorkerHandle,
    ) -> Result<ScanoutBuffers, DrmError> {
        match self {
            ScanoutAllocator::Device(allocator) => match allocator.resized(size).allocate_initial(None, jobs) {
                Ok((allocator, buffers)) => return Ok(device(allocator, buffers, size)),
                Err(reason) => {
                    tracing::warn!(%reason, "OpenGL ES frames are read back and copied to the display from now on");
                }
            },
            ScanoutAllocator::Mapped(..) => {
                if let Some(mapped) = mapped(with, size, jobs) {
                    return Ok(mapped);
                }
            }
            ScanoutAllocator::Shadow(..) => {}
        }
        shadow(with, size, jobs)
    }

    /// Allocates one more buffer; the error is a sentence.
    pub fn allocate(self, jobs: &WorkerHandle) -> Result<NewScanoutBuffer, String> {
        let dumb = |device, size| picture(device, size, jobs).map_err(|error| error.to_string());
        match self {
            ScanoutAllocator::Device(mut allocator) => allocator.allocate(jobs).map(NewScanoutBuffer::Device),
            ScanoutAllocator::Mapped(device, size) => dumb(&device, size).map(NewScanoutBuffer::Mapped),
            ScanoutAllocator::Shadow(device, size) => dumb(&device, size).map(NewScanoutBuffer::Shadow),
        }
    }
}

fn device(allocator: GbmBufferAllocator, buffers: Vec<GbmScanoutBuffer>, size: (i32, i32)) -> ScanoutBuffers {
    ScanoutBuffers::Device(
        allocator,
        DeviceBufferPool::new(buffers.into_iter().map(GbmScanoutBuffer::into_parts), size),
    )
}

/// Whether the driver does not ask for a shadow buffer.
fn wants_no_shadow(device: &DrmDeviceFd) -> bool {
    device.get_driver_capability(DriverCapability::DumbPreferShadow).is_ok_and(|prefers| prefers == 0)
}

/// Dumb buffers for the CPU to draw into. `None` if they are slow to read, whatever the driver states, or if there is
/// not enough memory: a shadow needs fewer buffers.
fn mapped(device: &DrmDeviceFd, size: (i32, i32), jobs: &WorkerHandle) -> Option<ScanoutBuffers> {
    let made = || {
        let first = DumbFrame::new(device, size, Format::Opaque)?;
        if !first.is_quick_to_read() {
            return Ok(None);
        }
        let first = Ok(ScanoutPicture::of_dumb(first, jobs));
        let others = (1..FEWEST).map(|_| picture(device, size, jobs));
        std::iter::once(first).chain(others).collect::<Result<Vec<_>, DrmError>>().map(Some)
    };
    let pictures = made().unwrap_or_else(|error| {
        tracing::warn!(%error, "too few buffers to draw in: frames drawn by the CPU are copied to the display");
        None
    })?;
    Some(ScanoutBuffers::Mapped(DeviceBufferPool::new(
        pictures.into_iter().map(|picture| (picture, CpuDrawnStorage)),
        size,
    )))
}

/// Dumb buffers for the CPU, one below the other in one piece of memory. A driver maps memory when a part of it is
/// first shown, for itself or for its device, and unmaps it when none is shown any more. With separate memory for each
/// picture it would do both in every frame.
///
/// `None` in three cases. Legacy modesetting shows memory from its beginning only. A driver that uses
/// damage clips takes the whole picture as damaged when another part of the memory is shown. Some drivers do not show
/// pictures that begin so far down.
fn stacked(crtc: &mut Crtc, size: (i32, i32), jobs: &WorkerHandle) -> Option<ScanoutBuffers> {
    if crtc.atomic().is_none() || damage::wanted_by(crtc) {
        return None;
    }
    let made = DumbFrame::stack(crtc.device(), size, FEWEST as i32, Format::Opaque);
    let frames = made.inspect_err(|error| tracing::debug!(%error, "each picture has memory of its own")).ok()?;
    if !frames.first()?.is_quick_to_read() {
        return None;
    }
    let pictures: Vec<_> = frames.into_iter().map(|frame| ScanoutPicture::of_dumb(frame, jobs)).collect();
    let primary = crtc.primary().handle;
    // Test all pictures but the first, which begins at row 0: a driver may accept one address and refuse the next.
    let taken = pictures.iter().skip(1).try_for_each(|picture| {
        let plane = PlaneState { handle: primary, config: Some(picture.plane_config(size)) };
        crtc.commit(&[plane], None, CommitKind::TestLight)
    });
    taken.inspect_err(|error| tracing::debug!(%error, "each picture has memory of its own")).ok()?;
    Some(ScanoutBuffers::Mapped(DeviceBufferPool::new(
        pictures.into_iter().map(|picture| (picture, CpuDrawnStorage)),
        size,
    )))
}

fn shadow(device: &DrmDeviceFd, size: (i32, i32), jobs: &WorkerHandle) -> Result<ScanoutBuffers, DrmError> {
    let pictures = (0..shadow::FEWEST).map(|_| picture(device, size, jobs)).collect::<Result<Vec<_>, _>>()?;
    Ok(ScanoutBuffers::Shadow(ShadowBuffers::new(pictures, size)))
}

fn picture(device: &DrmDeviceFd, size: (i32, i32), jobs: &WorkerHandle) -> Result<ScanoutPicture, DrmError> {
    DumbFrame::new(device, size, Format::Opaque).map(|frame| ScanoutPicture::of_dumb(frame, jobs))
}

impl ScanoutBuffers {
    /// How to allocate more of them, with `size` pixels.
    pub fn allocator(&self, device: &DrmDeviceFd, size: (i32, i32)) -> ScanoutAllocator {
        match self {
            ScanoutBuffers::Device(allocator, _) => ScanoutAllocator::Device(allocator.clone()),
            ScanoutBuffers::Mapped(_) => ScanoutAllocator::Mapped(device.clone(), size),
            ScanoutBuffers::Shadow(_) => ScanoutAllocator::Shadow(device.clone(), size),
        }
    }

    /// How many frames may wait behind the frame in flight.
    pub fn most_waiting(&self) -> usize {
        match self {
            ScanoutBuffers::Device(_, frames) => frames.most_waiting(),
            ScanoutBuffers::Mapped(frames) => frames.most_waiting(),
            ScanoutBuffers::Shadow(shadow) => shadow.most_waiting(),
        }
    }

    /// Whether all buffers are in use and another may be allocated.
    pub fn wants_more(&self) -> bool {
        match self {
            ScanoutBuffers::Device(_, frames) => frames.wants_more(),
            ScanoutBuffers::Mapped(frames) => frames.wants_more(),
            ScanoutBuffers::Shadow(shadow) => shadow.wants_more(),
        }
    }

    /// Adds a buffer. A buffer of another kind was allocated for an earlier mode, and is dropped.
    pub fn add(&mut self, fresh: NewScanoutBuffer) {
        match (self, fresh) {
            (ScanoutBuffers::Device(_, frames), NewScanoutBuffer::Device(buffer)) => {
                let (picture, memory) = buffer.into_parts();
                frames.add(picture, memory);
            }
            (ScanoutBuffers::Mapped(frames), NewScanoutBuffer::Mapped(picture)) => frames.add(picture, CpuDrawnStorage),
            (ScanoutBuffers::Shadow(shadow), NewScanoutBuffer::Shadow(picture)) => shadow.add(picture),
            (ScanoutBuffers::Device(..) | ScanoutBuffers::Mapped(_) | ScanoutBuffers::Shadow(_), _) => {}
        }
    }

    /// Any picture of the pool.
    pub fn first(&self) -> Option<ScanoutPicture> {
        match self {
            ScanoutBuffers::Device(_, frames) => frames.first(),
            ScanoutBuffers::Mapped(frames) => frames.first(),
            ScanoutBuffers::Shadow(shadow) => shadow.first(),
        }
    }

    /// A buffer to compose into; `None` while none is free.
    pub fn acquire(&mut self) -> Option<Buffer> {
        match self {
            ScanoutBuffers::Device(_, frames) => frames.acquire(),
            ScanoutBuffers::Mapped(frames) => frames.acquire(),
            ScanoutBuffers::Shadow(shadow) => shadow.acquire(),
        }
    }

    /// Takes a buffer back; its content counts as unknown.
    pub fn release(&mut self, buffer: Buffer) {
        match self {
            ScanoutBuffers::Device(_, frames) => frames.release(&buffer),
            ScanoutBuffers::Mapped(frames) => frames.release(&buffer),
            ScanoutBuffers::Shadow(shadow) => shadow.release(buffer),
        }
    }

    /// Takes back a buffer with a composed frame. Returns the picture that shows it, and the damage in the
    /// picture's memory. Gives the buffer back if no picture is free for it.
    pub fn fill(&mut self, buffer: Buffer, damage: &[PixelRect]) -> Result<(ScanoutPicture, Vec<PixelRect>), Buffer> {
        match self {
            ScanoutBuffers::Device(_, frames) => frames.fill(buffer, damage),
            ScanoutBuffers::Mapped(frames) => frames.fill(buffer, damage),
            ScanoutBuffers::Shadow(shadow) => shadow.fill(buffer, damage),
        }
    }
}
