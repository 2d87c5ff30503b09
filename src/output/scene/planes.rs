//! Assigns layers to planes: tests candidates with the display one by one, topmost first.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::utils::{Physical, Rectangle};

use crate::backend::PixelRect;
use crate::backend::plane::{PlaneContent, PlaneContents, PlaneMemory, SourceRect};
use crate::output::OutputState;
use crate::output::scene::plane_choice::{AvailablePlanes, ComposedArea, PlaneCandidate, PlaneRefusal, PlaneScene};
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
    pub(in crate::output) fn choose_planes(&mut self, scene: &mut Scene, memories: &DeviceBuffers) -> PlaneChoice {
        let capabilities = self.display.capabilities();
        let offer = AvailablePlanes::of(&capabilities);
        let draws_cursor = capabilities.cursor_plane.is_none();
        let takes_shared = capabilities.shared_memory_planes;
        let has_memory = takes_shared || !memories.is_empty();
        let none = |refusal| PlaneChoice { refusals: PlaneRefusals::All(refusal), ..PlaneChoice::default() };
        match () {
            () if !memories.on_planes() => return none(PlaneRefusal::Policy),
            () if offer.overlays == 0 && !offer.direct => return none(PlaneRefusal::NoPlane),
            () if !has_memory => return none(PlaneRefusal::Buffer),
            () => {}
        }
        let is_plain = |layer: &Layer| is_plain(layer, scene) && is_readable(layer, memories, takes_shared);
        let candidate = |layer: &Layer| PlaneCandidate { plain: is_plain(layer), ..candidate(layer) };
        let layers: Vec<PlaneCandidate> = scene.layers.iter().map(candidate).collect();
        if layers.iter().all(|layer| !layer.plain) {
            return none(PlaneRefusal::Buffer);
        }
        let over = composed_areas(scene, draws_cursor);
        let parts = PlaneScene { layers: &layers, over: &over, screen: scene.size };
        let content = |index: usize, part| plane_content(&scene.layers[index], part, scene, memories);
        let can_show = |planes: &PlaneContents| self.display.can_show(planes);
        let (planes, chosen) = arrange(can_show, offer, parts, content);
        for (index, plane) in chosen {
            scene.layers[index].plane = Some(plane);
        }
        PlaneChoice { planes, refusals: PlaneRefusals::Each { offer, layers, over } }
    }
}

/// The layers of a scene that are on planes, and why the others are not.
#[derive(Debug, Default)]
pub(in crate::output) struct PlaneChoice {
    pub planes: PlaneContents,
    refusals: PlaneRefusals,
}

/// Why layers are on no plane.
#[derive(Debug)]
enum PlaneRefusals {
    /// The same reason for all layers.
    All(PlaneRefusal),
    Each {
        offer: AvailablePlanes,
        layers: Vec<PlaneCandidate>,
        over: Vec<ComposedArea>,
    },
}

impl Default for PlaneRefusals {
    fn default() -> Self {
        PlaneRefusals::All(PlaneRefusal::NoPlane)
    }
}

impl PlaneChoice {
    /// Why all layers are on no plane, if it is the same for all.
    pub const fn refusal_of_all(&self) -> Option<PlaneRefusal> {
        match &self.refusals {
            PlaneRefusals::All(refusal) => Some(*refusal),
            PlaneRefusals::Each { .. } => None,
        }
    }

    /// Why layer `index` of the `scene` is on no plane.
    pub fn refusal(&self, scene: &Scene, index: usize) -> PlaneRefusal {
        let (offer, layers, over) = match &self.refusals {
            PlaneRefusals::All(refusal) => return *refusal,
            PlaneRefusals::Each { offer, layers, over } => (*offer, layers, over),
        };
        let on_overlays = scene.layers.iter().enumerate().filter(|(_, layer)| layer.plane == Some(OnPlane::Overlay));
        let on_overlays: Vec<usize> = on_overlays.map(|(index, _)| index).collect();
        let parts = PlaneScene { layers, over, screen: scene.size };
        match parts.overlay_part(index, &on_overlays, offer) {
            Err(PlaneRefusal::Buffer) if !is_plain(&scene.layers[index], scene) => PlaneRefusal::Appearance,
            Err(refusal) => refusal,
            Ok(_) if on_overlays.len() >= offer.overlays => PlaneRefusal::NoPlane,
            Ok(_) => PlaneRefusal::Refused,
        }
    }
}

type PlaneAssignment = Vec<(usize, OnPlane)>;

/// Chooses an assignment that the display accepts (`can_show`). First choice: direct scan-out of a buffer that fills
/// the screen, with all layers above it on overlays. Otherwise as many overlays as the display accepts. `content`: the
/// content of a plane that shows this part of a layer.
fn arrange(
    mut can_show: impl FnMut(&PlaneContents) -> bool,
    offer: AvailablePlanes,
    scene: PlaneScene<'_>,
    content: impl Fn(usize, Rectangle<i32, Physical>) -> Option<PlaneContent>,
) -> (PlaneContents, PlaneAssignment) {
    if let Some((planes, chosen)) = with_direct(offer, scene, &content).filter(|(planes, _)| can_show(planes)) {
        return (planes, chosen);
    }
    let (mut planes, mut on_overlays) = (PlaneContents::default(), Vec::new());
    for index in scene.by_size(offer) {
        if on_overlays.len() == offer.overlays {
            break;
        }
        let mut with = on_overlays.clone();
        if on_overlays.contains(&index) || !scene.add_overlay(index, &mut with, offer) {
            continue;
        }
        let trial = on_planes(&mut with, offer, scene, &content);
        if let Some(trial) = trial.filter(|planes| can_show(planes)) {
            (planes, on_overlays) = (trial, with);
        }
    }
    (planes, on_overlays.into_iter().map(|index| (index, OnPlane::Overlay)).collect())
}

