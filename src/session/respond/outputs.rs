//! Answers of the private socket about outputs, and requests that change them.

use super::{ResponseOrReason, find_output, virtual_outputs};
use crate::backend::EdidIdentity;
use crate::bounds::{MAX_EXTENT, coordinate};
use crate::config::OutputScale;
use crate::ipc::{RequestOutcome, Ticket};
use crate::output::hotplug;
use crate::output::mode_switch::{self, RequestedMode};
use crate::output::parking::Parked;
use crate::output::{self, OutputState};
use crate::output_transform::{OutputTransform, UnknownTransform};
use crate::render::Renderer;
use crate::session::virtual_outputs::{VirtualOutput, mode_of};
use crate::shell::workspace_actions;
use crate::state::State;
use upbeat_record::ipc::message::{
    DisabledOutput, LogicalRect, OutputInfo, OutputMode, RefreshRate, Response, ScanTiming, VirtualMonitor, event,
};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Clock, Instant};

pub(super) fn all(state: &State) -> Vec<OutputInfo> {
    let now = state.clock.now();
    state.outputs.states().map(|output| describe(state, output, now)).collect()
}

/// The outputs that are not part of the layout.
pub(super) fn disabled(state: &State) -> Vec<DisabledOutput> {
    let describe = |parked: &Parked| DisabledOutput {
        name: parked.display().name().to_owned(),
        mode: mode_of(parked.display()),
        monitor: parked.display().identity().map(|identity| identity.to_string()),
        enabled: false,
    };
    state.outputs.parked().iter().map(describe).collect()
}

/// All outputs, without the values that change with each frame.
pub(super) fn states(state: &State) -> Vec<event::OutputState> {
    let states = state.outputs.states().map(|known| event::OutputState {
        name: known.output().name(),
        mode: mode_of(known.display()),
        geometry: rect(output::geometry(known.output())),
        scale: known.output().current_scale().fractional_scale(),
        transform: output::turn_of(known.output()).to_string(),
        on: known.is_on(),
    });
    states.collect()
}

pub(super) fn one(state: &State, id: OutputId) -> Option<OutputInfo> {
    Some(describe(state, state.outputs.by_id(id)?, state.clock.now()))
}

/// The output that has the focus, as for shortcuts.
pub(in crate::session) fn focused(state: &State) -> Option<OutputId> {
    let name = state.shell.workspaces().name(workspace_actions::current_screen(state)?)?;
    state.outputs.states().find(|known| known.output().name() == name).map(|known| known.id())
}

fn describe(state: &State, known: &OutputState, now: Instant) -> OutputInfo {
    let machine = known.conductor().output();
    OutputInfo {
        name: known.output().name(),
        mode: mode_of(known.display()),
        geometry: rect(output::geometry(known.output())),
        scale: known.output().current_scale().fractional_scale(),
        scale_is_guessed: known.guesses_scale(),
        transform: output::turn_of(known.output()).to_string(),
        rotation: state.session.rotation.describe(known.id()),
        monitor: known.display().identity().map(|identity| identity.to_string()),
        on: known.is_on(),
        wish: known.wish().unwrap_or(state.outputs.rules().default_wish()),
        pacing: known.pacing(),
        interval: machine.vsync().interval(),
        vsync_error: machine.vsync().is_usable().then(|| machine.vsync().error(now)),
        submit_lead: machine.submit_lead(),
        compose_budget: machine.compose_budget(),
        scan: known.display().capabilities().scan.map(|beam| ScanTiming {
            lines: beam.lines(),
            line_time: beam.line_time(),
            direction: beam.direction,
        }),
        drawn_by: state.outputs.renderer().map_or_else(|| "no renderer".to_owned(), Renderer::describe),
        driver: known.display().driver_features().cloned(),
    }
}

/// A rectangle as the private socket sends it.
pub(super) fn rect(area: smithay::utils::Rectangle<i32, smithay::utils::Logical>) -> LogicalRect {
    LogicalRect { x: area.loc.x, y: area.loc.y, width: area.size.w, height: area.size.h }
}

/// Longest text of an identity, in bytes: as long as in an EDID descriptor.
const LONGEST_IDENTITY: usize = 13;

