//! Outputs that are off, and what lights them: that is for nobody.
//!
//! Off by a shortcut, they are lit by the next input. Off by a message or a protocol, whoever switched them off lights them, and
//! hears that somebody is there by an idle notification. What is pressed, touched or moved to see something again is no input for
//! what cannot be seen, and neither is its release.

use crate::input::event::{Gesture, InputEvent};
use crate::output::power::{self, LitBy};
use crate::state::State;

/// Input that lights outputs, and is not for anybody.
#[derive(Debug, Default)]
pub struct Waking {
    /// Somebody was told that nobody does anything, and hears of the next input.
    pub(super) is_awaited: bool,
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

/// Somebody uses the seat. Lights what was switched off until then; returns whether there is no more to be done about it.
pub(super) fn used(state: &mut State, event: &InputEvent) -> bool {
    let wakes = event.wakes();
    let is_awaited = state.input.waking.is_awaited || power::waits_for(state, LitBy::Input);
    let lights = wakes && is_awaited && is_dark(state);
    if wakes {
        power::light(state, LitBy::Input);
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
    outputs.peek().is_some() && outputs.all(|output| !output.is_on()) && power::wanted(state).is_empty()
}

impl Gesture {
    /// Whether it is over.
    const fn ends(&self) -> bool {
        matches!(self, Gesture::SwipeEnd { .. } | Gesture::PinchEnd { .. } | Gesture::HoldEnd { .. })
    }
}
