//! Shared memory for the pixels of a client.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Anonymous memory (a memfd) that can be shared with a compositor. It is mapped and writable in this process until it
/// is dropped.
#[derive(Debug)]
pub struct SharedMemory {
    file: OwnedFd,
    start: *mut u32,
    bytes: usize,
}

impl SharedMemory {
    /// Creates `pixels` black pixels of four bytes each. A page is allocated when it is first written to.
    pub fn new(name: &str, pixels: usize) -> rustix::io::Result<Self> {
        let bytes = pixels * size_of::<u32>();
        let file = memfd_create(name, MemfdFlags::CLOEXEC)?;
        ftruncate(&file, bytes as u64)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, &file, 0) }?;
        Ok(SharedMemory { file, start: start.cast(), bytes })
    }

    /// The descriptor to send to the compositor.
    pub fn file(&self) -> impl AsFd + '_ {
        &self.file
    }

    /// The size in bytes.
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// The pixels, for reading.
    pub fn pixels(&self) -> &[u32] {
        // SAFETY: the mapping is `bytes` long, page-aligned, valid for any bit pattern and lives as long as
        // `self`. No other process writes to it: the compositor only reads.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes / size_of::<u32>()) }
    }

    /// The pixels, for writing. Do not write to a buffer that the compositor has not released.
    pub fn pixels_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes / size_of::<u32>()) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; no slice of it outlives `self`.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}
