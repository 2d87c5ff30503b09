//! Clients' buffers in the memory of devices, for those who show them without a copy.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use smithay::backend::allocator::dmabuf::{Dmabuf, WeakDmabuf};
use smithay::backend::renderer::utils::Buffer;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::dmabuf::get_dmabuf;

use super::lent::Home;
use crate::backend::plane::{DeviceMemory, Hold};

/// Clients' buffers as devices see them.
#[derive(Debug)]
pub struct Memories {
    known: HashMap<WeakDmabuf, Arc<DeviceMemory>>,
    /// Those that whoever composes has yet to look at.
    unknown: Vec<(Dmabuf, Awaited)>,
    /// Whether planes may show them. Off, all is composed.
    pub(super) on_planes: bool,
    /// Where they are let go; `None`: no other thread ever has one.
    pub(super) home: Option<Home<Buffer>>,
}

/// Readable once it is known what becomes of a buffer; made when a commit wants to wait for that.
#[derive(Debug, Default)]
struct Awaited(Option<OwnedFd>);

impl Drop for Awaited {
    fn drop(&mut self) {
        if let Some(fence) = &self.0 {
            // An eventfd that was never written to takes it.
            let _ = rustix::io::write(fence, &1u64.to_ne_bytes());
        }
    }
}

impl Default for Memories {
    fn default() -> Self {
        Memories { known: HashMap::new(), unknown: Vec::new(), on_planes: true, home: None }
    }
}

impl Memories {
    /// Whether no client has any.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether planes may show them.
    pub const fn on_planes(&self) -> bool {
        self.on_planes
    }

    /// Lets planes show them, or not. Returns whether they might before.
    pub const fn show_on_planes(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.on_planes, on)
    }

    /// Other threads have some: these are let go at `home`.
    pub fn let_go_at(&mut self, home: Home<Buffer>) {
        self.home = Some(home);
    }

    /// A client passed one.
    pub fn insert(&mut self, buffer: &Dmabuf, memory: DeviceMemory) {
        self.known.insert(buffer.weak(), Arc::new(memory));
    }

    /// The memory behind `buffer`, if it is of this kind.
    pub fn of(&self, buffer: &WlBuffer) -> Option<Arc<DeviceMemory>> {
        self.known.get(&get_dmabuf(buffer).ok()?.weak()).cloned()
    }

    /// Keeps the client from drawing into `buffer`. Any thread may let go of it.
    pub fn hold(&self, buffer: &Buffer) -> Arc<dyn Hold> {
        match &self.home {
            Some(home) => Arc::new(home.lend(buffer.clone())),
            None => Arc::new(buffer.clone()),
        }
    }

    /// Whether `buffer` can be composed is not known for now: what is committed with it waits.
    pub fn look_at(&mut self, buffer: &Dmabuf) {
        self.unknown.push((buffer.clone(), Awaited::default()));
    }

    /// It is known.
    pub fn looked_at(&mut self, buffer: &Dmabuf) {
        self.unknown.retain(|(unknown, _)| unknown != buffer);
    }

    /// What becomes readable when it is known whether `buffer` can be composed; `None` where that is known.
    pub fn unknown(&mut self, buffer: &WlBuffer) -> Option<OwnedFd> {
        if self.unknown.is_empty() {
            return None;
        }
        let dmabuf = get_dmabuf(buffer).ok()?;
        let (_, Awaited(fence)) = self.unknown.iter_mut().find(|(unknown, _)| unknown == dmabuf)?;
        if fence.is_none() {
            *fence = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).ok();
        }
        fence.as_ref()?.try_clone().ok()
    }

    /// Forgets those that no client has any more.
    pub fn forget_gone(&mut self) {
        self.known.retain(|buffer, _| !buffer.is_gone());
    }
}
