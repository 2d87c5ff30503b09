//! Groups of mode changes: either all are in effect, or all outputs keep their former modes.
//!
//! ```text
//!   set_mode … ─► wait ─┬─ all were presented ─────────────────────────────────────────────────► then(Ok)
//!                       └─ one is refused, or no answer in time ──► accepted modes are reverted ─► then(Err)
//! ```
//!
//! When a request fails, every output is back in its former mode. The exception is a driver that did not answer: it is
//! sent the former mode, too, but its answer is not awaited again.
//!
//! A display that refuses a mode reverts by itself. No thread blocks here: results arrive with the other display
//! events.
//!
//! Tests of modes are groups, too, which change nothing. An output that returns to the layout is awaited until it shows
//! its first frame.
//!
//! A later request for the same output is not reverted with an earlier one. If the later request fails, the output
//! returns to the mode before both.

use super::{OutputState, Outputs};
use crate::backend::{ModeId, RateLimit, VideoMode};
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Clock, Instant, Span};

/// How long a driver may take to answer. Link training takes a second or two, and a device trains its outputs in
/// sequence.
const LONGEST_WAIT: Span = Span::from_seconds(5);

/// Most tests of modes at a time. Each has buffers of its own.
const MOST_TESTS: usize = 8;

/// Called with the result of a group.
pub type ModeCallback = Box<dyn FnOnce(&mut State, Result<(), String>)>;

/// Lower limit in mHz of a variable rate that is switched on without a limit: most monitors support it.
pub const USUAL_SLOWEST: u32 = 48_000;

/// A mode to request for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputModeWish {
    pub output: OutputId,
    pub mode: VideoMode,
    /// The lower limit of a variable rate.
    pub slowest: RateLimit,
}

/// A requested mode change that its display may still refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedMode {
    pub output: OutputId,
    /// The display's id for the change; `None`: the mode can no longer be refused.
    pub mode: Option<ModeId>,
    /// The requested mode.
    pub wanted: VideoMode,
    /// The mode before the change.
    pub before: VideoMode,
    /// Lowest variable refresh rate in the former mode.
    pub slowest: Option<u32>,
}

/// One change of a group.
#[derive(Debug)]
struct PendingMode {
    asked: RequestedMode,
    /// The driver's answer; `None`: not known yet.
    result: Option<Result<(), String>>,
    /// An earlier change of this output failed while this one was pending. If the display refuses this mode, too,
    /// it reverts to a mode that was itself rejected, so the former mode must be set again.
    must_revert: bool,
}

impl PendingMode {
    fn is_refused(&self) -> bool {
        matches!(self.result, Some(Err(_)))
    }
}

/// Mode changes that succeed or fail together.
struct ModeGroup {
    pending: Vec<PendingMode>,
    /// Outputs that have returned to the layout, until they show a frame.
    returned: Vec<OutputId>,
    /// On failure there is no mode to revert to: the group restores former modes, or tests modes.
    is_final: bool,
    give_up: Instant,
    then: ModeCallback,
}

/// All pending mode changes.
#[derive(Default)]
pub(super) struct OutputModeSwitches {
    /// In order of request, the oldest first.
    groups: Vec<ModeGroup>,
    /// Tests of modes.
    tests: Vec<ModeGroup>,
}

impl OutputModeSwitches {
    /// When the next group times out.
    pub fn next_wake(&self) -> Option<Instant> {
        self.groups.iter().chain(&self.tests).map(|group| group.give_up).min()
    }

    /// Records a display's result for a mode change.
    pub fn record_result(&mut self, output: OutputId, mode: ModeId, result: &Result<(), String>) {
        let groups = self.groups.iter_mut().chain(&mut self.tests);
        for pending in groups.flat_map(|group| &mut group.pending) {
            if (pending.asked.output, pending.asked.mode) == (output, Some(mode)) {
                pending.result = Some(result.clone());
            }
        }
    }
}

/// Whether a mode change of this output is pending.
pub fn is_under_way(outputs: &Outputs, output: OutputId) -> bool {
    outputs.switches.groups.iter().flat_map(|group| &group.pending).any(|pending| pending.asked.output == output)
}

