//! One CRTC with its primary plane, as the presenter commits to it: through atomic modesetting, or through the legacy
//! API where the driver has nothing else.

use std::io;

use smithay::backend::allocator::format::FormatSet;
use smithay::backend::drm::{DrmDeviceFd, DrmSurface, PlaneClaim, PlaneInfo, PlaneState};
use smithay::reexports::drm::control::{Mode as DrmMode, plane};

use super::atomic::{Atomic, Commit, Extra};
use super::refusal::{of_kernel, refusal};
use crate::backend::SubmitError;

pub(super) struct Crtc {
    device: DrmDeviceFd,
    primary: PlaneInfo,
    /// Keeps other outputs from claiming the primary plane.
    _claim: Option<PlaneClaim>,
    way: Way,
}

enum Way {
    Atomic(Box<Atomic>),
    Legacy(Box<DrmSurface>),
}

impl Crtc {
    pub fn of_atomic(device: DrmDeviceFd, atomic: Atomic, primary: (PlaneInfo, PlaneClaim)) -> Self {
        let (info, claim) = primary;
        let way = Way::Atomic(Box::new(atomic));
        Crtc { device, primary: info, _claim: Some(claim), way }
    }

    pub fn of_legacy(surface: DrmSurface) -> Self {
        let (device, primary) = (surface.device_fd().clone(), surface.plane_info().clone());
        Crtc { device, primary, _claim: None, way: Way::Legacy(Box::new(surface)) }
    }

    pub fn device(&self) -> &DrmDeviceFd {
        &self.device
    }

    pub fn primary(&self) -> &PlaneInfo {
        &self.primary
    }

    /// The formats and modifiers that the primary plane can show.
    pub fn formats(&self) -> &FormatSet {
        &self.primary.formats
    }

    /// The atomic state; `None` on a legacy driver.
    pub fn atomic(&self) -> Option<&Atomic> {
        match &self.way {
            Way::Atomic(atomic) => Some(atomic),
            Way::Legacy(_) => None,
        }
    }

    pub fn atomic_mut(&mut self) -> Option<&mut Atomic> {
        match &mut self.way {
            Way::Atomic(atomic) => Some(atomic),
            Way::Legacy(_) => None,
        }
    }

    /// Whether the primary plane has the property `name`.
    pub fn primary_has(&self, name: &str) -> bool {
        self.atomic().is_some_and(|atomic| atomic.plane_has(self.primary.handle, name))
    }

    /// Commits or tests `planes`.
    pub fn commit(
        &mut self,
        planes: &[PlaneState<'_>],
        extra: Option<Extra>,
        commit: Commit,
    ) -> Result<(), SubmitError> {
        match &mut self.way {
            Way::Atomic(atomic) => {
                atomic.commit(planes, extra, commit).map_err(|error| of_kernel(&error, &of_commit(&error, commit)))
            }
            Way::Legacy(surface) => {
                let states = planes.to_vec();
                let done = match commit {
                    Commit::Flip if !surface.commit_pending() => surface.page_flip(states, true),
                    Commit::Flip | Commit::Light => surface.commit(states, true),
                    Commit::TestFlip => surface.test_state(states, false),
                    Commit::TestLight => surface.test_state(states, true),
                };
                done.map_err(|error| refusal(&error))
            }
        }
    }

    /// Sets the mode of the next modeset.
    pub fn set_mode(&mut self, mode: DrmMode) -> Result<(), SubmitError> {
        match &mut self.way {
            Way::Atomic(atomic) => atomic.set_mode(mode).map_err(|error| of_kernel(&error, &error)),
            Way::Legacy(surface) => surface.use_mode(mode).map_err(|error| refusal(&error)),
        }
    }

    /// Switches the CRTC and all its planes off.
    pub fn clear(&mut self) -> Result<(), SubmitError> {
        match &mut self.way {
            Way::Atomic(atomic) => atomic.clear().map_err(|error| of_kernel(&error, &error)),
            Way::Legacy(surface) => surface.clear().map_err(|error| refusal(&error)),
        }
    }

    /// Switches one plane off.
    pub fn clear_plane(&mut self, plane: plane::Handle) {
        if let Way::Atomic(atomic) = &mut self.way
            && let Err(error) = atomic.clear_plane(plane)
        {
            tracing::debug!(%error, "a plane cannot be switched off");
        }
    }

    /// Another session had the device, so the CRTC's state is unknown.
    pub fn reset(&mut self) {
        match &mut self.way {
            Way::Atomic(atomic) => atomic.reset(),
            Way::Legacy(surface) => {
                if let Err(error) = surface.reset_state() {
                    tracing::warn!(%error, "the output's state is unknown after the session switch");
                }
            }
        }
    }
}

fn of_commit(error: &io::Error, commit: Commit) -> String {
    let what = match commit {
        Commit::Flip => "a flip",
        Commit::Light => "the mode",
        Commit::TestFlip | Commit::TestLight => "a test",
    };
    format!("{what}: {error}")
}
