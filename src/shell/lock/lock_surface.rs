//! Surfaces of a locker (`ext_session_lock_surface_v1`), each as large as its output.
//!
//! A surface may only commit content of a configured size. An acknowledged configure takes effect with the next commit,
//! which may wait in the content-update queue.

use std::collections::VecDeque;

use smithay::output::Output;
use smithay::reexports::wayland_protocols::ext::session_lock::v1::server::ext_session_lock_surface_v1::{
    Error, ExtSessionLockSurfaceV1,
};
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{DisplayHandle, Resource};
use smithay::utils::{Logical, SERIAL_COUNTER, Size};
use smithay::wayland::compositor::{self, BufferAssignment, Cacheable, SurfaceAttributes};

use super::LockId;
use crate::guard;
use crate::shell::geometry;
use crate::state::State;
use crate::surface::render_state;

/// Unanswered configures that are remembered; older ones are forgotten. No output changes faster than a locker answers.
const MOST_UNANSWERED: usize = 64;

#[derive(Debug)]
pub(super) struct LockSurface {
    /// The lock that it belongs to; `None` if the lock was refused.
    pub by: Option<LockId>,
    pub surface: WlSurface,
    pub output: Output,
    object: ExtSessionLockSurfaceV1,
    /// Whether its output is plugged in.
    pub is_output_connected: bool,
    /// Whether it has content.
    pub mapped: bool,
    /// Serials and sizes of unanswered configures, newest last.
    unanswered: VecDeque<(u32, Size<i32, Logical>)>,
    sent_size: Option<Size<i32, Logical>>,
    acknowledged: bool,
    attached: bool,
    /// The acknowledged size, which its content must have.
    size: Option<Size<i32, Logical>>,
}

/// The client acknowledged a configure that was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownLockConfigure;

/// The size that was acknowledged since the previous commit, if any.
#[derive(Clone, Copy, Debug, Default)]
struct AcknowledgedLockSize(Option<Size<i32, Logical>>);

impl Cacheable for AcknowledgedLockSize {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        AcknowledgedLockSize(self.0.take())
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        if self.0.is_some() {
            *into = self;
        }
    }
}

impl LockSurface {
    pub fn new(by: Option<LockId>, surface: WlSurface, output: Output, object: ExtSessionLockSurfaceV1) -> Self {
        LockSurface {
            by,
            surface,
            output,
            object,
            is_output_connected: true,
            mapped: false,
            unanswered: VecDeque::new(),
            sent_size: None,
            acknowledged: false,
            attached: false,
            size: None,
        }
    }

    /// Whether `object` is the role object of this surface.
    pub fn has_object(&self, object: &ExtSessionLockSurfaceV1) -> bool {
        self.object == *object
    }

    /// Sends the size of the output, if it has changed and the lock was not refused. Returns whether it was sent.
    pub fn configure(&mut self) -> bool {
        let size = geometry(&self.output).size;
        if self.by.is_none() || !self.is_output_connected || self.sent_size == Some(size) {
            return false;
        }
        let serial = u32::from(SERIAL_COUNTER.next_serial());
        let side = |length: i32| u32::try_from(length).unwrap_or(0);
        self.object.configure(serial, side(size.w), side(size.h));
        self.sent_size = Some(size);
        if self.unanswered.len() == MOST_UNANSWERED {
            self.unanswered.pop_front();
        }
        self.unanswered.push_back((serial, size));
        true
    }

    /// Called after an update was applied: its content must have the size that was acknowledged with it.
    pub fn check_size(&mut self) {
        let acknowledged = guard::with_states(&self.surface, |states| {
            states.cached_state.get::<AcknowledgedLockSize>().current().0.take()
        });
        self.size = acknowledged.or(self.size);
        let shown = render_state::look(&self.surface, |showing| showing.cut().map(|cut| cut.size)).flatten();
        let (Some(size), Some(shown)) = (self.size, shown) else { return };
        if size != shown && self.by.is_some() {
            let message =
                format!("a lock surface has the size {}x{} instead of {}x{}", shown.w, shown.h, size.w, size.h);
            self.object.post_error(Error::DimensionsMismatch, message);
        }
    }
}

/// Handles `ack_configure`: the size that was sent with `serial` takes effect with the next commit.
///
/// # Errors
/// No size was sent with this serial, or a newer size was acknowledged already.
pub fn acknowledge(
    state: &mut State,
    object: &ExtSessionLockSurfaceV1,
    serial: u32,
) -> Result<(), UnknownLockConfigure> {
    let held = state.shell.lock.surfaces.iter_mut().find(|held| held.object == *object).ok_or(UnknownLockConfigure)?;
    let place = held.unanswered.iter().position(|(sent, _)| *sent == serial).ok_or(UnknownLockConfigure)?;
    let (_, size) = held.unanswered.drain(..=place).next_back().ok_or(UnknownLockConfigure)?;
    held.acknowledged = true;
    guard::with_states(&held.surface, |states| {
        states.cached_state.get::<AcknowledgedLockSize>().pending().0 = Some(size);
    });
    Ok(())
}

/// Marks a surface that has the commit hook.
struct LockCommitHook;

/// Adds the commit hook to a surface that was given the role.
pub(super) fn watch(surface: &WlSurface) {
    let is_new = guard::with_states(surface, |states| states.data_map.insert_if_missing_threadsafe(|| LockCommitHook));
    if is_new {
        compositor::add_pre_commit_hook::<State, _>(surface, check_commit);
    }
}

/// Checks a commit against the protocol before it takes effect.
fn check_commit(state: &mut State, _display: &DisplayHandle, surface: &WlSurface) {
    let Some(held) = state.shell.lock.of_root(surface) else { return };
    if !held.acknowledged {
        let message = "a lock surface was committed before the first configure was acknowledged";
        return held.object.post_error(Error::CommitBeforeFirstAck, message);
    }
    let attaches =
        guard::with_states(surface, |states| match &states.cached_state.get::<SurfaceAttributes>().pending().buffer {
            Some(BufferAssignment::NewBuffer(_)) => Some(true),
            Some(BufferAssignment::Removed) => Some(false),
            None => None,
        });
    held.attached = attaches.unwrap_or(held.attached);
    if !held.attached {
        held.object.post_error(Error::NullBuffer, "a lock surface was committed without a buffer");
    }
}
