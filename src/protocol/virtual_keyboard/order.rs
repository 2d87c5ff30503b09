//! Keeps the order of a virtual keyboard's requests: keys wait for the keymap before them to be compiled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ahash::HashMap;
use calloop::RegistrationToken;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, Resource};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::server::zwp_virtual_keyboard_v1::{Error, ZwpVirtualKeyboardV1};

use super::compiler::{Compiled, Compiler};
use super::file::Refusal;
use super::readers::Owner;
use super::waiting::{Next, Row, Said, Stroke, Waiting};
use crate::guard::{self, Kind};
use crate::input::keyboard::{self, Masks};
use crate::input::keymap::Keymap;
use crate::input::{self, InputEvent, KeyboardId};
use crate::later;
use crate::state::State;

/// Waiting requests that are carried out in one go, at some microseconds each, so that other clients are not delayed.
const AT_ONCE: usize = 128;

/// Least time between two keymap changes of one client, since each change is sent to all clients, which compile it. A
/// fast typist with a keymap for each letter needs no more.
const BETWEEN_CHANGES: Duration = Duration::from_millis(20);

/// Time for the waiting requests of a destroyed keyboard: enough for hundreds of usual keymaps. If keys came later, the
/// user could not tell their source.
const KEPT: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Keyboard {
    object: ZwpVirtualKeyboardV1,
    owner: Owner,
    has_keymap: bool,
    /// Its keymap could not be read, so keys without a keymap are not the client's fault.
    was_not_read: bool,
    /// A new keymap was compiled and is not in force yet. It will be, even without a key.
    is_new: bool,
    /// The number of the keymap that is being compiled.
    in_work: Option<u64>,
    /// Older keymaps, to be tried if that keymap is refused.
    others: Row,
    waiting: Waiting,
    /// A timer for the next call of `go_on` runs.
    goes_on: bool,
    /// The object is destroyed. When this timer fires, its waiting requests are dropped.
    closing: Option<RegistrationToken>,
}

impl Keyboard {
    /// Number of its waiting keymaps, and of its waiting keys.
    fn count(&self) -> (usize, usize) {
        let (keymaps, strokes) = self.waiting.count();
        (keymaps + self.others.len() + usize::from(self.in_work.is_some()), strokes)
    }
}

/// The virtual keyboards, and the compiler of their keymaps.
#[derive(Debug, Default)]
pub(super) struct Keyboards {
    list: BTreeMap<KeyboardId, Keyboard>,
    compiler: Option<Compiler>,
    /// The number of the last keymap that was given to the compiler.
    last: u64,
    /// Time of each client's last keymap change.
    changes: HashMap<ClientId, std::time::Instant>,
}

impl Keyboards {
    /// Adds a keyboard of `owner`.
    pub fn add(&mut self, id: KeyboardId, object: ZwpVirtualKeyboardV1, owner: Owner) {
        let keyboard = Keyboard {
            object,
            owner,
            has_keymap: false,
            was_not_read: false,
            is_new: false,
            in_work: None,
            others: Row::default(),
            waiting: Waiting::default(),
            goes_on: false,
            closing: None,
        };
        self.list.insert(id, keyboard);
    }

    /// Removes a keyboard and its waiting requests.
    fn remove(&mut self, id: KeyboardId) -> Option<Keyboard> {
        self.compiler.iter().for_each(|compiler| compiler.forget(id));
        self.list.remove(&id)
    }

    /// Whether the waiting keys of the destroyed keyboard `id` are still to be sent. All destroyed keyboards together
    /// may have as many waiting requests as one client.
    fn is_to_be_heard(&mut self, id: KeyboardId) -> bool {
        let Some(keyboard) = self.list.get_mut(&id) else { return false };
        keyboard.waiting.drop_idle_keymaps();
        if keyboard.waiting.is_empty() || keyboard.waiting.is_of_one_who_ends() {
            return false;
        }
        let leaving = self.list.iter().filter(|(other, keyboard)| **other == id || keyboard.closing.is_some());
        let (keymaps, others) = leaving
            .map(|(_, keyboard)| keyboard.count())
            .fold((0, 0), |(keymaps, others), (more, and)| (keymaps + more, others + and));
        keymaps <= Kind::WaitingKeymaps.most() as usize && others <= Kind::WaitingKeys.most() as usize
    }

