//! A capture session: the constraints of its buffers, and whether it has stopped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use smithay::backend::allocator::Modifier;
use smithay::reexports::wayland_protocols::ext::image_copy_capture::v1::server::ext_image_copy_capture_frame_v1::{
    ExtImageCopyCaptureFrameV1, FailureReason,
};
use smithay::reexports::wayland_protocols::ext::image_copy_capture::v1::server::ext_image_copy_capture_session_v1::ExtImageCopyCaptureSessionV1;
use smithay::reexports::wayland_server::protocol::wl_output;
use smithay::reexports::wayland_server::protocol::wl_shm::Format;
use smithay::reexports::wayland_server::{DataInit, New, Resource, Weak};
use smithay::wayland::shm::shm_format_to_fourcc;

use crate::guard;
use crate::output::capture::{CaptureGuard, CaptureSubject, CursorArea, DamageSinceCapture};
use crate::protocol::capture_formats;
use crate::revision::Revision;
use crate::state::State;

/// The image that a session captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureImage {
    /// The whole source as it is seen.
    Picture { with_cursor: bool },
    /// Only the cursor's image.
    Cursor,
}

/// Captures of one source. Its frames may outlive the session's object.
#[derive(Debug)]
pub struct CaptureSession {
    area: Option<CursorArea>,
    kind: CaptureImage,
    pub(super) damage_tracker: Arc<DamageSinceCapture>,
    /// Makes a captured window count as visible.
    _watched: Option<CaptureGuard>,
    sent: Mutex<SessionSent>,
}

#[derive(Debug, Default)]
struct SessionSent {
    /// Weak, because the object owns this struct as its user data: a strong reference would be a cycle.
    object: Option<Weak<ExtImageCopyCaptureSessionV1>>,
    /// Required size of buffers, in pixels; `None` once the session has stopped.
    size: Option<(i32, i32)>,
    /// Advanced when the constraints change.
    constraints: Revision,
    stopped: bool,
    frame: Option<Weak<ExtImageCopyCaptureFrameV1>>,
}

/// Begins a session, and sends the constraints of its buffers.
pub(super) fn begin(
    state: &mut State,
    session: New<ExtImageCopyCaptureSessionV1>,
    area: Option<CursorArea>,
    kind: CaptureImage,
    init: &mut DataInit<'_, State>,
) {
    let watched = match (&area, kind) {
        (Some(CursorArea::Window(window)), CaptureImage::Picture { .. }) => Some(state.outputs.watch(*window)),
        _ => None,
    };
    let damage_tracker = Arc::new(DamageSinceCapture::new(kind == CaptureImage::Picture { with_cursor: true }));
    let data = Arc::new(CaptureSession { area, kind, damage_tracker, _watched: watched, sent: Mutex::default() });
    let object = init.init(session, data.clone());
    data.lock().object = Some(object.downgrade());
    state.protocols.image_copy.sessions.push(Arc::downgrade(&data));
    data.refresh(state);
}

impl CaptureSession {
    fn lock(&self) -> MutexGuard<'_, SessionSent> {
        // A poisoned lock is fine, since no operation under it leaves the state inconsistent.
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends the constraints if they have changed, or `stopped` if the source is gone.
    pub(super) fn refresh(&self, state: &mut State) {
        if self.lock().stopped {
            return;
        }
        let size = self.area.as_ref().and_then(|area| match self.kind {
            CaptureImage::Picture { .. } => area.size(state),
            CaptureImage::Cursor => area.cursor_size(state),
        });
        let device = capture_formats::device(state);
        let mut sent = self.lock();
        if size == sent.size && size.is_some() {
            return;
        }
        let object = sent.object.as_ref().and_then(|object| object.upgrade().ok());
        // A window may change its size in every turn, so a client that does not read gets only the newest.
        if sent.size.is_some() && size.is_some() && object.as_ref().is_some_and(|object| !guard::may_send(object)) {
            return;
        }
        sent.size = size;
        sent.constraints.advance();
        sent.stopped = size.is_none();
        let Some(object) = object else { return };
        let Some((width, height)) = size else { return object.stopped() };
        object.buffer_size(width.unsigned_abs(), height.unsigned_abs());
        for format in self.formats() {
            object.shm_format(*format);
        }
        if let Some(device) = device {
            object.dmabuf_device(device.to_ne_bytes().to_vec());
            let linear = u64::from(Modifier::Linear).to_ne_bytes().to_vec();
            for code in self.formats().iter().filter_map(|format| shm_format_to_fourcc(*format)) {
                object.dmabuf_format(code as u32, linear.clone());
            }
        }
        object.done();
    }

    /// Sets the session's current frame. Returns whether the frame before it still exists.
    pub(super) fn next(&self, frame: &ExtImageCopyCaptureFrameV1) -> bool {
        let before = self.lock().frame.replace(frame.downgrade());
        before.is_some_and(|before| before.upgrade().is_ok())
    }

    /// Allowed formats of buffers.
    pub(super) const fn formats(&self) -> &'static [Format] {
        match self.kind {
            CaptureImage::Picture { .. } => capture_formats::OPAQUE,
            CaptureImage::Cursor => capture_formats::TRANSLUCENT,
        }
    }

    pub(super) const fn with_cursor(&self) -> bool {
        matches!(self.kind, CaptureImage::Picture { with_cursor: true })
    }

    /// Required size of buffers; `None` once the session has stopped.
    pub(super) fn size(&self) -> Option<(i32, i32)> {
        self.lock().size
    }

    /// Revision of the constraints.
    pub(super) fn constraints(&self) -> Revision {
        self.lock().constraints
    }

    /// The subject of its captures.
    pub(super) fn subject(&self, state: &State) -> Option<CaptureSubject> {
        let area = self.area.clone()?;
        match self.kind {
            CaptureImage::Picture { .. } => area.whole(state),
            CaptureImage::Cursor => Some(CaptureSubject::Cursor(area)),
        }
    }

    /// Transform of its captures.
    pub(super) fn transform(&self) -> wl_output::Transform {
        match (&self.area, self.kind) {
            (Some(CursorArea::Output(output)), CaptureImage::Picture { .. }) => output.current_transform().into(),
            _ => wl_output::Transform::Normal,
        }
    }

    /// Why a capture failed whose buffer was checked against `constraints`.
    pub(super) fn reason(&self, constraints: Revision) -> FailureReason {
        let sent = self.lock();
        match (sent.stopped, sent.constraints == constraints) {
            (true, _) => FailureReason::Stopped,
            (false, false) => FailureReason::BufferConstraints,
            (false, true) => FailureReason::Unknown,
        }
    }
}
