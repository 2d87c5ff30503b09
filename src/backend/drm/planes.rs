//! The planes of a pipe that show clients' buffers, and their states in a commit. The main thread remembers the
//! combinations that the driver accepts ([`test_commit_cache`](super::test_commit_cache)).

use std::sync::Arc;

use drm_fourcc::{DrmFormat, DrmModifier};
use smithay::backend::allocator::format::FormatSet;
use smithay::backend::drm::{PlaneClaim, PlaneConfig, PlaneInfo, PlaneState};
use smithay::reexports::drm::control::{framebuffer, plane};
use smithay::utils::{Physical, Rectangle, Transform};

use super::client_framebuffer::opaque_format;
use super::memory::ClientFrame;
use crate::backend::plane::{PlaneContent, PlaneContents};

/// A pipe takes at most this many overlay planes, to leave the rest to the device's other pipes.
pub(super) const MOST_OVERLAYS: usize = 4;

/// Clients' buffers on planes, with their framebuffers.
#[derive(Clone, Debug, Default)]
pub(super) struct ShownPlanes {
    pub planes: PlaneContents,
    /// One framebuffer for each of the [contents](PlaneContents::contents), in their order.
    pub frames: Vec<Arc<ClientFrame>>,
}

impl ShownPlanes {
    /// The buffer that replaces our own on the primary plane.
    pub fn direct(&self) -> Option<&PlaneContent> {
        self.planes.direct.as_ref()
    }
}

/// The formats that the planes state.
#[derive(Clone, Debug)]
pub(super) struct PlaneFormats {
    pub primary: FormatSet,
    pub overlays: Vec<FormatSet>,
}

impl PlaneFormats {
    /// The index of the overlay plane for each overlay content, in their order; `None` if a buffer has no plane
    /// that can show it.
    pub fn places(&self, planes: &PlaneContents) -> Option<Vec<usize>> {
        if planes.direct.as_ref().is_some_and(|content| !takes(&self.primary, content)) {
            return None;
        }
        let mut used = vec![false; self.overlays.len()];
        let place = |content: &PlaneContent| {
            let fits = |(index, formats): (usize, &FormatSet)| !used[index] && takes(formats, content);
            let index = self.overlays.iter().enumerate().position(fits)?;
            used[index] = true;
            Some(index)
        };
        planes.overlays.iter().map(place).collect()
    }
}

/// Planes for clients' buffers.
pub(super) struct ClientPlanes {
    primary: plane::Handle,
    overlays: Vec<Overlay>,
    formats: PlaneFormats,
}

struct Overlay {
    handle: plane::Handle,
    /// Keeps other pipes from claiming the plane.
    _claim: PlaneClaim,
    /// It may be visible.
    lit: bool,
}

impl ClientPlanes {
    /// The primary plane, and these overlays.
    pub fn new(primary: &PlaneInfo, overlays: Vec<(PlaneInfo, PlaneClaim)>) -> Self {
        let formats = PlaneFormats {
            primary: primary.formats.clone(),
            overlays: overlays.iter().map(|(info, _)| info.formats.clone()).collect(),
        };
        let overlay =
            |(info, claim): (PlaneInfo, PlaneClaim)| Overlay { handle: info.handle, _claim: claim, lit: false };
        ClientPlanes { primary: primary.handle, overlays: overlays.into_iter().map(overlay).collect(), formats }
    }

    pub fn formats(&self) -> &PlaneFormats {
        &self.formats
    }

    /// The plane states for a commit that shows these buffers and switches the other overlays off. `all`: the
    /// overlays' states are unknown, so switch off all of them. `None` if a buffer has no plane that can show it.
    pub fn states(&self, shown: &ShownPlanes, all: bool) -> Option<Vec<PlaneState<'static>>> {
        let places = self.formats.places(&shown.planes)?;
        let direct = shown.planes.direct.iter().map(|_| self.primary);
        let handles = direct.chain(places.iter().map(|place| self.overlays[*place].handle));
        let contents = shown.planes.contents().zip(&shown.frames);
        let mut states: Vec<_> =
            handles.zip(contents).map(|(handle, (content, frame))| state(handle, content, frame.framebuffer)).collect();
        if states.len() < shown.planes.contents().count() {
            return None;
        }
        let dark =
            self.overlays.iter().enumerate().filter(|(index, overlay)| !places.contains(index) && (overlay.lit || all));
        states.extend(dark.map(|(_, overlay)| PlaneState { handle: overlay.handle, config: None }));
        Some(states)
    }

    /// The driver accepted these states: remember which overlays are visible.
    pub fn committed(&mut self, states: &[PlaneState<'_>]) {
        for overlay in &mut self.overlays {
            if let Some(state) = states.iter().find(|state| state.handle == overlay.handle) {
                overlay.lit = state.config.is_some();
            }
        }
    }
}

/// Whether a plane with these formats can show the content. A plane without modifiers shows linear buffers only.
fn takes(formats: &FormatSet, content: &PlaneContent) -> bool {
    let Some(memory) = content.memory.device() else { return false };
    let Some(code) = opaque_format(memory.format) else { return false };
    let modifier = DrmModifier::from(memory.modifier);
    let is_told = formats.contains(&DrmFormat { code, modifier });
    is_told || modifier == DrmModifier::Linear && formats.contains(&DrmFormat { code, modifier: DrmModifier::Invalid })
}

fn state(handle: plane::Handle, content: &PlaneContent, fb: framebuffer::Handle) -> PlaneState<'static> {
    let PlaneContent { source, target, .. } = content;
    let src = Rectangle::new((source.x, source.y).into(), (source.width, source.height).into());
    let dst = Rectangle::<i32, Physical>::new((target.x, target.y).into(), (target.width, target.height).into());
    let transform = Transform::Normal;
    PlaneState {
        handle,
        config: Some(PlaneConfig { src, dst, transform, alpha: 1.0, damage_clips: None, fb, fence: None }),
    }
}
