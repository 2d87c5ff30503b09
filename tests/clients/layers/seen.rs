//! Visible layer surfaces and their frame callbacks. Pixels are read beside the cursor, which lies in the corner.

use super::*;
use crate::fixture::content::Heard;
use crate::fixture::{KEY_1, KEY_2};
use upbeat_timing::time::Span;

#[test]
fn layers_lie_below_and_above_windows_and_workspaces_glide_beneath() {
    let mut world = World::lit();
    let client = world.connect();
    world.pin(client, Layer::Background, GREEN, |layer| layer.set_anchor(Anchor::all()));
    world.pin(client, Layer::Top, RED, bar(30));
    world.open_filled("a", (400, 300), BLUE);
    world.rest();
    let look = |world: &World| (world.pixel(200, 5), world.pixel(5, 300), world.pixel(OUTPUT.0 / 2, OUTPUT.1 / 2));
    assert_eq!(look(&world), (RED, GREEN, BLUE));
    world.chord(&[KEY_LEFT_SUPER], KEY_2);
    world.rest();
    assert_eq!(look(&world), (RED, GREEN, GREEN));
    world.chord(&[KEY_LEFT_SUPER], KEY_1);
    world.rest();
}

#[test]
fn what_a_fullscreen_window_covers_counts_as_hidden() {
    let mut world = World::lit();
    let client = world.connect();
    let top = world.pin(client, Layer::Top, RED, bar(30));
    let overlay = world.pin(client, Layer::Overlay, GREEN, |layer| {
        layer.set_anchor(Anchor::Bottom);
        layer.set_size(100, 50);
    });
    let (window, a) = world.open_filled("a", (400, 300), BLUE);
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
    let size = world.client(window).answer_newest().unwrap();
    world.client(window).draw(&a.surface, 2, size, BLUE);
    a.surface.commit();
    world.rest();
    assert_eq!((world.pixel(200, 5), world.pixel(OUTPUT.0 / 2, OUTPUT.1 - 5)), (BLUE, GREEN));
    // The hidden bar gets its callback once a second, as all hidden surfaces do; the overlay above gets its callback at
    // once.
    world.client(client).ask(&top.surface, 7);
    world.client(client).ask(&overlay.surface, 8);
    top.surface.commit();
    overlay.surface.commit();
    world.settle();
    let begun = world.now();
    world.until("the callback of the visible overlay", |world| world.client(client).heard(Heard::Called(8)));
    assert!(world.now() - begun < Span::from_millis(100));
    world.until("the callback of the hidden bar", |world| world.client(client).heard(Heard::Called(7)));
    assert!(world.now() - begun > Span::from_millis(500));
    // The bar is visible again when the window leaves fullscreen.
    world.client(window).take_events();
    world.chord(&[KEY_LEFT_SUPER], KEY_F);
    world.client(window).answer_newest();
    world.client(window).draw(&a.surface, 3, (400, 300), BLUE);
    a.surface.commit();
    world.rest();
    assert_eq!(world.pixel(200, 5), RED);
}

#[test]
fn a_bar_is_paced_and_presented_like_a_window() {
    let mut world = World::lit();
    let client = world.connect();
    let top = world.pin(client, Layer::Top, RED, bar(30));
    world.rest();
    for update in 2..6 {
        world.client(client).ask(&top.surface, update);
        world.client(client).draw(&top.surface, update, (OUTPUT.0, 30), if update % 2 == 0 { BLUE } else { RED });
        top.surface.commit();
        world.until("light", |world| world.client(client).light(update).is_some());
        world.until("its callback", |world| world.client(client).heard(Heard::Called(update)));
    }
    world.rest();
    assert_eq!(world.pixel(200, 5), RED);
}

#[test]
fn windows_that_open_beside_a_bar_leave_it_as_it_is() {
    let mut world = World::lit();
    let client = world.connect();
    world.pin(client, Layer::Background, GREEN, |layer| layer.set_anchor(Anchor::all()));
    let top = world.pin(client, Layer::Top, RED, bar(30));
    for (title, colour) in [("a", BLUE), ("b", RED), ("c", BLUE)] {
        world.open_filled(title, (300, 200), colour);
        world.rest();
        assert_eq!((world.pixel(200, 5), world.pixel(5, 300)), (RED, GREEN), "{title}");
    }
    world.client(client).draw(&top.surface, 2, (OUTPUT.0, 30), BLUE);
    top.surface.commit();
    world.rest();
    assert_eq!(world.pixel(200, 5), BLUE);
}