/// Plugs in a virtual output.
pub(super) fn plug_in(
    state: &mut State,
    mode: OutputMode,
    connector: Option<String>,
    monitor: Option<VirtualMonitor>,
) -> ResponseOrReason {
    let monitor = monitor.map(|VirtualMonitor { make, model, serial }| EdidIdentity { make, model, serial });
    if let Some(EdidIdentity { make, model, serial }) = &monitor {
        let is_fit = |text: &String| {
            let is_printable = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
            (1..=LONGEST_IDENTITY).contains(&text.len()) && is_printable && text.trim() == text
        };
        if ![make, model].into_iter().chain(serial).all(is_fit) {
            return Err(format!("make, model and serial have 1 to {LONGEST_IDENTITY} printable ASCII characters"));
        }
    }
    let new = VirtualOutput { mode: Some(mode), connector, monitor };
    let id = virtual_outputs::plug_in(state, new).map_err(|error| format!("{error:#}"))?;
    Ok(Response::Outputs { outputs: one(state, id).into_iter().collect(), disabled: Vec::new() })
}

pub(super) fn set_scale(state: &mut State, name: &str, scale: f64) -> ResponseOrReason {
    let id = find_output(state, name)?;
    let scale = OutputScale::try_from(scale).map_err(|error| error.to_string())?;
    hotplug::arrange(state, id, None, scale.factor());
    Ok(Response::Done)
}

/// Moves an output to a position (global logical coordinates).
pub(super) fn set_position(state: &mut State, name: &str, (x, y): (i32, i32)) -> ResponseOrReason {
    let id = find_output(state, name)?;
    if (coordinate(x), coordinate(y)) != (x, y) {
        return Err(format!("{name}: a position lies between -{MAX_EXTENT} and {MAX_EXTENT}"));
    }
    let Some(known) = state.outputs.by_id(id) else { return Err(format!("{name} is gone")) };
    let scale = known.output().current_scale().fractional_scale();
    hotplug::arrange(state, id, Some((x, y)), scale);
    Ok(Response::Done)
}

pub(super) fn set_transform(state: &mut State, name: &str, transform: &str) -> ResponseOrReason {
    let id = find_output(state, name)?;
    let turn: OutputTransform = transform.parse().map_err(|error: UnknownTransform| error.to_string())?;
    hotplug::set_transform(state, id, turn);
    Ok(Response::Done)
}

/// Lets the rate of an output vary from `slowest` hertz up, or makes it fixed.
pub(super) fn set_vrr(
    state: &mut State,
    name: &str,
    wanted: (bool, Option<f64>),
    ticket: &Ticket<'_>,
) -> RequestOutcome {
    let asked = mode_with_vrr(state, name, wanted).and_then(|mode| virtual_outputs::set_mode(state, name, mode));
    answer_later(state, asked, ticket)
}

/// The mode of an output, with a variable or a fixed rate.
fn mode_with_vrr(state: &State, name: &str, (on, slowest): (bool, Option<f64>)) -> Result<OutputMode, String> {
    let id = find_output(state, name)?;
    let Some(known) = state.outputs.by_id(id) else { return Err(format!("{name} is gone")) };
    // A mode that was requested before stays requested.
    let coming = mode_switch::coming_mode(&state.outputs, id).unwrap_or_else(|| known.display().mode());
    let fastest = coming.refresh;
    let usual = f64::from(mode_switch::usual_limit(known));
    let slowest = slowest.map_or(usual, |slowest| (slowest * 1e3).round());
    let refresh = match on {
        false => RefreshRate::Fixed(fastest),
        true if (1.0..f64::from(fastest)).contains(&slowest) => {
            RefreshRate::Variable { slowest: slowest as u32, fastest }
        }
        true => return Err(format!("{name}: a lowest rate below {} Hz was expected", f64::from(fastest) / 1e3)),
    };
    Ok(OutputMode { width: coming.width.max(1) as u32, height: coming.height.max(1) as u32, refresh })
}

/// Answers when the driver has accepted or refused the new modes; at once if they could not be requested.
pub(super) fn answer_later(
    state: &mut State,
    asked: Result<Vec<RequestedMode>, String>,
    ticket: &Ticket<'_>,
) -> RequestOutcome {
    let asked = match asked {
        Ok(asked) => asked,
        Err(sentence) => return RequestOutcome::refused(sentence),
    };
    let completion = ticket.completion();
    let then = move |_: &mut State, result: Result<(), String>| completion.finish(result.map(|()| Response::Done));
    mode_switch::wait(state, asked, Box::new(then));
    RequestOutcome::Pending
}
