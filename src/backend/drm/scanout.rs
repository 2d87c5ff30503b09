//! The memory that a CRTC reads: buffers of the device that a GPU draws into, or dumb buffers that are copied into.

use smithay::backend::drm::DrmDeviceFd;

use super::DrmError;
use super::crtc::Crtc;
use super::drawer::Drawer;
use super::dumb::{DumbFrame, Format};
use super::gbm::{Cast, DeviceFrames, Foundry};
use super::memory::Picture;
use super::shadow::{self, Shadow};
use super::worker::Jobs;
use crate::backend::{Buffer, PixelRect};

/// The buffers of one pipe in one mode.
pub(super) enum Scanout {
    /// Drawn into by a GPU.
    Device(DeviceFrames),
    /// Copied into by the CPU.
    Shadow(Shadow),
}

/// What buffers are made of; on the worker.
pub(super) enum Recipe {
    Device(Foundry),
    Shadow(DrmDeviceFd, (i32, i32)),
}

/// One that was made.
pub(super) enum Fresh {
    Device(Cast),
    Shadow(Picture),
}

impl Recipe {
    /// What this pipe with a mode of `size` pixels has: buffers of the device if `drawer` can draw into those that its
    /// primary plane can show. Makes the first ones, and returns them.
    pub fn find(
        crtc: &mut Crtc,
        size: (i32, i32),
        name: &str,
        drawer: &mut dyn Drawer,
        jobs: &Jobs,
    ) -> Result<Scanout, DrmError> {
        let found = Foundry::find(crtc, size, drawer, jobs);
        let made =
            found.and_then(|found| found.map(|(foundry, first)| foundry.cast_all(Some(first), jobs)).transpose());
        match made {
            Ok(Some(frames)) => {
                tracing::info!(output = name, buffers = %frames.foundry().layout(), "composed in the display's own buffers");
                return Ok(Scanout::Device(frames));
            }
            Ok(None) => {}
            Err(reason) => {
                tracing::warn!(output = name, %reason, "what OpenGL ES draws is read back and copied to the display");
            }
        }
        shadow(crtc.device(), size, jobs)
    }

    /// The same kind of buffers in another size, the first ones made.
    pub fn resized(self, size: (i32, i32), device: &DrmDeviceFd, jobs: &Jobs) -> Result<Scanout, DrmError> {
        if let Recipe::Device(foundry) = self {
            match foundry.resized(size).cast_all(None, jobs) {
                Ok(frames) => return Ok(Scanout::Device(frames)),
                Err(reason) => {
                    tracing::warn!(%reason, "what OpenGL ES draws is read back and copied to the display from now on");
                }
            }
        }
        shadow(device, size, jobs)
    }

    /// Makes one more.
    pub fn make(self, jobs: &Jobs) -> Result<Fresh, String> {
        match self {
            Recipe::Device(mut foundry) => foundry.cast(jobs).map(Fresh::Device),
            Recipe::Shadow(device, size) => {
                let frame = DumbFrame::new(&device, size, Format::Opaque).map_err(|error| error.to_string())?;
                Ok(Fresh::Shadow(Picture::of_dumb(frame, jobs)))
            }
        }
    }
}

fn shadow(device: &DrmDeviceFd, size: (i32, i32), jobs: &Jobs) -> Result<Scanout, DrmError> {
    let frame = |_| DumbFrame::new(device, size, Format::Opaque).map(|frame| Picture::of_dumb(frame, jobs));
    let pictures = (0..shadow::FEWEST).map(frame).collect::<Result<Vec<_>, _>>()?;
    Ok(Scanout::Shadow(Shadow::new(pictures, size)))
}

impl Scanout {
    /// What makes more of them, of `size` pixels.
    pub fn recipe(&self, device: &DrmDeviceFd, size: (i32, i32)) -> Recipe {
        match self {
            Scanout::Device(frames) => Recipe::Device(frames.foundry().clone()),
            Scanout::Shadow(_) => Recipe::Shadow(device.clone(), size),
        }
    }

    /// How many frames may wait behind the one on its way to the screen.
    pub fn most_waiting(&self) -> usize {
        match self {
            Scanout::Device(frames) => frames.most_waiting(),
            Scanout::Shadow(shadow) => shadow.most_waiting(),
        }
    }

    /// Whether there may be more buffers, and all that there are are in use.
    pub fn wants_more(&self) -> bool {
        match self {
            Scanout::Device(frames) => frames.wants_more(),
            Scanout::Shadow(shadow) => shadow.wants_more(),
        }
    }

    /// There is one more. One of another kind was made for a mode before, and goes.
    pub fn add(&mut self, fresh: Fresh) {
        match (self, fresh) {
            (Scanout::Device(frames), Fresh::Device(cast)) => frames.add(cast),
            (Scanout::Shadow(shadow), Fresh::Shadow(picture)) => shadow.add(picture),
            (Scanout::Device(_) | Scanout::Shadow(_), _) => {}
        }
    }

    /// Any of the pictures.
    pub fn first(&self) -> Option<Picture> {
        match self {
            Scanout::Device(frames) => frames.first(),
            Scanout::Shadow(shadow) => shadow.first(),
        }
    }

    /// What to compose into; `None` while there is nothing.
    pub fn acquire(&mut self) -> Option<Buffer> {
        match self {
            Scanout::Device(frames) => frames.acquire(),
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

    /// A frame was composed: the picture that shows it, and what is new in the memory that the display reads. Gives the
    /// buffer back if there is no such picture.
    pub fn fill(&mut self, buffer: Buffer, damage: &[PixelRect]) -> Result<(Picture, Vec<PixelRect>), Buffer> {
        match self {
            Scanout::Device(frames) => frames.fill(buffer, damage),
            Scanout::Shadow(shadow) => shadow.fill(buffer, damage),
        }
    }
}
