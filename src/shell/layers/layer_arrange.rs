//! Placement of layer surfaces on an output, and the usable area for windows. Pure: numbers in, rectangles out.
//!
//! ```text
//!  ┌───────────────── output ─────────────────┐
//!  │ a bar: anchored left, top, right; zone   │  exclusive zones first, from the highest layer to the lowest,
//!  ├──────┬───────────────────────────────────┤  each in the area that is left
//!  │ dock │                                   │
//!  │ zone │      usable area: windows, and    │  windows always keep a share of each side
//!  │      │      surfaces with zone 0         │
//!  └──────┴───────────────────────────────────┘
//! ```
//!
//! Source: the prose of `wlr-layer-shell-unstable-v1`, `set_anchor`, `set_exclusive_zone` and `set_margin`.

use smithay::utils::{Logical, Point, Rectangle, Size};
use smithay::wayland::shell::wlr_layer::{Anchor, ExclusiveZone, Layer, LayerSurfaceCachedState};

use crate::bounds::{MAX_EXTENT, coordinate, extent};

/// Exclusive zones leave windows at least 1/`LEAST_SHARE` of each side of the output: enough to see a window and to
/// drag it, beside a bar, a dock and an on-screen keyboard.
const LEAST_SHARE: i32 = 4;

/// The four layers, bottom to top. Windows lie between `Bottom` and `Top`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LayerDepth {
    /// The lowest layer, for wallpapers.
    #[default]
    Background,
    Bottom,
    /// Above windows, but normally below fullscreen windows.
    Top,
    /// Above fullscreen windows, too.
    Overlay,
}

impl LayerDepth {
    pub fn is_above_windows(self) -> bool {
        self >= LayerDepth::Top
    }
}

impl From<Layer> for LayerDepth {
    fn from(layer: Layer) -> Self {
        match layer {
            Layer::Background => LayerDepth::Background,
            Layer::Bottom => LayerDepth::Bottom,
            Layer::Top => LayerDepth::Top,
            Layer::Overlay => LayerDepth::Overlay,
        }
    }
}

/// Exclusive zone of a layer surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// Positive zone: reserves this many logical pixels at its edge.
    Exclusive(i32),
    /// Zone 0: stays clear of the zones of other surfaces.
    #[default]
    Neutral,
    /// Zone −1: placed within the whole output, ignoring the zones of other surfaces.
    DontCare,
}

/// A value for each edge of a rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerEdge<T> {
    pub top: T,
    pub right: T,
    pub bottom: T,
    pub left: T,
}

/// Placement state of a layer surface, as its client has set it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerPlacement {
    pub level: LayerDepth,
    /// In logical pixels; 0 stretches the surface between the two edges that it is anchored to.
    pub size: Size<i32, Logical>,
    /// Edges that the surface is anchored to.
    pub anchors: PerEdge<bool>,
    /// Distances from the anchored edges, in logical pixels; negative margins reach beyond the edges.
    pub margins: PerEdge<i32>,
    pub zone: Zone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayerEdge {
    Top,
    Right,
    Bottom,
    Left,
}

impl From<&LayerSurfaceCachedState> for LayerPlacement {
    /// Clamps every number of the client to its valid range.
    fn from(state: &LayerSurfaceCachedState) -> Self {
        let on = |edge| state.anchor.contains(edge);
        let zone = match state.exclusive_zone {
            ExclusiveZone::Exclusive(zone) => Zone::Exclusive(zone.min(MAX_EXTENT.cast_unsigned()).cast_signed()),
            ExclusiveZone::Neutral => Zone::Neutral,
            ExclusiveZone::DontCare => Zone::DontCare,
        };
        LayerPlacement {
            level: state.layer.into(),
            size: Size::from((extent(state.size.w), extent(state.size.h))),
            anchors: PerEdge {
                top: on(Anchor::TOP),
                right: on(Anchor::RIGHT),
                bottom: on(Anchor::BOTTOM),
                left: on(Anchor::LEFT),
            },
            margins: PerEdge {
                top: coordinate(state.margin.top),
                right: coordinate(state.margin.right),
                bottom: coordinate(state.margin.bottom),
                left: coordinate(state.margin.left),
            },
            zone,
        }
    }
}

