//! Switching outputs on by input. That input is not sent to any client.
//!
//! Outputs that a shortcut switched off are switched on by the next input. Outputs that a message or a protocol
//! switched off stay off; the client that did so gets an idle notification and switches them on. A press, touch or
//! motion that is meant to wake the screen, and its release, must not act on a window that the user could not see.

use crate::input::event::{InputEvent, TouchpadGesture};
use crate::output::power::{self, PowerOnEvent};
use crate::state::State;

/// Input that switches outputs on.
#[derive(Debug, Default)]
pub struct OutputWaking {
    /// A client got an idle notification and waits for the next input.
    pub(super) is_awaited: bool,
    /// The present event switches outputs on.
    lights: bool,
    /// The present gesture began with such an event.
    gesture: bool,
}

impl OutputWaking {
    /// Whether the present press and its release are sent to no client.
    pub(super) const fn swallows_press(&self) -> bool {
        self.lights
    }
}

/// There is user activity: switches outputs on that wait for it. Returns whether the event is used up.
pub(super) fn note_activity(state: &mut State, event: &InputEvent) -> bool {
    let wakes = event.wakes();
    let is_awaited = state.input.waking.is_awaited || power::waits_for(state, PowerOnEvent::Input);
    let lights = wakes && is_awaited && is_dark(state);
    if wakes {
        power::light(state, PowerOnEvent::Input);
    }
    let waking = &mut state.input.waking;
    waking.lights = lights;
    match event {
        // Not used up, because these handlers keep track of pressed keys, buttons and fingers.
        InputEvent::Key { .. } | InputEvent::Button { .. } | InputEvent::TouchDown { .. } => false,
        InputEvent::Gesture { gesture, .. } => {
            let is_nobodys = lights || waking.gesture;
            waking.gesture = is_nobodys && !gesture.ends();
            is_nobodys
        }
        _ => lights,
    }
}

/// Whether all outputs are off on purpose.
fn is_dark(state: &State) -> bool {
    let mut outputs = state.outputs.states().peekable();
    outputs.peek().is_some() && outputs.all(|output| !output.is_on()) && power::wanted(state).is_empty()
}

impl TouchpadGesture {
    /// Whether the gesture ends.
    const fn ends(&self) -> bool {
        matches!(
            self,
            TouchpadGesture::SwipeEnd { .. } | TouchpadGesture::PinchEnd { .. } | TouchpadGesture::HoldEnd { .. }
        )
    }
}
