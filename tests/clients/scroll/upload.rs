//! With OpenGL ES, contents of a view are uploaded before they are visible, a part with each frame.

use upbeat::backend::headless::OutputOptions;
use upbeat::render::{MOST_AHEAD, UploadedBytes};

use super::*;
use crate::fixture::content::ContentEvent;
use crate::fixture::gles;

/// Rows of a content that is larger than the upload limit of one frame.
const TALL: i32 = 4_000;
const WHOLE: u64 = (VIEW.0 * TALL * 4) as u64;
/// Bytes of the first tile of a [`ScrollStage`].
const FIRST: u64 = (VIEW.0 * ROWS * 4) as u64;
/// Bytes of the visible part, with the rows that filtering may read beyond its edges.
const SEEN: u64 = (VIEW.0 * (VIEW.1 + 4) * 4) as u64;

fn uploaded_bytes(world: &TestWorld) -> UploadedBytes {
    world.state.outputs.renderer().unwrap().copied()
}

impl ScrollStage {
    /// A stage with the whole document in one buffer; `None` without OpenGL ES.
    fn by_gles() -> Option<Self> {
        let mut stage = Self::shown_by(TestWorld::simulated_on(&[(60_000, OutputOptions::default())], gles()?));
        stage.wait_for_uploaded_bytes(FIRST);
        stage.render(0, TALL);
        stage.world.run_until_idle();
        Some(stage)
    }

    /// Waits until the document and the first tile before it are uploaded.
    fn wait_for_upload(&mut self) {
        self.wait_for_uploaded_bytes(FIRST + WHOLE);
    }

    fn wait_for_uploaded_bytes(&mut self, bytes: u64) {
        self.world.run_until("copied", |world| uploaded_bytes(world).ahead + uploaded_bytes(world).seen >= bytes);
        self.world.run_until_idle();
    }
}

#[test]
fn hidden_rows_are_uploaded_ahead_and_cost_their_first_frame_nothing() {
    let Some(mut stage) = ScrollStage::by_gles() else { return };
    stage.wait_for_upload();
    let before = uploaded_bytes(&stage.world);
    assert!(before.most_ahead > 0 && before.most_ahead <= MOST_AHEAD as u64, "{before:?}");
    // The visible rows of the first tile, and the visible rows of this document.
    assert!(before.seen <= 2 * SEEN, "{before:?}");
    for row in [3_500, 1_234] {
        stage.scroll_to(row, Behavior::Jump);
        stage.world.run_until_idle();
        stage.run(REFRESH * 4);
        assert_eq!((stage.row_at(0), stage.row_at(99)), (row, row + 99));
    }
    assert_eq!(uploaded_bytes(&stage.world).seen, before.seen, "nothing was left to be copied");
}

#[test]
fn hidden_damage_alone_is_uploaded_again() {
    let Some(mut stage) = ScrollStage::by_gles() else { return };
    stage.wait_for_upload();
    let before = uploaded_bytes(&stage.world);
    let pixels: Vec<u32> = (0..TALL).flat_map(|row| [row as u32 + 7; VIEW.0 as usize]).collect();
    let buffer = stage.world.client(stage.client).buffer_of_pixels(11, wl_shm::Format::Xrgb8888, VIEW.0, TALL, &pixels);
    stage.tile.attach(Some(&buffer), 0, 0);
    stage.tile.damage_buffer(0, 2_000, VIEW.0, 500);
    stage.tile.commit();
    stage.window.surface.commit();
    stage.world.run_until_idle();
    let changed = (VIEW.0 * 500 * 4) as u64;
    stage.world.run_until("copied", |world| uploaded_bytes(world).ahead >= before.ahead + changed);
    stage.scroll_to(1_950, Behavior::Jump);
    stage.world.run_until_idle();
    stage.run(REFRESH * 4);
    assert_eq!((stage.row_at(49), stage.row_at(50)), (1_999, 2_007));
    let after = uploaded_bytes(&stage.world);
    assert_eq!((after.ahead - before.ahead, after.seen), (changed, before.seen));
}

#[test]
fn buffer_replaced_before_its_upload_is_released() {
    let Some(mut stage) = ScrollStage::by_gles() else { return };
    for number in 20..40 {
        let pixels: Vec<u32> = (0..TALL).flat_map(|row| [row as u32 + number; VIEW.0 as usize]).collect();
        let client = stage.world.client(stage.client);
        let buffer = client.buffer_of_pixels(number, wl_shm::Format::Xrgb8888, VIEW.0, TALL, &pixels);
        stage.tile.attach(Some(&buffer), 0, 0);
        stage.tile.damage_buffer(0, 0, i32::MAX, i32::MAX);
        stage.tile.commit();
        stage.window.surface.commit();
        stage.world.run_until_idle();
    }
    assert_eq!(stage.row_at(0), 39);
    let client = stage.client;
    for number in 20..39 {
        stage.world.run_until("released", |world| world.client(client).has_received(ContentEvent::Released(number)));
    }
    stage.scroll_to(3_000, Behavior::Jump);
    stage.world.run_until_idle();
    stage.run(REFRESH * 4);
    assert_eq!(stage.row_at(0), 3_039);
}
