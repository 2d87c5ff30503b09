//! Closing files on a thread that waits for nobody.
//!
//! A file of a file system that is a program (FUSE) or a network is flushed by whoever closes it, each time and by whatever
//! descriptor, and that waits in the kernel for as long as the program likes: no signal ends it. Files that clients hand over
//! with a request that takes one are looked at there (`lent_files`). But what they hand over with a bad request, or with none
//! at all, is closed by libwayland itself, without a word to us, when it has no use for it or when its client goes.
//!
//! So this program has a `close` of its own. The dynamic linker gives it to the libraries, as it would the C library's. On a
//! thread that must not wait it looks what the file is, and leaves those that may wait to others; nothing else is different.
//! (Another descriptor of the same file would not help: each is flushed. Nor can libwayland be kept from receiving one.)

#![expect(unsafe_code, reason = "a function of the C library is replaced")]

use std::cell::Cell;
use std::ffi::c_int;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Statx, StatxFlags, open, statx};

use crate::lent_files;

thread_local! {
    /// Whether this thread waits for nobody. Without anything to initialise or to drop: files are closed at any time, also
    /// while the thread is being taken apart.
    static IS_SPARED: Cell<bool> = const { Cell::new(false) };
}

/// The kernel's `/proc`, which this program reads all the time: what it is known by for as long as it is held.
static PROC: OnceLock<Option<(OwnedFd, Device)>> = OnceLock::new();

/// The number of a file system: its major and minor part. Only while something of it is open nobody else gets it.
type Device = (u32, u32);

/// From now on nothing that is closed on this thread is waited for.
pub fn spare_this_thread() {
    PROC.get_or_init(|| {
        let held = open("/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let device = device(&status(&held)?);
        (lent_files::is_kernels(&held)).then_some((held, device))
    });
    // Whoever links this links the function below, too: what is in nobody's way may be left out.
    std::hint::black_box(close as unsafe extern "C" fn(c_int) -> c_int);
    IS_SPARED.set(true);
}

/// `close(2)`.
///
/// # Safety
/// As of that: nobody uses `descriptor` any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(descriptor: c_int) -> c_int {
    // What is asked below opens and closes files itself.
    if IS_SPARED.replace(false) {
        // SAFETY: whoever closes a descriptor has it.
        let may_wait = descriptor >= 0 && may_wait(unsafe { BorrowedFd::borrow_raw(descriptor) });
        if may_wait {
            // SAFETY: it is given up with the call.
            lent_files::let_go(unsafe { OwnedFd::from_raw_fd(descriptor) });
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

/// Whether closing it may wait. Asks no file system; what is no file at all costs one system call.
fn may_wait(file: BorrowedFd<'_>) -> bool {
    let Some(status) = status(file) else { return false };
    let is_stored =
        matches!(FileType::from_raw_mode(status.stx_mode.into()), FileType::RegularFile | FileType::Directory);
    let is_proc = || matches!(PROC.get(), Some(Some((_, proc))) if *proc == device(&status));
    is_stored && !is_proc() && lent_files::may_wait_when_closed(file)
}

fn status(file: impl AsFd) -> Option<Statx> {
    statx(file, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE).ok()
}

const fn device(status: &Statx) -> Device {
    (status.stx_dev_major, status.stx_dev_minor)
}
