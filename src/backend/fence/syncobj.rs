//! The kernel's sync objects (`drm/drm.h`).

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::ioctl::{self, Updater, opcode};

/// The kernel's `struct drm_syncobj_handle`.
#[repr(C)]
struct SyncobjHandle {
    handle: u32,
    flags: u32,
    fd: i32,
    pad: u32,
}

/// `DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE`: `fd` is a sync file, and `handle` gets its fences.
const IMPORT_SYNC_FILE: u32 = 1;

type ImportIntoSyncobj<'a> = Updater<'a, { opcode::read_write::<SyncobjHandle>(b'd', 0xc2) }, SyncobjHandle>;

/// Replaces the fence of the sync object `handle` with the fences of a sync file. The `drm` crate can import a sync file
/// only into a new object, which the kernel refuses.
pub(super) fn put_into(device: BorrowedFd<'_>, handle: u32, fence: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let mut import = SyncobjHandle { handle, flags: IMPORT_SYNC_FILE, fd: fence.as_raw_fd(), pad: 0 };
    // SAFETY: `DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE` reads and writes one `drm_syncobj_handle`, which `SyncobjHandle` mirrors.
    // Other kinds of file refuse the number.
    unsafe { ioctl::ioctl(device, ImportIntoSyncobj::new(&mut import)) }
}
