//! CPU time of the session's thread while many pictures are copied.

use std::time::Duration;

use crate::capture::turns_of_many_pictures;
use crate::timed_figure::Noise;

#[test]
#[ignore = "timed: ./up measure"]
fn copy_work_of_many_captures_is_spread_over_turns() {
    let noise = Noise::begin();
    let work = turns_of_many_pictures();
    let (longest, all) = (work.iter().max().copied().unwrap_or_default(), work.iter().sum::<Duration>());
    noise
        .judge(longest * 4 < all, format_args!("60 pictures: one of {} turns took {longest:?} of {all:?}", work.len()));
}
