//! Urgent windows: a window that asks for the focus and may not take it is urgent until it has the focus.

use upbeat::config::Config;
use upbeat::shell::effects::BorderStyle;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols::ext::workspace::v1::client::ext_workspace_manager_v1::ExtWorkspaceManagerV1;
use wayland_protocols::xdg::activation::v1::client::xdg_activation_token_v1::{self, XdgActivationTokenV1};
use wayland_protocols::xdg::activation::v1::client::xdg_activation_v1::XdgActivationV1;

use crate::fixture::client::TestClientState;
use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::{ClientEvent, ClientIndex, KEY_2, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, TestToplevel, TestWorld};

impl Dispatch<XdgActivationTokenV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &XdgActivationTokenV1,
        event: xdg_activation_token_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_activation_token_v1::Event::Done { token } = event {
            data.events.push(ClientEvent::InWords(token));
        }
    }
}

/// An activation token of a client, without a user action or with the serial of an action.
pub fn token(world: &mut TestWorld, client: ClientIndex, serial: Option<u32>) -> String {
    world.client(client).take_events();
    let handle = world.client(client).handle();
    let activation = world.client(client).bind::<XdgActivationV1>();
    let token = activation.get_activation_token(&handle, ());
    if let Some(serial) = serial {
        token.set_serial(serial, &world.client(client).globals().seat);
    }
    token.commit();
    world.settle();
    let is_token = |event| if let ClientEvent::InWords(token) = event { Some(token) } else { None };
    world.client(client).take_events().into_iter().find_map(is_token).unwrap()
}

/// A client activates its window with such a token.
pub fn activate_with_token(world: &mut TestWorld, client: ClientIndex, window: &TestToplevel, serial: Option<u32>) {
    let token = token(world, client, serial);
    world.client(client).bind::<XdgActivationV1>().activate(token, &window.surface);
    world.settle();
}

fn is_urgent(world: &TestWorld, title: &str) -> bool {
    world.state.shell.workspaces().is_urgent(world.window(title).id)
}

#[test]
fn window_refused_the_focus_is_urgent_until_focused() {
    let mut world = TestWorld::new();
    let (client, asks) = world.open("asks", 100, 100);
    activate_with_token(&mut world, client, &asks, None);
    assert!(!is_urgent(&world, "asks"), "it has the focus");
    world.open("works", 100, 100);
    activate_with_token(&mut world, client, &asks, None);
    assert_eq!((world.focused().as_deref(), is_urgent(&world, "asks")), (Some("works"), true));
    let id = world.window("asks").id;
    upbeat::shell::activate(&mut world.state, Some(id));
    assert!(!is_urgent(&world, "asks"));

    // With the serial of a user action, the window gets the focus at once.
    world.move_window("asks", (0, 0));
    world.click(10.0, 10.0);
    world.settle();
    let serial = world.client(client).press_serial();
    world.open("works again", 100, 100);
    activate_with_token(&mut world, client, &asks, Some(serial));
    assert_eq!((world.focused().as_deref(), is_urgent(&world, "asks")), (Some("asks"), false));
    assert!(!world.client(client).is_disconnected());
}

#[test]
fn bars_receive_urgency_and_closed_windows_leave_none() {
    let mut world = TestWorld::new();
    let (client, asks) = world.open("asks", 100, 100);
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_2);
    let bar = world.connect();
    let _manager = world.client(bar).bind::<ExtWorkspaceManagerV1>();
    let told = |world: &mut TestWorld| {
        world.turn();
        world.settle();
        let words = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
        world.client(bar).take_events().into_iter().filter_map(words).collect::<Vec<_>>()
    };
    told(&mut world);
    activate_with_token(&mut world, client, &asks, None);
    assert_eq!(told(&mut world), ["2 urgent", "done"]);
    world.kill(client);
    assert_eq!(told(&mut world), ["2 hidden", "done"]);
    let screens: Vec<_> = world.state.shell.workspaces().rows();
    assert!(
        upbeat::shell::workspaces::WorkspaceNumber::all()
            .all(|number| screens.iter().all(|row| !row.is_urgent(number)))
    );
}

#[test]
fn urgent_window_has_a_border_and_its_rules_look() {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    world.state.shell.effects_mut().border =
        Some(BorderStyle { width: 2.0, colour: Some([0.0, 1.0, 0.0, 1.0]), urgent: [0.0, 0.0, 1.0, 1.0] });
    let rules = toml::from_str::<Config>("[[window]]\nis-urgent = true\nopacity = 0.5").unwrap();
    world.state.outputs.rules_mut().set_windows(rules.windows);
    let (client, asks) = world.open_filled("asks", (100, 100), RED);
    world.open_filled("works", (100, 100), GREEN);
    world.move_window("asks", (50, 50));
    world.move_window("works", (300, 50));
    world.run_until_idle();
    assert_eq!((world.pixel(49, 100), world.pixel(100, 100), world.pixel(299, 100)), (0, RED, GREEN));
    activate_with_token(&mut world, client, &asks, None);
    world.run_until_idle();
    let half = world.pixel(100, 100);
    assert!((0x7e_0000..=0x81_0000).contains(&half), "{half:06x}");
    // The border is half transparent, like its window.
    let edge = world.pixel(49, 100);
    assert!(edge & 0x00ff_ff00 == 0 && edge & BLUE > 0x70, "{edge:06x}");
    let id = world.window("asks").id;
    upbeat::shell::activate(&mut world.state, Some(id));
    world.run_until_idle();
    assert_eq!((world.pixel(49, 100), world.pixel(100, 100), world.pixel(299, 100)), (GREEN, RED, 0));
}

#[test]
fn urgent_border_is_shown_without_a_focus_border() {
    let mut world = TestWorld::rendered();
    world.state.outputs.set_background([0.0; 3]);
    let config = toml::from_str::<Config>("[effects]\nmark-width = 0\nurgent-colour = \"#0000ff\"").unwrap();
    world.state.shell.set_effects(config.effects.to_shell());
    let (client, asks) = world.open_filled("asks", (100, 100), RED);
    world.open_filled("works", (100, 100), GREEN);
    world.move_window("asks", (50, 50));
    world.move_window("works", (300, 50));
    activate_with_token(&mut world, client, &asks, None);
    world.run_until_idle();
    assert_eq!((world.pixel(49, 100), world.pixel(299, 100)), (BLUE, 0));
}
