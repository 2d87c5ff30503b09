//! Text input: the enabled text field of the client with the keyboard, and the input method that types into it
//! (`zwp_text_input_v3`, `zwp_input_method_v2`).
//!
//! ```text
//!   keyboard focus ─► enter, leave ─► fields of that client ─ enable, commit ─► the one that is typed into
//!                                                                                  │ at the end of the turn
//!   keys ─► grab (only while a field is typed into, never under a lock) ─► input method ◄┘ activate, state, done
//!                                              field ◄── commit: preedit string, committed text ────┘
//! ```
//!
//! The input method gets a field's state once in a turn, however often the field commits, so that no client can flood
//! it. Text that it typed for an earlier field is dropped. A field gets `done` once in a turn, too, with the number of
//! its newest commit; a client that does not read its events gets it when it has read on.

pub mod field;
pub mod grabbed_keys;
mod hang_detection;
pub mod input_method_commit;
pub mod keyboard_grabs;

use smithay::reexports::wayland_protocols::wp::text_input::zv3::server::zwp_text_input_v3::ZwpTextInputV3;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_keyboard_grab_v2::ZwpInputMethodKeyboardGrabV2;
use wayland_protocols_misc::zwp_input_method_v2::server::zwp_input_method_v2::ZwpInputMethodV2;

use crate::guard;
use crate::shell::input_popups::{self, Caret};
use crate::state::State;
use field::{FieldChange, FieldProperties, FieldState};
use grabbed_keys::InputMethodGrabs;
use input_method_commit::InputMethodCommit;

/// A text field of a client.
#[derive(Debug)]
struct TextField {
    object: ZwpTextInputV3,
    state: FieldState,
    /// Another number each time that it is enabled.
    turn: u64,
    /// The preedit string that it shows, with its caret in bytes, or -1 and -1.
    preedit: Option<(String, i32, i32)>,
    /// Its newest commit was not answered yet.
    is_unanswered: bool,
}

impl TextField {
    /// Answers its newest commit, if it was not. Sends the preedit string again, because `done` alone would remove it.
    fn answer_commit(&mut self) {
        // The client may commit without reading events; then it is answered when it has read on.
        if !self.is_unanswered || !self.object.is_alive() || !guard::may_send_urgent(&self.object) {
            return;
        }
        if let Some((preedit, begin, end)) = self.preedit.clone() {
            self.object.preedit_string(Some(preedit), begin, end);
        }
        self.done();
    }

    fn done(&mut self) {
        self.object.done(self.state.commits);
        self.is_unanswered = false;
    }
}

#[derive(Debug)]
struct ActiveInputMethod {
    object: ZwpInputMethodV2,
    /// How many `done` events it got.
    done_events: u32,
    /// The field that it is active for: its turn, and the number of `done` events by then.
    active_for: Option<(u64, u32)>,
    composed: InputMethodCommit,
}

impl ActiveInputMethod {
    fn done(&mut self) {
        self.object.done();
        self.done_events = self.done_events.wrapping_add(1);
    }

    fn state(&mut self, stated: &FieldProperties) {
        if let Some(around) = &stated.surrounding {
            self.object.surrounding_text(around.text.clone(), around.cursor as u32, around.anchor as u32);
            self.object.text_change_cause(stated.cause);
        }
        if let Some((hint, purpose)) = stated.content {
            self.object.content_type(hint, purpose);
        }
        self.done();
    }
}

/// The text fields and the input method.
#[derive(Debug, Default)]
pub struct TextInputState {
    /// The surface with the keyboard: fields of its client may be enabled.
    focus: Option<WlSurface>,
    fields: Vec<TextField>,
    /// The enabled field.
    active: Option<ZwpTextInputV3>,
    method: Option<ActiveInputMethod>,
    grabs: InputMethodGrabs,
    turns: u64,
    /// A change was not sent to the input method yet.
    has_unsent_change: bool,
}

impl TextInputState {
    fn field_mut(&mut self, object: &ZwpTextInputV3) -> Option<&mut TextField> {
        self.fields.iter_mut().find(|field| field.object == *object)
    }

    fn active(&self) -> Option<&TextField> {
        let active = self.active.as_ref()?;
        self.fields.iter().find(|field| field.object == *active)
    }

