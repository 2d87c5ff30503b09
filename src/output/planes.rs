//! A scene's layers that planes show instead of being composed: asked of the display one by one, topmost first.

use std::sync::Arc;

use smithay::utils::{Rectangle, Transform};

use super::OutputState;
use super::plane_choice::{Look, Offer, Over, direct_candidate, overlay_candidates};
use super::scene::{EffectKind, Layer, Scene};
use crate::backend::plane::{DeviceMemory, PlaneContent, Planes, SourceRect};
use crate::backend::{Display, PixelRect};
use crate::protocol::dmabuf::Memories;
use crate::state::State;

/// Which plane shows a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnPlane {
    /// The primary one, all of it.
    Primary,
    /// An overlay.
    Overlay,
}

/// Lets planes show clients' buffers, or not.
pub fn switch(state: &mut State, on: bool) {
    if std::mem::replace(&mut state.protocols.dmabuf.memories.on_planes, on) != on {
        // Nothing looks different, and yet all is to be shown anew.
        state.outputs.states_mut().for_each(|output| output.drawn = Arc::default());
    }
}

impl OutputState {
    /// Decides which layers of `scene` planes show in the next frame, and marks them.
    pub(super) fn choose_planes(&mut self, scene: &mut Scene, memories: &Memories) -> Planes {
        let capabilities = self.display.capabilities();
        let offer = Offer { overlays: capabilities.overlay_planes as usize, direct: capabilities.direct_scanout };
        let draws_cursor = capabilities.cursor_plane.is_none();
        if !memories.on_planes || offer == Offer::default() || memories.is_empty() {
            return Planes::default();
        }
        let contents: Vec<Option<PlaneContent>> = scene.layers.iter().map(|layer| content(layer, memories)).collect();
        if contents.iter().all(Option::is_none) {
            return Planes::default();
        }
        let looks: Vec<Look> = scene
            .layers
            .iter()
            .zip(&contents)
            .map(|(layer, content)| Look { target: layer.target, plain: content.is_some() })
            .collect();
        let over = over(scene, draws_cursor);
        let (planes, chosen) = arrange(self.display.as_mut(), offer, &looks, &over, &contents, scene.size);
        for (index, plane) in chosen {
            scene.layers[index].plane = Some(plane);
        }
        planes
    }
}

type Chosen = Vec<(usize, OnPlane)>;

/// Takes as much as the display does: first a buffer that fills the screen, then what lies above it.
fn arrange(
    display: &mut dyn Display,
    offer: Offer,
    looks: &[Look],
    over: &[Over],
    contents: &[Option<PlaneContent>],
    screen: smithay::utils::Size<i32, smithay::utils::Physical>,
) -> (Planes, Chosen) {
    let candidates: Vec<usize> = overlay_candidates(looks, over).collect();
    // With all of them on overlays, is only one left?
    let above: Vec<usize> = candidates.iter().copied().filter(|index| looks[*index].target.size != screen).collect();
    let direct =
        direct_candidate(looks, over, &above, screen).filter(|_| offer.direct && above.len() <= offer.overlays);
    if let Some(direct) = direct {
        let overlays = above.iter().filter_map(|index| contents[*index].clone()).collect();
        let planes = Planes { direct: contents[direct].clone(), overlays };
        if display.can_show(&planes) {
            let above = above.into_iter().map(|index| (index, OnPlane::Overlay));
            return (planes, above.chain([(direct, OnPlane::Primary)]).collect());
        }
    }
    let (mut planes, mut chosen) = (Planes::default(), Chosen::new());
    for index in candidates {
        if planes.overlays.len() == offer.overlays {
            break;
        }
        let Some(content) = contents[index].clone() else { continue };
        planes.overlays.push(content);
        if display.can_show(&planes) {
            chosen.push((index, OnPlane::Overlay));
        } else {
            planes.overlays.pop();
        }
    }
    (planes, chosen)
}

/// What is composed and is no layer.
fn over(scene: &Scene, draws_cursor: bool) -> Vec<Over> {
    let effects = scene.effects.iter().map(|effect| {
        // A blur reads what lies around it, too.
        let target = match effect.kind {
            EffectKind::Blur { .. } => Rectangle::from_size(scene.size),
            EffectKind::Shadow { .. } => effect.target(),
        };
        Over { target, depth: effect.depth }
    });
    let cursor = scene.cursor.as_ref().filter(|_| draws_cursor).map(|cursor| {
        let size = (cursor.image.width, cursor.image.height);
        Over { target: Rectangle::new(cursor.position, size.into()), depth: 0 }
    });
    effects.chain(cursor).collect()
}

/// The layer as a plane would show it, if one can: a client's buffer in a device's memory, as it is, with nothing to be
/// seen through it.
fn content(layer: &Layer, memories: &Memories) -> Option<PlaneContent> {
    let buffer = layer.buffer.as_ref()?;
    let plain = layer.opacity >= 1.0
        && layer.clip.is_none()
        && layer.snapshot.is_none()
        && layer.buffer_transform == Transform::Normal;
    let whole = Rectangle::from_size(layer.target.size);
    let opaque = whole.subtract_rects(layer.opaque.iter().copied()).is_empty();
    if !plain || !opaque || layer.target.is_empty() {
        return None;
    }
    let memory: Arc<DeviceMemory> = memories.of(buffer)?;
    let source = crate::render::source(layer);
    let (at, size) = (layer.target.loc, layer.target.size);
    Some(PlaneContent {
        memory,
        hold: Arc::new(buffer.clone()),
        source: SourceRect { x: source.loc.x, y: source.loc.y, width: source.size.w, height: source.size.h },
        target: PixelRect { x: at.x, y: at.y, width: size.w, height: size.h },
    })
}
