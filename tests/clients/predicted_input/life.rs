//! Which clients receive predictions, and that the other clients pay nothing for them.

use super::*;
use crate::fixture::foretold::{Foretold, Reason, wire};
use upbeat::config::Config;
use upbeat::session::settings;
use wayland_client::Proxy;

const STROKE: Span = Span::from_millis(300);

fn configure(world: &mut World, text: &str) {
    let config: Config = toml::from_str(text).unwrap();
    settings::apply(&mut world.state, Some(&Config::default()), &config).unwrap();
}

#[track_caller]
fn nothing_is_told_under(text: &str) {
    let mut sheet = Sheet::new();
    sheet.window.toplevel.set_app_id("ink".to_owned());
    configure(&mut sheet.world, text);
    sheet.predicted();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    let said = sheet.world.client(sheet.client).data.foretold.clone();
    assert_eq!(said, [Foretold::Effective(Span::ZERO, Reason::Policy)], "{text}");
    // Predictions come again after the user changed the configuration, for the same object.
    configure(&mut sheet.world, "");
    sheet.play(STROKE, stroke(origin));
    assert!(sheet.predictions().len() > 10, "{text}");
}

#[test]
fn nothing_is_told_where_the_configuration_or_a_rule_says_so() {
    nothing_is_told_under("[timing]\npredicted-input = false");
    nothing_is_told_under("[[app]]\napp-id = 'ink'\npredicted-input = false");
}

#[test]
fn a_rule_lets_one_be_told_where_the_others_are_not() {
    let mut sheet = Sheet::new();
    sheet.window.toplevel.set_app_id("ink".to_owned());
    configure(&mut sheet.world, "[timing]\npredicted-input = false\n[[app]]\napp-id = 'ink'\npredicted-input = true");
    sheet.predicted();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    assert!(sheet.predictions().len() > 10);
}

#[test]
fn a_horizon_of_nothing_is_no_prediction() {
    let mut sheet = Sheet::new();
    let object = sheet.predicted();
    object.set_horizon(0);
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    let said = sheet.world.client(sheet.client).data.foretold.clone();
    assert_eq!(said.last(), Some(&Foretold::Effective(Span::ZERO, Reason::Client)));
    assert!(sheet.predictions().is_empty());
}

#[test]
fn only_the_surface_that_the_pointer_is_on_is_told() {
    let mut sheet = Sheet::new();
    sheet.predicted();
    let other = sheet.world.client(sheet.client).surface();
    sheet.world.client(sheet.client).predicted_input(&other);
    let (second, above) = sheet.world.open("above", SMALL.0, SMALL.1);
    sheet.world.client(second).predicted_input(&above.surface);
    sheet.world.rest();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    assert!(sheet.predictions().is_empty(), "its sheet is covered");
}

#[test]
fn who_does_not_ask_is_told_nothing_and_nothing_is_followed() {
    let mut sheet = Sheet::new();
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    assert!(sheet.world.client(sheet.client).data.foretold.is_empty());
    assert!(sheet.world.state.surfaces.iter().all(|entry| entry.foresight().is_none()));
}

#[test]
fn an_object_ends_with_its_surface_and_a_surface_may_have_another_after_it() {
    let mut sheet = Sheet::new();
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
    second.set_axes(crate::fixture::foretold::Axes::Horizontal);
    for _ in 0..20 {
        sheet.world.point(30.0, 30.0);
    }
    second.destroy();
    sheet.world.settle();
    assert_eq!(sheet.world.client(sheet.client).error, None);
    assert!(sheet.predictions().len() <= told + 1);
}

#[test]
fn two_objects_for_a_surface_and_axes_that_are_none_are_errors() {
    let mut sheet = Sheet::new();
    sheet.predicted();
    sheet.predicted();
    let expected = Some(("upbeat_predicted_input_manager_v1".to_owned(), 0));
    assert_eq!(sheet.world.client(sheet.client).error, expected);

    let mut sheet = Sheet::new();
    let object = sheet.predicted();
    let request = wire::Request::SetAxes { axes: wayland_client::WEnum::Unknown(4) };
    object.send_request(request).unwrap();
    sheet.world.settle();
    let expected = Some(("upbeat_predicted_input_v1".to_owned(), 0));
    assert_eq!(sheet.world.client(sheet.client).error, expected);
}

#[test]
fn while_nothing_happens_nobody_wakes_up_for_it() {
    let turns = |asks: bool| {
        let mut sheet = Sheet::new();
        if asks {
            sheet.predicted();
        }
        let origin = sheet.origin();
        sheet.play(STROKE, stroke(origin));
        sheet.world.rest();
        let before = sheet.world.turns();
        sheet.world.run_for(Span::from_seconds(20), &mut crate::fixture::simulated::nothing);
        sheet.world.turns() - before
    };
    let (with, without) = (turns(true), turns(false));
    assert!(with <= without + 1, "{with} turns of the loop in 20 s, {without} without");
}

/// Light and refresh number of each frame of a stroke; `None` if the frame was not presented.
fn lights(prepare: impl FnOnce(&mut Sheet)) -> Vec<Option<(Instant, u64)>> {
    let mut sheet = Sheet::new();
    prepare(&mut sheet);
    let origin = sheet.origin();
    sheet.play(STROKE, stroke(origin));
    sheet.world.rest();
    let (client, frames) = (sheet.client, sheet.frames);
    (1..=frames).map(|frame| sheet.world.client(client).light(frame)).collect()
}

#[test]
fn frames_are_seen_at_the_same_moments_whether_or_not_anything_is_predicted() {
    let without = lights(|_| {});
    assert!(without.len() > 15);
    assert_eq!(lights(|sheet| drop(sheet.predicted())), without);
    let off = |sheet: &mut Sheet| {
        configure(&mut sheet.world, "[timing]\npredicted-input = false");
        sheet.predicted();
    };
    assert_eq!(lights(off), without);
}
