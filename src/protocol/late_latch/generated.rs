//! Generated from `protocols/upbeat-late-latch-v1.xml`.

#![allow(
    missing_docs,
    dead_code,
    unused_unsafe,
    unused_variables,
    unused_imports,
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    rust_2018_idioms,
    reason = "written by wayland-scanner"
)]

use smithay::reexports::wayland_server;
use smithay::reexports::wayland_server::protocol::*;

pub mod __interfaces {
    use smithay::reexports::wayland_server;
    use smithay::reexports::wayland_server::protocol::__interfaces::*;
    wayland_scanner::generate_interfaces!("./protocols/upbeat-late-latch-v1.xml");
}
use self::__interfaces::*;

wayland_scanner::generate_server_code!("./protocols/upbeat-late-latch-v1.xml");
