//! Layout passes over columns while a client asks for another width in every turn.

use crate::strips::layout_passes::{TURNS, arrangements_of_changing_wishes};
use crate::timed_figure::Noise;

#[test]
#[ignore = "timed: ./up measure"]
fn layout_passes_are_limited_while_a_client_changes_its_width() {
    let noise = Noise::begin();
    let arrangements = arrangements_of_changing_wishes();
    // The pause is eight times as long as the pass before it: at least every second turn falls into a pause.
    noise.judge(arrangements <= TURNS / 2, format_args!("{arrangements} arrangements in {TURNS} turns"));
}
