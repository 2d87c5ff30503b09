//! The lid and tablet-mode switches: their fixed effect, and their shortcuts.

use super::event::Switch;
use super::{acting, mouse};
use crate::bindings::{Toggled, Trigger};
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
pub fn switched(state: &mut State, switch: Switch, on: bool) {
    tracing::info!(?switch, on, "switched");
    if switch == Switch::Lid {
        darken_built_in(state, on);
    }
    let trigger = Trigger::Switch(match (switch, on) {
        (Switch::Lid, true) => Toggled::LidClose,
        (Switch::Lid, false) => Toggled::LidOpen,
        (Switch::TabletMode, true) => Toggled::TabletModeOn,
        (Switch::TabletMode, false) => Toggled::TabletModeOff,
    });
    let (held, is_locked) = (mouse::held(state), state.shell.lock().takes_input());
    if let Some(bound) = state.bindings.of_trigger(&held, trigger, is_locked) {
        acting::run(state, &bound.action);
    }
}

fn darken_built_in(state: &mut State, darkens: bool) {
    let screens = state.outputs.states().filter(|output| is_built_in(&output.output().name()));
    let screens: Vec<_> = screens.map(|output| output.id()).collect();
    for screen in screens {
        match darkens {
            true => power::shut(state, screen),
            false => power::set(state, screen, true),
        }
    }
}
