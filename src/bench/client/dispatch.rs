//! What the probe does with each event: notes it, with the time. Decisions are the session's.

use wayland_client::globals::GlobalListContents;
use wayland_client::protocol::{
    wl_buffer, wl_callback, wl_compositor::WlCompositor, wl_output, wl_pointer, wl_registry, wl_seat, wl_shm::WlShm,
    wl_shm_pool::WlShmPool, wl_surface::WlSurface,
};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::wp::fifo::v1::client::{wp_fifo_manager_v1::WpFifoManagerV1, wp_fifo_v1::WpFifoV1};
use wayland_protocols::wp::presentation_time::client::{wp_presentation, wp_presentation_feedback};
use wayland_protocols::xdg::shell::client::{xdg_surface, xdg_toplevel, xdg_wm_base};

use super::connection::{Client, PresentationClock};
use super::input;
use super::journal::{Light, Outcome};
use crate::client::wire::{instant, join};
use crate::time::{Clock, Span};

delegate_noop!(Client: ignore WlCompositor);
delegate_noop!(Client: ignore WlShm);
delegate_noop!(Client: ignore WlShmPool);
delegate_noop!(Client: ignore WlSurface);
delegate_noop!(Client: ignore WpFifoManagerV1);
delegate_noop!(Client: ignore WpFifoV1);

impl Dispatch<wl_registry::WlRegistry, GlobalListContents> for Client {
    fn event(
        _: &mut Self,
        _: &wl_registry::WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
    }
}

impl Dispatch<wl_callback::WlCallback, ()> for Client {
    fn event(
        client: &mut Self,
        callback: &wl_callback::WlCallback,
        event: wl_callback::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_callback::Event::Done { .. } = event
            && client.awaited_callback.as_ref() == Some(callback)
        {
            client.awaited_callback = None;
            client.callback_at = Some(client.clock.now());
        }
    }
}

impl Dispatch<wl_buffer::WlBuffer, usize> for Client {
    fn event(
        client: &mut Self,
        _: &wl_buffer::WlBuffer,
        event: wl_buffer::Event,
        index: &usize,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_buffer::Event::Release = event {
            client.buffers.released(*index);
        }
    }
}

impl Dispatch<wp_presentation::WpPresentation, ()> for Client {
    fn event(
        client: &mut Self,
        _: &wp_presentation::WpPresentation,
        event: wp_presentation::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wp_presentation::Event::ClockId { clk_id } = event {
            match PresentationClock::from_raw(clk_id) {
                Some(clock) => client.clock = clock,
                None => client.unknown_clock = Some(clk_id),
            }
        }
    }
}

impl Dispatch<wp_presentation_feedback::WpPresentationFeedback, usize> for Client {
    fn event(
        client: &mut Self,
        _: &wp_presentation_feedback::WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        frame: &usize,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use wp_presentation_feedback::Event;
        let outcome = match event {
            Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, seq_hi, seq_lo, .. } => {
                Outcome::Presented(Light {
                    at: instant(tv_sec_hi, tv_sec_lo, tv_nsec),
                    sequence: join(seq_hi, seq_lo),
                    refresh: Span::from_nanos(i64::from(refresh)),
                })
            }
            Event::Discarded => Outcome::Discarded,
            _ => return,
        };
        client.journal.settle(*frame, outcome);
    }
}

impl Dispatch<xdg_wm_base::XdgWmBase, ()> for Client {
    fn event(
        _: &mut Self,
        wm_base: &xdg_wm_base::XdgWmBase,
        event: xdg_wm_base::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_wm_base::Event::Ping { serial } = event {
            wm_base.pong(serial);
        }
    }
}

impl Dispatch<xdg_surface::XdgSurface, ()> for Client {
    fn event(
        client: &mut Self,
        surface: &xdg_surface::XdgSurface,
        event: xdg_surface::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            surface.ack_configure(serial);
            client.configured = true;
        }
    }
}

impl Dispatch<xdg_toplevel::XdgToplevel, ()> for Client {
    fn event(
        client: &mut Self,
        _: &xdg_toplevel::XdgToplevel,
        event: xdg_toplevel::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        // The size is the probe's own, whatever is asked for: the load must not depend on the layout.
        if let xdg_toplevel::Event::Close = event {
            client.closed = true;
        }
    }
}

impl Dispatch<wl_output::WlOutput, ()> for Client {
    fn event(
        client: &mut Self,
        _: &wl_output::WlOutput,
        event: wl_output::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_output::Event::Mode { flags: WEnum::Value(flags), refresh, .. } = event
            && flags.contains(wl_output::Mode::Current)
            && refresh > 0
        {
            client.mode_refresh = Some(Span::from_millihertz(refresh.unsigned_abs()));
        }
    }
}

impl Dispatch<wl_seat::WlSeat, ()> for Client {
    fn event(
        client: &mut Self,
        seat: &wl_seat::WlSeat,
        event: wl_seat::Event,
        _: &(),
        _: &Connection,
        handle: &QueueHandle<Self>,
    ) {
        let wl_seat::Event::Capabilities { capabilities: WEnum::Value(capabilities) } = event else { return };
        if !capabilities.contains(wl_seat::Capability::Pointer) {
            client.pointer = None;
        } else if client.pointer.is_none() {
            client.pointer = Some(seat.get_pointer(handle, ()));
        }
    }
}

impl Dispatch<wl_pointer::WlPointer, ()> for Client {
    fn event(
        client: &mut Self,
        pointer: &wl_pointer::WlPointer,
        event: wl_pointer::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let (x, y) = match event {
            wl_pointer::Event::Enter { serial, surface_x, surface_y, .. } => {
                // No cursor over the window: its pixels are to be read.
                pointer.set_cursor(serial, None, 0, 0);
                (surface_x, surface_y)
            }
            wl_pointer::Event::Motion { surface_x, surface_y, .. } => (surface_x, surface_y),
            _ => return,
        };
        let Some(hand) = &client.hand else { return };
        if let Some(sent) = hand.newest_sent() {
            // A number that was never sent is a position left over from the search for the window.
            client.newest_event = input::number_at(x, y, client.newest_event)
                .filter(|number| *number <= sent)
                .unwrap_or(client.newest_event);
        } else {
            hand.felt(x, y);
        }
        debug_assert!(pointer.is_alive() || client.closed);
    }
}
