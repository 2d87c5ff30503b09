//! `zwlr_output_manager_v1`: a client lists outputs and arranges them; a configuration is applied as a whole or not at
//! all.

use wayland_client::protocol::wl_output::Transform;
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum, event_created_child};
use wayland_protocols_wlr::output_management::v1::client::{
    zwlr_output_configuration_head_v1::ZwlrOutputConfigurationHeadV1,
    zwlr_output_configuration_v1::{self, ZwlrOutputConfigurationV1},
    zwlr_output_head_v1::{self, AdaptiveSyncState, EVT_MODE_OPCODE, ZwlrOutputHeadV1},
    zwlr_output_manager_v1::{self, EVT_HEAD_OPCODE, ZwlrOutputManagerV1},
    zwlr_output_mode_v1::{self, ZwlrOutputModeV1},
};

use crate::fixture::client::TestClientState;
use crate::fixture::{ClientEvent, ClientIndex, OUTPUT, TestWorld};

fn note(data: &mut TestClientState, words: impl Into<String>) {
    data.events.push(ClientEvent::InWords(words.into()));
}

impl Dispatch<ZwlrOutputManagerV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwlrOutputManagerV1,
        event: zwlr_output_manager_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            zwlr_output_manager_v1::Event::Head { head } => data.output_heads.heads.push(head),
            zwlr_output_manager_v1::Event::Done { serial } => {
                data.output_heads.serial = serial;
                note(data, "done");
            }
            zwlr_output_manager_v1::Event::Finished => note(data, "finished"),
            _ => {}
        }
    }

    event_created_child!(TestClientState, ZwlrOutputManagerV1, [EVT_HEAD_OPCODE => (ZwlrOutputHeadV1, ())]);
}

impl Dispatch<ZwlrOutputHeadV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        head: &ZwlrOutputHeadV1,
        event: zwlr_output_head_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use zwlr_output_head_v1::Event as Said;
        let number = data.output_heads.heads.iter().position(|known| known == head).map_or(0, |index| index + 1);
        let words = match event {
            Said::Name { name } => format!("called {name}"),
            Said::Enabled { enabled } => if enabled == 1 { "enabled" } else { "disabled" }.to_owned(),
            Said::Position { x, y } => format!("at {x},{y}"),
            Said::Scale { scale } => format!("scale {scale}"),
            Said::CurrentMode { .. } => "mode".to_owned(),
            Said::Transform { transform: WEnum::Value(turned) } if turned != Transform::Normal => {
                format!("turned {turned:?}")
            }
            Said::AdaptiveSync { state: WEnum::Value(AdaptiveSyncState::Enabled) } => "varies".to_owned(),
            Said::Finished => "gone".to_owned(),
            _ => return,
        };
        note(data, format!("{number} {words}"));
    }

    event_created_child!(TestClientState, ZwlrOutputHeadV1, [EVT_MODE_OPCODE => (ZwlrOutputModeV1, ())]);
}

impl Dispatch<ZwlrOutputModeV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwlrOutputModeV1,
        event: zwlr_output_mode_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            zwlr_output_mode_v1::Event::Size { width, height } => note(data, format!("has {width}x{height}")),
            zwlr_output_mode_v1::Event::Finished => note(data, "mode gone"),
            _ => {}
        }
    }
}

impl Dispatch<ZwlrOutputConfigurationV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwlrOutputConfigurationV1,
        event: zwlr_output_configuration_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let words = match event {
            zwlr_output_configuration_v1::Event::Succeeded => "succeeded",
            zwlr_output_configuration_v1::Event::Failed => "failed",
            zwlr_output_configuration_v1::Event::Cancelled => "cancelled",
            _ => return,
        };
        note(data, words);
    }
}

impl Dispatch<ZwlrOutputConfigurationHeadV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &ZwlrOutputConfigurationHeadV1,
        _: <ZwlrOutputConfigurationHeadV1 as Proxy>::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

pub fn output_manager_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.turn();
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

/// A client that has bound the output manager and knows all outputs.
pub fn manager(world: &mut TestWorld) -> (ClientIndex, ZwlrOutputManagerV1) {
    let client = world.connect();
    let manager = world.client(client).bind::<ZwlrOutputManagerV1>();
    (client, manager)
}

