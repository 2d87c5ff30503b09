//! What can be made to fail on purpose, so that tests see what comes of it. A release build has nothing of it.
//!
//! A test that says `arm(Fault::Thread, 2)` is refused the second thread that is asked for on its own thread from then on.
//! A process is told with `UPBEAT_FAULTS=thread:2,file:1`, and then it does not matter which thread asks.

use std::io;

/// Something that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
// It is given to a function that C could call.
#[repr(C)]
pub enum Fault {
    /// A client's request is answered with a panic.
    Request,
    /// A turn of the loop ends in a panic.
    Turn,
    /// Memory for a picture of ours.
    Buffer,
    /// A client's picture, where it is drawn from.
    Texture,
    /// A thread.
    Thread,
    /// A file that is opened or made.
    File,
    /// The end of a client's object is met with a panic.
    End,
    /// What is kept of a surface is looked at with a panic.
    States,
    /// The end of a client that met a bug meets another.
    Farewell,
    /// A turn of the loop panics where nothing can be caught.
    Abort,
    /// Memory of a client's or of a display's that is to be mapped.
    Mapping,
    /// What is to be shown is handed to a display: there is no memory.
    Commit,
    /// The same: it is busy.
    CommitBusy,
    /// The same: it makes no sense.
    CommitInvalid,
    /// The same: there is no room.
    CommitFull,
    /// A driver is asked whether it would show a mode, and says no.
    Mode,
    /// A driver is asked for a mode, and never answers.
    ModeSilent,
    /// A driver says that it would show a mode, and refuses whatever is to be shown in it.
    Modeset,
}

impl Fault {
    /// What the system says.
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

/// Asks whether a display is to refuse what it is handed. Each time counts for all the ways to refuse it.
///
/// # Errors
/// What the kernel would say, when it is time.
#[inline]
pub fn check_commit() -> io::Result<()> {
    [Fault::Commit, Fault::CommitBusy, Fault::CommitInvalid, Fault::CommitFull].into_iter().try_for_each(check)
}

/// Asks whether the caller is to fail now. Each time counts.
///
/// # Errors
/// As the system would say it (out of memory as a rule), when it is time.
#[inline]
pub fn check(fault: Fault) -> io::Result<()> {
    #[cfg(debug_assertions)]
    if armed::is_time(fault) {
        return Err(fault.errno().into());
    }
    let _ = fault;
    Ok(())
}

/// Panics when it is time.
#[inline]
pub fn stumble(fault: Fault) {
    #[cfg(debug_assertions)]
    assert!(!armed::is_time(fault), "a fault on purpose: {fault:?}");
    let _ = fault;
}

/// Panics when it is time, and does not unwind: as in what libraries written in C call.
#[inline]
pub fn fall(fault: Fault) {
    extern "C" fn cannot_unwind(fault: Fault) {
        stumble(fault);
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

    /// What the environment variable calls them.
    const WORDS: [(&str, Fault); 18] = [
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
    ];

    type Counts = [AtomicU32; WORDS.len()];

    thread_local! {
        static HERE: [Cell<u32>; WORDS.len()] = const { [const { Cell::new(0) }; WORDS.len()] };
    }

    /// The `nth` time from now that this thread asks, it fails; 0: it does not.
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
        fn only_the_nth_time_fails_and_only_what_was_said() {
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
