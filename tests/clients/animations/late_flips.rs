//! A display that sometimes shows a frame late: the frames queued behind it still get their own refreshes.
//!
//! ```text
//!  refresh      k     k+1    k+2    k+3
//!  on screen    ·  ✗  k      k+2    k+3        k+1 was dropped
//! ```

use super::ahead::{AHEAD, SLOW, ahead, ahead_on, lasting, maximise, records};
use super::*;
use upbeat::backend::headless::OutputOptions;
use upbeat::backend::headless::fault::FaultScript;
use upbeat::render::Renderer;
use upbeat_timing::record::{FrameOutcome, LostReason};

/// Number of flips held up, the frame of the first, and the frames between two: enough to run as far ahead again.
const FAULTS: u64 = 7;
const FIRST: u64 = 20;
const APART: u64 = 10;

#[test]
fn frames_queued_behind_a_late_frame_keep_their_refreshes() {
    let script: String = (0..FAULTS).map(|nth| format!("frame {} hold-flip\n", FIRST + nth * APART)).collect();
    let faults: FaultScript = script.parse().unwrap();
    let options = OutputOptions { queue: usize::from(AHEAD), faults, ..OutputOptions::default() };
    let mut world = ahead_on(Renderer::pixman().unwrap(), SLOW, options, lasting(8));
    let _window = maximise(&mut world);
    world.run_until("all faults, and some frames", |world| {
        ahead(world).last().is_some_and(|last| last.frame > FIRST + FAULTS * APART)
    });
    let shown = ahead(&world);
    let gave_way = records(&world).filter(|record| record.outcome == FrameOutcome::Lost(LostReason::Superseded));
    assert!((FAULTS as usize / 2..=FAULTS as usize + 2).contains(&gave_way.count()), "{shown:#?}");
    let is_right = |record: &&FrameRecord| record.sequence == record.due_sequence;
    let late = shown.len() - shown.iter().filter(is_right).count();
    assert!(late <= FAULTS as usize + 2, "{late} of {} were late", shown.len());
    // A late flip must not reduce how far ahead the next frames are rendered.
    let far = |record: &FrameRecord| record.present - record.composed.unwrap() > record.interval * 3;
    for some in shown[FIRST as usize..].chunks_exact(APART as usize) {
        assert!(some.iter().filter(|record| far(record)).count() > some.len() / 2, "{some:#?}");
    }
}
