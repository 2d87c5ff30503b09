//! The kernel's sync files (`linux/sync_file.h`), which record the time at which they signalled.

use std::os::fd::BorrowedFd;

use rustix::ioctl::{self, Setter, Updater, opcode};

use upbeat_timing::time::Instant;

/// The kernel's `struct sync_file_info`.
#[repr(C)]
#[derive(Default)]
struct SyncFileInfo {
    name: [u8; 32],
    status: i32,
    flags: u32,
    /// In: the capacity of the array, or zero to query the number of fences. Out: the number of fences.
    num_fences: u32,
    pad: u32,
    /// Address of an array of `SyncFenceInfo`.
    sync_fence_info: u64,
}

/// The kernel's `struct sync_fence_info`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct SyncFenceInfo {
    obj_name: [u8; 32],
    driver_name: [u8; 32],
    status: i32,
    flags: u32,
    timestamp_ns: u64,
}

/// No renderer here merges more fences than this into one sync file.
const MOST_FENCES: usize = 64;

type FileInfo<'a> = Updater<'a, { opcode::read_write::<SyncFileInfo>(b'>', 4) }, SyncFileInfo>;

/// The kernel's `struct sync_set_deadline`.
#[repr(C)]
struct SyncSetDeadline {
    deadline_ns: u64,
    /// The kernel requires zero.
    pad: u64,
}

type SetDeadline = Setter<{ opcode::write::<SyncSetDeadline>(b'>', 5) }, SyncSetDeadline>;

/// Asks that a sync file signals by `deadline` (`CLOCK_MONOTONIC`). Fails with `ENOTTY` where `fd` is no sync file, or
/// the kernel is older than 6.6.
pub(super) fn set_deadline(fd: BorrowedFd<'_>, deadline: Instant) -> rustix::io::Result<()> {
    let deadline = SyncSetDeadline { deadline_ns: deadline.as_nanos(), pad: 0 };
    // SAFETY: `SYNC_IOC_SET_DEADLINE` reads one `sync_set_deadline`, which `SyncSetDeadline` mirrors, and keeps nothing
    // of it. Other kinds of file refuse the number.
    unsafe { ioctl::ioctl(fd, SetDeadline::new(deadline)) }
}

/// Whether `fd` is a sync file.
pub(super) fn is_one(fd: BorrowedFd<'_>) -> bool {
    file_info(fd, &mut SyncFileInfo::default()).is_some()
}

/// When the last fence of a sync file signalled (`CLOCK_MONOTONIC`); `None` if one is still pending, or if `fd` is no
/// sync file.
pub(super) fn signal_time(fd: BorrowedFd<'_>) -> Option<Instant> {
    let mut info = SyncFileInfo::default();
    file_info(fd, &mut info)?;
    let mut fences = vec![SyncFenceInfo::default(); (info.num_fences as usize).min(MOST_FENCES)];
    let mut info = SyncFileInfo {
        num_fences: fences.len() as u32,
        sync_fence_info: fences.as_mut_ptr() as u64,
        ..SyncFileInfo::default()
    };
    file_info(fd, &mut info)?;
    let last = fences.iter().map(|fence| fence.timestamp_ns).max()?;
    let all_done = fences.iter().all(|fence| fence.status != 0 && fence.timestamp_ns != 0);
    all_done.then_some(Instant::from_nanos(last))
}

fn file_info(fd: BorrowedFd<'_>, info: &mut SyncFileInfo) -> Option<()> {
    // SAFETY: `SYNC_IOC_FILE_INFO` reads and writes one `sync_file_info`, which `SyncFileInfo` mirrors, and writes at
    // most `num_fences` elements at `sync_fence_info`, which is zero with a null address or the length of an array that
    // outlives the call. Other kinds of file refuse the number with ENOTTY.
    unsafe { ioctl::ioctl(fd, FileInfo::new(info)) }.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structures_have_the_kernels_sizes() {
        assert_eq!((size_of::<SyncFileInfo>(), size_of::<SyncFenceInfo>()), (56, 80));
    }
}
