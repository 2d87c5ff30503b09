//! Content that is written into the picture during scan-out, ahead of the beam (Presto 3.2.1, position-aware
//! rendering).
//!
//! Each row has deadlines of its own, besides `ready_by` of the refresh. A write that ends before the beam comes is
//! seen in the present refresh; a write that begins after the beam has left, in the next refresh. A write while the
//! beam is inside would tear, so it is not made.
//!
//! ```text
//!   present(k)        enters        leaves        present(k+1)     enters
//!       │    seen in k   │ ╳ ╳ ╳ ╳ ╳  │        seen in k+1             │
//!       │   ├ write ┤ ─ ─┤            │
//!             row_deadline(k)
//! ```
//!
//! At a fixed rate this requires a known phase. With variable refresh a scan-out begins with a frame; `row_refresh` begins
//! it in time for the row.

use super::OutputMachine;
use crate::beam::{Beam, PixelRect, WriteDecision};
use crate::defaults::{DELAY_WINDOW, FIRST_WRITE, MOST_DELAY, WRITE_MARGIN, WRITE_WINDOW};
use crate::estimator::{Estimator, MissBudget, SlidingMaximum, WindowQuantile};
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// The scan-out of one output's mode, and the cost of writing in place.
#[derive(Clone, Debug, Default)]
pub(super) struct InPlaceTiming {
    /// How the mode is scanned; `None` if that is unknown or writing in place is off.
    scan: Option<Beam>,
    /// Times from a commit to the last written pixel.
    costs: SlidingMaximum<WRITE_WINDOW>,
    /// How much later than planned writes began, because the thread was busy with other events.
    delays: WindowQuantile<DELAY_WINDOW>,
}

/// The share of planned writes that may begin later than planned for.
const MAY_BE_LATE: MissBudget = MissBudget::per_mille(10);

impl<T> OutputMachine<T> {
    /// Sets how the present mode is scanned, if rectangles of the picture on screen may be rewritten.
    pub fn set_scan(&mut self, scan: Option<Beam>) {
        self.in_place.scan = scan;
    }

    /// How the mode is scanned, if writing in place is possible.
    pub const fn scan(&self) -> Option<Beam> {
        self.in_place.scan
    }

    /// How long before the beam content has to arrive: the cost of writing it, and a margin.
    pub fn write_budget(&self) -> Span {
        // The largest recent cost, since a late write tears or is a refresh late.
        self.in_place.costs.budget(MissBudget::NONE).unwrap_or(FIRST_WRITE) + WRITE_MARGIN
    }

    /// Learns that a rectangle was written within this time after its commit.
    pub fn wrote(&mut self, took: Span) {
        self.in_place.costs.observe(took);
    }

    /// The deadline for content whose first line is `line`, to be seen in refresh `index`; `None` if writing in
    /// place is not possible.
    pub fn row_deadline(&self, index: RefreshIndex, line: i32) -> Option<Instant> {
        let scan = self.scan()?;
        Some(scan.line_start(self.vsync.present(index), line) - self.write_budget())
    }

    /// Learns that a planned write began this much later than planned.
    pub fn began_late(&mut self, by: Span) {
        self.in_place.delays.observe(by.min(MOST_DELAY));
    }

    /// When to begin a write that nothing but the beam makes due: [`row_deadline`](Self::row_deadline), less the usual
    /// delay of the thread.
    pub fn planned_write(&self, index: RefreshIndex, line: i32) -> Option<Instant> {
        let delay = self.in_place.delays.budget(MAY_BE_LATE).unwrap_or(Span::ZERO);
        Some(self.row_deadline(index, line)? - delay)
    }

    /// The first refresh that content whose first line is `line` can reach if it arrives at `now`; `None` also with
    /// variable refresh, whose later refreshes are not known.
    pub fn next_row(&self, line: i32, now: Instant) -> Option<RefreshIndex> {
        self.beam()?;
        // A deadline lies less than an interval after or before its refresh.
        let mut index = RefreshIndex(self.vsync.at_or_after(now).0.saturating_sub(1));
        while self.row_deadline(index, line)? < now {
            index = index.next();
        }
        Some(index)
    }

