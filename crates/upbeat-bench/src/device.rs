//! Dumb buffers and timelines of a DRM device, for bench clients that imitate programs which draw on a GPU.
//!
//! Every display driver offers dumb buffers; the CPU draws into them. A timeline (`drm_syncobj`) is signalled from user
//! space here, at a chosen moment. A compositor cannot tell it from a GPU that finishes then.

use std::io;
use std::os::fd::{AsFd, FromRawFd as _, OwnedFd};

use drm_ffi::mode::dumbbuffer;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

const BITS_PER_PIXEL: u32 = 32;

/// A dumb buffer of `XRGB8888`, row by row, mapped and writable by this process until it is dropped.
#[derive(Debug)]
pub struct DumbBuffer {
    shared: OwnedFd,
    start: *mut u32,
    bytes: usize,
    stride: u32,
}

impl DumbBuffer {
    /// Width and height in pixels.
    ///
    /// # Errors
    /// The driver's error: it has no dumb buffers, or no memory for this buffer.
    pub fn new(device: impl AsFd, (width, height): (u32, u32)) -> io::Result<Self> {
        let device = device.as_fd();
        let buffer = dumbbuffer::create(device, width, height, BITS_PER_PIXEL, 0)?;
        let shared = drm_ffi::gem::handle_to_fd(device, buffer.handle, (libc::O_CLOEXEC | libc::O_RDWR) as u32)?.fd;
        let offset = dumbbuffer::map(device, buffer.handle, 0, 0)?.offset;
        let (bytes, access) = (buffer.size as usize, ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new descriptor that no other code owns.
        let shared = unsafe { OwnedFd::from_raw_fd(shared) };
        // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, device, offset) }?;
        Ok(DumbBuffer { shared, start: start.cast(), bytes, stride: buffer.pitch })
    }

    /// The descriptor for the compositor: a dma-buf.
    pub fn memory(&self) -> impl AsFd + '_ {
        &self.shared
    }

    /// Bytes from one row to the next.
    pub const fn stride(&self) -> u32 {
        self.stride
    }

    /// All pixels, including the padding of each row. The caller must not write to a buffer that the compositor still
    /// holds.
    pub fn pixels_mut(&mut self) -> &mut [u32] {
        // SAFETY: the mapping is `bytes` long, page-aligned, valid for any bit pattern and lives as long as `self`,
        // which is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes / size_of::<u32>()) }
    }
}

impl Drop for DumbBuffer {
    fn drop(&mut self) {
        // SAFETY: mapped in `new` with this length; no slice of it outlives `self`.
        let _ = unsafe { munmap(self.start.cast(), self.bytes) };
    }
}

/// A `drm_syncobj` timeline; each point is signalled once.
#[derive(Debug)]
pub struct Timeline<Device> {
    device: Device,
    object: u32,
    shared: OwnedFd,
}

impl<Device: AsFd> Timeline<Device> {
    /// A new timeline at point 0.
    ///
    /// # Errors
    /// If the driver has no timelines.
    pub fn new(device: Device) -> io::Result<Self> {
        let object = drm_ffi::syncobj::create(device.as_fd(), false)?.handle;
        let shared = drm_ffi::syncobj::handle_to_fd(device.as_fd(), object, false)?.fd;
        // SAFETY: a new descriptor that no other code owns.
        let shared = unsafe { OwnedFd::from_raw_fd(shared) };
        Ok(Timeline { device, object, shared })
    }

    /// The descriptor for the compositor.
    pub fn shared(&self) -> impl AsFd + '_ {
        &self.shared
    }

    /// Signals `point` and every point before it.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn signal(&self, point: u64) -> io::Result<()> {
        drm_ffi::syncobj::timeline_signal(self.device.as_fd(), &[self.object], &[point]).map(|_| ())
    }

    /// The last signalled point; 0 for none.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn reached(&self) -> io::Result<u64> {
        let mut points = [0];
        drm_ffi::syncobj::query(self.device.as_fd(), &[self.object], &mut points, false)?;
        Ok(points[0])
    }
}
