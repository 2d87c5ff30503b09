//! The probe's buffers, in shared memory or of a DRM device, and the pictures drawn into them.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use wayland_client::protocol::{wl_buffer::WlBuffer, wl_shm, wl_shm::WlShm};
use wayland_client::{Dispatch, QueueHandle};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::{self, ZwpLinuxBufferParamsV1};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;

use super::input::WINDOW;
use crate::block_code::{self, BlockCode};
use crate::device::DumbBuffer;
use upbeat_client::memory::SharedMemory;

/// Bytes in a row of the smallest window.
const STRIDE: usize = WINDOW.0 * size_of::<u32>();
/// `XRGB8888`, row by row, as in `drm_fourcc.h`.
const XRGB8888: u32 = u32::from_le_bytes(*b"XR24");
const LINEAR: u32 = 0;

const BACKGROUND: u32 = 0xff20_3048;
const BAR: u32 = 0xffff_b020;
/// Width of the moving bar and its step for each frame, in pixels: for people who watch the window.
const BAR_WIDTH: usize = 16;
const BAR_STEP: usize = 4;
/// The damage of each frame of a window behind, in pixels: about as much as of a terminal or a clock.
pub(super) const PATCH: (i32, i32) = (128, 32);

/// When a client allocates its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BufferAllocation {
    /// All before the first frame.
    AtOnce,
    /// A further buffer whenever none is free, as Mesa and the toolkits do.
    OnDemand,
}

enum PixelMemory {
    Shared(SharedMemory),
    Device(Vec<DumbBuffer>),
}

impl PixelMemory {
    /// The pixels of buffer `index`, without gaps between the rows.
    fn picture(&mut self, index: usize, (width, height): (usize, usize)) -> Option<&mut [u32]> {
        match self {
            PixelMemory::Shared(memory) => memory.pixels_mut().chunks_mut(width * height).nth(index),
            PixelMemory::Device(buffers) => buffers.get_mut(index)?.pixels_mut().get_mut(..width * height),
        }
    }
}

/// The window's buffers, and which of them the compositor holds.
pub(crate) struct ClientBuffers {
    memory: PixelMemory,
    size: (usize, usize),
    buffers: Vec<WlBuffer>,
    held: Vec<bool>,
    /// Makes the buffer with this index.
    make: Box<dyn Fn(usize) -> WlBuffer>,
}

impl std::fmt::Debug for ClientBuffers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuffers")
            .field("buffers", &self.buffers)
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

impl ClientBuffers {
    /// At most `count` buffers of `size` pixels, [`WINDOW`] or larger. The user data of each is its index, for
    /// [`ClientBuffers::handle_release`].
    pub(crate) fn new<State>(
        shm: &WlShm,
        size: (usize, usize),
        (count, making): (usize, BufferAllocation),
        handle: &QueueHandle<State>,
    ) -> rustix::io::Result<Self>
    where
        State: Dispatch<wayland_client::protocol::wl_shm_pool::WlShmPool, ()> + Dispatch<WlBuffer, usize> + 'static,
    {
        let (stride, bytes) = (size.0 * size_of::<u32>(), size.0 * size.1 * size_of::<u32>());
        let memory = SharedMemory::new("upbeat-probe", count * size.0 * size.1)?;
        let pool = shm.create_pool(memory.file().as_fd(), (count * bytes) as i32, handle, ());
        let (width, height, stride) = (size.0 as i32, size.1 as i32, stride as i32);
        let handle = handle.clone();
        let make = Box::new(move |index: usize| {
            let offset = (index * bytes) as i32;
            pool.create_buffer(offset, width, height, stride, wl_shm::Format::Xrgb8888, &handle, index)
        });
        Ok(Self::made_by(PixelMemory::Shared(memory), size, make, (count, making)))
    }

