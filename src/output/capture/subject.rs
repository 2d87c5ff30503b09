//! What pictures are of: an output, a window alone, the cursor.
//!
//! No display shows a window alone: its picture is what it has applied when the picture is taken, on black, with its
//! subsurfaces and popups as far as they lie within its geometry, whether or not others cover it.

use std::sync::Arc;

use smithay::output::Output;
use smithay::utils::{Logical, Physical, Point, Rectangle, Size};

use crate::backend::{PixelBuffer, PixelRect};
use crate::output::geometry;
use crate::output::scene::cursor;
use crate::output::scene::placing::Placing;
use crate::scene::{CursorLayer, Scene};
use crate::shell::{Hand, Window, WindowId};
use crate::state::State;

/// The cursor's picture where nothing is drawn at the pointer.
const NO_CURSOR: (i32, i32) = (1, 1);

/// Pixels of a picture of a window at most: a client may say that its window is of any size.
const MOST_PIXELS: f64 = 67_108_864.0;

/// What a picture is of.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// A part of an output, in its physical pixels as they are scanned out.
    Output(Output, PixelRect),
    /// A window alone.
    Window(WindowId),
    /// The cursor as it is drawn there.
    Cursor(Area),
}

impl Subject {
    /// Whether both are of the same thing, whichever part of it.
    pub(super) fn is_of_the_same(&self, other: &Subject) -> bool {
        match (self, other) {
            (Subject::Output(output, _), Subject::Output(other, _)) => output == other,
            (subject, other) => subject == other,
        }
    }
}

/// Where pictures are taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Area {
    /// An output.
    Output(Output),
    /// A window.
    Window(WindowId),
}

/// What the pointer is on, looked up once for all who ask at the same time: a window may have thousands of surfaces, and be
/// recorded by hundreds.
#[derive(Debug, Default)]
pub struct Pointed(Option<Option<WindowId>>);

impl Pointed {
    /// Whether what is done with the pointer at `position` is done to window `id`.
    fn is(&mut self, state: &State, position: Point<f64, Logical>, id: WindowId) -> bool {
        let pointed = self.0.get_or_insert_with(|| {
            let hit = crate::output::scene_on_screen_hit(state, position);
            hit.and_then(|(surface, _)| state.shell.window_of(&surface)).map(|window| window.id)
        });
        *pointed == Some(id)
    }
}

/// The cursor above an area.
#[derive(Clone, Debug)]
pub struct CursorSeen {
    /// Where it points, in pixels of the area's picture as it is seen.
    pub position: (i32, i32),
    /// The pixel of its image that points.
    pub hotspot: (i32, i32),
    /// Its image.
    pub image: Arc<PixelBuffer>,
}

impl Area {
    /// Where it is (global logical coordinates), and its physical pixels per logical one; `None` where it is gone.
    fn place(&self, state: &State) -> Option<(Rectangle<i32, Logical>, f64)> {
        match self {
            Area::Output(output) => {
                let is_there = state.outputs.iter().any(|known| known == output);
                is_there.then(|| (geometry(output), output.current_scale().fractional_scale()))
            }
            Area::Window(id) => window_place(state, shown(state, *id)?),
        }
    }

    /// How large a picture of it is, in pixels; `None` where it is gone.
    pub fn size(&self, state: &State) -> Option<(i32, i32)> {
        match self {
            Area::Output(output) => {
                self.place(state)?;
                output.current_mode().map(|mode| (mode.size.w, mode.size.h))
            }
            Area::Window(_) => {
                let (rect, scale) = self.place(state)?;
                let size = pixels(rect.size, scale);
                Some((size.w, size.h))
            }
        }
    }

    /// All of it.
    pub fn whole(&self, state: &State) -> Option<Subject> {
        let (width, height) = self.size(state)?;
        Some(match self {
            Area::Output(output) => Subject::Output(output.clone(), PixelRect { x: 0, y: 0, width, height }),
            Area::Window(id) => Subject::Window(*id),
        })
    }

    /// The cursor, if anything of it lies above the area and the session is not locked.
    pub fn cursor(&self, state: &mut State, pointed: &mut Pointed) -> Option<CursorSeen> {
        let (rect, scale) = self.place(state).filter(|_| !state.shell.lock().covers())?;
        let position = state.pointer_position();
        let cursor::Pointed { image, hotspot } = cursor::pointed(state, scale)?;
        let at = (position - rect.loc.to_f64()).to_physical(scale).to_i32_round();
        let drawn = Rectangle::new(at - hotspot, Size::from((image.width, image.height)));
        let area = Rectangle::from_size(pixels(rect.size, scale));
        let is_seen = area.overlaps(drawn) && self.has_pointer(state, position, pointed);
        is_seen.then(|| CursorSeen { position: at.into(), hotspot: hotspot.into(), image })
    }

    /// Whether what is done with the pointer at `position` is done to it.
    fn has_pointer(&self, state: &State, position: Point<f64, Logical>, pointed: &mut Pointed) -> bool {
        match self {
            Area::Window(id) => pointed.is(state, position, *id),
            Area::Output(_) => true,
        }
    }

    /// The cursor's image as it would be drawn there, whether or not it is.
    pub fn cursor_size(&self, state: &mut State) -> Option<(i32, i32)> {
        let (_, scale) = self.place(state)?;
        let image = cursor::pointed(state, scale).map(|pointed| pointed.image);
        Some(image.map_or(NO_CURSOR, |image| (image.width, image.height)))
    }
}

fn pixels(size: Size<i32, Logical>, scale: f64) -> Size<i32, Physical> {
    let side = |length: i32| ((f64::from(length) * scale).round() as i32).max(1);
    Size::from((side(size.w), side(size.h)))
}

/// A window that has something to show.
fn shown(state: &State, id: WindowId) -> Option<&Window> {
    state.shell.window(id).filter(|window| window.is_mapped() && !window.geometry().is_empty())
}

/// Where a window alone is, and the scale of the output that it is on.
fn window_place(state: &State, window: &Window) -> Option<(Rectangle<i32, Logical>, f64)> {
    let rect = Rectangle::new(window.rect().loc, window.geometry().size);
    let place = state.shell.workspaces().place(window.id);
    let name = place.and_then(|place| state.shell.workspaces().name(place.screen));
    let output = name.and_then(|name| state.outputs.iter().find(|output| output.name() == name));
    let scale = output.or(state.outputs.iter().next()).map_or(1.0, |output| output.current_scale().fractional_scale());
    let count = f64::from(rect.size.w) * f64::from(rect.size.h) * scale * scale;
    (count <= MOST_PIXELS).then_some((rect, scale))
}

/// A window as it is now, to be drawn by whoever can. Locked away or kept out of pictures it is black.
pub(super) fn portrait(state: &mut State, id: WindowId, with_cursor: bool) -> Option<Scene> {
    let cursor = if with_cursor { Area::Window(id).cursor(state, &mut Pointed::default()) } else { None };
    let window = shown(state, id)?;
    let (area, scale) = window_place(state, window)?;
    let mut scene = Scene { size: pixels(area.size, scale), ..Scene::default() };
    if state.shell.lock().covers() {
        scene.locked = true;
        return Some(scene);
    }
    scene.cursor = cursor.map(|cursor| CursorLayer {
        turned: cursor.image.clone(),
        image: cursor.image,
        position: Point::from((cursor.position.0 - cursor.hotspot.0, cursor.position.1 - cursor.hotspot.1)),
    });
    if !window.is_kept_out() {
        let alone = state.shell.render_alone(window);
        Placing::of_area(area, scale, &state.surfaces).alone(&mut scene, &alone);
    }
    Some(scene)
}
