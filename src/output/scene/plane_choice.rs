//! Chooses the layers of a scene that may go onto planes, and the order in which they are tried. Pure: rectangles in,
//! indices out.
//!
//! A plane lies above the composed picture, so it may show only the part of a layer with no composed layer above it:
//!
//! ```text
//!    topmost  0 ┌────┐            goes: nothing above
//!             1 └┬───┴─┐          0 hides a corner of it: goes only onto a plane that is stacked below the plane of 0
//!             2  └─────┘  ┌────┐  goes
//!             3           ├────┤  0 to 2 hide its upper part, and the rest is a rectangle: this rectangle goes, even if
//!                         └────┘  2 is composed
//!             4 ┌───────────────┐ fills the screen: the primary plane shows it if 0 to 3 are all on planes
//! ```

use smithay::utils::{Physical, Rectangle, Size};

use crate::backend::Capabilities;

/// The properties of a layer that decide about planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneCandidate {
    pub target: Rectangle<i32, Physical>,
    /// A plane can show it: a client buffer that is not faded, clipped or transformed.
    pub plain: bool,
    /// Nothing below it is visible through it.
    pub opaque: bool,
}

/// Why a layer is composed instead of shown by an overlay plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneRefusal {
    /// Planes for clients' buffers are switched off.
    Policy,
    /// The display has no plane left.
    NoPlane,
    /// No plane can read its buffer.
    Buffer,
    /// It is translucent, clipped, or turned.
    Appearance,
    /// Something that is composed, or on a plane without a known order, lies above it.
    Covered,
    /// The driver refuses it.
    Refused,
}

/// A composed part of the scene that is not a layer: a shadow, a blur, a cursor without a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComposedArea {
    pub target: Rectangle<i32, Physical>,
    /// Number of layers above it.
    pub depth: usize,
}

/// The planes of a display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AvailablePlanes {
    /// Number of overlay planes.
    pub overlays: usize,
    /// Whether overlay planes have a known order, so that their contents may overlap.
    pub stacked: bool,
    /// Whether overlay planes blend translucent buffers.
    pub translucent: bool,
    /// Whether the primary plane can scan out client buffers.
    pub direct: bool,
}

impl AvailablePlanes {
    pub const fn of(capabilities: &Capabilities) -> Self {
        AvailablePlanes {
            overlays: capabilities.overlay_planes as usize,
            stacked: capabilities.stacked_overlays,
            translucent: capabilities.translucent_overlays,
            direct: capabilities.direct_scanout,
        }
    }
}

/// The layers and other parts of a scene.
#[derive(Clone, Copy, Debug)]
pub struct PlaneScene<'a> {
    /// Topmost first.
    pub layers: &'a [PlaneCandidate],
    pub over: &'a [ComposedArea],
    pub screen: Size<i32, Physical>,
}

impl PlaneScene<'_> {
    /// The part of layer `index` that an overlay plane may show, or why it must be composed. `on_overlays`: the layers
    /// that are on overlay planes; only those above it matter.
    pub fn overlay_part(
        &self,
        index: usize,
        on_overlays: &[usize],
        offer: AvailablePlanes,
    ) -> Result<Rectangle<i32, Physical>, PlaneRefusal> {
        let part = self.visible_part(index, offer)?;
        let is_stacked = |layer: usize| offer.stacked && on_overlays.contains(&layer);
        let is_hidden = self.above(index, part).any(|layer| !is_stacked(layer));
        if is_hidden { Err(PlaneRefusal::Covered) } else { Ok(part) }
    }

    /// Adds layer `index` to the layers `on_overlays`, with all layers that then need a plane, too, because they lie above
    /// it. Returns false if that is not possible; `on_overlays` is then of no use.
    pub fn add_overlay(&self, index: usize, on_overlays: &mut Vec<usize>, offer: AvailablePlanes) -> bool {
        if on_overlays.contains(&index) {
            return true;
        }
        let Ok(part) = self.visible_part(index, offer) else { return false };
        on_overlays.push(index);
        on_overlays.len() <= offer.overlays
            && self.above(index, part).all(|layer| offer.stacked && self.add_overlay(layer, on_overlays, offer))
    }

    /// The layers that may go onto planes, in the order in which they are tried: the layer with the largest visible part
    /// first, since it costs the most to compose, and of equal layers the topmost.
    pub fn by_size(&self, offer: AvailablePlanes) -> Vec<usize> {
        let screen = Rectangle::from_size(self.screen);
        let size = |index: usize| {
            let Size { w, h, .. } = self.visible_part(index, offer).ok()?.intersection(screen)?.size;
            Some((index, i64::from(w) * i64::from(h)))
        };
        let mut sizes: Vec<(usize, i64)> = (0..self.layers.len()).filter_map(size).collect();
        sizes.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        sizes.into_iter().map(|(index, _)| index).collect()
    }

    /// The rectangle of layer `index` that is not hidden by opaque layers; the whole layer if it is not a rectangle.
    fn visible_part(&self, index: usize, offer: AvailablePlanes) -> Result<Rectangle<i32, Physical>, PlaneRefusal> {
        let candidate = self.layers[index];
        match candidate {
            PlaneCandidate { plain: false, .. } => return Err(PlaneRefusal::Buffer),
            PlaneCandidate { opaque: false, .. } if !offer.translucent => return Err(PlaneRefusal::Appearance),
            PlaneCandidate { .. } => {}
        }
        let mut part = candidate.target;
        for hiding in self.layers[..index].iter().filter(|layer| layer.opaque) {
            part = cut(part, hiding.target).ok_or(PlaneRefusal::Covered)?;
        }
        let is_shaded = self.over.iter().any(|over| over.depth <= index && over.target.overlaps(part));
        if is_shaded { Err(PlaneRefusal::Covered) } else { Ok(part) }
    }

    /// The layers above layer `index` that overlap `part` of it.
    fn above(&self, index: usize, part: Rectangle<i32, Physical>) -> impl Iterator<Item = usize> {
        let above = self.layers[..index].iter().enumerate();
        above.filter(move |(_, layer)| layer.target.overlaps(part)).map(|(layer, _)| layer)
    }

    /// The layer that the primary plane may scan out directly, if the layers `on_overlays` are not composed.
    pub fn direct_candidate(&self, on_overlays: &[usize]) -> Option<usize> {
        let mut composed = (0..self.layers.len()).filter(|index| !on_overlays.contains(index));
        let (only, more) = (composed.next()?, composed.next());
        let candidate = self.layers[only];
        let whole = candidate.target == Rectangle::from_size(self.screen);
        // It hides every effect below it.
        let alone = more.is_none() && self.over.iter().all(|over| over.depth > only);
        (candidate.plain && candidate.opaque && whole && alone).then_some(only)
    }
}

