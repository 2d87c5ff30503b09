//! The session lock: its state ([`machine`]), and the locker's surfaces, one for each output.
//!
//! While the session is locked, outputs only show surfaces of [`surface_on`](Lock::surface_on), and the seat only gives
//! input to surfaces of the locker ([`allows_input`](Lock::allows_input)). The outputs find out when all of them show
//! the lock and nothing older. Then the protocol sends `locked`.

mod lock_surface;
pub mod machine;

use smithay::output::Output;
use smithay::reexports::wayland_protocols::ext::session_lock::v1::server::ext_session_lock_surface_v1::ExtSessionLockSurfaceV1;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use super::overview::Overlays;
use super::{hit, surface_outputs};
use crate::deferred_calls;
use crate::shell::{ShellOutputs, ShellSeat, geometry};
use crate::state::State;
use crate::surface;
use lock_surface::LockSurface;
pub use lock_surface::{UnknownLockConfigure, acknowledge};
pub use machine::LockId;
use machine::{AlreadyLocked, LockMachine, NotLocked};
use upbeat_timing::time::{Clock, Instant};

#[derive(Debug, Default)]
pub struct Lock {
    machine: LockMachine,
    surfaces: Vec<LockSurface>,
}

impl Lock {
    /// Whether only the locker, or no client, gets input.
    pub const fn takes_input(&self) -> bool {
        self.machine.takes_input()
    }

    /// Whether only the lock may be visible.
    pub const fn covers(&self) -> bool {
        self.machine.covers()
    }

    /// Whether its locker has ended without unlocking.
    pub const fn is_abandoned(&self) -> bool {
        self.machine.is_abandoned()
    }

    /// Whether the locker waits for `locked`, until all outputs show the lock.
    pub const fn awaits_confirmation(&self) -> bool {
        self.machine.awaits_confirmation()
    }

    /// Whether the client of `id` was sent `locked`, and the session is still locked by it.
    pub fn is_confirmed(&self, id: LockId) -> bool {
        self.machine.is_confirmed(id)
    }

    /// All outputs show the lock, and no older frame is in flight. Returns the lock whose client is to be sent
    /// `locked`.
    pub fn confirm_shown(&mut self) -> Option<LockId> {
        self.machine.confirm_shown()
    }

    /// The time at which [`check_time_limit`] is to be called next.
    pub const fn wake(&self) -> Option<Instant> {
        self.machine.wake()
    }

    /// Whether the lock allows `surface` to have input.
    pub fn allows_input(&self, surface: &WlSurface) -> bool {
        !self.takes_input() || self.held().any(|held| held.surface == surface::root(surface))
    }

    /// The surface that `output` shows while the session is locked.
    pub fn surface_on(&self, output: &Output) -> Option<&WlSurface> {
        self.held().find(|held| held.output == *output).map(|held| &held.surface)
    }

    /// The topmost surface of the locker that takes input at `point` (global logical coordinates), and its origin.
    pub fn hit(&self, point: Point<f64, Logical>) -> Option<(WlSurface, Point<f64, Logical>)> {
        let held = self.held().find(|held| geometry(&held.output).to_f64().contains(point))?;
        let (surface, local) = hit::hit_tree(&held.surface, point - geometry(&held.output).loc.to_f64())?;
        Some((surface, point - local))
    }

    /// The surface with the keyboard focus while the session is locked: the current one, or else the surface on the
    /// pointer's output, or else any.
    pub fn keyboard_target(&self, current: Option<&WlSurface>, pointer: Point<f64, Logical>) -> Option<WlSurface> {
        let keeps = self.held().find(|held| Some(&held.surface) == current);
        let pointed = || self.held().find(|held| geometry(&held.output).to_f64().contains(pointer));
        keeps.or_else(pointed).or_else(|| self.held().next()).map(|held| held.surface.clone())
    }

    /// Mapped surfaces of the lock in force, on connected outputs.
    fn held(&self) -> impl Iterator<Item = &LockSurface> {
        let holder = self.machine.holder();
        self.surfaces
            .iter()
            .filter(move |held| holder.is_some() && held.by == holder && held.is_output_connected && held.mapped)
    }

    fn of_root(&mut self, surface: &WlSurface) -> Option<&mut LockSurface> {
        self.surfaces.iter_mut().find(|held| held.surface == *surface)
    }

    /// Whether `id` has a surface for `output`.
    pub fn has_surface_on(&self, id: Option<LockId>, output: &Output) -> bool {
        id.is_some() && self.surfaces.iter().any(|held| held.by == id && held.output == *output)
    }

    /// Whether `surface` is a lock surface.
    pub fn is_surface(&self, surface: &WlSurface) -> bool {
        self.surfaces.iter().any(|held| held.surface == *surface)
    }

    /// Lock surfaces on `output`, for events that all surfaces of an output get, such as its scale.
    pub(super) fn roots_on<'a>(&'a self, output: &'a Output) -> impl Iterator<Item = &'a WlSurface> {
        self.surfaces.iter().filter(move |held| held.output == *output).map(|held| &held.surface)
    }
}

/// A client asks for the session lock. From now on it gets all input.
///
/// # Errors
/// Another client has the lock.
pub fn request(state: &mut State) -> Result<LockId, AlreadyLocked> {
    let id = state.shell.lock.machine.request(state.clock.now())?;
    tracing::info!("the session is being locked");
    state.shell.overlays.close_interactive();
    state.release_all_input();
    state.schedule_repaint_all();
    advance(state);
    Ok(id)
}

