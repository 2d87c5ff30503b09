//! `FB_DAMAGE_CLIPS`: the damaged rectangles of the primary plane, for drivers that have to transmit the pixels
//! (self-refreshing panels, displays behind a cable or in a virtual machine).
//!
//! The property is a hint for one commit: without it, all of the plane counts as damaged. Our clips are the rectangles
//! that were copied into the buffer. They cover the difference from the buffer's previous content *and* the difference
//! from the screen, since drivers mean either. The damage of withdrawn frames is carried over to the next frame.

use smithay::backend::drm::{DrmDeviceFd, PlaneDamageClips};
use smithay::utils::Rectangle;

use super::crtc::Crtc;
use super::stale_region::add;
use crate::backend::PixelRect;

const PROPERTY: &str = "FB_DAMAGE_CLIPS";

/// Whether the driver of this CRTC uses damage clips.
pub(super) fn wanted_by(crtc: &Crtc) -> bool {
    crtc.primary_has(PROPERTY)
}

#[derive(Debug)]
pub(super) struct DamageClips {
    wanted: bool,
    /// The damage of frames that were never shown.
    carried: Vec<PixelRect>,
}

impl DamageClips {
    /// For the primary plane of `crtc`.
    pub fn new(crtc: &Crtc) -> Self {
        DamageClips { wanted: wanted_by(crtc), carried: Vec::new() }
    }

    /// Carries the damage of a frame that will not be shown over to the next frame.
    pub fn carry(&mut self, damage: &[PixelRect]) {
        if self.wanted {
            add(&mut self.carried, damage);
        }
    }

    /// The next frame counts as wholly damaged.
    pub fn forget(&mut self) {
        self.carried.clear();
    }

    /// The property blob for a frame with this damage; it must live until the frame is committed. `None` means all
    /// of the plane.
    pub fn of(&self, device: &DrmDeviceFd, damage: &[PixelRect], size: (i32, i32)) -> Option<PlaneDamageClips> {
        if !self.wanted {
            return None;
        }
        let all = self
            .carried
            .iter()
            .chain(damage)
            .map(|rect| Rectangle::new((rect.x, rect.y).into(), (rect.width, rect.height).into()));
        let source = Rectangle::from_size((f64::from(size.0), f64::from(size.1)).into());
        let clips = PlaneDamageClips::from_damage(device, source, Rectangle::from_size(size.into()), all);
        clips.ok().flatten()
    }
}
