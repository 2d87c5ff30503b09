//! Configuration rules for layer surfaces, matched by namespace.

use upbeat::config::Config;
use wayland_protocols_wlr::layer_shell::v1::client::zwlr_layer_surface_v1::KeyboardInteractivity;

use super::*;
use crate::fixture::KEY_A;

/// Saves a configuration with these rules. The fixture's layer surfaces have the namespace `test`.
fn save(world: &mut TestWorld, rules: &str) {
    world.state.outputs.rules_mut().set_layers(toml::from_str::<Config>(rules).unwrap().layers);
    world.state.outputs.rules_mut().mark_all_stale();
    world.run_until_idle();
}

#[test]
fn layer_rules_apply_when_saved() {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    save(&mut world, "[[layer]]\nnamespace = 'other*'\nopacity = 0");
    let client = world.connect();
    world.map_layer(client, Layer::Top, RED, bar(30));
    world.run_until_idle();
    let look = |world: &TestWorld| (world.pixel(200, 5), world.pixel(OUTPUT.0 - 1, 0));
    assert_eq!(look(&world), (RED, RED));
    save(&mut world, "[[layer]]\nnamespace = '/^t.st$/'\nopacity = 0.5\ncorner-radius = 10");
    let (half, corner) = look(&world);
    assert!((0x7e_0000..=0x81_0000).contains(&half), "{half:06x}");
    assert_eq!(corner, 0, "it is round");
    save(&mut world, "");
    assert_eq!(look(&world), (RED, RED));
}

#[test]
fn layer_excluded_from_capture_is_black_in_captures_only() {
    let mut world = TestWorld::rendered();
    save(&mut world, "[[layer]]\nnamespace = 'test'\ncapture = false");
    let client = world.connect();
    world.map_layer(client, Layer::Top, RED, bar(30));
    world.run_until_idle();
    assert_eq!(world.pixel(200, 5), RED);
    let pictured = |world: &TestWorld| {
        let output = world.state.outputs.states().next().unwrap();
        let picture = output.picture(&world.state.shell, false).unwrap().whole().unwrap();
        picture.pixels[(5 * picture.width + 200) as usize] & 0x00ff_ffff
    };
    assert_eq!(pictured(&world), 0);
    save(&mut world, "");
    assert_eq!(pictured(&world), RED);
}

#[test]
fn layer_denied_the_keyboard_by_a_rule_leaves_it_to_windows() {
    let mut world = TestWorld::rendered();
    save(&mut world, "[[layer]]\nnamespace = 'test'\nkeyboard = false");
    let (window, _a) = world.open_filled("a", (400, 300), BLUE);
    let client = world.connect();
    world.map_layer(client, Layer::Top, RED, |layer| {
        bar(30)(layer);
        layer.set_keyboard_interactivity(KeyboardInteractivity::Exclusive);
    });
    world.run_until_idle();
    let types = |world: &mut TestWorld, client| {
        world.client(client).take_events();
        world.key(KEY_A, true);
        world.key(KEY_A, false);
        world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { key: KEY_A, .. }))
    };
    assert!(types(&mut world, window));
    save(&mut world, "");
    assert!(!types(&mut world, window) && types(&mut world, client), "without the rule it has the keyboard");
}
