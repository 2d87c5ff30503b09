//! A renderer that takes longer than a refresh: a stale finished frame is shown rather than none.
//!
//! ```text
//!  refresh        k        k+1       k+2       k+3       k+4
//!  rendering          ┊▓▓▓ fresh ▓▓▓▓▓┊
//!  on screen      k        k+1       (k+2)     –         k+4'        k+1 was in flight at the key press, k+2 is stale
//!                      ▲ key
//! ```

use super::ahead::{AHEAD, SLOW, ahead, ahead_by, lasting, maximise, records};
use super::*;
use crate::fixture::gles;
use upbeat::backend::headless::OutputOptions;

/// Refresh interval of a [`SLOW`] display.
const INTERVAL: Span = Span::from_millihertz(SLOW);
/// Slow frames at the start: more than the quick frames after them, so that the estimate of the render time stays high.
const USUAL: usize = 30;
/// This many waiting frames in a row must be for successive refreshes.
const IN_A_ROW: usize = 3;

fn shown(world: &TestWorld) -> usize {
    records(world).filter(|record| record.presented.is_some()).count()
}

/// Display sequence numbers of the frame on screen at a key press and of the frames made stale by it but still shown.
/// `None` without OpenGL ES.
fn stale_sequences_after_key(queue: usize) -> Option<Vec<u64>> {
    let mut world = ahead_by(gles()?, SLOW, queue, lasting(8));
    world.drawing_takes(INTERVAL * 6 / 5);
    let _window = maximise(&mut world);
    world.run_until("enough slow frames", |world| ahead(world).len() > USUAL);
    world.drawing_takes(Span::ZERO);
    world.run_until("frames that wait for successive refreshes", |world| {
        let newest: Vec<_> = ahead(world).into_iter().rev().take(IN_A_ROW).collect();
        let waited = |record: &FrameRecord| record.present - record.composed.unwrap() > record.interval * 2;
        newest.iter().all(waited) && newest.windows(2).all(|pair| pair[0].target == pair[1].target.next())
    });
    let before = shown(&world);
    world.run_until("a refresh", |world| {
        shown(world) > before && world.state.outputs.states().all(|output| output.conductor().output().is_busy())
    });
    world.drawing_takes(INTERVAL * 6 / 5);
    world.key(KEY_A, true);
    let pressed = world.now();
    world.run_until("a fresh frame", |world| {
        records(world).any(|record| record.latched > pressed && record.presented.is_some())
    });
    let seen: Vec<FrameRecord> = records(&world).filter(|record| record.presented.is_some()).copied().collect();
    let first = seen.iter().position(|record| record.presented > Some(pressed)).unwrap();
    let stale = seen[first - 1..].iter().take_while(|record| record.latched < pressed);
    Some(stale.map(|record| record.sequence.unwrap()).collect())
}

#[test]
fn stale_finished_frame_is_shown_if_a_fresh_frame_would_be_late() {
    for queue in [OutputOptions::default().queue, usize::from(AHEAD)] {
        let Some(shown) = stale_sequences_after_key(queue) else { return };
        // The frame on screen, the frame in flight and the frame kept as insurance are shown in successive refreshes.
        let in_a_row = shown.windows(2).all(|pair| pair[1] == pair[0] + 1);
        assert!(shown.len() == 3 && in_a_row, "{queue} in the display: {shown:?}");
    }
}
