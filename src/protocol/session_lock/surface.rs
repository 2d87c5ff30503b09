//! `ext_session_lock_surface_v1`: a locker's surface on one output.

use smithay::output::Output;
use smithay::reexports::wayland_protocols::ext::session_lock::v1::server::ext_session_lock_surface_v1::{
    self, Error, ExtSessionLockSurfaceV1,
};
use smithay::reexports::wayland_protocols::ext::session_lock::v1::server::ext_session_lock_v1::{
    Error as LockError, ExtSessionLockV1,
};
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_output::WlOutput;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, New, Resource};
use smithay::wayland::compositor::{self, BufferAssignment, SurfaceAttributes};

use crate::guard::{self, Handlers};
use crate::shell::lock::{self, LockId};
use crate::state::State;
use crate::surface;

const ROLE: &str = "ext_session_lock_surface_v1";

/// User data of a lock surface: its `wl_surface`.
#[derive(Debug)]
pub struct LockSurfaceData {
    surface: WlSurface,
}

/// Makes `surface` the lock surface of `output`.
pub(super) fn make(
    state: &mut State,
    lock: &ExtSessionLockV1,
    by: Option<LockId>,
    id: New<ExtSessionLockSurfaceV1>,
    surface: WlSurface,
    output: &WlOutput,
    init: &mut DataInit<'_, State>,
) {
    let object = init.init(id, LockSurfaceData { surface: surface.clone() });
    if compositor::give_role(&surface, ROLE).is_err() {
        return lock.post_error(LockError::Role, "the surface has another role");
    }
    if is_attached(&surface) || surface::has_content(&surface) {
        return lock.post_error(LockError::AlreadyConstructed, "the surface has a buffer already");
    }
    if state.shell.lock().is_surface(&surface) {
        return lock.post_error(LockError::Role, "the surface is a lock surface already");
    }
    // The output is gone: nothing is shown, and no event is sent.
    let Some(output) = Output::from_resource(output) else { return };
    if state.shell.lock().has_surface_on(by, &output) {
        return lock.post_error(LockError::DuplicateOutput, "there is a surface for this output already");
    }
    lock::new_surface(state, by, &surface, output, object);
}

fn is_attached(surface: &WlSurface) -> bool {
    guard::with_states(surface, |states| {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        matches!(attributes.pending().buffer, Some(BufferAssignment::NewBuffer(_)))
    })
}

impl Dispatch<ExtSessionLockSurfaceV1, LockSurfaceData, State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &ExtSessionLockSurfaceV1,
        request: ext_session_lock_surface_v1::Request,
        _data: &LockSurfaceData,
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let ext_session_lock_surface_v1::Request::AckConfigure { serial } = request else { return };
        if lock::acknowledge(state, object, serial).is_err() {
            let message = format!("{serial} is no configure that waits to be acknowledged");
            object.post_error(Error::InvalidSerial, message);
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, object: &ExtSessionLockSurfaceV1, data: &LockSurfaceData) {
        lock::surface_role_destroyed(state, object, &data.surface);
    }
}
