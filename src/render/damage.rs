//! Damage of an output since earlier frames, found from scenes alone. A layer with the same commit in both scenes is
//! skipped, so the cost of a frame depends on its changes. Undamaged layers are not even imported.

use std::collections::VecDeque;
use std::sync::Arc;

use ahash::{HashMap, HashMapExt as _};
use smithay::backend::renderer::element::{Element, Id, RenderElement};
use smithay::backend::renderer::utils::CommitCounter;
use smithay::backend::renderer::{Color32F, Frame, Renderer};
use smithay::utils::{Physical, Rectangle, Scale, Size, Transform};

use super::canvas::FrameTracker;
use super::element::{SceneElement, damage_since};
use crate::backend::PixelBuffer;
use crate::output_transform::OutputTransform;
use crate::scene::{CursorLayer, Effect, Layer, LayerShape, Scene};

/// Number of frames whose damage is kept: more than any display has buffers.
const OLDEST: usize = 16;
/// With more rectangles, their bounding box is drawn, because each rectangle is compared with every layer.
const MOST_RECTS: usize = 32;

/// Rectangles that do not overlap.
pub(super) type DamageRegion = Vec<Rectangle<i32, Physical>>;

/// An element of the last drawn scene.
#[derive(Debug)]
enum DrawnElement {
    Layer(Arc<LayerShape>, CommitCounter),
    Effect(Effect),
    Cursor(CursorLayer),
}

impl DrawnElement {
    fn of(part: ScenePart<'_>) -> Self {
        match part {
            ScenePart::Layer(layer) => DrawnElement::Layer(layer.shape.clone(), layer.commit()),
            ScenePart::Effect(effect) => DrawnElement::Effect(effect.clone()),
            ScenePart::Cursor(cursor) => DrawnElement::Cursor(cursor.clone()),
        }
    }

    fn place(&self) -> Rectangle<i32, Physical> {
        match self {
            DrawnElement::Layer(shape, _) => shape.target,
            DrawnElement::Effect(effect) => effect.target(),
            DrawnElement::Cursor(cursor) => cursor_place(cursor),
        }
    }

    fn id(&self) -> Option<&Id> {
        match self {
            DrawnElement::Layer(shape, _) => Some(&shape.id),
            DrawnElement::Effect(effect) => Some(&effect.id),
            DrawnElement::Cursor(_) => None,
        }
    }

    /// Whether `part` is the same element with the same geometry; its content may differ.
    fn is(&self, part: ScenePart<'_>) -> bool {
        match (self, part) {
            (DrawnElement::Layer(shape, _), ScenePart::Layer(layer)) => {
                Arc::ptr_eq(shape, &layer.shape) || shape.looks_like(layer)
            }
            (DrawnElement::Effect(before), ScenePart::Effect(effect)) => before.is_like(effect),
            (DrawnElement::Cursor(before), ScenePart::Cursor(cursor)) => before == cursor,
            _ => false,
        }
    }
}

/// An element of a scene.
#[derive(Clone, Copy)]
enum ScenePart<'a> {
    Layer(&'a Layer),
    Effect(&'a Effect),
    Cursor(&'a CursorLayer),
}

impl ScenePart<'_> {
    fn place(self) -> Rectangle<i32, Physical> {
        match self {
            ScenePart::Layer(layer) => layer.target,
            ScenePart::Effect(effect) => effect.target(),
            ScenePart::Cursor(cursor) => cursor_place(cursor),
        }
    }

    fn id(&self) -> Option<&Id> {
        match self {
            ScenePart::Layer(layer) => Some(&layer.id),
            ScenePart::Effect(effect) => Some(&effect.id),
            ScenePart::Cursor(_) => None,
        }
    }
}

fn cursor_place(cursor: &CursorLayer) -> Rectangle<i32, Physical> {
    let image: &PixelBuffer = &cursor.image;
    Rectangle::new(cursor.position, Size::from((image.width, image.height)))
}

/// Optional elements of a scene to compare.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComparedParts {
    pub cursor: bool,
    /// Layers on planes, which are not composed.
    pub planes: bool,
}

