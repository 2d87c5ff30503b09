//! `wl_shm` 2: buffers in shared memory.
//!
//! Besides the two formats that every compositor has: `Abgr8888` and `Xbgr8888`, which some toolkits prefer.

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_shm::Format;
use smithay::wayland::buffer::BufferHandler;
use smithay::wayland::shm::{ShmHandler, ShmState};

use crate::state::State;

/// Advertises the global.
pub fn new(display: &DisplayHandle) -> ShmState {
    ShmState::new::<State>(display, [Format::Abgr8888, Format::Xbgr8888])
}

impl BufferHandler for State {
    fn buffer_destroyed(&mut self, _buffer: &WlBuffer) {
        super::dmabuf::destroyed(self);
    }
}

impl ShmHandler for State {
    fn shm_state(&self) -> &ShmState {
        &self.protocols.shm
    }
}

smithay::delegate_shm!(State);
