//! A transparent pixel above all contents. It is always visible, so that its frame callback comes at each refresh that
//! shows the view. Other surfaces cannot be used for this: the view's own surface may count as hidden, since its
//! contents cover it, and contents come and go.

use std::os::fd::AsFd as _;
use std::sync::Arc;

use wayland_client::Proxy as _;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_buffer::WlBuffer;
use wayland_client::protocol::wl_compositor::{self, WlCompositor};
use wayland_client::protocol::wl_region::WlRegion;
use wayland_client::protocol::wl_shm::{self, WlShm};
use wayland_client::protocol::wl_shm_pool::{self, WlShmPool};
use wayland_client::protocol::wl_subcompositor::{self, WlSubcompositor};
use wayland_client::protocol::wl_subsurface::WlSubsurface;
use wayland_client::protocol::wl_surface::WlSurface;

use super::super::ScrollError;
use crate::bind_global::{IgnoreEvents, bind};
use crate::memory::SharedMemory;

#[derive(Debug)]
pub(super) struct CallbackSurface {
    pub surface: WlSurface,
    subsurface: WlSubsurface,
    buffer: WlBuffer,
}

impl CallbackSurface {
    /// Creates the pixel above the surface `view`. It is mapped by the next commit of `view`.
    pub fn new(globals: &GlobalList, view: &WlSurface) -> Result<Self, ScrollError> {
        let gone = |_| ScrollError::Gone;
        let compositor: WlCompositor =
            bind(globals, 4, Arc::new(IgnoreEvents)).ok_or(ScrollError::Missing("wl_compositor"))?;
        let subcompositor: WlSubcompositor =
            bind(globals, 1, Arc::new(IgnoreEvents)).ok_or(ScrollError::Missing("wl_subcompositor"))?;
        let shm: WlShm = bind(globals, 1, Arc::new(IgnoreEvents)).ok_or(ScrollError::Missing("wl_shm"))?;
        let request = wl_compositor::Request::CreateSurface {};
        let surface: WlSurface = compositor.send_constructor(request, Arc::new(IgnoreEvents)).map_err(gone)?;
        let request = wl_subcompositor::Request::GetSubsurface { surface: surface.clone(), parent: view.clone() };
        let subsurface = subcompositor.send_constructor(request, Arc::new(IgnoreEvents)).map_err(gone)?;
        subcompositor.destroy();
        let buffer = transparent_buffer(&shm)?;
        set_empty_input_region(&compositor, &surface)?;
        surface.attach(Some(&buffer), 0, 0);
        surface.damage_buffer(0, 0, 1, 1);
        surface.commit();
        Ok(CallbackSurface { surface, subsurface, buffer })
    }

    /// Keeps the pixel above `content`, which is new.
    pub fn raise(&self, content: &WlSurface) {
        self.subsurface.place_above(content);
    }
}

impl Drop for CallbackSurface {
    fn drop(&mut self) {
        self.subsurface.destroy();
        self.surface.destroy();
        self.buffer.destroy();
    }
}

/// A buffer with one transparent pixel: new memory is zero.
fn transparent_buffer(shm: &WlShm) -> Result<WlBuffer, ScrollError> {
    let gone = |_| ScrollError::Gone;
    let memory = SharedMemory::new("upbeat-glass", 1).map_err(|_| ScrollError::NoMemory)?;
    let fd = memory.file().as_fd().try_clone_to_owned().map_err(|_| ScrollError::NoMemory)?;
    let request = wl_shm::Request::CreatePool { fd: fd.as_fd(), size: memory.bytes() as i32 };
    let pool: WlShmPool = shm.send_constructor(request, Arc::new(IgnoreEvents)).map_err(gone)?;
    let format = wayland_client::WEnum::Value(wl_shm::Format::Argb8888);
    let request = wl_shm_pool::Request::CreateBuffer { offset: 0, width: 1, height: 1, stride: 4, format };
    let buffer = pool.send_constructor(request, Arc::new(IgnoreEvents)).map_err(gone)?;
    pool.destroy();
    Ok(buffer)
}

/// Gives `surface` an empty input region, from its next commit on.
pub(super) fn set_empty_input_region(compositor: &WlCompositor, surface: &WlSurface) -> Result<(), ScrollError> {
    let request = wl_compositor::Request::CreateRegion {};
    let nowhere: WlRegion =
        compositor.send_constructor(request, Arc::new(IgnoreEvents)).map_err(|_| ScrollError::Gone)?;
    surface.set_input_region(Some(&nowhere));
    nowhere.destroy();
    Ok(())
}
