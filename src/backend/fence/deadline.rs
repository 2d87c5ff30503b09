//! Deadline hints for fences (`SYNC_IOC_SET_DEADLINE`, Linux 6.6).
//!
//! With the hint a driver may raise its clock in time. Without it the GPU looks idle to the driver, and the frame may
//! be late without need. It is only a hint: where it is not supported nothing fails.
//!
//! ```text
//!   sync file ──────────────────────────► SET_DEADLINE ──► dma_fence ──► the driver's clock governor
//!   dma-buf ── EXPORT_SYNC_FILE ──┘            │
//!   eventfd, pipe ── no such call ── ignored   └── no such call: a kernel before 6.6, never tried again
//! ```

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::{dma_buf, sync_file};
use upbeat_timing::time::Instant;

/// Whether the kernel is known to lack the ioctl.
static UNSUPPORTED: AtomicBool = AtomicBool::new(false);

/// Asks that the fence behind `descriptor` signals by `deadline` (`CLOCK_MONOTONIC`). `descriptor` is a sync file, or a
/// dma-buf whose writers are meant; any other descriptor is ignored.
pub fn hint(descriptor: BorrowedFd<'_>, deadline: Instant) {
    if UNSUPPORTED.load(Ordering::Relaxed) {
        return;
    }
    let exported = dma_buf::writers(descriptor).ok();
    let fence = exported.as_ref().map_or(descriptor, AsFd::as_fd);
    let result = sync_file::set_deadline(fence, deadline);
    // Only a genuine sync file proves that the kernel lacks the ioctl.
    if lacks_call(result) && sync_file::is_one(fence) && !UNSUPPORTED.swap(true, Ordering::Relaxed) {
        tracing::debug!("the kernel has no fence deadlines (Linux 6.6 and later have)");
    }
}

fn lacks_call(result: Result<(), Errno>) -> bool {
    matches!(result, Err(Errno::NOTTY | Errno::INVAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptor_without_a_fence_is_ignored_and_does_not_disable_hints() {
        let (reader, _writer) = rustix::pipe::pipe().expect("a pipe");
        let deadline = Instant::from_nanos(1);
        assert_eq!(sync_file::set_deadline(reader.as_fd(), deadline), Err(Errno::NOTTY));
        assert!(dma_buf::writers(reader.as_fd()).is_err());
        hint(reader.as_fd(), deadline);
        assert!(!UNSUPPORTED.load(Ordering::Relaxed), "a pipe says nothing about the kernel");
    }
}
