//! Imports client buffers and the cursor as textures.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use smithay::backend::allocator::Fourcc;
use smithay::backend::renderer::element::Id;
use smithay::backend::renderer::utils::CommitCounter;
use smithay::backend::renderer::{Color32F, ContextId, ImportAll, ImportMem, Renderer, Texture};
use smithay::reexports::wayland_server::protocol::{wl_buffer::WlBuffer, wl_surface::WlSurface};
use smithay::utils::{Buffer as BufferCoords, Physical, Rectangle, Size};
use smithay::wayland::compositor::SurfaceData;
use smithay::wayland::single_pixel_buffer::get_single_pixel_buffer;

use super::buffer_test::is_finished;
use super::element::{CursorElement, EffectElement, LayerElement, LayerFill, SceneElement};
use super::panel;
use super::panel_transform::PanelTransform;
use super::picture_cache::PictureCache;
use super::shadow_cache::ShadowCache;
use crate::backend::PixelBuffer;
use crate::guard;
use crate::scene::{CursorLayer, Effect, EffectKind, Layer, Scene, Snapshot};
use upbeat_record::faults::{self, Fault};

/// The texture of the last cursor image, so that moving the cursor imports nothing.
#[derive(Debug)]
pub(super) struct CursorCache<T> {
    id: Id,
    commit: CommitCounter,
    known: Option<(Arc<PixelBuffer>, T)>,
}

impl<T> Default for CursorCache<T> {
    fn default() -> Self {
        CursorCache { id: Id::new(), commit: CommitCounter::default(), known: None }
    }
}

impl<T: Clone> CursorCache<T> {
    fn element<'a, R>(
        &mut self,
        renderer: &mut R,
        cursor: &'a CursorLayer,
        panel_transform: PanelTransform,
    ) -> Option<SceneElement<'a, T>>
    where
        R: ImportMem<TextureId = T>,
    {
        let known = self.known.as_ref().filter(|(image, _)| Arc::ptr_eq(image, &cursor.image));
        let texture = match known {
            Some((_, texture)) => texture.clone(),
            None => {
                let image = &cursor.image;
                let bytes: Vec<u8> = image.pixels.iter().flat_map(|pixel| pixel.to_le_bytes()).collect();
                let size = Size::from((image.width, image.height));
                let imported = renderer.import_memory(&bytes, Fourcc::Argb8888, size, false);
                let texture =
                    imported.inspect_err(|error| tracing::warn!(?error, "the cursor cannot be drawn")).ok()?;
                self.commit.increment();
                self.known = Some((cursor.image.clone(), texture.clone()));
                texture
            }
        };
        Some(SceneElement::Cursor(CursorElement {
            cursor,
            texture,
            id: self.id.clone(),
            commit: self.commit,
            panel_transform,
        }))
    }
}

/// Textures of closed windows. Their content never changes, so it is imported once. A texture is dropped when no scene
/// shows it any more.
#[derive(Debug)]
pub(super) struct SnapshotCache<T>(Vec<(Weak<()>, T)>);

impl<T> Default for SnapshotCache<T> {
    fn default() -> Self {
        SnapshotCache(Vec::new())
    }
}

impl<T: Clone> SnapshotCache<T> {
    fn texture<R>(&mut self, renderer: &mut R, snapshot: &Snapshot, buffer: &WlBuffer) -> Option<LayerFill<T>>
    where
        R: Renderer<TextureId = T> + ImportAll,
    {
        let name = Arc::downgrade(&snapshot.0);
        if let Some((_, texture)) = self.0.iter().find(|(known, _)| known.ptr_eq(&name)) {
            return Some(LayerFill::Texture(texture.clone()));
        }
        // Not cached under the surface, because the surface may be mapped again with other content.
        let texture = read(renderer.import_buffer(buffer, None, &[]))?;
        self.0.push((name, texture.clone()));
        Some(LayerFill::Texture(texture))
    }

    fn forget_gone(&mut self) {
        self.0.retain(|(name, _)| name.strong_count() > 0);
    }
}

/// Caches of imported textures.
#[derive(Debug)]
pub(super) struct ImportCaches<T> {
    cursors: CursorCache<T>,
    snapshots: SnapshotCache<T>,
    shadows: ShadowCache<T>,
    pictures: PictureCache<T>,
    /// Textures of this scene that are uploaded in parts.
    pub in_parts: Vec<(WlSurface, T)>,
    /// Leave out buffers that a device still draws into, because reading them would block the calling thread.
    must_not_wait: bool,
}

impl<T> Default for ImportCaches<T> {
    fn default() -> Self {
        ImportCaches {
            cursors: CursorCache::default(),
            snapshots: SnapshotCache::default(),
            shadows: ShadowCache::default(),
            pictures: PictureCache::default(),
            in_parts: Vec::new(),
            must_not_wait: false,
        }
    }
}

impl<T> ImportCaches<T> {
    /// For a renderer on the CPU: it would wait itself, where a GPU waits for the fence.
    pub fn without_waiting() -> Self {
        ImportCaches { must_not_wait: true, ..ImportCaches::default() }
    }
}

