//! Client buffers in device memory (dma-bufs), for planes that show them without a copy.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use smithay::backend::allocator::dmabuf::{Dmabuf, WeakDmabuf};
use smithay::backend::renderer::utils::Buffer;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::dmabuf::get_dmabuf;

use super::buffer_release::OwnerThread;
use crate::backend::plane::{BufferHold, DeviceMemory};

/// All client buffers in device memory.
#[derive(Debug)]
pub struct DeviceBuffers {
    known: HashMap<WeakDmabuf, Arc<DeviceMemory>>,
    /// Buffers that the renderer has not tested yet.
    untested: Vec<(Dmabuf, ImportTestFence)>,
    /// Whether planes may show client buffers. If not, every buffer is composited.
    pub(super) on_planes: bool,
    /// The thread that buffers are released on; `None`: no other thread ever holds a buffer.
    pub(super) owner_thread: Option<OwnerThread<Buffer>>,
}

/// An eventfd that becomes readable when a buffer has been tested; created when a commit has to wait for that.
#[derive(Debug, Default)]
struct ImportTestFence(Option<OwnedFd>);

impl Drop for ImportTestFence {
    fn drop(&mut self) {
        if let Some(fence) = &self.0 {
            // The write cannot block, because this eventfd was never written to.
            let _ = rustix::io::write(fence, &1u64.to_ne_bytes());
        }
    }
}

impl Default for DeviceBuffers {
    fn default() -> Self {
        DeviceBuffers { known: HashMap::new(), untested: Vec::new(), on_planes: true, owner_thread: None }
    }
}

impl DeviceBuffers {
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    pub const fn on_planes(&self) -> bool {
        self.on_planes
    }

    /// Sets whether planes may show client buffers. Returns the previous setting.
    pub const fn set_on_planes(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.on_planes, on)
    }

    /// Other threads hold buffers from now on. They are released on the thread `home`.
    pub fn release_on(&mut self, home: OwnerThread<Buffer>) {
        self.owner_thread = Some(home);
    }

    pub fn insert(&mut self, buffer: &Dmabuf, memory: DeviceMemory) {
        self.known.insert(buffer.weak(), Arc::new(memory));
    }

    /// The device memory behind `buffer`; `None` for other kinds of buffer.
    pub fn of(&self, buffer: &WlBuffer) -> Option<Arc<DeviceMemory>> {
        self.known.get(&get_dmabuf(buffer).ok()?.weak()).cloned()
    }

    /// Keeps `buffer` from being released to the client. Any thread may drop the hold.
    pub fn hold(&self, buffer: &Buffer) -> Arc<dyn BufferHold> {
        match &self.owner_thread {
            Some(home) => Arc::new(home.bind(buffer.clone())),
            None => Arc::new(buffer.clone()),
        }
    }

    /// The renderer tests whether it can import `buffer`; commits of it wait until then.
    pub fn begin_import_test(&mut self, buffer: &Dmabuf) {
        self.untested.push((buffer.clone(), ImportTestFence::default()));
    }

    /// The test of `buffer` is over: commits of it wait no longer.
    pub fn end_import_test(&mut self, buffer: &Dmabuf) {
        self.untested.retain(|(unknown, _)| unknown != buffer);
    }

    /// A descriptor that becomes readable when `buffer` has been tested; `None` if no test is pending.
    pub fn import_test_fence(&mut self, buffer: &WlBuffer) -> Option<OwnedFd> {
        if self.untested.is_empty() {
            return None;
        }
        let dmabuf = get_dmabuf(buffer).ok()?;
        let (_, ImportTestFence(fence)) = self.untested.iter_mut().find(|(unknown, _)| unknown == dmabuf)?;
        if fence.is_none() {
            *fence = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok();
        }
        fence.as_ref()?.try_clone().ok()
    }

    /// Forgets destroyed buffers.
    pub fn forget_gone(&mut self) {
        self.known.retain(|buffer, _| !buffer.is_gone());
    }
}
