//! A window is picked: the next press of a button or finger names the one under it, and nobody else hears of it. Escape goes
//! back.

use smithay::input::keyboard::{Keysym, keysyms};
use smithay::utils::{Logical, Point};

use crate::shell::WindowId;
use crate::state::State;

/// Somebody who wants to know which window the user picks.
pub trait Picks: std::fmt::Debug {
    /// Whether it still does.
    fn waits(&self) -> bool;
    /// It was this one; `None`: the user went back, or picked nothing.
    fn picked(self: Box<Self>, window: Option<WindowId>);
}

/// Lets the user pick a window. Who wanted to know of another one before does not hear of any.
pub fn begin(state: &mut State, picker: Box<dyn Picks>) {
    if let Some(before) = state.input.picker.replace(picker) {
        before.picked(None);
    }
}

/// A button or finger was pressed at `place`; whether that was for this.
pub(super) fn pressed(state: &mut State, place: Point<f64, Logical>) -> bool {
    let Some(picker) = take(state) else { return false };
    let found = super::under(state, place).and_then(|(surface, _)| state.shell.window_of(&surface));
    picker.picked(found.map(|window| window.id));
    true
}

/// A key was pressed; whether that was for this.
pub(super) fn key(state: &mut State, symbol: Keysym) -> bool {
    if symbol.raw() != keysyms::KEY_Escape {
        return false;
    }
    let Some(picker) = take(state) else { return false };
    picker.picked(None);
    true
}

/// Who waits; nobody under a lock, where no window may be named.
fn take(state: &mut State) -> Option<Box<dyn Picks>> {
    let picker = state.input.picker.take().filter(|picker| picker.waits())?;
    if state.shell.lock().takes_input() {
        picker.picked(None);
        return None;
    }
    Some(picker)
}
