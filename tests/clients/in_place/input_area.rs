//! The area around the newest input that must contain a write: its side is in millimetres of the panel.

use upbeat::backend::headless::OutputOptions;
use upbeat::config::InPlaceSize;
use upbeat::output::in_place;

use super::{InPlaceSession, WARM_UP, options};

/// A panel of 1280 × 720 pixels with 4 pixels a millimetre.
const MONITOR: (u32, u32) = (320, 180);

/// More writes than the one in progress, for most of the 12 refreshes of 0.2 s.
const MANY: u64 = 8;

#[test]
fn area_has_ten_millimetres_of_a_panel_that_reports_its_size_or_as_many_as_configured() {
    let mut ink = InPlaceSession::on(OutputOptions { millimetres: Some(MONITOR), ..options() }, 280, true);
    ink.run(WARM_UP);
    // 10 mm are 40 pixels, and the change has 60.
    assert_eq!(ink.written(), 0);
    let resize = |ink: &mut InPlaceSession, millimetres: f64| {
        in_place::set_area_size(&mut ink.world.state, InPlaceSize::try_from(millimetres).unwrap());
        ink.written()
    };
    assert!(resize(&mut ink, 20.0) > MANY, "80 pixels");
    assert!(resize(&mut ink, 14.0) <= 1, "56 pixels");
    // An implausible size counts as none: 200 pixels for 10 mm.
    let mut ink = InPlaceSession::on(OutputOptions { millimetres: Some((16, 9)), ..options() }, 280, true);
    ink.run(WARM_UP);
    assert!(ink.written() > MANY);
    assert!(resize(&mut ink, 2.5) <= 1, "50 pixels");
}
