//! A panic in the handler of a client's request ends only that client, and is counted.

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span;
use upbeat::guard::floor;
use upbeat_record::faults::{Fault, arm};

use crate::bad_input::world;
use crate::fixture::{ClientIndex, Event, KEY_A, Toplevel, World};

/// The code of `wl_display.error.implementation`.
const IMPLEMENTATION: u32 = 3;

/// Collects the fields of logged errors.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push_str(&format!("{field}={value:?} "));
    }
}

impl tracing::Subscriber for Log {
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
type Ask = fn(&mut World, ClientIndex, &Toplevel);

const ASKS: &[(&str, Ask)] = &[
    ("wl_surface", |_, _, window| window.surface.damage(0, 0, 1, 1)),
    ("wl_compositor", |world, client, _| _ = world.client(client).surface()),
    ("xdg_toplevel", |_, _, window| window.toplevel.destroy()),
    ("wl_output", |world, client, _| _ = world.client(client).bind_output()),
];

#[test]
fn who_meets_a_bug_ends_alone_and_it_is_logged_with_where_it_was_and_counted() {
    for (interface, ask) in ASKS {
        let log = Log::default();
        let _hears = tracing::subscriber::set_default(log.clone());
        let (mut world, good, bad, window) = world();
        let before = floor::count();
        arm(Fault::Request, 1);
        ask(&mut world, bad, &window);
        world.bugs += 1;
        world.settle();
        assert_eq!(floor::count(), before + 1);
        assert_eq!(world.client(bad).error, Some(("wl_display".to_owned(), IMPLEMENTATION)), "{interface}");
        assert!(world.client(bad).said().contains("a bug in the compositor"));
        assert_eq!(world.stack(), ["good"]);
        world.open_in(good, "another", 50, 50);
        assert!(!world.client(good).is_gone());
        let said = log.0.lock().unwrap().clone();
        let words =
            [format!("interface=\"{interface}\""), "a fault on purpose: Request".into(), "src/faults.rs:".into()];
        words.iter().for_each(|word| assert!(said.contains(word), "{word} is not in {said}"));
    }
}

#[test]
fn who_meets_a_bug_at_an_offer_of_data_ends_alone() {
    let mut world = World::new();
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
        Event::Selection(offer) => Some(offer),
        _ => None,
    });
    let (_reader, writer) = std::io::pipe().unwrap();
    arm(Fault::Request, 1);
    offer.flatten().unwrap().receive("text/plain".to_owned(), writer.as_fd());
    world.bugs += 1;
    world.settle();
    assert_eq!(world.client(target).error, Some(("wl_display".to_owned(), IMPLEMENTATION)));
    assert_eq!(world.stack(), ["source"]);
    assert!(!world.client(source_client).is_gone());
}

#[test]
fn a_bug_at_the_end_of_one_who_met_a_bug_is_borne_and_he_ends_without_a_word() {
    let (mut world, good, bad, window) = world();
    arm(Fault::Request, 1);
    arm(Fault::Farewell, 1);
    window.surface.damage(0, 0, 1, 1);
    world.bugs += 2;
    world.settle();
    assert!(world.client(bad).is_gone());
    assert_eq!(world.stack(), ["good"]);
    world.open_in(good, "another", 50, 50);
}

/// Has a request of `bad` panic at the `nth` access to a surface's states, while Smithay's lock of the surface is held.
#[track_caller]
fn meets_it_at_a_surface(nth: u32) {
    let (mut world, good, bad, window) = world();
    arm(Fault::States, nth);
    world.client(bad).show(&window.surface, 60, 50);
    world.bugs += 1;
    world.settle();
    world.turn();
    assert_eq!(world.client(bad).error, Some(("wl_display".to_owned(), IMPLEMENTATION)), "{nth}");
    assert_eq!(world.stack(), ["good"], "{nth}");
    world.open_in(good, "another", 50, 50);
}

#[test]
fn a_surface_that_a_bug_was_met_in_can_still_be_let_go_of() {
    (1..=6).for_each(meets_it_at_a_surface);
}

#[test]
fn nothing_is_kept_of_an_object_at_whose_end_a_bug_was_met() {
    for nth in 1..=40 {
        let (mut world, good, bad, window) = world();
        let positioner = world.client(bad).positioner(0, 0, 20, 20);
        let popup = world.client(bad).popup(&window.xdg, &positioner);
        popup.surface.commit();
        world.settle();
        let before = floor::count();
        arm(Fault::End, nth);
        world.hang_up(bad);
        world.carry_once();
        world.bugs = floor::count();
        arm(Fault::End, 0);
        world.turn();
        assert_eq!(world.stack(), ["good"], "{nth}");
        assert_eq!(world.state.surfaces.iter().count(), 1, "the end of object {nth} left a surface");
        world.open_in(good, "another", 50, 50);
        if floor::count() == before {
            assert!(nth > 5, "only {nth} objects ended");
            return;
        }
    }
    panic!("more objects ended than were made");
}
