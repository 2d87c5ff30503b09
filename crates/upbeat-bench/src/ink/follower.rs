//! Follower ink: dot and code on a surface of their own, which the compositor keeps at the pointer while the client
//! sleeps.

use std::io;

use wayland_client::QueueHandle;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_compositor::WlCompositor;
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::protocol::wl_shm::WlShm;
use wayland_client::protocol::wl_subcompositor::WlSubcompositor;

use super::marker::{self, ALONE};
use super::sheet::{InkClient, SheetError};
use crate::block_code::BlockCode;
use crate::client::buffers::{BufferAllocation, ClientBuffers};
use upbeat_client::protocol::late_latch::upbeat_late_latch_manager_v1::{Devices, UpbeatLateLatchManagerV1};

/// The code of the only frame.
const ONCE: BlockCode = BlockCode { frame: 1, event: 1 };

impl InkClient {
    /// Draws the follower and attaches it to the pointer on this sheet, predicted by up to `prediction` ms. The caller must keep the returned buffers
    /// alive.
    ///
    /// # Errors
    /// If the compositor does not support followers.
    pub(super) fn follow(
        &self,
        globals: &GlobalList,
        handle: &QueueHandle<InkClient>,
        prediction: f64,
    ) -> Result<ClientBuffers, SheetError> {
        let compositor: WlCompositor = globals.bind(handle, 4..=6, ())?;
        let subcompositor: WlSubcompositor = globals.bind(handle, 1..=1, ())?;
        let manager: UpbeatLateLatchManagerV1 = globals.bind(handle, 1..=1, ())?;
        let shm: WlShm = globals.bind(handle, 1..=1, ())?;
        let seat: WlSeat = globals.bind(handle, 1..=1, ())?;
        let (size, held) = ALONE;
        let mut buffers =
            ClientBuffers::new(&shm, size, (1, BufferAllocation::AtOnce), handle).map_err(io::Error::from)?;
        if let Some(pixels) = buffers.pixels_mut(0) {
            marker::draw(pixels, size, (f64::from(held.0), f64::from(held.1)), ONCE);
        }
        let surface = compositor.create_surface(handle, ());
        let nowhere = compositor.create_region(handle, ());
        surface.set_input_region(Some(&nowhere));
        nowhere.destroy();
        let subsurface = subcompositor.get_subsurface(&surface, &self.surface, handle, ());
        subsurface.set_desync();
        let follower = manager.get_follower(&surface, &seat, Devices::Pointer, handle, ());
        follower.set_anchor(held.0, held.1);
        follower.set_horizon((prediction * 1e6) as u32);
        surface.attach(Some(buffers.hold(0)), 0, 0);
        surface.damage_buffer(0, 0, size.0 as i32, size.1 as i32);
        surface.commit();
        // The parent's commit adds the subsurface.
        self.surface.commit();
        Ok(buffers)
    }
}
