//! Counts clients' requests and the time that handling them takes, while a [`Counting`] is alive.

#![expect(unsafe_code, reason = "libwayland calls back for each message")]

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use smithay::reexports::wayland_server::DisplayHandle;
use wayland_sys::server::{wl_display, wl_resource};
use wayland_sys::{ffi_dispatch, server::*};

use super::{ResourceAccount, objects};

thread_local! {
    /// Account of the client whose request is being handled, and when its handling began.
    static MET: RefCell<Option<(Arc<ResourceAccount>, Instant)>> = const { RefCell::new(None) };
}

/// Ends the measurement of the current request and begins that of the next.
fn measure_next(next: Option<&Arc<ResourceAccount>>) {
    let now = Instant::now();
    let before = MET.replace(next.map(|account| (account.clone(), now)));
    if let Some((account, since)) = before {
        let took = u64::try_from(now.saturating_duration_since(since).as_nanos()).unwrap_or(u64::MAX);
        account.handling_nanos.fetch_add(took, Ordering::Relaxed);
    }
}

const REQUEST: c_int = 0;

/// The first field of libwayland's `wl_protocol_logger_message`; the rest is not needed.
#[repr(C)]
pub(super) struct ProtocolLoggerMessage {
    pub object: *mut wl_resource,
}

pub(super) type Log = unsafe extern "C" fn(*mut c_void, c_int, *const ProtocolLoggerMessage);

#[link(name = "wayland-server")]
unsafe extern "C" {
    pub(super) fn wl_display_add_protocol_logger(display: *mut wl_display, log: Log, data: *mut c_void) -> *mut c_void;
    pub(super) fn wl_protocol_logger_destroy(logger: *mut c_void);
}

/// While it lives, requests and their handling times are counted in the clients'
/// [accounts](super::ResourceAccount::requests) ([`ResourceAccount::handling_nanos`]).
#[derive(Debug)]
pub struct Counting<'a> {
    logger: *mut c_void,
    /// Borrowed, because the display must outlive the logger.
    _display: &'a DisplayHandle,
}

impl<'a> Counting<'a> {
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
        measure_next(None);
        if !self.logger.is_null() {
            // SAFETY: it was made by `on`, and no other code uses it.
            unsafe { wl_protocol_logger_destroy(self.logger) };
        }
    }
}

unsafe extern "C" fn log(_: *mut c_void, direction: c_int, message: *const ProtocolLoggerMessage) {
    if direction != REQUEST {
        return;
    }
    // SAFETY: libwayland's message is about an object that is alive, and whose client is connected.
    unsafe {
        let client = ffi_dispatch!(wayland_server_handle(), wl_resource_get_client, (*message).object);
        if let Some(account) = objects::account_of(client) {
            account.requests.fetch_add(1, Ordering::Relaxed);
            measure_next(Some(account));
        }
    }
}
