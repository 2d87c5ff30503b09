//! Gamma ramps of outputs: changed with the next frame.

use crate::backend::GammaRamp;
use crate::state::State;
use upbeat_timing::id::OutputId;
use upbeat_timing::record::Need;

/// How many entries a channel of the output's table has; `None` where it has none.
pub fn size(state: &State, id: OutputId) -> Option<u32> {
    state.outputs.by_id(id)?.display.gamma_size()
}

/// Shows colours like this from the next frame on, which is drawn for that purpose; `None`: as they are. Returns whether
/// the display does.
pub fn set(state: &mut State, id: OutputId, ramp: Option<GammaRamp>) -> bool {
    let Some(output) = state.outputs.by_id_mut(id) else { return false };
    if let Err(error) = output.display.set_gamma(ramp) {
        tracing::warn!(output = output.output.name(), %error, "a gamma ramp was refused");
        return false;
    }
    output.need(Need::Output);
    true
}
