//! `zwlr_output_power_v1`: clients that switch outputs on and off.

use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum};
use wayland_protocols_wlr::output_power_management::v1::client::zwlr_output_power_manager_v1::ZwlrOutputPowerManagerV1;
use wayland_protocols_wlr::output_power_management::v1::client::zwlr_output_power_v1::{self, Mode, ZwlrOutputPowerV1};

use crate::fixture::client::TestClientState;
use crate::fixture::content::BLUE;
use crate::fixture::{ClientEvent, ClientIndex, TestWorld};
use crate::render_thread::{disturb, gles_only_session, is_dark, show};
use upbeat::output::power;
use upbeat::render::GpuFault;

impl Dispatch<ZwlrOutputPowerManagerV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &ZwlrOutputPowerManagerV1,
        _: <ZwlrOutputPowerManagerV1 as Proxy>::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<ZwlrOutputPowerV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwlrOutputPowerV1,
        event: zwlr_output_power_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let words = match event {
            zwlr_output_power_v1::Event::Mode { mode: WEnum::Value(Mode::On) } => "on",
            zwlr_output_power_v1::Event::Mode { .. } => "off",
            zwlr_output_power_v1::Event::Failed => "failed",
            _ => return,
        };
        data.events.push(ClientEvent::InWords(words.to_owned()));
    }
}

fn power_events(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.turn();
    world.settle();
    let told = |event| if let ClientEvent::InWords(words) = event { Some(words) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

pub fn power(world: &mut TestWorld, client: ClientIndex) -> ZwlrOutputPowerV1 {
    let client = world.client(client);
    let (manager, output) = (client.bind::<ZwlrOutputPowerManagerV1>(), client.bind_output());
    manager.get_output_power(&output, &client.handle(), ())
}

fn is_on(world: &TestWorld) -> bool {
    world.state.outputs.states().next().unwrap().is_on()
}

#[test]
fn all_power_objects_receive_off_and_on() {
    let mut world = TestWorld::rendered();
    let (one, other) = (world.connect(), world.connect());
    let (first, second) = (power(&mut world, one), power(&mut world, other));
    assert_eq!(
        (power_events(&mut world, one), power_events(&mut world, other)),
        (vec!["on".to_owned()], vec!["on".to_owned()])
    );
    first.set_mode(Mode::Off);
    assert_eq!(
        (power_events(&mut world, one), power_events(&mut world, other)),
        (vec!["off".to_owned()], vec!["off".to_owned()])
    );
    assert!(!is_on(&world));
    second.set_mode(Mode::On);
    assert_eq!(
        (power_events(&mut world, one), power_events(&mut world, other)),
        (vec!["on".to_owned()], vec!["on".to_owned()])
    );
    assert!(is_on(&world));
    // The last request counts; a mode that the client knows already is not sent again.
    first.set_mode(Mode::Off);
    second.set_mode(Mode::On);
    world.settle();
    assert!(is_on(&world));
    assert_eq!(power_events(&mut world, one), [""; 0]);
}

#[test]
fn power_object_of_an_unplugged_output_fails_and_is_inert() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let object = power(&mut world, client);
    power_events(&mut world, client);
    world.unplug("TEST-1");
    assert_eq!(power_events(&mut world, client), ["failed"]);
    object.set_mode(Mode::Off);
    assert_eq!(power_events(&mut world, client), [""; 0]);
    assert!(!world.client(client).is_disconnected());
    world.kill(client);
    world.turn();
}

/// An output may be switched this often at once, and then once a second.
const AT_ONCE: usize = 8;

#[test]
fn pending_power_request_is_applied_although_the_renderer_fails() {
    let Some((mut world, painter, window)) = gles_only_session() else { return };
    let client = world.connect();
    let object = power(&mut world, client);
    for number in 0..AT_ONCE {
        object.set_mode(if number % 2 == 0 { Mode::Off } else { Mode::On });
    }
    object.set_mode(Mode::Off);
    world.settle();
    assert!(is_on(&world), "the last request waits");
    disturb(&world, GpuFault::Dead { contexts: 8, frames: 0 });
    show(&mut world, painter, &window, 2, BLUE);
    world.run_until("darkness", |world| is_dark(world));
    // Without the pending request, the output would be lit again with the renderer.
    world.run_until("the pending request is done", |world| power::wanted(&world.state).is_empty());
}

#[test]
fn unknown_power_mode_is_an_error() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let object = power(&mut world, client);
    let request = zwlr_output_power_v1::Request::SetMode { mode: WEnum::Unknown(7) };
    object.send_request(request).unwrap();
    world.settle();
    assert_eq!(world.client(client).error, Some(("zwlr_output_power_v1".to_owned(), 1)));
}
