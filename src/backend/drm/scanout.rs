//! The memory that a CRTC reads: buffers of the device that a GPU draws into, dumb buffers that the CPU draws into, or such
//! that are copied into where reading them is slow (blending reads).

use std::sync::Arc;

use smithay::backend::drm::{DrmDeviceFd, PlaneState};
use smithay::reexports::drm::{Device as _, DriverCapability};

use super::atomic::Commit;
use super::crtc::Crtc;
use super::drawer::Drawer;
use super::dumb::{DumbFrame, Format};
use super::frames::{FEWEST, Frames};
use super::gbm::{Cast, Foundry};
use super::memory::{Mapped, Picture};
use super::shadow::{self, Shadow};
use super::worker::Jobs;
use super::{DrmError, damage};
use crate::backend::plane::DeviceMemory;
use crate::backend::{Buffer, PixelRect};

/// The buffers of one pipe in one mode.
pub(super) enum Scanout {
    /// Drawn into by a GPU; what makes more of them.
    Device(Foundry, Frames<Arc<DeviceMemory>>),
    /// Drawn into by the CPU.
    Mapped(Frames<Mapped>),
    /// Copied into by the CPU.
    Shadow(Shadow),
}

/// What buffers are made of; on the worker.
pub(super) enum Recipe {
    Device(Foundry),
    Mapped(DrmDeviceFd, (i32, i32)),
    Shadow(DrmDeviceFd, (i32, i32)),
}

/// One that was made.
pub(super) enum Fresh {
    Device(Cast),
    Mapped(Picture),
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
            Ok(Some((foundry, casts))) => {
                tracing::info!(output = name, buffers = %foundry.layout(), "composed in the display's own buffers");
                return Ok(device(foundry, casts, size));
            }
            Ok(None) if drawer.is_cpu() && wants_no_shadow(crtc.device()) => {
                if let Some(mapped) = stacked(crtc, size, jobs).or_else(|| mapped(crtc.device(), size, jobs)) {
                    tracing::info!(output = name, "composed by the CPU in the display's own buffers");
                    return Ok(mapped);
                }
            }
            Ok(None) => {}
            Err(reason) => {
                tracing::warn!(output = name, %reason, "what OpenGL ES draws is read back and copied to the display");
            }
        }
        shadow(crtc.device(), size, jobs)
    }

    /// The same kind of buffers in another size, the first ones made.
    pub fn resized(self, size: (i32, i32), with: &DrmDeviceFd, jobs: &Jobs) -> Result<Scanout, DrmError> {
        match self {
            Recipe::Device(foundry) => match foundry.resized(size).cast_all(None, jobs) {
                Ok((foundry, casts)) => return Ok(device(foundry, casts, size)),
                Err(reason) => {
                    tracing::warn!(%reason, "what OpenGL ES draws is read back and copied to the display from now on");
                }
            },
            Recipe::Mapped(..) => {
                if let Some(mapped) = mapped(with, size, jobs) {
                    return Ok(mapped);
                }
            }
            Recipe::Shadow(..) => {}
        }
        shadow(with, size, jobs)
    }

    /// Makes one more.
    pub fn make(self, jobs: &Jobs) -> Result<Fresh, String> {
        let dumb = |device, size| picture(device, size, jobs).map_err(|error| error.to_string());
        match self {
            Recipe::Device(mut foundry) => foundry.cast(jobs).map(Fresh::Device),
            Recipe::Mapped(device, size) => dumb(&device, size).map(Fresh::Mapped),
            Recipe::Shadow(device, size) => dumb(&device, size).map(Fresh::Shadow),
        }
    }
}

fn device(foundry: Foundry, casts: Vec<Cast>, size: (i32, i32)) -> Scanout {
    Scanout::Device(foundry, Frames::new(casts.into_iter().map(Cast::into_parts), size))
}

/// Whether the driver does not say that its memory had better be copied into.
fn wants_no_shadow(device: &DrmDeviceFd) -> bool {
    device.get_driver_capability(DriverCapability::DumbPreferShadow).is_ok_and(|prefers| prefers == 0)
}

/// `None`: they are slow to read, whatever the driver says, or there is memory for fewer, of which a shadow may do with.
fn mapped(device: &DrmDeviceFd, size: (i32, i32), jobs: &Jobs) -> Option<Scanout> {
    let made = || {
        let first = DumbFrame::new(device, size, Format::Opaque)?;
        if !first.is_quick_to_read() {
            return Ok(None);
        }
        let first = Ok(Picture::of_dumb(first, jobs));
        let others = (1..FEWEST).map(|_| picture(device, size, jobs));
        std::iter::once(first).chain(others).collect::<Result<Vec<_>, DrmError>>().map(Some)
    };
    let pictures = made().unwrap_or_else(|error| {
        tracing::warn!(%error, "too few buffers to draw in: what the CPU draws is copied to the display");
        None
    })?;
    Some(Scanout::Mapped(Frames::new(pictures.into_iter().map(|picture| (picture, Mapped)), size)))
}

