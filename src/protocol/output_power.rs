//! `zwlr_output_power_manager_v1` 1: a client switches outputs on and off (wlopm, swayidle's commands).
//!
//! Several clients may do so for one output. The last request counts, and all clients get each change, whoever switched
//! the output. An object whose output is gone is sent `failed` and does nothing from then on.

use smithay::output::Output;
use smithay::reexports::wayland_protocols_wlr::output_power_management::v1::server::zwlr_output_power_manager_v1::{
    self, ZwlrOutputPowerManagerV1,
};
use smithay::reexports::wayland_protocols_wlr::output_power_management::v1::server::zwlr_output_power_v1::{
    self, Error, Mode, ZwlrOutputPowerV1,
};
use smithay::reexports::wayland_server::backend::{ClientId, GlobalId};
use smithay::reexports::wayland_server::{
    Client, DataInit, Dispatch, DisplayHandle, GlobalDispatch, New, Resource, WEnum,
};

use super::request_rate_limit::RequestRateLimit;
use crate::guard::Handlers;
use crate::output::{hotplug, power};
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Clock, Instant};

const VERSION: u32 = 1;

/// The global, its objects, and the requests that wait.
#[derive(Debug)]
pub struct OutputPower {
    _global: GlobalId,
    controls: Vec<OutputPowerControl>,
    /// Rate limit for switching outputs.
    rate_limit: RequestRateLimit,
    /// Requests that wait for the rate limit, the newest for each output.
    waiting: Vec<OutputPowerRequest>,
    /// When the rate limit allows the first of them.
    due: Option<Instant>,
}

/// A request to switch an output on or off.
#[derive(Clone, Copy, Debug)]
struct OutputPowerRequest {
    output: OutputId,
    on: bool,
    /// Whether the output was to be on when the request came.
    was_on: bool,
}

#[derive(Debug)]
struct OutputPowerControl {
    object: ZwlrOutputPowerV1,
    output: OutputId,
    /// The mode that was sent last.
    sent: bool,
}

impl OutputPower {
    pub(super) fn new(display: &DisplayHandle) -> Self {
        let global = display.create_global::<State, ZwlrOutputPowerManagerV1, ()>(VERSION, ());
        OutputPower {
            _global: global,
            controls: Vec::new(),
            rate_limit: RequestRateLimit::default(),
            waiting: Vec::new(),
            due: None,
        }
    }
}

/// Sends changed modes, and `failed` for outputs that are gone.
pub(super) fn refresh(state: &mut State) {
    let State { protocols, outputs, .. } = state;
    protocols.output_power.controls.retain_mut(|watched| {
        let Some(is_on) = outputs.by_id(watched.output).map(|output| output.is_on()) else {
            watched.object.failed();
            return false;
        };
        if std::mem::replace(&mut watched.sent, is_on) != is_on {
            watched.object.mode(mode(is_on));
        }
        true
    });
}

/// Switches an output at once, unless that exceeds the rate limit. Then the last request for the output waits.
fn queue_request(state: &mut State, output: OutputId, on: bool) {
    let was_on = is_wanted_on(state, output);
    let waiting = &mut state.protocols.output_power.waiting;
    waiting.retain(|other| other.output != output);
    waiting.push(OutputPowerRequest { output, on, was_on });
    apply_waiting(state);
}

/// Whether an output is on, or would be if its renderer worked.
fn is_wanted_on(state: &State, output: OutputId) -> bool {
    power::wanted(state).contains(&output)
}

/// Carries out waiting requests as far as the rate limit allows.
fn apply_waiting(state: &mut State) {
    loop {
        let now = state.clock.now();
        state.protocols.output_power.due = None;
        let Some(&OutputPowerRequest { output, on, was_on }) = state.protocols.output_power.waiting.first() else {
            return;
        };
        let is_on = is_wanted_on(state, output);
        let is_gone = state.outputs.by_id(output).is_none();
        let switched = &mut state.protocols.output_power;
        if is_gone || is_on != was_on {
            // The output was switched since by the user or otherwise: that was the last word.
            switched.waiting.remove(0);
            continue;
        }
        let is_other = is_on != on;
        if is_other && let Err(wait) = switched.rate_limit.take(now) {
            switched.due = Some(now + wait);
            return;
        }
        switched.waiting.remove(0);
        // Also if it is so already: the output may be dark for another reason, which ends with this.
        power::set(state, output, on);
    }
}

/// Carries out waiting requests that are due.
pub fn apply_due(state: &mut State) {
    if state.protocols.output_power.due.is_some_and(|due| due <= state.clock.now()) {
        apply_waiting(state);
    }
}

/// When the next waiting request is due.
pub fn next_due(state: &State) -> Option<Instant> {
    state.protocols.output_power.due
}

fn mode(is_on: bool) -> Mode {
    if is_on { Mode::On } else { Mode::Off }
}

impl GlobalDispatch<ZwlrOutputPowerManagerV1, (), State> for Handlers {
    fn bind(
        _state: &mut State,
        _display: &DisplayHandle,
        _client: &Client,
        manager: New<ZwlrOutputPowerManagerV1>,
        _data: &(),
        init: &mut DataInit<'_, State>,
    ) {
        init.init(manager, ());
    }

    fn can_view(client: Client, _data: &()) -> bool {
        super::privileges::may_bind::<ZwlrOutputPowerManagerV1>(&client)
    }
}

impl Dispatch<ZwlrOutputPowerManagerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        _manager: &ZwlrOutputPowerManagerV1,
        request: zwlr_output_power_manager_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let zwlr_output_power_manager_v1::Request::GetOutputPower { id, output } = request else { return };
        let object = init.init(id, ());
        let known = Output::from_resource(&output).filter(|output| state.outputs.iter().any(|known| known == output));
        let known = known.and_then(|output| hotplug::by_name(state, &output.name()));
        let Some(output) = known.and_then(|id| state.outputs.by_id(id)) else {
            object.failed();
            return;
        };
        object.mode(mode(output.is_on()));
        let watched = OutputPowerControl { object, output: output.id(), sent: output.is_on() };
        state.protocols.output_power.controls.push(watched);
    }
}

impl Dispatch<ZwlrOutputPowerV1, (), State> for Handlers {
    fn request(
        state: &mut State,
        _client: &Client,
        object: &ZwlrOutputPowerV1,
        request: zwlr_output_power_v1::Request,
        _data: &(),
        _display: &DisplayHandle,
        _init: &mut DataInit<'_, State>,
    ) {
        let zwlr_output_power_v1::Request::SetMode { mode } = request else { return };
        let on = match mode {
            WEnum::Value(Mode::On) => true,
            WEnum::Value(Mode::Off) => false,
            other => return object.post_error(Error::InvalidMode, format!("there is no mode {other:?}")),
        };
        let watched = &state.protocols.output_power.controls;
        if let Some(output) = watched.iter().find(|watched| watched.object == *object).map(|watched| watched.output) {
            queue_request(state, output, on);
        }
    }

    fn destroyed(state: &mut State, _client: ClientId, object: &ZwlrOutputPowerV1, _data: &()) {
        state.protocols.output_power.controls.retain(|watched| watched.object != *object);
    }
}
