//! Chooses the layers of a scene that may go onto planes, and the order in which they are tried. Pure: rectangles in,
//! indices out.
//!
//! A plane lies above the composed picture, so a layer can go onto a plane only if no composed layer lies above it:
//!
//! ```text
//!    topmost  0 ┌────┐            goes: nothing above
//!             1 └┬───┴─┐          stays: 0 lies above, and the stacking of overlay planes must not matter
//!             2  └─────┘  ┌────┐  goes
//!             3 ┌───────────────┐ fills the screen: the primary plane shows it if 0 to 2 are all on planes
//! ```

use smithay::utils::{Physical, Rectangle, Size};

/// The properties of a layer that decide about planes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneCandidate {
    pub target: Rectangle<i32, Physical>,
    /// A plane can show it: an opaque client buffer in device memory, not faded, clipped or transformed.
    pub plain: bool,
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
    /// Whether the primary plane can scan out client buffers.
    pub direct: bool,
}

/// Indices of the layers that may go onto overlay planes. `layers` and the result are topmost first.
pub fn overlay_candidates<'a>(
    layers: &'a [PlaneCandidate],
    over: &'a [ComposedArea],
) -> impl Iterator<Item = usize> + 'a {
    layers
        .iter()
        .enumerate()
        .filter(move |(index, look)| {
            let hidden = layers[..*index].iter().any(|above| above.target.overlaps(look.target));
            let shaded = over.iter().any(|over| over.depth <= *index && over.target.overlaps(look.target));
            look.plain && !hidden && !shaded
        })
        .map(|(index, _)| index)
}

/// The layer that the primary plane may scan out directly, if the layers `on_overlays` are not composed.
pub fn direct_candidate(
    layers: &[PlaneCandidate],
    over: &[ComposedArea],
    on_overlays: &[usize],
    screen: Size<i32, Physical>,
) -> Option<usize> {
    let mut composed = (0..layers.len()).filter(|index| !on_overlays.contains(index));
    let (only, more) = (composed.next()?, composed.next());
    let look = layers[only];
    let whole = look.target == Rectangle::from_size(screen);
    // It hides every effect below it.
    let alone = more.is_none() && over.iter().all(|over| over.depth > only);
    (look.plain && whole && alone).then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: (i32, i32) = (1000, 600);

    fn look(x: i32, y: i32, width: i32, height: i32) -> PlaneCandidate {
        PlaneCandidate { target: Rectangle::new((x, y).into(), (width, height).into()), plain: true }
    }

    fn overlays(layers: &[PlaneCandidate], over: &[ComposedArea]) -> Vec<usize> {
        overlay_candidates(layers, over).collect()
    }

    #[test]
    fn a_window_goes_onto_an_overlay_unless_something_lies_above_it() {
        let layers = [look(0, 0, 100, 100), look(50, 50, 100, 100), look(300, 0, 100, 100)];
        assert_eq!(overlays(&layers, &[]), [0, 2]);
    }

    #[test]
    fn composed_layer_keeps_layers_below_it_composed() {
        let translucent = PlaneCandidate { plain: false, ..look(0, 0, 100, 100) };
        assert_eq!(overlays(&[translucent, look(50, 50, 100, 100)], &[]), [] as [usize; 0]);
        assert_eq!(overlays(&[translucent, look(100, 0, 100, 100)], &[]), [1]);
    }

    #[test]
    fn shadow_keeps_layers_below_it_composed_but_not_its_window() {
        let layers = [look(100, 100, 100, 100), look(190, 100, 100, 100)];
        let shadow = ComposedArea { target: Rectangle::new((80, 80).into(), (140, 140).into()), depth: 1 };
        let apart = [layers[0], look(205, 100, 100, 100)];
        assert_eq!(overlays(&apart, &[shadow]), [0], "the second lies in the shadow of the first");
        assert_eq!(
            overlays(&layers, &[ComposedArea { depth: 2, ..shadow }]),
            [0],
            "a shadow below both covers neither"
        );
    }

    #[test]
    fn drawn_cursor_keeps_the_layer_below_it_composed() {
        let cursor = ComposedArea { target: Rectangle::new((10, 10).into(), (24, 24).into()), depth: 0 };
        assert_eq!(overlays(&[look(0, 0, 100, 100), look(300, 0, 100, 100)], &[cursor]), [1]);
        assert_eq!(direct_candidate(&[look(0, 0, SCREEN.0, SCREEN.1)], &[cursor], &[], SCREEN.into()), None);
    }

    #[test]
    fn a_buffer_that_fills_the_screen_is_scanned_out_alone_or_below_overlays() {
        let full = look(0, 0, SCREEN.0, SCREEN.1);
        assert_eq!(direct_candidate(&[full], &[], &[], SCREEN.into()), Some(0));
        let layers = [look(10, 10, 50, 50), full];
        assert_eq!(direct_candidate(&layers, &[], &[], SCREEN.into()), None, "the small one is composed");
        assert_eq!(direct_candidate(&layers, &[], &[0], SCREEN.into()), Some(1));
        let below = ComposedArea { target: full.target, depth: 2 };
        assert_eq!(direct_candidate(&layers, &[below], &[0], SCREEN.into()), Some(1), "the effect below is hidden");
    }

    #[test]
    fn a_buffer_that_leaves_a_border_is_not_scanned_out() {
        let layers = [look(0, 0, SCREEN.0, SCREEN.1 - 1)];
        assert_eq!(direct_candidate(&layers, &[], &[], SCREEN.into()), None);
        assert_eq!(direct_candidate(&[], &[], &[], SCREEN.into()), None);
        let faded = PlaneCandidate { plain: false, ..look(0, 0, SCREEN.0, SCREEN.1) };
        assert_eq!(direct_candidate(&[faded], &[], &[], SCREEN.into()), None);
    }
}
