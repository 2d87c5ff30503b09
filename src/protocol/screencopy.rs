//! `zwlr_screencopy_manager_v1` 3: screenshots of outputs (grim, wf-recorder, wayvnc) into shared memory or a dmabuf.
//!
//! With `copy_with_damage`, the first capture of a part of an output is taken at once, and each further one when
//! something has changed there. It carries the damage since the last.
//!
//! A capture shows the *presented* frame, not one composed ahead. The request goes to [`output::capture()`], which
//! writes the pixels and calls [`CaptureReply::ready`]. Cross-checked by grim.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smithay::backend::allocator::Fourcc;
use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::screencopy::v1::server::zwlr_screencopy_frame_v1::{
    self, Error, Flags, ZwlrScreencopyFrameV1,
};
use smithay::reexports::wayland_protocols_wlr::screencopy::v1::server::zwlr_screencopy_manager_v1::{
    self, ZwlrScreencopyManagerV1,
};
use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::protocol::wl_shm::Format;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource};
use smithay::utils::{Logical, Point, Rectangle, Size};

use crate::backend::PixelRect;
use crate::bounds;
use crate::guard::Handlers;
use crate::output;
use crate::output::capture::{CaptureMetadata, CaptureReply, CaptureRequest, CaptureSubject, DamageSinceCapture};
use crate::protocol::capture_formats::{self, UnfitBuffer};
use crate::state::State;

const VERSION: u32 = 3;
/// Bytes of a pixel in `Xrgb8888`.
const BYTES_PER_PIXEL: i32 = 4;

/// Regions per client whose damage is tracked: more than a client records at the same time.
const MOST_TRACKERS: usize = 16;

#[derive(Debug)]
pub struct Screencopy {
    _global: GlobalId,
}

impl Screencopy {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        Screencopy { _global: display.create_global::<State, ZwlrScreencopyManagerV1, ()>(VERSION, ()) }
    }
}

/// Damage trackers of a client, one for each region that it captures.
#[derive(Debug, Default)]
pub struct DamageTrackers(Mutex<Vec<(ScreencopyView, Arc<DamageSinceCapture>)>>);

/// An output, a region of it in physical pixels, and whether the cursor is drawn.
type ScreencopyView = (Output, PixelRect, bool);

impl DamageTrackers {
    fn tracker_for(&self, output: &Output, region: PixelRect, with_cursor: bool) -> Arc<DamageSinceCapture> {
        let mut trackers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let view = (output.clone(), region, with_cursor);
        if let Some((_, tracker)) = trackers.iter().find(|(known, _)| *known == view) {
            return tracker.clone();
        }
        if trackers.len() == MOST_TRACKERS {
            trackers.remove(0);
        }
        let tracker = Arc::new(DamageSinceCapture::new(with_cursor));
        trackers.push((view, tracker.clone()));
        tracker
    }
}

/// User data of a capture.
#[derive(Debug)]
pub struct ScreencopyFrame {
    /// Output and region; `None` if there is nothing to capture, and `failed` was sent already.
    source: Option<(Output, PixelRect)>,
    with_cursor: bool,
    trackers: Arc<DamageTrackers>,
    used: AtomicBool,
}

/// Answers one capture, once. Dropped without an answer, it sends `failed`.
#[derive(Debug)]
struct ScreencopyReply {
    frame: Option<ZwlrScreencopyFrameV1>,
    wants_damage: bool,
}

impl CaptureReply for ScreencopyReply {
    fn ready(mut self: Box<Self>, captured: &CaptureMetadata) {
        let Some(frame) = self.frame.take() else { return };
        if self.wants_damage {
            for rect in &captured.damage {
                let side = |value: i32| value.max(0) as u32;
                frame.damage(side(rect.x), side(rect.y), side(rect.width), side(rect.height));
            }
        }
        frame.flags(Flags::empty());
        let since_epoch = captured.presented.since_epoch();
        let seconds = since_epoch.as_secs();
        frame.ready((seconds >> 32) as u32, seconds as u32, since_epoch.subsec_nanos());
    }

    fn gone(self: Box<Self>) {
        // The destructor sends `failed`.
    }

    fn waits_for_power(&self) -> bool {
        false
    }

    fn is_wanted(&self) -> bool {
        self.frame.as_ref().is_some_and(Resource::is_alive)
    }
}

impl Drop for ScreencopyReply {
    fn drop(&mut self) {
        if let Some(frame) = self.frame.take() {
            frame.failed();
        }
    }
}

impl GlobalDispatch<ZwlrScreencopyManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwlrScreencopyManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, Arc::<DamageTrackers>::default());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ZwlrScreencopyManagerV1>(&client)
    }
}

