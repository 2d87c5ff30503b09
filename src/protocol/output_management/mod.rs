//! `zwlr_output_manager_v1` 4: a client lists outputs and configures them (wlr-randr, kanshi).
//!
//! A configuration is tested as a whole before any part of it is applied (`transaction`), and refused as a whole, with
//! the reason in the log. A disabled output is removed from the layout: other clients and windows see it as unplugged
//! ([`parking`]).
//!
//! ```text
//!   heads ─► client ─► configuration(serial) ─┬─ the layout has changed since ──► cancelled
//!                                             ├─ the test fails ────────────────► failed; nothing was done
//!                                             ├─ a driver refuses a mode, or ──► everything is undone: failed
//!                                             │  does not answer in time
//!                                             └─ shown on the screens ─────────► succeeded, heads, done(serial + 1)
//! ```
//!
//! A test asks the drivers about other modes of outputs in the layout, each output by itself, by a test commit. The modes
//! of disabled outputs are compared with their lists alone.
//!
//! Each change costs all clients time, so after a few at once only one a second is applied (`request_rate_limit`).
//! Further ones wait.
//!
//! Whether a display accepts a mode, or can be enabled, is known once it has shown a frame ([`mode_switch`](crate::output::mode_switch)).
//! Until then no intermediate state is sent, and configurations of other clients are cancelled. These clients get
//! `done` afterwards, and may try again.

mod configuration;
mod heads;
mod repeated_positions;
mod transaction;
mod unknown_state;

use std::collections::VecDeque;

use smithay::reexports::wayland_protocols_wlr::output_management::v1::server::zwlr_output_manager_v1::{
    self, ZwlrOutputManagerV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New};

use super::request_rate_limit::RequestRateLimit;
use crate::guard::Handlers;
use crate::output::parking;
use crate::shell::ShellRevision;
use crate::state::State;
use configuration::{OutputConfiguration, WaitingConfiguration};
use heads::{OutputHeadState, OutputHeadsManager};
use upbeat_timing::time::{Clock, Instant};

const VERSION: u32 = 4;

/// The global, its managers, and the configurations that wait.
#[derive(Debug)]
pub struct OutputManagement {
    _global: GlobalId,
    managers: Vec<OutputHeadsManager>,
    /// The state of outputs that was sent last.
    sent: Vec<OutputHeadState>,
    /// Serial of that state.
    serial: u32,
    /// The revisions that it was made from; `None`: look at the outputs again.
    basis: Option<HeadsBasis>,
    /// How many configurations were applied.
    applied: u32,
    /// Number of the configuration that is being applied.
    applying: Option<u32>,
    /// Another configuration was cancelled because of it.
    cancelled: bool,
    /// Rate limit for applying configurations.
    rate_limit: RequestRateLimit,
    /// Configurations that wait for the rate limit.
    waiting: VecDeque<WaitingConfiguration>,
    /// When the rate limit allows the first of them.
    due: Option<Instant>,
}

/// The revisions that the state of outputs is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HeadsBasis {
    changes: ShellRevision,
    parked: usize,
}

impl OutputManagement {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZwlrOutputManagerV1, ()>(VERSION, ());
        OutputManagement {
            _global: global,
            managers: Vec::new(),
            sent: Vec::new(),
            serial: 1,
            basis: None,
            applied: 0,
            applying: None,
            cancelled: false,
            rate_limit: RequestRateLimit::default(),
            waiting: VecDeque::new(),
            due: None,
        }
    }

    /// Begins to apply a configuration. Returns its number.
    fn begin(&mut self) -> u32 {
        self.applied = self.applied.wrapping_add(1);
        self.applying = Some(self.applied);
        self.applied
    }

    /// Makes waiting configurations be checked in the next turn, since those made for an older state must be cancelled.
    fn recheck_waiting(&mut self) {
        if !self.waiting.is_empty() {
            self.due = Some(Instant::ZERO);
        }
    }

    /// The configuration with this number was applied or undone.
    fn end(&mut self, number: u32) {
        if self.applying == Some(number) {
            self.finish();
        }
    }

    /// Ends the configuration that is being applied, also after a panic in between.
    pub(super) fn finish(&mut self) {
        self.applying = None;
        if std::mem::take(&mut self.cancelled) {
            // A cancelled client waits for a `done` with a new serial.
            self.serial = self.serial.wrapping_add(1);
            self.basis = None;
        }
        self.recheck_waiting();
    }
}

/// Applies waiting configurations that are due.
pub fn apply_due(state: &mut State) {
    if state.protocols.output_management.due.is_some_and(|due| due <= state.clock.now()) {
        configuration::apply_waiting(state);
    }
}

/// When the next waiting configuration is due.
pub fn next_due(state: &State) -> Option<Instant> {
    state.protocols.output_management.due
}

/// Sends all changes since the last call, unless a configuration is being applied.
pub(super) fn refresh(state: &mut State) {
    if !state.outputs.parked().is_empty() {
        parking::forget_gone(state);
    }
    if state.protocols.output_management.managers.is_empty() {
        state.protocols.output_management.basis = None;
        return;
    }
    if state.protocols.output_management.applying.is_some() {
        return;
    }
    let basis = HeadsBasis { changes: state.shell.changes(), parked: state.outputs.parked().len() };
    if state.protocols.output_management.basis.replace(basis) == Some(basis) {
        return;
    }
    let looks = heads::output_states(state);
    let State { protocols, display_handle, .. } = state;
    let management = &mut protocols.output_management;
    if looks != management.sent {
        management.serial = management.serial.wrapping_add(1);
        management.sent = looks;
        management.recheck_waiting();
    }
    for manager in &mut management.managers {
        manager.send_changes(&management.sent, management.serial, display_handle);
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
        management.managers.push(OutputHeadsManager::new(init.init(manager, ())));
        // Makes this turn's refresh send all outputs to the new manager.
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
                init.init(id, OutputConfiguration::new(serial));
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
