//! A hash of a surface's pixels: buffers with the same pixels have the same hash.

use ahash::RandomState;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::shm::with_buffer_contents;
use std::hash::{BuildHasher, Hasher};

/// Larger buffers (bytes) are not read: a 4K window of 4 bytes a pixel takes a few milliseconds.
const LARGEST: usize = 3840 * 2160 * 4;
/// Bytes that are read at a time.
const PIECE: usize = 16 * 1024;

/// A hash of the pixels of `buffer`, its size and its format; `None` if they cannot be read: the buffer is not in
/// shared memory, or too large.
pub fn number_of(buffer: &WlBuffer) -> Option<u64> {
    with_buffer_contents(buffer, |start, length, data| {
        let (offset, stride) = (usize::try_from(data.offset).ok()?, usize::try_from(data.stride).ok()?);
        let height = usize::try_from(data.height).ok()?;
        let bytes = stride.checked_mul(height).filter(|bytes| *bytes <= LARGEST)?;
        let end = offset.checked_add(bytes).filter(|end| *end <= length)?;
        // Fixed seeds, the same in every session: no client gains by pictures that collide.
        let mut hasher = RandomState::with_seeds(1, 2, 3, 4).build_hasher();
        hasher.write_i32(data.width);
        hasher.write_i32(data.stride);
        hasher.write_u32(data.format as u32);
        let mut piece = [0; PIECE];
        for at in (offset..end).step_by(PIECE) {
            let piece = &mut piece[..PIECE.min(end - at)];
            read_bytes(start, length, at, piece);
            hasher.write(piece);
        }
        Some(hasher.finish())
    })
    .ok()?
}

/// Copies `piece.len()` bytes of a pool, from offset `at` on.
#[expect(unsafe_code, reason = "shared memory is read through a pointer: its client may write at the same time")]
pub(super) fn read_bytes(start: *const u8, length: usize, at: usize, piece: &mut [u8]) {
    assert!(at <= length && piece.len() <= length - at, "within the pool");
    // SAFETY: the bytes lie within the `length` bytes at `start`, which stay mapped while the pool is accessed, and
    // `piece` is ours; a client that truncates the file behind them is caught by Smithay's guard around this access.
    unsafe { std::ptr::copy_nonoverlapping(start.add(at), piece.as_mut_ptr(), piece.len()) };
}

/// Copies 32-bit words of a pool, which are little-endian there, from offset `at` on.
#[expect(unsafe_code, reason = "shared memory is read through a pointer: its client may write at the same time")]
pub(super) fn read_words(start: *const u8, length: usize, at: usize, words: &mut [u32]) {
    let bytes = size_of_val(words);
    assert!(at <= length && bytes <= length - at, "within the pool");
    // SAFETY: as above; any bytes are numbers, and `words` is as many bytes long.
    unsafe { std::ptr::copy_nonoverlapping(start.add(at), words.as_mut_ptr().cast::<u8>(), bytes) };
    if cfg!(target_endian = "big") {
        words.iter_mut().for_each(|word| *word = u32::from_le(*word));
    }
}
