//! The implicit fences of dma-bufs (`linux/dma-buf.h`).

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::ioctl::{self, Setter, Updater, opcode};

/// The kernel's `struct dma_buf_export_sync_file`.
#[repr(C)]
struct ExportSyncFile {
    /// In: the intended access.
    flags: u32,
    /// Out: the descriptor of the sync file.
    fd: i32,
}

/// `DMA_BUF_SYNC_READ`: export the fences that a reader has to wait for, which are the writers' fences.
const READ: u32 = 1;

/// `DMA_BUF_SYNC_WRITE`: an imported fence is a writer's.
const WRITE: u32 = 2;

/// The kernel's `struct dma_buf_import_sync_file`.
#[repr(C)]
struct ImportSyncFile {
    /// The access whose end the fence signals.
    flags: u32,
    /// The descriptor of the sync file.
    fd: i32,
}

type ImportWriter = Setter<{ opcode::write::<ImportSyncFile>(b'b', 3) }, ImportSyncFile>;

type Export<'a> = Updater<'a, { opcode::read_write::<ExportSyncFile>(b'b', 2) }, ExportSyncFile>;

/// Exports the fences of all current writers of a dma-buf as a sync file. Fails with `ENOTTY` where `descriptor` is no
/// dma-buf, or the kernel is older than 6.0.
pub(super) fn writers(descriptor: BorrowedFd<'_>) -> rustix::io::Result<OwnedFd> {
    let mut export = ExportSyncFile { flags: READ, fd: -1 };
    // SAFETY: `DMA_BUF_IOCTL_EXPORT_SYNC_FILE` reads and writes one `dma_buf_export_sync_file`, which `ExportSyncFile`
    // mirrors. Other kinds of file refuse the number.
    unsafe { ioctl::ioctl(descriptor, Export::new(&mut export)) }?;
    // SAFETY: the call succeeded, so the kernel made this descriptor for us, and no other code owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(export.fd) })
}

/// Adds a writer's fence. Fails with `ENOTTY` where `descriptor` is no dma-buf, or the kernel is older than 6.0.
pub(super) fn add_writer(descriptor: BorrowedFd<'_>, fence: BorrowedFd<'_>) -> rustix::io::Result<()> {
    let import = ImportSyncFile { flags: WRITE, fd: fence.as_raw_fd() };
    // SAFETY: `DMA_BUF_IOCTL_IMPORT_SYNC_FILE` reads one `dma_buf_import_sync_file`, which `ImportSyncFile` mirrors, and
    // writes nothing. Other kinds of file refuse the number.
    unsafe { ioctl::ioctl(descriptor, ImportWriter::new(import)) }
}
