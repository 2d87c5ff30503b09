//! Decides how an output is turned for the orientation of the device. Pure.
//!
//! | orientation | this edge of the device points up | picture on the panel, anticlockwise |
//! |---|---|---|
//! | `normal` | top | `normal` |
//! | `left-up` | left | `90` |
//! | `bottom-up` | bottom | `180` |
//! | `right-up` | right | `270` |
//!
//! Names and meanings are those of iio-sensor-proxy. Mutter has the same table (`meta_orientation_to_transform`). To
//! bring its left edge up, the user turns the device clockwise, so the picture turns anticlockwise, as
//! `wl_output.transform` counts. The names of `sway output transform` count clockwise.

use crate::config::RotationOption;
use crate::output_transform::OutputTransform;

/// The edge of the device that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceOrientation {
    Normal,
    LeftUp,
    BottomUp,
    RightUp,
}

impl DeviceOrientation {
    pub const ALL: [DeviceOrientation; 4] =
        [DeviceOrientation::Normal, DeviceOrientation::LeftUp, DeviceOrientation::BottomUp, DeviceOrientation::RightUp];

    /// The orientation that iio-sensor-proxy calls `name`; `None` for `undefined` and unknown names.
    pub fn from_name(name: &str) -> Option<Self> {
        DeviceOrientation::ALL.into_iter().find(|orientation| orientation.name() == name)
    }

    /// The name that iio-sensor-proxy uses.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceOrientation::Normal => "normal",
            DeviceOrientation::LeftUp => "left-up",
            DeviceOrientation::BottomUp => "bottom-up",
            DeviceOrientation::RightUp => "right-up",
        }
    }

    /// The transform of an output in this orientation. `mounting`: its transform while the device is upright, which is how
    /// the panel is mounted.
    pub const fn transform(self, mounting: OutputTransform) -> OutputTransform {
        let [normal, quarter, half, three_quarters, ..] = OutputTransform::ALL;
        let turn = match self {
            DeviceOrientation::Normal => normal,
            DeviceOrientation::LeftUp => quarter,
            DeviceOrientation::BottomUp => half,
            DeviceOrientation::RightUp => three_quarters,
        };
        // The picture is first turned on the upright device, and then onto the panel.
        turn.then(mounting)
    }
}

/// The parts of a device that decide whether the user holds it in the hand.
#[derive(Clone, Copy, Debug)]
pub struct DeviceParts {
    /// Whether the output is a panel of the device.
    pub is_built_in: bool,
    pub has_touchscreen: bool,
    /// State of the tablet-mode switch; `None`: the device has no such switch.
    pub tablet_mode: Option<bool>,
}

/// Whether an output with this option turns with the device.
pub fn follows_sensor(option: RotationOption, device: DeviceParts) -> bool {
    match option {
        RotationOption::Auto => device.is_built_in && device.has_touchscreen && device.tablet_mode != Some(false),
        RotationOption::Sensor => true,
        RotationOption::Off => false,
    }
}

/// An output that is on.
#[derive(Clone, Copy, Debug)]
pub struct PanelState {
    /// Whether the output turns with the device.
    pub follows: bool,
    /// The orientation that it was last turned for; `None`: it has the configured transform, or one that the user set.
    pub turned_for: Option<DeviceOrientation>,
}

/// The sensor and the rotation lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SensorState {
    /// The latest orientation; `None`: not known.
    pub orientation: Option<DeviceOrientation>,
    /// Whether outputs keep their transform.
    pub is_locked: bool,
    /// The rotation lock was just released: the orientation counts even if it has not changed.
    pub was_unlocked: bool,
}

/// A change of an output's transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelTurn {
    /// Turns the output for this orientation.
    Follow(DeviceOrientation),
    /// Gives the output its configured transform, since it no longer turns with the device.
    Restore,
}

impl PanelTurn {
    /// The new transform of an output whose configured transform is `mounting`.
    pub const fn transform(self, mounting: OutputTransform) -> OutputTransform {
        match self {
            PanelTurn::Follow(orientation) => orientation.transform(mounting),
            PanelTurn::Restore => mounting,
        }
    }

    /// The orientation that the output is then turned for.
    pub const fn orientation(self) -> Option<DeviceOrientation> {
        match self {
            PanelTurn::Follow(orientation) => Some(orientation),
            PanelTurn::Restore => None,
        }
    }
}

