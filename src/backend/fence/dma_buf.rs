//! The fences of memory that devices share (`linux/dma-buf.h`).

use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd};

use rustix::ioctl::{self, Updater, opcode};

/// `struct dma_buf_export_sync_file`.
#[repr(C)]
struct ExportSyncFile {
    /// What is going to be done with the memory.
    flags: u32,
    /// Out: a new descriptor.
    fd: i32,
}

/// `DMA_BUF_SYNC_READ`: whoever reads waits for those who write.
const READ: u32 = 1;

type Export<'a> = Updater<'a, { opcode::read_write::<ExportSyncFile>(b'b', 2) }, ExportSyncFile>;

/// A sync file of all who write to a dma-buf now. Fails with `ENOTTY` where `descriptor` is no dma-buf, or the kernel is
/// older than 6.0.
pub(super) fn writers(descriptor: BorrowedFd<'_>) -> rustix::io::Result<OwnedFd> {
    let mut export = ExportSyncFile { flags: READ, fd: -1 };
    // SAFETY: `DMA_BUF_IOCTL_EXPORT_SYNC_FILE` reads and writes one `dma_buf_export_sync_file`, which `ExportSyncFile`
    // mirrors. Other kinds of file refuse the number.
    unsafe { ioctl::ioctl(descriptor, Export::new(&mut export)) }?;
    // SAFETY: the call succeeded: it made this descriptor for us, and nobody else knows its number.
    Ok(unsafe { OwnedFd::from_raw_fd(export.fd) })
}
