//! Clients at a rate of their own on an output with a fixed rate: each frame is shown in the first refresh that it can
//! reach, none later, and none is skipped.

use super::even_window::{CursorCase, PACES, RhythmCase, TestPanel};
use super::*;

const FIXED: TestPanel = TestPanel { lowest_millihertz: 60_000, highest_millihertz: 60_000 };
/// A refresh shows commits until this long before it: the time to compose and submit, and an early latch, which
/// forgives a compositor that wakes late.
const BEFORE_REFRESH: Span = Span::from_micros(2_700);

#[test]
fn frames_are_shown_in_the_first_refresh_that_they_can_reach() {
    for rate in [24, 45] {
        let cursors = [CursorCase::Visible, CursorCase::Hidden];
        for (pace, cursor) in PACES.into_iter().flat_map(|pace| cursors.map(|cursor| (pace, cursor))) {
            let case = RhythmCase { panel: FIXED, rate, pace, cursor, behind: None };
            let frames = case.watch();
            // The last frame waits for its refresh.
            let shown = frames.presented.len();
            assert!(shown + 1 >= frames.committed, "{case}: {shown} of {} frames were shown", frames.committed);
            for (commit, light) in frames.presented {
                let took = light - commit;
                assert!(took < FIXED.shortest() + BEFORE_REFRESH, "{case}: {took} from commit to light");
            }
        }
    }
}
