//! Callbacks for frames that are written in place. The deadline is the moment at which the beam reaches the client's
//! first row, not the latch of the refresh (`upbeat-lab/interaction` does the same).
//!
//! ```text
//!   present(k)            call back          row_deadline(k)     beam
//!       │                    ├─── budget ────────┤─ write ─┤ margin │
//!       └ ready_by(k) lies before: a whole picture would have to be there by then
//! ```
//!
//! A frame that misses its row is composed and seen a refresh later. Learned costs forgive rare frames, so a client whose
//! cost rises would miss several rows in a row. The frame after a miss has a whole refresh until its row instead of
//! the learned budget, or two where the frame before it took longer than that: there are never two misses in a row,
//! and in the worst case every other refresh has a frame (Presto 3.1, as in [`late_frame`](crate::late_frame)).

use super::{Pacer, PlannedCallback};
use crate::defaults::CLIENT_FLOOR;
use crate::output::OutputMachine;
use crate::pacing::Pacing;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

impl Pacer {
    /// Whether the client's rules allow that its frames are written in place; at first they do not.
    pub const fn allow_in_place(&mut self, allowed: bool) {
        self.in_place = allowed;
    }

    /// Whether the client's rules allow that its frames are written in place.
    pub const fn is_in_place_allowed(&self) -> bool {
        self.in_place
    }

    /// Whether the client's frames may be written in place. Pacing at the refresh, which serves comparison, excludes
    /// it.
    pub fn may_be_in_place(&self) -> bool {
        self.in_place && !matches!(self.wish.fixed(), Some(Pacing::Vsync | Pacing::VsyncLate))
    }

    /// Says that the next frame is expected to be written in place, from line `line` of the output on; `None`:
    /// shown as a whole picture.
    pub const fn set_in_place_row(&mut self, line: Option<i32>) {
        self.row = line;
    }

    /// The first line of the expected write in place, if any.
    pub const fn in_place_row(&self) -> Option<i32> {
        if self.in_place { self.row } else { None }
    }

    /// The line that determines the deadline. With a second period of slack it is ignored.
    fn near_row(&self) -> Option<i32> {
        self.in_place_row().filter(|_| !self.second_period)
    }

    /// The deadline for the client's frame for `target`.
    pub fn deadline<T>(&self, target: RefreshIndex, output: &OutputMachine<T>) -> Instant {
        self.row_deadline(target, output).unwrap_or_else(|| output.latch_at(target))
    }

    /// The deadline if the frame is written in place.
    pub(super) fn row_deadline<T>(&self, target: RefreshIndex, output: &OutputMachine<T>) -> Option<Instant> {
        output.row_deadline(target, self.near_row()?)
    }

    /// The last frame was committed in time for its row, but was not written there: a frame of another client was in
    /// the way, for example.
    pub fn note_missed_row(&mut self) {
        self.missed_row.get_or_insert(Span::ZERO);
    }

    /// A callback was answered after `took`.
    pub(super) fn note_row_answer(&mut self, is_late: bool, took: Span) {
        self.missed_row = self.near_row().filter(|_| is_late).map(|_| took);
    }

    /// The callback for `target` or the refresh after it, if the last frame missed its row.
    pub(super) fn plan_after_missed_row<T>(
        &self,
        target: RefreshIndex,
        now: Instant,
        output: &OutputMachine<T>,
    ) -> Option<PlannedCallback> {
        let (took, due) = (self.missed_row?, self.row_deadline(target, output)?);
        let start = (due - output.vsync().interval()).max(now);
        let target = if start + took + CLIENT_FLOOR > due { target.next() } else { target };
        Some(PlannedCallback { target, start, packed: false })
    }

