//! The client's state of a scroll view and its contents: double-buffered with the *view's* commits, so that a ring of
//! tiles moves at once.

use std::sync::{Arc, Mutex, PoisonError};

use bitflags::bitflags;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Weak};
use smithay::utils::{Logical, Point, Size};
use smithay::wayland::compositor::{Cacheable, SurfaceData};

use crate::bounds::DocumentUnit;
use crate::guard;
use crate::surface::render_state;
use upbeat_timing::scroll::{DocumentRegion, MOST_REGIONS, USUAL_DECELERATION, ViewTerms};

bitflags! {
    /// The kinds of input that move a view.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ScrollInputs: u32 {
        const DRAG = 1;
        const WHEEL = 2;
        /// Fingers on a touchpad.
        const FINGER = 4;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewAxis {
    Horizontal,
    #[default]
    Vertical,
}

/// How a content moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewContentRole {
    /// It scrolls with the document.
    #[default]
    Document,
    /// It stays in place.
    Fixed,
    /// It moves along its track as the view moves through the document, like the thumb of a scroll bar.
    Thumb,
}

/// A subsurface that the view places.
#[derive(Clone, Debug)]
pub struct ScrollContent {
    pub surface: Weak<WlSurface>,
    /// Its position, in the document or in the view, by its role.
    pub position: (DocumentUnit, DocumentUnit),
    pub role: ViewContentRole,
    /// The axis along which a thumb moves, and how far.
    pub track: (ViewAxis, DocumentUnit),
}

/// How a view moves after it is released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScrollPhysics {
    /// The fraction of its speed that a fling keeps from one millisecond to the next.
    pub keeps: f64,
    /// How far it can be pulled beyond the document.
    pub rubber_band: u32,
}

impl Default for ScrollPhysics {
    fn default() -> Self {
        ScrollPhysics { keeps: USUAL_DECELERATION, rubber_band: 0 }
    }
}

/// The client's state of a view.
#[derive(Clone, Debug, Default)]
pub struct ViewProperties {
    /// The extent of its document.
    pub document: DocumentRegion,
    /// Whether input moves it (left and right, up and down).
    pub axes: (bool, bool),
    pub inputs: ScrollInputs,
    pub physics: ScrollPhysics,
    /// Offsets at which it comes to rest (left to right, top to bottom); empty: anywhere.
    pub snaps: (Arc<[i32]>, Arc<[i32]>),
    /// Input is not predicted.
    pub unpredicted: bool,
    /// Content that is missing at its ends is replaced by stretched ends.
    pub stretched: bool,
    pub contents: Vec<ScrollContent>,
}

/// The double-buffered state of a surface: shared by all updates that do not change it; `None`: not a view.
#[derive(Clone, Debug, Default)]
pub struct ViewState(pub Option<Arc<ViewProperties>>);

impl Cacheable for ViewState {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        self.clone()
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

impl ViewState {
    /// Changes it with the next commit.
    pub fn edit(&mut self) -> &mut ViewProperties {
        Arc::make_mut(self.0.get_or_insert_default())
    }
}

/// How deep views may be nested.
pub const MOST_NESTED: usize = 4;
/// Contents of one view.
pub const MOST_CONTENTS: usize = MOST_REGIONS;

impl ViewProperties {
    /// The state of `surface` as a content; `None` if it is not a content.
    pub fn content(&self, surface: &WlSurface) -> Option<&ScrollContent> {
        self.contents.iter().find(|content| content.surface == *surface)
    }

    pub fn content_mut(&mut self, surface: &WlSurface) -> Option<&mut ScrollContent> {
        self.contents.iter_mut().find(|content| content.surface == *surface)
    }

    /// The state that limits the offset of a view of this size.
    pub fn terms(&self, size: Size<i32, Logical>) -> ViewTerms<'_> {
        ViewTerms {
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

    /// The position of a content in the view's coordinates, when the view is at `offset`.
    pub fn place(
        &self,
        content: &ScrollContent,
        offset: Point<f64, Logical>,
        size: Size<i32, Logical>,
    ) -> Point<f64, Logical> {
        let position = Point::from((content.position.0.get() as f64, content.position.1.get() as f64));
        match content.role {
            ViewContentRole::Document => position - offset,
            ViewContentRole::Fixed => position,
            ViewContentRole::Thumb => {
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

pub fn set_offset(states: &SurfaceData, offset: Point<f64, Logical>) {
    states.data_map.insert_if_missing_threadsafe(ShownOffset::default);
    if let Some(shown) = states.data_map.get::<ShownOffset>() {
        *shown.0.lock().unwrap_or_else(PoisonError::into_inner) = offset;
    }
}

/// The size of a surface's applied content, in surface coordinates; `None` without content.
pub fn size_of(states: &SurfaceData) -> Option<Size<i32, Logical>> {
    Some(render_state::of(states)?.cut()?.size)
}

/// The applied state of a surface as a view; `None` if it is not a view.
pub fn view(states: &SurfaceData) -> Option<Arc<ViewProperties>> {
    states.cached_state.get::<ViewState>().current().0.clone()
}

/// Updates `known` to the applied state of `surface` as a view. Returns whether it changed.
pub fn update_view(surface: &WlSurface, known: &mut Option<Arc<ViewProperties>>) -> bool {
    let applied = guard::with_states(surface, view);
    let is_same = match (&applied, &known) {
        (Some(applied), Some(known)) => Arc::ptr_eq(applied, known),
        (applied, known) => applied.is_none() && known.is_none(),
    };
    *known = applied;
    !is_same
}
