//! Positions that repeat the present ones.
//!
//! wlr-randr sends the positions of all outputs with each change. A position that an output has already is not the
//! user's wish. If it placed the output, the output could not make room any more when another one changes its scale,
//! transform or mode.
//!
//! ```text
//!   no position differs ───► the repeated ones count as not sent: outputs are laid out again side by side
//!   a position differs ────► a layout: all of its positions hold from then on
//! ```

use super::transaction::HeadConfiguration;
use crate::state::State;

/// The position of an output before a configuration.
struct FormerPosition {
    name: String,
    /// `None`: it is disabled, and has none.
    position: Option<(i32, i32)>,
    is_placed: bool,
}

/// Removes the positions of outputs that are not placed, if no output gets another position.
pub(super) fn remove(state: &State, heads: &mut [HeadConfiguration]) {
    let shown = state.outputs.states().map(|output| {
        let position = output.output().current_location();
        let position = Some((position.x, position.y));
        FormerPosition { name: output.output().name(), position, is_placed: output.is_placed() }
    });
    let parked = state.outputs.parked().iter().map(|parked| FormerPosition {
        name: parked.display().name().to_owned(),
        position: parked.placement().position,
        is_placed: parked.is_placed(),
    });
    let former: Vec<_> = shown.chain(parked).collect();
    let known = |head: &HeadConfiguration| former.iter().find(|known| known.name == head.output);
    let is_repeat = |head: &HeadConfiguration| {
        head.position.is_none() || known(head).is_some_and(|it| it.position == head.position)
    };
    if heads.iter().all(is_repeat) {
        for head in heads.iter_mut().filter(|head| known(head).is_some_and(|it| !it.is_placed)) {
            head.position = None;
        }
    }
}
