//! Event handlers for the parent's objects. They only update state; decisions are made elsewhere.

use wayland_client::globals::GlobalListContents;
use wayland_client::protocol::{
    wl_buffer, wl_buffer::WlBuffer, wl_callback, wl_callback::WlCallback, wl_compositor::WlCompositor, wl_output,
    wl_output::WlOutput, wl_registry, wl_registry::WlRegistry, wl_shm::WlShm, wl_shm_pool::WlShmPool, wl_surface,
    wl_surface::WlSurface,
};
use wayland_client::{Connection, Dispatch, Proxy, QueueHandle, WEnum, delegate_noop};
use wayland_protocols::wp::fractional_scale::v1::client::{
    wp_fractional_scale_manager_v1::WpFractionalScaleManagerV1, wp_fractional_scale_v1,
    wp_fractional_scale_v1::WpFractionalScaleV1,
};
use wayland_protocols::wp::presentation_time::client::{
    wp_presentation, wp_presentation::WpPresentation, wp_presentation_feedback,
    wp_presentation_feedback::WpPresentationFeedback,
};
use wayland_protocols::wp::viewporter::client::{wp_viewport::WpViewport, wp_viewporter::WpViewporter};
use wayland_protocols::xdg::decoration::zv1::client::{
    zxdg_decoration_manager_v1::ZxdgDecorationManagerV1, zxdg_toplevel_decoration_v1::ZxdgToplevelDecorationV1,
};
use wayland_protocols::xdg::shell::client::{
    xdg_surface, xdg_surface::XdgSurface, xdg_toplevel, xdg_toplevel::XdgToplevel, xdg_wm_base, xdg_wm_base::XdgWmBase,
};

use super::clock::ParentClock;
use super::event::WindowId;
use super::parent::ParentState;
use super::pool::BufferTag;
use super::window::SCALE_STEPS;
use crate::backend::FrameId;
use upbeat_client::wire::{instant, join};
use upbeat_timing::time::{Clock, MonotonicClock, Span};

/// The first version of `wl_surface` with `preferred_buffer_scale`.
const PREFERRED_SCALE_SINCE: u32 = 6;

delegate_noop!(ParentState: WlCompositor);
delegate_noop!(ParentState: ignore WlShm);
delegate_noop!(ParentState: WlShmPool);
delegate_noop!(ParentState: WpViewporter);
delegate_noop!(ParentState: WpViewport);
delegate_noop!(ParentState: WpFractionalScaleManagerV1);
delegate_noop!(ParentState: ZxdgDecorationManagerV1);
delegate_noop!(ParentState: ignore ZxdgToplevelDecorationV1);