    /// When the first beam that reaches `rect` at `from` or later lights it, on a display with this scan; `None` if
    /// the phase is unknown.
    pub fn lit_from(&self, scan: Beam, rect: &PixelRect, from: Instant) -> Option<Instant> {
        if !self.vsync.is_trusted(from) {
            return None;
        }
        let mut index = RefreshIndex(self.vsync.at_or_after(from).0.saturating_sub(1));
        loop {
            let light = scan.enters(self.vsync.present(index), rect);
            if light >= from {
                return Some(light);
            }
            index = index.next();
        }
    }

    /// The refresh in which all of `rect` is seen if it is written from `now` on; `None` if the beam would meet the
    /// write, or if its position is unknown.
    pub fn seen_in_place(&self, rect: &PixelRect, now: Instant) -> Option<RefreshIndex> {
        let scan = self.in_place.scan?;
        if self.vsync.is_variable() {
            return self.seen_while_variable(rect, now);
        }
        // The margin also covers the error of the phase.
        if !self.vsync.is_trusted(now) || self.vsync.error(now) > WRITE_MARGIN {
            return None;
        }
        let cost = self.write_budget() - WRITE_MARGIN;
        let next = self.vsync.at_or_after(now);
        let current = RefreshIndex(next.0.saturating_sub(1));
        [current, next].into_iter().find(|index| {
            let before = self.vsync.present(RefreshIndex(index.0.saturating_sub(1)));
            let present = self.vsync.present(*index);
            let fits = scan.decide(present, now, cost, rect, None, WRITE_MARGIN);
            matches!(fits, WriteDecision::Fits(_)) && now >= scan.leaves(before, rect) + WRITE_MARGIN
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beam::ScanDirection;
    use crate::vsync::VsyncModel;
    use proptest::prelude::*;

    const INTERVAL: Span = Span::from_micros(16_000);
    const START: Instant = Instant::from_nanos(1_000_000_000);

    fn scan() -> Beam {
        // 16 µs a line, all blanking left aside.
        Beam { width: 1_000, height: 900, direction: ScanDirection::Down, active: Span::from_micros(14_400) }
    }

    fn machine() -> OutputMachine {
        let mut vsync = VsyncModel::new(INTERVAL, START);
        vsync.synchronise(START);
        let mut machine = OutputMachine::new(vsync, Span::from_millis(1), START);
        machine.set_scan(Some(scan()));
        machine
    }

    #[test]
    fn a_planned_write_begins_earlier_by_the_usual_delay_and_forgets_a_rare_one() {
        let mut machine = machine();
        let index = machine.vsync().at_or_after(START).plus(3);
        let earlier = |machine: &OutputMachine| {
            (machine.row_deadline(index, 500).unwrap() - machine.planned_write(index, 500).unwrap()).as_nanos() / 1_000
        };
        assert_eq!(earlier(&machine), 0);
        for write in 0..DELAY_WINDOW {
            machine.began_late(Span::from_micros(if write % 2 == 0 { 0 } else { 170 }));
        }
        assert_eq!(earlier(&machine), 170);
        machine.began_late(Span::from_millis(8));
        assert_eq!(earlier(&machine), 170);
        (0..DELAY_WINDOW).for_each(|_| machine.began_late(Span::from_millis(8)));
        assert_eq!(earlier(&machine), 1_000);
    }

    #[test]
    fn a_row_is_due_as_much_later_as_it_lies_below_the_first() {
        let machine = machine();
        let index = machine.vsync().at_or_after(START).plus(3);
        let due = |line| machine.row_deadline(index, line).unwrap() - machine.vsync().present(index);
        assert_eq!(due(0), -machine.write_budget());
        assert_eq!(due(500) - due(0), Span::from_micros(8_000));
        // Content can reach a refresh that has begun.
        let begun = machine.vsync().present(index) + Span::from_micros(1_000);
        assert_eq!(machine.next_row(500, begun), Some(index));
        assert_eq!(machine.next_row(0, begun), Some(index.next()));
    }

    #[test]
    fn no_write_while_the_beam_position_is_unknown() {
        let rect = PixelRect { x: 0, y: 600, width: 10, height: 10 };
        let mut machine = machine();
        let now = START + INTERVAL * 3 + Span::from_millis(1);
        assert!(machine.seen_in_place(&rect, now).is_some());
        machine.set_scan(None);
        assert_eq!((machine.seen_in_place(&rect, now), machine.row_deadline(RefreshIndex(1), 3)), (None, None));
        let mut variable = self::machine();
        variable.vsync_mut().set_variable(Some((INTERVAL, INTERVAL * 2)));
        assert_eq!(variable.seen_in_place(&rect, now), None);
        // After a long idle the phase is not known well enough.
        assert_eq!(self::machine().seen_in_place(&rect, now + Span::from_seconds(60)), None);
    }

    #[test]
    fn first_write_has_a_millisecond_before_the_beam_and_not_half_of_one() {
        let (machine, rect) = (machine(), PixelRect { x: 0, y: 600, width: 200, height: 200 });
        let index = machine.vsync().at_or_after(START).plus(3);
        let enters = scan().enters(machine.vsync().present(index), &rect);
        let seen = |micros| machine.seen_in_place(&rect, enters - Span::from_micros(micros));
        // There is no measurement yet, and writing this many pixels takes half a millisecond.
        assert_eq!(seen(1_000), Some(index));
        assert_ne!(seen(550), Some(index), "the beam would meet it where a timer is late");
    }

    proptest! {
        #[test]
        fn write_in_time_is_shown_whole_in_the_predicted_refresh(
            at in 48_000i64..112_000, y in 0i32..899, height in 1i32..200, took in 0i64..2_000,
        ) {
            let mut machine = machine();
            machine.wrote(Span::from_micros(took));
            let height = height.min(900 - y);
            let rect = PixelRect { x: 5, y, width: 10, height };
            let now = START + Span::from_micros(at);
            if let Some(index) = machine.seen_in_place(&rect, now) {
                let (present, before) = (machine.vsync().present(index), machine.vsync().present(RefreshIndex(index.0 - 1)));
                for written in [now, now + Span::from_micros(took)] {
                    prop_assert!(scan().lines_read(present, written) <= y, "the beam was there");
                    prop_assert!(scan().lines_read(before, written) >= y + height, "the beam was within it");
                }
            }
        }

        #[test]
        fn content_is_lit_by_the_next_beam(at in 48_000i64..112_000, y in 0i32..900) {
            let machine = machine();
            let rect = PixelRect { x: 5, y, width: 10, height: 1 };
            let from = START + Span::from_micros(at);
            let light = machine.lit_from(scan(), &rect, from).unwrap();
            prop_assert!(light >= from && light - from < INTERVAL);
            let into = (light - START).as_nanos() % INTERVAL.as_nanos();
            prop_assert_eq!(into, (scan().line_start(START, y) - START).as_nanos());
        }

        #[test]
        fn content_by_its_row_deadline_fits(at in 48_000i64..112_000, y in 0i32..900) {
            let machine = machine();
            let rect = PixelRect { x: 5, y, width: 10, height: 1 };
            let now = START + Span::from_micros(at);
            let index = machine.next_row(y, now).unwrap();
            prop_assert!(machine.row_deadline(index, y).unwrap() >= now);
            prop_assert!(machine.row_deadline(RefreshIndex(index.0 - 1), y).unwrap() < now);
            if let Some(seen) = machine.seen_in_place(&rect, now) {
                prop_assert_eq!(seen, index);
            }
        }
    }
}
