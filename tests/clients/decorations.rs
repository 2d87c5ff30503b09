//! `xdg-decoration`: whether the client or the compositor draws the title bar.

use upbeat::config::Config;
use wayland_client::WEnum;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_toplevel_decoration_v1::Mode;

use crate::fixture::{ClientEvent, ClientIndex, TestWorld};

/// The modes sent to a mapped window whose client creates a decoration object and sets mode `wish` in the same batch.
fn modes_sent_for(wish: Option<Mode>) -> Vec<String> {
    let mut world = TestWorld::new();
    let (a, window) = world.open("a", 200, 100);
    world.client(a).take_events();
    let client = world.client(a);
    let manager: ZxdgDecorationManagerV1 = client.bind();
    let decoration = manager.get_toplevel_decoration(&window.toplevel, &client.handle(), ());
    wish.into_iter().for_each(|wish| decoration.set_mode(wish));
    world.settle();
    let events = world.client(a).take_events().into_iter();
    events.filter_map(|event| if let ClientEvent::InWords(mode) = event { Some(mode) } else { None }).collect()
}

/// SDL 2 takes the first configure for the answer to its `set_mode`, and shows no window if the mode differs.
#[test]
fn mode_requested_with_the_decoration_gets_a_single_configure() {
    assert_eq!(modes_sent_for(Some(Mode::ServerSide)), [format!("{:?}", WEnum::Value(Mode::ServerSide))]);
    assert_eq!(modes_sent_for(Some(Mode::ClientSide)), [format!("{:?}", WEnum::Value(Mode::ClientSide))]);
}

#[test]
fn decoration_without_a_requested_mode_is_client_side() {
    assert_eq!(modes_sent_for(None), [format!("{:?}", WEnum::Value(Mode::ClientSide))]);
}

fn set_rules(world: &mut TestWorld, rules: &str) {
    world.state.outputs.rules_mut().set_windows(toml::from_str::<Config>(rules).unwrap().windows);
    world.state.outputs.rules_mut().mark_all_stale();
}

/// The modes that the client was sent since the last call.
fn modes_since_last_call(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.settle();
    let events = world.client(client).take_events().into_iter();
    events.filter_map(|event| if let ClientEvent::InWords(mode) = event { Some(mode) } else { None }).collect()
}

#[test]
fn decoration_rule_overrides_the_requested_mode_while_its_title_matches() {
    let said = |mode: Mode| vec![format!("{:?}", WEnum::Value(mode))];
    let mut world = TestWorld::rendered();
    set_rules(&mut world, "[[window]]\ntitle = 'bare'\ndecoration = 'server'");
    let (a, window) = world.open("bare", 200, 100);
    world.client(a).take_events();
    let client = world.client(a);
    let manager: ZxdgDecorationManagerV1 = client.bind();
    let decoration = manager.get_toplevel_decoration(&window.toplevel, &client.handle(), ());
    assert_eq!(modes_since_last_call(&mut world, a), said(Mode::ServerSide), "without a request for a mode");
    decoration.set_mode(Mode::ClientSide);
    assert_eq!(modes_since_last_call(&mut world, a), [""; 0], "despite a request for another mode");
    window.toplevel.set_title("own".to_owned());
    world.settle();
    world.run_until_idle();
    assert_eq!(modes_since_last_call(&mut world, a), said(Mode::ClientSide), "the rule does not match any more");
    set_rules(&mut world, "[[window]]\ndecoration = 'server'");
    world.run_until_idle();
    assert_eq!(modes_since_last_call(&mut world, a), said(Mode::ServerSide), "new rules apply to open windows");
}
