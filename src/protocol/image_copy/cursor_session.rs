//! Cursor sessions: the position of the cursor over a captured source, and captures of its image.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use smithay::reexports::wayland_protocols::ext::image_copy_capture::v1::server::ext_image_copy_capture_cursor_session_v1::{
    self, Error, ExtImageCopyCaptureCursorSessionV1,
};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource};

use super::session::{self, CaptureImage};
use crate::guard::{self, Handlers};
use crate::output::capture::{CursorArea, CursorOverArea, WindowUnderPointer};
use crate::state::State;

/// User data of a cursor session.
#[derive(Debug)]
pub struct CursorSession {
    area: Option<CursorArea>,
    has_session: AtomicBool,
    /// Position and hotspot that were sent last; `None` while the cursor is elsewhere.
    sent: Mutex<Option<CursorPlacement>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct CursorPlacement {
    position: (i32, i32),
    hotspot: (i32, i32),
}

impl CursorSession {
    pub(super) fn new(area: Option<CursorArea>) -> Self {
        CursorSession { area, has_session: AtomicBool::new(false), sent: Mutex::default() }
    }
}

/// Sends the cursor's position and hotspot if they have changed.
pub(super) fn refresh(
    state: &mut State,
    object: &ExtImageCopyCaptureCursorSessionV1,
    pointed: &mut WindowUnderPointer,
) {
    let Some(session) = object.data::<CursorSession>() else { return };
    let seen = session.area.as_ref().and_then(|area| area.cursor(state, pointed));
    let place = seen.map(|CursorOverArea { position, hotspot, .. }| CursorPlacement { position, hotspot });
    let mut sent = session.sent.lock().unwrap_or_else(PoisonError::into_inner);
    // A mouse moves a thousand times a second, so a client that does not read gets only the newest position.
    if *sent != place && !guard::may_send(object) {
        return;
    }
    let before = std::mem::replace(&mut *sent, place);
    match (before, place) {
        (Some(_), None) => object.leave(),
        (_, Some(CursorPlacement { position, hotspot })) => {
            if before.is_none() {
                object.enter();
            }
            if before.is_none_or(|before| before.hotspot != hotspot) {
                object.hotspot(hotspot.0, hotspot.1);
            }
            if before.is_none_or(|before| before.position != position) {
                object.position(position.0, position.1);
            }
        }
        (None, None) => {}
    }
}

impl Dispatch<ExtImageCopyCaptureCursorSessionV1, CursorSession, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &ExtImageCopyCaptureCursorSessionV1,
        request: ext_image_copy_capture_cursor_session_v1::Request,
        cursor: &CursorSession,
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let ext_image_copy_capture_cursor_session_v1::Request::GetCaptureSession { session } = request else { return };
        session::begin(state, session, cursor.area.clone(), CaptureImage::Cursor, init);
        if cursor.has_session.swap(true, Ordering::Relaxed) {
            object.post_error(Error::DuplicateSession, "the cursor session has a capture session already");
        }
    }

    fn destroyed(
        state: &mut State,
        _client: ClientId,
        object: &ExtImageCopyCaptureCursorSessionV1,
        _cursor: &CursorSession,
    ) {
        state.protocols.image_copy.cursors.retain(|known| known != object);
    }
}
