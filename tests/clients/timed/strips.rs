//! Layout passes over columns while a client asks for another width in every turn.

use crate::strips::together::{TURNS, arrangements_of_changing_wishes};
use crate::timed_figure::Noise;

#[test]
#[ignore = "timed: ./up measure"]
fn columns_are_arranged_in_few_of_the_turns_in_which_a_wish_changes() {
    let noise = Noise::begin();
    let arrangements = arrangements_of_changing_wishes();
    // The pause is eight times as long as the pass before it: at least every second turn falls into a pause.
    noise.judge(arrangements <= TURNS / 2, format_args!("{arrangements} arrangements in {TURNS} turns"));
}
