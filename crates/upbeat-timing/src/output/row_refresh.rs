//! Writing in place on a panel with variable refresh: the refresh begins so that the beam meets the finished rectangle.
//!
//! At a fixed rate the beam comes by itself. A panel with variable refresh waits for a frame, and scans out from the
//! top when it has one. So a rectangle low on the screen would be lit long after its content was finished. Instead a
//! refresh with the picture on screen begins while the client still draws, or before it is called back:
//!
//! ```text
//!   client             call ──────── draws ──────── commit ─ write ┐
//!   top row             waits                            begin ────┴ row        begin = row − the lines above it
//!   bottom row   begin ────────────────────────────────────────────┴ row
//!   without             waits                                  begin ──────────────────── … ─┴ row
//! ```
//!
//! Source: Presto, section 7 (the refresh of an adaptive display could be timed so that the beam meets the write).

use super::{OutputMachine, QueuedFrame};
use crate::beam::PixelRect;
use crate::defaults::WRITE_MARGIN;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::vsync::RefreshMode;

impl<T> OutputMachine<T> {
    /// The time from the start of a refresh to the light of row `line`, on a panel with variable refresh; `None` with
    /// a fixed rate, or if writing in place is not possible.
    pub fn way_to_row(&self, line: i32) -> Option<Span> {
        let RefreshMode::Variable(_) = self.vsync.rate() else { return None };
        Some(self.scan()?.line_start(Instant::ZERO, line) - Instant::ZERO)
    }

    /// The deadline of content whose first line is `line`, in the soonest refresh that the panel can begin after the frames
    /// that it has; `None` as in [`way_to_row`](Self::way_to_row).
    pub fn soonest_row_deadline(&self, line: i32) -> Option<Instant> {
        Some(self.free_from() + self.way_to_row(line)? - self.write_budget())
    }

    /// When the panel can begin another refresh, after the frames that it has.
    fn free_from(&self) -> Instant {
        let last = self.under_way().map(|frame| self.begin_of(frame)).max().unwrap_or(Instant::ZERO);
        last.max(self.vsync.last()) + self.vsync.interval()
    }

    /// The frames whose refresh has not begun yet: the display has them, or they are being drawn.
    fn under_way(&self) -> impl Iterator<Item = &QueuedFrame<T>> {
        self.frames.in_flight().chain(self.frames.composing())
    }

    /// When the refresh of a frame under way begins.
    fn begin_of(&self, frame: &QueuedFrame<T>) -> Instant {
        frame.flight().submit_by + self.submit_lead()
    }

    /// Content whose first line is `line` will be committed by `ready`: on a panel with variable refresh the next
    /// refresh begins so that the beam meets it there. The picture on screen is shown again for it.
    pub fn begin_refresh_for_row(&mut self, line: i32, ready: Instant) {
        let Some(way) = self.way_to_row(line) else { return };
        let Some(range @ (shortest, _)) = self.vsync.range() else { return };
        let begin = (ready + self.write_budget() - way).max(self.free_from());
        // The panel may be busy with a refresh of its own.
        self.panel_schedule.row_refresh = Some(begin.max(self.last_self_refresh(begin, range) + shortest));
    }

    /// When the next refresh begins for a row, unless it would hold up a frame that is bound to a moment.
    pub(super) fn next_row_refresh(&self) -> Option<Instant> {
        self.vsync.range()?;
        let begin = self.panel_schedule.row_refresh?;
        let holds_up = |bound: Instant| begin + self.vsync.interval() > bound;
        (!self.panel_schedule.bound.is_some_and(holds_up)).then_some(begin)
    }

    /// Whether the panel waits for a frame: it has left `rect` in the last refresh, and no refresh is under way.
    pub fn waits_to_scan(&self, rect: &PixelRect, now: Instant) -> bool {
        let RefreshMode::Variable(_) = self.vsync.rate() else { return false };
        let left = self.scan().map(|scan| scan.leaves(self.vsync.last(), rect));
        left.is_some_and(|left| now >= left) && !self.is_busy()
    }

