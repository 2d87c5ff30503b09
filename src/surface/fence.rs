//! Acquire fences: an update whose buffer is not finished waits, and so does all that was committed after it.
//!
//! Anything with a descriptor that becomes readable once will do: an eventfd that a timeline point signals (explicit
//! synchronisation), a dma-buf's own fence.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use calloop::generic::Generic;
use calloop::{Interest, Mode, PostAction, RegistrationToken};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::dmabuf::get_dmabuf;

use super::gate::Gate;
use super::shows::ShowsSurfaces;
use crate::state::State;
use crate::time::{Clock, Instant};

/// Signals once, when a buffer may be read: its descriptor becomes readable and stays so.
pub trait AcquireFence: AsFd + std::fmt::Debug {
    /// Tells whoever works for it by when it is wanted, where that can be told.
    fn hint_deadline(&self, deadline: Instant) {
        crate::backend::fence::hint_deadline(self.as_fd(), deadline);
    }

    /// Whether it has signalled.
    fn is_signalled(&self) -> bool {
        let descriptor = self.as_fd();
        let mut wanted = [PollFd::new(&descriptor, PollFlags::IN)];
        // A descriptor that cannot be asked would hold its surface for ever.
        poll(&mut wanted, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).map_or(true, |ready| ready > 0)
    }
}

/// A descriptor that becomes readable.
impl AcquireFence for OwnedFd {}

/// An eventfd that a point signals.
impl AcquireFence for Arc<OwnedFd> {}

/// A buffer's fences that have not signalled yet: some device draws into it. None for buffers that are in no device's
/// memory.
pub(super) fn unfinished(buffer: &WlBuffer) -> Vec<OwnedFd> {
    let Ok(dmabuf) = get_dmabuf(buffer) else { return Vec::new() };
    let descriptors = dmabuf.handles().filter_map(|descriptor| descriptor.try_clone_to_owned().ok());
    descriptors.filter(|descriptor| !descriptor.is_signalled()).collect()
}

/// The next commit of `surface` waits for `fence`.
pub fn acquire(state: &mut State, surface: &WlSurface, fence: Box<dyn AcquireFence>) {
    if let Some(entry) = state.surfaces.get_mut(surface) {
        entry.acquire.push(fence);
    }
}

/// Takes the fences of the commit that is being made, those left out that have signalled.
pub(super) fn unsignalled(state: &mut State, surface: &WlSurface) -> Vec<Box<dyn AcquireFence>> {
    let Some(entry) = state.surfaces.get_mut(surface) else { return Vec::new() };
    let mut fences = std::mem::take(&mut entry.acquire);
    fences.retain(|fence| !fence.is_signalled());
    fences
}

/// Waits for the fences of the update behind `gate`.
pub(super) fn watch(state: &mut State, surface: &WlSurface, fences: Vec<Box<dyn AcquireFence>>, gate: &Gate) {
    for fence in fences {
        let (watched, opens) = (surface.clone(), gate.clone());
        let source = Generic::new(fence, Interest::READ, Mode::Level);
        let token = state.loop_handle.insert_source(source, move |_, _, state| {
            signalled(state, &watched, &opens);
            Ok(PostAction::Remove)
        });
        match token {
            Ok(token) => {
                if let Some(entry) = state.surfaces.get_mut(surface) {
                    entry.watches.push((gate.clone(), token));
                }
            }
            Err(error) => {
                tracing::error!(%error, "a fence cannot be waited for; its buffer is shown as it is");
                signalled(state, surface, gate);
            }
        }
    }
}

/// One fence of the update behind `gate` has signalled.
fn signalled(state: &mut State, surface: &WlSurface, gate: &Gate) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    if let Some(index) = entry.watches.iter().position(|(watched, _)| watched == gate) {
        entry.watches.swap_remove(index);
    }
    if let Some(conditions) = entry.queue.fence_signalled(|update| update == gate) {
        if let Some((id, _)) = conditions.frame.filter(|_| conditions.fences == 0)
            && let Some(frame) = entry.outstanding.frame_mut(id)
        {
            frame.ready = state.clock.now();
        }
        state.need_when_due(surface);
    } else if !entry.watches.iter().any(|(watched, _)| watched == gate) {
        // A synchronised subsurface's: it is its parent's update that waits in Smithay's queue.
        gate.open();
        state.apply_opened(surface);
    }
}

/// Nobody waits any more: the surface is gone.
pub(super) fn forget(state: &State, watches: Vec<(Gate, RegistrationToken)>) {
    for (_, token) in watches {
        state.loop_handle.remove(token);
    }
}
