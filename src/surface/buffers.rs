//! The buffers that a surface is drawn into: where they lie, and how many its client could draw into.
//!
//! What is counted are the client's `wl_buffer`s of the same size. A client that makes one for each frame and destroys it
//! right after (Firefox does) has one or two at any time and could have as many as it likes: buffers that were never seen
//! before tell it from one that takes its own in turn.

use smithay::backend::renderer::buffer_dimensions;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::wayland::dmabuf::get_dmabuf;

/// A client's buffers are counted with its first commits and then once in so many: it may make new ones at any time.
const COUNT_EVERY: u64 = 64;
/// The first count: by then a client has what it starts with.
const FIRST_COUNT: u64 = 4;
/// Buffers that are remembered: nobody takes more in turn.
const REMEMBERED: usize = 8;
/// So many buffers in a row that were not seen before: each frame gets one of its own.
const MADE_EACH_TIME: u32 = 12;

/// Where a client's buffers lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BufferMemory {
    /// In memory shared with the client. Some have two buffers, and end when neither is free.
    #[default]
    Shared,
    /// In a device's. Who finds none free makes another, or waits.
    Device,
}

/// What is known of the buffers that a surface is drawn into.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Where the newest lies.
    pub memory: BufferMemory,
    /// How many were attached so far: the number of the newest frame.
    pub attached: u64,
    counted: usize,
    /// The newest, in a ring.
    newest: [Option<ObjectId>; REMEMBERED],
    unknown_in_a_row: u32,
}

impl Buffers {
    /// How many its client can draw into, as far as is known.
    pub fn count(&self) -> usize {
        if self.unknown_in_a_row >= MADE_EACH_TIME { self.counted.max(REMEMBERED) } else { self.counted }
    }

    /// `buffer` was attached. Returns how many there are that could have taken its place.
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

/// The buffers of a client that are as large as `buffer`, itself included.
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
