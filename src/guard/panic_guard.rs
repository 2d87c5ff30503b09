//! Panic guard: a panic in the handler of a client's request ends that client and nothing else.
//!
//! Handlers run inside callbacks of libwayland, and a panic that unwinds into C aborts the process. So each handler is
//! called through [`catch`]: the state implements none itself ([`Handlers`]). A caught panic is a bug all the same, so
//! it is counted and logged with its place in the source. Tests and fuzzers check the [count].
//!
//! A panic that cannot be caught (where unwinding is not allowed, or while another panic unwinds) still ends the
//! process. So each panic is written to standard error at once, before it is known whether it will be caught.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use rustix::event::{PollFd, PollFlags, Timespec};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, DisplayHandle};

use super::{client_errors, connection};
use upbeat_record::faults::{self, Fault};

/// Request handlers are implemented on this type, `impl Dispatch<Interface, Data, State> for Handlers`. The state calls
/// them and catches their panics (`protocol::dispatch_guard`).
#[derive(Clone, Copy, Debug)]
pub struct Handlers;

/// The first so many panics get a backtrace, because each backtrace takes tens of milliseconds.
const MOST_TRACED: u32 = 16;
/// Error text for a client whose request led to a panic.
const SENTENCE: &str = "a bug in the compositor: it has lost the state of this client";

thread_local! {
    /// Calls of [`catch`] that have not returned.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// The last panic inside such a call.
    static LAST: RefCell<Option<Panic>> = const { RefCell::new(None) };
    static CAUGHT: Cell<u32> = const { Cell::new(0) };
    /// A panic was caught since the last `take_panic_caught`.
    static LEFT_HALF_DONE: Cell<bool> = const { Cell::new(false) };
}

/// A panic that was caught.
#[derive(Clone, Debug, Default)]
pub struct Panic {
    /// The panic's message and its place in the source.
    pub message: String,
    /// Empty after the first `MOST_TRACED` panics.
    pub backtrace: String,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// How many panics were caught on this thread.
pub fn count() -> u32 {
    CAUGHT.get()
}

/// Whether a panic was caught on this thread since the last call, so that some state may be inconsistent.
pub fn take_panic_caught() -> bool {
    LEFT_HALF_DONE.take()
}

/// Runs `does` and catches its panics. The caller must cope with state that `does` left inconsistent.
///
/// # Errors
/// The panic's message and place.
pub fn catch<T>(does: impl FnOnce() -> T) -> Result<T, Panic> {
    install_panic_hook();
    DEPTH.set(DEPTH.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(does));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|thrown| {
        CAUGHT.set(CAUGHT.get().saturating_add(1));
        LEFT_HALF_DONE.set(true);
        // The payload's destructor may panic, so it is never run.
        std::mem::forget(thrown);
        LAST.take().unwrap_or_default()
    })
}

/// A request of `client` led to a panic: ends the client and logs the panic.
pub fn end_client_after_panic(display: &DisplayHandle, client: &Client, interface: &str, panic: &Panic) {
    log_panic(interface, panic);
    // The caller may be a callback from C, and the panic may have broken the state that is needed here.
    let ended = catch(|| {
        faults::panic_if_due(Fault::Farewell);
        client_errors::end_for_a_bug(display, client, SENTENCE);
    });
    if let Err(panic) = ended {
        log_panic(interface, &panic);
        let _ = catch(|| client_errors::disconnect(client));
    }
}

/// As [`end_client_after_panic`], for a client of which only the id is known and which may be gone already.
pub fn end_client_by_id_after_panic(display: &DisplayHandle, client: &ClientId, interface: &str, panic: &Panic) {
    let found = catch(|| connection::all(display).into_iter().find(|(known, _)| known.id() == *client));
    match found {
        Ok(Some((client, _))) => end_client_after_panic(display, &client, interface, panic),
        Ok(None) | Err(_) => log_panic(interface, panic),
    }
}

/// Logs a panic in a handler of `interface`. Never panics.
pub fn log_panic(interface: &str, Panic { message, backtrace }: &Panic) {
    let _ = catch(|| {
        tracing::error!(interface, caught = count(), "a panic ends a client: {message}\n{backtrace}");
    });
}

/// Installs the panic hook, since only the hook learns where a panic happened.
fn install_panic_hook() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_inside = DEPTH.get() > 0;
            // At once, not on the log's thread, because a panic that cannot unwind ends the process right after this.
            if !is_inside || is_stderr_writable() {
                others(info);
            }
            if is_inside {
                remember_panic(info);
            }
        }));
    });
}

/// Whether a line can be written to standard error without blocking, since it may be a full pipe.
fn is_stderr_writable() -> bool {
    let stderr = std::io::stderr();
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&at_once)) != Ok(0)
}

fn remember_panic(info: &PanicHookInfo<'_>) {
    let backtrace = if count() < MOST_TRACED { Backtrace::force_capture().to_string() } else { String::new() };
    let payload = info.payload();
    let message =
        payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = message.unwrap_or("no message");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    LAST.set(Some(Panic { message: format!("{message} ({place})"), backtrace }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_is_caught_counted_and_has_its_place() {
        assert_eq!(catch(|| 3).ok(), Some(3));
        assert_eq!(count(), 0);
        let panic = catch(|| panic!("thrown")).err().unwrap_or_default();
        assert!(panic.message.starts_with("thrown (") && panic.message.contains("panic_guard.rs"), "{panic}");
        // The backtrace has function names only if the build has symbols.
        assert!(panic.backtrace.lines().count() > 3, "{}", panic.backtrace);
        assert_eq!(count(), 1);
    }
}
