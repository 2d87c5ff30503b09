//! Clients' buffers in the memory of devices, for those who show them without a copy.

use std::collections::HashMap;
use std::sync::Arc;

use smithay::backend::allocator::dmabuf::{Dmabuf, WeakDmabuf};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::dmabuf::get_dmabuf;

use crate::backend::plane::DeviceMemory;

/// Clients' buffers as devices see them.
#[derive(Debug)]
pub struct Memories {
    known: HashMap<WeakDmabuf, Arc<DeviceMemory>>,
    /// Whether planes may show them. Off, all is composed.
    pub on_planes: bool,
}

impl Default for Memories {
    fn default() -> Self {
        Memories { known: HashMap::new(), on_planes: true }
    }
}

impl Memories {
    /// Whether no client has any.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// A client passed one.
    pub fn insert(&mut self, buffer: &Dmabuf, memory: DeviceMemory) {
        self.known.insert(buffer.weak(), Arc::new(memory));
    }

    /// The memory behind `buffer`, if it is of this kind.
    pub fn of(&self, buffer: &WlBuffer) -> Option<Arc<DeviceMemory>> {
        self.known.get(&get_dmabuf(buffer).ok()?.weak()).cloned()
    }

    /// Forgets those that no client has any more.
    pub fn forget_gone(&mut self) {
        self.known.retain(|buffer, _| !buffer.is_gone());
    }
}
