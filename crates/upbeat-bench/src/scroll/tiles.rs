//! The scroll client's tiles: buffers of one size, drawn at a given CPU cost.

use std::os::fd::AsFd as _;

use wayland_client::QueueHandle;
use wayland_client::protocol::{wl_buffer::WlBuffer, wl_shm, wl_shm::WlShm, wl_shm_pool::WlShmPool};

use super::options::ScrollClient;
use crate::client::burn_rest;
use upbeat_client::memory::SharedMemory;
use upbeat_timing::time::Span;

/// Buffers of one size, and the free ones among them.
#[derive(Debug)]
pub(super) struct ScrollTiles {
    memory: SharedMemory,
    size: (usize, usize),
    pool: WlShmPool,
    handle: QueueHandle<ScrollClient>,
    /// A buffer is created when it is first drawn to, so that a window with many opens as soon as one with few.
    buffers: Vec<Option<WlBuffer>>,
    /// Free buffers. The last released is used first, so that few buffers are ever drawn to and have memory.
    free: Vec<usize>,
    /// Least CPU time to draw a tile.
    cost: Span,
    /// Tiles lie beside each other instead of below.
    across: bool,
}

impl ScrollTiles {
    /// Allocates memory for `count` tiles of `size` pixels.
    pub fn new(
        shm: &WlShm,
        size: (usize, usize),
        count: usize,
        cost: Span,
        handle: &QueueHandle<ScrollClient>,
    ) -> std::io::Result<Self> {
        let memory = SharedMemory::new("upbeat-scroller", size.0 * size.1 * count)?;
        let pool = shm.create_pool(memory.file().as_fd(), memory.bytes() as i32, handle, ());
        let (free, buffers) = ((0..count).rev().collect(), vec![None; count]);
        Ok(ScrollTiles { memory, size, pool, handle: handle.clone(), buffers, free, cost, across: false })
    }

    /// The buffer of a tile.
    fn buffer(&mut self, index: usize) -> Option<WlBuffer> {
        let (width, height, stride) = (self.size.0 as i32, self.size.1 as i32, (self.size.0 * size_of::<u32>()) as i32);
        let (pool, handle) = (&self.pool, &self.handle);
        let create = || {
            let offset = index as i32 * stride * height;
            pool.create_buffer(offset, width, height, stride, wl_shm::Format::Xrgb8888, handle, index)
        };
        Some(self.buffers.get_mut(index)?.get_or_insert_with(create).clone())
    }

    /// Sets the scroll axis: across, columns have colours, not rows.
    pub const fn across(mut self, across: bool) -> Self {
        self.across = across;
        self
    }

    /// Handles `wl_buffer.release` of a tile.
    pub fn handle_release(&mut self, index: usize) {
        self.free.push(index);
    }

    /// Whether `count` tiles are free.
    pub fn has(&self, count: usize) -> bool {
        self.free.len() >= count
    }

    /// Draws the document's rows (or columns) from `first` on into a free tile.
    pub fn draw(&mut self, first: i64) -> Option<WlBuffer> {
        let index = self.free.pop()?;
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
        self.buffer(index)
    }

    /// Number of buffers that have been drawn to.
    pub fn drawn(&self) -> usize {
        self.buffers.iter().flatten().count()
    }

    /// Memory of all tiles, in megabytes.
    pub fn megabytes(&self) -> f64 {
        self.memory.bytes() as f64 / 1e6
    }
}
