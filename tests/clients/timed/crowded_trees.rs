//! CPU time of a commit that moves one of very many subsurfaces.

use crate::crowded_trees::moving;
use crate::timed_figure::Noise;

/// Allowed cost of moving one of a thousand subsurfaces, as a multiple of moving an only subsurface. Smithay copies
/// lists of children, which makes 10 to 15. A walk over all subsurfaces made it more than 170 if they were
/// synchronised, and 46 if they were not.
const MOST: u32 = 26;

#[test]
#[ignore = "timed: ./up measure"]
fn moving_one_subsurface_does_not_walk_over_a_thousand_siblings() {
    for synchronised in [true, false] {
        let noise = Noise::begin();
        let (one, many) = (moving(1, synchronised), moving(1_000, synchronised));
        let figure = format!("{one:?} with one part, {many:?} with 1000, synchronised: {synchronised}");
        noise.judge(many < one * MOST, figure);
    }
}
