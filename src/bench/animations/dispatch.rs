//! The client's events.

use wayland_client::globals::GlobalListContents;
use wayland_client::protocol::{
    wl_buffer::WlBuffer,
    wl_compositor::WlCompositor,
    wl_registry::{self, WlRegistry},
    wl_surface::WlSurface,
};
use wayland_client::{Connection, Dispatch, QueueHandle, delegate_noop};
use wayland_protocols::wp::single_pixel_buffer::v1::client::wp_single_pixel_buffer_manager_v1::WpSinglePixelBufferManagerV1;
use wayland_protocols::wp::viewporter::client::{wp_viewport::WpViewport, wp_viewporter::WpViewporter};
use wayland_protocols::xdg::shell::client::{
    xdg_surface::{self, XdgSurface},
    xdg_toplevel::{self, XdgToplevel},
    xdg_wm_base::{self, XdgWmBase},
};

use super::windows::Windows;

impl Dispatch<WlRegistry, GlobalListContents> for Windows {
    fn event(
        _: &mut Self,
        _: &WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<XdgWmBase, ()> for Windows {
    fn event(_: &mut Self, base: &XdgWmBase, event: xdg_wm_base::Event, _: &(), _: &Connection, _: &QueueHandle<Self>) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            base.pong(serial);
        }
    }
}

impl Dispatch<XdgSurface, usize> for Windows {
    fn event(
        windows: &mut Self,
        surface: &XdgSurface,
        event: xdg_surface::Event,
        number: &usize,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            surface.ack_configure(serial);
            windows.configured.push((*number, windows.size.0, windows.size.1));
        }
    }
}

impl Dispatch<XdgToplevel, ()> for Windows {
    fn event(
        windows: &mut Self,
        _: &XdgToplevel,
        event: xdg_toplevel::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_toplevel::Event::Configure { width, height, .. } = event {
            windows.size = (width, height);
        }
    }
}

delegate_noop!(Windows: ignore WlBuffer);
delegate_noop!(Windows: ignore WlCompositor);
delegate_noop!(Windows: ignore WlSurface);
delegate_noop!(Windows: ignore WpSinglePixelBufferManagerV1);
delegate_noop!(Windows: ignore WpViewport);
delegate_noop!(Windows: ignore WpViewporter);
