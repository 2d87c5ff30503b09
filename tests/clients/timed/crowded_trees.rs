//! CPU time of a commit that moves one of very many parts.

use crate::crowded_trees::moving;
use crate::timed_figure::Noise;

/// A commit that moves one of a thousand parts may take so many times what one takes that moves the only one: Smithay copies
/// lists of children, which makes 10 to 15. When all parts were looked at it took more than 170 times as long where they are
/// synchronised, and 46 times where they are not.
const MOST: u32 = 26;

#[test]
#[ignore = "timed: ./up measure"]
fn a_commit_that_moves_one_of_a_thousand_parts_looks_at_none_of_the_others() {
    for synchronised in [true, false] {
        let noise = Noise::begin();
        let (one, many) = (moving(1, synchronised), moving(1_000, synchronised));
        let figure = format!("{one:?} with one part, {many:?} with 1000, synchronised: {synchronised}");
        noise.judge(many < one * MOST, figure);
    }
}