    /// Like [`ClientBuffers::new`], in memory of `device`.
    pub(super) fn of_device<State>(
        (dmabuf, device): (ZwpLinuxDmabufV1, &File),
        (count, making): (usize, BufferAllocation),
        handle: &QueueHandle<State>,
    ) -> io::Result<Self>
    where
        State: Dispatch<ZwpLinuxBufferParamsV1, ()> + Dispatch<WlBuffer, usize> + 'static,
    {
        let size = (WINDOW.0 as u32, WINDOW.1 as u32);
        let memory = (0..count).map(|_| DumbBuffer::new(device, size)).collect::<io::Result<Vec<_>>>()?;
        if memory.iter().any(|buffer| buffer.stride() as usize != STRIDE) {
            return Err(io::Error::other("the device pads the rows of a window of this width"));
        }
        let shared = memory.iter().map(|buffer| buffer.memory().as_fd().try_clone_to_owned());
        let shared = shared.collect::<io::Result<Vec<_>>>()?;
        let handle = handle.clone();
        let make = Box::new(move |index: usize| {
            let params = dmabuf.create_params(&handle, ());
            params.add(shared[index].as_fd(), 0, 0, STRIDE as u32, LINEAR, LINEAR);
            let (width, height) = (WINDOW.0 as i32, WINDOW.1 as i32);
            let flags = zwp_linux_buffer_params_v1::Flags::empty();
            let buffer = params.create_immed(width, height, XRGB8888, flags, &handle, index);
            params.destroy();
            buffer
        });
        Ok(Self::made_by(PixelMemory::Device(memory), WINDOW, make, (count, making)))
    }

    fn made_by(
        memory: PixelMemory,
        size: (usize, usize),
        make: Box<dyn Fn(usize) -> WlBuffer>,
        (count, making): (usize, BufferAllocation),
    ) -> Self {
        let made = if making == BufferAllocation::AtOnce { count } else { 0 };
        let buffers = (0..made).map(&make).collect();
        ClientBuffers { memory, size, buffers, held: vec![false; count], make }
    }

    /// Index of a buffer that the compositor does not hold.
    pub(crate) fn free_index(&self) -> Option<usize> {
        self.held.iter().position(|held| !held)
    }

    /// The pixels of buffer `index`, row by row. The compositor must not hold it.
    pub(crate) fn pixels_mut(&mut self, index: usize) -> Option<&mut [u32]> {
        self.memory.picture(index, self.size)
    }

    /// Draws the frame into buffer `index`, every pixel.
    pub(crate) fn draw(&mut self, index: usize, code: BlockCode) {
        let (width, height) = self.size;
        let Some(picture) = self.memory.picture(index, self.size) else { return };
        // The code is as wide as the smallest window, so a larger window has background beside it.
        let (above, below) = (block_code::HEIGHT, height - block_code::HEIGHT);
        let bare = if width > WINDOW.0 { 0..height } else { above..below };
        picture[bare.start * width..bare.end * width].fill(BACKGROUND);
        let bar = code.frame as usize * BAR_STEP % (WINDOW.0 - BAR_WIDTH);
        for row in picture[above * width..below * width].chunks_mut(width) {
            row[bar..bar + BAR_WIDTH].fill(BAR);
        }
        code.draw(picture, width, 0);
        code.draw(picture, width, below);
    }

    /// Draws the frame's patch at the top left corner of buffer `index`.
    pub(super) fn draw_patch(&mut self, index: usize, frame: u32) {
        let width = self.size.0;
        let Some(picture) = self.memory.picture(index, self.size) else { return };
        let bar = frame as usize * BAR_STEP % (PATCH.0 as usize - BAR_WIDTH);
        for row in picture.chunks_mut(width).take(PATCH.1 as usize) {
            row[..PATCH.0 as usize].fill(BACKGROUND);
            row[bar..bar + BAR_WIDTH].fill(BAR);
        }
    }

    /// Marks buffer `index` as held by the compositor, and returns it for `wl_surface.attach`.
    pub(crate) fn hold(&mut self, index: usize) -> &WlBuffer {
        self.held[index] = true;
        // Buffers are made in order: the first free index is at most one behind them.
        while self.buffers.len() <= index {
            self.buffers.push((self.make)(self.buffers.len()));
        }
        &self.buffers[index]
    }

    /// Handles `wl_buffer.release` of buffer `index`.
    pub(crate) fn handle_release(&mut self, index: usize) {
        self.held[index] = false;
    }
}
