//! Keeps the order of a virtual keyboard's requests: keys wait for the keymap before them to be compiled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ahash::HashMap;
use calloop::RegistrationToken;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::{Client, Resource};
use wayland_protocols_misc::zwp_virtual_keyboard_v1::server::zwp_virtual_keyboard_v1::{Error, ZwpVirtualKeyboardV1};

use super::keymap_compiler::{Compiled, Compiler};
use super::keymap_file::KeymapRefusal;
use super::keymap_readers::KeymapOwner;
use super::request_queue::{KeyboardRequest, KeyboardRequestQueue, KeymapRun, QueuedKeyboardRequest, VirtualKeyEvent};
use crate::deferred_calls;
use crate::guard::{self, Kind};
use crate::input::keyboard::{self, ModifierMasks};
use crate::input::keymap::CompiledKeymap;
use crate::input::{self, InputEvent, KeyboardId};
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
struct VirtualKeyboardQueue {
    object: ZwpVirtualKeyboardV1,
    owner: KeymapOwner,
    has_keymap: bool,
    /// Its keymap could not be read, so keys without a keymap are not the client's fault.
    was_not_read: bool,
    /// A new keymap was compiled and is not in force yet. It will be, even without a key.
    has_new_keymap: bool,
    /// The number of the keymap that is being compiled.
    compiling: Option<u64>,
    /// Older keymaps, to be tried if that keymap is refused.
    older_keymaps: KeymapRun,
    waiting: KeyboardRequestQueue,
    /// A timer for the next call of `process_queue` runs.
    has_timer: bool,
    /// The object is destroyed. When this timer fires, its waiting requests are dropped.
    closing: Option<RegistrationToken>,
}

impl VirtualKeyboardQueue {
    /// Number of its waiting keymaps, and of its waiting keys.
    fn count(&self) -> (usize, usize) {
        let (keymaps, strokes) = self.waiting.count();
        (keymaps + self.older_keymaps.len() + usize::from(self.compiling.is_some()), strokes)
    }
}

/// The virtual keyboards, and the compiler of their keymaps.
#[derive(Debug, Default)]
pub(super) struct VirtualKeyboardQueues {
    list: BTreeMap<KeyboardId, VirtualKeyboardQueue>,
    compiler: Option<Compiler>,
    /// The number of the last keymap that was given to the compiler.
    last: u64,
    /// Time of each client's last keymap change.
    changes: HashMap<ClientId, std::time::Instant>,
}

impl VirtualKeyboardQueues {
    /// Adds a keyboard of `owner`.
    pub fn add(&mut self, id: KeyboardId, object: ZwpVirtualKeyboardV1, owner: KeymapOwner) {
        let keyboard = VirtualKeyboardQueue {
            object,
            owner,
            has_keymap: false,
            was_not_read: false,
            has_new_keymap: false,
            compiling: None,
            older_keymaps: KeymapRun::default(),
            waiting: KeyboardRequestQueue::default(),
            has_timer: false,
            closing: None,
        };
        self.list.insert(id, keyboard);
    }

    /// Removes a keyboard and its waiting requests.
    fn remove(&mut self, id: KeyboardId) -> Option<VirtualKeyboardQueue> {
        self.compiler.iter().for_each(|compiler| compiler.forget(id));
        self.list.remove(&id)
    }

