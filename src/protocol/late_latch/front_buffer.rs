//! The requests of a front buffer.

use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, Weak};

use super::generated::upbeat_front_buffer_v1::{self as wire, UpbeatFrontBufferV1};
use crate::backend::PixelRect;
use crate::guard::{self, Handlers};
use crate::output::clients::front_buffer;
use crate::state::State;
use crate::surface::front_buffer::{FrontBufferListener, FrontBufferReason, FrontBufferRequest, ScanTimes};
use upbeat_timing::time::Instant;

/// User data of a front buffer object: its surface, or `None` if the object is inert.
#[derive(Debug)]
pub(super) struct FrontObject(pub Option<Weak<WlSurface>>);

impl FrontObject {
    fn surface(&self) -> Option<WlSurface> {
        self.0.as_ref()?.upgrade().ok()
    }
}

/// Sends events to the client of a front buffer.
#[derive(Debug)]
pub(super) struct FrontBufferEvents(pub UpbeatFrontBufferV1);

impl FrontBufferListener for FrontBufferEvents {
    fn send_scan(&self, times: ScanTimes) {
        let (high, low, nanos) = times.anchor.as_wayland_parts();
        // Both fit easily into 32 bits, since no refresh lasts longer than a second.
        let nanoseconds = |span: upbeat_timing::time::Span| u32::try_from(span.as_nanos()).unwrap_or(u32::MAX);
        self.0.scan(high, low, nanos, nanoseconds(times.interval), nanoseconds(times.line_time), times.first_line);
    }

    fn send_active(&self, serial: u32, rect: PixelRect) {
        self.0.active(serial, rect.x, rect.y, rect.width, rect.height);
    }

    fn send_inactive(&self, serial: u32, reason: FrontBufferReason) {
        let reason = match reason {
            FrontBufferReason::Display => wire::Reason::Display,
            FrontBufferReason::Covered => wire::Reason::Covered,
            FrontBufferReason::Changed => wire::Reason::Changed,
            FrontBufferReason::Buffer => wire::Reason::Buffer,
            FrontBufferReason::Hidden => wire::Reason::Hidden,
            FrontBufferReason::Captured => wire::Reason::Captured,
        };
        self.0.inactive(serial, reason);
    }

    fn send_light(&self, id: u32, at: Instant) {
        let (high, low, nanos) = at.as_wayland_parts();
        self.0.light(id, high, low, nanos);
    }

    fn send_missed(&self, id: u32) {
        self.0.missed(id);
    }

    fn refuse_rectangle(&self, rect: PixelRect) {
        let PixelRect { x, y, width, height } = rect;
        let what = format!("{width} × {height} pixels at {x}, {y} do not lie inside of the buffer");
        self.0.post_error(wire::Error::InvalidRectangle, what);
    }

    fn refuse_acquire_point(&self) {
        let what = "a commit with a request to share must have no acquire point";
        self.0.post_error(wire::Error::ExplicitSync, what.to_owned());
    }
}

impl Dispatch<UpbeatFrontBufferV1, FrontObject, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &UpbeatFrontBufferV1,
        request: wire::Request,
        data: &FrontObject,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let Some(surface) = data.surface() else { return };
        match request {
            wire::Request::Destroy => {}
            wire::Request::Share { x, y, width, height } => {
                let rect = PixelRect { x, y, width, height };
                if x < 0 || y < 0 || width <= 0 || height <= 0 {
                    return FrontBufferEvents(object.clone()).refuse_rectangle(rect);
                }
                guard::with_states(&surface, |states| {
                    let mut cached = states.cached_state.get::<FrontBufferRequest>();
                    let pending = cached.pending();
                    *pending = FrontBufferRequest { rect: Some(rect), number: pending.number + 1, is_new: true };
                });
            }
            wire::Request::AckInactive { serial } => front_buffer::acknowledge(state, &surface, serial),
            wire::Request::Written { id, x, y, width, height } => {
                front_buffer::written(state, &surface, id, PixelRect { x, y, width, height });
            }
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, _object: &UpbeatFrontBufferV1, data: &FrontObject) {
        let Some(surface) = data.surface() else { return };
        guard::with_states(&surface, |states| {
            let mut cached = states.cached_state.get::<FrontBufferRequest>();
            let number = cached.pending().number;
            *cached.pending() = FrontBufferRequest { rect: None, number, is_new: false };
        });
        front_buffer::end(state, &surface);
    }
}
