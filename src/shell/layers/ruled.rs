//! Options of layer surfaces that rules set.

use super::{Desk, Hand};
use crate::state::State;

/// The options of one layer surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerLook {
    /// How much of it is seen: 0 to 1.
    pub opacity: f64,
    /// The radius of its corners, in logical pixels; 0 leaves them as they are.
    pub corner_radius: f64,
    /// It is black in pictures of the screen.
    pub is_kept_out: bool,
    /// It may have the keyboard, if its client wants it.
    pub may_have_keyboard: bool,
}

impl Default for LayerLook {
    fn default() -> Self {
        LayerLook { opacity: 1.0, corner_radius: 0.0, is_kept_out: false, may_have_keyboard: true }
    }
}

/// The rules changed.
pub fn renew_looks(state: &mut State) {
    let rules = &state.outputs.rules;
    let mut is_changed = false;
    for pinned in &mut state.shell.layers.list {
        let look = rules.layer(pinned.namespace());
        is_changed |= pinned.look != look;
        pinned.look = look;
    }
    if is_changed {
        state.update_keyboard();
        state.need_all();
    }
}
