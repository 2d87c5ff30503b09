//! Lets the user pick a window: the next press of a button or finger names the window under it, and is not sent to any
//! client. Escape cancels.

use smithay::input::keyboard::{Keysym, keysyms};
use smithay::utils::{Logical, Point};

use crate::shell::WindowId;
use crate::state::State;

/// Waits for the window that the user picks.
pub trait WindowPicker: std::fmt::Debug {
    /// Whether it still waits.
    fn waits(&self) -> bool;
    /// The user picked this window; `None`: they cancelled, or there was no window.
    fn picked(self: Box<Self>, window: Option<WindowId>);
}

/// Lets the user pick a window. A picker that waited before gets none.
pub fn begin(state: &mut State, picker: Box<dyn WindowPicker>) {
    if let Some(before) = state.input.picker.replace(picker) {
        before.picked(None);
    }
}

/// A button or finger was pressed at `place`. Returns whether that picked.
pub(super) fn pressed(state: &mut State, place: Point<f64, Logical>) -> bool {
    let Some(picker) = take(state) else { return false };
    let found = super::under(state, place).and_then(|(surface, _)| state.shell.window_of(&surface));
    picker.picked(found.map(|window| window.id));
    true
}

/// A key was pressed. Returns whether that cancelled.
pub(super) fn key(state: &mut State, symbol: Keysym) -> bool {
    if symbol.raw() != keysyms::KEY_Escape {
        return false;
    }
    let Some(picker) = take(state) else { return false };
    picker.picked(None);
    true
}

/// Takes the picker that waits; `None` under a lock, where no window may be named.
fn take(state: &mut State) -> Option<Box<dyn WindowPicker>> {
    let picker = state.input.picker.take().filter(|picker| picker.waits())?;
    if state.shell.lock().takes_input() {
        picker.picked(None);
        return None;
    }
    Some(picker)
}
