//! A counting allocator, for tests that some code allocates nothing, or keeps nothing of its allocations.
#![allow(dead_code, reason = "each test uses some of it")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes in use by all threads.
static IN_USE_BY_ALL: AtomicI64 = AtomicI64::new(0);
static COUNTING_ALL: Mutex<()> = Mutex::new(());

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static IN_USE: Cell<i64> = const { Cell::new(0) };
}

fn count_bytes(change: i64) {
    IN_USE_BY_ALL.fetch_add(change, Ordering::Relaxed);
    let _ = IN_USE.try_with(|bytes| bytes.set(bytes.get() + change));
}

/// Counts each thread's allocations, and the bytes that it has allocated and not freed.
struct CountingAllocator;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // When a thread ends its counter may be gone already; such allocations are not counted.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        count_bytes(layout.size().cast_signed() as i64);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count_bytes(-(layout.size().cast_signed() as i64));
        // SAFETY: the caller's promise about `pointer` and `layout` is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Number of allocations of this thread during `work`.
pub fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

/// Bytes that this thread allocates during `work` and does not free in it, less the older bytes that it frees.
pub fn kept(work: impl FnOnce()) -> i64 {
    let before = IN_USE.with(Cell::get);
    work();
    IN_USE.with(Cell::get) - before
}

/// While the guard is held, no other test that counts the memory of all threads runs.
pub fn alone() -> MutexGuard<'static, ()> {
    COUNTING_ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Like [`kept`], for work whose memory is freed by other threads. The test must hold the guard of [`alone`].
pub fn kept_by_all(work: impl FnOnce()) -> i64 {
    let before = IN_USE_BY_ALL.load(Ordering::Relaxed);
    work();
    IN_USE_BY_ALL.load(Ordering::Relaxed) - before
}

#[test]
fn kept_bytes_are_counted() {
    let mut vector = Vec::new();
    assert_eq!(kept(|| vector = std::hint::black_box(vec![1_u8; 100])), 100);
    assert_eq!(kept(|| drop(vector)), -100);
}

#[test]
fn allocations_are_counted() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1_u8; 100]))) > 0);
}
