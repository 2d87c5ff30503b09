//! The geometry of a scroll view: its offset, and which parts of its document have contents.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Buffer, Logical, Point, Rectangle, Size};
use smithay::wayland::compositor;

use super::state::{self, MOST_NESTED, ScrollContent, ScrollInputs, ViewContentRole, ViewProperties, size_of};
use crate::guard;
use crate::surface::content::SurfaceContent;
use upbeat_timing::scroll::{DocumentExtent, DocumentRegion, RenderedRegions, ScrollDistance};

/// The state of a view before it moves.
pub(super) struct ViewSnapshot {
    pub view: Arc<ViewProperties>,
    pub size: Size<i32, Logical>,
    pub shown: Point<f64, Logical>,
}

/// How far this input moves the view of `surface` along its axes; `None` if it does not.
pub fn moved_by(surface: &WlSurface, input: ScrollInputs, way: ScrollDistance) -> Option<ScrollDistance> {
    let view = guard::with_states(surface, state::view).filter(|view| view.inputs.contains(input))?;
    Some(view.terms(Size::default()).along(way)).filter(|way| *way != ScrollDistance::default())
}

/// The state of the view of `surface`; `None` if it is not a view, or has no content.
pub(super) fn circumstances(surface: &WlSurface) -> Option<ViewSnapshot> {
    guard::with_states(surface, |states| {
        Some(ViewSnapshot { view: state::view(states)?, size: size_of(states)?, shown: state::offset(states) })
    })
}

/// Whether a surface is nested in the maximum number of views.
pub(super) fn is_too_deep(surface: &WlSurface) -> bool {
    let around = std::iter::successors(compositor::get_parent(surface), compositor::get_parent);
    let is_view = |surface: &WlSurface| guard::with_states(surface, |states| state::view(states).is_some());
    around.filter(is_view).nth(MOST_NESTED - 1).is_some()
}

/// The surface of a content, while it is a subsurface of its view.
fn child(view_surface: &WlSurface, content: &ScrollContent) -> Option<WlSurface> {
    let child = content.surface.upgrade().ok()?;
    (compositor::get_parent(&child).as_ref() == Some(view_surface)).then_some(child)
}

/// The buffer of a content of the view; `None` if it is not a content any more.
fn shown_by(view_surface: &WlSurface, content: &ScrollContent) -> Option<SurfaceContent> {
    let child = child(view_surface, content)?;
    guard::with_states(&child, |states| SurfaceContent::of(&child, states))
}

/// The surfaces that scroll with the document of the view of `surface`.
pub fn document_contents(surface: &WlSurface) -> Vec<WlSurface> {
    let Some(view) = guard::with_states(surface, state::view) else { return Vec::new() };
    let documents = view.contents.iter().filter(|content| content.role == ViewContentRole::Document);
    documents.filter_map(|content| child(surface, content)).collect()
}

/// The contents of a view that scroll with its document.
pub(super) fn documents<'a>(
    surface: &'a WlSurface,
    view: &'a ViewProperties,
) -> impl Iterator<Item = (SurfaceContent, &'a ScrollContent)> {
    let documents = view.contents.iter().filter(|content| content.role == ViewContentRole::Document);
    documents.filter_map(|content| Some((shown_by(surface, content)?, content)))
}

/// The contents of a view, each with its buffer pixel nearest to the middle of the visible part; the nearest content is
/// first. Only approximate: this decides the order of uploads and nothing else.
pub fn by_distance(view_surface: &WlSurface) -> Vec<(SurfaceContent, Point<i32, Buffer>)> {
    let Some(ViewSnapshot { view, size, shown }) = circumstances(view_surface) else { return Vec::new() };
    let middle = Point::from((f64::from(size.w) / 2.0, f64::from(size.h) / 2.0));
    let mut found: Vec<_> = view
        .contents
        .iter()
        .filter_map(|content| {
            let shows = shown_by(view_surface, content)?;
            let inside = middle - view.place(content, shown, size);
            let near = inside.constrain(Rectangle::from_size(shows.size.to_f64()));
            let away = (near.x - inside.x).abs() + (near.y - inside.y).abs();
            let near = near.to_i32_floor::<i32>();
            let near = Point::from((near.x * shows.buffer_scale, near.y * shows.buffer_scale));
            Some((away, shows, near))
        })
        .collect();
    found.sort_by(|(one, ..), (other, ..)| one.total_cmp(other));
    found.into_iter().map(|(_, shows, near)| (shows, near)).collect()
}

/// The regions of the document that have contents.
pub(super) fn cover(surface: &WlSurface, view: &ViewProperties) -> RenderedRegions {
    let documents = view.contents.iter().filter(|content| content.role == ViewContentRole::Document);
    RenderedRegions::of(documents.filter_map(|content| {
        let size = guard::with_states(&child(surface, content)?, size_of)?;
        let extent = |start: i64, length: i32| DocumentExtent { start, length: i64::from(length) };
        Some(DocumentRegion {
            x: extent(content.position.0.get(), size.w),
            y: extent(content.position.1.get(), size.h),
        })
    }))
}