    /// The grabs of the input method, the one that gets the keys last.
    pub(super) fn grabs(&self) -> Vec<ZwpInputMethodKeyboardGrabV2> {
        self.grabs.objects.clone()
    }

    fn has_focus(&self, object: &ZwpTextInputV3) -> bool {
        self.focus.as_ref().is_some_and(|focus| focus.is_alive() && focus.id().same_client_as(&object.id()))
    }
}

/// Another surface has the keyboard.
pub(super) fn focus_changed(state: &mut State) {
    let focus = state.input.keyboard.as_ref().and_then(|keyboard| keyboard.current_focus());
    let text = &mut state.input.text;
    let before = std::mem::replace(&mut text.focus, focus);
    if before == text.focus {
        return;
    }
    let TextInputState { fields, focus, .. } = text;
    let is_of = |field: &TextField, surface: &WlSurface| {
        field.object.is_alive() && field.object.id().same_client_as(&surface.id())
    };
    for field in fields.iter_mut() {
        field.state.forget();
        (field.preedit, field.is_unanswered) = (None, false);
        // An event cannot name a destroyed surface.
        if let Some(before) = before.as_ref().filter(|before| before.is_alive() && is_of(field, before)) {
            field.object.leave(before);
        }
        if let Some(focus) = focus.as_ref().filter(|focus| focus.is_alive() && is_of(field, focus)) {
            field.object.enter(focus);
        }
    }
    text.has_unsent_change |= text.active.take().is_some();
}

/// A client made a text field.
pub fn new_field(state: &mut State, object: ZwpTextInputV3) {
    let text = &mut state.input.text;
    if let Some(focus) = text.focus.as_ref().filter(|_| text.has_focus(&object)) {
        object.enter(focus);
    }
    text.fields.push(TextField { object, state: FieldState::default(), turn: 0, preedit: None, is_unanswered: false });
}

/// A text field was destroyed.
pub fn field_gone(state: &mut State, object: &ZwpTextInputV3) {
    let text = &mut state.input.text;
    text.fields.retain(|field| field.object != *object);
    text.has_unsent_change |= text.active.take_if(|active| active == object).is_some();
}

/// Changes the pending state of a field.
pub fn describe(state: &mut State, object: &ZwpTextInputV3, say: impl FnOnce(&mut FieldState)) {
    if let Some(field) = state.input.text.field_mut(object) {
        say(&mut field.state);
    }
}

/// A field applied its pending state.
pub fn field_committed(state: &mut State, object: &ZwpTextInputV3) {
    let text = &mut state.input.text;
    let is_heard = text.has_focus(object);
    let is_alone = text.active.as_ref().is_none_or(|active| active == object);
    let turn = text.turns + 1;
    let Some(field) = text.field_mut(object) else { return };
    let outcome = field.state.commit(is_heard, is_alone);
    if matches!(outcome, FieldChange::Enabled | FieldChange::Disabled) {
        field.preedit = None;
    }
    field.is_unanswered |= is_heard;
    match outcome {
        FieldChange::Nothing => {}
        FieldChange::Enabled => {
            field.turn = turn;
            text.turns = turn;
            text.active = Some(object.clone());
            text.has_unsent_change = true;
        }
        FieldChange::Disabled => {
            text.active = None;
            text.has_unsent_change = true;
        }
        FieldChange::Changed => text.has_unsent_change = true,
    }
}

/// A client wants to be the input method. Returns whether it is: there is only one at a time.
pub fn register(state: &mut State, object: &ZwpInputMethodV2) -> bool {
    if let Some(method) = &state.input.text.method {
        if method.object.is_alive() {
            return false;
        }
        let dead = method.object.clone();
        method_gone(state, &dead);
    }
    let method = ActiveInputMethod {
        object: object.clone(),
        done_events: 0,
        active_for: None,
        composed: InputMethodCommit::default(),
    };
    state.input.text.method = Some(method);
    state.input.text.has_unsent_change = true;
    input_popups::set_input_method(state, Some(object.id()));
    true
}

/// Whether `object` is the input method.
pub fn is_registered(state: &State, object: &ZwpInputMethodV2) -> bool {
    state.input.text.method.as_ref().is_some_and(|method| method.object == *object)
}

