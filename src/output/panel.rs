//! Maps points between the output as the user sees it and its panel, which may be rotated or reflected.

use smithay::output::Output;
use smithay::utils::{Logical, Physical, Point, Size};

use super::{OutputState, geometry};
use crate::output_transform::OutputTransform;

/// Points at the edge of the panel are moved inside by this many physical pixels: the smallest step of `wl_fixed`.
const EDGE: f64 = 1.0 / 256.0;

/// Rotation and reflection of the output's content on its panel.
pub fn turn_of(output: &Output) -> OutputTransform {
    OutputTransform::from(output.current_transform())
}

/// Maps a point of the panel to global logical coordinates. `share`: distance from the left and top edges, as fractions
/// of the panel's width and height. For devices that are a part of the panel, such as touchscreens.
pub fn place_on_panel(output: &Output, share: (f64, f64)) -> Point<f64, Logical> {
    let panel = panel_size(output).to_f64();
    place_of_pixel(output, Point::from((share.0 * panel.w, share.1 * panel.h)))
}

/// Maps a pixel of the panel to global logical coordinates. Pixels stay exact, whereas fractions would be rounded.
pub fn place_of_pixel(output: &Output, pixel: Point<f64, Physical>) -> Point<f64, Logical> {
    let seen = seen_size(output).to_f64();
    let place = turn_of(output).inverse().point(pixel, panel_size(output).to_f64());
    let inside = |place: f64, side: f64| place.min(side - EDGE).max(0.0);
    let place = Point::<f64, Physical>::from((inside(place.x, seen.w), inside(place.y, seen.h)));
    geometry(output).loc.to_f64() + place.to_logical(output.current_scale().fractional_scale())
}

/// Size of the panel in physical pixels, in its own orientation.
fn panel_size(output: &Output) -> Size<i32, Physical> {
    output.current_mode().map(|mode| mode.size).unwrap_or_default()
}

/// Size of the output in physical pixels, as the user sees it.
pub(super) fn seen_size(output: &Output) -> Size<i32, Physical> {
    turn_of(output).inverse().size(panel_size(output))
}

impl OutputState {
    /// Size of the output in physical pixels, as the user sees it.
    pub(super) fn seen_size(&self) -> Size<i32, Physical> {
        let mode = self.display.mode();
        turn_of(&self.output).inverse().size(Size::from((mode.width, mode.height)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use smithay::output::{Mode, PhysicalProperties, Scale, Subpixel};
    use upbeat_timing::beam::ScanDirection;

    fn output(turn: OutputTransform, scale: f64) -> Output {
        let physical = PhysicalProperties {
            size: (0, 0).into(),
            subpixel: Subpixel::Unknown,
            make: String::new(),
            model: String::new(),
        };
        let output = Output::new("test".to_owned(), physical);
        let mode = Mode { size: (1200, 900).into(), refresh: 60_000 };
        output.change_current_state(
            Some(mode),
            Some(turn.into()),
            Some(Scale::Fractional(scale)),
            Some((100, 50).into()),
        );
        output
    }

    proptest! {
        #[test]
        fn finger_maps_to_the_point_shown_under_it(
            turn in prop::sample::select(OutputTransform::ALL.to_vec()),
            scale in prop::sample::select(vec![1.0, 1.5, 2.0]),
            x in 0..1200_i32,
            y in 0..900_i32,
        ) {
            let output = output(turn, scale);
            let middle = |at: i32, side: f64| (f64::from(at) + 0.5) / side;
            let place = place_on_panel(&output, (middle(x, 1200.0), middle(y, 900.0)));
            prop_assert!(geometry(&output).to_f64().contains(place), "{:?}", place);
            // The pixel that the scene draws there must be the same pixel of the panel.
            let seen = (place - geometry(&output).loc.to_f64()).to_physical(scale);
            let drawn = turn.point(seen, seen_size(&output).to_f64());
            prop_assert!((drawn.x - f64::from(x) - 0.5).abs() < 1e-6 && (drawn.y - f64::from(y) - 0.5).abs() < 1e-6);
        }
    }

    #[test]
    fn a_finger_at_the_very_edge_is_on_the_output() {
        for turn in OutputTransform::ALL {
            for corner in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
                let output = output(turn, 1.5);
                let place = place_on_panel(&output, corner);
                assert!(geometry(&output).to_f64().contains(place), "{turn} {corner:?} {place:?}");
            }
        }
    }

    #[test]
    fn scan_order_follows_the_panels_orientation() {
        for turn in OutputTransform::ALL {
            let area = Size::<f64, Physical>::from((1.0, 1.0));
            let place = |y| turn.inverse().point(Point::from((0.5, y)), area);
            let way = place(1.0) - place(0.0);
            let direction = match (way.x, way.y) {
                (0.0, 1.0) => ScanDirection::Down,
                (0.0, -1.0) => ScanDirection::Up,
                (1.0, 0.0) => ScanDirection::Right,
                _ => ScanDirection::Left,
            };
            assert_eq!(ScanDirection::Down.turned(turn.is_mirrored(), turn.quarters()), direction, "{turn}");
        }
    }
}
