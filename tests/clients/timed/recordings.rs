//! Pictures that a recorder takes of a window that draws.

use crate::recordings::beside::{PICTURES, refreshes};
use crate::timed_figure::Noise;

#[test]
#[ignore = "timed: ./up measure"]
fn recorder_takes_a_picture_at_nearly_every_refresh() {
    let noise = Noise::begin();
    let (_, taken) = refreshes(true);
    noise.judge(taken >= PICTURES as usize - 2, format_args!("{taken} of {PICTURES} pictures were taken"));
}
