//! The floor below: a panic on the way of one client's request ends that client, and nothing else.
//!
//! Requests are met inside callbacks of libwayland, and what unwinds into C aborts the process. So it is stopped before:
//! every handler is called by [`catch`], since the state has no handlers of its own ([`Handlers`]). It is a bug all the
//! same, so it is logged with where it was and counted, and whatever tests or attacks us looks at the [count].
//!
//! A panic that nothing catches (in what cannot unwind, or while another unwinds) still ends the process. So each is told
//! of on the standard error output when it happens, before anything is known of its end.

use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use rustix::event::{PollFd, PollFlags, Timespec};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, DisplayHandle};

use super::{connection, offence};
use upbeat_record::faults::{self, Fault};

/// Handlers of requests are implemented on this, `impl Dispatch<Interface, Data, State> for Handlers`: the state calls
/// them, and catches what they throw (`protocol::floor`).
#[derive(Clone, Copy, Debug)]
pub struct Handlers;

/// So many panics are told of with where they were: to find that out takes tens of milliseconds each.
const MOST_TRACED: u32 = 16;
/// What a client is told that met a bug of ours.
const SENTENCE: &str = "a bug of the compositor's: it has lost track of this client";

thread_local! {
    /// Calls of [`catch`] that have not returned.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// What the last panic inside of one said.
    static LAST: RefCell<Option<Panic>> = const { RefCell::new(None) };
    static CAUGHT: Cell<u32> = const { Cell::new(0) };
    /// Something was caught since this was asked for.
    static LEFT_HALF_DONE: Cell<bool> = const { Cell::new(false) };
}

/// What a panic said, and where it was.
#[derive(Clone, Debug, Default)]
pub struct Panic {
    /// With the place in the source.
    pub message: String,
    /// Empty after the first few.
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

/// Whether a panic was caught on this thread since the last call: something may be left half done.
pub fn take_half_done() -> bool {
    LEFT_HALF_DONE.take()
}

/// Does what may panic. What it leaves half done, the caller must be able to bear.
///
/// # Errors
/// What the panic said.
pub fn catch<T>(does: impl FnOnce() -> T) -> Result<T, Panic> {
    listen();
    DEPTH.set(DEPTH.get() + 1);
    let done = panic::catch_unwind(AssertUnwindSafe(does));
    DEPTH.set(DEPTH.get() - 1);
    done.map_err(|thrown| {
        CAUGHT.set(CAUGHT.get().saturating_add(1));
        LEFT_HALF_DONE.set(true);
        // What was thrown may throw when it is dropped.
        std::mem::forget(thrown);
        LAST.take().unwrap_or_default()
    })
}

/// `client` met a bug: it ends, and that is said.
pub fn fell(display: &DisplayHandle, client: &Client, interface: &str, panic: &Panic) {
    report(interface, panic);
    // Where this is called from may be C, and what is broken may be what this needs.
    let ended = catch(|| {
        faults::stumble(Fault::Farewell);
        offence::end_for_a_bug(display, client, SENTENCE);
    });
    if let Err(panic) = ended {
        report(interface, &panic);
        let _ = catch(|| offence::hang_up_on(client));
    }
}

/// The same of a client of which only this is known, and which may be gone.
pub fn fell_at_its_end(display: &DisplayHandle, client: &ClientId, interface: &str, panic: &Panic) {
    let found = catch(|| connection::all(display).into_iter().find(|(known, _)| known.id() == *client));
    match found {
        Ok(Some((client, _))) => fell(display, &client, interface, panic),
        Ok(None) | Err(_) => report(interface, panic),
    }
}

/// Says what happened at an object of `interface`. Never panics.
pub fn report(interface: &str, Panic { message, backtrace }: &Panic) {
    let _ = catch(|| {
        tracing::error!(interface, caught = count(), "a bug ends a client: {message}\n{backtrace}");
    });
}

/// Hears of panics from now on: only then can it be found out where they are.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_inside = DEPTH.get() > 0;
            // At once, and not by the log's thread: a panic in what cannot unwind ends the process right after this.
            if !is_inside || stderr_takes() {
                others(info);
            }
            if is_inside {
                keep(info);
            }
        }));
    });
}

/// Whether a few words to the standard error output go out at once: it may be a pipe that nobody reads.
fn stderr_takes() -> bool {
    let stderr = std::io::stderr();
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    rustix::event::poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], Some(&at_once)) != Ok(0)
}

fn keep(info: &PanicHookInfo<'_>) {
    let backtrace = if count() < MOST_TRACED { Backtrace::force_capture().to_string() } else { String::new() };
    let payload = info.payload();
    let said = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let said = said.unwrap_or("it does not say why");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    LAST.set(Some(Panic { message: format!("{said} ({place})"), backtrace }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_counted_and_tells_where_it_was() {
        assert_eq!(catch(|| 3).ok(), Some(3));
        assert_eq!(count(), 0);
        let panic = catch(|| panic!("thrown")).err().unwrap_or_default();
        assert!(panic.message.starts_with("thrown (") && panic.message.contains("floor.rs"), "{panic}");
        // Names only where the build has them.
        assert!(panic.backtrace.lines().count() > 3, "{}", panic.backtrace);
        assert_eq!(count(), 1);
    }
}