/// The contents of overlay planes that show these layers. Sorts the layers, topmost first.
fn on_planes(
    layers: &mut [usize],
    offer: AvailablePlanes,
    scene: PlaneScene<'_>,
    content: impl Fn(usize, Rectangle<i32, Physical>) -> Option<PlaneContent>,
) -> Option<PlaneContents> {
    layers.sort_unstable();
    let part = |index: usize| scene.overlay_part(index, layers, offer).ok();
    let overlays = layers.iter().map(|index| content(*index, part(*index)?)).collect::<Option<_>>()?;
    Some(PlaneContents { direct: None, overlays })
}

/// A buffer that fills the screen on the primary plane, and all layers above it on overlays.
fn with_direct(
    offer: AvailablePlanes,
    scene: PlaneScene<'_>,
    content: impl Fn(usize, Rectangle<i32, Physical>) -> Option<PlaneContent>,
) -> Option<(PlaneContents, PlaneAssignment)> {
    if !offer.direct {
        return None;
    }
    let whole = Rectangle::from_size(scene.screen);
    let above = scene.layers.iter().take_while(|layer| layer.target != whole).count();
    let mut on_overlays = Vec::new();
    if !(0..above).all(|index| scene.add_overlay(index, &mut on_overlays, offer)) {
        return None;
    }
    let mut planes = on_planes(&mut on_overlays, offer, scene, &content)?;
    let direct = scene.direct_candidate(&on_overlays)?;
    planes.direct = Some(content(direct, whole)?);
    let above = on_overlays.into_iter().map(|index| (index, OnPlane::Overlay));
    Some((planes, above.chain([(direct, OnPlane::Primary)]).collect()))
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

/// The properties of a layer that decide about planes, except for its memory.
pub(super) fn candidate(layer: &Layer) -> PlaneCandidate {
    let whole = Rectangle::from_size(layer.target.size);
    let opaque =
        layer.opacity >= 1.0 && layer.clip.is_none() && whole.subtract_rects(layer.opaque.iter().copied()).is_empty();
    PlaneCandidate { target: layer.target, plain: false, opaque }
}

/// Whether a plane can show a layer as far as its look is concerned: it is unclipped, not faded, and has the panel's
/// transform, because planes do not rotate.
fn is_plain(layer: &Layer, scene: &Scene) -> bool {
    layer.buffer.is_some()
        && layer.opacity >= 1.0
        && layer.clip.is_none()
        && layer.snapshot.is_none()
        && !layer.target.is_empty()
        && OutputTransform::from(layer.buffer_transform) == scene.turn
}

/// Whether a plane can read the layer's memory: device memory or, if the planes take that, shared memory.
fn is_readable(layer: &Layer, memories: &DeviceBuffers, takes_shared: bool) -> bool {
    layer.buffer.as_ref().is_some_and(|buffer| takes_shared || memories.of(buffer).is_some())
}

/// The content of a plane that shows `part` of a plain layer; `None` if it lies in shared memory and is scaled or cannot
/// be read.
fn plane_content(
    layer: &Layer,
    part: Rectangle<i32, Physical>,
    scene: &Scene,
    memories: &DeviceBuffers,
) -> Option<PlaneContent> {
    let buffer = layer.buffer.as_ref()?;
    let source = if part == layer.target {
        crate::render::source(layer)
    } else {
        let mut visible = layer.clone();
        Arc::make_mut(&mut visible.shape).cut(part)?;
        crate::render::source(&visible)
    };
    let source = SourceRect { x: source.loc.x, y: source.loc.y, width: source.size.w, height: source.size.h };
    let target = on_panel(part, scene);
    let memory = match memories.of(buffer) {
        Some(memory) => PlaneMemory::Device(memory),
        None => shared_memory(buffer, source, target)?,
    };
    let is_opaque = candidate(layer).opaque;
    Some(PlaneContent { memory, hold: memories.hold(buffer), source, is_opaque, target })
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
    const ALL: AvailablePlanes = AvailablePlanes { overlays: 2, stacked: false, translucent: false, direct: true };

    /// The content of any layer: it fills its part of the screen.
    fn content(_: usize, part: Rectangle<i32, Physical>) -> Option<PlaneContent> {
        let Rectangle { loc: at, size } = part;
        let (width, height) = (size.w.unsigned_abs(), size.h.unsigned_abs());
        let memory = Arc::new(DeviceMemory { width, height, format: 0, modifier: 0, parts: Vec::new() });
        let target = PixelRect { x: at.x, y: at.y, width: size.w, height: size.h };
        let (memory, source) = (PlaneMemory::Device(memory), SourceRect::default());
        Some(PlaneContent { memory, hold: Arc::new(()), source, is_opaque: true, target })
    }

    /// The assignment for opaque layers at these places, all of which could be on planes.
    fn chosen(
        places: &[(i32, i32, i32, i32)],
        offer: AvailablePlanes,
        can_show: impl FnMut(&PlaneContents) -> bool,
    ) -> PlaneAssignment {
        let layer = |&(x, y, width, height): &(i32, i32, i32, i32)| PlaneCandidate {
            target: Rectangle::new((x, y).into(), (width, height).into()),
            plain: true,
            opaque: true,
        };
        let layers: Vec<PlaneCandidate> = places.iter().map(layer).collect();
        let scene = PlaneScene { layers: &layers, over: &[], screen: SCREEN.into() };
        arrange(can_show, offer, scene, content).1
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
        assert_eq!(chosen(&[LEFT], AvailablePlanes { overlays: 0, ..ALL }, most), []);
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