impl Dispatch<WlRegistry, GlobalListContents> for ParentState {
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

impl Dispatch<XdgWmBase, ()> for ParentState {
    fn event(
        _: &mut Self,
        wm_base: &XdgWmBase,
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

impl Dispatch<XdgToplevel, WindowId> for ParentState {
    fn event(
        parent: &mut Self,
        _: &XdgToplevel,
        event: xdg_toplevel::Event,
        id: &WindowId,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            xdg_toplevel::Event::Configure { width, height, states } => {
                // An array of 32-bit numbers in native byte order.
                let suspended = (xdg_toplevel::State::Suspended as u32).to_ne_bytes();
                let suspended = states.chunks_exact(4).any(|state| state == suspended);
                parent.with_window(*id, |window| window.propose((width, height), suspended));
            }
            xdg_toplevel::Event::Close => parent.with_window(*id, |window| window.close()),
            _ => {}
        }
    }
}

impl Dispatch<XdgSurface, WindowId> for ParentState {
    fn event(
        parent: &mut Self,
        _: &XdgSurface,
        event: xdg_surface::Event,
        id: &WindowId,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let xdg_surface::Event::Configure { serial } = event {
            parent.with_window(*id, |window| window.configured(serial));
        }
    }
}

impl Dispatch<WlSurface, WindowId> for ParentState {
    fn event(
        parent: &mut Self,
        surface: &WlSurface,
        event: wl_surface::Event,
        id: &WindowId,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        match event {
            wl_surface::Event::Enter { output } => {
                let Some(screen) = parent.screens.iter().find(|screen| screen.output == output) else { return };
                parent.with_window(*id, |window| {
                    window.set_refresh(screen.refresh);
                    if surface.version() < PREFERRED_SCALE_SINCE {
                        window.rescale_whole(screen.scale * SCALE_STEPS);
                    }
                });
            }
            // The fractional scale, if there is one, is more precise.
            wl_surface::Event::PreferredBufferScale { factor } if surface.version() >= PREFERRED_SCALE_SINCE => {
                parent
                    .with_window(*id, |window| window.rescale_whole(u32::try_from(factor).unwrap_or(1) * SCALE_STEPS));
            }
            _ => {}
        }
    }
}

impl Dispatch<WpFractionalScaleV1, WindowId> for ParentState {
    fn event(
        parent: &mut Self,
        _: &WpFractionalScaleV1,
        event: wp_fractional_scale_v1::Event,
        id: &WindowId,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wp_fractional_scale_v1::Event::PreferredScale { scale } = event {
            parent.with_window(*id, |window| window.rescale(scale));
        }
    }
}

impl Dispatch<WlBuffer, BufferTag> for ParentState {
    fn event(
        parent: &mut Self,
        _: &WlBuffer,
        event: wl_buffer::Event,
        tag: &BufferTag,
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_buffer::Event::Release = event {
            parent.with_window(tag.window, |window| window.released(*tag));
        }
    }
}

impl Dispatch<WlCallback, (WindowId, FrameId)> for ParentState {
    fn event(
        parent: &mut Self,
        _: &WlCallback,
        event: wl_callback::Event,
        (id, frame): &(WindowId, FrameId),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wl_callback::Event::Done { .. } = event {
            parent.with_window(*id, |window| window.called_back(*frame, MonotonicClock.now()));
        }
    }
}

impl Dispatch<WpPresentation, ()> for ParentState {
    fn event(
        parent: &mut Self,
        _: &WpPresentation,
        event: wp_presentation::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        if let wp_presentation::Event::ClockId { clk_id } = event {
            parent.clock = ParentClock::from_raw(clk_id);
            if parent.clock.is_none() {
                tracing::warn!(clock = clk_id, "the parent stamps its frames with a clock that cannot be read here");
            }
        }
    }
}

impl Dispatch<WpPresentationFeedback, (WindowId, FrameId)> for ParentState {
    fn event(
        parent: &mut Self,
        _: &WpPresentationFeedback,
        event: wp_presentation_feedback::Event,
        (id, frame): &(WindowId, FrameId),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        use wp_presentation_feedback::Event;
        match event {
            Event::Presented { tv_sec_hi, tv_sec_lo, tv_nsec, refresh, seq_hi, seq_lo, .. } => {
                let Some(clock) = parent.clock else { return };
                let time = clock.to_monotonic(instant(tv_sec_hi, tv_sec_lo, tv_nsec));
                // A parent without a counter sends 0; an unknown rate is 0, too.
                let sequence = Some(join(seq_hi, seq_lo)).filter(|sequence| *sequence > 0);
                let refresh = Span::from_nanos(i64::from(refresh));
                parent
                    .with_window(*id, |window| window.presented(*frame, time, sequence, refresh, MonotonicClock.now()));
            }
            Event::Discarded => parent.with_window(*id, |window| window.discarded(*frame, MonotonicClock.now())),
            _ => {}
        }
    }
}

impl Dispatch<WlOutput, ()> for ParentState {
    fn event(
        parent: &mut Self,
        output: &WlOutput,
        event: wl_output::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Self>,
    ) {
        let Some(screen) = parent.screens.iter_mut().find(|screen| screen.output == *output) else { return };
        match event {
            wl_output::Event::Mode { flags: WEnum::Value(flags), refresh, .. }
                if flags.contains(wl_output::Mode::Current) =>
            {
                screen.refresh = u32::try_from(refresh).unwrap_or(0);
            }
            wl_output::Event::Scale { factor } => screen.scale = u32::try_from(factor).unwrap_or(1),
            _ => {}
        }
    }
}