impl LayerPlacement {
    /// The edge that the exclusive zone lies at, if the surface is anchored to this edge alone, or to it and both
    /// adjacent edges.
    fn edge(&self) -> Option<LayerEdge> {
        let PerEdge { top, right, bottom, left } = self.anchors;
        match (top, right, bottom, left) {
            (true, beside, false, other) if beside == other => Some(LayerEdge::Top),
            (false, beside, true, other) if beside == other => Some(LayerEdge::Bottom),
            (beside, false, other, true) if beside == other => Some(LayerEdge::Left),
            (beside, true, other, false) if beside == other => Some(LayerEdge::Right),
            _ => None,
        }
    }

    /// The reserved edge and depth: the zone plus the margin.
    fn exclusive_zone(&self) -> Option<(LayerEdge, i32)> {
        let (Zone::Exclusive(zone), Some(edge)) = (self.zone, self.edge()) else { return None };
        let margin = match edge {
            LayerEdge::Top => self.margins.top,
            LayerEdge::Right => self.margins.right,
            LayerEdge::Bottom => self.margins.bottom,
            LayerEdge::Left => self.margins.left,
        };
        Some((edge, (zone + margin).max(0)))
    }

    /// Aligns content of `size` within `place`, at the edges that the surface is anchored to.
    pub fn align(&self, place: Rectangle<i32, Logical>, size: Size<i32, Logical>) -> Rectangle<i32, Logical> {
        LayerPlacement { size, margins: PerEdge::default(), ..*self }.place(place)
    }

    fn place(&self, bounds: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let LayerPlacement { size, anchors, margins, .. } = *self;
        let across = (bounds.loc.x, bounds.size.w);
        let along = (bounds.loc.y, bounds.size.h);
        let (x, width) = side(across, size.w, (anchors.left, margins.left), (anchors.right, margins.right));
        let (y, height) = side(along, size.h, (anchors.top, margins.top), (anchors.bottom, margins.bottom));
        Rectangle::new(Point::from((x, y)), Size::from((width, height)))
    }
}

/// Start and length of one side of a surface in the range given by `start` and `length`. `near` and `far` say for each
/// edge whether the surface is anchored to it, and its margin.
fn side((start, length): (i32, i32), wanted: i32, near: (bool, i32), far: (bool, i32)) -> (i32, i32) {
    let margin = |(is_anchored, margin)| if is_anchored { margin } else { 0 };
    let (before, after) = (margin(near), margin(far));
    let room = length - before - after;
    let size = if wanted == 0 { room.max(1) } else { wanted };
    let offset = match (near.0, far.0) {
        (true, false) => before,
        (false, true) => length - after - size,
        _ => before + (room - size) / 2,
    };
    (start + offset, size)
}

/// Placement of all layer surfaces of one output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerArrangement {
    /// One place per surface, in the same order (global logical coordinates).
    pub places: Vec<Rectangle<i32, Logical>>,
    /// The area that is left for windows.
    pub usable: Rectangle<i32, Logical>,
}

/// Places layer surfaces on an output at `area`. `placements` are in order of creation. Zones only count for surfaces
/// that are shown (`true`).
pub fn arrange(area: Rectangle<i32, Logical>, placements: &[(LayerPlacement, bool)]) -> LayerArrangement {
    let mut usable = area;
    let mut places = vec![Rectangle::default(); placements.len()];
    let mut order: Vec<usize> = (0..placements.len()).collect();
    // Surfaces with a zone before all other surfaces, the highest layer first.
    order.sort_by_key(|index| {
        (placements[*index].0.exclusive_zone().is_none(), std::cmp::Reverse(placements[*index].0.level))
    });
    for index in order {
        let (placement, is_shown) = &placements[index];
        places[index] = placement.place(if placement.zone == Zone::DontCare { area } else { usable });
        if let (Some((edge, depth)), true) = (placement.exclusive_zone(), *is_shown) {
            usable = without(usable, edge, depth, area.size);
        }
    }
    LayerArrangement { places, usable }
}

