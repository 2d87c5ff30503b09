//! One client with hundreds of windows: the cost of opening one more window, and the state after all are closed.

use std::time::Duration;

use crate::fixture::{ClientIndex, TestToplevel, TestWorld};
use crate::timed::cpu;

/// Number of windows, which have many sizes.
const MANY: usize = 400;

/// CPU time to open one more window.
pub struct OpenCosts {
    /// With a tenth of [`MANY`] windows open.
    pub few: Duration,
    /// With [`MANY`] windows open.
    pub many: Duration,
    /// After all of them were closed.
    pub after_close: Duration,
}

fn size(number: usize) -> (i32, i32) {
    let chance = number as i32 * 7_919;
    (40 + chance % 331, 30 + chance % 257)
}

/// Opens a window. Returns also the CPU time from its first commit until it is placed.
fn open(world: &mut TestWorld, client: ClientIndex, number: usize) -> (TestToplevel, Duration) {
    let (width, height) = size(number);
    let start = cpu();
    let window = world.open_in(client, &format!("many {number}"), width, height);
    world.turn();
    (window, cpu() - start)
}

/// Opens [`MANY`] windows beside the window of another client, and closes them.
pub fn open_and_close() -> OpenCosts {
    let mut world = TestWorld::new();
    let (good, _) = world.open("good", 200, 100);
    let client = world.connect();
    let mut windows = Vec::new();
    let mut took = Vec::new();
    for number in 0..MANY {
        let (window, cost) = open(&mut world, client, number);
        windows.push(window);
        took.push(cost);
    }
    // The minimum of ten, because a page fault or a growing table may add to one of them.
    let least = |from: usize| took[from..from + 10].iter().min().copied().unwrap();
    let (few, many) = (least(MANY / 10), least(MANY - 10));
    assert_eq!(world.state.shell.windows().count(), MANY + 1);
    for window in windows.drain(..) {
        window.toplevel.destroy();
        window.xdg.destroy();
        window.surface.destroy();
    }
    world.settle();
    world.turn();
    assert_eq!((world.stack(), world.focused()), (vec!["good".to_owned()], Some("good".to_owned())));
    assert!(!world.client(client).is_disconnected() && !world.client(good).is_disconnected());
    // The client may open windows again.
    let (_, again) = open(&mut world, client, 0);
    OpenCosts { few, many, after_close: again }
}

#[test]
fn neighbour_is_unchanged_after_hundreds_of_windows_close() {
    open_and_close();
}
