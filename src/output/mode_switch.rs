//! Modes that are asked for together, and whoever waits to hear what came of them: all are in force, or all is as it was.
//!
//! ```text
//!   set_mode … ─► wait ─┬─ all were seen ───────────────────────────────► then(Ok)
//!                       └─ one is refused, or nobody answers in time ──► those that were taken go back ─► then(Err)
//! ```
//!
//! Whoever hears that it cannot be finds all as it was, but for a driver that says nothing: that is asked to go back, too, and
//! not waited for again.
//!
//! A display that refuses a mode goes back by itself. Nobody waits here: answers are heard with what else displays say.
//!
//! What others have asked for meanwhile stays asked for: it is not taken back with what was before it, and goes back to what
//! was before both.

use super::{OutputState, Outputs};
use crate::backend::{Mode, ModeId, Slowest};
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Clock, Instant, Span};

/// How long a driver has for an answer. Training a link takes a second or two, and a device does one output after the other.
const LONGEST_WAIT: Span = Span::from_seconds(5);

/// What is done when it is known.
pub type Then = Box<dyn FnOnce(&mut State, Result<(), String>)>;

/// A mode that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Of which output.
    pub output: OutputId,
    /// The display's name for it; `None`: nobody can refuse it any more.
    pub mode: Option<ModeId>,
    /// That in force before.
    pub before: Mode,
    /// How slow its rate could get then.
    pub slowest: Option<u32>,
}

/// One of those that belong together.
#[derive(Debug)]
struct Pending {
    asked: Asked,
    /// What came of it; `None`: nobody has said yet.
    result: Option<Result<(), String>>,
    /// What was before it was taken back, too: a display that refuses this one goes back to what nobody wants.
    inherits: bool,
}

impl Pending {
    fn is_refused(&self) -> bool {
        matches!(self.result, Some(Err(_)))
    }
}

/// Those that belong together.
struct Group {
    pending: Vec<Pending>,
    /// They are what was there before: there is nothing to go back to.
    goes_back: bool,
    give_up: Instant,
    then: Then,
}

/// All that somebody waits for.
#[derive(Default)]
pub(super) struct Switches {
    /// As they were asked for, the oldest first.
    groups: Vec<Group>,
}

impl Switches {
    /// When somebody has waited for long enough.
    pub fn next_wake(&self) -> Option<Instant> {
        self.groups.iter().map(|group| group.give_up).min()
    }

    /// What a display says of a mode.
    pub fn heard(&mut self, output: OutputId, mode: ModeId, result: &Result<(), String>) {
        let all = self.groups.iter_mut().flat_map(|group| &mut group.pending);
        for pending in all.filter(|pending| (pending.asked.output, pending.asked.mode) == (output, Some(mode))) {
            pending.result = Some(result.clone());
        }
    }
}

/// Whether somebody waits for another mode of this output: that in force is not what was asked for last.
pub fn is_under_way(outputs: &Outputs, output: OutputId) -> bool {
    outputs.switches.groups.iter().flat_map(|group| &group.pending).any(|pending| pending.asked.output == output)
}

/// Whether somebody waits for any.
pub fn is_any_under_way(outputs: &Outputs) -> bool {
    !outputs.switches.groups.is_empty()
}

/// Asks for modes; on an error all is as it was. What comes of them is to be [waited](wait) for.
///
/// # Errors
/// The sentence of the display that has no such mode.
pub fn ask(state: &mut State, wanted: &[(OutputId, Mode)]) -> Result<Vec<Asked>, String> {
    let mut asked = Vec::new();
    for (id, mode) in wanted {
        let Some(output) = state.outputs.by_id_mut(*id) else { continue };
        let (before, slowest) = (output.display.mode(), output.display.slowest());
        match output.display.set_mode(*mode, Slowest::AsSaid) {
            Ok(mode) => asked.push(Asked { output: *id, mode, before, slowest }),
            Err(error) => {
                let error = format!("{}: {error}", output.output.name());
                asked.iter().for_each(|asked| _ = go_back(&mut state.outputs, asked));
                return Err(error);
            }
        }
    }
    Ok(asked)
}

