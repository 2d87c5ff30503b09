//! Limits the rectangles of opaque and input regions.
//!
//! Each rectangle is visited in every frame, often against all other rectangles, and a region is copied each time that
//! it is set. So a region keeps its first [`MOST_KEPT`] rectangles, and of later ones only their extent. An input
//! region is then replaced by the extent, so that no part of a window stops receiving input. An opaque region may
//! always be smaller than the real one: of more than [`MOST_OPAQUE`] rectangles the largest are kept.
//!
//! ```text
//!  add add subtract … add │ add add add             input:  the extent of all
//!  └──── kept ────────────┘ └── extent ──┘          opaque: of the kept ones, or less if a later one subtracts
//! ```

use ahash::HashMap;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_region::WlRegion;
use smithay::utils::{Logical, Rectangle};
use smithay::wayland::compositor::{RectangleKind, RegionAttributes};

/// Rectangles that a region keeps, added and subtracted: an oddly shaped window of an X program has hundreds.
pub const MOST_KEPT: u32 = 1_024;
/// Rectangles of an opaque region: a window with round corners has about ten.
pub const MOST_OPAQUE: usize = 64;

/// The number of rectangles of each `wl_region`, and the extent of those beyond the limit.
#[derive(Debug, Default)]
pub struct RegionLimits(HashMap<ObjectId, RegionCount>);

#[derive(Clone, Copy, Debug, Default)]
struct RegionCount {
    kept: u32,
    rest: Option<ExcessRects>,
}

/// The rectangles beyond the limit.
#[derive(Clone, Copy, Debug, Default)]
struct ExcessRects {
    /// The bounding box of the added rectangles.
    extent: Option<Rectangle<i32, Logical>>,
    /// A rectangle was subtracted.
    takes_away: bool,
}

impl RegionLimits {
    /// A rectangle is added to or subtracted from `region`. Returns whether the region keeps it.
    pub fn count_rect(&mut self, region: &WlRegion, kind: RectangleKind, rect: Rectangle<i32, Logical>) -> bool {
        let region = self.0.entry(region.id()).or_default();
        if region.kept < MOST_KEPT {
            region.kept += 1;
            return true;
        }
        let rest = region.rest.get_or_insert_default();
        match kind {
            RectangleKind::Add => rest.extent = Some(rest.extent.map_or(rect, |extent| extent.merge(rect))),
            RectangleKind::Subtract => rest.takes_away = true,
        }
        false
    }

    pub fn forget(&mut self, region: &WlRegion) {
        self.0.remove(&region.id());
    }

    fn rest(&self, region: &WlRegion) -> Option<ExcessRects> {
        self.0.get(&region.id())?.rest
    }

    /// The opaque region of a surface that was set from `region`, which keeps `kept`. `None`: empty.
    pub fn opaque(&self, region: &WlRegion, kept: RegionAttributes) -> Option<RegionAttributes> {
        let takes_away = self.rest(region).is_some_and(|rest| rest.takes_away);
        if takes_away { None } else { fewer(kept) }
    }

    /// The input region of a surface that was set from `region`, which keeps `kept`.
    pub fn input(&self, region: &WlRegion, kept: RegionAttributes) -> RegionAttributes {
        let Some(rest) = self.rest(region) else { return kept };
        let added = kept.rects.iter().filter(|(kind, _)| is_added(*kind)).map(|(_, rect)| *rect);
        let extent = added.chain(rest.extent).reduce(Rectangle::merge);
        RegionAttributes { rects: extent.map(|extent| (RectangleKind::Add, extent)).into_iter().collect() }
    }
}

/// A part of `region` with at most [`MOST_OPAQUE`] added rectangles.
fn fewer(mut region: RegionAttributes) -> Option<RegionAttributes> {
    if region.rects.len() <= MOST_OPAQUE {
        return Some(region);
    }
    let area = |rect: &Rectangle<i32, Logical>| i64::from(rect.size.w) * i64::from(rect.size.h);
    let mut areas: Vec<i64> =
        region.rects.iter().filter(|(kind, _)| is_added(*kind)).map(|(_, rect)| area(rect)).collect();
    if region.rects.len() - areas.len() > MOST_OPAQUE {
        return None;
    }
    areas.sort_unstable_by(|a, b| b.cmp(a));
    let least = areas.get(MOST_OPAQUE).copied().unwrap_or(0);
    // Rectangles as large as the first one left out are left out, too: without an added rectangle a region is only
    // smaller.
    region.rects.retain(|(kind, rect)| !is_added(*kind) || area(rect) > least);
    Some(region)
}

fn is_added(kind: RectangleKind) -> bool {
    matches!(kind, RectangleKind::Add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rects() -> impl Strategy<Value = Vec<(RectangleKind, Rectangle<i32, Logical>)>> {
        let kind = prop_oneof![9 => Just(RectangleKind::Add), 1 => Just(RectangleKind::Subtract)];
        let rect = (0..40, 0..40, 1..20, 1..20).prop_map(|(x, y, w, h)| Rectangle::new((x, y).into(), (w, h).into()));
        prop::collection::vec((kind, rect), 0..300)
    }

    proptest! {
        #[test]
        fn limited_opaque_region_lies_within_the_full_region(rects in rects()) {
            let all = RegionAttributes { rects };
            if let Some(few) = fewer(all.clone()) {
                prop_assert!(few.rects.len() <= 2 * MOST_OPAQUE);
                for point in (0..60).step_by(3).flat_map(|x| (0..60).step_by(2).map(move |y| (x, y))) {
                    prop_assert!(all.contains(point) || !few.contains(point));
                }
            }
        }
    }

    #[test]
    fn largest_rectangles_are_kept() {
        let rect = |side| (RectangleKind::Add, Rectangle::from_size((side, side).into()));
        let few = fewer(RegionAttributes { rects: (1..=200).map(rect).collect() }).unwrap();
        assert_eq!(few.rects.len(), MOST_OPAQUE);
        assert!(few.rects.iter().all(|(_, rect)| rect.size.w > 200 - MOST_OPAQUE as i32));
    }
}
