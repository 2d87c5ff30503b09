//! The window's buffers, and how any thread commits a picture.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use upbeat_client::{FramePacer, FrameTarget};
use wayland_client::protocol::{wl_buffer::WlBuffer, wl_shm, wl_shm_pool::WlShmPool, wl_surface::WlSurface};
use wayland_client::{Connection, Dispatch, QueueHandle};

use super::picture::Picture;

/// The buffers that the compositor has released.
#[derive(Debug, Default)]
pub struct FreeBuffers {
    buffers: Mutex<Vec<usize>>,
    more: Condvar,
}

impl FreeBuffers {
    fn put_back(&self, buffer: usize) {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        self.more.notify_one();
    }

    /// Takes a free buffer, but not this one.
    pub fn take_other(&self, kept: Option<usize>) -> Option<usize> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let place = buffers.iter().rposition(|buffer| Some(*buffer) != kept)?;
        Some(buffers.remove(place))
    }

    pub fn any(&self) -> bool {
        !self.buffers.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes a free buffer; waits at most `patience`.
    pub fn take(&self, patience: Duration) -> Option<usize> {
        let buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.more.wait_timeout_while(buffers, patience, |buffers| buffers.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.pop()
    }
}

/// Where a buffer goes when the compositor releases it.
#[derive(Debug)]
pub struct BufferSlot {
    index: usize,
    free: Arc<FreeBuffers>,
}

impl BufferSlot {
    /// Handles `wl_buffer.release`.
    pub fn put_back(&self) {
        self.free.put_back(self.index);
    }
}

/// The surface and its buffers.
#[derive(Debug)]
pub struct WindowBuffers {
    pub size: (usize, usize),
    connection: Connection,
    pub surface: WlSurface,
    buffers: Vec<WlBuffer>,
    memory: File,
    pub free: Arc<FreeBuffers>,
}

impl WindowBuffers {
    pub fn new<State>(
        connection: &Connection,
        shm: &wl_shm::WlShm,
        surface: WlSurface,
        size: (usize, usize),
        count: usize,
        format: wl_shm::Format,
        handle: &QueueHandle<State>,
    ) -> io::Result<Self>
    where
        State: Dispatch<WlShmPool, ()> + Dispatch<WlBuffer, BufferSlot> + 'static,
    {
        let bytes = size.0 * size.1 * 4;
        let memory = File::from(memfd_create("upbeat example", MemfdFlags::CLOEXEC)?);
        memory.set_len((bytes * count) as u64)?;
        let pool = shm.create_pool(memory.as_fd(), (bytes * count) as i32, handle, ());
        let free = Arc::new(FreeBuffers { buffers: Mutex::new((0..count).collect()), more: Condvar::new() });
        let buffer = |index: usize| {
            let (width, height, offset) = (size.0 as i32, size.1 as i32, (index * bytes) as i32);
            let slot = BufferSlot { index, free: free.clone() };
            pool.create_buffer(offset, width, height, width * 4, format, handle, slot)
        };
        let buffers = (0..count).map(buffer).collect();
        pool.destroy();
        Ok(WindowBuffers { size, connection: connection.clone(), surface, buffers, memory, free })
    }

    /// Copies a part of a picture into this buffer, which may be on screen.
    pub fn write(&self, buffer: usize, picture: &Picture, rows: Range<usize>, columns: Range<usize>) -> io::Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(&picture.pixels);
        for row in rows {
            let start = row * picture.width;
            let part = &bytes[(start + columns.start) * 4..(start + columns.end) * 4];
            self.memory.write_all_at(part, (buffer * bytes.len() + (start + columns.start) * 4) as u64)?;
        }
        Ok(())
    }

    /// Attaches the first buffer, or no buffer, and commits. For surfaces without pacing.
    pub fn show_first(&self, is_shown: bool) -> io::Result<()> {
        self.surface.attach(is_shown.then_some(&self.buffers[0]), 0, 0);
        self.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        self.surface.commit();
        self.connection.flush().map_err(io::Error::other)
    }

    /// Commits a picture in this buffer as the frame of this target.
    pub fn show(&self, buffer: usize, picture: &Picture, pacer: &FramePacer, target: FrameTarget) -> io::Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(&picture.pixels);
        self.memory.write_all_at(bytes, (buffer * bytes.len()) as u64)?;
        self.surface.attach(Some(&self.buffers[buffer]), 0, 0);
        self.surface.damage_buffer(0, 0, i32::MAX, i32::MAX);
        pacer.bind(target.id).map_err(io::Error::other)?;
        self.surface.commit();
        self.connection.flush().map_err(io::Error::other)
    }
}
