//! Counts clients' requests for as long as somebody wants to know.

#![expect(unsafe_code, reason = "libwayland calls back for each message")]

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use smithay::reexports::wayland_server::DisplayHandle;
use wayland_sys::server::{wl_display, wl_resource};
use wayland_sys::{ffi_dispatch, server::*};

use super::objects;

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

/// While it lives, requests are counted in their clients' [accounts](super::Account::requests).
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
        }
    }
}
