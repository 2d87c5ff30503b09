//! One client with hundreds of windows: what it costs those beside it when one more opens, and when all go.

use std::time::Duration;

use crate::dying::cpu;
use crate::fixture::{ClientIndex, Toplevel, World};

/// So many windows of many sizes.
const MANY: usize = 400;
/// One more may take so many times what it takes beside a tenth of them.
const MOST: u32 = 12;

/// Sizes that look like chance.
fn size(number: usize) -> (i32, i32) {
    let chance = number as i32 * 7_919;
    (40 + chance % 331, 30 + chance % 257)
}

/// Opens a window, and says what that takes, from its first commit until it is placed.
fn open(world: &mut World, client: ClientIndex, number: usize) -> (Toplevel, Duration) {
    let (width, height) = size(number);
    let start = cpu();
    let window = world.open_in(client, &format!("many {number}"), width, height);
    world.turn();
    (window, cpu() - start)
}

#[test]
fn hundreds_of_windows_open_about_as_quickly_as_tens_and_when_they_go_their_neighbour_is_as_before() {
    let mut world = World::new();
    let (good, _) = world.open("good", 200, 100);
    let client = world.connect();
    let mut windows = Vec::new();
    let mut took = Vec::new();
    for number in 0..MANY {
        let (window, cost) = open(&mut world, client, number);
        windows.push(window);
        took.push(cost);
    }
    // The least of a few: a page fault or a table that grows is nobody's doing.
    let least = |from: usize| took[from..from + 10].iter().min().copied().unwrap();
    let (few, many) = (least(MANY / 10), least(MANY - 10));
    assert!(many < few * MOST, "{few:?} beside {}, {many:?} beside {MANY}", MANY / 10);
    assert_eq!(world.state.shell.windows().count(), MANY + 1);
    for window in windows.drain(..) {
        window.toplevel.destroy();
        window.xdg.destroy();
        window.surface.destroy();
    }
    world.settle();
    world.turn();
    assert_eq!((world.stack(), world.focused()), (vec!["good".to_owned()], Some("good".to_owned())));
    assert!(!world.client(client).is_gone() && !world.client(good).is_gone());
    // And it may open others.
    let (_, again) = open(&mut world, client, 0);
    assert!(again < many * MOST, "{again:?} after they are gone");
}
