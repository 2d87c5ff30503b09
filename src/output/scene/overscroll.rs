//! Overscroll of scroll views: where a view's document has no content yet, the last row or column is stretched, if the
//! client asked for it.
//!
//! ```text
//!   ┌─────────┐ view
//!   │ content │
//!   │─────────│◄─ its last row
//!   │ │ │ │ │ │   the same row, over the missing part
//!   └─┴─┴─┴─┴─┘
//! ```

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Physical, Point, Rectangle, Size};

use crate::output::scene::placing::{LayerPlacer, SurfaceMapping};
use crate::scene::{LayerShape, Scene};
use crate::surface::scroll::StretchedContent;
use crate::surface::tree;
use upbeat_timing::scroll::ScrollSide;

impl LayerPlacer<'_> {
    /// Adds the stretched last rows or columns of a view's contents over the missing ends of its document.
    pub(in crate::output) fn stretched(
        &self,
        scene: &mut Scene,
        view: &WlSurface,
        at: (tree::SurfacePlace, Size<i32, Logical>),
        fit: SurfaceMapping,
        opacity: f64,
    ) {
        let scrolled = self.surfaces.get(view).and_then(|entry| entry.scroll());
        let Some(scrolled) = scrolled.filter(|scrolled| !scrolled.stretched().is_empty()) else { return };
        let (place, size) = at;
        let seen = Rectangle::new(place.origin, size.to_f64());
        let mut document = scrolled.document();
        document.loc += place.origin;
        let crop = place.crop.map_or(Some(seen), |crop| crop.intersection(seen));
        let Some(crop) = crop.and_then(|crop| crop.intersection(document)) else { return };
        let sides = if scrolled.is_vertical() {
            [ScrollSide::Up, ScrollSide::Down]
        } else {
            [ScrollSide::Left, ScrollSide::Right]
        };
        for (end, side) in sides.into_iter().enumerate() {
            let strip = |stretched: &StretchedContent| {
                let StretchedContent { content, placement, ends } = stretched;
                let origin = place.origin + scrolled.place(placement);
                let gap = gap(Rectangle::new(origin, content.size.to_f64()), crop, side)?;
                let mut layer = self.layer(content, tree::SurfacePlace { origin, crop: None }, fit, opacity)?;
                let shape = Arc::make_mut(&mut layer.shape);
                let (zoom, length) = (fit.zoom(), if scrolled.is_vertical() { gap.size.h } else { gap.size.w });
                let gap = Rectangle::new(fit.point(gap.loc), Size::from((gap.size.w * zoom.0, gap.size.h * zoom.1)));
                shape.id = ends[end].clone();
                stretch_edge(shape, side, self.on_grid(gap, self.grid(fit)))?;
                Some((length, layer))
            };
            let mut strips: Vec<_> = scrolled.stretched().iter().filter_map(strip).collect();
            // Of two tiles in the same column the outer tile is the last, so it goes on top.
            strips.sort_by(|(one, _), (other, _)| one.total_cmp(other));
            scene.layers.extend(strips.into_iter().map(|(_, layer)| layer));
        }
    }
}

/// The gap between a content and the visible edge on this side; `None` if the content is invisible or reaches the edge.
fn gap(
    content: Rectangle<f64, Logical>,
    seen: Rectangle<f64, Logical>,
    side: ScrollSide,
) -> Option<Rectangle<f64, Logical>> {
    let across = content.intersection(seen)?;
    let (end, edge) = (content.loc + content.size, seen.loc + seen.size);
    let (from, to) = match side {
        ScrollSide::Up => ((across.loc.x, seen.loc.y), (across.loc.x + across.size.w, content.loc.y)),
        ScrollSide::Down => ((across.loc.x, end.y), (across.loc.x + across.size.w, edge.y)),
        ScrollSide::Left => ((seen.loc.x, across.loc.y), (content.loc.x, across.loc.y + across.size.h)),
        ScrollSide::Right => ((end.x, across.loc.y), (edge.x, across.loc.y + across.size.h)),
    };
    let size = Size::from(((to.0 - from.0).max(0.0), (to.1 - from.1).max(0.0)));
    (size.w > 0.0 && size.h > 0.0).then(|| Rectangle::new(from.into(), size))
}

/// Turns `shape` into the last row or column of its content on this side, stretched over `gap`. The result counts as
/// translucent and takes no input.
fn stretch_edge(shape: &mut LayerShape, side: ScrollSide, gap: Rectangle<i32, Physical>) -> Option<()> {
    let (source, target) = (shape.source, shape.target);
    // Take the last row but one, in whole pixels: filtering mixes a row with its neighbours, and the last row has
    // none beyond it.
    let pixel = 1.0 / f64::from(shape.buffer_scale.max(1));
    let inset = |length: f64| pixel.min((length - pixel).max(0.0) / 2.0);
    let inset = Point::<f64, Logical>::from((inset(source.size.w), inset(source.size.h)));
    let last = source.loc + source.size - Point::from((pixel, pixel)) - inset;
    let (across, down) = (Size::from((source.size.w, pixel)), Size::from((pixel, source.size.h)));
    let strip = match side {
        ScrollSide::Up => Rectangle::new((source.loc.x, source.loc.y + inset.y).into(), across),
        ScrollSide::Down => Rectangle::new((source.loc.x, last.y).into(), across),
        ScrollSide::Left => Rectangle::new((source.loc.x + inset.x, source.loc.y).into(), down),
        ScrollSide::Right => Rectangle::new((last.x, source.loc.y).into(), down),
    };
    // As wide as the content, so that the crop below removes its invisible part.
    let whole = match side {
        ScrollSide::Up | ScrollSide::Down => {
            Rectangle::new((target.loc.x, gap.loc.y).into(), (target.size.w, gap.size.h).into())
        }
        ScrollSide::Left | ScrollSide::Right => {
            Rectangle::new((gap.loc.x, target.loc.y).into(), (gap.size.w, target.size.h).into())
        }
    };
    (shape.source, shape.target) = (strip, whole);
    (shape.opaque, shape.solid, shape.blurred) = (Vec::new(), Vec::new(), None);
    // A strip of less than a pixel is left out.
    shape.cut(gap).filter(|()| !shape.target.is_empty())
}
