//! A renderer that takes longer than a refresh: what was finished before something changed is shown rather than nothing.
//!
//! ```text
//!  refresh        k        k+1       k+2       k+3       k+4
//!  rendering          ┊▓▓▓ fresh ▓▓▓▓▓┊
//!  on screen      k        k+1       (k+2)     –         k+4'        k+1 was in flight when the key went down, k+2 stale
//!                      ▲ key
//! ```

use super::ahead::{AHEAD, SLOW, ahead, ahead_by, lasting, maximise, records};
use super::*;
use crate::fixture::gles;
use upbeat::backend::headless::OutputOptions;

/// The interval of a display of [`SLOW`].
const INTERVAL: Span = Span::from_millihertz(SLOW);
/// Frames that are slow before: more than the quick ones after them, so that slow is what they usually are.
const USUAL: usize = 30;
/// Frames after which all that wait are for one refresh after another.
const IN_A_ROW: usize = 3;

fn shown(world: &World) -> usize {
    records(world).filter(|record| record.presented.is_some()).count()
}

/// The frames of our own that a key made stale and that were shown all the same, and the one that was on screen before, by
/// their numbers on the display.
fn stale_after_a_key(queue: usize) -> Option<Vec<u64>> {
    let mut world = ahead_by(gles()?, SLOW, queue, lasting(8));
    world.drawing_takes(INTERVAL * 6 / 5);
    let _window = maximise(&mut world);
    world.until("frames that are usually slow", |world| ahead(world).len() > USUAL);
    world.drawing_takes(Span::ZERO);
    world.until("frames that wait for one refresh after another", |world| {
        let newest: Vec<_> = ahead(world).into_iter().rev().take(IN_A_ROW).collect();
        let waited = |record: &FrameRecord| record.present - record.composed.unwrap() > record.interval * 2;
        newest.iter().all(waited) && newest.windows(2).all(|pair| pair[0].target == pair[1].target.next())
    });
    let before = shown(&world);
    world.until("a refresh", |world| {
        shown(world) > before && world.state.outputs.states().all(|output| output.conductor().output().is_busy())
    });
    world.drawing_takes(INTERVAL * 6 / 5);
    world.key(KEY_A, true);
    let pressed = world.now();
    world.until("a fresh frame", |world| {
        records(world).any(|record| record.latched > pressed && record.presented.is_some())
    });
    let seen: Vec<FrameRecord> = records(&world).filter(|record| record.presented.is_some()).copied().collect();
    let first = seen.iter().position(|record| record.presented > Some(pressed)).unwrap();
    let stale = seen[first - 1..].iter().take_while(|record| record.latched < pressed);
    Some(stale.map(|record| record.sequence.unwrap()).collect())
}

#[test]
fn what_was_finished_before_a_key_is_shown_where_a_fresh_frame_would_be_too_late() {
    for queue in [OutputOptions::default().queue, usize::from(AHEAD)] {
        let Some(shown) = stale_after_a_key(queue) else { return };
        // The one on screen, the one in flight, the one that stays: each in the refresh after the one before.
        let in_a_row = shown.windows(2).all(|pair| pair[1] == pair[0] + 1);
        assert!(shown.len() == 3 && in_a_row, "{queue} in the display: {shown:?}");
    }
}