    /// The first refresh that a frame committed at `now` can reach; `otherwise` if it is not written in place.
    pub(super) fn reaches<T>(&self, now: Instant, output: &OutputMachine<T>, otherwise: RefreshIndex) -> RefreshIndex {
        let under_way = |line| output.row_under_way(line, now).map(|(index, _)| index);
        let row = |line| output.next_row(line, now).or_else(|| under_way(line));
        self.near_row().and_then(row).unwrap_or(otherwise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beam::{Beam, ScanDirection};
    use crate::pacer::{CommittedContent, PacerMissBudgets};
    use crate::pacing::PacingWish;
    use crate::vsync::VsyncModel;
    use proptest::prelude::*;

    const START: Instant = Instant::from_nanos(5_000_000_000);
    const LEAD: Span = Span::from_micros(600);
    const LINES: i32 = 720;
    const BLANKING: i32 = 30;

    /// A client whose frames are written in place at `line` if they are in time. If they are not, they are written for
    /// the next refresh, or composed for it. Returns for each frame whether it missed its row.
    fn misses(line: i32, interval: Span, is_composed: bool, costs: &[Span]) -> Vec<bool> {
        let mut output = OutputMachine::<()>::new(VsyncModel::new(interval, START), LEAD, START);
        output.vsync_mut().synchronise(START);
        output.set_scan(Some(Beam::with_blanking((1_280, LINES), BLANKING, ScanDirection::Down, interval)));
        let mut pacer = Pacer::new(PacingWish::Auto, PacerMissBudgets::default());
        pacer.allow_in_place(true);
        pacer.set_in_place_row(Some(line));
        pacer.set_held(true, START);
        let (mut now, mut cpu) = (START + interval * 2, Span::ZERO);
        let mut miss = |cost: &Span| {
            pacer.callback_due(now);
            let PlannedCallback { target, start, .. } = pacer.plan(now, &output).unwrap();
            pacer.called_back(start, Some(cpu), (output.vsync().present(RefreshIndex(target.0 - 1)), interval));
            now = start + *cost;
            cpu += *cost;
            let reaches = output.next_index(now);
            let cpu = Some(cpu);
            let content =
                CommittedContent { at: now, reaches, cpu, queued: false, held_up: Span::ZERO, unfinished: None };
            pacer.committed(content, &output);
            let is_missed = output.row_deadline(target, line).unwrap() < now;
            if is_missed && output.next_row(line, now) == Some(reaches) && is_composed {
                // The beam is within the changed area. The client is called back from the latch on.
                now = output.latch_at(reaches).max(now);
            }
            is_missed
        };
        costs.iter().map(&mut miss).collect()
    }

    fn are_two_in_a_row(misses: &[bool]) -> bool {
        misses.windows(2).any(|pair| pair == [true, true])
    }

    /// The costs 2 ms and 9 ms, by a choice for each frame.
    fn costs(frames: usize, is_long: impl Fn(usize) -> bool) -> Vec<Span> {
        (0..frames).map(|frame| Span::from_millis(if is_long(frame) { 9 } else { 2 })).collect()
    }

    #[test]
    fn client_whose_cost_jumps_never_misses_its_row_twice_in_a_row() {
        for millihertz in [60_000, 144_000] {
            for (line, is_composed) in [(0, false), (20, true), (360, true), (360, false), (700, true)] {
                let misses = |costs: &[Span]| misses(line, Span::from_millihertz(millihertz), is_composed, costs);
                for (what, costs) in [
                    ("9 ms for a while", costs(600, |frame| (300..400).contains(&frame))),
                    ("2 and 9 ms in turn, after a while", costs(600, |frame| frame > 300 && frame % 2 == 0)),
                    ("two of 9 ms now and then", costs(1_200, |frame| frame > 100 && frame % 100 < 2)),
                ] {
                    let found = misses(&costs);
                    assert!(!are_two_in_a_row(&found), "{what}, line {line}, {millihertz} mHz: {found:?}");
                    assert!(found.contains(&true), "{what}: the first long frame is a surprise");
                }
                let usual = misses(&costs(600, |_| false));
                assert!(!usual.contains(&true), "line {line}, {millihertz} mHz: {usual:?}");
            }
        }
    }

    #[test]
    fn callback_comes_late_again_once_a_frame_was_in_time() {
        let interval = Span::from_millihertz(60_000);
        // A single long frame: the frame after it has a whole refresh, and all others the learned budget.
        let mut output = OutputMachine::<()>::new(VsyncModel::new(interval, START), LEAD, START);
        output.vsync_mut().synchronise(START);
        output.set_scan(Some(Beam::with_blanking((1_280, LINES), BLANKING, ScanDirection::Down, interval)));
        let mut pacer = Pacer::new(PacingWish::Auto, PacerMissBudgets::default());
        pacer.allow_in_place(true);
        pacer.set_in_place_row(Some(360));
        pacer.callback_due(START);
        let target = pacer.plan(START, &output).unwrap().target;
        let planned = |pacer: &Pacer| pacer.plan_after_missed_row(target, START, &output);
        assert_eq!(planned(&pacer), None);
        pacer.note_missed_row();
        let due = output.row_deadline(target, 360).unwrap();
        assert_eq!(
            planned(&pacer),
            Some(PlannedCallback { target, start: (due - interval).max(START), packed: false })
        );
        pacer.note_row_answer(true, interval + Span::from_millis(1));
        assert_eq!(planned(&pacer).map(|planned| planned.target), Some(target.next()), "it needs two refreshes");
        pacer.note_row_answer(false, Span::from_millis(2));
        assert_eq!(planned(&pacer), None);
    }

    proptest! {
        #[test]
        fn frame_after_a_miss_is_in_time_unless_it_takes_longer_than_a_refresh_and_than_the_frame_before(
            line in 0..LINES, is_composed in any::<bool>(), millihertz in 48_000_u32..240_000,
            costs in prop::collection::vec((100_i64..12_000).prop_map(Span::from_micros), 1..300),
        ) {
            let interval = Span::from_millihertz(millihertz);
            let misses = misses(line, interval, is_composed, &costs);
            for (pair, costs) in misses.windows(2).zip(costs.windows(2)) {
                let is_expected = costs[1] <= costs[0].min(interval * 2 - CLIENT_FLOOR).max(interval - CLIENT_FLOOR);
                prop_assert!(*pair != [true, true] || !is_expected, "{:?} took {:?}", pair, costs);
            }
        }
    }
}
