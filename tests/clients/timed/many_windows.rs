//! CPU time to open one more window.

use crate::many_windows::{Opening, open_and_close};
use crate::timed_figure::Noise;

/// Allowed cost of one more window beside hundreds, as a multiple of its cost beside tens.
const MOST: u32 = 12;

#[test]
#[ignore = "timed: ./up measure"]
fn hundreds_of_windows_open_about_as_quickly_as_tens() {
    let noise = Noise::begin();
    let Opening { few, many, again } = open_and_close();
    let keeps = many < few * MOST && again < many * MOST;
    noise.judge(
        keeps,
        format_args!("one more window: {few:?} beside 40, {many:?} beside 400, {again:?} after they are gone"),
    );
}
