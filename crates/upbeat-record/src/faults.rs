//! Fault injection: makes operations fail on purpose, so that tests can check the consequences. Release builds contain
//! no injection.
//!
//! `arm(Fault::Thread, 2)` in a test lets the second thread start from then on fail, counted on the calling thread
//! only. The environment variable `UPBEAT_FAULTS=thread:2,file:1` does the same for a process, counted over all of its
//! threads.

use std::io;

/// An operation that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// `repr(C)`, because it is passed to an `extern "C"` function.
#[repr(C)]
pub enum Fault {
    /// The handler of a client's request panics.
    Request,
    /// A turn of the main loop panics.
    Turn,
    /// Allocating memory for a buffer of our own fails.
    Buffer,
    /// Importing a client's buffer as a texture fails.
    Texture,
    /// Starting a thread fails.
    Thread,
    /// Opening or creating a file fails.
    File,
    /// The handler for the end of a client's object panics.
    End,
    /// Access to the state of a surface panics.
    States,
    /// Disconnecting a client after a panic panics again.
    Farewell,
    /// A turn of the main loop panics where the panic cannot be caught.
    Abort,
    /// Mapping memory of a client or of a display fails.
    Mapping,
    /// Submitting a frame to a display fails: no memory (ENOMEM).
    Commit,
    /// Submitting a frame to a display fails: busy (EBUSY).
    CommitBusy,
    /// Submitting a frame to a display fails: invalid (EINVAL).
    CommitInvalid,
    /// Submitting a frame to a display fails: no space (ENOSPC).
    CommitFull,
    /// A driver rejects a mode in a test commit.
    Mode,
    /// A driver never answers a request for a mode.
    ModeSilent,
    /// A driver accepts a mode in a test commit, but rejects every frame in this mode.
    Modeset,
    /// A driver reports that the link to a lit monitor has failed.
    Link,
    /// A lit monitor's EDID is another monitor's.
    Edid,
}

impl Fault {
    /// The error that the caller gets.
    #[cfg(debug_assertions)]
    fn errno(self) -> rustix::io::Errno {
        use rustix::io::Errno;
        match self {
            Fault::CommitBusy => Errno::BUSY,
            Fault::CommitInvalid => Errno::INVAL,
            Fault::CommitFull => Errno::NOSPC,
            _ => Errno::NOMEM,
        }
    }
}

/// Fails if a fault of a display commit is due. Each call counts for all four of these faults.
///
/// # Errors
/// The error of the fault that is due, as the kernel would return it.
#[inline]
pub fn check_commit() -> io::Result<()> {
    [Fault::Commit, Fault::CommitBusy, Fault::CommitInvalid, Fault::CommitFull].into_iter().try_for_each(check)
}

/// Fails if `fault` is due. Each call counts.
///
/// # Errors
/// The fault is due. The error is out of memory, except for the faults that name another.
#[inline]
pub fn check(fault: Fault) -> io::Result<()> {
    #[cfg(debug_assertions)]
    if armed::is_time(fault) {
        return Err(fault.errno().into());
    }
    let _ = fault;
    Ok(())
}

/// Panics if `fault` is due.
#[inline]
pub fn panic_if_due(fault: Fault) {
    #[cfg(debug_assertions)]
    assert!(!armed::is_time(fault), "a fault on purpose: {fault:?}");
    let _ = fault;
}

/// Panics if `fault` is due, and aborts instead of unwinding: like a panic in a function that a C library calls.
#[inline]
pub fn abort_if_due(fault: Fault) {
    extern "C" fn cannot_unwind(fault: Fault) {
        panic_if_due(fault);
    }
    cannot_unwind(fault);
}

#[cfg(debug_assertions)]
pub use armed::arm;

#[cfg(debug_assertions)]
mod armed {
    use std::cell::Cell;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::Fault;

    /// The names of faults in the environment variable.
    const WORDS: [(&str, Fault); 20] = [
        ("request", Fault::Request),
        ("turn", Fault::Turn),
        ("buffer", Fault::Buffer),
        ("texture", Fault::Texture),
        ("thread", Fault::Thread),
        ("file", Fault::File),
        ("end", Fault::End),
        ("states", Fault::States),
        ("farewell", Fault::Farewell),
        ("abort", Fault::Abort),
        ("mapping", Fault::Mapping),
        ("commit", Fault::Commit),
        ("commit-busy", Fault::CommitBusy),
        ("commit-invalid", Fault::CommitInvalid),
        ("commit-full", Fault::CommitFull),
        ("mode", Fault::Mode),
        ("mode-silent", Fault::ModeSilent),
        ("modeset", Fault::Modeset),
        ("link", Fault::Link),
        ("edid", Fault::Edid),
    ];

    type Counts = [AtomicU32; WORDS.len()];

    thread_local! {
        static HERE: [Cell<u32>; WORDS.len()] = const { [const { Cell::new(0) }; WORDS.len()] };
    }

    /// Lets the `nth` operation from now on this thread fail; 0 lets none fail.
    pub fn arm(fault: Fault, nth: u32) {
        HERE.with(|counts| counts[fault as usize].set(nth));
    }

    pub(super) fn is_time(fault: Fault) -> bool {
        let here = HERE.with(|counts| {
            let count = &counts[fault as usize];
            let left = count.get();
            count.set(left.saturating_sub(1));
            left == 1
        });
        here || is_time_anywhere(&everywhere()[fault as usize])
    }

    fn is_time_anywhere(count: &AtomicU32) -> bool {
        count.load(Ordering::Relaxed) > 0 && count.fetch_sub(1, Ordering::Relaxed) == 1
    }

    fn everywhere() -> &'static Counts {
        static EVERYWHERE: OnceLock<Counts> = OnceLock::new();
        EVERYWHERE.get_or_init(|| parse(&std::env::var("UPBEAT_FAULTS").unwrap_or_default()))
    }

    fn parse(text: &str) -> Counts {
        let counts = Counts::default();
        for (word, nth) in text.split(',').filter_map(|part| part.split_once(':')) {
            let fault = WORDS.iter().find(|(known, _)| *known == word).map(|(_, fault)| *fault);
            if let (Some(fault), Ok(nth)) = (fault, nth.parse()) {
                counts[fault as usize].store(nth, Ordering::Relaxed);
            }
        }
        counts
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_the_nth_call_of_the_armed_fault_fails() {
            arm(Fault::File, 2);
            assert_eq!([1, 2, 3].map(|_| is_time(Fault::File)), [false, true, false]);
            assert!(!is_time(Fault::Thread));
            let counts = parse("file:1,thread:2,nonsense:1,buffer");
            assert!(is_time_anywhere(&counts[Fault::File as usize]));
            assert_eq!([1, 2, 3].map(|_| is_time_anywhere(&counts[Fault::Thread as usize])), [false, true, false]);
            assert!(!is_time_anywhere(&counts[Fault::Buffer as usize]));
        }
    }
}
