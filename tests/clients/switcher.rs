//! `Alt+Tab`: a quick press switches at once; after a pause or a second step all windows are shown, live and with
//! titles.

use smithay::utils::{Logical, Rectangle};
use upbeat_timing::time::Span;

use crate::fixture::content::{BLUE, GREEN, RED, Xrgb8888Pixel};
use crate::fixture::simulated::nothing;
use crate::fixture::{
    BUTTON_LEFT, ClientEvent, KEY_2, KEY_ENTER, KEY_ESCAPE, KEY_LEFT, KEY_LEFT_ALT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER,
    KEY_TAB, TestWorld,
};

/// Three windows that cover each other; blue was used last, then green.
fn with_three_windows(mut world: TestWorld) -> TestWorld {
    world.state.outputs.set_background([0.0; 3]);
    for (title, colour) in [("red", RED), ("green", GREEN), ("blue", BLUE)] {
        world.open_filled(title, (300, 200), colour);
        world.move_window(title, (20, 20));
    }
    world.run_until_idle();
    world
}

fn is_shown(world: &TestWorld) -> bool {
    world.state.shell.overlays().is_switcher_open()
}

fn cell(world: &TestWorld, title: &str) -> Option<Rectangle<f64, Logical>> {
    let output = world.state.outputs.iter().next().unwrap();
    world.state.shell.overview(output).window(world.window(title).id)
}

fn colour_in_cell(world: &TestWorld, title: &str) -> Xrgb8888Pixel {
    let cell = cell(world, title).unwrap();
    world.pixel((cell.loc.x + cell.size.w / 2.0) as i32, (cell.loc.y + cell.size.h / 2.0) as i32)
}

fn tab(world: &mut TestWorld) {
    world.key(KEY_TAB, true);
    world.key(KEY_TAB, false);
}

#[test]
fn second_step_shows_the_switcher_and_releasing_the_modifier_activates_the_marked_window() {
    let mut world = with_three_windows(TestWorld::rendered());
    let before = world.picture().pixels.clone();
    world.key(KEY_LEFT_ALT, true);
    tab(&mut world);
    world.run_until_idle();
    assert!(!is_shown(&world), "one step switches at once, without the list");
    assert_eq!(world.focused().as_deref(), Some("green"));
    tab(&mut world);
    world.run_until_idle();
    assert!(is_shown(&world));
    for (title, colour) in [("red", RED), ("green", GREEN), ("blue", BLUE)] {
        assert_eq!(colour_in_cell(&world, title), colour, "{title}");
    }
    // The windows are in the order of their use, and below each lies its title (bright pixels).
    let lefts = ["blue", "green", "red"].map(|title| cell(&world, title).unwrap());
    assert!(lefts.is_sorted_by_key(|rect| (rect.loc.y as i64, rect.loc.x as i64)), "{lefts:?}");
    for rect in lefts {
        let below = (rect.loc.y + rect.size.h) as i32 + 4;
        let lit = (rect.loc.x as i32..(rect.loc.x + rect.size.w) as i32)
            .any(|x| (below..below + 16).any(|y| world.pixel(x, y) & 0xff > 0x80));
        assert!(lit, "{rect:?}");
    }
    world.key(KEY_LEFT_ALT, false);
    world.run_until_idle();
    assert_eq!((is_shown(&world), world.focused().as_deref()), (false, Some("red")));
    assert_ne!(world.picture().pixels, before);
    assert_eq!(world.pixel(100, 100), RED);
}

#[test]
fn switcher_appears_after_a_delay_and_not_for_a_quick_switch() {
    let mut world = with_three_windows(TestWorld::simulated(&[60_000]));
    world.chord(&[KEY_LEFT_ALT], KEY_TAB);
    world.run_for(Span::from_seconds(2), &mut nothing);
    assert!(!is_shown(&world));
    world.key(KEY_LEFT_ALT, true);
    tab(&mut world);
    world.run_for(Span::from_millis(200), &mut nothing);
    assert!(!is_shown(&world));
    world.run_for(Span::from_millis(100), &mut nothing);
    assert!(is_shown(&world));
    let turns = world.turns();
    world.run_for(Span::from_seconds(60), &mut nothing);
    assert!(world.turns() - turns <= 2, "no work without input: {}", world.turns() - turns);
}

