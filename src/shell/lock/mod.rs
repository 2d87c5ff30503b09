//! The session lock: its state ([`machine`]), and the locker's surfaces, one for each output.
//!
//! While the session is locked, outputs only show surfaces of [`seen_on`](Lock::seen_on), and the seat only gives input
//! to surfaces of the locker ([`lets`](Lock::lets)). The outputs find out when all of them show the lock and nothing
//! older. Then the protocol sends `locked`.

mod lock_surface;
pub mod machine;

use smithay::output::Output;
use smithay::reexports::wayland_protocols::ext::session_lock::v1::server::ext_session_lock_surface_v1::ExtSessionLockSurfaceV1;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use super::overview::Overlays;
use super::{hit, visit};
use crate::later;
use crate::shell::{Desk, Hand, geometry};
use crate::state::State;
use crate::surface;
use lock_surface::LockSurface;
pub use lock_surface::{NotSent, acknowledge};
pub use machine::LockId;
use machine::{Machine, NotLocked, Refused};
use upbeat_timing::time::{Clock, Instant};

#[derive(Debug, Default)]
pub struct Lock {
    machine: Machine,
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
    pub const fn is_to_be_told(&self) -> bool {
        self.machine.is_to_be_told()
    }

    /// Whether the client of `id` was sent `locked`, and the session is still locked by it.
    pub fn was_told(&self, id: LockId) -> bool {
        self.machine.was_told(id)
    }

    /// All outputs show the lock, and no older frame is in flight. Returns the lock whose client is to be sent
    /// `locked`.
    pub fn shown(&mut self) -> Option<LockId> {
        self.machine.shown()
    }

    /// The time at which [`attend`] is to be called next.
    pub const fn wake(&self) -> Option<Instant> {
        self.machine.wake()
    }

    /// Whether the lock allows `surface` to have input.
    pub fn lets(&self, surface: &WlSurface) -> bool {
        !self.takes_input() || self.held().any(|held| held.surface == surface::root(surface))
    }

    /// The surface that `output` shows while the session is locked.
    pub fn seen_on(&self, output: &Output) -> Option<&WlSurface> {
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
        self.surfaces.iter().filter(move |held| holder.is_some() && held.by == holder && held.is_there && held.mapped)
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
pub fn ask(state: &mut State) -> Result<LockId, Refused> {
    let id = state.shell.lock.machine.ask(state.clock.now())?;
    tracing::info!("the session is being locked");
    state.shell.overlays.put_away();
    state.let_go();
    state.need_all();
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
        visit::show_on(surface, &output);
    }
    let mut made = LockSurface::new(by, surface.clone(), output, object);
    made.is_there = is_there;
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
    let (output, is_shown) = (held.output.clone(), held.is_there && held.by.is_some());
    if is_shown {
        visit::show_on(root, &output);
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
    forget(state, surface, |held| held.is(object));
}

fn forget(state: &mut State, surface: &WlSurface, goes: impl Fn(&LockSurface) -> bool) {
    let count = state.shell.lock.surfaces.len();
    state.shell.lock.surfaces.retain(|held| !goes(held));
    if state.shell.lock.surfaces.len() != count && state.shell.lock.takes_input() {
        state.focus_lost(surface);
        state.need_all();
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
pub fn died(state: &mut State, id: LockId) {
    let covered = state.shell.lock.covers();
    if state.shell.lock.machine.died(id) {
        // Later, because the client's objects are being destroyed: an event that names one of them would panic in the
        // Wayland backend. Another locker may have asked by then; the steps are needed all the same.
        later::soon(state, move |state| {
            if state.shell.lock.takes_input() {
                orphaned(state, covered);
            }
        });
    }
}

fn opened(state: &mut State) {
    state.let_go();
    changed(state);
}

fn orphaned(state: &mut State, covered: bool) {
    tracing::warn!("the locker ended without unlocking: the session stays locked until another locker unlocks it");
    if !covered {
        state.cover();
    }
    changed(state);
}

/// Updates focus and outputs after a change of the surfaces that may be visible and get input.
fn changed(state: &mut State) {
    state.update_keyboard();
    state.refresh_focus();
    state.need_all();
}

/// Grants the lock once its locker has drawn on every output that is on.
fn advance(state: &mut State) {
    let lock = &state.shell.lock;
    if lock.wake().is_none() {
        return;
    }
    let is_drawn = state.outputs().filter(|output| state.is_lit(output)).all(|output| lock.seen_on(output).is_some());
    if is_drawn && state.shell.lock.machine.drawn() {
        state.cover();
    }
}

/// Grants the lock to a locker that has not drawn within the time limit.
pub fn attend(state: &mut State) {
    let now = state.clock.now();
    if state.shell.lock.machine.passed(now) {
        tracing::warn!("the locker has not drawn within a second: the session is locked with black outputs");
        state.cover();
    }
}

/// Called after an output was plugged, unplugged or resized.
pub(super) fn outputs_changed(state: &mut State) {
    let known: Vec<Output> = state.outputs().cloned().collect();
    for held in &mut state.shell.lock.surfaces {
        held.is_there = known.contains(&held.output);
        if held.is_there && held.configure() {
            visit::show_on(&held.surface, &held.output);
        }
    }
    if state.shell.lock.takes_input() {
        changed(state);
        advance(state);
    }
}

impl Overlays {
    /// Closes the overlays above the windows that take input.
    fn put_away(&mut self) {
        self.overview.set(false);
        self.help.set(false);
    }
}
