//! Matches a window's content with the configure that it was drawn for.
//!
//! Smithay 0.7 takes the last acknowledged configure as "current" on *any* applied commit. Here commits may wait in the
//! content-update queue, so the acknowledgement travels with the commit that follows it, as the protocol demands:
//!
//! ```text
//!   configure 7 ─► client          ack 7 ─► pending ─► commit ─(queue)─► applied: content is for 7
//! ```

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::Serial;
use smithay::wayland::compositor::Cacheable;
use smithay::wayland::shell::xdg::Configure;

use crate::guard;
use crate::state::State;

/// The configure that was acknowledged since the previous commit, if any.
#[derive(Clone, Copy, Debug, Default)]
struct AcknowledgedConfigure(Option<Serial>);

impl Cacheable for AcknowledgedConfigure {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        AcknowledgedConfigure(self.0.take())
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        if self.0.is_some() {
            *into = self;
        }
    }
}

/// Serial of a configure that was sent to an `xdg_surface`.
pub const fn serial_of(configure: &Configure) -> Serial {
    match configure {
        Configure::Toplevel(configure) => configure.serial,
        Configure::Popup(configure) => configure.serial,
    }
}

/// Handles `ack_configure`: the configure takes effect with the next commit.
pub fn acknowledged(state: &mut State, surface: &WlSurface, serial: Serial) {
    let before = guard::with_states(surface, |states| {
        states.cached_state.get::<AcknowledgedConfigure>().pending().0.replace(serial)
    });
    // Marked as unchanged, because nothing is visible before the next commit.
    if let Some(window) = state.shell.windows.of_root_mut_quietly(surface) {
        window.acknowledge(serial, before.is_none());
    } else if let Some(popup) = state.shell.popup_mut(surface) {
        popup.acknowledged = true;
    } else if let Some(pinned) = state.shell.layers.of_root_mut(surface) {
        pinned.acknowledged = true;
    }
}

/// Whether the client has acknowledged a configure since `surface` was last unmapped: the surface must not have a
/// buffer before. A surface without a role must never have one.
pub fn allows_content(state: &State, surface: &WlSurface) -> bool {
    let window = state.shell.window_of_root(surface).map(|window| window.acknowledged);
    let acknowledged = window
        .or_else(|| state.shell.popup(surface).map(|popup| popup.acknowledged))
        .or_else(|| state.shell.layers.of_root(surface).map(|pinned| pinned.acknowledged));
    match acknowledged {
        Some(acknowledged) => acknowledged || state.shell.allow_unconfigured_content,
        None => false,
    }
}

/// The configure that the applied content was drawn for, unless it is that of the content before.
pub(super) fn take_applied(surface: &WlSurface) -> Option<Serial> {
    guard::with_states(surface, |states| states.cached_state.get::<AcknowledgedConfigure>().current().0.take())
}
