//! Disabled outputs that return, and what happened to their settings meanwhile.

use wayland_client::protocol::wl_output::Transform;

use upbeat::config::Config;
use upbeat::session::apply_config;
use upbeat_timing::pacing::PacingWish;

use crate::fixture::{OUTPUT, TestWorld};
use crate::output_management::{HeadWithSettings, area, configure, manager, output_manager_events};

/// Sets all properties of a head, as wlr-randr before 0.4 does.
fn all(head: &HeadWithSettings, position: (i32, i32), scale: f64, transform: Transform) {
    head.set_custom_mode(OUTPUT.0, OUTPUT.1, 60_000);
    head.set_position(position.0, position.1);
    head.set_transform(transform);
    head.set_scale(scale);
}

/// The properties that wlr-randr before 0.4 sends for an output whose state it does not know.
fn defaults(head: &HeadWithSettings) {
    all(head, (0, 0), 1.0, Transform::Normal);
}

#[test]
fn output_enabled_with_defaults_returns_as_it_was() {
    let mut world = TestWorld::rendered();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    world.open("a", 200, 100);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let turned = |head: &HeadWithSettings| all(head, (OUTPUT.0, 30), 2.0, Transform::_90);
    configure(&mut world, client, &manager, &[(2, Some(&turned))]).apply();
    world.run_until_idle();
    output_manager_events(&mut world, client);
    world.move_window("a", (OUTPUT.0 + 50, 130));
    let before = (area(&world, "TEST-2"), world.window("a").rect());
    assert_eq!(before.0, (OUTPUT.0, 30, OUTPUT.1 / 2, OUTPUT.0 / 2));
    configure(&mut world, client, &manager, &[(1, Some(&defaults)), (2, None)]).apply();
    world.run_until_idle();
    assert!(output_manager_events(&mut world, client).contains(&"2 disabled".to_owned()));
    assert!(world.window("a").rect().loc.x < OUTPUT.0);
    configure(&mut world, client, &manager, &[(1, Some(&defaults)), (2, Some(&defaults))]).apply();
    world.run_until_idle();
    let heard = output_manager_events(&mut world, client);
    assert!(heard.contains(&"succeeded".to_owned()) && heard.contains(&"2 at 1280,30".to_owned()), "{heard:?}");
    assert_eq!((area(&world, "TEST-2"), world.window("a").rect()), before);
}

#[test]
fn output_enabled_with_defaults_keeps_its_scale_where_no_output_lies_at_the_origin() {
    for (corner, other) in [((0, 0), 5000), ((-2000, 40), 0), ((3000, 0), 5000)] {
        let mut world = TestWorld::rendered();
        world.plug_in_at("TEST-2", 60_000, (other, 0));
        let (client, manager) = manager(&mut world);
        output_manager_events(&mut world, client);
        let first = |head: &HeadWithSettings| all(head, corner, 2.0, Transform::Normal);
        let second = |head: &HeadWithSettings| head.set_position(other, 0);
        configure(&mut world, client, &manager, &[(1, Some(&first)), (2, Some(&second))]).apply();
        world.run_until_idle();
        output_manager_events(&mut world, client);
        let before = area(&world, "TEST-1");
        assert_eq!(before, (corner.0, corner.1, OUTPUT.0 / 2, OUTPUT.1 / 2));
        configure(&mut world, client, &manager, &[(1, None), (2, Some(&second))]).apply();
        world.run_until_idle();
        output_manager_events(&mut world, client);
        configure(&mut world, client, &manager, &[(1, Some(&defaults)), (2, Some(&second))]).apply();
        world.run_until_idle();
        assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
        assert_eq!(area(&world, "TEST-1"), before);
    }
}

#[test]
fn first_output_returns_to_its_position_and_the_output_there_makes_room() {
    let mut world = TestWorld::rendered();
    world.plug_in_unplaced("TEST-2", 60_000);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(1, None)]).apply();
    world.run_until_idle();
    output_manager_events(&mut world, client);
    world.unplug("TEST-2");
    world.plug_in_unplaced("TEST-2", 60_000);
    assert_eq!(area(&world, "TEST-2"), (0, 0, OUTPUT.0, OUTPUT.1));
    output_manager_events(&mut world, client);
    // The head of TEST-2 is the third that the client got.
    configure(&mut world, client, &manager, &[(1, Some(&defaults)), (3, Some(&defaults))]).apply();
    world.run_until_idle();
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
    assert_eq!((area(&world, "TEST-1").0, area(&world, "TEST-2").0), (0, OUTPUT.0));
}

#[test]
fn default_position_is_taken_where_no_other_output_will_be() {
    let mut world = TestWorld::rendered();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, None)]).apply();
    world.run_until_idle();
    output_manager_events(&mut world, client);
    let right = |head: &HeadWithSettings| head.set_position(OUTPUT.0, 0);
    configure(&mut world, client, &manager, &[(1, Some(&right)), (2, Some(&defaults))]).apply();
    world.run_until_idle();
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
    assert_eq!((area(&world, "TEST-1").0, area(&world, "TEST-2").0), (OUTPUT.0, 0));
}

#[test]
fn reloaded_configuration_counts_for_a_disabled_output() {
    let config = |text: &str| toml::from_str::<Config>(text).unwrap();
    let mut world = TestWorld::rendered();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, None)]).apply();
    world.run_until_idle();
    output_manager_events(&mut world, client);
    let rule = "[[output]]\nname = \"TEST-2\"\n";
    let first = config(&format!("{rule}position = [-640, 50]\nscale = 2.0\n"));
    let second =
        config(&format!("{rule}position = [-640, 50]\nscale = 2.0\ntransform = \"270\"\npacing = \"vsync\"\n"));
    for (old, new) in [(&Config::default(), &first), (&first, &second), (&second, &second)] {
        apply_config::apply(&mut world.state, Some(old), new).unwrap();
    }
    configure(&mut world, client, &manager, &[(2, Some(&|_: &HeadWithSettings| {}))]).apply();
    world.run_until_idle();
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
    assert_eq!(area(&world, "TEST-2"), (-640, 50, OUTPUT.1 / 2, OUTPUT.0 / 2));
    let output = world.state.outputs.states().find(|output| output.output().name() == "TEST-2").unwrap();
    assert_eq!((output.wish(), output.is_placed(), output.guesses_scale()), (Some(PacingWish::Vsync), true, false));
}
