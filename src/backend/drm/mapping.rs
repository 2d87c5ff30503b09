//! A dumb buffer as memory. The one place where the backend holds a pointer.
#![expect(unsafe_code, reason = "memory that the kernel shares is mapped and seen as a slice of pixels")]

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

use rustix::mm::{MapFlags, ProtFlags};

use upbeat_record::faults::{self, Fault};

/// Memory is made in pieces of this many bytes, or larger ones.
const PAGE: usize = 4_096;
/// So many pixels are read to find out how fast that is: 256 KB, which uncached memory takes a millisecond or more for.
const TRIAL: usize = 65_536;
/// Whoever disturbs one reading does not disturb all of these.
const READINGS: usize = 3;
/// Memory of a device is uncached where it takes more than this many times as long to read as ordinary memory: there it is
/// ten times or more, where it is cached both are the same but for chance.
const SLOW: u32 = 4;

/// Pixels of a dumb buffer, writable for as long as this lives. It may outlive the buffer's handle: the kernel keeps the
/// memory as long as it is mapped.
pub(super) struct Mapping {
    /// All of the buffer: the kernel maps nothing less.
    start: NonNull<u32>,
    bytes: usize,
    /// Those that are seen.
    own: Range<usize>,
}

// SAFETY: the mapping belongs to this value alone, wherever it is sent.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps the dumb buffer with the GEM handle `handle`, of `bytes`, of which the pixels `own` are seen. Nobody else may see
    /// these.
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

    /// Has the kernel make every page now. It would when the buffer is first copied into or shown, where a frame waits.
    pub fn touch(&self) {
        for pixel in self.pixels().iter().step_by(PAGE / size_of::<u32>()) {
            std::hint::black_box(*pixel);
        }
    }

    /// Whether it is read about as fast as ordinary memory. Reads some of both.
    pub fn is_quick(&self) -> bool {
        let own = &self.pixels()[..self.own.len().min(TRIAL)];
        let ordinary = vec![1; own.len()];
        reading_time(own) <= reading_time(&ordinary) * SLOW
    }

    pub fn pixels(&self) -> &[u32] {
        // SAFETY: `new` mapped these pixels, page-aligned, and nobody else sees them: they are writable through `&mut self`
        // only. The display reads them, which changes nothing.
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

/// How long it takes to read these, at best.
fn reading_time(pixels: &[u32]) -> Duration {
    let readings = (0..READINGS).map(|_| {
        let begin = Instant::now();
        std::hint::black_box(pixels.iter().fold(0, |sum: u32, pixel| sum.wrapping_add(*pixel)));
        begin.elapsed()
    });
    readings.min().unwrap_or_default()
}

/// All of a dma-buf's memory, to be read. Its client may write at the same time: then the pixels are some mixture.
pub(super) struct ReadMapping<'a> {
    buffer: &'a OwnedFd,
    start: NonNull<u32>,
    bytes: usize,
}

impl<'a> ReadMapping<'a> {
    /// Maps it, after whatever device draws into it.
    pub fn new(buffer: &'a OwnedFd) -> std::io::Result<Self> {
        let bytes = rustix::fs::seek(buffer, rustix::fs::SeekFrom::End(0))?;
        let bytes = usize::try_from(bytes).map_err(|_| rustix::io::Errno::OVERFLOW)?;
        access(buffer, Access::Start)?;
        // SAFETY: as in `Mapping::new`. A dma-buf cannot shrink, so that what is mapped stays there; that it is one, the
        // kernel has just confirmed by granting access.
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

/// `DMA_BUF_IOCTL_SYNC`: the processor is about to read, or has.
fn access(buffer: &OwnedFd, access: Access) -> rustix::io::Result<()> {
    const SYNC: rustix::ioctl::Opcode = rustix::ioctl::opcode::write::<u64>(b'b', 0);
    // SAFETY: the ioctl reads one 64-bit number of flags, and writes nothing.
    unsafe { rustix::ioctl::ioctl(buffer, rustix::ioctl::Setter::<SYNC, u64>::new(access as u64)) }
}