    /// The refresh of a panel with variable refresh in which all of `rect` is seen if it is written from `now` on.
    pub(super) fn seen_while_variable(&self, rect: &PixelRect, now: Instant) -> Option<RefreshIndex> {
        let scan = self.scan()?;
        let (begun, (seen, _)) = (self.begun(), self.row_under_way(scan.first_line(rect), now)?);
        // The refresh before must not show a part of it.
        let last = self.last_self_refresh(now, self.vsync.range()?);
        let is_between = now >= scan.leaves(last, rect) + WRITE_MARGIN;
        // A frame that is being drawn may not show the picture that is written into.
        let is_drawing = self.frames.composing().is_some_and(|frame| frame.target == seen);
        (seen == begun || (is_between && !is_drawing)).then_some(seen)
    }

    /// The refresh of a panel with variable refresh that content for row `line` still reaches if it comes at `now`, and
    /// its deadline: the refresh that was begun last, or the refresh of a frame under way.
    pub fn row_under_way(&self, line: i32, now: Instant) -> Option<(RefreshIndex, Instant)> {
        let reach = self.way_to_row(line)? - self.write_budget();
        let begun = self.vsync.last() + reach;
        if begun >= now {
            return Some((self.begun(), begun));
        }
        let next = self.under_way().filter(|frame| frame.target > self.begun());
        let deadlines = next.map(|frame| (frame.target, self.begin_of(frame) + reach));
        deadlines.filter(|(_, deadline)| *deadline >= now).min()
    }