/// Does something as soon as it is known what came of modes that were asked for: at once, where nobody can refuse them.
pub fn wait(state: &mut State, asked: Vec<Asked>, then: Then) {
    wait_for(state, asked, false, then);
}

fn wait_for(state: &mut State, asked: Vec<Asked>, goes_back: bool, then: Then) {
    let pending = asked.into_iter().map(|asked| Pending {
        asked,
        result: asked.mode.is_none().then_some(Ok(())),
        inherits: false,
    });
    let pending: Vec<_> = pending.collect();
    if pending.iter().all(|pending| pending.result.is_some()) {
        return then(state, Ok(()));
    }
    let give_up = state.clock.now() + LONGEST_WAIT;
    state.outputs.switches.groups.push(Group { pending, goes_back, give_up, then });
}

/// Tells those who wait for something that is known by now.
pub(super) fn attend(state: &mut State) {
    if state.outputs.switches.groups.is_empty() {
        return;
    }
    let now = state.clock.now();
    let mut index = 0;
    while index < state.outputs.switches.groups.len() {
        let Outputs { list, switches, .. } = &mut state.outputs;
        match switches.groups[index].result(list, now) {
            None => index += 1,
            Some(result) => {
                let group = switches.groups.remove(index);
                match result {
                    Err(reason) if !group.goes_back => take_back(state, group, index, reason),
                    result => (group.then)(state, result),
                }
            }
        }
    }
}

/// Has all as it was, but for what was asked for later, from the group at `later` on, and says so when it is.
fn take_back(state: &mut State, group: Group, later: usize, reason: String) {
    let mut awaited = Vec::new();
    for pending in group.pending {
        let Pending { asked, result, inherits } = &pending;
        let mut others = state.outputs.switches.groups[later..].iter_mut().flat_map(|group| &mut group.pending);
        if let Some(next) = others.find(|other| other.asked.output == asked.output) {
            (next.asked.before, next.asked.slowest, next.inherits) = (asked.before, asked.slowest, true);
        } else if !pending.is_refused() || *inherits {
            let back = go_back(&mut state.outputs, asked);
            awaited.extend(back.filter(|_| result.is_some()));
        }
    }
    let then = group.then;
    let then = move |state: &mut State, back: Result<(), String>| {
        if let Err(error) = back {
            tracing::error!(error, "an output does not take the mode back that it had");
        }
        then(state, Err(reason));
    };
    wait_for(state, awaited, true, Box::new(then));
}

impl Group {
    /// What came of it, if that is known.
    fn result(&self, outputs: &[OutputState], now: Instant) -> Option<Result<(), String>> {
        let mut all_are_seen = true;
        for Pending { asked, result, .. } in &self.pending {
            let Some(output) = outputs.iter().find(|output| output.id == asked.output) else {
                return Some(Err("an output is gone".to_owned()));
            };
            let name = output.output.name();
            match result {
                Some(Ok(())) => {}
                Some(Err(reason)) => return Some(Err(format!("{name}: {reason}"))),
                None if now >= self.give_up => {
                    return Some(Err(format!("{name}: its driver says nothing of the mode in {LONGEST_WAIT}")));
                }
                None => all_are_seen = false,
            }
        }
        all_are_seen.then_some(Ok(()))
    }
}

/// Asks for the mode that was in force before.
fn go_back(outputs: &mut Outputs, asked: &Asked) -> Option<Asked> {
    let output = outputs.by_id_mut(asked.output)?;
    match output.display.set_mode(asked.before, Slowest::This(asked.slowest)) {
        Ok(mode) => Some(Asked { mode, ..*asked }),
        Err(error) => {
            tracing::error!(output = output.output.name(), error, "an output does not take the mode back that it had");
            None
        }
    }
}