/// The same in one piece of memory, one below the other. A driver maps memory when something of it is shown first, for itself
/// or for its device, and lets it go when nothing is any more: with a piece for each picture it does both in every frame.
///
/// `None`: the old way of modesetting shows memory from its beginning only; a driver that is told what is new in a picture
/// takes all for new when another part of its memory is shown; and some do not show what begins so far down.
fn stacked(crtc: &mut Crtc, size: (i32, i32), jobs: &Jobs) -> Option<Scanout> {
    if crtc.atomic().is_none() || damage::wanted_by(crtc) {
        return None;
    }
    let made = DumbFrame::stack(crtc.device(), size, FEWEST as i32, Format::Opaque);
    let frames = made.inspect_err(|error| tracing::debug!(%error, "each picture has memory of its own")).ok()?;
    if !frames.first()?.is_quick_to_read() {
        return None;
    }
    let pictures: Vec<_> = frames.into_iter().map(|frame| Picture::of_dumb(frame, jobs)).collect();
    let primary = crtc.primary().handle;
    // The first begins where all others do. Of the rest each: an address may suit the driver and the next one not.
    let taken = pictures.iter().skip(1).try_for_each(|picture| {
        let plane = PlaneState { handle: primary, config: Some(picture.on_plane(size)) };
        crtc.commit(&[plane], None, Commit::TestLight)
    });
    taken.inspect_err(|error| tracing::debug!(%error, "each picture has memory of its own")).ok()?;
    Some(Scanout::Mapped(Frames::new(pictures.into_iter().map(|picture| (picture, Mapped)), size)))
}

fn shadow(device: &DrmDeviceFd, size: (i32, i32), jobs: &Jobs) -> Result<Scanout, DrmError> {
    let pictures = (0..shadow::FEWEST).map(|_| picture(device, size, jobs)).collect::<Result<Vec<_>, _>>()?;
    Ok(Scanout::Shadow(Shadow::new(pictures, size)))
}

fn picture(device: &DrmDeviceFd, size: (i32, i32), jobs: &Jobs) -> Result<Picture, DrmError> {
    DumbFrame::new(device, size, Format::Opaque).map(|frame| Picture::of_dumb(frame, jobs))
}

impl Scanout {
    /// What makes more of them, of `size` pixels.
    pub fn recipe(&self, device: &DrmDeviceFd, size: (i32, i32)) -> Recipe {
        match self {
            Scanout::Device(foundry, _) => Recipe::Device(foundry.clone()),
            Scanout::Mapped(_) => Recipe::Mapped(device.clone(), size),
            Scanout::Shadow(_) => Recipe::Shadow(device.clone(), size),
        }
    }

    /// How many frames may wait behind the one on its way to the screen.
    pub fn most_waiting(&self) -> usize {
        match self {
            Scanout::Device(_, frames) => frames.most_waiting(),
            Scanout::Mapped(frames) => frames.most_waiting(),
            Scanout::Shadow(shadow) => shadow.most_waiting(),
        }
    }

    /// Whether there may be more buffers, and all that there are are in use.
    pub fn wants_more(&self) -> bool {
        match self {
            Scanout::Device(_, frames) => frames.wants_more(),
            Scanout::Mapped(frames) => frames.wants_more(),
            Scanout::Shadow(shadow) => shadow.wants_more(),
        }
    }

    /// There is one more. One of another kind was made for a mode before, and goes.
    pub fn add(&mut self, fresh: Fresh) {
        match (self, fresh) {
            (Scanout::Device(_, frames), Fresh::Device(cast)) => {
                let (picture, memory) = cast.into_parts();
                frames.add(picture, memory);
            }
            (Scanout::Mapped(frames), Fresh::Mapped(picture)) => frames.add(picture, Mapped),
            (Scanout::Shadow(shadow), Fresh::Shadow(picture)) => shadow.add(picture),
            (Scanout::Device(..) | Scanout::Mapped(_) | Scanout::Shadow(_), _) => {}
        }
    }

    /// Any of the pictures.
    pub fn first(&self) -> Option<Picture> {
        match self {
            Scanout::Device(_, frames) => frames.first(),
            Scanout::Mapped(frames) => frames.first(),
            Scanout::Shadow(shadow) => shadow.first(),
        }
    }

    /// What to compose into; `None` while there is nothing.
    pub fn acquire(&mut self) -> Option<Buffer> {
        match self {
            Scanout::Device(_, frames) => frames.acquire(),
            Scanout::Mapped(frames) => frames.acquire(),
            Scanout::Shadow(shadow) => shadow.acquire(),
        }
    }

    /// Takes a buffer back; nobody knows what is in it.
    pub fn release(&mut self, buffer: Buffer) {
        match self {
            Scanout::Device(_, frames) => frames.release(&buffer),
            Scanout::Mapped(frames) => frames.release(&buffer),
            Scanout::Shadow(shadow) => shadow.release(buffer),
        }
    }

    /// A frame was composed: the picture that shows it, and what is new in the memory that the display reads. Gives the
    /// buffer back if there is no such picture.
    pub fn fill(&mut self, buffer: Buffer, damage: &[PixelRect]) -> Result<(Picture, Vec<PixelRect>), Buffer> {
        match self {
            Scanout::Device(_, frames) => frames.fill(buffer, damage),
            Scanout::Mapped(frames) => frames.fill(buffer, damage),
            Scanout::Shadow(shadow) => shadow.fill(buffer, damage),
        }
    }
}
