//! Outputs that are taken out of the layout, and put back: to clients and windows they are unplugged, while their displays
//! are kept, dark.
//!
//! ```text
//!   park ─► dark ─► gone, as if unplugged ─► (kept) ─┬─► unpark: plugged in where it was
//!                                                    └─► its display says that it is gone
//! ```

use super::hotplug::{self, Placement};
use super::power;
use crate::backend::{Display, DisplayEvent};
use crate::state::State;
use crate::timing::id::OutputId;

/// The display of an output that was taken out of the layout.
pub struct Parked {
    display: Box<dyn Display>,
    placement: Placement,
}

impl Parked {
    /// The display.
    pub fn display(&self) -> &dyn Display {
        self.display.as_ref()
    }

    /// Where and how it is shown when it comes back.
    pub const fn placement(&self) -> &Placement {
        &self.placement
    }
}

/// Takes an output out of the layout.
pub fn park(state: &mut State, id: OutputId) {
    power::set(state, id, false);
    let Some(output) = hotplug::take(state, id) else { return };
    let (location, scale) = (output.output.current_location(), output.output.current_scale().fractional_scale());
    let placement = Placement { position: Some((location.x, location.y)), scale: Some(scale), pacing: output.wish };
    tracing::info!(output = output.display.name(), "taken out of the layout");
    state.outputs.parked.push(Parked { display: output.display, placement });
}

/// Puts an output back where it was, or at `position`, at `scale`.
pub fn unpark(state: &mut State, name: &str, position: Option<(i32, i32)>, scale: Option<f64>) -> Option<OutputId> {
    let index = state.outputs.parked.iter().position(|parked| parked.display.name() == name)?;
    let Parked { mut display, placement } = state.outputs.parked.swap_remove(index);
    // What it said before it went dark is of frames that nobody knows any more.
    while display.poll_event().is_some() {}
    display.set_power(true);
    let placement =
        Placement { position: position.or(placement.position), scale: scale.or(placement.scale), ..placement };
    Some(hotplug::add(state, display, placement))
}

/// Forgets displays that were unplugged meanwhile.
pub fn forget_gone(state: &mut State) {
    state.outputs.parked.retain_mut(|parked| {
        std::iter::from_fn(|| parked.display.poll_event()).all(|event| event != DisplayEvent::Gone)
    });
}
