//! `FB_DAMAGE_CLIPS`: what of the primary plane's picture is new, for drivers that have to send it somewhere (panels that
//! refresh themselves, displays behind a cable or in a virtual machine).
//!
//! The property is a hint for one commit: left out, all is new. Here it names what was copied into the buffer, which is
//! everything that differs from what that buffer held *and* everything that differs from what is on screen: drivers mean
//! either. What only frames changed that were withdrawn is carried along to the next one.

use smithay::backend::drm::{DrmDeviceFd, PlaneDamageClips};
use smithay::utils::Rectangle;

use super::crtc::Crtc;
use super::stale::add;
use crate::backend::PixelRect;

const PROPERTY: &str = "FB_DAMAGE_CLIPS";

/// Whether the driver of this CRTC wants to know what is new in a picture.
pub(super) fn wanted_by(crtc: &Crtc) -> bool {
    crtc.primary_has(PROPERTY)
}

/// The damage of one plane.
#[derive(Debug)]
pub(super) struct DamageClips {
    /// Whether the driver wants to know.
    wanted: bool,
    /// What frames changed that were never shown.
    carried: Vec<PixelRect>,
}

impl DamageClips {
    /// Of the primary plane.
    pub fn new(crtc: &Crtc) -> Self {
        DamageClips { wanted: wanted_by(crtc), carried: Vec::new() }
    }

    /// A frame that changed these will not be shown.
    pub fn carry(&mut self, damage: &[PixelRect]) {
        if self.wanted {
            add(&mut self.carried, damage);
        }
    }

    /// All is new in the next frame.
    pub fn forget(&mut self) {
        self.carried.clear();
    }

    /// The clips of a frame that changed these, to be kept until it is committed. `None` stands for all.
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
