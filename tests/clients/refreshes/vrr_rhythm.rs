//! Clients in their own rhythm on an output with a variable refresh rate: the distances of their frames on screen are those
//! of their commits, however a client is paced and whatever the pointer does.
//!
//! ```text
//!   rate within the panel's range   each frame at once                      distances of lights are those of commits
//!   below it (24 fps)               each frame at once, then shown again    the same, between first showings
//!   above it (100 fps on 60 Hz)     the panel at its shortest interval      callbacks and fifo hold the client back;
//!                                                                           otherwise each refresh has the newest frame
//! ```

use super::even_window::{ClientPace, CursorCase, MOVING, PACES, RhythmCase, RhythmFigures, TestPanel, WATCHED};
use super::vrr_cadence::TO_LIGHT;
use super::*;

/// 48 to 144 Hz.
const WIDE: TestPanel = TestPanel { lowest_millihertz: 48_000, highest_millihertz: 144_000 };
/// 40 to 60 Hz: no rate between 30 and 40 Hz is a rate of the panel, or half of one.
const NARROW: TestPanel = TestPanel { lowest_millihertz: 40_000, highest_millihertz: 60_000 };
/// Allowed difference between the distances of two commits and of their lights.
const OFF: Span = Span::from_millis(1);
/// The panel is never faster than its range by more than a turn of the loop.
const EXACT: Span = Span::from_micros(30);
/// Frames at the end of the measurement that are not shown yet: two wait behind a fifo barrier, and one for the panel.
const NOT_SHOWN_YET: usize = 3;

/// The distances of frames on screen are those of commits, and no frame waits longer than it has to.
#[track_caller]
fn assert_in_rhythm(case: RhythmCase) {
    let frames = case.watch();
    let figures = frames.figures();
    assert_eq!(frames.lost, 0, "{case}: frames were not shown");
    let expected = (WATCHED.as_nanos() / case.period().as_nanos()) as usize;
    let shown = frames.presented.len();
    assert!(shown + NOT_SHOWN_YET >= expected && shown + NOT_SHOWN_YET >= frames.committed, "{case}: {shown} frames");
    let RhythmFigures { off, most_off, shortest, oldest, .. } = figures;
    assert!(off < OFF && most_off < OFF * 2, "{case}: {figures:?}");
    assert!(shortest + EXACT >= case.panel.shortest(), "{case}: {figures:?}");
    // At its highest rate the panel cannot catch up with a client that it was behind at first.
    let is_highest = case.period() <= case.panel.shortest();
    let behind = if is_highest { case.panel.shortest() } else { case.behind.unwrap_or(Span::ZERO) };
    assert!(oldest <= behind + TO_LIGHT, "{case}: {figures:?}");
}

/// A client that is faster than the panel: a refresh at each shortest interval. Callbacks and fifo barriers hold the
/// client back, and each of its frames is shown. Otherwise each refresh shows the newest frame.
#[track_caller]
fn assert_at_highest_rate(case: RhythmCase) {
    let (frames, fastest) = (case.watch(), case.panel.shortest());
    let figures = frames.figures();
    let (shown, refreshes) = (frames.presented.len(), (WATCHED.as_nanos() / fastest.as_nanos()) as usize);
    assert!(shown + NOT_SHOWN_YET >= refreshes, "{case}: {shown} frames in {refreshes} refreshes");
    let RhythmFigures { off, shortest, longest, oldest, .. } = figures;
    assert!(shortest + EXACT >= fastest && longest < fastest + OFF, "{case}: {figures:?}");
    // A client without a callback waits for buffers: one is on screen, and the two others wait for their refreshes.
    let latest = match case.pace {
        ClientPace::Callback => fastest,
        ClientPace::Fifo => fastest * 2,
        ClientPace::Neither => case.period(),
    };
    assert!(oldest <= latest + TO_LIGHT, "{case}: {figures:?}");
    if case.pace != ClientPace::Neither {
        assert!(shown + NOT_SHOWN_YET >= frames.committed, "{case}: {shown} of {} frames", frames.committed);
        assert_eq!(frames.lost, 0, "{case}: frames were not shown");
        assert!(off < OFF, "{case}: {figures:?}");
    }
}

/// Each pace with each pointer that moves.
fn moving_cases(panel: TestPanel, rate: u32) -> impl Iterator<Item = RhythmCase> {
    let cursors = move |pace| MOVING.map(|cursor| RhythmCase { panel, rate, pace, cursor, behind: None });
    PACES.into_iter().flat_map(cursors)
}

#[test]
fn frames_keep_the_rhythm_of_commits_beside_a_moving_mouse_on_a_wide_range() {
    [24, 45, 60, 100].into_iter().flat_map(|rate| moving_cases(WIDE, rate)).for_each(assert_in_rhythm);
}

#[test]
fn frames_keep_the_rhythm_of_commits_beside_a_moving_mouse_on_a_narrow_range() {
    [24, 45, 60].into_iter().flat_map(|rate| moving_cases(NARROW, rate)).for_each(assert_in_rhythm);
}

#[test]
fn client_above_the_range_is_shown_at_each_shortest_interval() {
    moving_cases(NARROW, 100).for_each(assert_at_highest_rate);
}

/// 30 frames a second are half of the narrow panel's highest rate: the panel is never free for longer than a moment.
#[test]
fn a_subsurface_that_commits_later_does_not_break_the_rhythm_of_its_parent() {
    let later = |pace| if pace == ClientPace::Neither { [1, 2].as_slice() } else { &[1] };
    for (panel, rate) in [(WIDE, 30), (WIDE, 60), (NARROW, 24), (NARROW, 30), (NARROW, 45)] {
        for (pace, behind) in PACES.into_iter().flat_map(|pace| later(pace).iter().map(move |behind| (pace, *behind))) {
            for cursor in [CursorCase::Still, CursorCase::Visible] {
                assert_in_rhythm(RhythmCase { panel, rate, pace, cursor, behind: Some(Span::from_millis(behind)) });
            }
        }
    }
}

/// Rates that the panel shows by repeating each picture, and rates at both ends of its range.
#[test]
fn frames_keep_the_rhythm_of_commits_at_the_ends_of_the_range() {
    for (panel, rate) in [(WIDE, 20), (WIDE, 47), (WIDE, 50), (WIDE, 140), (NARROW, 30), (NARROW, 41)] {
        for cursor in [CursorCase::Still, CursorCase::Visible] {
            assert_in_rhythm(RhythmCase { panel, rate, pace: ClientPace::Neither, cursor, behind: None });
        }
    }
}
