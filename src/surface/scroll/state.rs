//! What a client says of a view and its contents: double-buffered with the *view's* commits, so that a ring of tiles moves at
//! once.

use std::sync::{Arc, Mutex, PoisonError};

use bitflags::bitflags;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Weak};
use smithay::utils::{Logical, Point, Size};
use smithay::wayland::compositor::{Cacheable, SurfaceData};

use crate::bounds::DocumentUnit;
use crate::guard;
use crate::surface::showing;
use upbeat_timing::scroll::{MOST_REGIONS, Region, Terms, USUAL_DECELERATION};

bitflags! {
    /// What moves a view.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Inputs: u32 {
        /// A touch point.
        const DRAG = 1;
        /// A wheel.
        const WHEEL = 2;
        /// Fingers on a touchpad.
        const FINGER = 4;
    }
}

/// Left to right, or top to bottom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewAxis {
    /// Left to right.
    Horizontal,
    /// Top to bottom.
    #[default]
    Vertical,
}

/// How a content moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// With the document.
    #[default]
    Document,
    /// Not at all.
    Fixed,
    /// Along its track, as the view moves through the document.
    Thumb,
}

/// One content of a view.
#[derive(Clone, Debug)]
pub struct Content {
    /// A subsurface of the view.
    pub surface: Weak<WlSurface>,
    /// Where, in the document or in the view.
    pub position: (DocumentUnit, DocumentUnit),
    /// How it moves.
    pub role: Role,
    /// Along what a thumb moves, and how far.
    pub track: (ViewAxis, DocumentUnit),
}

/// How a view moves when it is let go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Physics {
    /// Which part of its speed a fling keeps from one millisecond to the next.
    pub keeps: f64,
    /// How far it can be pulled beyond the document.
    pub rubber_band: u32,
}

impl Default for Physics {
    fn default() -> Self {
        Physics { keeps: USUAL_DECELERATION, rubber_band: 0 }
    }
}

/// All that a client says of a view.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Where its document begins and ends.
    pub document: Region,
    /// Whether input moves it (left and right, up and down).
    pub axes: (bool, bool),
    /// Which input does.
    pub inputs: Inputs,
    /// How it goes on.
    pub physics: Physics,
    /// Where it comes to rest (left to right, top to bottom); empty: anywhere.
    pub snaps: (Arc<[i32]>, Arc<[i32]>),
    /// Input is not predicted.
    pub unpredicted: bool,
    /// What is missing at its ends is made up for.
    pub stretched: bool,
    /// Its contents.
    pub contents: Vec<Content>,
}

/// The double-buffered state of a surface: shared by all updates that do not change it; `None`: it is no view.
#[derive(Clone, Debug, Default)]
pub struct ViewState(pub Option<Arc<View>>);

impl Cacheable for ViewState {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        self.clone()
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

impl ViewState {
    /// To change it with the next commit.
    pub fn edit(&mut self) -> &mut View {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

/// How deep views may be nested.
pub const MOST_NESTED: usize = 4;
/// More contents than this a view cannot have.
pub const MOST_CONTENTS: usize = MOST_REGIONS;

impl View {
    /// What is said of `surface`, if it is a content.
    pub fn content(&self, surface: &WlSurface) -> Option<&Content> {
        self.contents.iter().find(|content| content.surface == *surface)
    }

    /// The same, to change it.
    pub fn content_mut(&mut self, surface: &WlSurface) -> Option<&mut Content> {
        self.contents.iter_mut().find(|content| content.surface == *surface)
    }

    /// What of it bears on where a view of this size may be.
    pub fn terms(&self, size: Size<i32, Logical>) -> Terms<'_> {
        Terms {
            size: (size.w.into(), size.h.into()),
            document: self.document,
            axes: self.axes,
            keeps: self.physics.keeps,
            band: f64::from(self.physics.rubber_band),
            snaps: (&self.snaps.0, &self.snaps.1),
            predicts: !self.unpredicted,
            stretches: self.stretched,
        }
    }

    /// Where a content is in the view's coordinates, when that shows `offset`.
    pub fn place(
        &self,
        content: &Content,
        offset: Point<f64, Logical>,
        size: Size<i32, Logical>,
    ) -> Point<f64, Logical> {
        let position = Point::from((content.position.0.get() as f64, content.position.1.get() as f64));
        match content.role {
            Role::Document => position - offset,
            Role::Fixed => position,
            Role::Thumb => {
                let (ranges, length) = (self.terms(size).ranges(), content.track.1.get() as f64);
                position
                    + match content.track.0 {
                        ViewAxis::Horizontal => Point::from((length * ranges.x.share(offset.x), 0.0)),
                        ViewAxis::Vertical => Point::from((0.0, length * ranges.y.share(offset.y))),
                    }
            }
        }
    }
}

/// The offset at which a view is shown from the next frame on, on whole pixels of its output.
#[derive(Debug, Default)]
struct ShownOffset(Mutex<Point<f64, Logical>>);

/// The offset at which a view is shown.
pub fn offset(states: &SurfaceData) -> Point<f64, Logical> {
    let shown = states.data_map.get::<ShownOffset>();
    shown.map_or_else(Point::default, |shown| *shown.0.lock().unwrap_or_else(PoisonError::into_inner))
}

/// It is shown at this one.
pub fn set_offset(states: &SurfaceData, offset: Point<f64, Logical>) {
    states.data_map.insert_if_missing_threadsafe(ShownOffset::default);
    if let Some(shown) = states.data_map.get::<ShownOffset>() {
        *shown.0.lock().unwrap_or_else(PoisonError::into_inner) = offset;
    }
}

/// How large a surface's applied content is shown; `None` if it has none.
pub fn size_of(states: &SurfaceData) -> Option<Size<i32, Logical>> {
    Some(showing::of(states)?.cut()?.size)
}

/// What the applied state of a surface says of it as a view.
pub fn view(states: &SurfaceData) -> Option<Arc<View>> {
    states.cached_state.get::<ViewState>().current().0.clone()
}

/// Notes what the applied state of `surface` says of it as a view. Returns whether that is something else than `known`.
pub fn update_view(surface: &WlSurface, known: &mut Option<Arc<View>>) -> bool {
    let applied = guard::with_states(surface, view);
    let is_same = match (&applied, &known) {
        (Some(applied), Some(known)) => Arc::ptr_eq(applied, known),
        (applied, known) => applied.is_none() && known.is_none(),
    };
    *known = applied;
    !is_same
}
