//! CPU time to open one more window.

use crate::many_windows::{OpenCosts, open_and_close};
use crate::timed_figure::Noise;

/// Allowed cost of one more window beside hundreds, as a multiple of its cost beside tens.
const MOST: u32 = 12;

#[test]
#[ignore = "timed: ./up measure"]
fn opening_a_window_beside_hundreds_costs_about_as_much_as_beside_tens() {
    let noise = Noise::begin();
    let OpenCosts { few, many, after_close: again } = open_and_close();
    let keeps = many < few * MOST && again < many * MOST;
    noise.judge(
        keeps,
        format_args!("one more window: {few:?} beside 40, {many:?} beside 400, {again:?} after they are gone"),
    );
}
