//! Options of layer surfaces that are set by rules.

use super::Layers;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerAppearance {
    /// From 0 (invisible) to 1.
    pub opacity: f64,
    /// In logical pixels; 0 leaves the corners as they are.
    pub corner_radius: f64,
    /// The surface is black in screenshots and screen recordings.
    pub is_kept_out: bool,
    /// The surface may have the keyboard focus, if its client wants it.
    pub may_have_keyboard: bool,
}

impl Default for LayerAppearance {
    fn default() -> Self {
        LayerAppearance { opacity: 1.0, corner_radius: 0.0, is_kept_out: false, may_have_keyboard: true }
    }
}

impl Layers {
    /// Applies new rules: `look` gives the options for a namespace. Returns whether the options of any surface change.
    pub fn apply_rules(&mut self, look: impl Fn(&str) -> LayerAppearance) -> bool {
        let mut is_changed = false;
        for pinned in &mut self.list {
            let look = look(pinned.namespace());
            is_changed |= pinned.look != look;
            pinned.look = look;
        }
        is_changed
    }
}
