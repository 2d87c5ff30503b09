//! Which clients receive predictions, and that the other clients pay nothing for them.

use super::*;
use crate::fixture::predicted_input::{PredictedInputEvent, Reason, wire};
use upbeat::config::Config;
use upbeat::session::apply_config;
use wayland_client::Proxy;

const STROKE: Span = Span::from_millis(300);

fn configure(world: &mut TestWorld, text: &str) {
    let config: Config = toml::from_str(text).unwrap();
    apply_config::apply(&mut world.state, Some(&Config::default()), &config).unwrap();
}

#[track_caller]
fn nothing_is_told_under(text: &str) {
    let mut sheet = StrokeWindow::new();
    sheet.window.toplevel.set_app_id("ink".to_owned());
    configure(&mut sheet.world, text);
    sheet.predicted();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    let said = sheet.world.client(sheet.client).data.predicted_input_events.clone();
    assert_eq!(said, [PredictedInputEvent::Effective(Span::ZERO, Reason::Policy)], "{text}");
    // Predictions come again after the user changed the configuration, for the same object.
    configure(&mut sheet.world, "");
    sheet.play(STROKE, stroke(origin));
    assert!(sheet.predictions().len() > 10, "{text}");
}

#[test]
fn no_predictions_if_configuration_or_rule_disables_them() {
    nothing_is_told_under("[timing]\npredicted-input = false");
    nothing_is_told_under("[[app]]\napp-id = 'ink'\npredicted-input = false");
}

#[test]
fn rule_enables_predictions_for_a_single_program() {
    let mut sheet = StrokeWindow::new();
    sheet.window.toplevel.set_app_id("ink".to_owned());
    configure(&mut sheet.world, "[timing]\npredicted-input = false\n[[app]]\napp-id = 'ink'\npredicted-input = true");
    sheet.predicted();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    assert!(sheet.predictions().len() > 10);
}

#[test]
fn horizon_of_zero_disables_prediction() {
    let mut sheet = StrokeWindow::new();
    let object = sheet.predicted();
    object.set_horizon(0);
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    let said = sheet.world.client(sheet.client).data.predicted_input_events.clone();
    assert_eq!(said.last(), Some(&PredictedInputEvent::Effective(Span::ZERO, Reason::Client)));
    assert!(sheet.predictions().is_empty());
}

#[test]
fn only_the_surface_under_the_pointer_gets_predictions() {
    let mut sheet = StrokeWindow::new();
    sheet.predicted();
    let other = sheet.world.client(sheet.client).surface();
    sheet.world.client(sheet.client).predicted_input(&other);
    let (second, above) = sheet.world.open("above", SMALL.0, SMALL.1);
    sheet.world.client(second).predicted_input(&above.surface);
    let origin = sheet.origin();
    sheet.world.move_window("above", (origin.0 as i32, origin.1 as i32));
    sheet.world.run_until_idle();
    sheet.play(STROKE, stroke(origin));
    assert!(sheet.predictions().is_empty(), "its sheet is covered");
}

#[test]
fn no_input_is_tracked_without_a_predicted_input_object() {
    let mut sheet = StrokeWindow::new();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    assert!(sheet.world.client(sheet.client).data.predicted_input_events.is_empty());
    assert!(sheet.world.state.surfaces.iter().all(|entry| entry.input_prediction().is_none()));
}

#[test]
fn object_is_inert_after_its_surface_and_can_be_created_again() {
    let mut sheet = StrokeWindow::new();
    let object = sheet.predicted();
    object.destroy();
    let second = sheet.predicted();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    let told = sheet.predictions().len();
    assert!(told > 10, "{told}");
    sheet.window.toplevel.destroy();
    sheet.window.xdg.destroy();
    sheet.window.surface.destroy();
    sheet.world.settle();
    second.set_horizon(5);
    second.set_axes(crate::fixture::predicted_input::Axes::Horizontal);
    for _ in 0..20 {
        sheet.world.point(30.0, 30.0);
    }
    second.destroy();
    sheet.world.settle();
    assert_eq!(sheet.world.client(sheet.client).error, None);
    assert!(sheet.predictions().len() <= told + 1);
}

#[test]
fn second_object_and_invalid_axes_are_errors() {
    let mut sheet = StrokeWindow::new();
    sheet.predicted();
    sheet.predicted();
    let expected = Some(("upbeat_predicted_input_manager_v1".to_owned(), 0));
    assert_eq!(sheet.world.client(sheet.client).error, expected);

    let mut sheet = StrokeWindow::new();
    let object = sheet.predicted();
    let request = wire::Request::SetAxes { axes: wayland_client::WEnum::Unknown(4) };
    object.send_request(request).unwrap();
    sheet.world.settle();
    let expected = Some(("upbeat_predicted_input_v1".to_owned(), 0));
    assert_eq!(sheet.world.client(sheet.client).error, expected);
}

#[test]
fn prediction_causes_no_wakeups_while_idle() {
    let turns = |asks: bool| {
        let mut sheet = StrokeWindow::new();
        if asks {
            sheet.predicted();
        }
        let origin = sheet.origin();
        sheet.play(STROKE, stroke(origin));
        sheet.world.run_until_idle();
        let before = sheet.world.turns();
        sheet.world.run_for(Span::from_seconds(20), &mut crate::fixture::simulated::nothing);
        sheet.world.turns() - before
    };
    let (with, without) = (turns(true), turns(false));
    assert!(with <= without + 1, "{with} turns of the loop in 20 s, {without} without");
}

/// Light and refresh number of each frame of a stroke; `None` if the frame was not presented.
fn lights(prepare: impl FnOnce(&mut StrokeWindow)) -> Vec<Option<(Instant, u64)>> {
    let mut sheet = StrokeWindow::new();
    prepare(&mut sheet);
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    sheet.world.run_until_idle();
    let (client, frames) = (sheet.client, sheet.frames);
    (1..=frames).map(|frame| sheet.world.client(client).light(frame)).collect()
}

#[test]
fn prediction_does_not_change_presentation_times() {
    let without = lights(|_| {});
    assert!(without.len() > 15);
    assert_eq!(lights(|sheet| drop(sheet.predicted())), without);
    let off = |sheet: &mut StrokeWindow| {
        configure(&mut sheet.world, "[timing]\npredicted-input = false");
        sheet.predicted();
    };
    assert_eq!(lights(off), without);
}
