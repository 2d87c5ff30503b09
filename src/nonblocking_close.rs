//! Closes files without blocking the main thread.
//!
//! Closing a file of a network file system or of one that is a program (FUSE) flushes it, each time and through
//! whichever descriptor. The caller then blocks in the kernel for as long as that program likes, and no signal ends it.
//! For files that clients hand over with a valid request, the code that handles the request checks for this
//! (`client_files`). But a file sent with an invalid request, or with none, is closed by libwayland itself: at once, or
//! when the client disconnects.
//!
//! So this program has a `close` of its own, which the dynamic linker also gives to the libraries, in place of the C
//! library's. On a thread that must not block, it checks the kind of file and leaves files that may block to another
//! thread. Nothing else differs. (A duplicate of the descriptor would not help, because each is flushed. And libwayland
//! cannot be kept from receiving descriptors.)

#![expect(unsafe_code, reason = "a function of the C library is replaced")]

use std::cell::Cell;
use std::ffi::c_int;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Statx, StatxFlags, open, statx};

use crate::client_files;

thread_local! {
    /// This thread must not block. The flag needs no initialisation and no destructor, because files are closed at any
    /// time, also while the thread is being torn down.
    static IS_SPARED: Cell<bool> = const { Cell::new(false) };
}

/// The kernel's `/proc`, which this program reads all the time, and its device number. The descriptor stays open,
/// because the number is only valid while something of the file system is open.
static PROC: OnceLock<Option<(OwnedFd, FileSystemNumber)>> = OnceLock::new();

/// The number of a file system: major and minor. No other file system gets it while a file of this one is open.
type FileSystemNumber = (u32, u32);

/// From now on, closing a file on this thread does not block.
pub fn never_block_this_thread() {
    PROC.get_or_init(|| {
        let held = open("/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let device = device(&status(&held)?);
        (client_files::is_kernel_file(&held)).then_some((held, device))
    });
    // Refers to the function below, so that the linker keeps it in each program that links this.
    std::hint::black_box(close as unsafe extern "C" fn(c_int) -> c_int);
    IS_SPARED.set(true);
}

/// Replaces the C library's `close(2)`.
///
/// # Safety
/// As for `close(2)`: `descriptor` is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(descriptor: c_int) -> c_int {
    // The flag is cleared meanwhile, because the check opens and closes files itself.
    if IS_SPARED.replace(false) {
        // SAFETY: the caller owns the descriptor that it closes.
        let may_wait = descriptor >= 0 && may_wait(unsafe { BorrowedFd::borrow_raw(descriptor) });
        if may_wait {
            // SAFETY: the caller gives the descriptor up with this call.
            client_files::close_elsewhere(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }
        IS_SPARED.set(true);
        if may_wait {
            return 0;
        }
    }
    // SAFETY: the system call that the C library makes.
    let done = unsafe { libc::syscall(libc::SYS_close, descriptor) };
    if done < 0 { -1 } else { 0 }
}

/// Whether closing it may block. Sends no request to the file system. For pipes, sockets and the like it costs one
/// system call.
fn may_wait(file: BorrowedFd<'_>) -> bool {
    let Some(status) = status(file) else { return false };
    let is_stored =
        matches!(FileType::from_raw_mode(status.stx_mode.into()), FileType::RegularFile | FileType::Directory);
    let is_proc = || matches!(PROC.get(), Some(Some((_, proc))) if *proc == device(&status));
    is_stored && !is_proc() && client_files::close_may_block(file)
}

fn status(file: impl AsFd) -> Option<Statx> {
    statx(file, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()
}

const fn device(status: &Statx) -> FileSystemNumber {
    (status.stx_dev_major, status.stx_dev_minor)
}
