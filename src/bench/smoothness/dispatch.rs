//! The game's events.

use wayland_client::globals::GlobalListContents;
use wayland_client::protocol::{
    wl_buffer::{self, WlBuffer},
    wl_callback::{self, WlCallback},
    wl_compositor::WlCompositor,
    wl_registry::{self, WlRegistry},
    wl_shm::WlShm,
    wl_shm_pool::WlShmPool,
    wl_surface::WlSurface,
};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle};
use wayland_protocols::wp::fifo::v1::client::{wp_fifo_manager_v1::WpFifoManagerV1, wp_fifo_v1::WpFifoV1};
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::{self, WpPresentationFeedback};
use wayland_protocols::xdg::shell::client::{
    xdg_surface::{self, XdgSurface},
    xdg_toplevel::{self, XdgToplevel},
    xdg_wm_base::{self, XdgWmBase},
};

use super::figures::Shown;
use super::game::Game;
use super::pipeline::Permission;
use crate::client::protocol::frame_pacing::upbeat_frame_pacing_manager_v1::UpbeatFramePacingManagerV1;
use crate::client::protocol::frame_pacing::upbeat_frame_pacing_v1::{self, UpbeatFramePacingV1};
use crate::client::wire::{instant, join};
use crate::time::{Clock as _, Instant, MonotonicClock, Span};

macro_rules! hear {
    ($interface:ty, $data:ty, |$game:ident, $object:ident, $event:ident, $known:ident, $handle:ident| $body:expr) => {
        impl Dispatch<$interface, $data> for Game {
            fn event(
                $game: &mut Self,
                $object: &$interface,
                $event: <$interface as Proxy>::Event,
                $known: &$data,
                _: &Connection,
                $handle: &QueueHandle<Self>,
            ) {
                $body
            }
        }
    };
}

macro_rules! ignore {
    ($($interface:ty),* $(,)?) => { $(hear!($interface, (), |_game, _object, _event, _known, _handle| {});)* };
}

ignore!(
    WlCompositor,
    WlShm,
    WlShmPool,
    WlSurface,
    WpFifoManagerV1,
    WpFifoV1,
    WpPresentation,
    UpbeatFramePacingManagerV1,
);

impl Dispatch<WlRegistry, GlobalListContents> for Game {
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

hear!(XdgWmBase, (), |_game, base, event, _known, _handle| {
    if let xdg_wm_base::Event::Ping { serial } = event {
        base.pong(serial);
    }
});

hear!(XdgSurface, (), |game, surface, event, _known, _handle| {
    if let xdg_surface::Event::Configure { serial } = event {
        surface.ack_configure(serial);
        game.configured = true;
    }
});

hear!(XdgToplevel, (), |game, _object, event, _known, _handle| {
    if let xdg_toplevel::Event::Close = event {
        game.closed = true;
    }
});

hear!(WlBuffer, usize, |game, _object, event, index, _handle| {
    if let wl_buffer::Event::Release = event {
        if game.buffers.free().is_none() {
            game.buffer_free = MonotonicClock.now();
        }
        game.buffers.released(*index);
    }
});

hear!(WlCallback, (), |game, _object, event, _known, handle| {
    if let wl_callback::Event::Done { callback_data } = event {
        let now = MonotonicClock.now();
        // Milliseconds that wrap; near now, on either side.
        let millis = (now.as_nanos() / 1_000_000) as u32;
        let since = Span::from_millis(i64::from(millis.wrapping_sub(callback_data) as i32));
        let represents = Instant::from_nanos(now.as_nanos() / 1_000_000 * 1_000_000) - since;
        game.ticked(Permission { target: None, represents, given: now }, handle);
    }
});

hear!(WpPresentationFeedback, usize, |game, _object, event, frame, _handle| {
    match event {
        wp_presentation_feedback::Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, seq_hi, seq_lo, .. } => {
            game.shown.push(Shown {
                sequence: join(seq_hi, seq_lo),
                present: instant(tv_sec_hi, tv_sec_lo, tv_nsec),
                represents: game.represents[*frame],
            });
            game.ended();
        }
        wp_presentation_feedback::Event::Discarded => {
            game.discarded += 1;
            game.ended();
        }
        _ => {}
    }
});

hear!(UpbeatFramePacingV1, (), |game, _object, event, _known, _handle| {
    use upbeat_frame_pacing_v1::Event;
    match event {
        Event::Revoked { id_hi, id_lo, .. } => game.revoked(join(id_hi, id_lo)),
        Event::Target { id_hi, id_lo, tv_sec_hi, tv_sec_lo, tv_nsec, .. } => {
            game.permissions.push_back(Permission {
                target: Some(join(id_hi, id_lo)),
                represents: instant(tv_sec_hi, tv_sec_lo, tv_nsec),
                given: MonotonicClock.now(),
            });
        }
        _ => {}
    }
});
