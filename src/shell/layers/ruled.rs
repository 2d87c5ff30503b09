//! Options of layer surfaces that rules set.

use super::Layers;

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

impl Layers {
    /// The rules changed: `look` gives the options for a namespace. Returns whether any surface has other options now.
    pub fn renew_looks(&mut self, look: impl Fn(&str) -> LayerLook) -> bool {
        let mut is_changed = false;
        for pinned in &mut self.list {
            let look = look(pinned.namespace());
            is_changed |= pinned.look != look;
            pinned.look = look;
        }
        is_changed
    }
}
