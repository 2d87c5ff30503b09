//! Size limits that rules set, in addition to the client's own limits.

use smithay::utils::{Logical, Size};

use super::resize::SizeLimits;
use super::{Window, WindowArrangement, WindowId};
use crate::shell::ShellOutputs;
use crate::state::State;

impl Window {
    /// The window's current size, adjusted to its limits if rules set any.
    pub(super) fn ruled_size(&self) -> Size<i32, Logical> {
        let size = self.geometry.size;
        // Without a rule any size that the client draws is fine, even beyond its own limits.
        if self.ruled_limits == SizeLimits::default() { size } else { self.size_limits().clamp(size) }
    }
}

/// Sets the size limits from rules.
pub(super) fn limit(state: &mut State, id: WindowId, limits: SizeLimits) {
    let Some(window) = state.shell.windows.get_mut_quietly(id) else { return };
    if std::mem::replace(&mut window.ruled_limits, limits) == limits {
        return;
    }
    if window.in_strip {
        // The strip makes the column as wide as necessary.
        state.schedule_repaint_all();
    }
    if state.shell.window(id).is_some_and(|window| window.placed) {
        apply(state, id);
    }
}

/// Asks a floating window for a size within its limits, if it has another size. Asks only once: a client may draw
/// another size all the same.
pub(super) fn apply(state: &mut State, id: WindowId) {
    let is_for_strip = state.shell.is_for_strip(id);
    let Some(window) = state.shell.windows.get_mut_quietly(id).filter(|_| !is_for_strip) else { return };
    let floats = window.wanted == WindowArrangement::Floating && window.applied == WindowArrangement::Floating;
    let is_free = window.mapped && floats && window.snapped.is_none() && window.stretch.is_none();
    let size = window.ruled_size();
    if !is_free || size == window.geometry.size {
        return;
    }
    window.floating_size = Some(size);
    window.set_pending_arrangement(WindowArrangement::Floating);
    window.send_pending();
    state.schedule_update_all();
}
