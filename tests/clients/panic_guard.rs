//! A panic in the handler of a client's request ends only that client, and is counted.

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span;
use upbeat::guard::panic_guard;
use upbeat_record::faults::{Fault, arm};

use crate::bad_input::world;
use crate::fixture::{ClientEvent, ClientIndex, KEY_A, TestToplevel, TestWorld};

/// The code of `wl_display.error.implementation`.
const IMPLEMENTATION: u32 = 3;

/// Collects the fields of logged errors.
#[derive(Clone, Default)]
struct ErrorFieldLog(Arc<Mutex<String>>);

impl Visit for ErrorFieldLog {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?} "));
    }
}

impl tracing::Subscriber for ErrorFieldLog {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::ERROR
    }

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// The request whose handler panics.
type PanickingRequest = fn(&mut TestWorld, ClientIndex, &TestToplevel);

const ASKS: &[(&str, PanickingRequest)] = &[
    ("wl_surface", |_, _, window| window.surface.damage(0, 0, 1, 1)),
    ("wl_compositor", |world, client, _| _ = world.client(client).surface()),
    ("xdg_toplevel", |_, _, window| window.toplevel.destroy()),
    ("wl_output", |world, client, _| _ = world.client(client).bind_output()),
];

#[test]
fn panic_in_a_request_ends_only_its_client_and_is_logged_and_counted() {
    for (interface, ask) in ASKS {
        let log = ErrorFieldLog::default();
        let _hears = tracing::subscriber::set_default(log.clone());
        let (mut world, good, bad, window) = world();
        let before = panic_guard::count();
        arm(Fault::Request, 1);
        ask(&mut world, bad, &window);
        world.expected_panics += 1;
        world.settle();
        assert_eq!(panic_guard::count(), before + 1);
        assert_eq!(world.client(bad).error, Some(("wl_display".to_owned(), IMPLEMENTATION)), "{interface}");
        assert!(world.client(bad).error_message().contains("a bug in the compositor"));
        assert_eq!(world.stack(), ["good"]);
        world.open_in(good, "another", 50, 50);
        assert!(!world.client(good).is_disconnected());
        let said = log.0.lock().unwrap().clone();
        let words =
            [format!("interface=\"{interface}\""), "a fault on purpose: Request".into(), "src/faults.rs:".into()];
        words.iter().for_each(|word| assert!(said.contains(word), "{word} is not in {said}"));
    }
}

#[test]
fn panic_in_a_data_offer_ends_only_its_client() {
    let mut world = TestWorld::new();
    let (source_client, _) = world.open("source", 200, 100);
    world.key(KEY_A, true);
    let serial = world.client(source_client).press_serial();
    world.key(KEY_A, false);
    let client = world.client(source_client);
    let source = client.globals().data_devices.create_data_source(&client.handle(), ());
    source.offer("text/plain".to_owned());
    client.globals().data_device.set_selection(Some(&source), serial);
    world.settle();
    let (target, _) = world.open("target", 200, 100);
    let offer = world.client(target).take_events().into_iter().rev().find_map(|event| match event {
        ClientEvent::Selection(offer) => Some(offer),
        _ => None,
    });
    let (_reader, writer) = std::io::pipe().unwrap();
    arm(Fault::Request, 1);
    offer.flatten().unwrap().receive("text/plain".to_owned(), writer.as_fd());
    world.expected_panics += 1;
    world.settle();
    assert_eq!(world.client(target).error, Some(("wl_display".to_owned(), IMPLEMENTATION)));
    assert_eq!(world.stack(), ["source"]);
    assert!(!world.client(source_client).is_disconnected());
}

#[test]
fn panic_while_ending_a_panicked_client_is_caught() {
    let (mut world, good, bad, window) = world();
    arm(Fault::Request, 1);
    arm(Fault::Farewell, 1);
    window.surface.damage(0, 0, 1, 1);
    world.expected_panics += 2;
    world.settle();
    assert!(world.client(bad).is_disconnected());
    assert_eq!(world.stack(), ["good"]);
    world.open_in(good, "another", 50, 50);
}

/// Has a request of `bad` panic at the `nth` access to a surface's states, while Smithay's lock of the surface is held.
#[track_caller]
fn panics_at_surface_access(nth: u32) {
    let (mut world, good, bad, window) = world();
    arm(Fault::States, nth);
    world.client(bad).commit_buffer(&window.surface, 60, 50);
    world.expected_panics += 1;
    world.settle();
    world.turn();
    assert_eq!(world.client(bad).error, Some(("wl_display".to_owned(), IMPLEMENTATION)), "{nth}");
    assert_eq!(world.stack(), ["good"], "{nth}");
    world.open_in(good, "another", 50, 50);
}

#[test]
fn surface_whose_states_panicked_can_be_destroyed() {
    (1..=6).for_each(panics_at_surface_access);
}

#[test]
fn object_whose_destruction_panicked_leaves_no_surface() {
    for nth in 1..=40 {
        let (mut world, good, bad, window) = world();
        let positioner = world.client(bad).positioner(0, 0, 20, 20);
        let popup = world.client(bad).popup(&window.xdg, &positioner);
        popup.surface.commit();
        world.settle();
        let before = panic_guard::count();
        arm(Fault::End, nth);
        world.hang_up(bad);
        world.deliver_once();
        world.expected_panics = panic_guard::count();
        arm(Fault::End, 0);
        world.turn();
        assert_eq!(world.stack(), ["good"], "{nth}");
        assert_eq!(world.state.surfaces.iter().count(), 1, "the end of object {nth} left a surface");
        world.open_in(good, "another", 50, 50);
        if panic_guard::count() == before {
            assert!(nth > 5, "only {nth} objects ended");
            return;
        }
    }
    panic!("more objects ended than were made");
}
