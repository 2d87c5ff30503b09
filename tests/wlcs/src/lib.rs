//! Upbeat as a module for the Wayland conformance suite (WLCS): a shared object that starts a headless session for each
//! test, on a thread of its own, and acts as its pointer and touch screen.
//!
//! `tests/wlcs/run` builds it and runs the suites; `tests/wlcs/known-failures` lists the expected failures and their
//! reasons.

mod server;

use std::os::fd::OwnedFd;

use upbeat::input::InputEvent;
use upbeat_timing::time::{Clock, Instant, MonotonicClock};
// Import everything: if another part of the build loads libwayland at run time, the functions are members of a table.
use wayland_sys::client::*;
use wayland_sys::common::{wl_fixed_t, wl_fixed_to_double};
use wayland_sys::ffi_dispatch;
use wlcs::ffi_display_server_api::{WlcsExtensionDescriptor, WlcsIntegrationDescriptor, WlcsServerIntegration};
use wlcs::ffi_wrappers::wlcs_server;
use wlcs::{Pointer, Touch, Wlcs, extension_list, wlcs_server_integration};

use server::{WlcsServer, WlcsServerHandle};

wlcs_server_integration!(Upbeat);

/// The supported protocols. WLCS skips the tests of all other protocols.
static EXTENSIONS: &[WlcsExtensionDescriptor] = extension_list!(
    ("wl_compositor", 6),
    ("wl_subcompositor", 1),
    ("wl_data_device_manager", 3),
    ("wl_seat", 9),
    ("wl_output", 4),
    ("wl_shm", 1),
    ("xdg_wm_base", 6),
    ("zxdg_output_manager_v1", 3),
    ("wp_viewporter", 1),
    ("wp_presentation", 2),
    ("zwp_primary_selection_device_manager_v1", 1),
    ("zwp_relative_pointer_manager_v1", 1),
    ("zwp_pointer_constraints_v1", 1),
    ("zwlr_virtual_pointer_manager_v1", 2),
    ("zwlr_screencopy_manager_v1", 3),
    ("zwlr_layer_shell_v1", 4),
    ("zwlr_foreign_toplevel_manager_v1", 3),
);

static DESCRIPTOR: WlcsIntegrationDescriptor = WlcsIntegrationDescriptor {
    version: 1,
    num_extensions: EXTENSIONS.len(),
    supported_extensions: EXTENSIONS.as_ptr(),
};

/// Touch id: a WLCS touch screen has one finger.
const FINGER: u32 = 0;

struct Upbeat {
    server: Option<WlcsServer>,
}

impl Upbeat {
    /// Fails if no server was started; WLCS starts it before any other call.
    fn handle(&self) -> std::io::Result<&WlcsServerHandle> {
        self.server.as_ref().map(WlcsServer::handle).ok_or_else(|| std::io::Error::other("the server was not started"))
    }
}

impl Wlcs for Upbeat {
    type Pointer = WlcsDevice;
    type Touch = WlcsDevice;

    fn new() -> Self {
        Upbeat { server: None }
    }

    fn start(&mut self) {
        self.server = Some(WlcsServer::start());
    }

    fn stop(&mut self) {
        self.server = None;
    }

    fn create_client_socket(&self) -> std::io::Result<OwnedFd> {
        self.handle()?.connect()
    }

    fn position_window_absolute(&self, display: *mut wl_display, surface: *mut wl_proxy, x: i32, y: i32) {
        // SAFETY: WLCS passes a living connection and a living proxy of it.
        let (client, surface) = unsafe {
            (
                ffi_dispatch!(wayland_client_handle(), wl_display_get_fd, display),
                ffi_dispatch!(wayland_client_handle(), wl_proxy_get_id, surface),
            )
        };
        if let Ok(handle) = self.handle() {
            handle.position(client, surface, (x, y));
        }
    }

    fn create_pointer(&mut self) -> Option<WlcsDevice> {
        self.handle().ok().map(|handle| WlcsDevice { server: handle.clone() })
    }

    fn create_touch(&mut self) -> Option<WlcsDevice> {
        self.create_pointer()
    }

    fn get_descriptor(&self) -> &WlcsIntegrationDescriptor {
        &DESCRIPTOR
    }
}

/// A pointer or touch screen.
struct WlcsDevice {
    server: WlcsServerHandle,
}

fn now() -> Instant {
    MonotonicClock.now()
}

fn place(x: wl_fixed_t, y: wl_fixed_t) -> (f64, f64) {
    (wl_fixed_to_double(x), wl_fixed_to_double(y))
}

/// WLCS declares fixed-point touch coordinates, too, but passes whole pixels.
fn pixel(x: wl_fixed_t, y: wl_fixed_t) -> (f64, f64) {
    (f64::from(x), f64::from(y))
}

impl WlcsDevice {
    fn button(&self, button: i32, pressed: bool) {
        let button = u32::try_from(button).unwrap_or_default();
        self.server.input(vec![InputEvent::Button { time: now(), button, pressed }]);
    }
}

impl Pointer for WlcsDevice {
    fn move_absolute(&mut self, x: wl_fixed_t, y: wl_fixed_t) {
        self.server.input(vec![InputEvent::PointerPosition { time: now(), position: place(x, y).into() }]);
    }

    fn move_relative(&mut self, dx: wl_fixed_t, dy: wl_fixed_t) {
        let delta = place(dx, dy).into();
        self.server.input(vec![InputEvent::PointerMotion { time: now(), delta, raw: delta }]);
    }

    fn button_up(&mut self, button: i32) {
        self.button(button, false);
    }

    fn button_down(&mut self, button: i32) {
        self.button(button, true);
    }
}

impl Touch for WlcsDevice {
    fn touch_down(&mut self, x: wl_fixed_t, y: wl_fixed_t) {
        let (time, position) = (now(), pixel(x, y).into());
        let frame = InputEvent::TouchFrame { time };
        self.server.input(vec![InputEvent::TouchDown { time, slot: FINGER, position }, frame]);
    }

    fn touch_move(&mut self, x: wl_fixed_t, y: wl_fixed_t) {
        let (time, position) = (now(), pixel(x, y).into());
        let frame = InputEvent::TouchFrame { time };
        self.server.input(vec![InputEvent::TouchMotion { time, slot: FINGER, position }, frame]);
    }

    fn touch_up(&mut self) {
        let time = now();
        self.server.input(vec![InputEvent::TouchUp { time, slot: FINGER }, InputEvent::TouchFrame { time }]);
    }
}