/// `usable` without a strip of `depth` at one edge, but never less than 1/`LEAST_SHARE` of the output's size `whole`.
fn without(
    mut usable: Rectangle<i32, Logical>,
    edge: LayerEdge,
    depth: i32,
    whole: Size<i32, Logical>,
) -> Rectangle<i32, Logical> {
    let spare = |left: i32, whole: i32| (left - (whole / LEAST_SHARE).max(1)).max(0);
    match edge {
        LayerEdge::Top | LayerEdge::Bottom => {
            let depth = depth.min(spare(usable.size.h, whole.h));
            usable.size.h -= depth;
            usable.loc.y += if edge == LayerEdge::Top { depth } else { 0 };
        }
        LayerEdge::Left | LayerEdge::Right => {
            let depth = depth.min(spare(usable.size.w, whole.w));
            usable.size.w -= depth;
            usable.loc.x += if edge == LayerEdge::Left { depth } else { 0 };
        }
    }
    usable
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use smithay::wayland::shell::wlr_layer::{KeyboardInteractivity, Margins};

    const SCREEN: (i32, i32) = (1280, 720);

    fn screen() -> Rectangle<i32, Logical> {
        Rectangle::from_size(SCREEN.into())
    }

    fn rect(x: i32, y: i32, width: i32, height: i32) -> Rectangle<i32, Logical> {
        Rectangle::new((x, y).into(), (width, height).into())
    }

    /// `edges` has the first letters of the anchored edges.
    fn placement(level: LayerDepth, edges: &str, size: (i32, i32), zone: Zone) -> LayerPlacement {
        let on = |letter| edges.contains(letter);
        let anchors = PerEdge { top: on('t'), right: on('r'), bottom: on('b'), left: on('l') };
        LayerPlacement { level, size: size.into(), anchors, margins: PerEdge::default(), zone }
    }

    fn shown(placements: &[LayerPlacement]) -> LayerArrangement {
        arrange(screen(), &placements.iter().map(|placement| (*placement, true)).collect::<Vec<_>>())
    }

    #[test]
    fn a_bar_a_dock_and_a_wallpaper_share_the_screen() {
        let placed = shown(&[
            placement(LayerDepth::Background, "tlbr", (0, 0), Zone::DontCare),
            placement(LayerDepth::Bottom, "tbl", (50, 0), Zone::Exclusive(50)),
            placement(LayerDepth::Top, "tlr", (0, 30), Zone::Exclusive(30)),
            placement(LayerDepth::Top, "tr", (200, 80), Zone::Neutral),
            placement(LayerDepth::Overlay, "", (400, 100), Zone::Neutral),
        ]);
        assert_eq!(placed.usable, rect(50, 30, 1230, 690));
        assert_eq!(placed.places[0], screen());
        assert_eq!(placed.places[1], rect(0, 30, 50, 690), "below the bar: that is in a higher layer");
        assert_eq!(placed.places[2], rect(0, 0, 1280, 30));
        assert_eq!(placed.places[3], rect(1080, 30, 200, 80));
        assert_eq!(placed.places[4], rect(50 + (1230 - 400) / 2, 30 + (690 - 100) / 2, 400, 100));
    }

    #[test]
    fn margins_count_at_anchored_edges_and_add_to_the_zone() {
        let margins = PerEdge { top: 5, right: 7, bottom: 11, left: 13 };
        let bar = LayerPlacement { margins, ..placement(LayerDepth::Top, "tlr", (0, 30), Zone::Exclusive(30)) };
        let placed =
            shown(&[bar, LayerPlacement { margins, ..placement(LayerDepth::Top, "b", (100, 20), Zone::Neutral) }]);
        assert_eq!(placed.places[0], rect(13, 5, 1280 - 13 - 7, 30));
        assert_eq!(placed.usable, rect(0, 35, 1280, 685));
        assert_eq!(placed.places[1], rect(590, 720 - 11 - 20, 100, 20));
    }

    #[test]
    fn a_zone_counts_only_at_one_edge_and_only_of_what_is_shown() {
        for edges in ["", "tl", "lr", "tb", "tlbr"] {
            let placed = shown(&[placement(LayerDepth::Top, edges, (100, 100), Zone::Exclusive(100))]);
            assert_eq!(placed.usable, screen(), "{edges}");
        }
        let hidden = [(placement(LayerDepth::Top, "t", (100, 100), Zone::Exclusive(100)), false)];
        assert_eq!(arrange(screen(), &hidden).usable, screen());
    }

    #[test]
    fn excessive_zone_leaves_windows_a_share() {
        let greedy = placement(LayerDepth::Top, "t", (100, 100), Zone::Exclusive(i32::MAX / 4));
        let placed = shown(&[greedy, greedy, placement(LayerDepth::Top, "l", (9, 9), Zone::Exclusive(MAX_EXTENT))]);
        assert_eq!(placed.usable, rect(1280 - 320, 720 - 180, 320, 180));
    }

    #[test]
    fn content_of_another_size_stays_at_the_edges_that_it_is_anchored_to() {
        let place = rect(100, 600, 400, 100);
        let aligned = |edges, size: (i32, i32)| {
            placement(LayerDepth::Top, edges, (0, 0), Zone::Neutral).align(place, size.into())
        };
        assert_eq!(aligned("blr", (400, 60)), rect(100, 640, 400, 60));
        assert_eq!(aligned("tr", (300, 100)), rect(200, 600, 300, 100));
        assert_eq!(aligned("", (200, 50)), rect(200, 625, 200, 50));
    }

    /// Any state that a client can send.
    fn client_state() -> impl Strategy<Value = LayerSurfaceCachedState> {
        let layer = prop_oneof![Just(Layer::Background), Just(Layer::Bottom), Just(Layer::Top), Just(Layer::Overlay)];
        // Small numbers, and numbers that overflow.
        let number = || prop_oneof![-50..2_000_i32, any::<i32>()];
        let margins = (number(), number(), number(), number());
        (layer, 0..16_u32, number(), number(), number(), margins).prop_map(
            |(layer, anchor, width, height, zone, margins)| {
                let (top, right, bottom, left) = margins;
                LayerSurfaceCachedState {
                    size: Size::from((width.saturating_abs(), height.saturating_abs())),
                    anchor: Anchor::from_bits_truncate(anchor),
                    exclusive_zone: zone.into(),
                    margin: Margins { top, right, bottom, left },
                    keyboard_interactivity: KeyboardInteractivity::None,
                    layer,
                }
            },
        )
    }

    proptest! {
        /// In a debug build an overflow panics, so this also tests for overflows.
        #[test]
        fn windows_keep_a_share_for_any_client_state(
            states in prop::collection::vec((client_state(), any::<bool>()), 0..20),
            at in (-MAX_EXTENT..MAX_EXTENT, -MAX_EXTENT..MAX_EXTENT),
            size in (1..20_000_i32, 1..20_000_i32),
        ) {
            let area = rect(at.0, at.1, size.0, size.1);
            let placements = states.iter().map(|(state, is_shown)| (LayerPlacement::from(state), *is_shown));
            let placements: Vec<_> = placements.collect();
            let LayerArrangement { places, usable } = arrange(area, &placements);
            prop_assert!(area.contains_rect(usable), "{usable:?} in {area:?}");
            prop_assert!(usable.size.w >= (size.0 / LEAST_SHARE).max(1) && usable.size.h >= (size.1 / LEAST_SHARE).max(1));
            for (place, (placement, _)) in places.iter().zip(&placements) {
                prop_assert!(place.size.w >= 1 && place.size.h >= 1);
                prop_assert!(placement.size.w == 0 || place.size.w == placement.size.w, "what was asked for is given");
                // Sums with other places, as in hit tests, must not overflow either.
                prop_assert!(place.loc.x.abs() < 1 << 22 && place.loc.y.abs() < 1 << 22);
                placement.align(*place, Size::from((MAX_EXTENT, 1)));
            }
        }

        #[test]
        fn zones_that_fit_keep_their_surfaces_clear_of_windows_and_of_each_other(
            bars in prop::collection::vec((0..4_usize, 1..40_i32, 0..4_u8), 0..6),
        ) {
            let bars: Vec<LayerPlacement> = bars.into_iter().map(|(edge, depth, level)| {
                let level = [LayerDepth::Background, LayerDepth::Bottom, LayerDepth::Top, LayerDepth::Overlay][usize::from(level)];
                let (edges, size) = [("tlr", (0, depth)), ("blr", (0, depth)), ("ltb", (depth, 0)), ("rtb", (depth, 0))][edge];
                placement(level, edges, size, Zone::Exclusive(depth))
            }).collect();
            let LayerArrangement { places, usable } = shown(&bars);
            for (index, place) in places.iter().enumerate() {
                prop_assert!(!place.overlaps(usable));
                prop_assert!(places[..index].iter().all(|other| !other.overlaps(*place)));
            }
            let covered: i32 = places.iter().map(|place| place.size.w * place.size.h).sum();
            prop_assert_eq!(covered + usable.size.w * usable.size.h, SCREEN.0 * SCREEN.1, "nothing is lost");
        }
    }
}
