//! Configuration rules for layer surfaces, matched by namespace.

use upbeat::config::Config;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::KeyboardInteractivity;

use super::*;
use crate::fixture::KEY_A;

/// Saves a configuration with these rules. The fixture's layer surfaces have the namespace `test`.
fn save(world: &mut World, rules: &str) {
    world.state.outputs.rules_mut().set_layers(toml::from_str::<Config>(rules).unwrap().layers);
    world.state.outputs.rules_mut().changed();
    world.rest();
}

#[test]
fn looks_of_layers_follow_rules_that_are_saved() {
    let mut world = World::lit();
    world.state.outputs.set_background([0.0; 3]);
    save(&mut world, "[[layer]]\nnamespace = 'other*'\nopacity = 0");
    let client = world.connect();
    world.pin(client, Layer::Top, RED, bar(30));
    world.rest();
    let look = |world: &World| (world.pixel(200, 5), world.pixel(OUTPUT.0 - 1, 0));
    assert_eq!(look(&world), (RED, RED));
    save(&mut world, "[[layer]]\nnamespace = '/^t.st$/'\nopacity = 0.5\ncorner-radius = 10");
    let (half, corner) = look(&world);
    assert!((0x7e_0000..=0x81_0000).contains(&half), "{half:06x}");
    assert_eq!(corner, 0, "it is round");
    save(&mut world, "");
    assert_eq!(look(&world), (RED, RED));
}

#[test]
fn layer_that_a_rule_hides_is_black_in_pictures_alone() {
    let mut world = World::lit();
    save(&mut world, "[[layer]]\nnamespace = 'test'\ncapture = false");
    let client = world.connect();
    world.pin(client, Layer::Top, RED, bar(30));
    world.rest();
    assert_eq!(world.pixel(200, 5), RED);
    let pictured = |world: &World| {
        let output = world.state.outputs.states().next().unwrap();
        let picture = output.picture(&world.state.shell, false).unwrap().whole().unwrap();
        picture.pixels[(5 * picture.width + 200) as usize] & 0x00ff_ffff
    };
    assert_eq!(pictured(&world), 0);
    save(&mut world, "");
    assert_eq!(pictured(&world), RED);
}

#[test]
fn layer_without_the_keyboard_leaves_it_to_windows() {
    let mut world = World::lit();
    save(&mut world, "[[layer]]\nnamespace = 'test'\nkeyboard = false");
    let (window, _a) = world.open_filled("a", (400, 300), BLUE);
    let client = world.connect();
    world.pin(client, Layer::Top, RED, |layer| {
        bar(30)(layer);
        layer.set_keyboard_interactivity(KeyboardInteractivity::Exclusive);
    });
    world.rest();
    let types = |world: &mut World, client| {
        world.client(client).take_events();
        world.key(KEY_A, true);
        world.key(KEY_A, false);
        world.client(client).take_events().iter().any(|event| matches!(event, Event::Key { key: KEY_A, .. }))
    };
    assert!(types(&mut world, window));
    save(&mut world, "");
    assert!(!types(&mut world, window) && types(&mut world, client), "without the rule it has the keyboard");
}