pub type HeadWithSettings = ZwlrOutputConfigurationHeadV1;
/// Number of an output and its wanted settings; `None` disables it.
pub type HeadRequest<'a> = (usize, Option<&'a dyn Fn(&HeadWithSettings)>);

/// Makes a configuration of these outputs by their `describe`; `None` takes an output out of the layout.
pub fn configure(
    world: &mut TestWorld,
    client: ClientIndex,
    manager: &ZwlrOutputManagerV1,
    wishes: &[HeadRequest<'_>],
) -> ZwlrOutputConfigurationV1 {
    let client = world.client(client);
    let handle = client.handle();
    let configuration = manager.create_configuration(client.data.output_heads.serial, &handle, ());
    for (number, describe) in wishes {
        let head = &client.data.output_heads.heads[number - 1];
        match describe {
            Some(describe) => describe(&configuration.enable_head(head, &handle, ())),
            None => configuration.disable_head(head),
        }
    }
    configuration
}

pub fn area(world: &TestWorld, name: &str) -> (i32, i32, i32, i32) {
    let output = world.state.outputs.iter().find(|output| output.name() == name).expect("it is in the layout");
    let area = upbeat::output::geometry(output);
    (area.loc.x, area.loc.y, area.size.w, area.size.h)
}

#[test]
fn manager_lists_outputs_and_sends_changes() {
    let mut world = TestWorld::rendered();
    let (client, manager) = manager(&mut world);
    let size = format!("has {}x{}", OUTPUT.0, OUTPUT.1);
    let all = ["1 called TEST-1", &size, "1 enabled", "1 mode", "1 at 0,0", "1 scale 1", "done"];
    assert_eq!(output_manager_events(&mut world, client), all);
    assert_eq!(output_manager_events(&mut world, client), [""; 0]);
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let heard = output_manager_events(&mut world, client);
    assert_eq!((heard[0].as_str(), heard[4].as_str(), heard.len()), ("2 called TEST-2", "2 at 1280,0", 7));
    world.unplug("TEST-2");
    assert_eq!(output_manager_events(&mut world, client), ["mode gone", "2 gone", "done"]);
    manager.stop();
    assert_eq!(output_manager_events(&mut world, client), ["finished"]);
}

#[test]
fn mode_scale_and_position_are_set_together() {
    let mut world = TestWorld::rendered();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let left = |head: &HeadWithSettings| {
        head.set_custom_mode(800, 600, 50_000);
        head.set_position(1280, 0);
        head.set_scale(2.0);
        head.set_transform(Transform::Normal);
    };
    let right = |head: &HeadWithSettings| head.set_position(0, 0);
    configure(&mut world, client, &manager, &[(1, Some(&left)), (2, Some(&right))]).test();
    assert_eq!(output_manager_events(&mut world, client), ["succeeded"], "a test changes nothing");
    configure(&mut world, client, &manager, &[(1, Some(&left)), (2, Some(&right))]).apply();
    world.run_until_idle();
    let heard = output_manager_events(&mut world, client);
    assert!(heard.contains(&"succeeded".to_owned()) && heard.contains(&"1 scale 2".to_owned()), "{heard:?}");
    assert!(heard.contains(&"has 800x600".to_owned()) && heard.contains(&"2 at 0,0".to_owned()), "{heard:?}");
    assert_eq!((area(&world, "TEST-1"), area(&world, "TEST-2")), ((1280, 0, 400, 300), (0, 0, OUTPUT.0, OUTPUT.1)));
}

#[test]
fn unset_refresh_rate_is_chosen_by_the_display() {
    let mut world = TestWorld::rendered();
    world.plug_in_at("TEST-2", 144_000, (OUTPUT.0, 0));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let open = |head: &HeadWithSettings| head.set_custom_mode(OUTPUT.0, OUTPUT.1, 0);
    configure(&mut world, client, &manager, &[(1, Some(&open)), (2, Some(&open))]).apply();
    world.run_until_idle();
    assert_eq!(output_manager_events(&mut world, client), ["succeeded"], "both are so, and nothing is switched");
    let rates: Vec<_> = world.state.outputs.states().map(|output| output.display().mode().refresh).collect();
    assert_eq!(rates, [60_000, 144_000]);
}

#[test]
fn transform_is_applied_with_the_configuration_and_kept_while_the_output_is_disabled() {
    let mut world = TestWorld::rendered();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let turned = |head: &HeadWithSettings| {
        head.set_transform(Transform::Flipped90);
        head.set_scale(2.0);
    };
    configure(&mut world, client, &manager, &[(2, Some(&turned))]).test();
    assert_eq!(output_manager_events(&mut world, client), ["succeeded"], "a test changes nothing");
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, OUTPUT.0, OUTPUT.1));
    configure(&mut world, client, &manager, &[(2, Some(&turned))]).apply();
    assert_eq!(output_manager_events(&mut world, client), ["succeeded", "2 turned Flipped90", "2 scale 2", "done"]);
    let half = (OUTPUT.0, 0, OUTPUT.1 / 2, OUTPUT.0 / 2);
    assert_eq!(area(&world, "TEST-2"), half);
    let nothing = |_: &HeadWithSettings| {};
    configure(&mut world, client, &manager, &[(2, None)]).apply();
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&nothing))]).apply();
    world.run_until_idle();
    assert!(output_manager_events(&mut world, client).contains(&"2 turned Flipped90".to_owned()));
    assert_eq!(area(&world, "TEST-2"), half);
    // A refused configuration does not change the transform.
    let wrong = |head: &HeadWithSettings| {
        head.set_transform(Transform::Normal);
        head.set_scale(100.0);
    };
    configure(&mut world, client, &manager, &[(2, Some(&wrong))]).apply();
    assert_eq!((output_manager_events(&mut world, client), area(&world, "TEST-2")), (vec!["failed".to_owned()], half));
}