/// The mode that an output will have if its pending changes succeed; its current mode if none is pending. `None`: the
/// output is gone.
pub fn coming_mode(outputs: &Outputs, output: OutputId) -> Option<VideoMode> {
    let pending = outputs.switches.groups.iter().flat_map(|group| &group.pending);
    let newest = pending.rev().find(|pending| pending.asked.output == output).map(|pending| pending.asked.wanted);
    newest.or_else(|| outputs.by_id(output).map(|output| output.display.mode()))
}

/// The lower limit (mHz) for a variable rate that is switched on without a limit: the limit that the output has or had
/// last, or else a usual one.
pub fn usual_limit(output: &OutputState) -> u32 {
    output.display.slowest_rate().or(output.former_limit).unwrap_or(USUAL_SLOWEST)
}

/// Whether any mode change is pending.
pub fn is_any_under_way(outputs: &Outputs) -> bool {
    !outputs.switches.groups.is_empty()
}

/// Requests modes; on an error all outputs keep their modes. [`wait`] for the results.
///
/// # Errors
/// The message of the display that has no such mode.
pub fn request_modes(state: &mut State, wanted: &[OutputModeWish]) -> Result<Vec<RequestedMode>, String> {
    let mut asked = Vec::new();
    for OutputModeWish { output: id, mode: wanted, slowest: limit } in wanted {
        let Some(output) = state.outputs.by_id_mut(*id) else { continue };
        let (before, slowest) = (output.display.mode(), output.display.slowest_rate());
        match output.display.set_mode(*wanted, *limit) {
            Ok(mode) => asked.push(RequestedMode { output: *id, mode, wanted: *wanted, before, slowest }),
            Err(error) => {
                let error = format!("{}: {error}", output.output.name());
                asked.iter().for_each(|asked| _ = request_former_mode(&mut state.outputs, asked));
                return Err(error);
            }
        }
    }
    Ok(asked)
}

/// Calls `then` when the results of the requested modes are known: at once if none can be refused any more.
pub fn wait(state: &mut State, asked: Vec<RequestedMode>, then: ModeCallback) {
    wait_for_light(state, asked, Vec::new(), then);
}

/// As [`wait`], and waits until the outputs that have `returned` to the layout show a frame.
pub fn wait_for_light(state: &mut State, asked: Vec<RequestedMode>, returned: Vec<OutputId>, then: ModeCallback) {
    let give_up = state.clock.now() + LONGEST_WAIT;
    let group = ModeGroup { pending: pending(asked), returned, is_final: false, give_up, then };
    add_group(state, group, |switches| &mut switches.groups);
}

/// Asks the drivers whether they would take these modes, and calls `then` with the result.
pub fn test_modes(state: &mut State, wanted: &[OutputModeWish], then: ModeCallback) {
    if state.outputs.switches.tests.len() >= MOST_TESTS {
        return then(state, Err("too many tests of modes are under way".to_owned()));
    }
    let mut asked = Vec::new();
    for OutputModeWish { output: id, mode: wanted, .. } in wanted {
        let Some(output) = state.outputs.by_id_mut(*id) else { continue };
        let (before, slowest) = (output.display.mode(), output.display.slowest_rate());
        match output.display.test_mode(*wanted) {
            Ok(mode) => asked.push(RequestedMode { output: *id, mode, wanted: *wanted, before, slowest }),
            Err(error) => {
                let error = format!("{}: {error}", output.output.name());
                return then(state, Err(error));
            }
        }
    }
    let give_up = state.clock.now() + LONGEST_WAIT;
    let group = ModeGroup { pending: pending(asked), returned: Vec::new(), is_final: true, give_up, then };
    add_group(state, group, |switches| &mut switches.tests);
}

fn pending(asked: Vec<RequestedMode>) -> Vec<PendingMode> {
    let pending = asked.into_iter().map(|asked| PendingMode {
        asked,
        result: asked.mode.is_none().then_some(Ok(())),
        must_revert: false,
    });
    pending.collect()
}

/// Adds a group to the list, or calls its `then` at once if its result is known.
fn add_group(state: &mut State, group: ModeGroup, list: impl FnOnce(&mut OutputModeSwitches) -> &mut Vec<ModeGroup>) {
    if group.pending.iter().all(|pending| pending.result == Some(Ok(()))) && group.returned.is_empty() {
        return (group.then)(state, Ok(()));
    }
    list(&mut state.outputs.switches).push(group);
}

