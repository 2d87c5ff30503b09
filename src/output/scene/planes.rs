//! Assigns layers to planes: tests candidates with the display one by one, topmost first.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::utils::{Physical, Rectangle, Size};

use crate::backend::PixelRect;
use crate::backend::plane::{PlaneContent, PlaneContents, PlaneMemory, SourceRect};
use crate::output::OutputState;
use crate::output::scene::plane_choice::{
    AvailablePlanes, ComposedArea, PlaneCandidate, direct_candidate, overlay_candidates,
};
use crate::output_transform::OutputTransform;
use crate::scene::{EffectKind, Layer, OnPlane, Scene};
use crate::state::State;
use crate::surface::device_buffers::DeviceBuffers;
use crate::surface::shm_pixels::{self, ClientRows};

/// Allows or forbids client buffers on planes.
pub fn set_enabled(state: &mut State, on: bool) {
    if state.surfaces.device_buffers_mut().set_on_planes(on) != on {
        // The scene is unchanged, but its layers may go onto other planes, so force a repaint.
        state.outputs.states_mut().for_each(|output| output.drawn_scene = Arc::default());
    }
}

impl OutputState {
    /// Decides which layers of `scene` go onto planes in the next frame, and marks them.
    pub(in crate::output) fn choose_planes(&mut self, scene: &mut Scene, memories: &DeviceBuffers) -> PlaneContents {
        let capabilities = self.display.capabilities();
        let offer =
            AvailablePlanes { overlays: capabilities.overlay_planes as usize, direct: capabilities.direct_scanout };
        let draws_cursor = capabilities.cursor_plane.is_none();
        let takes_shared = capabilities.shared_memory_planes;
        let has_memory = takes_shared || !memories.is_empty();
        if !memories.on_planes() || offer == AvailablePlanes::default() || !has_memory {
            return PlaneContents::default();
        }
        let contents: Vec<Option<PlaneContent>> =
            scene.layers.iter().map(|layer| plane_content(layer, scene, memories, takes_shared)).collect();
        if contents.iter().all(Option::is_none) {
            return PlaneContents::default();
        }
        let layers: Vec<PlaneCandidate> = scene
            .layers
            .iter()
            .zip(&contents)
            .map(|(layer, content)| PlaneCandidate { target: layer.target, plain: content.is_some() })
            .collect();
        let over = composed_areas(scene, draws_cursor);
        let can_show = |planes: &PlaneContents| self.display.can_show(planes);
        let (planes, chosen) = arrange(can_show, offer, (&layers, &over), &contents, scene.size);
        for (index, plane) in chosen {
            scene.layers[index].plane = Some(plane);
        }
        planes
    }
}

type PlaneAssignment = Vec<(usize, OnPlane)>;

/// Chooses an assignment that the display accepts (`can_show`). First choice: direct scan-out of a buffer that fills
/// the screen, with all layers above it on overlays. Otherwise as many overlays as the display accepts.
fn arrange(
    mut can_show: impl FnMut(&PlaneContents) -> bool,
    offer: AvailablePlanes,
    (layers, over): (&[PlaneCandidate], &[ComposedArea]),
    contents: &[Option<PlaneContent>],
    screen: Size<i32, Physical>,
) -> (PlaneContents, PlaneAssignment) {
    let candidates: Vec<usize> = overlay_candidates(layers, over).collect();
    // Is only one layer left to compose if all of these go onto overlays?
    let above: Vec<usize> = candidates.iter().copied().filter(|index| layers[*index].target.size != screen).collect();
    let direct =
        direct_candidate(layers, over, &above, screen).filter(|_| offer.direct && above.len() <= offer.overlays);
    if let Some(direct) = direct {
        let overlays = above.iter().filter_map(|index| contents[*index].clone()).collect();
        let planes = PlaneContents { direct: contents[direct].clone(), overlays };
        if can_show(&planes) {
            let above = above.into_iter().map(|index| (index, OnPlane::Overlay));
            return (planes, above.chain([(direct, OnPlane::Primary)]).collect());
        }
    }
    let (mut planes, mut chosen) = (PlaneContents::default(), PlaneAssignment::new());
    for index in candidates {
        if planes.overlays.len() == offer.overlays {
            break;
        }
        let Some(content) = contents[index].clone() else { continue };
        planes.overlays.push(content);
        if can_show(&planes) {
            chosen.push((index, OnPlane::Overlay));
        } else {
            planes.overlays.pop();
        }
    }
    (planes, chosen)
}

/// A rectangle of `scene` on the panel.
pub(super) fn on_panel(rect: Rectangle<i32, Physical>, scene: &Scene) -> PixelRect {
    let Rectangle { loc: at, size } = scene.turn.rect(rect, scene.size);
    PixelRect { x: at.x, y: at.y, width: size.w, height: size.h }
}

/// The composed parts of a scene that are not layers.
pub(super) fn composed_areas(scene: &Scene, draws_cursor: bool) -> Vec<ComposedArea> {
    let effects = scene.effects.iter().map(|effect| {
        // A blur samples its surroundings, so it may depend on any pixel.
        let target = match effect.kind {
            EffectKind::Blur { .. } => Rectangle::from_size(scene.size),
            _ => effect.target(),
        };
        ComposedArea { target, depth: effect.depth }
    });
    let cursor = scene.cursor.as_ref().filter(|_| draws_cursor).map(|cursor| {
        let size = (cursor.image.width, cursor.image.height);
        ComposedArea { target: Rectangle::new(cursor.position, size.into()), depth: 0 }
    });
    effects.chain(cursor).collect()
}

