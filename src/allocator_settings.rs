//! Settings of glibc's allocator, so that the memory of freed pictures goes back to the system.
//!
//! A large block is mapped separately and unmapped when it is freed. But by default glibc raises its threshold with
//! each such `free`, and then takes the next block of that size from its heap, where a small block behind it can keep
//! it for ever. After some mode changes a session held a whole picture too many (2.8 MiB at 1024 × 768).
#![expect(unsafe_code, reason = "only libc has these calls")]

/// Blocks of this size or more are mapped separately (bytes). Less than a picture of any screen, and more than any
/// block that is allocated with every frame.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 1 << 20;

/// Free memory that the heap keeps at its end (bytes): enough for the scenes of a few windows, which are allocated and
/// freed with each frame. The default of 128 KiB would go back to the system and return each time.
#[cfg(target_env = "gnu")]
const SPARE: libc::c_int = 2 * LARGE;

/// Makes freed large blocks go back to the system, always. To be called before there are threads.
pub fn return_large_blocks() {
    #[cfg(target_env = "gnu")]
    // SAFETY: no other thread allocates meanwhile, and the values are such as the calls allow.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE);
    }
}
