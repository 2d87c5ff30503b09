//! The lid and tablet-mode switches: their fixed effect, and their shortcuts.

use super::event::LaptopSwitch;
use super::{actions, mouse_shortcuts};
use crate::bindings::{ShortcutTrigger, SwitchChange};
use crate::output::power;
use crate::state::State;

/// Prefixes of the connector names of built-in panels.
const BUILT_IN: [&str; 3] = ["eDP", "LVDS", "DSI"];

/// Whether the output of this name is a built-in panel.
pub fn is_built_in(output: &str) -> bool {
    BUILT_IN.iter().any(|prefix| output.starts_with(prefix))
}

/// A closed lid switches built-in panels off; libinput itself disables the keyboard and the touchpad behind a folded
/// panel. A shortcut is carried out as well, even if a window inhibits shortcuts.
pub fn switched(state: &mut State, switch: LaptopSwitch, on: bool) {
    tracing::info!(?switch, on, "switched");
    match switch {
        LaptopSwitch::Lid => darken_built_in(state, on),
        LaptopSwitch::TabletMode => state.input.hardware.set_tablet_mode(on),
    }
    let trigger = ShortcutTrigger::Switch(match (switch, on) {
        (LaptopSwitch::Lid, true) => SwitchChange::LidClose,
        (LaptopSwitch::Lid, false) => SwitchChange::LidOpen,
        (LaptopSwitch::TabletMode, true) => SwitchChange::TabletModeOn,
        (LaptopSwitch::TabletMode, false) => SwitchChange::TabletModeOff,
    });
    let (held, is_locked) = (mouse_shortcuts::held(state), state.shell.lock().takes_input());
    if let Some(bound) = state.bindings.binding_of_trigger(&held, trigger, is_locked) {
        actions::run(state, &bound.action);
    }
}

fn darken_built_in(state: &mut State, darkens: bool) {
    let screens = state.outputs.states().filter(|output| is_built_in(&output.output().name()));
    let screens: Vec<_> = screens.map(|output| output.id()).collect();
    for screen in screens {
        match darkens {
            true => power::switch_off(state, screen),
            false => power::set(state, screen, true),
        }
    }
}
