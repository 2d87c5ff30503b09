//! One capture of a session: its buffer, and the answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smithay::reexports::wayland_protocols::ext::image_copy_capture::v1::server::ext_image_copy_capture_frame_v1::{
    self, Error, ExtImageCopyCaptureFrameV1, FailureReason,
};
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};

use super::session::CaptureSession;
use crate::guard::Handlers;
use crate::output;
use crate::output::capture::{CaptureMetadata, CaptureReply, CaptureRequest};
use crate::protocol::capture_formats::{self, UnfitBuffer};
use crate::revision::Revision;
use crate::state::State;

#[derive(Debug)]
pub struct ImageCopyFrame {
    session: Arc<CaptureSession>,
    state: Mutex<ImageCopyFrameState>,
}

#[derive(Debug, Default)]
struct ImageCopyFrameState {
    buffer: Option<WlBuffer>,
    captured: bool,
}

impl ImageCopyFrame {
    pub(super) fn new(session: Arc<CaptureSession>) -> Self {
        ImageCopyFrame { session, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, ImageCopyFrameState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers one capture request, once. Dropped without an answer, it sends `failed` with the reason.
#[derive(Debug)]
struct ImageCopyReply {
    frame: Option<ExtImageCopyCaptureFrameV1>,
    session: Arc<CaptureSession>,
    /// The constraints that the buffer was checked against.
    constraints: Revision,
}

impl CaptureReply for ImageCopyReply {
    fn waits_for_power(&self) -> bool {
        true
    }

    fn is_wanted(&self) -> bool {
        let is_alive = self.frame.as_ref().is_some_and(Resource::is_alive);
        is_alive && self.session.constraints() == self.constraints
    }

    fn ready(mut self: Box<Self>, captured: &CaptureMetadata) {
        let Some(frame) = self.frame.take() else { return };
        frame.transform(self.session.transform());
        for rect in &captured.damage {
            frame.damage(rect.x, rect.y, rect.width, rect.height);
        }
        let since_epoch = captured.presented.since_epoch();
        let seconds = since_epoch.as_secs();
        frame.presentation_time((seconds >> 32) as u32, seconds as u32, since_epoch.subsec_nanos());
        frame.ready();
    }

    fn gone(self: Box<Self>) {
        if let Some(frame) = self.into_frame() {
            frame.failed(FailureReason::Stopped);
        }
    }
}

impl Drop for ImageCopyReply {
    fn drop(&mut self) {
        if let Some(frame) = self.frame.take() {
            frame.failed(self.session.reason(self.constraints));
        }
    }
}

impl Dispatch<ExtImageCopyCaptureFrameV1, ImageCopyFrame, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &ExtImageCopyCaptureFrameV1,
        request: ext_image_copy_capture_frame_v1::Request,
        frame: &ImageCopyFrame,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        use ext_image_copy_capture_frame_v1::Request as R;
        if !matches!(request, R::Destroy) && frame.lock().captured {
            return object.post_error(Error::AlreadyCaptured, "the frame was captured before");
        }
        match request {
            R::AttachBuffer { buffer } => frame.lock().buffer = Some(buffer),
            // Damage is only validated, because the whole buffer is always written.
            R::DamageBuffer { x, y, width, height } if x < 0 || y < 0 || width <= 0 || height <= 0 => {
                object.post_error(Error::InvalidBufferDamage, format!("{width}x{height} at ({x}, {y})"));
            }
            R::Capture => capture(state, object, frame),
            _ => {}
        }
    }
}

fn capture(state: &mut State, object: &ExtImageCopyCaptureFrameV1, frame: &ImageCopyFrame) {
    let buffer = {
        let mut state = frame.lock();
        state.captured = state.buffer.is_some();
        state.buffer.take()
    };
    let Some(buffer) = buffer else {
        return object.post_error(Error::NoBuffer, "no buffer is attached");
    };
    let session = frame.session.clone();
    let constraints = session.constraints();
    let reply = Box::new(ImageCopyReply { frame: Some(object.clone()), session: session.clone(), constraints });
    // On return the reply is dropped, which sends that the session has stopped.
    let Some((size, subject)) = session.size().zip(session.subject(state)) else { return };
    let buffer = if buffer.is_alive() {
        capture_formats::of(&buffer, size, session.formats())
    } else {
        Err(UnfitBuffer::gone())
    };
    match buffer {
        Ok(buffer) => {
            let (with_cursor, damage_tracker) = (session.with_cursor(), session.damage_tracker.clone());
            output::capture(state, CaptureRequest { subject, buffer, with_cursor, waits: true, damage_tracker, reply });
        }
        Err(unfit) => {
            tracing::debug!("no capture: {unfit}");
            if let Some(frame) = reply.into_frame() {
                frame.failed(FailureReason::BufferConstraints);
            }
        }
    }
}

impl ImageCopyReply {
    /// Takes the frame out, so that dropping the answer sends nothing: the caller must answer.
    fn into_frame(mut self) -> Option<ExtImageCopyCaptureFrameV1> {
        self.frame.take()
    }
}
