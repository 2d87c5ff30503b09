//! With OpenGL ES, contents of a view are uploaded before they are visible, a part with each frame.

use upbeat::backend::headless::OutputOptions;
use upbeat::render::{Copied, MOST_AHEAD};

use super::*;
use crate::fixture::content::Heard;
use crate::fixture::gles;

/// Rows of a content that is larger than the upload limit of one frame.
const TALL: i32 = 4_000;
const WHOLE: u64 = (VIEW.0 * TALL * 4) as u64;
/// Bytes of the first tile of a [`Stage`].
const FIRST: u64 = (VIEW.0 * ROWS * 4) as u64;
/// Bytes of the visible part, with the rows that filtering may read beyond its edges.
const SEEN: u64 = (VIEW.0 * (VIEW.1 + 4) * 4) as u64;

fn copied(world: &World) -> Copied {
    world.state.outputs.renderer().unwrap().copied()
}

impl Stage {
    /// A stage with the whole document in one buffer; `None` without OpenGL ES.
    fn by_gles() -> Option<Self> {
        let mut stage = Self::shown_by(World::simulated_on(&[(60_000, OutputOptions::default())], gles()?));
        stage.waits_for(FIRST);
        stage.render(0, TALL);
        stage.world.rest();
        Some(stage)
    }

    /// Waits until the document and the first tile before it are uploaded.
    fn is_copied(&mut self) {
        self.waits_for(FIRST + WHOLE);
    }

    fn waits_for(&mut self, bytes: u64) {
        self.world.until("copied", |world| copied(world).ahead + copied(world).seen >= bytes);
        self.world.rest();
    }
}

#[test]
fn what_is_not_seen_yet_is_copied_ahead_and_costs_the_frame_that_shows_it_nothing() {
    let Some(mut stage) = Stage::by_gles() else { return };
    stage.is_copied();
    let before = copied(&stage.world);
    assert!(before.most_ahead > 0 && before.most_ahead <= MOST_AHEAD as u64, "{before:?}");
    // The visible rows of the first tile, and the visible rows of this document.
    assert!(before.seen <= 2 * SEEN, "{before:?}");
    for row in [3_500, 1_234] {
        stage.scroll_to(row, Behavior::Jump);
        stage.world.rest();
        stage.run(REFRESH * 4);
        assert_eq!((stage.row_at(0), stage.row_at(99)), (row, row + 99));
    }
    assert_eq!(copied(&stage.world).seen, before.seen, "nothing was left to be copied");
}

#[test]
fn what_changes_out_of_sight_is_copied_again_and_nothing_else() {
    let Some(mut stage) = Stage::by_gles() else { return };
    stage.is_copied();
    let before = copied(&stage.world);
    let pixels: Vec<u32> = (0..TALL).flat_map(|row| [row as u32 + 7; VIEW.0 as usize]).collect();
    let buffer = stage.world.client(stage.client).picture(11, wl_shm::Format::Xrgb8888, VIEW.0, TALL, &pixels);
    stage.tile.attach(Some(&buffer), 0, 0);
    stage.tile.damage_buffer(0, 2_000, VIEW.0, 500);
    stage.tile.commit();
    stage.window.surface.commit();
    stage.world.rest();
    let changed = (VIEW.0 * 500 * 4) as u64;
    stage.world.until("copied", |world| copied(world).ahead >= before.ahead + changed);
    stage.scroll_to(1_950, Behavior::Jump);
    stage.world.rest();
    stage.run(REFRESH * 4);
    assert_eq!((stage.row_at(49), stage.row_at(50)), (1_999, 2_007));
    let after = copied(&stage.world);
    assert_eq!((after.ahead - before.ahead, after.seen), (changed, before.seen));
}

#[test]
fn what_is_replaced_before_it_was_copied_is_given_back() {
    let Some(mut stage) = Stage::by_gles() else { return };
    for number in 20..40 {
        let pixels: Vec<u32> = (0..TALL).flat_map(|row| [row as u32 + number; VIEW.0 as usize]).collect();
        let client = stage.world.client(stage.client);
        let buffer = client.picture(number, wl_shm::Format::Xrgb8888, VIEW.0, TALL, &pixels);
        stage.tile.attach(Some(&buffer), 0, 0);
        stage.tile.damage_buffer(0, 0, i32::MAX, i32::MAX);
        stage.tile.commit();
        stage.window.surface.commit();
        stage.world.rest();
    }
    assert_eq!(stage.row_at(0), 39);
    let client = stage.client;
    for number in 20..39 {
        stage.world.until("released", |world| world.client(client).heard(Heard::Released(number)));
    }
    stage.scroll_to(3_000, Behavior::Jump);
    stage.world.rest();
    stage.run(REFRESH * 4);
    assert_eq!(stage.row_at(0), 3_039);
}
