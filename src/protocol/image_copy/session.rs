//! A session: what buffers have to be like, and whether it goes on.

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
use crate::output::capture::{Area, Eye, Subject, Watched};
use crate::protocol::film;
use crate::revision::Revision;
use crate::state::State;

/// Which picture a session is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All that is seen.
    Picture { with_cursor: bool },
    /// The cursor's image.
    Cursor,
}

/// Pictures of one source, one after another. Frames of it outlive its object.
#[derive(Debug)]
pub struct Session {
    area: Option<Area>,
    kind: Kind,
    pub(super) eye: Arc<Eye>,
    /// A window that is recorded counts as seen.
    _watched: Option<Watched>,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    /// Objects that are kept would keep what they are for, and that is this.
    object: Option<Weak<ExtImageCopyCaptureSessionV1>>,
    /// The size that buffers have to be of.
    size: Option<(i32, i32)>,
    /// Advanced with other constraints.
    constraints: Revision,
    stopped: bool,
    frame: Option<Weak<ExtImageCopyCaptureFrameV1>>,
}

/// Begins a session, and says what its buffers have to be like.
pub(super) fn begin(
    state: &mut State,
    session: New<ExtImageCopyCaptureSessionV1>,
    area: Option<Area>,
    kind: Kind,
    init: &mut DataInit<'_, State>,
) {
    let watched = match (&area, kind) {
        (Some(Area::Window(window)), Kind::Picture { .. }) => Some(state.outputs.watch(*window)),
        _ => None,
    };
    let eye = Arc::new(Eye::new(kind == Kind::Picture { with_cursor: true }));
    let data = Arc::new(Session { area, kind, eye, _watched: watched, told: Mutex::default() });
    let object = init.init(session, data.clone());
    data.lock().object = Some(object.downgrade());
    state.protocols.image_copy.sessions.push(Arc::downgrade(&data));
    data.refresh(state);
}

impl Session {
    fn lock(&self) -> MutexGuard<'_, Told> {
        // Nothing that is done under the lock leaves it in pieces.
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says what buffers have to be like where that has changed, or that there will be no more pictures.
    pub(super) fn refresh(&self, state: &mut State) {
        if self.lock().stopped {
            return;
        }
        let size = self.area.as_ref().and_then(|area| match self.kind {
            Kind::Picture { .. } => area.size(state),
            Kind::Cursor => area.cursor_size(state),
        });
        let device = film::device(state);
        let mut told = self.lock();
        if size == told.size && size.is_some() {
            return;
        }
        let object = told.object.as_ref().and_then(|object| object.upgrade().ok());
        // A window may be of another size in every turn.
        if told.size.is_some() && size.is_some() && object.as_ref().is_some_and(|object| !guard::reads_on(object)) {
            return;
        }
        told.size = size;
        told.constraints.advance();
        told.stopped = size.is_none();
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

    /// Its next picture is `frame`. Returns whether the one before it is still there.
    pub(super) fn next(&self, frame: &ExtImageCopyCaptureFrameV1) -> bool {
        let before = self.lock().frame.replace(frame.downgrade());
        before.is_some_and(|before| before.upgrade().is_ok())
    }

    /// What its buffers may hold.
    pub(super) const fn formats(&self) -> &'static [Format] {
        match self.kind {
            Kind::Picture { .. } => film::OPAQUE,
            Kind::Cursor => film::TRANSLUCENT,
        }
    }

    pub(super) const fn with_cursor(&self) -> bool {
        matches!(self.kind, Kind::Picture { with_cursor: true })
    }

    /// How large its buffers have to be; `None` once it has stopped.
    pub(super) fn size(&self) -> Option<(i32, i32)> {
        self.lock().size
    }

    /// Changes with every new constraint.
    pub(super) fn constraints(&self) -> Revision {
        self.lock().constraints
    }

    /// What its pictures are of.
    pub(super) fn subject(&self, state: &State) -> Option<Subject> {
        let area = self.area.clone()?;
        match self.kind {
            Kind::Picture { .. } => area.whole(state),
            Kind::Cursor => Some(Subject::Cursor(area)),
        }
    }

    /// How its pictures are turned.
    pub(super) fn transform(&self) -> wl_output::Transform {
        match (&self.area, self.kind) {
            (Some(Area::Output(output)), Kind::Picture { .. }) => output.current_transform().into(),
            _ => wl_output::Transform::Normal,
        }
    }

    /// Why a picture failed for which the these constraints held.
    pub(super) fn reason(&self, constraints: Revision) -> FailureReason {
        let told = self.lock();
        match (told.stopped, told.constraints == constraints) {
            (true, _) => FailureReason::Stopped,
            (false, false) => FailureReason::BufferConstraints,
            (false, true) => FailureReason::Unknown,
        }
    }
}
