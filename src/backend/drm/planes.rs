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
    /// Of each overlay plane; the topmost plane first if they are stacked.
    pub overlays: Vec<FormatSet>,
    /// The driver states the order of the overlay planes.
    pub are_stacked: bool,
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
            // The contents are sorted from top to bottom, so with stacked planes each gets a plane below the last.
            let first = used.iter().rposition(|used| *used && self.are_stacked).map_or(0, |last| last + 1);
            let fits =
                |(index, formats): (usize, &FormatSet)| index >= first && !used[index] && takes(formats, content);
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
    pub fn new(primary: &PlaneInfo, mut overlays: Vec<(PlaneInfo, PlaneClaim)>) -> Self {
        let are_stacked = sort_downward(&mut overlays, |(info, _)| info.zpos);
        let formats = PlaneFormats {
            primary: primary.formats.clone(),
            overlays: overlays.iter().map(|(info, _)| info.formats.clone()).collect(),
            are_stacked,
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

/// Sorts planes by their position in the stack (`zpos`), topmost first. Returns false, without sorting, if the driver does
/// not state a different position for each.
fn sort_downward<T>(planes: &mut [T], zpos: impl Fn(&T) -> Option<i32>) -> bool {
    let positions: Option<std::collections::BTreeSet<i32>> = planes.iter().map(&zpos).collect();
    let are_stacked = positions.is_some_and(|positions| positions.len() == planes.len());
    if are_stacked {
        planes.sort_by_key(|plane| std::cmp::Reverse(zpos(plane)));
    }
    are_stacked
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

#[cfg(test)]
mod tests {
    use drm_fourcc::DrmFourcc;

    use super::*;
    use crate::backend::PixelRect;
    use crate::backend::plane::{DeviceMemory, PlaneMemory, SourceRect};

    const RGB: DrmFourcc = DrmFourcc::Xrgb8888;
    const YUV: DrmFourcc = DrmFourcc::Nv12;

    fn content(code: DrmFourcc) -> PlaneContent {
        let memory = DeviceMemory { width: 8, height: 8, format: code as u32, modifier: 0, parts: Vec::new() };
        let (source, target) = (SourceRect::default(), PixelRect { x: 0, y: 0, width: 8, height: 8 });
        let memory = PlaneMemory::Device(Arc::new(memory));
        PlaneContent { memory, hold: Arc::new(()), source, is_opaque: true, target }
    }

    /// The planes for contents of these formats, topmost first.
    fn places(overlays: &[&[DrmFourcc]], are_stacked: bool, contents: &[DrmFourcc]) -> Option<Vec<usize>> {
        let format = |code: &DrmFourcc| DrmFormat { code: *code, modifier: DrmModifier::Linear };
        let overlays = overlays.iter().map(|codes| codes.iter().map(format).collect()).collect();
        let formats = PlaneFormats { primary: FormatSet::default(), overlays, are_stacked };
        let overlays = contents.iter().copied().map(content).collect();
        formats.places(&PlaneContents { direct: None, overlays })
    }

    #[test]
    fn stacked_planes_keep_the_order_of_their_contents() {
        let planes: [&[DrmFourcc]; 2] = [&[RGB], &[RGB, YUV]];
        assert_eq!(places(&planes, true, &[RGB, YUV]), Some(vec![0, 1]));
        assert_eq!(places(&planes, true, &[YUV, RGB]), None, "the only plane for YUV is the lower");
        assert_eq!(places(&planes, false, &[YUV, RGB]), Some(vec![1, 0]));
    }

    #[test]
    fn planes_are_stacked_if_each_has_a_position_of_its_own() {
        let sorted = |mut planes: Vec<Option<i32>>| (sort_downward(&mut planes, |zpos| *zpos), planes);
        assert_eq!(sorted(vec![Some(1), Some(3), Some(2)]), (true, vec![Some(3), Some(2), Some(1)]));
        assert_eq!(sorted(vec![Some(1), Some(3), Some(1)]), (false, vec![Some(1), Some(3), Some(1)]));
        assert_eq!(sorted(vec![Some(1), None]), (false, vec![Some(1), None]));
    }
}
