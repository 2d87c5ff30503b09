//! A change below another layer, a popup or an effect, or of a surface on two outputs: it is composed.

use upbeat::backend::headless::OutputOptions;
use upbeat::config::Config;
use upbeat::session::apply_config;

use super::bad_input::{ComparedSessions, Expected};
use super::{INK, options};
use crate::fixture::{ClientIndex, TestToplevel, TestWorld};

#[test]
fn change_below_a_window_is_composed() {
    let mut sessions = ComparedSessions::new();
    sessions.stroke("the start", Expected::Written);
    sessions.act(|world, _, _| {
        world.open("above", 40, 40);
        world.move_window("above", (400 + INK.0 + 10, 280 + INK.1 + 10));
    });
    for _ in 0..2 {
        sessions.stroke("a window above", Expected::Composed);
    }
    sessions.act(|world, _, _| world.move_window("above", (0, 0)));
    sessions.stroke("a window elsewhere", Expected::Written);
}

#[test]
fn change_below_a_composed_cursor_is_composed() {
    let mut sessions = ComparedSessions::on(&OutputOptions { cursor_plane: None, ..options() }, |_, _, _| {});
    for _ in 0..2 {
        sessions.stroke("the start", Expected::Composed);
    }
}

#[test]
fn change_below_a_popup_is_composed() {
    let mut sessions = ComparedSessions::new();
    sessions.act(|world, client, window| {
        let positioner = world.client(client).positioner(INK.0 + 10, INK.1 + 10, 30, 30);
        let popup = world.client(client).popup(&window.xdg, &positioner);
        popup.surface.commit();
        world.settle();
        world.client(client).ack_newest_configure();
        world.client(client).commit_buffer(&popup.surface, 30, 30);
    });
    // Only the first stroke acknowledges a configure.
    for _ in 0..3 {
        sessions.stroke("a popup above", Expected::Composed);
    }
}

#[test]
fn change_near_the_shadow_of_a_window_above_is_composed() {
    let shadows = |world: &mut TestWorld, _: ClientIndex, _: &TestToplevel| {
        let config: Config = toml::from_str("[effects]\nshadow = true\nshadow-reach = 60").unwrap();
        let on = world.output(0).conductor().output().scan().is_some();
        apply_config::apply(&mut world.state, Some(&Config::default()), &config).unwrap();
        upbeat::output::in_place::set_enabled(&mut world.state, on);
        world.open("beside", 40, 40);
        world.move_window("beside", (400 + INK.0 + INK.2 + 20, 280 + INK.1));
    };
    let mut sessions = ComparedSessions::with(shadows);
    for _ in 0..3 {
        sessions.stroke("a shadow above", Expected::Composed);
    }
}

#[test]
fn change_on_two_outputs_is_composed() {
    let mut sessions = ComparedSessions::new();
    sessions.stroke("the start", Expected::Written);
    sessions.act(|world, _, _| world.plug_in_at("TEST-2", 60_000, (500, 0)));
    for _ in 0..2 {
        sessions.stroke("a second output", Expected::Composed);
    }
    sessions.act(|world, _, _| world.unplug("TEST-2"));
    sessions.stroke("an unplugged output", Expected::Written);
}