    /// The refresh of a panel with variable refresh that was begun last.
    fn begun(&self) -> RefreshIndex {
        self.vsync.at_or_after(self.vsync.last())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beam::{Beam, ScanDirection};
    use crate::record::RepaintReason;
    use crate::vsync::VsyncModel;
    use proptest::prelude::*;

    /// 100 to 40 Hz.
    const RANGE: (Span, Span) = (Span::from_millis(10), Span::from_millis(25));
    const START: Instant = Instant::from_nanos(1_000_000_000);
    /// Shortly after the start of that refresh.
    const NOW: Instant = Instant::from_nanos(1_000_001_000);
    /// 10 µs a line.
    const SCAN: Beam = Beam { width: 1_000, height: 900, direction: ScanDirection::Down, active: Span::from_millis(9) };

    /// A machine of a panel whose last refresh began at `START`.
    fn machine() -> OutputMachine {
        let mut vsync = VsyncModel::new(RANGE.0, START);
        vsync.set_variable(Some(RANGE));
        vsync.observe(START, Some(1), START);
        let mut machine = OutputMachine::new(vsync, Span::from_millis(1), START);
        machine.set_scan(Some(SCAN));
        machine.wrote(Span::ZERO);
        machine
    }

    /// Latches, submits and presents the next frame, if one is due by `until`; returns the start of its refresh.
    fn refresh(machine: &mut OutputMachine, until: Instant) -> Option<(Instant, RepaintReason)> {
        let now = machine.vsync().last() + Span::from_micros(1);
        machine.expect(now);
        let (index, at) = machine.next_latch(now).filter(|(_, at)| *at <= until)?;
        machine.expect_latch(at);
        let (present, reason) = (machine.vsync().present(index), machine.latch(index));
        let frame = machine.choose(index, ());
        machine.submitted(frame, at, at, crate::output::ComposeCostKind::Planes);
        machine.presented(frame, present, Some(1), present);
        Some((present, reason))
    }

    fn rect(line: i32) -> PixelRect {
        PixelRect { x: 0, y: line, width: 10, height: 10 }
    }

    #[test]
    fn panel_begins_a_refresh_so_that_the_beam_meets_the_content() {
        for line in [0, 300, 880] {
            let mut machine = machine();
            let ready = START + Span::from_millis(21);
            machine.begin_refresh_for_row(line, ready);
            let (begin, reason) = refresh(&mut machine, START + Span::from_seconds(1)).expect("a refresh");
            assert_eq!(reason, RepaintReason::Output, "the picture on screen, without new content");
            assert_eq!(SCAN.line_start(begin, line), ready + machine.write_budget());
            assert_eq!(machine.seen_in_place(&rect(line), ready), Some(machine.vsync().at_or_after(begin)));
            assert_eq!(machine.seen_in_place(&rect(line), ready + Span::from_millis(1)), None, "the beam has passed");
        }
    }

    #[test]
    fn panel_begins_no_refresh_before_it_is_free() {
        let mut machine = machine();
        machine.begin_refresh_for_row(880, START + Span::from_millis(12));
        let (begin, _) = refresh(&mut machine, START + Span::from_seconds(1)).expect("a refresh");
        assert_eq!(begin, START + RANGE.0);
    }

    #[test]
    fn row_needs_one_refresh_and_an_idle_panel_none() {
        let mut machine = machine();
        machine.begin_refresh_for_row(300, START + Span::from_millis(21));
        assert!(refresh(&mut machine, START + Span::from_seconds(1)).is_some());
        assert_eq!(machine.next_latch(machine.vsync().last() + Span::from_micros(1)), None);
    }

    #[test]
    fn bound_frame_is_not_held_up_by_the_refresh_for_a_row() {
        let mut machine = machine();
        machine.begin_refresh_for_row(0, START + Span::from_millis(15));
        let bound = START + Span::from_millis(20);
        machine.schedule_repaint_from(machine.vsync().at_or_after(bound), bound);
        let (begin, _) = refresh(&mut machine, START + Span::from_seconds(1)).expect("a refresh");
        assert_eq!(begin, bound);
    }

    #[test]
    fn other_change_is_shown_at_once_and_the_row_keeps_its_refresh_if_the_panel_is_free_again() {
        let mut machine = machine();
        let ready = START + Span::from_millis(40);
        machine.begin_refresh_for_row(300, ready);
        machine.schedule_repaint(RepaintReason::Content);
        let (other, reason) = refresh(&mut machine, START + Span::from_seconds(1)).expect("a refresh");
        assert_eq!((other, reason), (START + RANGE.0, RepaintReason::Content));
        let (begin, _) = refresh(&mut machine, START + Span::from_seconds(1)).expect("a refresh");
        assert_eq!(SCAN.line_start(begin, 300), ready + machine.write_budget());
    }

    #[test]
    fn fixed_rate_begins_no_refresh_for_a_row() {
        let mut machine = machine();
        machine.vsync_mut().set_variable(None);
        machine.begin_refresh_for_row(300, START + Span::from_millis(21));
        assert_eq!((machine.way_to_row(300), machine.next_latch(NOW)), (None, None));
    }

    #[test]
    fn callback_for_a_row_does_not_move_away_while_the_panel_waits() {
        let mut machine = machine();
        let deadline = machine.soonest_row_deadline(800);
        for millis in [1, 9, 15, 20] {
            machine.expect(START + Span::from_millis(millis));
            assert_eq!(machine.soonest_row_deadline(800), deadline, "after {millis} ms");
        }
        assert_eq!(deadline, Some(SCAN.line_start(START + RANGE.0, 800) - machine.write_budget()));
    }

    proptest! {
        #[test]
        fn write_that_is_seen_never_meets_the_beam(
            line in 0i32..890, ready in 10i64..60, before in 0i64..10_000, took in 0i64..2_000,
        ) {
            let mut machine = machine();
            machine.wrote(Span::from_micros(took));
            let ready = START + Span::from_millis(ready);
            machine.begin_refresh_for_row(line, ready);
            let (begin, _) = refresh(&mut machine, START + Span::from_seconds(1)).expect("a refresh");
            let now = begin + Span::from_micros(before);
            if machine.seen_in_place(&rect(line), now).is_some() {
                let end = now + Span::from_micros(took);
                prop_assert!(SCAN.lines_read(begin, end) <= line, "the beam was there");
            }
        }
    }
}
