//! A pool of buffers of one size.

use std::os::fd::AsFd as _;

use upbeat_client::memory::SharedMemory;
use wayland_client::protocol::{wl_buffer::WlBuffer, wl_shm, wl_shm::WlShm, wl_shm_pool::WlShmPool};
use wayland_client::{Dispatch, Proxy as _, QueueHandle, backend::ObjectId};

use crate::common::picture::Picture;

pub struct PicturePool {
    memory: SharedMemory,
    picture: Picture,
    buffers: Vec<WlBuffer>,
    free: Vec<usize>,
}

impl PicturePool {
    pub fn new<State>(
        shm: &WlShm,
        (width, height): (usize, usize),
        count: usize,
        handle: &QueueHandle<State>,
    ) -> std::io::Result<Self>
    where
        State: Dispatch<WlShmPool, ()> + Dispatch<WlBuffer, ()> + 'static,
    {
        let memory = SharedMemory::new("upbeat example", width * height * count)?;
        let pool = shm.create_pool(memory.file().as_fd(), memory.bytes() as i32, handle, ());
        let make = |index: usize| {
            let offset = (index * width * height * 4) as i32;
            pool.create_buffer(
                offset,
                width as i32,
                height as i32,
                width as i32 * 4,
                wl_shm::Format::Xrgb8888,
                handle,
                (),
            )
        };
        let buffers = (0..count).map(make).collect();
        pool.destroy();
        Ok(PicturePool { memory, picture: Picture::new(width, height), buffers, free: (0..count).collect() })
    }

    /// Number of buffers that the compositor does not hold.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Takes back released buffers; ids of other pools are ignored.
    pub fn take_back(&mut self, released: &[ObjectId]) {
        let index = |id: &ObjectId| self.buffers.iter().position(|buffer| buffer.id() == *id);
        self.free.extend(released.iter().filter_map(index));
    }

    /// Draws a picture into a free buffer; `None` if the compositor holds all of them.
    pub fn draw(&mut self, draw: impl FnOnce(&mut Picture)) -> Option<WlBuffer> {
        let index = self.free.pop()?;
        draw(&mut self.picture);
        let pixels = self.picture.pixels.len();
        self.memory.pixels_mut()[index * pixels..][..pixels].copy_from_slice(&self.picture.pixels);
        Some(self.buffers[index].clone())
    }
}