/// The elements of a scene to compare, topmost first.
fn parts(scene: &Scene, these: ComparedParts) -> impl Iterator<Item = ScenePart<'_>> {
    let cursor = scene.cursor.iter().filter(move |_| these.cursor).map(ScenePart::Cursor);
    let mut effects = scene.effects.iter().peekable();
    let mut layers = scene.layers.iter().enumerate().peekable();
    let below = std::iter::from_fn(move || {
        loop {
            let depth = layers.peek().map_or(usize::MAX, |(depth, _)| *depth);
            if let Some(effect) = effects.next_if(|effect| effect.depth <= depth) {
                return Some(ScenePart::Effect(effect));
            }
            let (_, layer) = layers.next()?;
            if these.planes || layer.plane.is_none() {
                return Some(ScenePart::Layer(layer));
            }
        }
    });
    cursor.chain(below)
}

/// The last drawn scene of an output, and the damage of the last frames.
#[derive(Debug)]
pub(super) struct SceneDamage {
    screen: Rectangle<i32, Physical>,
    background: [f32; 3],
    /// Elements of the newest frame, topmost first.
    items: Vec<DrawnElement>,
    /// Damage of the last frames, the newest first; empty before the first frame.
    changes: VecDeque<DamageRegion>,
}

impl FrameTracker for SceneDamage {
    fn of(size: Size<i32, Physical>, _turn: OutputTransform) -> Self {
        // A change of transform creates another canvas.
        let screen = Rectangle::from_size(size);
        SceneDamage { screen, background: [0.0; 3], items: Vec::new(), changes: VecDeque::new() }
    }
}

impl SceneDamage {
    /// The region to draw so that a buffer of this `age` shows `scene`; age 0: its content is unknown.
    pub fn observe(&mut self, scene: &Scene, these: ComparedParts, age: usize) -> DamageRegion {
        let is_known = !self.changes.is_empty() && self.background == scene.background;
        let mut change = DamageBuilder::new(self.screen);
        if is_known {
            self.compare(scene, these, &mut change);
        } else {
            change.add(self.screen);
            self.items = parts(scene, these).map(DrawnElement::of).collect();
        }
        self.background = scene.background;
        self.changes.push_front(change.rects);
        self.changes.truncate(OLDEST);
        if age == 0 || age > self.changes.len() {
            return vec![self.screen];
        }
        let mut all = DamageBuilder::new(self.screen);
        self.changes.iter().take(age).flatten().for_each(|rect| all.add(*rect));
        all.rects
    }

    /// A part of the scene was not drawn, so the next frame gets full damage.
    pub fn forget(&mut self) {
        self.changes.clear();
    }

    fn compare(&mut self, scene: &Scene, these: ComparedParts, damage: &mut DamageBuilder) {
        let mut parts = parts(scene, these);
        let mut same = 0;
        let first_new = loop {
            match (self.items.get_mut(same), parts.next()) {
                (Some(item), Some(part)) if item.is(part) => damage.add_content(item, part),
                (None, None) => return,
                (_, part) => break part,
            }
            same += 1;
        };
        // An element was added, removed or moved. Elements below it are often unchanged, so match them from the end.
        let new: Vec<ScenePart<'_>> = first_new.into_iter().chain(parts).collect();
        let old = &mut self.items[same..];
        let at_end = old.iter().rev().zip(new.iter().rev()).take_while(|(item, part)| item.is(**part)).count();
        let (old_middle, new_middle) = (old.len() - at_end, new.len() - at_end);
        for (item, part) in old[old_middle..].iter_mut().zip(&new[new_middle..]) {
            damage.add_content(item, *part);
        }
        rearranged(&mut old[..old_middle], &new[..new_middle], damage);
        let middle = new[..new_middle].iter().copied().map(DrawnElement::of);
        self.items.splice(same..same + old_middle, middle);
    }
}

