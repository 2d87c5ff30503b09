//! CPU mappings of dumb buffers and dma-bufs: the backend's only raw pointers to pixels.
#![expect(unsafe_code, reason = "memory that the kernel shares is mapped and seen as a slice of pixels")]

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use rustix::mm::{MapFlags, ProtFlags};

use upbeat_record::faults::{self, Fault};

/// The kernel allocates memory in pages of at least this many bytes.
const PAGE: usize = 4_096;
/// How many pixels are read to measure the speed: 256 KB, which takes a millisecond or more from uncached memory.
const TRIAL: usize = 65_536;
/// The number of measurements: another process hardly disturbs all of them.
const READINGS: usize = 3;
/// Device memory counts as uncached if reading it takes more than this many times as long as ordinary memory. Uncached
/// memory takes ten times or more; cached memory takes the same time but for noise.
const SLOW: u32 = 4;

/// The pixels of a dumb buffer, mapped and writable. The mapping may outlive the buffer's handle: the kernel keeps the
/// memory as long as it is mapped.
pub(super) struct Mapping {
    /// Start of the whole buffer: the kernel maps nothing less.
    start: NonNull<u32>,
    bytes: usize,
    /// The pixels that this mapping exposes.
    own: Range<usize>,
}

// SAFETY: the mapping belongs to this value alone, wherever it is sent.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps the dumb buffer with the GEM handle `handle` and a size of `bytes`, and exposes the pixels `own`. No
    /// other mapping may expose them.
    pub fn new(device: impl AsFd, handle: u32, bytes: usize, own: Range<usize>) -> std::io::Result<Self> {
        if own.start > own.end || own.end > bytes / size_of::<u32>() {
            return Err(rustix::io::Errno::INVAL.into());
        }
        let device = device.as_fd();
        faults::check(Fault::Mapping)?;
        let offset = drm_ffi::mode::dumbbuffer::map(device, handle, 0, 0)?.offset;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe { rustix::mm::mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, device, offset)? };
        let start = NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Mapping { start, bytes, own })
    }

    /// Faults in every page now. Otherwise the kernel would do it when the buffer is first copied into or shown,
    /// where a frame is due.
    pub fn touch(&self) {
        for pixel in self.pixels().iter().step_by(PAGE / size_of::<u32>()) {
            std::hint::black_box(*pixel);
        }
    }

    /// Whether it is read about as fast as ordinary memory. Reads a part of both.
    pub fn is_quick(&self) -> bool {
        let own = &self.pixels()[..self.own.len().min(TRIAL)];
        let ordinary = vec![1; own.len()];
        reading_time(own) <= reading_time(&ordinary) * SLOW
    }

    pub fn pixels(&self) -> &[u32] {
        // SAFETY: `new` mapped these pixels, page-aligned, and no other mapping exposes them: they are writable through
        // `&mut self` only. The display only reads them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(self.own.start), self.own.len()) }
    }

    pub fn pixels_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above, and `&mut self` makes this the only slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(self.own.start), self.own.len()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped it, and no slice outlives this value.
        if let Err(error) = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) } {
            tracing::error!(%error, "memory of a display buffer could not be given back");
        }
    }
}

/// The shortest time in which these pixels were read.
fn reading_time(pixels: &[u32]) -> Duration {
    let readings = (0..READINGS).map(|_| {
        let begin = Instant::now();
        std::hint::black_box(pixels.iter().fold(0, |sum: u32, pixel| sum.wrapping_add(*pixel)));
        begin.elapsed()
    });
    readings.min().unwrap_or_default()
}

/// A read-only mapping of a whole dma-buf. Its client may write at the same time: the pixels are then a mixture.
pub(super) struct ReadMapping<'a> {
    buffer: &'a OwnedFd,
    start: NonNull<u32>,
    bytes: usize,
}

impl<'a> ReadMapping<'a> {
    /// Maps the dma-buf, after the devices that draw into it have finished.
    pub fn new(buffer: &'a OwnedFd) -> std::io::Result<Self> {
        let bytes = rustix::fs::seek(buffer, rustix::fs::SeekFrom::End(0))?;
        let bytes = usize::try_from(bytes).map_err(|_| rustix::io::Errno::OVERFLOW)?;
        access(buffer, Access::Start)?;
        // SAFETY: as in `Mapping::new`. A dma-buf cannot shrink, so the mapped memory stays valid. By granting access
        // the kernel has just confirmed that it is a dma-buf.
        let start =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, buffer, 0) };
        let start = start.inspect_err(|_| {
            let _ = access(buffer, Access::End);
        })?;
        let start = NonNull::new(start.cast()).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(ReadMapping { buffer, start, bytes })
    }

    pub fn pixels(&self) -> &[u32] {
        // SAFETY: `new` mapped that many bytes, page-aligned, for as long as this lives.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes / size_of::<u32>()) }
    }
}

impl Drop for ReadMapping<'_> {
    fn drop(&mut self) {
        let _ = access(self.buffer, Access::End);
        // SAFETY: `new` mapped it, and no slice outlives this value.
        if let Err(error) = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.bytes) } {
            tracing::error!(%error, "memory of a client's buffer could not be given back");
        }
    }
}

/// `DMA_BUF_SYNC_READ` with `DMA_BUF_SYNC_START` or `_END`, as in the kernel's `linux/dma-buf.h`.
#[derive(Clone, Copy)]
#[repr(u64)]
enum Access {
    Start = 1,
    End = 1 | 4,
}

/// `DMA_BUF_IOCTL_SYNC`: begins or ends a read by the CPU.
fn access(buffer: &OwnedFd, access: Access) -> rustix::io::Result<()> {
    const SYNC: rustix::ioctl::Opcode = rustix::ioctl::opcode::write::<u64>(b'b', 0);
    // SAFETY: the ioctl reads one 64-bit number of flags, and writes nothing.
    unsafe { rustix::ioctl::ioctl(buffer, rustix::ioctl::Setter::<SYNC, u64>::new(access as u64)) }
}
