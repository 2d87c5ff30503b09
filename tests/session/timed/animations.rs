//! Our own animations have enough frames, and some of them are rendered ahead.

use crate::animations::runs;
use crate::timed_figure::Noise;

/// Four animations of three frames each.
const FEWEST_FRAMES: u64 = 12;

#[test]
#[ignore = "timed: ./up measure"]
fn animations_show_frames_and_render_some_of_them_ahead() {
    let noise = Noise::begin();
    let runs = runs();
    let count = |name: &str| runs.each_ref().map(|run| run[name].as_u64().unwrap());
    let (frames, ahead) = (count("frames"), count("rendered_ahead"));
    let keeps = frames.iter().all(|count| *count >= FEWEST_FRAMES) && ahead[1] > 0;
    noise.judge(keeps, format_args!("without and with rendering ahead: frames {frames:?}, rendered ahead {ahead:?}"));
}
