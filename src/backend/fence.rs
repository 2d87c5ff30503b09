//! Render fences: a file descriptor that becomes readable when rendering is done.
//!
//! The display waits for a fence and asks *when* it signalled. A kernel sync file states the time. For any other
//! descriptor (an eventfd in tests) the time is the moment at which it was first seen readable, which can make a frame
//! late but never early.

mod deadline;
mod dma_buf;
mod sync_file;
mod syncobj;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use upbeat_timing::time::Instant;

pub use deadline::hint as hint_deadline;

/// Exports the fences of all current writers of a dma-buf as a sync file. `None` if `memory` is no dma-buf, or if the
/// kernel cannot export them (before Linux 6.0).
pub fn writers(memory: BorrowedFd<'_>) -> Option<OwnedFd> {
    dma_buf::writers(memory).ok()
}

/// Adds a fence that all later readers of a dma-buf wait for, as if its writer had added it. Fails with `ENOTTY` where
/// `memory` is no dma-buf, or the kernel is older than 6.0.
pub fn add_writer(memory: BorrowedFd<'_>, fence: BorrowedFd<'_>) -> std::io::Result<()> {
    Ok(dma_buf::add_writer(memory, fence)?)
}

/// Puts a sync file's fences into the sync object `handle` of a DRM device.
pub fn put_into_syncobj(device: BorrowedFd<'_>, handle: u32, fence: BorrowedFd<'_>) -> std::io::Result<()> {
    Ok(syncobj::put_into(device, handle, fence)?)
}

/// When the last fence of a sync file signalled; `None` if one is still pending, or if the descriptor is no sync file.
pub fn signal_time(fence: BorrowedFd<'_>) -> Option<Instant> {
    sync_file::signal_time(fence)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceState {
    Pending,
    /// Rendering was done at this time.
    Signalled(Instant),
}

/// A descriptor that becomes readable when rendering is done, and stays readable.
#[derive(Debug)]
pub struct Fence(OwnedFd);

impl Fence {
    pub fn new(fd: OwnedFd) -> Self {
        Fence(fd)
    }

    /// The state of the fence at `now`, without waiting.
    ///
    /// A descriptor in error can never signal. It counts as signalled, so that a broken driver does not freeze the
    /// output.
    pub fn state(&self, now: Instant) -> FenceState {
        let mut fds = [PollFd::new(&self.0, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut fds, Some(&at_once)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => FenceState::Pending,
            Ok(_) => FenceState::Signalled(sync_file::signal_time(self.as_fd()).map_or(now, |at| at.min(now))),
            Err(_) => FenceState::Signalled(now),
        }
    }
}

impl AsFd for Fence {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{EventfdFlags, eventfd};
    use smithay::reexports::drm;
    use smithay::reexports::drm::control::Device as ControlDevice;

    #[test]
    fn a_fence_is_done_from_when_it_was_seen_readable() {
        let fd = eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd");
        let other_end = fd.try_clone().expect("a duplicate");
        let (fence, now) = (Fence::new(fd), Instant::from_nanos(5));
        assert_eq!(fence.state(now), FenceState::Pending);
        rustix::io::write(&other_end, &1u64.to_ne_bytes()).expect("signalled");
        assert_eq!(fence.state(now), FenceState::Signalled(now));
        assert_eq!(sync_file::signal_time(fence.as_fd()), None, "an eventfd does not tell the time");
    }

    #[test]
    fn a_fence_whose_driver_died_does_not_freeze_the_output() {
        let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
        let (fence, now) = (Fence::new(reader), Instant::from_nanos(5));
        assert_eq!(fence.state(now), FenceState::Pending);
        drop(writer);
        assert_eq!(fence.state(now), FenceState::Signalled(now));
    }

    /// A render node with the control interface of its driver.
    struct RenderNode(std::fs::File);

    impl AsFd for RenderNode {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }

    impl drm::Device for RenderNode {}
    impl ControlDevice for RenderNode {}

    fn opened(path: &str) -> RenderNode {
        RenderNode(std::fs::OpenOptions::new().read(true).write(true).open(path).expect(path))
    }

    /// A sync file that has signalled.
    fn signalled(device: &RenderNode) -> OwnedFd {
        let object = device.create_syncobj(true).expect("a sync object");
        device.syncobj_to_fd(object, true).expect("a sync file")
    }

    #[test]
    #[ignore = "needs a DRM device with timelines: tests/vm/inside/nested_device runs it in a guest"]
    fn sync_file_moves_through_a_sync_object_to_a_point_of_a_timeline() {
        let device = opened("/dev/dri/renderD128");
        let (timeline, carrier) = (device.create_syncobj(false).unwrap(), device.create_syncobj(false).unwrap());
        let reached = || {
            let mut points = [0];
            device.syncobj_timeline_query(&[timeline], &mut points, false).expect("the timeline is read");
            points[0]
        };
        assert_eq!(reached(), 0);
        put_into_syncobj(device.as_fd(), carrier.into(), signalled(&device).as_fd()).expect("the fence is imported");
        device.syncobj_timeline_transfer(carrier, timeline, 0, 3).expect("it becomes a point");
        assert_eq!(reached(), 3);
        device.syncobj_timeline_signal(&[timeline], &[4]).expect("a later point signals");
        assert_eq!(reached(), 4);
    }

    #[test]
    #[ignore = "needs a DRM device: tests/vm/inside/nested_device runs it in a guest"]
    fn fence_is_added_to_the_memorys_own_fences() {
        let (device, card) = (opened("/dev/dri/renderD128"), opened("/dev/dri/card0"));
        let size = (16, 16);
        let memory = card.create_dumb_buffer(size, drm::buffer::DrmFourcc::Xrgb8888, 32).expect("memory");
        let shared = card.buffer_to_prime_fd(drm::buffer::Buffer::handle(&memory), 0).expect("a dma-buf");
        add_writer(shared.as_fd(), signalled(&device).as_fd()).expect("the fence is added");
        let fence = writers(shared.as_fd()).expect("its fences are exported");
        assert!(signal_time(fence.as_fd()).is_some(), "it has signalled");
        let (no_memory, _) = rustix::pipe::pipe().unwrap();
        assert!(add_writer(no_memory.as_fd(), signalled(&device).as_fd()).is_err());
    }
}
