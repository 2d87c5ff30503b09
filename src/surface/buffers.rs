//! The buffers of a surface: in which memory they lie, and how many its client can draw into.
//!
//! The count is that of the client's `wl_buffer`s of the same size. A client that makes a buffer for each frame and
//! destroys it right after (Firefox does) has one or two at any time, but can have as many as it likes. It is
//! recognised because its buffers were never seen before, while other clients cycle through a few.

use smithay::backend::renderer::buffer_dimensions;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::wayland::dmabuf::get_dmabuf;

/// A client's buffers are counted once in so many commits, because it may make new ones at any time.
const COUNT_EVERY: u64 = 64;
/// The commit at which buffers are counted first: by then a client has made its initial buffers.
const FIRST_COUNT: u64 = 4;
/// Buffers that are remembered: no client cycles through more.
const REMEMBERED: usize = 8;
/// After so many unknown buffers in a row the client is taken to make a new buffer for each frame.
const MADE_EACH_TIME: u32 = 12;

/// The memory that a client's buffers lie in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferMemory {
    /// Shared memory (`wl_shm`). Some clients have two buffers and exit when neither is free.
    #[default]
    Shared,
    /// Device memory (a dma-buf). A client with no free buffer allocates another or waits.
    Device,
}

/// The buffers of one surface.
#[derive(Debug, Default)]
pub(super) struct BufferHistory {
    /// The memory of the newest buffer.
    pub memory: BufferMemory,
    /// Buffers attached so far; also the number of the newest frame.
    pub attached: u64,
    counted: usize,
    /// The buffers attached last, as a ring.
    newest: [Option<ObjectId>; REMEMBERED],
    unknown_in_a_row: u32,
}

impl BufferHistory {
    /// How many buffers the client can draw into, as far as is known.
    pub fn count(&self) -> usize {
        if self.unknown_in_a_row >= MADE_EACH_TIME { self.counted.max(REMEMBERED) } else { self.counted }
    }

    /// Notes that `buffer` was attached. Returns [`count`](Self::count).
    pub fn attach(&mut self, display: &DisplayHandle, buffer: &WlBuffer) -> usize {
        self.attached += 1;
        self.memory = if get_dmabuf(buffer).is_ok() { BufferMemory::Device } else { BufferMemory::Shared };
        self.remember(buffer.id());
        if self.attached.is_multiple_of(COUNT_EVERY) || self.attached == FIRST_COUNT {
            self.counted = alternatives(display, buffer);
        }
        self.count()
    }

    fn remember(&mut self, buffer: ObjectId) {
        if self.newest.iter().flatten().any(|known| *known == buffer) {
            self.unknown_in_a_row = 0;
            return;
        }
        self.unknown_in_a_row = self.unknown_in_a_row.saturating_add(1);
        self.newest[self.attached as usize % REMEMBERED] = Some(buffer);
    }
}

/// Counts the client's buffers that are as large as `buffer`, itself included.
fn alternatives(display: &DisplayHandle, buffer: &WlBuffer) -> usize {
    let (Some(wanted), Some(client)) = (buffer_dimensions(buffer), buffer.client()) else { return 0 };
    let mut buffers = Vec::new();
    let listed = display.backend_handle().with_all_objects_for(client.id(), |object| {
        if object.interface().name == WlBuffer::interface().name {
            buffers.push(object);
        }
    });
    if listed.is_err() {
        return 0;
    }
    let buffers = buffers.into_iter().filter_map(|object| WlBuffer::from_id(display, object).ok());
    buffers.filter(|other| buffer_dimensions(other) == Some(wanted)).count()
}
