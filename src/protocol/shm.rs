//! `wl_shm` 2: buffers in shared memory.
//!
//! A pool that is resized to nothing is refused before Smithay 0.7 sees it, which sends the error and then panics.
//!
//! Besides the two mandatory formats: `Abgr8888` and `Xbgr8888`, which some toolkits prefer.

use std::os::fd::AsFd;
use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_shm::{self, Format, WlShm};
use smithay::reexports::wayland_server::protocol::wl_shm_pool::{self, WlShmPool};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};
use smithay::wayland::buffer::BufferHandler;
use smithay::wayland::shm::{ShmBufferUserData, ShmHandler, ShmPoolUserData, ShmState};

use super::dispatch_guard::delegate;
use crate::client_files;
use crate::guard::{self, Handlers, Kind};
use crate::state::State;
use upbeat_record::faults::{self, Fault};

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

delegate!(global WlShm: () => ShmState);

impl Dispatch<WlShm, (), State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        shm: &WlShm,
        request: wl_shm::Request,
        data: &(),
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        // Only files that never block are accepted, because the pixels are read on the main thread.
        let request = match request {
            wl_shm::Request::CreatePool { fd, .. } if !client_files::never_blocks(fd.as_fd()) => {
                client_files::close_elsewhere(fd);
                return shm.post_error(wl_shm::Error::InvalidFd, "the file is on a file system that may block");
            }
            other => other,
        };
        if matches!(request, wl_shm::Request::CreatePool { .. }) {
            if let Err(error) = faults::check(Fault::Mapping) {
                return shm.post_error(wl_shm::Error::InvalidFd, format!("the memory cannot be mapped: {error}"));
            }
            // The memory's descriptor counts for as long as the pool or a buffer in it lives.
            let held = guard::hold(display, client, Kind::Descriptors);
            guard::share_newest(Kind::Pools, &held.into_iter().map(Arc::new).collect());
        }
        <ShmState as Dispatch<WlShm, (), State>>::request(state, client, shm, request, data, display, init);
    }
}

delegate!(WlBuffer: ShmBufferUserData => ShmState);

impl Dispatch<WlShmPool, ShmPoolUserData, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        pool: &WlShmPool,
        request: wl_shm_pool::Request,
        data: &ShmPoolUserData,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        if let wl_shm_pool::Request::Resize { size: ..=0 } = request {
            return pool.post_error(wl_shm::Error::InvalidFd, "a pool cannot be resized to nothing");
        }
        if matches!(request, wl_shm_pool::Request::CreateBuffer { .. }) {
            guard::share_newest(Kind::Buffers, &guard::shares_of(pool));
        }
        <ShmState as Dispatch<WlShmPool, ShmPoolUserData, State>>::request(
            state, client, pool, request, data, display, init,
        );
    }
}
