//! Visible layer surfaces and their frame callbacks. Pixels are read beside the cursor, which lies in the corner.

use super::*;
use crate::fixture::content::ContentEvent;
use crate::fixture::{KEY_1, KEY_2};
use upbeat_timing::time::Span;

#[test]
fn layers_are_stacked_around_windows_and_stay_during_workspace_slides() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    world.map_layer(client, Layer::Background, GREEN, |layer| layer.set_anchor(Anchor::all()));
    world.map_layer(client, Layer::Top, RED, bar(30));
    world.open_filled("a", (400, 300), BLUE);
    world.run_until_idle();
    let look = |world: &TestWorld| (world.pixel(200, 5), world.pixel(5, 300), world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2));
    assert_eq!(look(&world), (RED, GREEN, BLUE));
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    world.run_until_idle();
    assert_eq!(look(&world), (RED, GREEN, GREEN));
    world.chord(&[KEY_LEFT_SUPER], KEY_1);
    world.run_until_idle();
}

#[test]
fn layer_surface_below_a_fullscreen_window_counts_as_hidden() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    let top = world.map_layer(client, Layer::Top, RED, bar(30));
    let overlay = world.map_layer(client, Layer::Overlay, GREEN, |layer| {
        layer.set_anchor(Anchor::Bottom);
        layer.set_size(100, 50);
    });
    let (window, a) = world.open_filled("a", (400, 300), BLUE);
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
    let size = world.client(window).ack_newest_configure().unwrap();
    world.client(window).draw(&a.surface, 2, size, BLUE);
    a.surface.commit();
    world.run_until_idle();
    assert_eq!((world.pixel(200, 5), world.pixel(OUTPUT.0 / 2, OUTPUT.1 - 5)), (BLUE, GREEN));
    // The hidden bar gets its callback once a second, as all hidden surfaces do; the overlay above gets its callback at
    // once.
    world.client(client).request_feedback(&top.surface, 7);
    world.client(client).request_feedback(&overlay.surface, 8);
    top.surface.commit();
    overlay.surface.commit();
    world.settle();
    let begun = world.now();
    world.run_until("the callback of the visible overlay", |world| {
        world.client(client).has_received(ContentEvent::Callback(8))
    });
    assert!(world.now() - begun < Span::from_millis(100));
    world.run_until("the callback of the hidden bar", |world| {
        world.client(client).has_received(ContentEvent::Callback(7))
    });
    assert!(world.now() - begun > Span::from_millis(500));
    // The bar is visible again when the window leaves fullscreen.
    world.client(window).take_events();
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
    world.client(window).ack_newest_configure();
    world.client(window).draw(&a.surface, 3, (400, 300), BLUE);
    a.surface.commit();
    world.run_until_idle();
    assert_eq!(world.pixel(200, 5), RED);
}

#[test]
fn a_bar_is_paced_and_presented_like_a_window() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    let top = world.map_layer(client, Layer::Top, RED, bar(30));
    world.run_until_idle();
    for update in 2..6 {
        world.client(client).request_feedback(&top.surface, update);
        world.client(client).draw(&top.surface, update, (OUTPUT.0, 30), if update % 2 == 0 { BLUE } else { RED });
        top.surface.commit();
        world.run_until("light", |world| world.client(client).light(update).is_some());
        world.run_until("its callback", |world| world.client(client).has_received(ContentEvent::Callback(update)));
    }
    world.run_until_idle();
    assert_eq!(world.pixel(200, 5), RED);
}

#[test]
fn opening_windows_does_not_change_a_bar() {
    let mut world = TestWorld::rendered();
    let client = world.connect();
    world.map_layer(client, Layer::Background, GREEN, |layer| layer.set_anchor(Anchor::all()));
    let top = world.map_layer(client, Layer::Top, RED, bar(30));
    for (title, colour) in [("a", BLUE), ("b", RED), ("c", BLUE)] {
        world.open_filled(title, (300, 200), colour);
        world.run_until_idle();
        assert_eq!((world.pixel(200, 5), world.pixel(5, 300)), (RED, GREEN), "{title}");
    }
    world.client(client).draw(&top.surface, 2, (OUTPUT.0, 30), BLUE);
    top.surface.commit();
    world.run_until_idle();
    assert_eq!(world.pixel(200, 5), BLUE);
}
