//! The region behind a surface that is drawn blurred (`ext_background_effect_v1`): double-buffered state.

use std::sync::Arc;

use smithay::backend::renderer::element::Id;
use smithay::reexports::wayland_server::DisplayHandle;
use smithay::utils::{Logical, Rectangle};
use smithay::wayland::compositor::{Cacheable, RectangleKind, RegionAttributes};

/// Rectangles of a region that are blurred separately. A region with more of them is replaced by its bounding box,
/// because each rectangle costs several render passes over its area.
pub const MOST_BLURRED: usize = 16;

/// Rectangles in surface coordinates, each with the element id that damage tracking uses.
pub type BlurRects = Arc<[(Id, Rectangle<i32, Logical>)]>;

/// The effects on the background behind a surface.
#[derive(Clone, Debug, Default)]
pub struct BackgroundEffects {
    /// The blurred region; `None` without blur.
    pub blurred: Option<BlurRects>,
}

impl PartialEq for BackgroundEffects {
    /// Compares the allocation: a region that is set again has new element ids, so it differs.
    fn eq(&self, other: &Self) -> bool {
        match (&self.blurred, &other.blurred) {
            (Some(these), Some(those)) => Arc::ptr_eq(these, those),
            (these, those) => these.is_none() && those.is_none(),
        }
    }
}

impl BackgroundEffects {
    pub fn blurred_in(region: &RegionAttributes) -> Self {
        let mut rects: Vec<Rectangle<i32, Logical>> = Vec::new();
        for (kind, rect) in &region.rects {
            // The rectangles must not overlap: an area that is blurred twice looks different.
            let rest = Rectangle::subtract_rects_many_in_place(std::mem::take(&mut rects), [*rect]);
            rects = rest;
            if matches!(kind, RectangleKind::Add) && !rect.is_empty() {
                rects.push(*rect);
            }
        }
        if rects.len() > MOST_BLURRED {
            rects = rects.into_iter().reduce(Rectangle::merge).into_iter().collect();
        }
        let named: BlurRects = rects.into_iter().map(|rect| (Id::new(), rect)).collect();
        BackgroundEffects { blurred: (!named.is_empty()).then_some(named) }
    }
}

impl Cacheable for BackgroundEffects {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        self.clone()
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rects() -> impl Strategy<Value = Vec<(RectangleKind, Rectangle<i32, Logical>)>> {
        let kind = prop_oneof![3 => Just(RectangleKind::Add), 1 => Just(RectangleKind::Subtract)];
        let rect = (0..40, 0..40, 1..20, 1..20).prop_map(|(x, y, w, h)| Rectangle::new((x, y).into(), (w, h).into()));
        prop::collection::vec((kind, rect), 0..40)
    }

    proptest! {
        #[test]
        fn every_point_of_the_region_is_blurred_once(rects in rects()) {
            let region = RegionAttributes { rects };
            let blurred = BackgroundEffects::blurred_in(&region).blurred;
            let blurred: Vec<_> = blurred.iter().flat_map(|all| all.iter()).map(|(_, rect)| *rect).collect();
            prop_assert!(blurred.len() <= MOST_BLURRED);
            for point in (0..60).flat_map(|x| (0..60).map(move |y| (x, y))) {
                let times = blurred.iter().filter(|rect| rect.contains(point)).count();
                prop_assert!(times <= 1, "{:?} is blurred {} times", point, times);
                // With too many rectangles the blurred region is the bounding box.
                prop_assert!(!region.contains(point) || times == 1, "{:?}", point);
                prop_assert!(blurred.len() <= 1 || region.contains(point) == (times == 1), "{:?}", point);
            }
        }
    }
}
