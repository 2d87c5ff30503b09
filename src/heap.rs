//! How glibc's allocator treats pictures.
//!
//! A large block is memory of its own, which goes back to the system with it. But each one that is freed makes glibc
//! take the next of that size from its heap, where a small block behind it keeps it for ever: after some mode changes a
//! session had a picture more than it used (2.8 MiB at 1024 × 768), once, at some time.
#![expect(unsafe_code, reason = "the allocator is told through libc")]

/// Blocks from this size on are memory of their own (bytes): less than a picture of any screen, and more than what is
/// allocated with every frame.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 1 << 20;

/// What the heap keeps at its end for the next time (bytes): what the scenes of a few windows come and go with. Left to
/// itself it would be 128 KiB now, and go to the system and come back all the time.
#[cfg(target_env = "gnu")]
const SPARE: libc::c_int = 2 * LARGE;

/// Large blocks go back to the system when they are freed, always. To be called before there are threads.
pub fn give_large_blocks_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: no other thread allocates meanwhile, and the values are such as the calls allow.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE);
    }
}