/// The layer as plane content, if a plane can show it: an opaque, unclipped client buffer with the panel's transform,
/// because planes do not rotate. It lies in device memory or, if the planes take that, unscaled in shared memory.
fn plane_content(layer: &Layer, scene: &Scene, memories: &DeviceBuffers, takes_shared: bool) -> Option<PlaneContent> {
    let buffer = layer.buffer.as_ref()?;
    let plain = layer.opacity >= 1.0
        && layer.clip.is_none()
        && layer.snapshot.is_none()
        && OutputTransform::from(layer.buffer_transform) == scene.turn;
    let whole = Rectangle::from_size(layer.target.size);
    let opaque = whole.subtract_rects(layer.opaque.iter().copied()).is_empty();
    if !plain || !opaque || layer.target.is_empty() {
        return None;
    }
    let source = crate::render::source(layer);
    let source = SourceRect { x: source.loc.x, y: source.loc.y, width: source.size.w, height: source.size.h };
    let target = on_panel(layer.target, scene);
    let memory = match memories.of(buffer) {
        Some(memory) => PlaneMemory::Device(memory),
        None if takes_shared => shared_memory(buffer, source, target)?,
        None => return None,
    };
    Some(PlaneContent { memory, hold: memories.hold(buffer), source, target })
}

/// The part `source` of a buffer in shared memory; `None` if it is scaled to `target` or cannot be read.
fn shared_memory(buffer: &WlBuffer, source: SourceRect, target: PixelRect) -> Option<PlaneMemory> {
    let SourceRect { x, y, width, height } = source;
    let is_unscaled = (width, height) == (f64::from(target.width), f64::from(target.height));
    if !is_unscaled || x.fract() != 0.0 || y.fract() != 0.0 {
        return None;
    }
    let from = PixelRect { x: x as i32, y: y as i32, ..target };
    shm_pixels::can_read(buffer, from)
        .then(|| PlaneMemory::Shared(Arc::new(ClientRows { buffer: buffer.clone(), from })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::plane::DeviceMemory;

    const SCREEN: (i32, i32) = (1000, 600);
    const ALL: AvailablePlanes = AvailablePlanes { overlays: 2, direct: true };

    /// Layers at these places, all of which could be on planes.
    fn layers(places: &[(i32, i32, i32, i32)]) -> (Vec<PlaneCandidate>, Vec<Option<PlaneContent>>) {
        let layer = |&(x, y, width, height): &(i32, i32, i32, i32)| {
            let (w, h) = (width.unsigned_abs(), height.unsigned_abs());
            let memory = DeviceMemory { width: w, height: h, format: 0, modifier: 0, parts: Vec::new() };
            let (memory, target) = (PlaneMemory::Device(Arc::new(memory)), PixelRect { x, y, width, height });
            let content = PlaneContent { memory, hold: Arc::new(()), source: SourceRect::default(), target };
            let target = Rectangle::new((x, y).into(), (width, height).into());
            (PlaneCandidate { target, plain: true }, Some(content))
        };
        places.iter().map(layer).unzip()
    }

    fn chosen(
        places: &[(i32, i32, i32, i32)],
        offer: AvailablePlanes,
        can_show: impl FnMut(&PlaneContents) -> bool,
    ) -> PlaneAssignment {
        let (layers, contents) = layers(places);
        arrange(can_show, offer, (&layers, &[]), &contents, SCREEN.into()).1
    }

    const FULL: (i32, i32, i32, i32) = (0, 0, SCREEN.0, SCREEN.1);
    const LEFT: (i32, i32, i32, i32) = (0, 0, 100, 100);
    const RIGHT: (i32, i32, i32, i32) = (500, 0, 100, 100);

    #[test]
    fn fullscreen_buffer_goes_to_the_primary_plane_and_layers_above_to_overlays() {
        use OnPlane::{Overlay, Primary};
        assert_eq!(chosen(&[FULL], ALL, |_| true), [(0, Primary)]);
        assert_eq!(chosen(&[LEFT, FULL], ALL, |_| true), [(0, Overlay), (1, Primary)]);
    }

    #[test]
    fn refused_layers_are_composed_and_the_rest_go_onto_planes() {
        let no_direct = |planes: &PlaneContents| planes.direct.is_none();
        assert_eq!(chosen(&[LEFT, FULL], ALL, no_direct), [(0, OnPlane::Overlay)]);
        let not_left = |planes: &PlaneContents| planes.contents().all(|content| content.target.x > 0);
        assert_eq!(chosen(&[LEFT, RIGHT], ALL, not_left), [(1, OnPlane::Overlay)]);
        assert_eq!(chosen(&[LEFT, FULL], ALL, |_| false), []);
    }

    #[test]
    fn no_more_overlays_are_tested_than_the_display_has() {
        let most = |planes: &PlaneContents| {
            assert!(planes.overlays.len() <= 1, "{planes:?}");
            true
        };
        let one = AvailablePlanes { overlays: 1, ..ALL };
        assert_eq!(chosen(&[LEFT, RIGHT, FULL], one, most), [(0, OnPlane::Overlay)]);
        assert_eq!(chosen(&[LEFT], AvailablePlanes { overlays: 0, direct: true }, most), []);
    }

    #[test]
    fn each_candidate_is_tested_together_with_all_accepted_planes() {
        let mut asked = Vec::new();
        chosen(&[LEFT, RIGHT], ALL, |planes| {
            asked.push(planes.contents().count());
            true
        });
        assert_eq!(asked, [1, 2]);
    }
}
