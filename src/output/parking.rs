//! Outputs that are disabled (taken out of the layout) and enabled again. Clients and windows see them as unplugged,
//! while the compositor keeps their displays, dark.
//!
//! ```text
//!   park ─► dark ─► gone, as if unplugged ─► (kept) ─┬─► unpark: plugged in where it was
//!                                                    └─► its display reports that it is gone
//! ```

use super::hotplug::{self, Placement};
use super::panel::turn_of;
use super::power;
use crate::backend::{Display, DisplayEvent};
use crate::state::State;
use upbeat_timing::id::OutputId;

/// The display of an output that was taken out of the layout.
pub struct Parked {
    display: Box<dyn Display>,
    placement: Placement,
    /// Whether its position was configured.
    is_placed: bool,
}

impl Parked {
    pub fn display(&self) -> &dyn Display {
        self.display.as_ref()
    }

    /// Position, scale and transform for its return.
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }

    /// Whether its position was configured.
    pub const fn is_placed(&self) -> bool {
        self.is_placed
    }

    /// Changes the settings for its return. An absent position stays; a scale that is absent is guessed. `is_placed`: its
    /// position is a configured one from now on.
    pub fn replace_placement(&mut self, new: Placement, is_placed: bool) {
        self.is_placed |= is_placed;
        self.placement = Placement { position: new.position.or(self.placement.position), ..new };
    }
}

/// Takes an output out of the layout.
pub fn park(state: &mut State, id: OutputId) {
    power::set(state, id, false);
    let Some(output) = hotplug::take_out(state, id) else { return };
    let (location, scale) = (output.output.current_location(), output.output.current_scale().fractional_scale());
    let placement = Placement {
        position: Some((location.x, location.y)),
        scale: (!output.guesses_scale).then_some(scale),
        turn: Some(turn_of(&output.output)),
        pacing: output.wish,
        front_buffer: output.front_buffer,
    };
    tracing::info!(output = output.display.name(), "taken out of the layout");
    state.outputs.parked.push(Parked { display: output.display, placement, is_placed: output.is_placed });
}

/// Restores an output at its former position; outputs without a configured position make room. `None`: its display is
/// gone.
pub fn unpark(state: &mut State, name: &str) -> Option<OutputId> {
    let index = state.outputs.parked.iter().position(|parked| parked.display.name() == name)?;
    let Parked { mut display, placement, is_placed } = state.outputs.parked.swap_remove(index);
    // Drain events of frames that were already forgotten.
    if is_gone(display.as_mut()) {
        return None;
    }
    display.set_power(true);
    Some(hotplug::add_back(state, display, placement, is_placed))
}

/// Forgets displays that were unplugged while parked.
pub fn forget_gone(state: &mut State) {
    state.outputs.parked.retain_mut(|parked| !is_gone(parked.display.as_mut()));
}

/// Drains the display's events; returns whether it reported that it is gone.
fn is_gone(display: &mut dyn Display) -> bool {
    while let Some(event) = display.poll_event() {
        match event {
            DisplayEvent::Gone => return true,
            DisplayEvent::ModeSettled { result: Err(reason), .. } => {
                let output = display.name();
                tracing::warn!(output, reason, "a mode for its return was refused");
            }
            _ => {}
        }
    }
    false
}
