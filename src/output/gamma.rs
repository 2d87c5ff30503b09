//! Gamma ramps of outputs; a new ramp takes effect with the next frame.

use crate::backend::GammaRamp;
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::record::RepaintReason;

/// Entries in each channel of the output's gamma table; `None` if the output has no table.
pub fn size(state: &State, id: OutputId) -> Option<u32> {
    state.outputs.by_id(id)?.display.gamma_size()
}

/// Sets the gamma ramp from the next frame on and schedules that frame; `None` removes the ramp. Returns whether the
/// display supports it.
pub fn set(state: &mut State, id: OutputId, ramp: Option<GammaRamp>) -> bool {
    let Some(output) = state.outputs.by_id_mut(id) else { return false };
    if let Err(error) = output.display.set_gamma(ramp) {
        tracing::warn!(output = output.output.name(), %error, "a gamma ramp was refused");
        return false;
    }
    output.schedule_repaint(RepaintReason::Output);
    true
}