/// Handles a new lock surface for `output`. A surface without `by` is never shown.
pub fn new_surface(
    state: &mut State,
    by: Option<LockId>,
    surface: &WlSurface,
    output: Output,
    object: ExtSessionLockSurfaceV1,
) {
    let is_there = state.outputs().any(|known| *known == output);
    lock_surface::watch(surface);
    if is_there && by.is_some() {
        surface_outputs::send_enter(surface, &output);
    }
    let mut made = LockSurface::new(by, surface.clone(), output, object);
    made.is_output_connected = is_there;
    made.configure();
    state.shell.lock.surfaces.push(made);
}

/// Called after an update was applied to a surface in the tree of a lock surface.
pub(super) fn applied(state: &mut State, root: &WlSurface, is_root: bool) {
    let has_content = surface::has_content(root);
    let Some(held) = state.shell.lock.of_root(root) else { return };
    if is_root {
        held.check_size();
    }
    let was_mapped = std::mem::replace(&mut held.mapped, has_content);
    let (output, is_shown) = (held.output.clone(), held.is_output_connected && held.by.is_some());
    if is_shown {
        surface_outputs::send_enter(root, &output);
    }
    if was_mapped != has_content {
        changed(state);
        advance(state);
    }
}

/// Called when any surface is destroyed.
pub(super) fn surface_destroyed(state: &mut State, surface: &WlSurface) {
    forget(state, surface, |held| held.surface == *surface);
}

/// Called when the role object of a lock surface is destroyed.
pub fn surface_role_destroyed(state: &mut State, object: &ExtSessionLockSurfaceV1, surface: &WlSurface) {
    forget(state, surface, |held| held.has_object(object));
}

fn forget(state: &mut State, surface: &WlSurface, goes: impl Fn(&LockSurface) -> bool) {
    let count = state.shell.lock.surfaces.len();
    state.shell.lock.surfaces.retain(|held| !goes(held));
    if state.shell.lock.surfaces.len() != count && state.shell.lock.takes_input() {
        state.focus_lost(surface);
        state.schedule_repaint_all();
    }
}

/// The client of `id` unlocks the session.
///
/// # Errors
/// The client was not sent `locked`.
pub fn unlock(state: &mut State, id: LockId) -> Result<(), NotLocked> {
    state.shell.lock.machine.unlock(id)?;
    tracing::info!("the session is unlocked");
    opened(state);
    Ok(())
}

/// The client of `id` destroys the lock without unlocking.
pub fn give_up(state: &mut State, id: LockId) {
    let covered = state.shell.lock.covers();
    if !state.shell.lock.machine.give_up(id) {
        return;
    }
    if state.shell.lock.takes_input() { orphaned(state, covered) } else { opened(state) }
}

/// The client of `id` has disconnected: the session stays locked.
pub fn locker_died(state: &mut State, id: LockId) {
    let covered = state.shell.lock.covers();
    if state.shell.lock.machine.locker_died(id) {
        // Later, because the client's objects are being destroyed: an event that names one of them would panic in the
        // Wayland backend. Another locker may have asked by then; the steps are needed all the same.
        deferred_calls::queue(state, move |state| {
            if state.shell.lock.takes_input() {
                orphaned(state, covered);
            }
        });
    }
}

fn opened(state: &mut State) {
    state.release_all_input();
    changed(state);
}

fn orphaned(state: &mut State, covered: bool) {
    tracing::warn!("the locker ended without unlocking: the session stays locked until another locker unlocks it");
    if !covered {
        state.drop_unlocked_scenes();
    }
    changed(state);
}

/// Updates focus and outputs after a change of the surfaces that may be visible and get input.
fn changed(state: &mut State) {
    state.update_keyboard();
    state.refresh_focus();
    state.schedule_repaint_all();
}

/// Grants the lock once its locker has drawn on every output that is on.
fn advance(state: &mut State) {
    let lock = &state.shell.lock;
    if lock.wake().is_none() {
        return;
    }
    let is_drawn =
        state.outputs().filter(|output| state.is_output_on(output)).all(|output| lock.surface_on(output).is_some());
    if is_drawn && state.shell.lock.machine.locker_has_drawn() {
        state.drop_unlocked_scenes();
    }
}

/// Grants the lock to a locker that has not drawn within the time limit.
pub fn check_time_limit(state: &mut State) {
    if state.shell.lock.machine.wake().is_none() {
        return;
    }
    let now = state.clock.now();
    if state.shell.lock.machine.check_time_limit(now) {
        tracing::warn!("the locker has not drawn within a second: the session is locked with black outputs");
        state.drop_unlocked_scenes();
    }
}

/// Called after an output was plugged, unplugged or resized.
pub(super) fn outputs_changed(state: &mut State) {
    let known: Vec<Output> = state.outputs().cloned().collect();
    for held in &mut state.shell.lock.surfaces {
        held.is_output_connected = known.contains(&held.output);
        if held.is_output_connected && held.configure() {
            surface_outputs::send_enter(&held.surface, &held.output);
        }
    }
    if state.shell.lock.takes_input() {
        changed(state);
        advance(state);
    }
}

impl Overlays {
    /// Closes the overlays above the windows that take input.
    fn close_interactive(&mut self) {
        self.overview.set(false);
        self.help.set(false);
    }
}
