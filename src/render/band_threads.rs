//! Threads that share a piece of work with the calling thread.
//!
//! ```text
//!   caller    post ─► work ───────────► nothing left ─► withdraw ─► wait for threads inside ─► go on
//!   thread 1      ─────► work ────────► nothing left ┘
//!   thread 2      ───────────────────────────────────────► too late: it sees no work, and sleeps again
//! ```
//!
//! The caller never waits for a thread that has not begun. So a frame is at most as late as without threads, plus one
//! band, even if other programs keep the threads from running.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::real_time::{self, RealTime, ThreadRole};

/// Threads that sleep until work is posted.
pub(super) struct BandThreads {
    shared: Arc<SharedWork>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct SharedWork {
    board: Mutex<WorkBoard>,
    /// Work was posted, or the threads are to end.
    posted: Condvar,
    /// The last thread has left the work.
    left: Condvar,
}

#[derive(Default)]
struct WorkBoard {
    work: Option<PostedWork>,
    /// How many more threads may begin.
    wanted: usize,
    /// Threads that work now.
    inside: usize,
    /// The caller has the real-time class, and a processor is left for other programs and for the kernel's threads.
    is_real_time: bool,
    closed: bool,
}

/// The caller's work. It is valid until the caller has withdrawn it and no thread is inside.
#[derive(Clone, Copy)]
struct PostedWork(*const (dyn Fn() + Sync));

// SAFETY: the function is `Sync`, so several threads may call it.
#[expect(unsafe_code, reason = "a pointer is not `Send` by itself")]
unsafe impl Send for PostedWork {}

impl BandThreads {
    /// Starts `count` threads; fewer if the system refuses some.
    pub fn start(count: usize) -> Self {
        real_time::remember_limit();
        let shared = Arc::<SharedWork>::default();
        let threads = (0..count).filter_map(|_| {
            let its = shared.clone();
            let thread = std::thread::Builder::new().name("bands".to_owned()).spawn(move || its.run_thread());
            thread.inspect_err(|error| tracing::warn!(%error, "no thread for a part of large frames")).ok()
        });
        let threads = threads.collect();
        BandThreads { shared, threads }
    }

    /// Calls `work` on the calling thread and on at most `others` threads at the same time. Returns after all calls
    /// have ended. `work` divides itself into parts; it must return when no part is left.
    pub fn share(&mut self, others: usize, work: &(dyn Fn() + Sync)) {
        let wanted = others.min(self.threads.len());
        if wanted > 0 {
            self.shared.post(work, wanted);
        }
        // Also after a panic: threads inside still use the caller's variables.
        let _withdrawn = WithdrawnAtEnd(&self.shared);
        work();
    }
}

impl Drop for BandThreads {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.posted.notify_all();
        for thread in self.threads.drain(..) {
            // A thread catches panics of its work, so it ends normally.
            let _ = thread.join();
        }
    }
}

/// Withdraws the posted work and waits for the threads inside.
struct WithdrawnAtEnd<'a>(&'a SharedWork);

impl Drop for WithdrawnAtEnd<'_> {
    fn drop(&mut self) {
        let mut board = self.0.lock();
        board.work = None;
        let rest = self.0.left.wait_while(board, |board| board.inside > 0);
        drop(rest.unwrap_or_else(PoisonError::into_inner));
    }
}

