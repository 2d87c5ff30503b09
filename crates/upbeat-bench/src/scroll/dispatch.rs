//! Wayland events of the scroll client.

use wayland_client::delegate_noop;
use wayland_client::protocol::{
    wl_buffer::{self, WlBuffer},
    wl_compositor::WlCompositor,
    wl_pointer::WlPointer,
    wl_seat::WlSeat,
    wl_shm::WlShm,
    wl_shm_pool::WlShmPool,
    wl_surface::WlSurface,
    wl_touch::WlTouch,
};
use wayland_protocols::wp::viewporter::client::{wp_viewport::WpViewport, wp_viewporter::WpViewporter};
use wayland_protocols::xdg::shell::client::{
    xdg_surface, xdg_surface::XdgSurface, xdg_toplevel, xdg_toplevel::XdgToplevel,
};

use super::options::Page;
use crate::hear::{hear, hear_session};

delegate_noop!(Page: ignore WlCompositor);
delegate_noop!(Page: ignore WlShm);
delegate_noop!(Page: ignore WlShmPool);
delegate_noop!(Page: ignore WlSurface);
delegate_noop!(Page: ignore WlSeat);
delegate_noop!(Page: ignore WpViewport);
delegate_noop!(Page: ignore WpViewporter);

hear_session!(Page);

hear!(Page: XdgSurface, (), |page, surface, event, _, _| {
    if let xdg_surface::Event::Configure { serial } = event {
        surface.ack_configure(serial);
        page.configured = true;
    }
});

hear!(Page: XdgToplevel, (), |page, _, event, _, _| {
    match event {
        xdg_toplevel::Event::Configure { width, height, .. } if width > 0 && height > 0 => page.size = (width, height),
        xdg_toplevel::Event::Close => page.closed = true,
        _ => {}
    }
});

hear!(Page: WlBuffer, usize, |page, _, event, index, _| {
    if let wl_buffer::Event::Release = event {
        page.released.push(*index);
    }
});

// The buffer of the background, which is never drawn again.
hear!(Page: WlBuffer, (), |_, _, _, _, _| {});

hear!(Page: WlPointer, (), |page, _, event, _, _| page.pointer.push(event));
hear!(Page: WlTouch, (), |page, _, event, _, _| page.touch.push(event));