/// The elements of the scene, topmost first; only within `region` if given. Buffers that cannot be imported are left
/// out and logged. Returns also whether none was left out.
pub(super) fn import<'a, R>(
    renderer: &mut R,
    scene: &'a Scene,
    with_cursor: bool,
    region: Option<&[Rectangle<i32, Physical>]>,
    caches: &mut ImportCaches<R::TextureId>,
) -> (Vec<SceneElement<'a, R::TextureId>>, bool)
where
    R: Renderer + ImportAll + ImportMem,
    R::TextureId: Texture + Clone + Send + 'static,
{
    let (cursor, panel_transform) = (scene.cursor.as_ref().filter(|_| with_cursor), PanelTransform::of(scene));
    let is_drawn =
        |place: Rectangle<i32, Physical>| region.is_none_or(|rects| rects.iter().any(|rect| rect.overlaps(place)));
    let mut is_complete = true;
    let mut elements = Vec::new();
    elements.extend(cursor.and_then(|cursor| caches.cursors.element(renderer, cursor, panel_transform)));
    caches.snapshots.forget_gone();
    let mut effects = scene.effects.iter().peekable();
    for (depth, layer) in scene.layers.iter().enumerate() {
        while let Some(effect) = effects.next_if(|effect| effect.depth <= depth) {
            elements.push(self::effect(renderer, effect, panel_transform, caches));
        }
        if layer.plane.is_some() || !is_drawn(layer.target) {
            continue;
        }
        if caches.must_not_wait && !layer.buffer.as_ref().is_none_or(|buffer| is_finished(buffer)) {
            tracing::warn!("a client still draws into a buffer that it has committed: its surface is left out");
            is_complete = false;
            continue;
        }
        match fill(renderer, layer, caches) {
            Some(fill) => elements.push(SceneElement::Layer(LayerElement { layer, fill, panel_transform })),
            None => is_complete = false,
        }
    }
    elements.extend(effects.map(|effect| self::effect(renderer, effect, panel_transform, caches)));
    caches.shadows.forget_unused();
    caches.pictures.forget_gone();
    (elements, is_complete)
}

/// An effect as element; a blur gets its texture later.
fn effect<'a, R>(
    renderer: &mut R,
    effect: &'a Effect,
    panel_transform: PanelTransform,
    caches: &mut ImportCaches<R::TextureId>,
) -> SceneElement<'a, R::TextureId>
where
    R: Renderer + ImportMem,
    R::TextureId: Texture + Clone + 'static,
{
    let ImportCaches { shadows, pictures, .. } = caches;
    let (parts, look) = match &effect.kind {
        EffectKind::Blur { .. } => (Vec::new(), 0),
        EffectKind::Shadow { window, reach } => {
            (shadows.strips(renderer, &effect.id, *window, *reach), (*reach as usize) << 16 | window.radius as usize)
        }
        EffectKind::Colour { area, hole, colour } => (Vec::new(), panel::look(*area, *hole, *colour)),
        EffectKind::Picture { picture, .. } => (pictures.part(renderer, picture), picture.number()),
    };
    SceneElement::Effect(EffectElement { effect, parts, commit: CommitCounter::from(look), panel_transform })
}

fn fill<R>(renderer: &mut R, layer: &Layer, caches: &mut ImportCaches<R::TextureId>) -> Option<LayerFill<R::TextureId>>
where
    R: Renderer + ImportAll,
    R::TextureId: Texture + Clone + 'static,
{
    let buffer = layer.buffer.as_ref()?;
    if let Ok(pixel) = get_single_pixel_buffer(buffer) {
        let [red, green, blue, alpha] = pixel.rgba32f();
        return Some(LayerFill::Colour(Color32F::new(red, green, blue, alpha)));
    }
    if let Some(snapshot) = &layer.snapshot {
        return caches.snapshots.texture(renderer, snapshot, buffer);
    }
    if let Some((_, texture)) = caches.in_parts.iter().find(|(surface, _)| *surface == layer.surface) {
        return Some(LayerFill::Texture(texture.clone()));
    }
    let context = renderer.context_id();
    let imported = guard::with_states(&layer.surface, |states| {
        let damage = unseen_damage(states, layer, context);
        if let Err(error) = faults::check(Fault::Texture) {
            tracing::warn!(%error, "a client's buffer cannot be read");
            return None;
        }
        renderer.import_buffer(buffer, Some(states), &damage)
    });
    read(imported).map(LayerFill::Texture)
}

fn read<T, E: std::fmt::Debug>(imported: Option<Result<T, E>>) -> Option<T> {
    imported?.inspect_err(|error| tracing::warn!(?error, "a client's buffer cannot be read")).ok()
}

/// The commit up to which a renderer has imported a surface. GLES uploads only the damage since then.
struct ImportedCommit<T: Texture>(Mutex<Option<(ContextId<T>, CommitCounter)>>);

/// Damage since this renderer last imported the surface.
fn unseen_damage<T: Texture + 'static>(
    states: &SurfaceData,
    layer: &Layer,
    context: ContextId<T>,
) -> Vec<Rectangle<i32, BufferCoords>> {
    states.data_map.insert_if_missing_threadsafe(|| ImportedCommit::<T>(Mutex::new(None)));
    let Some(seen) = states.data_map.get::<ImportedCommit<T>>() else { return Vec::new() };
    let mut seen = seen.0.lock().unwrap_or_else(PoisonError::into_inner);
    let before = seen.replace((context.clone(), layer.commit()));
    let since = before.filter(|(known, _)| *known == context).map(|(_, commit)| commit);
    let whole = Rectangle::from_size(layer.buffer_size);
    match layer.damage.damage_since(since) {
        // Damage of an earlier, larger buffer may lie outside this buffer.
        Some(damage) => damage.iter().filter_map(|rect| rect.intersection(whole)).collect(),
        None => vec![whole],
    }
}
