//! Outputs that are off, and what lights them: that is for nobody.
//!
//! Off by a shortcut, they are lit by the next input. Off by a message or a protocol, whoever switched them off lights them, and
//! hears that somebody is there by an idle notification. What is pressed, touched or moved to see something again is no input for
//! what cannot be seen, and neither is its release.

use crate::input::event::{Gesture, InputEvent};
use crate::output::power;
use crate::state::State;
use upbeat_timing::id::OutputId;

/// Outputs that are off, and what is not for anybody.
#[derive(Debug, Default)]
pub struct Waking {
    /// Off until somebody does something.
    darkened: Vec<OutputId>,
    /// Somebody was told that nobody does anything, and hears of the next input.
    pub is_awaited: bool,
    /// The event at hand lights outputs.
    lights: bool,
    /// So did the beginning of a gesture that goes on.
    gesture: bool,
}

impl Waking {
    /// Whether what is pressed now is nobody's, and its release with it.
    pub(super) const fn takes(&self) -> bool {
        self.lights
    }
}

/// All outputs that are on are off until somebody does something.
pub(super) fn darken(state: &mut State) {
    let lit: Vec<_> = state.outputs.states().filter(|output| output.on).map(|output| output.id).collect();
    lit.iter().for_each(|id| power::set(state, *id, false));
    state.input.waking.darkened.extend(lit);
}

/// Somebody uses the seat. Lights what was switched off until then; returns whether there is no more to be done about it.
pub(super) fn used(state: &mut State, event: &InputEvent) -> bool {
    let wakes = event.wakes();
    let waking = &state.input.waking;
    let lights = wakes && (waking.is_awaited || !waking.darkened.is_empty()) && is_dark(state);
    if wakes {
        for id in std::mem::take(&mut state.input.waking.darkened) {
            power::set(state, id, true);
        }
    }
    let waking = &mut state.input.waking;
    waking.lights = lights;
    match event {
        // It is remembered what is down.
        InputEvent::Key { .. } | InputEvent::Button { .. } | InputEvent::TouchDown { .. } => false,
        InputEvent::Gesture { gesture, .. } => {
            let is_nobodys = lights || waking.gesture;
            waking.gesture = is_nobodys && !gesture.ends();
            is_nobodys
        }
        _ => lights,
    }
}

/// Nothing can be seen, since nobody wants it to be.
fn is_dark(state: &State) -> bool {
    let mut outputs = state.outputs.states().peekable();
    outputs.peek().is_some() && outputs.all(|output| !output.on) && power::wanted(state).is_empty()
}

impl Gesture {
    /// Whether it is over.
    const fn ends(&self) -> bool {
        matches!(self, Gesture::SwipeEnd { .. } | Gesture::PinchEnd { .. } | Gesture::HoldEnd { .. })
    }
}