/// An input method is gone: the field loses its preedit string, and keys go to the client.
pub fn method_gone(state: &mut State, object: &ZwpInputMethodV2) {
    if !is_registered(state, object) {
        return;
    }
    state.input.text.method = None;
    keyboard_grabs::ungrab(state, |_| true);
    input_popups::set_input_method(state, None);
    input_popups::set_caret(state, None);
    end_composed(state);
}

/// Removes the preedit string from the field.
fn end_composed(state: &mut State) {
    let text = &mut state.input.text;
    let active = text.active.clone();
    if let Some(field) = active.and_then(|active| text.field_mut(&active)) {
        (field.preedit, field.is_unanswered) = (None, true);
    }
}

/// Changes the pending state of the input method.
pub fn compose(state: &mut State, object: &ZwpInputMethodV2, say: impl FnOnce(&mut InputMethodCommit)) {
    if let Some(method) = state.input.text.method.as_mut().filter(|method| method.object == *object) {
        say(&mut method.composed);
    }
}

/// The input method committed: sends its text if it is for the enabled field. `serial` says which state it has seen.
pub fn method_committed(state: &mut State, object: &ZwpInputMethodV2, serial: u32) {
    let text = &mut state.input.text;
    let Some(method) = text.method.as_mut().filter(|method| method.object == *object) else { return };
    let composed = std::mem::take(&mut method.composed);
    let (on, told) = (method.active_for, method.done_events);
    let Some(field) = text.active() else { return };
    let is_meant =
        on.is_some_and(|(turn, since)| turn == field.turn && serial.wrapping_sub(since) <= told.wrapping_sub(since));
    // Without the check, events of the input method could overflow the socket of a client that does not read.
    if !is_meant || !guard::may_send_urgent(&field.object) {
        return;
    }
    let surrounding = field.state.properties().and_then(|stated| stated.surrounding.as_ref());
    let (before, after) = composed.deleted_of(surrounding);
    if before > 0 || after > 0 {
        field.object.delete_surrounding_text(before, after);
    }
    let preedit = composed.preedit.map(|(preedit, caret)| {
        let (begin, end) = caret.map_or((-1, -1), |(begin, end)| (begin as i32, end as i32));
        (preedit, begin, end)
    });
    if let Some((preedit, begin, end)) = preedit.clone() {
        field.object.preedit_string(Some(preedit), begin, end);
    }
    if !composed.text.is_empty() {
        field.object.commit_string(Some(composed.text));
    }
    let object = field.object.clone();
    if let Some(field) = text.field_mut(&object) {
        field.done();
        field.preedit = preedit;
        field.state.note_typed();
    }
}

/// Answers the commits of this turn, and sends the new state to the input method.
pub fn flush(state: &mut State) {
    if state.input.text.grabs.hang_detector.take_release_request() {
        keyboard_grabs::release_keys(state);
        end_composed(state);
    }
    let text = &mut state.input.text;
    text.fields.iter_mut().for_each(TextField::answer_commit);
    // At most when the input method has read on, because a field may change in every turn.
    if !text.has_unsent_change || text.method.as_ref().is_some_and(|method| !guard::may_send(&method.object)) {
        return;
    }
    text.has_unsent_change = false;
    let active = text.active.as_ref().and_then(|active| text.fields.iter().find(|field| field.object == *active));
    let active = active.and_then(|field| Some((field.turn, field.object.id(), field.state.properties()?)));
    let caret = active
        .as_ref()
        .zip(text.focus.as_ref())
        .map(|((_, _, stated), focus)| Caret { surface: focus.clone(), rect: stated.caret });
    let Some(method) = &mut text.method else { return };
    let turn = active.as_ref().map(|(turn, ..)| *turn);
    if method.active_for.is_some_and(|(on, _)| Some(on) != turn) {
        method.active_for = None;
        method.object.deactivate();
        method.done();
    }
    if let Some((turn, _, stated)) = active {
        let is_new = method.active_for.is_none();
        if is_new {
            method.object.activate();
            method.composed = InputMethodCommit::default();
        }
        method.state(stated);
        if is_new {
            method.active_for = Some((turn, method.done_events));
        }
    }
    input_popups::set_caret(state, caret);
}