/// Completes the groups whose results are known.
pub(super) fn complete_groups(state: &mut State) {
    if state.outputs.switches.groups.is_empty() && state.outputs.switches.tests.is_empty() {
        return;
    }
    let now = state.clock.now();
    let mut index = 0;
    while index < state.outputs.switches.groups.len() {
        match state.outputs.switches.groups[index].result(&state.outputs, now) {
            None => index += 1,
            Some(result) => {
                let group = state.outputs.switches.groups.remove(index);
                match result {
                    Err(reason) if !group.is_final => revert_group(state, group, index, reason),
                    result => (group.then)(state, result),
                }
            }
        }
    }
    let mut index = 0;
    while index < state.outputs.switches.tests.len() {
        match state.outputs.switches.tests[index].result(&state.outputs, now) {
            None => index += 1,
            Some(result) => (state.outputs.switches.tests.remove(index).then)(state, result),
        }
    }
}

/// Reverts a failed group, except outputs with a later request (from the group at `later` on); then reports the
/// failure.
fn revert_group(state: &mut State, group: ModeGroup, later: usize, reason: String) {
    let mut awaited = Vec::new();
    for pending in group.pending {
        let PendingMode { asked, result, must_revert: inherits } = &pending;
        let mut others = state.outputs.switches.groups[later..].iter_mut().flat_map(|group| &mut group.pending);
        if let Some(next) = others.find(|other| other.asked.output == asked.output) {
            (next.asked.before, next.asked.slowest, next.must_revert) = (asked.before, asked.slowest, true);
        } else if !pending.is_refused() || *inherits {
            let back = request_former_mode(&mut state.outputs, asked);
            awaited.extend(back.filter(|_| result.is_some()));
        }
    }
    let then = group.then;
    let then = move |state: &mut State, back: Result<(), String>| {
        if let Err(error) = back {
            tracing::error!(error, "an output rejected its former mode");
        }
        then(state, Err(reason));
    };
    let give_up = state.clock.now() + LONGEST_WAIT;
    let group = ModeGroup {
        pending: self::pending(awaited),
        returned: Vec::new(),
        is_final: true,
        give_up,
        then: Box::new(then),
    };
    add_group(state, group, |switches| &mut switches.groups);
}

impl ModeGroup {
    /// The result of the group; `None` while it is not known.
    fn result(&self, outputs: &Outputs, now: Instant) -> Option<Result<(), String>> {
        let removed = || Some(Err("an output was removed during the mode change".to_owned()));
        let mut all_are_seen = true;
        for id in &self.returned {
            let Some(output) = outputs.by_id(*id) else { return removed() };
            // Without a renderer no frame can be shown, and an output that was switched off meanwhile shows none.
            if output.lights > 0 || !output.on || outputs.renderer.is_none() {
                continue;
            }
            if now >= self.give_up {
                let name = output.output.name();
                return Some(Err(format!(
                    "{name}: its display has shown no frame within {} s",
                    LONGEST_WAIT.as_seconds_f64()
                )));
            }
            all_are_seen = false;
        }
        for PendingMode { asked, result, .. } in &self.pending {
            let Some(output) = outputs.by_id(asked.output) else { return removed() };
            let name = output.output.name();
            match result {
                Some(Ok(())) => {}
                Some(Err(reason)) => return Some(Err(format!("{name}: {reason}"))),
                None if now >= self.give_up => {
                    return Some(Err(format!(
                        "{name}: its driver has not answered within {} s",
                        LONGEST_WAIT.as_seconds_f64()
                    )));
                }
                None => all_are_seen = false,
            }
        }
        all_are_seen.then_some(Ok(()))
    }
}

/// Requests the former mode again.
fn request_former_mode(outputs: &mut Outputs, asked: &RequestedMode) -> Option<RequestedMode> {
    let output = outputs.by_id_mut(asked.output)?;
    match output.display.set_mode(asked.before, RateLimit::Set(asked.slowest)) {
        Ok(mode) => Some(RequestedMode { mode, ..*asked }),
        Err(error) => {
            tracing::error!(output = output.output.name(), error, "an output rejected its former mode");
            None
        }
    }
}
