//! Capture subjects: an output, a window alone, the cursor.
//!
//! No display shows a window alone. Its picture is its applied state when the picture is taken, on black, with its
//! subsurfaces and popups as far as they lie within its geometry, even if other windows cover it.

use std::sync::Arc;

use smithay::output::Output;
use smithay::utils::{Logical, Physical, Point, Rectangle, Size};

use crate::backend::{PixelBuffer, PixelRect};
use crate::output::geometry;
use crate::output::scene::cursor;
use crate::output::scene::placing::LayerPlacer;
use crate::scene::{CursorLayer, Scene};
use crate::shell::{ShellSeat, Window, WindowId};
use crate::state::State;

/// Size of the cursor's picture if the cursor is hidden.
const NO_CURSOR: (i32, i32) = (1, 1);

/// Most pixels of a window's picture: a client may claim any window size.
const MOST_PIXELS: f64 = 67_108_864.0;

#[derive(Clone, Debug, PartialEq)]
pub enum CaptureSubject {
    /// A part of an output, in its physical pixels as they are scanned out.
    Output(Output, PixelRect),
    Window(WindowId),
    /// The cursor as drawn in that area.
    Cursor(CursorArea),
}

impl CaptureSubject {
    /// Whether both are the same output, window or cursor; the part does not matter.
    pub(super) fn is_of_the_same(&self, other: &CaptureSubject) -> bool {
        match (self, other) {
            (CaptureSubject::Output(output, _), CaptureSubject::Output(other, _)) => output == other,
            (subject, other) => subject == other,
        }
    }
}

/// The output or window that a cursor capture belongs to.
#[derive(Clone, Debug, PartialEq)]
pub enum CursorArea {
    Output(Output),
    Window(WindowId),
}

/// The window under the pointer, looked up once for all requests of a turn: a window may have thousands of surfaces and
/// hundreds of recorders.
#[derive(Debug, Default)]
pub struct WindowUnderPointer(Option<Option<WindowId>>);

impl WindowUnderPointer {
    /// Whether window `id` has the pointer at `position`.
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
pub struct CursorOverArea {
    /// Position of the hotspot, in pixels of the area's picture after rotation.
    pub position: (i32, i32),
    /// The hotspot, in pixels of the image.
    pub hotspot: (i32, i32),
    pub image: Arc<PixelBuffer>,
}

impl CursorArea {
    /// Rectangle (global logical coordinates) and scale; `None` if the area is gone.
    fn place(&self, state: &State) -> Option<(Rectangle<i32, Logical>, f64)> {
        match self {
            CursorArea::Output(output) => {
                let is_there = state.outputs.iter().any(|known| known == output);
                is_there.then(|| (geometry(output), output.current_scale().fractional_scale()))
            }
            CursorArea::Window(id) => window_place(state, shown(state, *id)?),
        }
    }

    /// Size of a picture of the area, in pixels; `None` if the area is gone.
    pub fn size(&self, state: &State) -> Option<(i32, i32)> {
        match self {
            CursorArea::Output(output) => {
                self.place(state)?;
                output.current_mode().map(|mode| (mode.size.w, mode.size.h))
            }
            CursorArea::Window(_) => {
                let (rect, scale) = self.place(state)?;
                let size = pixels(rect.size, scale);
                Some((size.w, size.h))
            }
        }
    }

    /// The whole area as a capture subject.
    pub fn whole(&self, state: &State) -> Option<CaptureSubject> {
        let (width, height) = self.size(state)?;
        Some(match self {
            CursorArea::Output(output) => {
                CaptureSubject::Output(output.clone(), PixelRect { x: 0, y: 0, width, height })
            }
            CursorArea::Window(id) => CaptureSubject::Window(*id),
        })
    }

    /// The cursor, if a part of it lies above the area and the session is not locked.
    pub fn cursor(&self, state: &mut State, pointed: &mut WindowUnderPointer) -> Option<CursorOverArea> {
        let (rect, scale) = self.place(state).filter(|_| !state.shell.lock().covers())?;
        let position = state.pointer_position();
        let cursor::PointerImage { image, hotspot } = cursor::pointer_image(state, scale)?;
        let at = (position - rect.loc.to_f64()).to_physical(scale).to_i32_round();
        let drawn = Rectangle::new(at - hotspot, Size::from((image.width, image.height)));
        let area = Rectangle::from_size(pixels(rect.size, scale));
        let is_seen = area.overlaps(drawn) && self.has_pointer(state, position, pointed);
        is_seen.then(|| CursorOverArea { position: at.into(), hotspot: hotspot.into(), image })
    }

    /// Whether the area has the pointer at `position`.
    fn has_pointer(&self, state: &State, position: Point<f64, Logical>, pointed: &mut WindowUnderPointer) -> bool {
        match self {
            CursorArea::Window(id) => pointed.is(state, position, *id),
            CursorArea::Output(_) => true,
        }
    }

    /// Size of the cursor image as it would be drawn in the area, even if the cursor is elsewhere.
    pub fn cursor_size(&self, state: &mut State) -> Option<(i32, i32)> {
        let (_, scale) = self.place(state)?;
        let image = cursor::pointer_image(state, scale).map(|pointed| pointed.image);
        Some(image.map_or(NO_CURSOR, |image| (image.width, image.height)))
    }
}

fn pixels(size: Size<i32, Logical>, scale: f64) -> Size<i32, Physical> {
    let side = |length: i32| ((f64::from(length) * scale).round() as i32).max(1);
    Size::from((side(size.w), side(size.h)))
}

/// The window, if it has content.
fn shown(state: &State, id: WindowId) -> Option<&Window> {
    state.shell.window(id).filter(|window| window.is_mapped() && !window.geometry().is_empty())
}

/// Rectangle of a window, and the scale of its output.
fn window_place(state: &State, window: &Window) -> Option<(Rectangle<i32, Logical>, f64)> {
    let rect = Rectangle::new(window.rect().loc, window.geometry().size);
    let place = state.shell.workspaces().place(window.id);
    let name = place.and_then(|place| state.shell.workspaces().name(place.screen));
    let output = name.and_then(|name| state.outputs.iter().find(|output| output.name() == name));
    let scale = output.or(state.outputs.iter().next()).map_or(1.0, |output| output.current_scale().fractional_scale());
    let count = f64::from(rect.size.w) * f64::from(rect.size.h) * scale * scale;
    (count <= MOST_PIXELS).then_some((rect, scale))
}

/// A scene of the window's current content. Black if the session is locked or a rule keeps it out of captures.
pub(super) fn window_scene(state: &mut State, id: WindowId, with_cursor: bool) -> Option<Scene> {
    let cursor =
        if with_cursor { CursorArea::Window(id).cursor(state, &mut WindowUnderPointer::default()) } else { None };
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
    if !window.is_hidden_from_capture() {
        let alone = state.shell.render_alone(window);
        LayerPlacer::of_area(area, scale, &state.surfaces).alone(&mut scene, &alone);
    }
    Some(scene)
}
