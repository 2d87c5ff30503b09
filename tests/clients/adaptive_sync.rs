//! Adaptive sync by `zwlr_output_manager_v1`: a client switches the variable refresh rate of an output on and off.

use wayland_protocols_wlr::output_management::v1::client::zwlr_output_head_v1::AdaptiveSyncState;

use crate::fixture::{ClientIndex, OUTPUT, TestWorld};
use crate::output_management::{HeadWithSettings, configure, manager, output_manager_events};
use upbeat::backend::{Display as _, VideoMode};
use upbeat_timing::time::Span;
use wayland_protocols_wlr::output_management::v1::client::zwlr_output_manager_v1::ZwlrOutputManagerV1;

fn on(head: &HeadWithSettings) {
    head.set_adaptive_sync(AdaptiveSyncState::Enabled);
}

fn off(head: &HeadWithSettings) {
    head.set_adaptive_sync(AdaptiveSyncState::Disabled);
}

/// The range of rates of an output in mHz (slowest, fastest); `None`: the rate is fixed.
fn range(world: &TestWorld, name: &str) -> Option<(u32, u32)> {
    let output = world.state.outputs.states().find(|output| output.output().name() == name).unwrap();
    let range = output.display().capabilities().variable_refresh;
    range.map(|(shortest, longest)| (longest.to_millihertz(), shortest.to_millihertz()))
}

/// Applies a configuration of one output; returns the events.
fn apply(
    world: &mut TestWorld,
    (client, manager): (ClientIndex, &ZwlrOutputManagerV1),
    head: usize,
    wish: &dyn Fn(&HeadWithSettings),
) -> Vec<String> {
    configure(world, client, manager, &[(head, Some(wish))]).apply();
    world.run_until_idle();
    output_manager_events(world, client)
}

#[test]
fn client_switches_adaptive_sync_on_and_off() {
    let mut world = TestWorld::rendered();
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(1, Some(&on))]).test();
    assert_eq!(output_manager_events(&mut world, client), ["succeeded"], "a test changes nothing");
    assert_eq!(range(&world, "TEST-1"), None);
    assert_eq!(apply(&mut world, (client, &manager), 1, &on), ["succeeded", "1 varies", "done"]);
    assert_eq!(range(&world, "TEST-1"), Some((48_000, 60_000)));
    assert_eq!(apply(&mut world, (client, &manager), 1, &on), ["succeeded"], "it is on");
    assert_eq!(apply(&mut world, (client, &manager), 1, &off), ["succeeded", "done"]);
    assert_eq!(range(&world, "TEST-1"), None);
}

#[test]
fn mode_change_keeps_the_variable_rate() {
    let mut world = TestWorld::rendered();
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    apply(&mut world, (client, &manager), 1, &on);
    let faster = |head: &HeadWithSettings| head.set_custom_mode(800, 600, 75_000);
    assert!(apply(&mut world, (client, &manager), 1, &faster).contains(&"succeeded".to_owned()));
    assert_eq!(range(&world, "TEST-1"), Some((48_000, 75_000)), "up to the rate of the new mode");
    let both = |head: &HeadWithSettings| {
        head.set_custom_mode(640, 480, 50_000);
        off(head);
    };
    assert!(apply(&mut world, (client, &manager), 1, &both).contains(&"succeeded".to_owned()));
    assert_eq!(range(&world, "TEST-1"), None);
}

#[test]
fn adaptive_sync_returns_with_the_configured_lowest_rate() {
    let mut world = TestWorld::rendered();
    world.plug_in_as("TEST-2", 60_000, (OUTPUT.0, 0), |output| {
        let mode = VideoMode { refresh: 120_000, ..output.mode() };
        output.reconfigure(mode, Some((mode.interval(), Span::from_millihertz(40_000)))).unwrap();
        Box::new(output)
    });
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    assert_eq!(range(&world, "TEST-2"), Some((40_000, 120_000)));
    apply(&mut world, (client, &manager), 2, &off);
    assert_eq!(range(&world, "TEST-2"), None);
    apply(&mut world, (client, &manager), 2, &on);
    assert_eq!(range(&world, "TEST-2"), Some((40_000, 120_000)));
}

#[test]
fn adaptive_sync_is_refused_where_the_rate_cannot_vary() {
    let mut world = TestWorld::rendered();
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let slow = |head: &HeadWithSettings| {
        head.set_custom_mode(800, 600, 30_000);
        on(head);
    };
    assert_eq!(apply(&mut world, (client, &manager), 1, &slow), ["failed"]);
    let mode = world.state.outputs.states().next().unwrap().display().mode();
    assert_eq!((mode.width, mode.height), OUTPUT, "nothing of it was done");
}
