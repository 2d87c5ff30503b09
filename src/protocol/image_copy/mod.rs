//! `ext_image_copy_capture_manager_v1` 1: captures of outputs and single windows, frame after frame, with the cursor
//! drawn in or captured by itself.
//!
//! A session captures a [`source`]. It announces the constraints of its buffers, and again when they change; captures
//! into buffers made for the former constraints then fail. The first capture is taken at once, each further one when
//! something has changed, with all damage since. [`output::capture`](mod@crate::output::capture) decides which pixels
//! are captured. A window with a session counts as visible. A session whose source is gone is `stopped`. While the
//! session lock is on, windows are black, and the cursor has left.
//!
//! ```text
//!   source ─► session ─► constraints ┄► frame: attach, capture ─► CaptureRequest ─► transform, damage, time, ready
//!          └► cursor session ─► enter, position, hotspot, leave     (frames of its image: a session of its own)
//! ```

mod cursor_session;
mod frame;
mod session;
pub mod source;

use std::sync::{Arc, Weak};

use smithay::reexports::wayland_protocols::ext::image_copy_capture::v1::server::ext_image_copy_capture_cursor_session_v1::ExtImageCopyCaptureCursorSessionV1;
use smithay::reexports::wayland_protocols::ext::image_copy_capture::v1::server::ext_image_copy_capture_manager_v1::{
    self, Error, ExtImageCopyCaptureManagerV1, Options,
};
use smithay::reexports::wayland_protocols::ext::image_copy_capture::v1::server::ext_image_copy_capture_session_v1::{
    self, Error as SessionError, ExtImageCopyCaptureSessionV1,
};
use smithay::reexports::wayland_server::backend::GlobalId;
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, WEnum,
};

use crate::guard::Handlers;
use crate::output::capture::WindowUnderPointer;
use crate::state::State;
use cursor_session::CursorSession;
use frame::ImageCopyFrame;
use session::{CaptureImage, CaptureSession};
use source::ImageCaptureSource;

const VERSION: u32 = 1;

/// The global, the sessions and the cursor sessions.
#[derive(Debug)]
pub struct ImageCopy {
    _global: GlobalId,
    _sources: source::ImageSources,
    sessions: Vec<Weak<CaptureSession>>,
    cursors: Vec<ExtImageCopyCaptureCursorSessionV1>,
}

impl ImageCopy {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        ImageCopy {
            _global: display.create_global::<State, ExtImageCopyCaptureManagerV1, ()>(VERSION, ()),
            _sources: source::ImageSources::new(display),
            sessions: Vec::new(),
            cursors: Vec::new(),
        }
    }
}

/// Sends changed constraints and the moved cursor.
pub(super) fn refresh(state: &mut State) {
    let copy = &mut state.protocols.image_copy;
    if copy.sessions.is_empty() && copy.cursors.is_empty() {
        return;
    }
    copy.sessions.retain(|session| session.strong_count() > 0);
    let sessions: Vec<Arc<CaptureSession>> = copy.sessions.iter().filter_map(Weak::upgrade).collect();
    let cursors = copy.cursors.clone();
    for session in sessions {
        session.refresh(state);
    }
    let mut pointed = WindowUnderPointer::default();
    for cursor in cursors {
        cursor_session::refresh(state, &cursor, &mut pointed);
    }
}

impl GlobalDispatch<ExtImageCopyCaptureManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ExtImageCopyCaptureManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ExtImageCopyCaptureManagerV1>(&client)
    }
}

impl Dispatch<ExtImageCopyCaptureManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &ExtImageCopyCaptureManagerV1,
        request: ext_image_copy_capture_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        use ext_image_copy_capture_manager_v1::Request;
        match request {
            Request::CreateSession { session, source, options } => {
                let area = source.data::<ImageCaptureSource>().and_then(ImageCaptureSource::area);
                let with_cursor = match options {
                    WEnum::Value(options) => options.contains(Options::PaintCursors),
                    WEnum::Unknown(bits) => {
                        // The request creates an object in any case; without a source the session is stopped at once.
                        session::begin(state, session, None, CaptureImage::Picture { with_cursor: false }, init);
                        return manager.post_error(Error::InvalidOption, format!("unknown options: {bits:#x}"));
                    }
                };
                session::begin(state, session, area, CaptureImage::Picture { with_cursor }, init);
            }
            Request::CreatePointerCursorSession { session, source, .. } => {
                let area = source.data::<ImageCaptureSource>().and_then(ImageCaptureSource::area);
                let cursor = init.init(session, CursorSession::new(area));
                state.protocols.image_copy.cursors.push(cursor);
            }
            _ => {}
        }
    }
}

impl Dispatch<ExtImageCopyCaptureSessionV1, Arc<CaptureSession>, State> for Handlers {
    fn request(
        _state: &mut State,
        _client: &Client,
        object: &ExtImageCopyCaptureSessionV1,
        request: ext_image_copy_capture_session_v1::Request,
        session: &Arc<CaptureSession>,
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let ext_image_copy_capture_session_v1::Request::CreateFrame { frame } = request else { return };
        let frame = init.init(frame, ImageCopyFrame::new(session.clone()));
        if session.next(&frame) {
            object.post_error(SessionError::DuplicateFrame, "the frame before it was not destroyed");
        }
    }
}