    /// Whether any request waits for a keymap.
    pub fn is_waiting(&self) -> bool {
        let waits = |keyboard: &Keyboard| keyboard.is_new || keyboard.in_work.is_some() || !keyboard.waiting.is_empty();
        self.list.values().any(waits)
    }

    /// Counts a keymap change of `client`. Returns how long it must wait if the last change is too recent.
    fn may_change(&mut self, client: ClientId) -> Result<(), Duration> {
        let now = std::time::Instant::now();
        self.changes.retain(|_, last| now.saturating_duration_since(*last) < BETWEEN_CHANGES);
        match self.changes.get(&client) {
            Some(last) => Err(BETWEEN_CHANGES.saturating_sub(now.saturating_duration_since(*last))),
            None => {
                self.changes.insert(client, now);
                Ok(())
            }
        }
    }
}

fn list(state: &mut State) -> &mut BTreeMap<KeyboardId, Keyboard> {
    &mut state.protocols.virtual_keyboard.keyboards.list
}

/// Queues a request, and carries it out at once if it need not wait.
pub(super) fn said(state: &mut State, client: &Client, id: KeyboardId, said: Said) {
    let display = state.display_handle.clone();
    let Some(keyboard) = list(state).get_mut(&id) else { return };
    let kinds: &[Kind] = match said {
        // The keymap's descriptor is counted separately, until it is closed.
        Said::Keymap(_) => &[Kind::WaitingKeymaps],
        Said::Stroke(_) => &[Kind::WaitingKeys],
    };
    let held = kinds.iter().filter_map(|kind| guard::hold(&display, client, *kind)).collect();
    keyboard.waiting.push(said, held);
    go_on(state, id);
}

/// The keyboard's object is destroyed: its waiting keys are still sent, and then the keyboard is removed.
pub(super) fn gone(state: &mut State, id: KeyboardId) {
    if !state.protocols.virtual_keyboard.keyboards.is_to_be_heard(id) {
        state.protocols.virtual_keyboard.keyboards.remove(id);
        // Not now, because its client may be going, and its surfaces must not be named meanwhile (see
        // `input::focus::lost`).
        later::soon(state, move |state| keyboard::remove(state, id));
        return;
    }
    let closing = later::after(&state.loop_handle, KEPT, move |state| {
        list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.closing = None);
        finish(state, id);
        None
    });
    match closing {
        Ok(timer) => list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.closing = Some(timer)),
        Err(error) => {
            tracing::error!(%error, "cannot start a timer: the last keys of a virtual keyboard are lost");
            later::soon(state, move |state| finish(state, id));
        }
    }
}

/// Removes a destroyed keyboard and releases its pressed keys.
fn finish(state: &mut State, id: KeyboardId) {
    let keyboard = state.protocols.virtual_keyboard.keyboards.remove(id);
    keyboard.and_then(|keyboard| keyboard.closing).into_iter().for_each(|timer| state.loop_handle.remove(timer));
    keyboard::remove(state, id);
}

fn act(state: &mut State, id: KeyboardId, stroke: Stroke) {
    let Some(keyboard) = list(state).get(&id) else { return };
    match stroke {
        _ if !keyboard.has_keymap && keyboard.was_not_read => {}
        _ if !keyboard.has_keymap => {
            keyboard.object.post_error(Error::NoKeymap, "a key was sent before a usable keymap");
        }
        Stroke::Key { time, key, pressed } => {
            input::handle(state, InputEvent::Key { time, keyboard: id, key, pressed });
        }
        Stroke::Modifiers { time, masks: Masks { depressed, latched, locked, layout } } => {
            input::handle(state, InputEvent::Modifiers { time, keyboard: id, depressed, latched, locked, layout });
        }
    }
}

/// Starts the compiler if it does not run. Called when a keyboard is created, so that its first keymap is compiled
/// sooner.
pub(super) fn prepare(state: &mut State) {
    let State { protocols, loop_handle, .. } = state;
    let compiler = &mut protocols.virtual_keyboard.keyboards.compiler;
    if compiler.is_none() {
        *compiler = Compiler::start(loop_handle, compiled)
            .inspect_err(|error| tracing::error!(%error, "cannot start the thread that compiles keymaps"))
            .ok();
    }
}

