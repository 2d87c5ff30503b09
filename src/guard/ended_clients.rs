//! Clients that the compositor has ended, and why, so that the session can tell the user.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;

use wayland_sys::server::wl_client;
use wayland_sys::{ffi_dispatch, server::*};

/// The newest so many are kept until the session takes them, which it does in each turn.
const MOST: usize = 8;

/// A client that the compositor has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Process id; 0 if unknown.
    pub pid: u32,
    /// Name of its program from `/proc`; empty if unknown.
    pub program: String,
    /// A clause that can follow "because".
    pub reason: String,
}

thread_local! {
    static ENDED: RefCell<VecDeque<Ended>> = const { RefCell::new(VecDeque::new()) };
}

/// The clients ended on this thread since the last call.
pub fn take_ended() -> VecDeque<Ended> {
    ENDED.take()
}

/// Name of a process's program from `/proc`; empty if unknown.
pub fn program(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// Logs and remembers that a client of process `pid` is ended.
pub(super) fn note(pid: u32, reason: String) {
    let program = program(pid);
    tracing::warn!(pid, program, reason, "the compositor ends a client");
    ENDED.with_borrow_mut(|ended| {
        if ended.len() == MOST {
            ended.pop_front();
        }
        ended.push_back(Ended { pid, program, reason });
    });
}

/// The process of a client; 0 if unknown.
///
/// # Safety
/// `client` is one of libwayland's.
#[expect(unsafe_code, reason = "only libwayland has the credentials")]
pub(super) unsafe fn process_of(client: *mut wl_client) -> u32 {
    let mut pid = 0;
    let nobody = std::ptr::null_mut();
    // SAFETY: as the caller promises; null pointers are allowed for the results that are not wanted.
    unsafe {
        ffi_dispatch!(wayland_server_handle(), wl_client_get_credentials, client, &raw mut pid, nobody, nobody.cast())
    };
    u32::try_from(pid).unwrap_or_default()
}