#[test]
fn impossible_configuration_is_refused_as_a_whole() {
    let mut world = TestWorld::rendered();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let good = |head: &HeadWithSettings| head.set_scale(2.0);
    let wrong: [&dyn Fn(&HeadWithSettings); 3] =
        [&|head| head.set_scale(100.0), &|head| head.set_custom_mode(100_000, 100_000, 60_000), &|head| {
            head.set_custom_mode(800, 600, 1)
        }];
    for wrong in wrong {
        configure(&mut world, client, &manager, &[(1, Some(&good)), (2, Some(wrong))]).apply();
        assert_eq!(output_manager_events(&mut world, client), ["failed"]);
        assert_eq!(area(&world, "TEST-1"), (0, 0, OUTPUT.0, OUTPUT.1), "nothing of it was done");
    }
}

#[test]
fn disabled_output_leaves_the_layout_and_returns_to_its_position() {
    let mut world = TestWorld::rendered();
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    let (_, _window) = world.open("a", 400, 300);
    let surface = world.window("a").surface().clone();
    upbeat::shell::set_location(&mut world.state, &surface, (OUTPUT.0 + 100, 100).into());
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, None)]).apply();
    let heard = output_manager_events(&mut world, client);
    assert_eq!(heard, ["succeeded", "2 disabled", "done"]);
    assert_eq!(world.state.outputs.iter().count(), 1);
    assert!(world.window("a").rect().loc.x < OUTPUT.0, "its windows are shown on another output");
    let nothing = |_: &HeadWithSettings| {};
    configure(&mut world, client, &manager, &[(2, Some(&nothing))]).apply();
    assert_eq!(output_manager_events(&mut world, client), [""; 0], "it has shown no frame yet");
    world.run_until_idle();
    let heard = output_manager_events(&mut world, client);
    assert_eq!(heard, ["succeeded", "2 enabled", "2 mode", "2 at 1280,0", "2 scale 1", "done"]);
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, OUTPUT.0, OUTPUT.1));
    assert_eq!(world.window("a").rect().loc, (OUTPUT.0 + 100, 100).into());
    world.run_until_idle();
    // All outputs may be disabled: keys are then typed without a picture.
    configure(&mut world, client, &manager, &[(1, None), (2, None)]).apply();
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
    assert_eq!(world.state.outputs.iter().count(), 0);
    configure(&mut world, client, &manager, &[(1, Some(&nothing))]).apply();
    world.run_until_idle();
    assert!(output_manager_events(&mut world, client).contains(&"1 enabled".to_owned()));
}