impl SharedWork {
    fn lock(&self) -> MutexGuard<'_, WorkBoard> {
        // No operation under the lock can leave an inconsistent board, so a poisoned lock is safe to use.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(unsafe_code, reason = "the threads borrow the caller's work, whose lifetime no thread can have")]
    fn post(&self, work: &(dyn Fn() + Sync), wanted: usize) {
        // SAFETY: only the lifetime changes. `share` withdraws the work and waits for all threads inside, even if it
        // panics, before the borrow ends.
        let work = unsafe { std::mem::transmute::<&(dyn Fn() + Sync), &'static (dyn Fn() + Sync)>(work) };
        let is_real_time = real_time::is_real_time() && processors() > 1 + wanted;
        let mut board = self.lock();
        board.is_real_time = is_real_time;
        board.work = Some(PostedWork(std::ptr::from_ref(work)));
        board.wanted = wanted;
        drop(board);
        (0..wanted).for_each(|_| self.posted.notify_one());
    }

    fn run_thread(&self) {
        let mut real_time: Option<RealTime> = None;
        while let Some((work, is_real_time)) = self.next() {
            match (is_real_time, real_time.take()) {
                (true, had) => real_time = Some(had.unwrap_or_else(|| RealTime::ask_for(ThreadRole::Painter))),
                (false, had) => had.into_iter().for_each(RealTime::give_up),
            }
            self.call(work);
            real_time.iter_mut().for_each(RealTime::check);
        }
    }

    /// Waits for work; `None` at the end. Returns also whether it is to be done in the real-time class.
    fn next(&self) -> Option<(PostedWork, bool)> {
        let idle = |board: &mut WorkBoard| !board.closed && (board.work.is_none() || board.wanted == 0);
        let mut board = self.posted.wait_while(self.lock(), idle).unwrap_or_else(PoisonError::into_inner);
        let work = board.work.filter(|_| !board.closed)?;
        board.wanted -= 1;
        board.inside += 1;
        Some((work, board.is_real_time))
    }

    #[expect(unsafe_code, reason = "the work is borrowed from the caller")]
    fn call(&self, PostedWork(work): PostedWork) {
        // SAFETY: this thread is counted as inside, and the caller keeps the work until no thread is.
        let work = unsafe { &*work };
        // The part that panicked is missing in the caller's results.
        let _ = catch_unwind(AssertUnwindSafe(work));
        let mut board = self.lock();
        board.inside -= 1;
        if board.inside == 0 {
            self.left.notify_one();
        }
    }
}

/// How many threads can draw: the calling thread and at most seven others, since more only wait for memory. With three or
/// more processors one is left for other programs and for the kernel's threads, which carry out commits.
pub(super) fn available() -> usize {
    const MOST: usize = 8;
    match processors() {
        count @ ..=2 => count,
        count => (count - 1).min(MOST),
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Shares `parts` parts; returns how often each was done.
    fn done(threads: &mut BandThreads, parts: usize, panics_at: usize) -> Vec<usize> {
        let counts: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
        let next = AtomicUsize::new(0);
        let caller = std::thread::current().id();
        threads.share(parts, &|| {
            while let Some(count) = counts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let number = count.fetch_add(1, Ordering::Relaxed);
                let is_other = std::thread::current().id() != caller;
                assert!(number != panics_at || !is_other, "injected");
            }
        });
        counts.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn each_part_is_done_once() {
        let mut threads = BandThreads::start(3);
        for parts in [0, 1, 2, 7, 100] {
            assert_eq!(done(&mut threads, parts, usize::MAX), vec![1; parts]);
        }
        assert_eq!(done(&mut BandThreads::start(0), 5, usize::MAX), vec![1; 5]);
    }

    #[test]
    fn caller_does_not_wait_for_threads_that_have_not_begun() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        // It stands for a thread that other programs keep from running.
        let stuck = std::thread::spawn(move || ended.recv().unwrap_or_default());
        let mut threads = BandThreads { shared: Arc::default(), threads: vec![stuck] };
        assert_eq!(done(&mut threads, 5, usize::MAX), vec![1; 5]);
        drop(end);
    }

    #[test]
    fn panic_of_a_thread_reaches_neither_the_caller_nor_later_work() {
        let mut threads = BandThreads::start(2);
        for _ in 0..50 {
            done(&mut threads, 20, 0);
        }
        assert_eq!(done(&mut threads, 20, usize::MAX), vec![1; 20]);
    }
}
