//! Wayland events of the animation client.

use wayland_client::delegate_noop;
use wayland_client::protocol::{wl_buffer::WlBuffer, wl_compositor::WlCompositor, wl_surface::WlSurface};
use wayland_protocols::wp::single_pixel_buffer::v1::client::wp_single_pixel_buffer_manager_v1::WpSinglePixelBufferManagerV1;
use wayland_protocols::wp::viewporter::client::{wp_viewport::WpViewport, wp_viewporter::WpViewporter};
use wayland_protocols::xdg::shell::client::{
    xdg_surface::{self, XdgSurface},
    xdg_toplevel::{self, XdgToplevel},
};

use super::windows::WindowsState;
use crate::dispatch_macros::{answer_pings, impl_dispatch};

answer_pings!(WindowsState);

impl_dispatch!(WindowsState: XdgSurface, usize, |windows, surface, event, number, _| {
    if let xdg_surface::Event::Configure { serial } = event {
        surface.ack_configure(serial);
        windows.configured.push((*number, windows.size.0, windows.size.1));
    }
});

impl_dispatch!(WindowsState: XdgToplevel, (), |windows, _, event, _, _| {
    if let xdg_toplevel::Event::Configure { width, height, .. } = event {
        windows.size = (width, height);
    }
});

delegate_noop!(WindowsState: ignore WlBuffer);
delegate_noop!(WindowsState: ignore WlCompositor);
delegate_noop!(WindowsState: ignore WlSurface);
delegate_noop!(WindowsState: ignore WpSinglePixelBufferManagerV1);
delegate_noop!(WindowsState: ignore WpViewport);
delegate_noop!(WindowsState: ignore WpViewporter);
