//! Lower bounds: the fewest drops that any schedule could have with the same costs.

use super::load::{FrameCost, Load};
use super::tally::{FrameClass, RunTally};
use upbeat_timing::time::Span;

/// The bound with skipping cuts animations into pieces of this many refreshes, because its cost grows with the square.
const PIECE: usize = 600;

/// The fewest drops without skipping a frame, with any number of buffers: every stage starts as soon as it can.
///
/// Waiting gains nothing: each start is the maximum of earlier ends, so a delay never makes a later start earlier
/// (simulation finding 2).
pub fn without_skipping(load: &Load) -> RunTally {
    let mut tally = RunTally::new(load.interval);
    for animation in load.animations() {
        let (mut recorded, mut rendered, mut refresh) = (Span::ZERO, Span::ZERO, 0);
        for cost in animation {
            recorded += cost.record;
            rendered = rendered.max(recorded) + cost.render;
            let ready = rendered.as_nanos().div_euclid(load.interval.as_nanos())
                + i64::from(rendered.as_nanos() % load.interval.as_nanos() != 0);
            let shown = (refresh + 1).max(ready);
            tally.count_frame(load.interval * (shown - refresh), Span::ZERO, FrameClass::Direct);
            refresh = shown;
        }
    }
    tally
}

/// A lower bound on the drops of any schedule that may skip frames, knows all costs, and starts no frame more than
/// `lead` refreshes before its own (`None`: at any time before).
///
/// Dynamic programming over refreshes and drops so far. For each number of drops it keeps the earliest end of each
/// stage separately. No single schedule need reach both: hence a bound, not a schedule.
///
/// Frame k belongs to refresh k here, even after a skipped frame. A schedule that skips nothing shows all later frames
/// a refresh later after each drop. On one sequence of costs it may be luckier; over many it is not.
pub fn with_skipping(load: &Load, lead: Option<u64>) -> u64 {
    load.animations()
        .flat_map(|animation| animation.chunks(PIECE))
        .map(|piece| skip_in(piece, load.interval, lead))
        .sum()
}

fn skip_in(costs: &[FrameCost], interval: Span, lead: Option<u64>) -> u64 {
    const NEVER: Span = Span::MAX;
    // For each number of drops: the earliest ends of the two stages.
    let mut ends = vec![(NEVER, NEVER); costs.len() + 1];
    ends[0] = (Span::ZERO, Span::ZERO);
    for (index, cost) in costs.iter().enumerate() {
        let deadline = interval * (index as i64 + 1);
        let release = lead.map_or(Span::ZERO, |lead| (deadline - interval * lead as i64).max(Span::ZERO));
        for drops in (0..=index).rev() {
            let (recorded, rendered) = ends[drops];
            // Skip this frame: one drop more, no work.
            let fewer = &mut ends[drops + 1];
            *fewer = (fewer.0.min(recorded), fewer.1.min(rendered));
            let recorded = if recorded == NEVER { NEVER } else { recorded.max(release) + cost.record };
            let rendered = if rendered == NEVER { NEVER } else { rendered.max(recorded) + cost.render };
            ends[drops] = if rendered <= deadline { (recorded, rendered) } else { (NEVER, NEVER) };
        }
    }
    ends.iter().position(|(_, rendered)| *rendered != NEVER).unwrap_or(costs.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::animation::{AnimationPolicy, run};
    use proptest::prelude::*;
    use upbeat_timing::frames::AheadSettings;

    const INTERVAL: Span = Span::from_millis(16);

    fn load(costs: &[(i64, i64)]) -> Load {
        let frame = |(record, render): &(i64, i64)| FrameCost {
            record: Span::from_micros(*record),
            render: Span::from_micros(*render),
        };
        Load { name: "test".into(), interval: INTERVAL, animation: 0, frames: costs.iter().map(frame).collect() }
    }

    #[test]
    fn a_skippable_frame_of_three_periods_costs_one_drop() {
        let mut costs = [(1_000, 14_000); 20];
        costs[10] = (1_000, 47_000);
        let load = load(&costs);
        assert_eq!(with_skipping(&load, Some(2)), 1);
        assert_eq!(without_skipping(&load).drops, 1, "ten frames before it have saved 10 ms");
        assert_eq!(with_skipping(&load, None), 1);
    }

    proptest! {
        #[test]
        fn no_policy_beats_its_bound(
            costs in prop::collection::vec((500_i64..12_000, 500_i64..40_000), 1..60), slots in 3_u8..7
        ) {
            let load = load(&costs);
            let tally = run(&load, &AnimationPolicy::ahead(AheadSettings::buffers(slots).with_run_ahead(3)));
            prop_assert!(without_skipping(&load).drops <= tally.drops);
            let lead = u64::from(slots);
            prop_assert!(with_skipping(&load, None) <= with_skipping(&load, Some(lead)));
            prop_assert!(with_skipping(&load, Some(lead)) <= with_skipping(&load, Some(lead - 1)));
        }
    }
}