/// The rest of `part` beside `hiding`, if the rest is a rectangle, otherwise all of `part`. `None`: nothing is left.
fn cut(part: Rectangle<i32, Physical>, hiding: Rectangle<i32, Physical>) -> Option<Rectangle<i32, Physical>> {
    if !part.overlaps(hiding) {
        return Some(part);
    }
    let left = part.subtract_rect(hiding);
    match left[..] {
        [] => None,
        [rest] => Some(rest),
        _ => Some(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: (i32, i32) = (1000, 600);
    const UNORDERED: AvailablePlanes =
        AvailablePlanes { overlays: 4, stacked: false, translucent: false, direct: true };
    const STACKED: AvailablePlanes = AvailablePlanes { stacked: true, translucent: true, ..UNORDERED };

    fn rect(x: i32, y: i32, width: i32, height: i32) -> Rectangle<i32, Physical> {
        Rectangle::new((x, y).into(), (width, height).into())
    }

    fn look(x: i32, y: i32, width: i32, height: i32) -> PlaneCandidate {
        PlaneCandidate { target: rect(x, y, width, height), plain: true, opaque: true }
    }

    const fn composed(layer: PlaneCandidate) -> PlaneCandidate {
        PlaneCandidate { plain: false, ..layer }
    }

    const fn translucent(layer: PlaneCandidate) -> PlaneCandidate {
        PlaneCandidate { opaque: false, ..layer }
    }

    fn scene<'a>(layers: &'a [PlaneCandidate], over: &'a [ComposedArea]) -> PlaneScene<'a> {
        PlaneScene { layers, over, screen: SCREEN.into() }
    }

    /// The layers that go onto overlays of a display that accepts them all, and their parts; topmost first.
    fn parts(
        layers: &[PlaneCandidate],
        over: &[ComposedArea],
        offer: AvailablePlanes,
    ) -> Vec<(usize, Rectangle<i32, Physical>)> {
        let scene = scene(layers, over);
        let mut chosen = Vec::new();
        for index in scene.by_size(offer) {
            let mut with = chosen.clone();
            if scene.add_overlay(index, &mut with, offer) {
                chosen = with;
            }
        }
        chosen.sort_unstable();
        let part = |index: &usize| (*index, scene.overlay_part(*index, &chosen, offer).unwrap());
        chosen.iter().map(part).collect()
    }

    fn overlays(layers: &[PlaneCandidate], over: &[ComposedArea]) -> Vec<usize> {
        parts(layers, over, UNORDERED).into_iter().map(|(index, _)| index).collect()
    }

    #[test]
    fn a_window_goes_onto_an_overlay_unless_something_lies_above_it() {
        let layers = [look(0, 0, 100, 100), look(50, 50, 100, 100), look(300, 0, 100, 100)];
        assert_eq!(overlays(&layers, &[]), [0, 2]);
    }

    #[test]
    fn composed_layer_keeps_layers_below_it_composed() {
        let above = translucent(composed(look(0, 0, 100, 100)));
        assert_eq!(overlays(&[above, look(50, 50, 100, 100)], &[]), [] as [usize; 0]);
        assert_eq!(overlays(&[above, look(100, 0, 100, 100)], &[]), [1]);
    }

    #[test]
    fn the_rectangle_below_a_composed_header_goes_onto_an_overlay() {
        let (header, footer) = (composed(look(0, 0, 400, 50)), composed(look(0, 550, 400, 50)));
        let document = look(0, 0, 400, 600);
        assert_eq!(parts(&[header, footer, document], &[], UNORDERED), [(2, rect(0, 50, 400, 500))]);
        // The picture below a translucent header is composed with it.
        assert_eq!(parts(&[translucent(header), document], &[], UNORDERED), []);
        // A button in the middle of the document leaves no rectangle.
        assert_eq!(parts(&[composed(look(100, 100, 50, 50)), document], &[], UNORDERED), []);
    }

    #[test]
    fn stacked_overlays_may_overlap() {
        let (thumb, document) = (translucent(look(390, 200, 8, 50)), look(0, 0, 400, 600));
        assert_eq!(parts(&[thumb, document], &[], STACKED), [(0, thumb.target), (1, document.target)]);
        let unordered = AvailablePlanes { stacked: false, ..STACKED };
        assert_eq!(parts(&[thumb, document], &[], unordered), [(0, thumb.target)]);
        assert_eq!(parts(&[composed(thumb), document], &[], STACKED), []);
        let opaque_only = AvailablePlanes { translucent: false, ..STACKED };
        assert_eq!(parts(&[thumb, document], &[], opaque_only), []);
        let one = AvailablePlanes { overlays: 1, ..STACKED };
        assert_eq!(parts(&[thumb, document], &[], one), [(0, thumb.target)], "the document needs two");
    }

    #[test]
    fn large_layer_gets_the_only_plane() {
        let (header, document) = (look(0, 0, 400, 50), look(0, 0, 400, 600));
        let one = AvailablePlanes { overlays: 1, ..STACKED };
        assert_eq!(parts(&[header, document], &[], one), [(1, rect(0, 50, 400, 550))]);
    }

    #[test]
    fn shadow_keeps_layers_below_it_composed_but_not_its_window() {
        let layers = [look(100, 100, 100, 100), look(190, 100, 100, 100)];
        let shadow = ComposedArea { target: Rectangle::new((80, 80).into(), (140, 140).into()), depth: 1 };
        let apart = [layers[0], look(205, 100, 100, 100)];
        assert_eq!(overlays(&apart, &[shadow]), [0], "the second lies in the shadow of the first");
        let below_both = ComposedArea { depth: 2, ..shadow };
        assert_eq!(
            parts(&layers, &[below_both], UNORDERED),
            [(0, layers[0].target), (1, rect(200, 100, 90, 100))],
            "a shadow below both covers neither"
        );
    }

    #[test]
    fn drawn_cursor_keeps_the_layer_below_it_composed() {
        let cursor = ComposedArea { target: Rectangle::new((10, 10).into(), (24, 24).into()), depth: 0 };
        assert_eq!(overlays(&[look(0, 0, 100, 100), look(300, 0, 100, 100)], &[cursor]), [1]);
        assert_eq!(scene(&[look(0, 0, SCREEN.0, SCREEN.1)], &[cursor]).direct_candidate(&[]), None);
    }

    #[test]
    fn a_buffer_that_fills_the_screen_is_scanned_out_alone_or_below_overlays() {
        let full = look(0, 0, SCREEN.0, SCREEN.1);
        assert_eq!(scene(&[full], &[]).direct_candidate(&[]), Some(0));
        let layers = [look(10, 10, 50, 50), full];
        assert_eq!(scene(&layers, &[]).direct_candidate(&[]), None, "the small one is composed");
        assert_eq!(scene(&layers, &[]).direct_candidate(&[0]), Some(1));
        let below = ComposedArea { target: full.target, depth: 2 };
        assert_eq!(scene(&layers, &[below]).direct_candidate(&[0]), Some(1), "the effect below is hidden");
    }

    #[test]
    fn a_buffer_that_leaves_a_border_is_not_scanned_out() {
        let layers = [look(0, 0, SCREEN.0, SCREEN.1 - 1)];
        assert_eq!(scene(&layers, &[]).direct_candidate(&[]), None);
        assert_eq!(scene(&[], &[]).direct_candidate(&[]), None);
        let full = look(0, 0, SCREEN.0, SCREEN.1);
        assert_eq!(scene(&[composed(full)], &[]).direct_candidate(&[]), None);
        assert_eq!(scene(&[translucent(full)], &[]).direct_candidate(&[]), None);
    }
}
