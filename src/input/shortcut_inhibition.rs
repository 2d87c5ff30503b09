//! Shortcut inhibition (`zwp_keyboard_shortcuts_inhibit_v1`): a surface with the keyboard may want shortcuts for
//! itself. The user can take them back or give them again, by a shortcut that always works. The keys for other virtual
//! terminals always work, too. Under a lock and in the overview no client can inhibit shortcuts.

use std::collections::HashMap;

use smithay::reexports::wayland_protocols::wp::keyboard_shortcuts_inhibit::zv1::server::zwp_keyboard_shortcuts_inhibitor_v1::ZwpKeyboardShortcutsInhibitorV1;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::bindings::{Binding, ShortcutAction};
use crate::state::State;

/// The inhibitors, by surface.
#[derive(Debug, Default)]
pub struct InhibitorTable(HashMap<ObjectId, ShortcutInhibitor>);

#[derive(Debug)]
struct ShortcutInhibitor {
    resource: ZwpKeyboardShortcutsInhibitorV1,
    /// The user has not taken the shortcuts back.
    is_active: bool,
}

impl ShortcutInhibitor {
    fn send_state(&self) {
        if self.is_active { self.resource.active() } else { self.resource.inactive() }
    }
}

impl InhibitorTable {
    pub fn has(&self, surface: &ObjectId) -> bool {
        self.0.contains_key(surface)
    }

    /// From now on the surface gets the shortcuts while it has the keyboard.
    pub fn add(&mut self, surface: ObjectId, resource: ZwpKeyboardShortcutsInhibitorV1) {
        let inhibitor = ShortcutInhibitor { resource, is_active: true };
        inhibitor.send_state();
        self.0.insert(surface, inhibitor);
    }

    pub fn remove(&mut self, surface: &ObjectId, resource: &ZwpKeyboardShortcutsInhibitorV1) {
        if self.0.get(surface).is_some_and(|inhibitor| inhibitor.resource == *resource) {
            self.0.remove(surface);
        }
    }
}

/// Whether a shortcut is carried out while `focus` has the keyboard. If not, the key goes to that surface.
pub(super) fn is_ours(state: &State, focus: Option<&WlSurface>, bound: &Binding) -> bool {
    // A client must never keep the user from another virtual terminal.
    if matches!(bound.action, ShortcutAction::SwitchTerminal(_)) {
        return true;
    }
    let can_be_elsewhere = !state.shell.lock().takes_input() && !state.shell.overlays().overview().is_on();
    let of = |surface: &WlSurface| state.input.inhibitors.0.get(&surface.id());
    let inhibitor = focus.filter(|_| can_be_elsewhere).and_then(of);
    match bound.action {
        ShortcutAction::Shortcuts => inhibitor.is_some(),
        _ => bound.when_inhibited || inhibitor.is_none_or(|inhibitor| !inhibitor.is_active),
    }
}

/// Takes the shortcuts from the surface with the keyboard, or gives them back to it.
pub(super) fn toggle(state: &mut State) {
    let focus = state.input.keyboard.as_ref().and_then(|keyboard| keyboard.current_focus());
    if let Some(inhibitor) = focus.and_then(|focus| state.input.inhibitors.0.get_mut(&focus.id())) {
        inhibitor.is_active = !inhibitor.is_active;
        inhibitor.send_state();
    }
}
