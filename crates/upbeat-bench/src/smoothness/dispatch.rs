//! Wayland events of the game.

use wayland_client::delegate_noop;
use wayland_client::protocol::{
    wl_buffer::{self, WlBuffer},
    wl_callback::{self, WlCallback},
    wl_compositor::WlCompositor,
    wl_shm::WlShm,
    wl_shm_pool::WlShmPool,
    wl_surface::WlSurface,
};
use wayland_protocols::wp::fifo::v1::client::{wp_fifo_manager_v1::WpFifoManagerV1, wp_fifo_v1::WpFifoV1};
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;
use wayland_protocols::wp::presentation_time::client::wp_presentation_feedback::{self, WpPresentationFeedback};

use super::figures::Shown;
use super::game::Game;
use super::pipeline::Permission;
use crate::hear::{hear, hear_session, hear_window};
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_manager_v1::UpbeatFramePacingManagerV1;
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_v1::{self, UpbeatFramePacingV1};
use upbeat_client::wire::{instant, join};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

delegate_noop!(Game: ignore WlCompositor);
delegate_noop!(Game: ignore WlShm);
delegate_noop!(Game: ignore WlShmPool);
delegate_noop!(Game: ignore WlSurface);
delegate_noop!(Game: ignore WpFifoManagerV1);
delegate_noop!(Game: ignore WpFifoV1);
delegate_noop!(Game: ignore WpPresentation);
delegate_noop!(Game: ignore UpbeatFramePacingManagerV1);

hear_session!(Game);
hear_window!(Game);

hear!(Game: WlBuffer, usize, |game, _, event, index, _| {
    if let wl_buffer::Event::Release = event {
        if game.buffers.free().is_none() {
            game.buffer_free = MonotonicClock.now();
        }
        game.buffers.released(*index);
    }
});

hear!(Game: WlCallback, (), |game, _, event, _, handle| {
    if let wl_callback::Event::Done { callback_data } = event {
        let now = MonotonicClock.now();
        // The callback's time is in milliseconds and wraps: take the value nearest to now.
        let millis = (now.as_nanos() / 1_000_000) as u32;
        let since = Span::from_millis(i64::from(millis.wrapping_sub(callback_data) as i32));
        let represents = Instant::from_nanos(now.as_nanos() / 1_000_000 * 1_000_000) - since;
        game.ticked(Permission { target: None, represents, given: now }, handle);
    }
});

hear!(Game: WpPresentationFeedback, usize, |game, _, event, frame, _| {
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

hear!(Game: UpbeatFramePacingV1, (), |game, _, event, _, _| {
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
