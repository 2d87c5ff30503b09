//! Switches of the computer itself: their fixed meaning, and their shortcuts.

use super::event::Switch;
use super::{acting, mouse};
use crate::bindings::{Toggled, Trigger};
use crate::output::power;
use crate::state::State;

/// The name of a connector to a screen that is built in begins so.
const BUILT_IN: [&str; 3] = ["eDP", "LVDS", "DSI"];

/// Whether the output of this name is built into the computer.
pub fn is_built_in(output: &str) -> bool {
    BUILT_IN.iter().any(|prefix| output.starts_with(prefix))
}

/// A switch was switched. A closed lid darkens the screens that are built in; libinput itself silences the keyboard and
/// the touchpad behind a folded screen. A shortcut is done besides, whichever window has the shortcuts for itself.
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
