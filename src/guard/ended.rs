//! Who was ended, and why, until the session asks: the user is to hear of it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs;

use wayland_sys::server::wl_client;
use wayland_sys::{ffi_dispatch, server::*};

/// So many are remembered until the session asks, the newest. It asks in each turn.
const MOST: usize = 8;

/// A client that was ended by us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its process.
    pub pid: u32,
    /// What the system called its program; empty where it did not tell.
    pub program: String,
    /// Why, as what follows "because".
    pub reason: String,
}

thread_local! {
    static ENDED: RefCell<VecDeque<Ended>> = const { RefCell::new(VecDeque::new()) };
}

/// Those who were ended on this thread since the last call.
pub fn take_ended() -> VecDeque<Ended> {
    ENDED.take()
}

/// What the system calls the program of a process; empty where it does not tell.
pub fn program(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end().to_owned()
}

/// The process `pid` is ended as a client.
pub(super) fn note(pid: u32, reason: String) {
    let program = program(pid);
    tracing::warn!(pid, program, reason, "a client is ended");
    ENDED.with_borrow_mut(|ended| {
        if ended.len() == MOST {
            ended.pop_front();
        }
        ended.push_back(Ended { pid, program, reason });
    });
}

/// The process of a client; 0 where it is not known.
///
/// # Safety
/// `client` is one of libwayland's.
#[expect(unsafe_code, reason = "libwayland knows it")]
pub(super) unsafe fn process_of(client: *mut wl_client) -> u32 {
    let mut pid = 0;
    let nobody = std::ptr::null_mut();
    // SAFETY: the caller says so; what is not wanted may be null.
    unsafe {
        ffi_dispatch!(wayland_server_handle(), wl_client_get_credentials, client, &raw mut pid, nobody, nobody.cast())
    };
    u32::try_from(pid).unwrap_or_default()
}
