//! One CRTC with its primary plane, as the presenter commits to it: through atomic modesetting, or through the legacy
//! API where the driver has nothing else.

use std::io;

use smithay::backend::allocator::format::FormatSet;
use smithay::backend::drm::{DrmDeviceFd, DrmSurface, PlaneClaim, PlaneInfo, PlaneState};
use smithay::reexports::drm::control::{Mode as DrmMode, plane};

use super::atomic::{AtomicCrtc, CommitKind, CrtcProperty};
use super::commit_error::{of_kernel, of_smithay};
use crate::backend::SubmitError;

pub(super) struct Crtc {
    device: DrmDeviceFd,
    primary: PlaneInfo,
    /// Keeps other outputs from claiming the primary plane.
    _claim: Option<PlaneClaim>,
    api: CrtcApi,
}

enum CrtcApi {
    Atomic(Box<AtomicCrtc>),
    Legacy(Box<DrmSurface>),
}

impl Crtc {
    pub fn of_atomic(device: DrmDeviceFd, atomic: AtomicCrtc, primary: (PlaneInfo, PlaneClaim)) -> Self {
        let (info, claim) = primary;
        let api = CrtcApi::Atomic(Box::new(atomic));
        Crtc { device, primary: info, _claim: Some(claim), api }
    }

    pub fn of_legacy(surface: DrmSurface) -> Self {
        let (device, primary) = (surface.device_fd().clone(), surface.plane_info().clone());
        Crtc { device, primary, _claim: None, api: CrtcApi::Legacy(Box::new(surface)) }
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
    pub fn atomic(&self) -> Option<&AtomicCrtc> {
        match &self.api {
            CrtcApi::Atomic(atomic) => Some(atomic),
            CrtcApi::Legacy(_) => None,
        }
    }

    pub fn atomic_mut(&mut self) -> Option<&mut AtomicCrtc> {
        match &mut self.api {
            CrtcApi::Atomic(atomic) => Some(atomic),
            CrtcApi::Legacy(_) => None,
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
        extra: Option<CrtcProperty>,
        commit: CommitKind,
    ) -> Result<(), SubmitError> {
        match &mut self.api {
            CrtcApi::Atomic(atomic) => {
                atomic.commit(planes, extra, commit).map_err(|error| of_kernel(&error, &of_commit(&error, commit)))
            }
            CrtcApi::Legacy(surface) => {
                let states = planes.to_vec();
                let done = match commit {
                    CommitKind::Flip if !surface.commit_pending() => surface.page_flip(states, true),
                    CommitKind::Flip | CommitKind::Light => surface.commit(states, true),
                    CommitKind::TestFlip => surface.test_state(states, false),
                    CommitKind::TestLight => surface.test_state(states, true),
                };
                done.map_err(|error| of_smithay(&error))
            }
        }
    }

    /// Sets the mode of the next modeset.
    pub fn set_mode(&mut self, mode: DrmMode) -> Result<(), SubmitError> {
        match &mut self.api {
            CrtcApi::Atomic(atomic) => atomic.set_mode(mode).map_err(|error| of_kernel(&error, &error)),
            CrtcApi::Legacy(surface) => surface.use_mode(mode).map_err(|error| of_smithay(&error)),
        }
    }

    /// Switches the CRTC and all its planes off.
    pub fn clear(&mut self) -> Result<(), SubmitError> {
        match &mut self.api {
            CrtcApi::Atomic(atomic) => atomic.clear().map_err(|error| of_kernel(&error, &error)),
            CrtcApi::Legacy(surface) => surface.clear().map_err(|error| of_smithay(&error)),
        }
    }

    /// Switches one plane off.
    pub fn clear_plane(&mut self, plane: plane::Handle) {
        if let CrtcApi::Atomic(atomic) = &mut self.api
            && let Err(error) = atomic.clear_plane(plane)
        {
            tracing::debug!(%error, "a plane cannot be switched off");
        }
    }

    /// Another session had the device, so the CRTC's state is unknown.
    pub fn reset(&mut self) {
        match &mut self.api {
            CrtcApi::Atomic(atomic) => atomic.reset(),
            CrtcApi::Legacy(surface) => {
                if let Err(error) = surface.reset_state() {
                    tracing::warn!(%error, "the output's state is unknown after the session switch");
                }
            }
        }
    }
}

fn of_commit(error: &io::Error, commit: CommitKind) -> String {
    let what = match commit {
        CommitKind::Flip => "a flip",
        CommitKind::Light => "the mode",
        CommitKind::TestFlip | CommitKind::TestLight => "a test",
    };
    format!("{what}: {error}")
}
