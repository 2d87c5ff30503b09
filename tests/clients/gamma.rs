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

use crate::fixture::client::Data;
use crate::fixture::{ClientIndex, Event, World};

const SIZE: u32 = 4;

impl Dispatch<ZwlrGammaControlManagerV1, ()> for Data {
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

impl Dispatch<ZwlrGammaControlV1, ()> for Data {
    fn event(
        data: &mut Self,
        _: &ZwlrGammaControlV1,
        event: zwlr_gamma_control_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        data.events.push(Event::Told(match event {
            zwlr_gamma_control_v1::Event::GammaSize { size } => format!("size {size}"),
            _ => "failed".to_owned(),
        }));
    }
}

fn told(world: &mut World, client: ClientIndex) -> Vec<String> {
    world.settle();
    let told = |event| if let Event::Told(what) = event { Some(what) } else { None };
    world.client(client).take_events().into_iter().filter_map(told).collect()
}

impl World {
    fn frames(&self) -> usize {
        self.state.outputs.states().next().unwrap().records().iter().count()
    }
}

fn with_a_table() -> World {
    World::lit_on(OutputOptions { gamma: Some(SIZE), ..OutputOptions::default() })
}

fn ask(world: &mut World, client: ClientIndex) -> ZwlrGammaControlV1 {
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
fn a_display_without_a_table_fails_who_asks() {
    let mut world = World::new();
    let client = world.connect();
    let control = ask(&mut world, client);
    assert_eq!(told(&mut world, client), ["failed"]);
    control.set_gamma(file(12).as_fd());
    assert!(told(&mut world, client).is_empty(), "the object is inert");
    assert!(!world.client(client).is_gone());
}

#[test]
fn a_ramp_is_shown_until_its_client_goes() {
    let mut world = with_a_table();
    let client = world.connect();
    let control = ask(&mut world, client);
    assert_eq!(told(&mut world, client), ["size 4"]);
    assert_eq!(world.gamma(), None);
    control.set_gamma(file(12).as_fd());
    world.settle();
    assert_eq!(world.gamma(), Some(ramp()));
    world.kill(client);
    world.settle();
    assert_eq!(world.gamma(), None, "the ramp is restored");
}

#[test]
fn a_display_without_motion_is_drawn_once_for_a_new_ramp() {
    let mut world = with_a_table();
    let client = world.connect();
    let control = ask(&mut world, client);
    world.settle();
    world.rest();
    let before = world.frames();
    control.set_gamma(file(12).as_fd());
    world.until("a frame for the ramp", |world| world.frames() > before);
    world.rest();
    assert_eq!(world.frames(), before + 1);
}

#[test]
fn a_second_client_fails_until_the_first_lets_go() {
    let mut world = with_a_table();
    let (first, second) = (world.connect(), world.connect());
    let held = ask(&mut world, first);
    world.settle();
    ask(&mut world, second);
    assert_eq!(told(&mut world, second), ["failed"]);
    held.destroy();
    world.settle();
    ask(&mut world, second);
    assert_eq!(told(&mut world, second), ["size 4"]);
}

#[test]
fn a_file_of_another_length_is_a_protocol_error() {
    for values in [0, 11, 13] {
        let mut world = with_a_table();
        let client = world.connect();
        let control = ask(&mut world, client);
        world.settle();
        control.set_gamma(file(values).as_fd());
        world.settle();
        let code = zwlr_gamma_control_v1::Error::InvalidGamma as u32;
        assert_eq!(world.client(client).error, Some(("zwlr_gamma_control_v1".to_owned(), code)), "{values} values");
        assert_eq!(world.gamma(), None);
    }
}

#[test]
fn a_pipe_that_nobody_writes_to_holds_nobody_up() {
    let mut world = with_a_table();
    let client = world.connect();
    let control = ask(&mut world, client);
    world.settle();
    let (reader, _writer) = rustix::pipe::pipe().unwrap();
    control.set_gamma(reader.as_fd());
    world.settle();
    assert!(world.client(client).is_gone());
}

#[test]
fn an_unplugged_display_takes_its_ramp_along() {
    let mut world = with_a_table();
    let client = world.connect();
    ask(&mut world, client);
    world.settle();
    world.client(client).take_events();
    world.unplug("TEST-1");
    assert_eq!(told(&mut world, client), ["failed"]);
}
