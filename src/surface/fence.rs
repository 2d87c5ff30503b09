//! Acquire fences: an update whose buffer is not finished waits, and so does every later update of its surface.
//!
//! A fence is any descriptor that becomes readable once: an eventfd that a timeline point signals (explicit
//! synchronisation), or a dma-buf's own (implicit) fence.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use calloop::generic::Generic;
use calloop::{Interest, Mode, PostAction, RegistrationToken};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::wayland::dmabuf::get_dmabuf;

use super::gate::Gate;
use super::output_hooks::{BufferFinished, OutputHooks};
use crate::backend::fence::{signal_time, writers};
use crate::guard::{self, Kind};
use crate::state::State;
use upbeat_timing::time::{Clock, Instant};

/// Signals once, when a buffer may be read: its descriptor becomes readable and stays so.
pub trait AcquireFence: AsFd + std::fmt::Debug {
    /// Tells the driver by when the buffer is needed, where the kernel supports that.
    fn hint_deadline(&self, deadline: Instant) {
        crate::backend::fence::hint_deadline(self.as_fd(), deadline);
    }

    /// When the fence signalled, if that is known.
    fn signalled_at(&self) -> Option<Instant> {
        None
    }

    fn is_signalled(&self) -> bool {
        let descriptor = self.as_fd();
        let mut wanted = [PollFd::new(&descriptor, PollFlags::IN)];
        // If poll fails the fence counts as signalled; otherwise it would hold its surface for ever.
        poll(&mut wanted, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).map_or(true, |ready| ready > 0)
    }
}

/// A descriptor that becomes readable. If it is a sync file, the kernel knows when it signalled.
impl AcquireFence for OwnedFd {
    fn signalled_at(&self) -> Option<Instant> {
        signal_time(self.as_fd())
    }
}

/// An eventfd that a timeline point signals.
impl AcquireFence for Arc<OwnedFd> {}

/// The unsignalled fences of a buffer that a device still draws into. Empty for buffers outside device memory.
pub(super) fn unfinished(buffer: &WlBuffer) -> Vec<OwnedFd> {
    let Ok(dmabuf) = get_dmabuf(buffer) else { return Vec::new() };
    // As sync files where the kernel can export them, because these know when they signalled.
    let fence = |memory: BorrowedFd<'_>| writers(memory).or_else(|| memory.try_clone_to_owned().ok());
    dmabuf.handles().filter_map(fence).filter(|fence| !fence.is_signalled()).collect()
}

/// Makes the next commit of `surface` wait for `fence`. For tests, which have no GPU with fences of its own.
pub fn acquire(state: &mut State, surface: &WlSurface, fence: Box<dyn AcquireFence>) {
    if let Some(entry) = state.surfaces.get_mut(surface) {
        entry.acquire.push(fence);
    }
}

/// Takes the fences of the commit in progress that have not signalled yet.
pub(super) fn unsignalled(state: &mut State, surface: &WlSurface) -> Vec<Box<dyn AcquireFence>> {
    let Some(entry) = state.surfaces.get_mut(surface) else { return Vec::new() };
    let mut fences = std::mem::take(&mut entry.acquire);
    fences.retain(|fence| !fence.is_signalled());
    fences
}

#[derive(Debug)]
pub(super) struct FenceWait {
    gate: Gate,
    /// The number of its commit.
    commit: u64,
    /// Event sources of all its fences, signalled ones included.
    fences: Vec<RegistrationToken>,
    /// How many fences have not signalled.
    left: usize,
    /// When the latest of the signalled fences signalled.
    finished: Option<BufferFinished>,
}

/// Waits for the fences of the update behind `gate`.
pub(super) fn watch(state: &mut State, surface: &WlSurface, fences: Vec<Box<dyn AcquireFence>>, gate: &Gate) {
    let Some(entry) = state.surfaces.get_mut(surface).filter(|_| !fences.is_empty()) else { return };
    let commit = entry.newest_commit();
    entry.fence_waits.push(FenceWait {
        gate: gate.clone(),
        commit,
        fences: Vec::new(),
        left: fences.len(),
        finished: None,
    });
    for fence in fences {
        let (watched, opens) = (surface.clone(), gate.clone());
        let source = Generic::new(fence, Interest::READ, Mode::Level);
        let client = surface.client();
        let held = client.and_then(|client| guard::hold(&state.display_handle, &client, Kind::Descriptors));
        let token = state.loop_handle.insert_source(source, move |_, fence, state| {
            // Counts against the client's descriptors for as long as the source exists.
            let _held = &held;
            let now = state.clock.now();
            let known_time = fence.signalled_at().map(|at| BufferFinished { at: at.min(now), at_most: false });
            signalled(state, &watched, &opens, known_time.unwrap_or(BufferFinished { at: now, at_most: true }));
            Ok(PostAction::Remove)
        });
        match token {
            Ok(token) => {
                let entry = state.surfaces.get_mut(surface);
                let update = entry.and_then(|entry| entry.fence_waits.iter_mut().find(|update| update.gate == *gate));
                update.into_iter().for_each(|update| update.fences.push(token));
            }
            Err(error) => {
                let more = surface.client().and_then(|client| guard::warning_allowed(&client, "fence"));
                more.into_iter().for_each(|more| {
                    tracing::error!(more, %error, "cannot wait for a fence; its buffer may be shown unfinished");
                });
                let now = state.clock.now();
                signalled(state, surface, gate, BufferFinished { at: now, at_most: true });
            }
        }
    }
}

/// One fence of the update behind `gate` has signalled.
fn signalled(state: &mut State, surface: &WlSurface, gate: &Gate, fence: BufferFinished) {
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    let Some(index) = entry.fence_waits.iter().position(|update| update.gate == *gate) else { return };
    let update = &mut entry.fence_waits[index];
    update.left -= 1;
    let before = update.finished.get_or_insert(fence);
    if fence.at >= before.at {
        *before = fence;
    }
    let (finished, commit, is_last) = (*before, update.commit, update.left == 0);
    if is_last {
        entry.fence_waits.swap_remove(index);
        if let Some(frame) =
            entry.queue.frame_of(|update| update == gate).and_then(|id| entry.outstanding.frame_mut(id))
        {
            frame.ready = finished.at;
        }
        state.finished(surface, commit, finished);
    }
    let Some(entry) = state.surfaces.get_mut(surface) else { return };
    if entry.queue.fence_signalled(|update| update == gate) {
        state.schedule_latch_when_due(surface);
    } else if is_last {
        // The update of a synchronised subsurface: the parent's update waits in Smithay's queue.
        gate.open();
        state.apply_opened(surface);
    }
}

/// Stops waiting, because the surface is gone.
pub(super) fn forget(state: &State, watches: Vec<FenceWait>) {
    watches.iter().for_each(|update| update.gate.open());
    for token in watches.into_iter().flat_map(|update| update.fences) {
        state.loop_handle.remove(token);
    }
}