/// Damage between two stacks of elements. Elements that are the same and in the same order are damaged by their
/// content, all other elements by their whole area.
#[expect(clippy::mutable_key_type, reason = "an id is compared by its name, which does not change")]
fn rearranged(old: &mut [DrawnElement], new: &[ScenePart<'_>], damage: &mut DamageBuilder) {
    let mut places: HashMap<Id, usize> = HashMap::with_capacity(old.len());
    places.extend(old.iter().enumerate().filter_map(|(place, item)| Some((item.id()?.clone(), place))));
    let mut stays = vec![false; old.len()];
    let mut next = 0;
    for part in new {
        let place = part.id().and_then(|id| places.get(id)).copied();
        match place.filter(|place| *place >= next && old[*place].is(*part)) {
            Some(place) => {
                damage.add_content(&mut old[place], *part);
                stays[place] = true;
                next = place + 1;
            }
            None => damage.add(part.place()),
        }
    }
    let gone = old.iter().zip(stays).filter(|(_, stays)| !stays);
    gone.for_each(|(item, _)| damage.add(item.place()));
}

/// A damage region under construction.
struct DamageBuilder {
    screen: Rectangle<i32, Physical>,
    rects: DamageRegion,
}

impl DamageBuilder {
    fn new(screen: Rectangle<i32, Physical>) -> Self {
        DamageBuilder { screen, rects: Vec::new() }
    }

    fn add(&mut self, rect: Rectangle<i32, Physical>) {
        let Some(rect) = rect.intersection(self.screen).filter(|rect| !rect.is_empty()) else { return };
        if self.rects.iter().any(|known| known.contains_rect(rect)) {
            return;
        }
        if !self.rects.iter().any(|known| known.overlaps(rect)) {
            // Usually the rectangle overlaps none, so it need not be split.
            self.rects.push(rect);
            return self.bound();
        }
        self.rects.retain(|known| !rect.contains_rect(*known));
        let pieces = rect.subtract_rects(self.rects.iter().copied());
        self.rects.extend(pieces);
        self.bound();
    }

    fn bound(&mut self) {
        if self.rects.len() > MOST_RECTS {
            let around = self.rects.drain(..).reduce(Rectangle::merge);
            self.rects.extend(around);
        }
    }

    /// Adds the damage of `layer` since `known`.
    #[cold]
    fn add_commits(&mut self, layer: &Layer, known: CommitCounter) {
        let damage = damage_since(layer, Some(known));
        damage.iter().for_each(|rect| self.add(Rectangle::new(rect.loc + layer.target.loc, rect.size)));
    }

    /// Adds the damage of `part`, which is the element `item` with possibly new content.
    #[inline]
    fn add_content(&mut self, item: &mut DrawnElement, part: ScenePart<'_>) {
        let (DrawnElement::Layer(shape, known), ScenePart::Layer(layer)) = (item, part) else { return };
        if *known != layer.commit() {
            self.add_commits(layer, *known);
            *known = layer.commit();
        }
        if !Arc::ptr_eq(shape, &layer.shape) {
            *shape = layer.shape.clone();
        }
    }
}

/// Converts rectangles of `scene` to panel coordinates.
pub(super) fn on_panel(scene: &Scene, region: &[Rectangle<i32, Physical>]) -> DamageRegion {
    region.iter().map(|rect| scene.turn.rect(*rect, scene.size)).collect()
}

/// Draws the visible parts of `elements` (topmost first) within `region`, in coordinates of the panel of this size.
pub(super) fn draw<'a, R>(
    renderer: &mut R,
    target: &mut R::Framebuffer<'_>,
    (size, background): (Size<i32, Physical>, Color32F),
    elements: &[SceneElement<'a, R::TextureId>],
    region: &[Rectangle<i32, Physical>],
) -> Result<(), R::Error>
where
    R: Renderer,
    SceneElement<'a, R::TextureId>: RenderElement<R>,
{
    let scale = Scale::from(1.0);
    let mut bare = region.to_vec();
    let mut seen = Vec::new();
    for element in elements {
        let place = element.geometry(scale);
        let parts = bare.iter().filter_map(|rect| rect.intersection(place)).filter(|rect| !rect.is_empty());
        let parts: DamageRegion = parts.map(|rect| Rectangle::new(rect.loc - place.loc, rect.size)).collect();
        if parts.is_empty() {
            continue;
        }
        let opaque = element.opaque_regions(scale);
        let above = opaque.iter().map(|rect| Rectangle::new(rect.loc + place.loc, rect.size));
        bare = Rectangle::subtract_rects_many_in_place(bare, above.filter(|rect| !rect.is_empty()));
        seen.push((element, place, parts, opaque));
        if bare.is_empty() {
            break;
        }
    }
    let mut frame = renderer.render(target, size, Transform::Normal)?;
    if !bare.is_empty() {
        frame.clear(background, &bare)?;
    }
    for (element, place, parts, opaque) in seen.iter().rev() {
        RenderElement::<R>::draw(*element, &mut frame, element.src(), *place, parts, opaque)?;
    }
    // Pixman is already done here, so there is no fence to wait for.
    frame.finish().map(drop)
}
