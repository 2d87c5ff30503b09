//! Records the probe's Wayland events with their times. The session takes all decisions.

use wayland_client::protocol::{
    wl_buffer, wl_callback, wl_compositor::WlCompositor, wl_output, wl_pointer, wl_seat, wl_shm::WlShm,
    wl_shm_pool::WlShmPool, wl_surface::WlSurface,
};
use wayland_client::{Proxy as _, WEnum, delegate_noop};
use wayland_protocols::wp::fifo::v1::client::{wp_fifo_manager_v1::WpFifoManagerV1, wp_fifo_v1::WpFifoV1};
use wayland_protocols::wp::presentation_time::client::{wp_presentation, wp_presentation_feedback};
use wayland_protocols::xdg::decoration::zv1::client::zxdg_decoration_manager_v1::ZxdgDecorationManagerV1;
use wayland_protocols::xdg::decoration::zv1::client::zxdg_toplevel_decoration_v1::ZxdgToplevelDecorationV1;

use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::ZwpLinuxBufferParamsV1;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;
use wayland_protocols::wp::linux_drm_syncobj::v1::client::{
    wp_linux_drm_syncobj_manager_v1::WpLinuxDrmSyncobjManagerV1,
    wp_linux_drm_syncobj_surface_v1::WpLinuxDrmSyncobjSurfaceV1,
    wp_linux_drm_syncobj_timeline_v1::WpLinuxDrmSyncobjTimelineV1,
};

use super::connection::{PresentationClock, ProbeClient};
use super::input;
use super::journal::{FrameLight, ProbeOutcome};
use crate::dispatch_macros::{answer_pings, impl_dispatch, track_window};
use upbeat_client::wire::{instant, join};
use upbeat_timing::time::{Clock, Span};

delegate_noop!(ProbeClient: ignore WlCompositor);
delegate_noop!(ProbeClient: ignore WlShm);
delegate_noop!(ProbeClient: ignore WlShmPool);
delegate_noop!(ProbeClient: ignore WlSurface);
delegate_noop!(ProbeClient: ignore WpFifoManagerV1);
delegate_noop!(ProbeClient: ignore WpFifoV1);
delegate_noop!(ProbeClient: ignore ZxdgDecorationManagerV1);
delegate_noop!(ProbeClient: ignore ZxdgToplevelDecorationV1);
delegate_noop!(ProbeClient: ignore ZwpLinuxDmabufV1);
delegate_noop!(ProbeClient: ignore ZwpLinuxBufferParamsV1);
delegate_noop!(ProbeClient: ignore WpLinuxDrmSyncobjManagerV1);
delegate_noop!(ProbeClient: ignore WpLinuxDrmSyncobjSurfaceV1);
delegate_noop!(ProbeClient: ignore WpLinuxDrmSyncobjTimelineV1);

answer_pings!(ProbeClient);
track_window!(ProbeClient);

impl_dispatch!(ProbeClient: wl_callback::WlCallback, (), |client, callback, event, _, _| {
    if let wl_callback::Event::Done { .. } = event
        && client.awaited_callback.as_ref() == Some(callback)
    {
        client.awaited_callback = None;
        client.callback_at = Some(client.clock.now());
        client.starved += u64::from(client.free_buffer().is_none());
    }
});

impl_dispatch!(ProbeClient: wl_buffer::WlBuffer, usize, |client, _, event, index, _| {
    if let wl_buffer::Event::Release = event {
        client.buffers.handle_release(*index);
    }
});

impl_dispatch!(ProbeClient: wp_presentation::WpPresentation, (), |client, _, event, _, _| {
    if let wp_presentation::Event::ClockId { clk_id } = event {
        match PresentationClock::from_raw(clk_id) {
            Some(clock) => client.clock = clock,
            None => client.unknown_clock = Some(clk_id),
        }
    }
});

impl_dispatch!(ProbeClient: wp_presentation_feedback::WpPresentationFeedback, usize, |client, _, event, frame, _| {
    use wp_presentation_feedback::Event;
    let outcome = match event {
        Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, seq_hi, seq_lo, .. } => {
            ProbeOutcome::Presented(FrameLight {
                at: instant(tv_sec_hi, tv_sec_lo, tv_nsec),
                sequence: join(seq_hi, seq_lo),
                refresh: Span::from_nanos(i64::from(refresh)),
            })
        }
        Event::Discarded => ProbeOutcome::Discarded,
        _ => return,
    };
    client.journal.set_outcome(*frame, outcome);
});

impl_dispatch!(ProbeClient: wl_output::WlOutput, (), |client, _, event, _, _| {
    if let wl_output::Event::Mode { flags: WEnum::Value(flags), refresh, .. } = event
        && flags.contains(wl_output::Mode::Current)
        && refresh > 0
    {
        client.mode_refresh = Some(Span::from_millihertz(refresh.unsigned_abs()));
    }
});

impl_dispatch!(ProbeClient: wl_seat::WlSeat, (), |client, seat, event, _, handle| {
    let wl_seat::Event::Capabilities { capabilities: WEnum::Value(capabilities) } = event else { return };
    if !capabilities.contains(wl_seat::Capability::Pointer) {
        client.pointer = None;
    } else if client.pointer.is_none() {
        client.pointer = Some(seat.get_pointer(handle, ()));
    }
});

impl_dispatch!(ProbeClient: wl_pointer::WlPointer, (), |client, pointer, event, _, _| {
    let (x, y) = match event {
        wl_pointer::Event::Enter { serial, surface_x, surface_y, .. } => {
            // Hide the cursor over the window, because its pixels are read.
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
        hand.report_position(x, y);
    }
    debug_assert!(pointer.is_alive() || client.closed);
});