    /// Whether the waiting keys of the destroyed keyboard `id` are still to be sent. All destroyed keyboards together
    /// may have as many waiting requests as one client.
    fn must_process_remaining(&mut self, id: KeyboardId) -> bool {
        let Some(keyboard) = self.list.get_mut(&id) else { return false };
        keyboard.waiting.drop_idle_keymaps();
        if keyboard.waiting.is_empty() || keyboard.waiting.is_of_ending_client() {
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
        let waits = |keyboard: &VirtualKeyboardQueue| {
            keyboard.has_new_keymap || keyboard.compiling.is_some() || !keyboard.waiting.is_empty()
        };
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

fn list(state: &mut State) -> &mut BTreeMap<KeyboardId, VirtualKeyboardQueue> {
    &mut state.protocols.virtual_keyboard.keyboards.list
}

/// Queues a request, and carries it out at once if it need not wait.
pub(super) fn queue_request(state: &mut State, client: &Client, id: KeyboardId, request: KeyboardRequest) {
    let display = state.display_handle.clone();
    let Some(keyboard) = list(state).get_mut(&id) else { return };
    let kinds: &[Kind] = match request {
        // The keymap's descriptor is counted separately, until it is closed.
        KeyboardRequest::Keymap(_) => &[Kind::WaitingKeymaps],
        KeyboardRequest::Stroke(_) => &[Kind::WaitingKeys],
    };
    let held = kinds.iter().filter_map(|kind| guard::hold(&display, client, *kind)).collect();
    keyboard.waiting.push(request, held);
    process_queue(state, id);
}

/// The keyboard's object is destroyed: its waiting keys are still sent, and then the keyboard is removed.
pub(super) fn object_destroyed(state: &mut State, id: KeyboardId) {
    if !state.protocols.virtual_keyboard.keyboards.must_process_remaining(id) {
        state.protocols.virtual_keyboard.keyboards.remove(id);
        // Not now, because its client may be going, and its surfaces must not be named meanwhile (see
        // `input::focus::focus_lost`).
        deferred_calls::queue(state, move |state| keyboard::remove(state, id));
        return;
    }
    let closing = deferred_calls::add_timer(&state.loop_handle, KEPT, move |state| {
        list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.closing = None);
        finish(state, id);
        None
    });
    match closing {
        Ok(timer) => list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.closing = Some(timer)),
        Err(error) => {
            tracing::error!(%error, "cannot start a timer: the last keys of a virtual keyboard are lost");
            deferred_calls::queue(state, move |state| finish(state, id));
        }
    }
}

/// Removes a destroyed keyboard and releases its pressed keys.
fn finish(state: &mut State, id: KeyboardId) {
    let keyboard = state.protocols.virtual_keyboard.keyboards.remove(id);
    keyboard.and_then(|keyboard| keyboard.closing).into_iter().for_each(|timer| state.loop_handle.remove(timer));
    keyboard::remove(state, id);
}

fn act(state: &mut State, id: KeyboardId, stroke: VirtualKeyEvent) {
    let Some(keyboard) = list(state).get(&id) else { return };
    match stroke {
        _ if !keyboard.has_keymap && keyboard.was_not_read => {}
        _ if !keyboard.has_keymap => {
            keyboard.object.post_error(Error::NoKeymap, "a key was sent before a usable keymap");
        }
        VirtualKeyEvent::Key { time, key, pressed } => {
            input::handle(state, InputEvent::Key { time, keyboard: id, key, pressed });
        }
        VirtualKeyEvent::Modifiers { time, masks: ModifierMasks { depressed, latched, locked, layout } } => {
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
fn compile_newest(state: &mut State, id: KeyboardId, mut row: KeymapRun) -> bool {
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
    (keyboard.compiling, keyboard.older_keymaps) = (Some(number), row);
    compiler.compile(keyboard.owner.clone(), id, number, file);
    true
}

fn compiled(state: &mut State, (id, number, keymap): Compiled) {
    let Some(keyboard) = list(state).get_mut(&id).filter(|keyboard| keyboard.compiling == Some(number)) else { return };
    keyboard.compiling = None;
    let others = std::mem::take(&mut keyboard.older_keymaps);
    match keymap {
        Ok(keymap) => accepted(state, id, keymap),
        Err(refusal) => {
            keyboard.was_not_read |= refusal == KeymapRefusal::Unread;
            refused(state, id);
            if compile_newest(state, id, others) {
                return;
            }
        }
    }
    process_queue(state, id);
}

fn accepted(state: &mut State, id: KeyboardId, keymap: Arc<CompiledKeymap>) {
    let Some(keyboard) = list(state).get_mut(&id) else { return };
    (keyboard.has_keymap, keyboard.has_new_keymap) = (true, true);
    keyboard::remember_keymap(state, id, keymap);
}

/// Logs a refused keymap, since the protocol has no error for it. The keyboard keeps its former keymap; without any,
/// its keys are protocol errors.
pub(super) fn refused(state: &mut State, id: KeyboardId) {
    let Some(client) = list(state).get(&id).and_then(|keyboard| keyboard.object.client()) else { return };
    if let Some(more) = guard::warning_allowed(&client, "keymap") {
        tracing::warn!(more, "a virtual keyboard sent a keymap that cannot be used");
    }
}

/// Carries out waiting requests as far as possible.
fn process_queue(state: &mut State, id: KeyboardId) {
    for _ in 0..AT_ONCE {
        let Some(keyboard) = list(state).get(&id).filter(|one| one.compiling.is_none() && !one.has_timer) else {
            return;
        };
        // A keymap followed by another keymap is not put in force, unless the later keymap is refused.
        let needs_keymap = match keyboard.waiting.front() {
            Some(QueuedKeyboardRequest::Keymaps(_)) => false,
            Some(QueuedKeyboardRequest::Stroke(..)) => keyboard.has_keymap,
            None => keyboard.has_new_keymap && keyboard.closing.is_none(),
        };
        if needs_keymap && let Err(wait) = activate_keymap(state, id) {
            return process_queue_after(state, id, wait);
        }
        let Some(keyboard) = list(state).get_mut(&id) else { return };
        match keyboard.waiting.pop() {
            Some(QueuedKeyboardRequest::Keymaps(row)) => _ = compile_newest(state, id, row),
            Some(QueuedKeyboardRequest::Stroke(stroke, _)) => act(state, id, stroke),
            None if keyboard.closing.is_some() => return finish(state, id),
            None => return,
        }
    }
    process_queue_after(state, id, Duration::ZERO);
}

/// Puts the keyboard's keymap in force. Returns how long that must wait if the client's last change is too recent.
fn activate_keymap(state: &mut State, id: KeyboardId) -> Result<(), Duration> {
    if !keyboard::is_known_to_clients(state, id)
        && let Some(client) = list(state).get(&id).map(|keyboard| keyboard.owner.client.clone())
    {
        state.protocols.virtual_keyboard.keyboards.may_change(client)?;
    }
    list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.has_new_keymap = false);
    keyboard::put_in_force(state, id);
    Ok(())
}

fn process_queue_after(state: &mut State, id: KeyboardId, wait: Duration) {
    let Some(keyboard) = list(state).get_mut(&id).filter(|keyboard| !keyboard.has_timer) else { return };
    keyboard.has_timer = true;
    let inserted = deferred_calls::add_timer(&state.loop_handle, wait, move |state| {
        list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.has_timer = false);
        process_queue(state, id);
        None
    });
    if let Err(error) = inserted {
        tracing::warn!(%error, "cannot start a timer: keys of a virtual keyboard wait for its next request");
        list(state).get_mut(&id).into_iter().for_each(|keyboard| keyboard.has_timer = false);
    }
}
