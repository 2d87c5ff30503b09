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

use super::figures::ShownGameFrame;
use super::game::GameClient;
use super::pipeline::FramePermission;
use crate::dispatch_macros::{answer_pings, impl_dispatch, track_window};
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_manager_v1::UpbeatFramePacingManagerV1;
use upbeat_client::protocol::frame_pacing::upbeat_frame_pacing_v1::{self, UpbeatFramePacingV1};
use upbeat_client::wire::{instant, join};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

delegate_noop!(GameClient: ignore WlCompositor);
delegate_noop!(GameClient: ignore WlShm);
delegate_noop!(GameClient: ignore WlShmPool);
delegate_noop!(GameClient: ignore WlSurface);
delegate_noop!(GameClient: ignore WpFifoManagerV1);
delegate_noop!(GameClient: ignore WpFifoV1);
delegate_noop!(GameClient: ignore WpPresentation);
delegate_noop!(GameClient: ignore UpbeatFramePacingManagerV1);

answer_pings!(GameClient);
track_window!(GameClient);

impl_dispatch!(GameClient: WlBuffer, usize, |game, _, event, index, _| {
    if let wl_buffer::Event::Release = event {
        if game.buffers.free_index().is_none() {
            game.buffer_free = MonotonicClock.now();
        }
        game.buffers.handle_release(*index);
    }
});

impl_dispatch!(GameClient: WlCallback, (), |game, _, event, _, handle| {
    if let wl_callback::Event::Done { callback_data } = event {
        let now = MonotonicClock.now();
        // The callback's time is in milliseconds and wraps: take the value nearest to now.
        let millis = (now.as_nanos() / 1_000_000) as u32;
        let since = Span::from_millis(i64::from(millis.wrapping_sub(callback_data) as i32));
        let represents = Instant::from_nanos(now.as_nanos() / 1_000_000 * 1_000_000) - since;
        game.handle_callback(FramePermission { target: None, content_time: represents, arrived: now }, handle);
    }
});

impl_dispatch!(GameClient: WpPresentationFeedback, usize, |game, _, event, frame, _| {
    match event {
        wp_presentation_feedback::Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, seq_hi, seq_lo, .. } => {
            game.shown.push(ShownGameFrame {
                sequence: join(seq_hi, seq_lo),
                present: instant(tv_sec_hi, tv_sec_lo, tv_nsec),
                content_time: game.content_times[*frame],
            });
            game.count_ended();
        }
        wp_presentation_feedback::Event::Discarded => {
            game.discarded += 1;
            game.count_ended();
        }
        _ => {}
    }
});

impl_dispatch!(GameClient: UpbeatFramePacingV1, (), |game, _, event, _, _| {
    use upbeat_frame_pacing_v1::Event;
    match event {
        Event::Revoked { id_hi, id_lo, .. } => game.handle_revoked(join(id_hi, id_lo)),
        Event::Target { id_hi, id_lo, tv_sec_hi, tv_sec_lo, tv_nsec, .. } => {
            game.permissions.push_back(FramePermission {
                target: Some(join(id_hi, id_lo)),
                content_time: instant(tv_sec_hi, tv_sec_lo, tv_nsec),
                arrived: MonotonicClock.now(),
            });
        }
        _ => {}
    }
});
