//! Counts clients' requests, and how long each of them takes, for as long as somebody wants to know.

#![expect(unsafe_code, reason = "libwayland calls back for each message")]

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use smithay::reexports::wayland_server::DisplayHandle;
use wayland_sys::server::{wl_display, wl_resource};
use wayland_sys::{ffi_dispatch, server::*};

use super::{Account, objects};

thread_local! {
    /// Whose request is being met, and since when.
    static MET: RefCell<Option<(Arc<Account>, Instant)>> = const { RefCell::new(None) };
}

/// The request that was being met is over, and this one begins.
fn turn_to(next: Option<&Arc<Account>>) {
    let now = Instant::now();
    let before = MET.replace(next.map(|account| (account.clone(), now)));
    if let Some((account, since)) = before {
        let took = u64::try_from(now.saturating_duration_since(since).as_nanos()).unwrap_or(u64::MAX);
        account.took.fetch_add(took, Ordering::Relaxed);
    }
}

/// `WL_PROTOCOL_LOGGER_REQUEST`.
const REQUEST: c_int = 0;

/// The beginning of libwayland's struct: what is said follows.
#[repr(C)]
pub(super) struct Message {
    pub object: *mut wl_resource,
}

pub(super) type Log = unsafe extern "C" fn(*mut c_void, c_int, *const Message);

#[link(name = "wayland-server")]
unsafe extern "C" {
    pub(super) fn wl_display_add_protocol_logger(display: *mut wl_display, log: Log, data: *mut c_void) -> *mut c_void;
    pub(super) fn wl_protocol_logger_destroy(logger: *mut c_void);
}

/// While it lives, requests are counted in their clients' [accounts](super::Account::requests), and what they take
/// ([`Account::took`]).
#[derive(Debug)]
pub struct Counting<'a> {
    logger: *mut c_void,
    /// Longer than this the display must live.
    _display: &'a DisplayHandle,
}

impl<'a> Counting<'a> {
    /// Begins to count.
    pub fn on(display: &'a DisplayHandle) -> Self {
        // SAFETY: the display lives as long as its handle is borrowed, and the logger as long as this.
        let logger = unsafe {
            wl_display_add_protocol_logger(display.backend_handle().display_ptr(), log, std::ptr::null_mut())
        };
        Counting { logger, _display: display }
    }
}

impl Drop for Counting<'_> {
    fn drop(&mut self) {
        turn_to(None);
        if !self.logger.is_null() {
            // SAFETY: it was made by `on` and is used by nobody else.
            unsafe { wl_protocol_logger_destroy(self.logger) };
        }
    }
}

unsafe extern "C" fn log(_: *mut c_void, direction: c_int, message: *const Message) {
    if direction != REQUEST {
        return;
    }
    // SAFETY: libwayland says something of an object that lives, whose client is connected.
    unsafe {
        let client = ffi_dispatch!(wayland_server_handle(), wl_resource_get_client, (*message).object);
        if let Some(account) = objects::account_of(client) {
            account.requests.fetch_add(1, Ordering::Relaxed);
            turn_to(Some(account));
        }
    }
}