impl Dispatch<ZwlrScreencopyManagerV1, Arc<DamageTrackers>, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _manager: &ZwlrScreencopyManagerV1,
        request: zwlr_screencopy_manager_v1::Request,
        trackers: &Arc<DamageTrackers>,
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use zwlr_screencopy_manager_v1::Request as R;
        let (frame, overlay_cursor, output, region) = match request {
            R::CaptureOutput { frame, overlay_cursor, output } => (frame, overlay_cursor, output, None),
            R::CaptureOutputRegion { frame, overlay_cursor, output, x, y, width, height } => {
                let ((x, width), (y, height)) = (bounds::interval(x, width), bounds::interval(y, height));
                (frame, overlay_cursor, output, Some(Rectangle::new((x, y).into(), (width, height).into())))
            }
            _ => return,
        };
        let source = source(state, &output, region);
        let size = source.as_ref().map(|(_, rect)| (rect.width, rect.height));
        let (trackers, used) = (trackers.clone(), AtomicBool::new(false));
        let data = ScreencopyFrame { source, with_cursor: overlay_cursor != 0, trackers, used };
        let frame = init.init(frame, data);
        match size {
            Some((width, height)) => {
                frame.buffer(Format::Xrgb8888, width as u32, height as u32, (width * BYTES_PER_PIXEL) as u32);
                if frame.version() >= zwlr_screencopy_frame_v1::EVT_BUFFER_DONE_SINCE {
                    // Also if no device has memory for it. No client can create such a buffer without
                    // `zwp_linux_dmabuf_v1`, but `xdg-desktop-portal-wlr` 0.7 gives up without this event, even if it
                    // captures into shared memory.
                    frame.linux_dmabuf(Fourcc::Xrgb8888 as u32, width as u32, height as u32);
                    frame.buffer_done();
                }
            }
            None => frame.failed(),
        }
    }
}

/// The output, and the part of it in physical pixels, for a `region` in the output's logical coordinates.
fn source(state: &State, output: &WlOutput, region: Option<Rectangle<i32, Logical>>) -> Option<(Output, PixelRect)> {
    let output = Output::from_resource(output).filter(|output| state.outputs.iter().any(|known| known == output))?;
    let mode = output.current_mode()?;
    let logical = Rectangle::from_size(output::geometry(&output).size);
    let region = match region {
        Some(region) => region.intersection(logical)?,
        None => logical,
    };
    let rect = physical(region, logical.size, mode.size.w, mode.size.h, &output);
    (rect.width > 0 && rect.height > 0).then_some((output, rect))
}

/// A logical region of an output as pixels of its framebuffer: scaled and transformed.
fn physical(
    region: Rectangle<i32, Logical>,
    logical: Size<i32, Logical>,
    width: i32,
    height: i32,
    output: &Output,
) -> PixelRect {
    let turn = output::turn_of(output);
    let (turned, size) = (turn.rect(region, logical), turn.size(logical).to_f64());
    let scale = (f64::from(width) / size.w.max(1.0), f64::from(height) / size.h.max(1.0));
    let start = Point::<f64, Logical>::from((f64::from(turned.loc.x) * scale.0, f64::from(turned.loc.y) * scale.1));
    let end = (f64::from(turned.loc.x + turned.size.w) * scale.0, f64::from(turned.loc.y + turned.size.h) * scale.1);
    let (x, y) = (start.x.round() as i32, start.y.round() as i32);
    let (right, bottom) = ((end.0.round() as i32).min(width), (end.1.round() as i32).min(height));
    PixelRect { x, y, width: (right - x).max(0), height: (bottom - y).max(0) }
}

impl Dispatch<ZwlrScreencopyFrameV1, ScreencopyFrame, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        frame: &ZwlrScreencopyFrameV1,
        request: zwlr_screencopy_frame_v1::Request,
        data: &ScreencopyFrame,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let (buffer, on_damage) = match request {
            zwlr_screencopy_frame_v1::Request::Copy { buffer } => (buffer, false),
            zwlr_screencopy_frame_v1::Request::CopyWithDamage { buffer } => (buffer, true),
            _ => return,
        };
        if data.used.swap(true, Ordering::Relaxed) {
            frame.post_error(Error::AlreadyUsed, "the frame was copied before");
            return;
        }
        let reply = Box::new(ScreencopyReply { frame: Some(frame.clone()), wants_damage: on_damage });
        // Without a source `failed` was sent before, or is sent now because the reply is dropped.
        let Some((output, region)) = data.source.clone() else { return };
        let buffer = match capture_formats::of(&buffer, (region.width, region.height), &[Format::Xrgb8888]) {
            Ok(buffer) => buffer,
            Err(UnfitBuffer::Wrong(message)) => {
                frame.post_error(Error::InvalidBuffer, message);
                return;
            }
            // No protocol error, because the protocol announces no modifiers that the client could have respected.
            Err(UnfitBuffer::Unwritable(message)) => {
                tracing::debug!("no capture: {message}");
                return;
            }
        };
        let with_cursor = data.with_cursor;
        let damage_tracker = data.trackers.tracker_for(&output, region, with_cursor);
        let subject = CaptureSubject::Output(output, region);
        output::capture(
            state,
            CaptureRequest { subject, buffer, with_cursor, waits: on_damage, damage_tracker, reply },
        );
    }
}
