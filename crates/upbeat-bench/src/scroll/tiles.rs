//! The scroll client's tiles: buffers of one size, drawn at a given CPU cost.

use std::collections::VecDeque;
use std::os::fd::AsFd as _;

use wayland_client::protocol::{wl_buffer::WlBuffer, wl_shm, wl_shm::WlShm, wl_shm_pool::WlShmPool};
use wayland_client::{Dispatch, QueueHandle};

use crate::client::burn_rest;
use upbeat_client::memory::SharedMemory;
use upbeat_timing::time::Span;

/// Buffers of one size, and the free ones among them.
#[derive(Debug)]
pub(super) struct ScrollTiles {
    memory: SharedMemory,
    size: (usize, usize),
    buffers: Vec<WlBuffer>,
    free: VecDeque<usize>,
    /// Least CPU time to draw a tile.
    cost: Span,
    /// Tiles lie beside each other instead of below.
    across: bool,
}

impl ScrollTiles {
    /// Allocates `count` tiles of `size` pixels.
    pub fn new<State>(
        shm: &WlShm,
        size: (usize, usize),
        count: usize,
        cost: Span,
        handle: &QueueHandle<State>,
    ) -> std::io::Result<Self>
    where
        State: Dispatch<WlShmPool, ()> + Dispatch<WlBuffer, usize> + 'static,
    {
        let bytes = size.0 * size.1 * size_of::<u32>();
        let memory = SharedMemory::new("upbeat-scroller", size.0 * size.1 * count)?;
        let pool = shm.create_pool(memory.file().as_fd(), memory.bytes() as i32, handle, ());
        let (width, height, stride) = (size.0 as i32, size.1 as i32, (size.0 * size_of::<u32>()) as i32);
        let make = |index: usize| {
            let offset = (index * bytes) as i32;
            pool.create_buffer(offset, width, height, stride, wl_shm::Format::Xrgb8888, handle, index)
        };
        let buffers = (0..count).map(make).collect();
        pool.destroy();
        Ok(ScrollTiles { memory, size, buffers, free: (0..count).collect(), cost, across: false })
    }

    /// Sets the scroll axis: across, columns have colours, not rows.
    pub const fn across(mut self, across: bool) -> Self {
        self.across = across;
        self
    }

    /// Handles `wl_buffer.release` of a tile.
    pub fn handle_release(&mut self, index: usize) {
        self.free.push_back(index);
    }

    /// Whether `count` tiles are free.
    pub fn has(&self, count: usize) -> bool {
        self.free.len() >= count
    }

    /// Draws the document's rows (or columns) from `first` on into a free tile.
    pub fn draw(&mut self, first: i64) -> Option<WlBuffer> {
        let index = self.free.pop_front()?;
        let (width, height) = self.size;
        let pixels = self.memory.pixels_mut().chunks_mut(width * height).nth(index)?;
        burn_rest(self.cost, || {
            for (row, pixels) in pixels.chunks_mut(width).enumerate() {
                match self.across {
                    false => pixels.fill((first + row as i64) as u32),
                    true => (first..).zip(pixels).for_each(|(column, pixel)| *pixel = column as u32),
                }
            }
        });
        self.buffers.get(index).cloned()
    }

    /// Memory of all tiles, in megabytes.
    pub fn megabytes(&self) -> f64 {
        self.memory.bytes() as f64 / 1e6
    }
}
