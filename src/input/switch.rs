//! Switches of the computer itself.

use super::event::Switch;
use crate::output::power;
use crate::state::State;

/// The name of a connector to a screen that is built in begins so.
const BUILT_IN: [&str; 3] = ["eDP", "LVDS", "DSI"];

/// Whether the output of this name is built into the computer.
pub fn is_built_in(output: &str) -> bool {
    BUILT_IN.iter().any(|prefix| output.starts_with(prefix))
}

/// A switch was switched. A closed lid darkens the screens that are built in; libinput itself silences the keyboard and
/// the touchpad behind a folded screen.
pub fn switched(state: &mut State, switch: Switch, on: bool) {
    tracing::info!(?switch, on, "switched");
    if switch != Switch::Lid {
        return;
    }
    let screens = state.outputs.states().filter(|output| is_built_in(&output.output.name()));
    let screens: Vec<_> = screens.map(|output| output.id).collect();
    for screen in screens {
        power::set(state, screen, !on);
    }
}