/// Compiles the newest keymap of `row`. Returns whether there was one.
fn hand_over(state: &mut State, id: KeyboardId, mut row: Row) -> bool {
    let Some((file, _)) = row.newest() else { return false };
    prepare(state);
    let keyboards = &mut state.protocols.virtual_keyboard.keyboards;
    keyboards.last += 1;
    let (number, Some(keyboard)) = (keyboards.last, keyboards.list.get_mut(&id)) else { return false };
    let Some(compiler) = &keyboards.compiler else {
        keyboard.was_not_read = true;
        refused(state, id);
        return false;
    };
    (keyboard.in_work, keyboard.others) = (Some(number), row);
    compiler.compile(keyboard.owner.clone(), id, number, file);
    true
}

fn compiled(state: &mut State, (id, number, keymap): Compiled) {
    let Some(keyboard) = list(state).get_mut(&id).filter(|keyboard| keyboard.in_work == Some(number)) else { return };
    keyboard.in_work = None;
    let others = std::mem::take(&mut keyboard.others);
    match keymap {
        Ok(keymap) => accepted(state, id, keymap),
        Err(refusal) => {
            keyboard.was_not_read |= refusal == Refusal::Unread;
            refused(state, id);
            if hand_over(state, id, others) {
                return;
            }
        }
    }
    go_on(state, id);
}

fn accepted(state: &mut State, id: KeyboardId, keymap: Arc<Keymap>) {
    let Some(keyboard) = list(state).get_mut(&id) else { return };
    (keyboard.has_keymap, keyboard.is_new) = (true, true);
    keyboard::remember_keymap(state, id, keymap);
}

/// Logs a refused keymap, since the protocol has no error for it. The keyboard keeps its former keymap; without any,
/// its keys are protocol errors.
pub(super) fn refused(state: &mut State, id: KeyboardId) {
    let Some(client) = list(state).get(&id).and_then(|keyboard| keyboard.object.client()) else { return };
    if let Some(more) = guard::complaint(&client, "keymap") {
        tracing::warn!(more, "a virtual keyboard sent a keymap that cannot be used");
    }
}

/// Carries out waiting requests as far as possible.
fn go_on(state: &mut State, id: KeyboardId) {
    for _ in 0..AT_ONCE {
        let Some(keyboard) = list(state).get(&id).filter(|one| one.in_work.is_none() && !one.goes_on) else { return };
        // A keymap followed by another keymap is not put in force, unless the later keymap is refused.
        let needs_keymap = match keyboard.waiting.front() {
            Some(Next::Keymaps(_)) => false,
            Some(Next::Stroke(..)) => keyboard.has_keymap,
            None => keyboard.is_new && keyboard.closing.is_none(),
        };
        if needs_keymap && let Err(wait) = put_in_force(state, id) {
            return go_on_after(state, id, wait);
        }
        let Some(keyboard) = list(state).get_mut(&id) else { return };
        match keyboard.waiting.pop() {
            Some(Next::Keymaps(row)) => _ = hand_over(state, id, row),
            Some(Next::Stroke(stroke, _)) => act(state, id, stroke),
            None if keyboard.closing.is_some() => return finish(state, id),
            None => return,
        }
    }
    go_on_after(state, id, Duration::ZERO);
}

/// Puts the keyboard's keymap in force. Returns how long that must wait if the client's last change is too recent.
fn put_in_force(state: &mut State, id: KeyboardId) -> Result<(), Duration> {
    if !keyboard::is_told(state, id)
        && let Some(client) = list(state).get(&id).map(|keyboard| keyboard.owner.client.clone())
    {
        state.protocols.virtual_keyboard.keyboards.may_change(client)?;
    }
    list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.is_new = false);
    keyboard::put_in_force(state, id);
    Ok(())
}

fn go_on_after(state: &mut State, id: KeyboardId, wait: Duration) {
    let Some(keyboard) = list(state).get_mut(&id).filter(|keyboard| !keyboard.goes_on) else { return };
    keyboard.goes_on = true;
    let inserted = later::after(&state.loop_handle, wait, move |state| {
        list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.goes_on = false);
        go_on(state, id);
        None
    });
    if let Err(error) = inserted {
        tracing::warn!(%error, "cannot start a timer: keys of a virtual keyboard wait for its next request");
        list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.goes_on = false);
    }
}
