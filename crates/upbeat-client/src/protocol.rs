//! Client bindings of the Upbeat protocols, generated from the XML in `protocols/`.
#![allow(
    missing_docs,
    missing_debug_implementations,
    unused,
    non_camel_case_types,
    non_upper_case_globals,
    clippy::all,
    rustdoc::all,
    reason = "written by wayland-scanner"
)]

/// `upbeat_frame_pacing_v1`: draw each frame for the refresh that will show it.
pub mod frame_pacing {
    use wayland_client;
    use wayland_client::protocol::*;

    pub mod __interfaces {
        use wayland_client::protocol::__interfaces::*;
        wayland_scanner::generate_interfaces!("../../protocols/upbeat-frame-pacing-v1.xml");
    }
    use self::__interfaces::*;

    wayland_scanner::generate_client_code!("../../protocols/upbeat-frame-pacing-v1.xml");
}

/// `upbeat_predicted_input_v1`: predicted positions of pointers, fingers and pens for the time when a frame is shown.
pub mod predicted_input {
    use wayland_client;
    use wayland_client::protocol::*;

    pub mod __interfaces {
        use wayland_client::protocol::__interfaces::*;
        wayland_scanner::generate_interfaces!("../../protocols/upbeat-predicted-input-v1.xml");
    }
    use self::__interfaces::*;

    wayland_scanner::generate_client_code!("../../protocols/upbeat-predicted-input-v1.xml");
}

/// `upbeat_scroll_v1`: content that the compositor scrolls at the rate of the display.
pub mod scroll {
    use wayland_client;
    use wayland_client::protocol::*;

    pub mod __interfaces {
        use wayland_client::protocol::__interfaces::*;
        wayland_scanner::generate_interfaces!("../../protocols/upbeat-scroll-v1.xml");
    }
    use self::__interfaces::*;

    wayland_scanner::generate_client_code!("../../protocols/upbeat-scroll-v1.xml");
}

/// `upbeat_late_latch_v1`: content that is placed as late as the display allows.
pub mod late_latch {
    use wayland_client;
    use wayland_client::protocol::*;

    pub mod __interfaces {
        use wayland_client::protocol::__interfaces::*;
        wayland_scanner::generate_interfaces!("../../protocols/upbeat-late-latch-v1.xml");
    }
    use self::__interfaces::*;

    wayland_scanner::generate_client_code!("../../protocols/upbeat-late-latch-v1.xml");
}
