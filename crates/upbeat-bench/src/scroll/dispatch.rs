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
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::{self, WpPresentationFeedback};
use wayland_protocols::wp::viewporter::client::{wp_viewport::WpViewport, wp_viewporter::WpViewporter};
use wayland_protocols::xdg::shell::client::{
    xdg_surface, xdg_surface::XdgSurface, xdg_toplevel, xdg_toplevel::XdgToplevel,
};

use super::options::ScrollClient;
use crate::dispatch_macros::{answer_pings, impl_dispatch};
use upbeat_client::wire::instant;

delegate_noop!(ScrollClient: ignore WlCompositor);
delegate_noop!(ScrollClient: ignore WlShm);
delegate_noop!(ScrollClient: ignore WlShmPool);
delegate_noop!(ScrollClient: ignore WlSurface);
delegate_noop!(ScrollClient: ignore WlSeat);
delegate_noop!(ScrollClient: ignore WpPresentation);
delegate_noop!(ScrollClient: ignore WpViewport);
delegate_noop!(ScrollClient: ignore WpViewporter);

answer_pings!(ScrollClient);

impl_dispatch!(ScrollClient: XdgSurface, (), |page, surface, event, _, _| {
    if let xdg_surface::Event::Configure { serial } = event {
        surface.ack_configure(serial);
        page.configured = true;
    }
});

impl_dispatch!(ScrollClient: XdgToplevel, (), |page, _, event, _, _| {
    match event {
        xdg_toplevel::Event::Configure { width, height, .. } if width > 0 && height > 0 => page.size = (width, height),
        xdg_toplevel::Event::Close => page.closed = true,
        _ => {}
    }
});

impl_dispatch!(ScrollClient: WlBuffer, usize, |page, _, event, index, _| {
    if let wl_buffer::Event::Release = event {
        page.released.push(*index);
    }
});

impl_dispatch!(ScrollClient: WpPresentationFeedback, (), |page, _, event, _, _| {
    match event {
        wp_presentation_feedback::Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, .. } => {
            page.first_light = Some(instant(tv_sec_hi, tv_sec_lo, tv_nsec));
            page.is_first_over = true;
        }
        wp_presentation_feedback::Event::Discarded => page.is_first_over = true,
        _ => {}
    }
});

// The buffer of the background, which is never drawn again.
impl_dispatch!(ScrollClient: WlBuffer, (), |_, _, _, _, _| {});

impl_dispatch!(ScrollClient: WlPointer, (), |page, _, event, _, _| page.pointer.push(event));
impl_dispatch!(ScrollClient: WlTouch, (), |page, _, event, _, _| page.touch.push(event));