#[test]
fn re_enabled_output_gets_its_place_and_unplaced_outputs_make_room() {
    let mut world = TestWorld::rendered();
    // No position is configured: the outputs are placed beside each other.
    for name in ["TEST-2", "TEST-3"] {
        world.plug_in_unplaced(name, 60_000);
    }
    let lie = |world: &TestWorld| ["TEST-1", "TEST-2", "TEST-3"].map(|name| area(world, name).0);
    let side_by_side = [0, OUTPUT.0, 2 * OUTPUT.0];
    assert_eq!(lie(&world), side_by_side);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let nothing = |_: &HeadWithSettings| {};
    for head in [1, 2, 3] {
        configure(&mut world, client, &manager, &[(head, None)]).apply();
        assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
        assert_eq!(world.state.outputs.iter().count(), 2);
        configure(&mut world, client, &manager, &[(head, Some(&nothing))]).apply();
        world.run_until_idle();
        assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
        assert_eq!(lie(&world), side_by_side);
    }
    // This output still has no configured position.
    configure(&mut world, client, &manager, &[(2, Some(&|head: &HeadWithSettings| head.set_scale(2.0)))]).apply();
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
    assert_eq!(lie(&world), [0, OUTPUT.0, OUTPUT.0 + OUTPUT.0 / 2]);
}

#[test]
fn configuration_with_an_old_serial_is_cancelled() {
    let mut world = TestWorld::rendered();
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let good = |head: &HeadWithSettings| head.set_scale(2.0);
    let old = configure(&mut world, client, &manager, &[(1, Some(&good))]);
    world.plug_in_at("TEST-2", 60_000, (OUTPUT.0, 0));
    output_manager_events(&mut world, client);
    old.apply();
    assert_eq!(output_manager_events(&mut world, client), ["cancelled"]);
    assert_eq!(area(&world, "TEST-1"), (0, 0, OUTPUT.0, OUTPUT.1));
}

#[test]
fn invalid_configuration_requests_are_protocol_errors() {
    type InvalidRequest = fn(&ZwlrOutputConfigurationV1, &ZwlrOutputHeadV1, &QueueHandle<TestClientState>);
    let wrong: [(&str, u32, InvalidRequest); 6] = [
        ("zwlr_output_configuration_v1", 1, |configuration, head, _| {
            configuration.disable_head(head);
            configuration.disable_head(head);
        }),
        ("zwlr_output_configuration_v1", 3, |configuration, _, _| {
            configuration.test();
            configuration.apply();
        }),
        ("zwlr_output_configuration_head_v1", 1, |configuration, head, handle| {
            let head = configuration.enable_head(head, handle, ());
            head.set_position(1, 1);
            head.set_position(1, 1);
        }),
        ("zwlr_output_configuration_head_v1", 3, |configuration, head, handle| {
            configuration.enable_head(head, handle, ()).set_custom_mode(0, 600, 0);
        }),
        ("zwlr_output_configuration_head_v1", 5, |configuration, head, handle| {
            configuration.enable_head(head, handle, ()).set_scale(-1.0);
        }),
        ("zwlr_output_configuration_head_v1", 1, |configuration, head, handle| {
            let head = configuration.enable_head(head, handle, ());
            head.set_transform(Transform::Normal);
            head.set_transform(Transform::Normal);
        }),
    ];
    let mut world = TestWorld::rendered();
    for (interface, code, wrong) in wrong {
        let (client, manager) = manager(&mut world);
        output_manager_events(&mut world, client);
        let configuration = configure(&mut world, client, &manager, &[]);
        let (head, handle) = (world.client(client).data.output_heads.heads[0].clone(), world.client(client).handle());
        wrong(&configuration, &head, &handle);
        world.settle();
        assert_eq!(world.client(client).error, Some((interface.to_owned(), code)));
    }
}
