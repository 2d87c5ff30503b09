//! A dumb buffer as memory. The one place where the backend holds a pointer.
#![expect(unsafe_code, reason = "memory that the kernel shares is mapped and seen as a slice of pixels")]

use std::os::fd::AsFd;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags};

/// The pixels of a dumb buffer, writable for as long as this lives. It may outlive the buffer's handle: the kernel keeps
/// the memory as long as it is mapped.
pub(super) struct Mapping {
    start: NonNull<u32>,
    pixels: usize,
}

// SAFETY: the mapping belongs to this value alone, wherever it is sent.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `bytes` of the dumb buffer with the GEM handle `handle`.
    pub fn new(device: impl AsFd, handle: u32, bytes: usize) -> std::io::Result<Self> {
        let device = device.as_fd();
        let offset = drm_ffi::mode::dumbbuffer::map(device, handle, 0, 0)?.offset;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, device, offset)? };
        let start = NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Mapping { start, pixels: bytes / size_of::<u32>() })
    }

    pub fn pixels(&self) -> &[u32] {
        // SAFETY: `new` mapped that many pixels, page-aligned; they are writable through `&mut self` only. The display
        // reads them, which changes nothing.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.pixels) }
    }

    pub fn pixels_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above, and `&mut self` makes this the only slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.pixels) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped it, and no slice outlives this value.
        if let Err(error) = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.pixels * size_of::<u32>()) } {
            tracing::error!(%error, "memory of a display buffer could not be given back");
        }
    }
}
