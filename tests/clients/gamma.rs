//! Gamma ramps: one client controls the ramp of a display, and the original ramp is restored afterwards.

use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};

use upbeat::backend::GammaRamp;
use upbeat::backend::headless::OutputOptions;
use wayland_client::protocol::wl_output::WlOutput;
use wayland_client::{Connection, Dispatch, QueueHandle};
use wayland_protocols_wlr::gamma_control::v1::client::zwlr_gamma_control_manager_v1::{
    self, ZwlrGammaControlManagerV1,
};
use wayland_protocols_wlr::gamma_control::v1::client::zwlr_gamma_control_v1::{self, ZwlrGammaControlV1};

use crate::fixture::client::TestClientState;
use crate::fixture::{ClientEvent, ClientIndex, TestWorld};

const SIZE: u32 = 4;

impl Dispatch<ZwlrGammaControlManagerV1, ()> for TestClientState {
    fn event(
        _: &mut Self,
        _: &ZwlrGammaControlManagerV1,
        _: zwlr_gamma_control_manager_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<ZwlrGammaControlV1, ()> for TestClientState {
    fn event(
        data: &mut Self,
        _: &ZwlrGammaControlV1,
        event: zwlr_gamma_control_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        data.events.push(ClientEvent::InWords(match event {
            zwlr_gamma_control_v1::Event::GammaSize { size } => format!("size {size}"),
            _ => "failed".to_owned(),
        }));
    }
}

fn words_since_last_call(world: &mut TestWorld, client: ClientIndex) -> Vec<String> {
    world.settle();
    let told = |event| if let ClientEvent::InWords(what) = event { Some(what) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

impl TestWorld {
    fn frames(&self) -> usize {
        self.state.outputs.states().next().unwrap().records().iter().count()
    }
}

fn with_a_table() -> TestWorld {
    TestWorld::rendered_on(OutputOptions { gamma: Some(SIZE), ..OutputOptions::default() })
}

fn request_gamma_control(world: &mut TestWorld, client: ClientIndex) -> ZwlrGammaControlV1 {
    let client = world.client(client);
    let output = client.bind::<WlOutput>();
    client.bind::<ZwlrGammaControlManagerV1>().get_gamma_control(&output, &client.handle(), ())
}

fn ramp() -> GammaRamp {
    GammaRamp { red: vec![0, 1, 2, 3], green: vec![4, 5, 6, 7], blue: vec![8, 9, 10, 65535] }
}

fn file(values: usize) -> OwnedFd {
    let ramp = ramp();
    let all = ramp.red.iter().chain(&ramp.green).chain(&ramp.blue).chain([&0; 8]);
    let bytes: Vec<u8> = all.take(values).flat_map(|value| value.to_ne_bytes()).collect();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    file.into()
}

#[test]
fn gamma_control_of_a_display_without_a_table_fails() {
    let mut world = TestWorld::new();
    let client = world.connect();
    let control = request_gamma_control(&mut world, client);
    assert_eq!(words_since_last_call(&mut world, client), ["failed"]);
    control.set_gamma(file(12).as_fd());
    assert!(words_since_last_call(&mut world, client).is_empty(), "the object is inert");
    assert!(!world.client(client).is_disconnected());
}

#[test]
fn gamma_ramp_is_reset_when_its_client_disconnects() {
    let mut world = with_a_table();
    let client = world.connect();
    let control = request_gamma_control(&mut world, client);
    assert_eq!(words_since_last_call(&mut world, client), ["size 4"]);
    assert_eq!(world.gamma(), None);
    control.set_gamma(file(12).as_fd());
    world.settle();
    assert_eq!(world.gamma(), Some(ramp()));
    world.kill(client);
    world.settle();
    assert_eq!(world.gamma(), None, "the ramp is restored");
}

#[test]
fn idle_display_draws_one_frame_for_a_new_gamma_ramp() {
    let mut world = with_a_table();
    let client = world.connect();
    let control = request_gamma_control(&mut world, client);
    world.settle();
    world.run_until_idle();
    let before = world.frames();
    control.set_gamma(file(12).as_fd());
    world.run_until("a frame for the ramp", |world| world.frames() > before);
    world.run_until_idle();
    assert_eq!(world.frames(), before + 1);
}

#[test]
fn second_gamma_control_fails_until_the_first_is_destroyed() {
    let mut world = with_a_table();
    let (first, second) = (world.connect(), world.connect());
    let held = request_gamma_control(&mut world, first);
    world.settle();
    request_gamma_control(&mut world, second);
    assert_eq!(words_since_last_call(&mut world, second), ["failed"]);
    held.destroy();
    world.settle();
    request_gamma_control(&mut world, second);
    assert_eq!(words_since_last_call(&mut world, second), ["size 4"]);
}

#[test]
fn gamma_file_of_wrong_length_is_a_protocol_error() {
    for values in [0, 11, 13] {
        let mut world = with_a_table();
        let client = world.connect();
        let control = request_gamma_control(&mut world, client);
        world.settle();
        control.set_gamma(file(values).as_fd());
        world.settle();
        let code = zwlr_gamma_control_v1::Error::InvalidGamma as u32;
        assert_eq!(world.client(client).error, Some(("zwlr_gamma_control_v1".to_owned(), code)), "{values} values");
        assert_eq!(world.gamma(), None);
    }
}

#[test]
fn gamma_pipe_without_data_does_not_block_the_session() {
    let mut world = with_a_table();
    let client = world.connect();
    let control = request_gamma_control(&mut world, client);
    world.settle();
    let (reader, _writer) = rustix::pipe::pipe().unwrap();
    control.set_gamma(reader.as_fd());
    world.settle();
    assert!(world.client(client).is_disconnected());
}

#[test]
fn unplugging_a_display_fails_its_gamma_control() {
    let mut world = with_a_table();
    let client = world.connect();
    request_gamma_control(&mut world, client);
    world.settle();
    world.client(client).take_events();
    world.unplug("TEST-1");
    assert_eq!(words_since_last_call(&mut world, client), ["failed"]);
}
