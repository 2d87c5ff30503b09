//! The memory that a CRTC reads: buffers of the device that a GPU draws into, or dumb buffers that are copied into.

use smithay::backend::drm::{DrmDeviceFd, DrmSurface};

use super::DrmError;
pub(super) use super::framebuffer::{Drawer, Picture};
use super::gbm::DeviceFrames;
use super::mode::mode_of;
use super::shadow::Shadow;
use crate::backend::{Buffer, PixelBuffer, PixelRect};

/// The buffers of one pipe in one mode.
pub(super) enum Scanout {
    /// Drawn into by a GPU.
    Device(DeviceFrames),
    /// Copied into by the CPU.
    Shadow(Shadow),
}

impl Scanout {
    /// Buffers for the mode of `surface`: of the device if `drawer` can draw into those that its primary plane can show.
    pub fn new(surface: &DrmSurface, name: &str, drawer: &mut dyn Drawer) -> Result<Self, DrmError> {
        let mode = mode_of(surface.pending_mode());
        let size = (mode.width, mode.height);
        match DeviceFrames::new(surface, size, drawer) {
            Ok(Some(frames)) => {
                tracing::info!(output = name, buffers = %frames.layout(), "composed in the display's own buffers");
                return Ok(Scanout::Device(frames));
            }
            Ok(None) => {}
            Err(reason) => {
                tracing::warn!(output = name, %reason, "what OpenGL ES draws is read back and copied to the display");
            }
        }
        Shadow::new(surface.device_fd(), size).map(Scanout::Shadow)
    }

    /// The same kind of buffers in another size.
    pub fn resized(&self, device: &DrmDeviceFd, size: (i32, i32)) -> Result<Self, DrmError> {
        if let Scanout::Device(frames) = self {
            match frames.resized(size) {
                Ok(frames) => return Ok(Scanout::Device(frames)),
                Err(reason) => {
                    tracing::warn!(%reason, "what OpenGL ES draws is read back and copied to the display from now on");
                }
            }
        }
        Shadow::new(device, size).map(Scanout::Shadow)
    }

    /// How many frames may wait behind the one on its way to the screen.
    pub fn most_waiting(&self) -> usize {
        match self {
            Scanout::Device(frames) => frames.most_waiting(),
            Scanout::Shadow(shadow) => shadow.most_waiting(),
        }
    }

    /// Any of the pictures.
    pub fn first(&mut self) -> Picture {
        match self {
            Scanout::Device(frames) => frames.first(),
            Scanout::Shadow(shadow) => shadow.first(),
        }
    }

    /// What to compose into, none of `used`; `None` while there is nothing.
    pub fn acquire(&mut self, used: &[usize]) -> Option<Buffer> {
        match self {
            Scanout::Device(frames) => frames.acquire(used),
            Scanout::Shadow(shadow) => shadow.acquire(),
        }
    }

    /// Takes a buffer back; nobody knows what is in it.
    pub fn release(&mut self, buffer: Buffer) {
        match self {
            Scanout::Device(frames) => frames.release(&buffer),
            Scanout::Shadow(shadow) => shadow.release(buffer),
        }
    }

    /// A frame was composed: the picture that shows it, none of `used`, and what is new in the memory that the display
    /// reads. Gives the buffer back if there is no such picture.
    pub fn fill(
        &mut self,
        buffer: Buffer,
        damage: &[PixelRect],
        used: &[usize],
    ) -> Result<(Picture, Vec<PixelRect>), Buffer> {
        match self {
            Scanout::Device(frames) => frames.fill(buffer, damage),
            Scanout::Shadow(shadow) => shadow.fill(buffer, damage, used),
        }
    }

    /// The display refused `picture`: what to give back in its place.
    pub fn refused(&mut self, picture: Picture) -> Option<Buffer> {
        match self {
            Scanout::Device(frames) => frames.refused(picture),
            // The picture is in the shadow: the next frame brings it along.
            Scanout::Shadow(shadow) => shadow.acquire(),
        }
    }

    /// A copy of a picture that is on screen; `None` where it cannot be read.
    pub fn read(&self, picture: Picture) -> Option<PixelBuffer> {
        match self {
            Scanout::Device(frames) => frames.read(picture),
            Scanout::Shadow(shadow) => Some(shadow.read(picture)),
        }
    }
}