#[test]
fn switcher_handles_arrows_pointer_and_escape_without_client_events() {
    let mut world = with_three_windows(TestWorld::rendered());
    let begin = |world: &mut TestWorld| {
        world.key(KEY_LEFT_ALT, true);
        tab(world);
        tab(world);
        world.run_until_idle();
        assert!(is_shown(world));
    };
    begin(&mut world);
    let red = cell(&world, "red").unwrap();
    let blue = cell(&world, "blue").unwrap();
    world.key(KEY_ESCAPE, true);
    world.key(KEY_ESCAPE, false);
    assert_eq!((is_shown(&world), world.focused().as_deref()), (false, Some("blue")), "as it was");
    world.key(KEY_LEFT_ALT, false);
    assert_eq!(world.focused().as_deref(), Some("blue"));

    begin(&mut world);
    world.point(red.loc.x + 20.0, red.loc.y + 20.0);
    world.button(BUTTON_LEFT, true);
    world.button(BUTTON_LEFT, false);
    assert_eq!((is_shown(&world), world.focused().as_deref()), (false, Some("red")));
    world.key(KEY_LEFT_ALT, false);
    assert_eq!(world.focused().as_deref(), Some("red"));

    // The window under the pointer is marked, and chosen when the modifier is released.
    begin(&mut world);
    world.point(blue.loc.x + 20.0, blue.loc.y + 20.0);
    let marked = world.state.shell.overlays().selected().unwrap();
    world.key(KEY_LEFT_ALT, false);
    let focused = world.state.shell.focused();
    assert_eq!(focused, Some(marked));
    begin(&mut world);
    world.key(KEY_LEFT, true);
    world.key(KEY_LEFT, false);
    world.key(KEY_ENTER, true);
    world.key(KEY_ENTER, false);
    assert!(!is_shown(&world));
    world.key(KEY_LEFT_ALT, false);
}

#[test]
fn switcher_follows_windows_that_open_close_and_minimise() {
    let mut world = with_three_windows(TestWorld::rendered());
    let (client, _away) = world.open("away", 100, 100);
    world.chord(&[KEY_LEFT_SUPER, KEY_LEFT_SHIFT], KEY_2);
    world.key(KEY_LEFT_ALT, true);
    tab(&mut world);
    tab(&mut world);
    assert!(cell(&world, "away").is_none(), "it is on another workspace");
    let (new, _window) = world.open_filled("new", (100, 100), RED);
    world.run_until_idle();
    assert!(cell(&world, "new").is_some());
    world.kill(new);
    world.run_until_idle();
    tab(&mut world);
    world.key(KEY_LEFT_ALT, false);
    assert!(world.focused().is_some() && !is_shown(&world));
    assert!(
        !world.client(client).take_events().iter().any(|event| matches!(event, ClientEvent::Key { key: KEY_TAB, .. }))
    );
}

#[test]
fn step_without_a_held_modifier_switches_at_once() {
    let mut world = with_three_windows(TestWorld::rendered());
    let step = |world: &mut TestWorld| {
        upbeat::input::actions::run(&mut world.state, &"next-window".parse().unwrap());
        world.settle();
        world.run_for(Span::from_millis(500), &mut nothing);
        assert!(!is_shown(world), "nothing would close it");
        world.focused()
    };
    // Each step is a switch of its own: between the two windows that were used last.
    assert_eq!(
        ["green", "blue", "green"].map(Some),
        [(); 3].map(|()| step(&mut world)).each_ref().map(|it| it.as_deref())
    );
    for _ in 0..3 {
        upbeat::input::actions::run(&mut world.state, &"minimise".parse().unwrap());
        world.settle();
    }
    assert_eq!(world.focused(), None);
    assert!(step(&mut world).is_some(), "a minimised window is restored");
}
