//! Shared memory with the frames' pixels: one pool, a few buffers, a picture that says which frame it is.

use std::os::fd::AsFd;

use wayland_client::protocol::{wl_buffer::WlBuffer, wl_shm, wl_shm::WlShm};
use wayland_client::{Dispatch, QueueHandle};

use super::input::WINDOW;
use crate::bench::block_code::{self, Code};
use crate::client::memory::SharedMemory;

const PIXELS: usize = WINDOW.0 * WINDOW.1;
const BYTES: usize = PIXELS * size_of::<u32>();

const BACKGROUND: u32 = 0xff20_3048;
const BAR: u32 = 0xffff_b020;
/// Width of the moving bar, and how far it moves with each frame: for people who look at the window.
const BAR_WIDTH: usize = 16;
const BAR_STEP: usize = 4;
/// What a window behind changes with each frame, in pixels: about what a terminal or a clock does.
pub(super) const PATCH: (i32, i32) = (128, 32);

/// The window's buffers, and which of them the compositor holds.
#[derive(Debug)]
pub(in crate::bench) struct Buffers {
    memory: SharedMemory,
    buffers: Vec<WlBuffer>,
    held: Vec<bool>,
}

impl Buffers {
    /// `count` buffers; the user data of each is its index, to be handed to [`Buffers::released`].
    pub(in crate::bench) fn new<State>(
        shm: &WlShm,
        count: usize,
        handle: &QueueHandle<State>,
    ) -> rustix::io::Result<Self>
    where
        State: Dispatch<wayland_client::protocol::wl_shm_pool::WlShmPool, ()> + Dispatch<WlBuffer, usize> + 'static,
    {
        let memory = SharedMemory::new("upbeat-probe", count * PIXELS)?;
        let pool = shm.create_pool(memory.file().as_fd(), (count * BYTES) as i32, handle, ());
        let (width, height, stride) = (WINDOW.0 as i32, WINDOW.1 as i32, (WINDOW.0 * size_of::<u32>()) as i32);
        let buffers = (0..count)
            .map(|index| {
                let offset = (index * BYTES) as i32;
                pool.create_buffer(offset, width, height, stride, wl_shm::Format::Xrgb8888, handle, index)
            })
            .collect();
        pool.destroy();
        Ok(Buffers { memory, buffers, held: vec![false; count] })
    }

    /// A buffer that the compositor does not hold.
    pub(in crate::bench) fn free(&self) -> Option<usize> {
        self.held.iter().position(|held| !held)
    }

    /// Draws the frame into buffer `index`, every pixel of it.
    pub(in crate::bench) fn draw(&mut self, index: usize, code: Code) {
        let Some(picture) = self.memory.pixels_mut().chunks_mut(PIXELS).nth(index) else { return };
        let (above, below) = (block_code::HEIGHT, WINDOW.1 - block_code::HEIGHT);
        picture[above * WINDOW.0..below * WINDOW.0].fill(BACKGROUND);
        let bar = code.frame as usize * BAR_STEP % (WINDOW.0 - BAR_WIDTH);
        for row in picture[above * WINDOW.0..below * WINDOW.0].chunks_mut(WINDOW.0) {
            row[bar..bar + BAR_WIDTH].fill(BAR);
        }
        code.draw(picture, WINDOW.0, 0);
        code.draw(picture, WINDOW.0, below);
    }

    /// Draws the frame's patch at the top left corner of buffer `index`.
    pub(super) fn draw_patch(&mut self, index: usize, frame: u32) {
        let Some(picture) = self.memory.pixels_mut().chunks_mut(PIXELS).nth(index) else { return };
        let bar = frame as usize * BAR_STEP % (PATCH.0 as usize - BAR_WIDTH);
        for row in picture.chunks_mut(WINDOW.0).take(PATCH.1 as usize) {
            row[..PATCH.0 as usize].fill(BACKGROUND);
            row[bar..bar + BAR_WIDTH].fill(BAR);
        }
    }

    /// Gives buffer `index` to the compositor.
    pub(in crate::bench) fn give(&mut self, index: usize) -> &WlBuffer {
        self.held[index] = true;
        &self.buffers[index]
    }

    /// The compositor has released buffer `index`.
    pub(in crate::bench) fn released(&mut self, index: usize) {
        self.held[index] = false;
    }
}
