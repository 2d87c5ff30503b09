//! `zwlr_output_manager_v1` 4: a client sees outputs and arranges them (wlr-randr, kanshi).
//!
//! A configuration is tested as a whole before anything of it is done (`plan`), and refused as a whole, with the reason in
//! the log. An output that is disabled is taken out of the layout: to other clients and to windows it is unplugged
//! ([`parking`]).
//!
//! ```text
//!   heads ─► client ─► configuration(serial) ─┬─ the layout has changed since ──► cancelled
//!                                             ├─ cannot be ─────────────────────► failed; nothing was done
//!                                             ├─ a driver refuses a mode, or ──► all is as before: failed
//!                                             │  says nothing in time
//!                                             └─ seen on the screens ──────────► succeeded, heads, done(serial + 1)
//! ```
//!
//! Each change takes all clients' time: some are applied at once, and then one a second (`seldom`). Who applies more waits.
//!
//! Whether a display takes a mode is known when a frame of it was seen ([`mode_switch`](crate::output::mode_switch)). Until
//! then nobody is told of anything in between, and what others apply meanwhile is cancelled: they hear `done` after, and may
//! try again.

mod configuration;
mod heads;
mod plan;

use std::collections::VecDeque;

use smithay::reexports::wayland_protocols_wlr::output_management::v1::server::zwlr_output_manager_v1::{
    self, ZwlrOutputManagerV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New};

use super::seldom::Seldom;
use crate::guard::Handlers;
use crate::output::parking;
use crate::shell::ShellRevision;
use crate::state::State;
use configuration::{Configuration, Wanted};
use heads::{Look, Manager};
use upbeat_timing::time::{Clock, Instant};

const VERSION: u32 = 4;

/// The global, and the clients that listen.
#[derive(Debug)]
pub struct OutputManagement {
    _global: GlobalId,
    managers: Vec<Manager>,
    /// What they were told last.
    told: Vec<Look>,
    /// Names that.
    serial: u32,
    /// What it follows from.
    basis: Option<Basis>,
    /// How many configurations were applied.
    applied: u32,
    /// Which of them is being applied.
    applies: Option<u32>,
    /// Another was cancelled for that.
    cancelled: bool,
    /// How often one is applied.
    often: Seldom,
    /// What is to be applied, and waits for that.
    waiting: VecDeque<Wanted>,
    /// When the first of it is applied.
    due: Option<Instant>,
}

/// What the looks of outputs follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Basis {
    changes: ShellRevision,
    parked: usize,
}

impl OutputManagement {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZwlrOutputManagerV1, ()>(VERSION, ());
        OutputManagement {
            _global: global,
            managers: Vec::new(),
            told: Vec::new(),
            serial: 1,
            basis: None,
            applied: 0,
            applies: None,
            cancelled: false,
            often: Seldom::default(),
            waiting: VecDeque::new(),
            due: None,
        }
    }

    /// A configuration is being applied from now on. Returns its number.
    fn begin(&mut self) -> u32 {
        self.applied = self.applied.wrapping_add(1);
        self.applies = Some(self.applied);
        self.applied
    }

    /// What waits is looked at in the next turn: it is cancelled where the outputs have changed.
    fn look_at_waiting(&mut self) {
        if !self.waiting.is_empty() {
            self.due = Some(Instant::ZERO);
        }
    }

    /// That with this number was, or all is as before.
    fn end(&mut self, number: u32) {
        if self.applies == Some(number) {
            self.give_up();
        }
    }

    /// Whatever was being applied: a bug came between.
    pub(super) fn give_up(&mut self) {
        self.applies = None;
        if std::mem::take(&mut self.cancelled) {
            // Whoever was cancelled waits to hear how all is.
            self.serial = self.serial.wrapping_add(1);
            self.basis = None;
        }
        self.look_at_waiting();
    }
}

/// Applies what waits, if it is time.
pub fn attend(state: &mut State) {
    if state.protocols.output_management.due.is_some_and(|due| due <= state.clock.now()) {
        configuration::apply_waiting(state);
    }
}

/// When the next configuration is applied that waits for that.
pub fn next(state: &State) -> Option<Instant> {
    state.protocols.output_management.due
}

/// Tells of everything that changed since the last call.
pub(super) fn refresh(state: &mut State) {
    if !state.outputs.parked().is_empty() {
        parking::forget_gone(state);
    }
    if state.protocols.output_management.managers.is_empty() {
        state.protocols.output_management.basis = None;
        return;
    }
    if state.protocols.output_management.applies.is_some() {
        return;
    }
    let basis = Basis { changes: state.shell.changes(), parked: state.outputs.parked().len() };
    if state.protocols.output_management.basis.replace(basis) == Some(basis) {
        return;
    }
    let looks = heads::all(state);
    let State { protocols, display_handle, .. } = state;
    let management = &mut protocols.output_management;
    if looks != management.told {
        management.serial = management.serial.wrapping_add(1);
        management.told = looks;
        management.look_at_waiting();
    }
    for manager in &mut management.managers {
        manager.tell(&management.told, management.serial, display_handle);
    }
}

impl GlobalDispatch<ZwlrOutputManagerV1, (), State> for Handlers {
    fn bind(
        state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwlrOutputManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        let management = &mut state.protocols.output_management;
        management.managers.push(Manager::new(init.init(manager, ())));
        // It hears of all there are with this turn.
        management.basis = None;
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ZwlrOutputManagerV1>(&client)
    }
}

impl Dispatch<ZwlrOutputManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        manager: &ZwlrOutputManagerV1,
        request: zwlr_output_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        match request {
            zwlr_output_manager_v1::Request::CreateConfiguration { id, serial } => {
                init.init(id, Configuration::new(serial));
            }
            zwlr_output_manager_v1::Request::Stop => {
                state.protocols.output_management.managers.retain(|known| !known.is(manager));
                manager.finished();
            }
            _ => {}
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, manager: &ZwlrOutputManagerV1, _data: &()) {
        state.protocols.output_management.managers.retain(|known| !known.is(manager));
    }
}