/// The change that an output needs now. Only a new orientation turns an output, so that a transform that the user sets
/// stays until the device is turned the next time.
pub fn next_turn(panel: PanelState, sensor: SensorState) -> Option<PanelTurn> {
    if sensor.is_locked {
        return None;
    }
    if !panel.follows {
        return panel.turned_for.map(|_| PanelTurn::Restore);
    }
    let orientation = sensor.orientation?;
    let is_new = panel.turned_for != Some(orientation) || sensor.was_unlocked;
    is_new.then_some(PanelTurn::Follow(orientation))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use smithay::utils::{Logical, Point, Size};

    use super::*;

    const LAPTOP: DeviceParts = DeviceParts { is_built_in: true, has_touchscreen: false, tablet_mode: None };
    const TABLET: DeviceParts = DeviceParts { has_touchscreen: true, ..LAPTOP };

    fn turn(name: &str) -> OutputTransform {
        name.parse().unwrap()
    }

    fn orientation() -> impl Strategy<Value = Option<DeviceOrientation>> {
        prop::option::of(prop::sample::select(DeviceOrientation::ALL.to_vec()))
    }

    fn transform() -> impl Strategy<Value = OutputTransform> {
        prop::sample::select(OutputTransform::ALL.to_vec())
    }

    #[test]
    fn orientations_have_the_names_and_transforms_of_the_table() {
        let table = DeviceOrientation::ALL
            .map(|orientation| (orientation.name(), orientation.transform(OutputTransform::NORMAL).to_string()));
        let table = table.each_ref().map(|(name, transform)| (*name, transform.as_str()));
        assert_eq!(table, [("normal", "normal"), ("left-up", "90"), ("bottom-up", "180"), ("right-up", "270")]);
        for orientation in DeviceOrientation::ALL {
            assert_eq!(DeviceOrientation::from_name(orientation.name()), Some(orientation));
        }
        for other in ["undefined", "", "Left-up", "sideways"] {
            assert_eq!(DeviceOrientation::from_name(other), None, "{other}");
        }
    }

    #[test]
    fn edge_that_points_up_shows_the_top_of_the_picture() {
        // Edges of an upright panel of 1 by 1, as they are named.
        let edges =
            [("normal", (0.5, 0.0)), ("left-up", (0.0, 0.5)), ("bottom-up", (0.5, 1.0)), ("right-up", (1.0, 0.5))];
        for (name, edge) in edges {
            let orientation = DeviceOrientation::from_name(name).unwrap();
            let area = Size::<f64, Logical>::from((1.0, 1.0));
            let top_of_picture = orientation.transform(OutputTransform::NORMAL).point(Point::from((0.5, 0.0)), area);
            assert_eq!((top_of_picture.x, top_of_picture.y), edge, "{name}");
            // `output::place_on_panel` finds the place under a finger or a pen by the inverse.
            let touched = orientation.transform(OutputTransform::NORMAL).inverse().point(Point::from(edge), area);
            assert_eq!(
                (touched.x, touched.y),
                (0.5, 0.0),
                "{name}: a finger at the upper edge touches the top of the picture"
            );
        }
    }

    #[test]
    fn rotated_panel_is_turned_from_its_mounting() {
        // Many phones and handhelds have a portrait panel mounted sideways.
        assert_eq!(DeviceOrientation::LeftUp.transform(turn("90")), turn("180"));
        assert_eq!(DeviceOrientation::RightUp.transform(turn("90")), turn("normal"));
        // Turning a mirror image clockwise mirrors the picture turned anticlockwise.
        assert_eq!(DeviceOrientation::LeftUp.transform(turn("flipped")), turn("flipped-270"));
    }

    #[test]
    fn laptop_turns_only_if_the_configuration_says_so() {
        use RotationOption::{Auto, Off, Sensor};
        let in_mode = |on| DeviceParts { tablet_mode: Some(on), ..TABLET };
        let devices =
            [LAPTOP, TABLET, in_mode(false), in_mode(true), DeviceParts { is_built_in: false, ..in_mode(true) }];
        assert_eq!(devices.map(|device| follows_sensor(Auto, device)), [false, true, false, true, false]);
        assert_eq!(devices.map(|device| follows_sensor(Sensor, device)), [true; 5]);
        assert_eq!(devices.map(|device| follows_sensor(Off, device)), [false; 5]);
    }

    #[test]
    fn transform_set_by_the_user_stays_until_the_device_is_turned() {
        let panel = PanelState { follows: true, turned_for: Some(DeviceOrientation::LeftUp) };
        let sensor =
            SensorState { orientation: Some(DeviceOrientation::LeftUp), is_locked: false, was_unlocked: false };
        assert_eq!(next_turn(panel, sensor), None);
        let turned = SensorState { orientation: Some(DeviceOrientation::Normal), ..sensor };
        assert_eq!(next_turn(panel, turned), Some(PanelTurn::Follow(DeviceOrientation::Normal)));
        assert_eq!(next_turn(panel, SensorState { is_locked: true, ..turned }), None);
        let unlocked = SensorState { was_unlocked: true, ..sensor };
        assert_eq!(next_turn(panel, unlocked), Some(PanelTurn::Follow(DeviceOrientation::LeftUp)));
    }

    #[test]
    fn output_that_no_longer_follows_gets_its_configured_transform() {
        let panel = PanelState { follows: false, turned_for: Some(DeviceOrientation::BottomUp) };
        let sensor = SensorState { orientation: None, is_locked: false, was_unlocked: false };
        assert_eq!(next_turn(panel, sensor), Some(PanelTurn::Restore));
        assert_eq!(PanelTurn::Restore.transform(turn("270")), turn("270"));
        assert_eq!(next_turn(PanelState { turned_for: None, ..panel }, sensor), None);
    }

    proptest! {
        /// The four orientations give four transforms a quarter turn apart, with the mirroring of the mounting.
        #[test]
        fn sensor_adds_quarter_turns_to_any_mounting(mounting in transform()) {
            let turned = DeviceOrientation::ALL.map(|orientation| orientation.transform(mounting));
            prop_assert_eq!(turned[0], mounting);
            for pair in turned.windows(2) {
                prop_assert_eq!(turn("90").then(pair[0]), pair[1]);
            }
            prop_assert!(turned.iter().all(|turned| turned.is_mirrored() == mounting.is_mirrored()));
        }

        /// After a turn nothing is left to do, and a locked output is never turned.
        #[test]
        fn one_turn_is_enough(
            follows: bool, is_locked: bool, was_unlocked: bool, turned_for in orientation(), device in orientation()
        ) {
            let (panel, sensor) =
                (PanelState { follows, turned_for }, SensorState { orientation: device, is_locked, was_unlocked });
            let Some(turn) = next_turn(panel, sensor) else { return Ok(()) };
            prop_assert!(!is_locked);
            prop_assert!(matches!(turn, PanelTurn::Follow(_)) == follows);
            let panel = PanelState { turned_for: turn.orientation(), ..panel };
            prop_assert_eq!(next_turn(panel, SensorState { was_unlocked: false, ..sensor }), None);
        }
    }
}
