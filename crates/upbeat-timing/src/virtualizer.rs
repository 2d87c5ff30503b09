//! The display-time virtualizer: the refresh that a frame is for, and the moment that its content represents.
//!
//! D-VSync 4.4 and 5.1 (DTV). A frame that is started ahead must be drawn for the time at which it will be seen. That
//! time follows from the grid of refreshes and from the number of frames that are shown before it; it never depends on
//! when the work happens to run.
//!
//! ```text
//!  refresh      10    11    12    13    14    15    16    17
//!  issued        a=11  b=12  c=13  d=14
//!  on screen           a     b     –     c     d     e            c was late: c and d are one refresh off
//!  issued                                e=16: the queue says so; one refresh is skipped
//!  content                               e = 15 + 1/32, f = 16 + 2/32, … : caught up after 32 frames
//! ```

use super::defaults::{CATCH_UP_PARTS, RESYNCHRONISE};
use super::target::RefreshIndex;
use crate::time::{Instant, Span};

/// The grid is calibrated after this many targets (D-VSync 5.1: "every few frames") ...
const CALIBRATE_EVERY: u32 = 4;
/// ... or at once when the new measurement differs by more than this part of an interval.
const CALIBRATE_AT_ONCE_PARTS: i64 = 8;

/// The grid of an output's refreshes: one refresh with its time, and the distance between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VsyncGrid {
    /// A refresh whose time is known.
    pub refresh: RefreshIndex,
    /// When its scan-out starts.
    pub present: Instant,
    /// The distance between refreshes; positive.
    pub interval: Span,
}

impl VsyncGrid {
    /// When the scan-out of `refresh` starts.
    pub fn present_of(&self, refresh: RefreshIndex) -> Instant {
        // The 64-bit product nearly always fits.
        if let (Ok(to), Ok(from)) = (i64::try_from(refresh.0), i64::try_from(self.refresh.0))
            && let Some(nanos) = (to - from).checked_mul(self.interval.as_nanos())
        {
            return self.present + Span::from_nanos(nanos);
        }
        let distance = refresh.0 as i128 - self.refresh.0 as i128;
        let nanos = distance * i128::from(self.interval.as_nanos());
        self.present + Span::from_nanos(nanos.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }
}

/// How content returns to the time of its refresh after frames were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CatchUp {
    /// The next frame jumps by as many intervals as were lost (D-VSync 5.1: "skips VSync periods").
    Skip,
    /// The content approaches by at most 1/32 interval a frame; beyond 100 ms it jumps.
    #[default]
    Gentle,
}

/// The refresh, the light and the content time of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DisplayTarget {
    /// The refresh that is expected to show the frame.
    pub refresh: RefreshIndex,
    /// When that refresh starts to scan out: the D-Timestamp.
    pub present: Instant,
    /// The time that the frame's content represents: equal to `present` unless the animation is catching up.
    pub content: Instant,
}

/// Issues targets: strictly monotone, on the grid, one per frame.
#[derive(Clone, Debug)]
pub struct Virtualizer {
    grid: VsyncGrid,
    catch_up: CatchUp,
    last: Option<DisplayTarget>,
    /// How far content lies behind `present`; negative when it lies ahead.
    lag: Span,
    since_calibration: u32,
}

impl Virtualizer {
    /// A virtualizer for an output with this grid.
    pub fn new(grid: VsyncGrid, catch_up: CatchUp) -> Self {
        Virtualizer { grid, catch_up, last: None, lag: Span::ZERO, since_calibration: 0 }
    }

    /// Takes a newer measurement of the grid into account: a small difference every few targets, a large one at once.
    /// Targets that were issued do not change.
    pub fn calibrate(&mut self, measured: VsyncGrid) {
        if measured.interval <= Span::ZERO {
            return;
        }
        let error = (self.grid.present_of(measured.refresh) - measured.present).abs();
        let far = error * CALIBRATE_AT_ONCE_PARTS > self.grid.interval;
        if far || self.since_calibration >= CALIBRATE_EVERY || measured.interval != self.grid.interval {
            self.grid = measured;
            self.since_calibration = 0;
        }
    }

    /// Uses this grid from the next target on. With variable refresh the grid only says when the next target is.
    pub const fn follow(&mut self, grid: VsyncGrid) {
        self.grid = grid;
        self.since_calibration = 0;
    }

    /// The last issued target, or the target that the chain was rebased to.
    pub const fn last(&self) -> Option<DisplayTarget> {
        self.last
    }

    /// The grid in use.
    pub const fn grid(&self) -> VsyncGrid {
        self.grid
    }

    /// The target of the next frame, which counts as issued.
    ///
    /// `next_latch` is the first refresh that is not decided yet, `ahead` the number of frames that will be shown
    /// before this one.
    pub fn issue(&mut self, next_latch: RefreshIndex, ahead: u64) -> DisplayTarget {
        let expected = next_latch.plus(ahead);
        let refresh = match self.last {
            None => expected,
            Some(last) => {
                let chain = last.refresh.next();
                if expected > chain {
                    self.fall_behind(self.grid.interval * (expected.since(chain) as i64));
                }
                self.after(last, expected.max(chain))
            }
        };
        let present = self.grid.present_of(refresh);
        self.approach();
        let target = DisplayTarget { refresh, present, content: present - self.lag };
        self.last = Some(target);
        self.since_calibration += 1;
        target
    }

    /// The targets that the next frames would get, without issuing them, for clients that render ahead.
    pub fn preview(&self, next_latch: RefreshIndex, ahead: u64) -> impl Iterator<Item = DisplayTarget> + use<> {
        let mut later = self.clone();
        (0..).map(move |index| later.issue(next_latch, ahead + index))
    }

    /// Frames were thrown away (input superseded them): the chain goes on after `shown`, the last target that is or
    /// will be on screen, and content continues from there.
    pub fn rebase(&mut self, shown: DisplayTarget) {
        self.last = Some(shown);
        self.lag = shown.present - shown.content;
    }

    /// Motion starts anew: forgets the chain and the lag.
    pub fn restart(&mut self) {
        self.last = None;
        self.lag = Span::ZERO;
    }

    /// Sets the content's clock later by `span` (negative: earlier), which is then caught up like a drop. For a
    /// change of rate or output during motion.
    pub fn shift_content(&mut self, span: Span) {
        self.fall_behind(-span);
    }

    fn fall_behind(&mut self, span: Span) {
        self.lag = match self.catch_up {
            CatchUp::Skip => Span::ZERO,
            CatchUp::Gentle => self.lag + span,
        };
        if self.lag.abs() > RESYNCHRONISE {
            self.lag = Span::ZERO;
        }
    }

    fn approach(&mut self) {
        let step = self.grid.interval / CATCH_UP_PARTS;
        self.lag =
            if self.lag.is_negative() { (self.lag + step).min(Span::ZERO) } else { (self.lag - step).max(Span::ZERO) };
    }

    /// The first refresh from `wanted` on whose time lies clearly after that of `last`: a grid that was calibrated
    /// backwards must not issue the same moment twice.
    fn after(&self, last: DisplayTarget, wanted: RefreshIndex) -> RefreshIndex {
        let earliest = last.present + self.grid.interval / 2;
        let missing = earliest - self.grid.present_of(wanted);
        if missing <= Span::ZERO {
            return wanted;
        }
        let interval = self.grid.interval.as_nanos().max(1);
        wanted.plus((missing.as_nanos() as u64).div_ceil(interval as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INTERVAL: Span = Span::from_millis(16);

    fn grid(refresh: u64, millis: u64) -> VsyncGrid {
        VsyncGrid {
            refresh: RefreshIndex(refresh),
            present: Instant::from_nanos(millis * 1_000_000),
            interval: INTERVAL,
        }
    }

    fn virtualizer(catch_up: CatchUp) -> Virtualizer {
        Virtualizer::new(grid(10, 160), catch_up)
    }

    #[test]
    fn content_is_the_time_of_the_refresh_however_early_the_work() {
        let mut virtualizer = virtualizer(CatchUp::Gentle);
        for ahead in 0..4 {
            let target = virtualizer.issue(RefreshIndex(11), ahead);
            assert_eq!(target.refresh, RefreshIndex(11 + ahead));
            assert_eq!(target.content, target.present);
            assert_eq!(target.present.as_nanos(), (11 + ahead) * 16_000_000);
        }
        let preview: Vec<_> = virtualizer.preview(RefreshIndex(11), 4).take(3).collect();
        let issued: Vec<_> = (4..7).map(|ahead| virtualizer.issue(RefreshIndex(11), ahead)).collect();
        assert_eq!(preview, issued);
    }

    #[test]
    fn a_drop_is_worked_off_by_one_part_in_32_per_frame() {
        let mut virtualizer = virtualizer(CatchUp::Gentle);
        virtualizer.issue(RefreshIndex(11), 0);
        let after = virtualizer.issue(RefreshIndex(13), 0);
        assert_eq!(after.refresh, RefreshIndex(13));
        assert_eq!(after.present - after.content, INTERVAL - INTERVAL / 32);
        for refresh in 14..13 + 32 {
            let target = virtualizer.issue(RefreshIndex(refresh), 0);
            assert!(target.content > target.present - INTERVAL);
        }
        assert_eq!(virtualizer.lag, Span::ZERO);
    }

    #[test]
    fn skipping_is_right_at_once_and_a_long_stall_always_skips() {
        let mut skip = virtualizer(CatchUp::Skip);
        skip.issue(RefreshIndex(11), 0);
        let target = skip.issue(RefreshIndex(13), 0);
        assert_eq!(target.content, target.present);
        let mut gentle = virtualizer(CatchUp::Gentle);
        gentle.issue(RefreshIndex(11), 0);
        let target = gentle.issue(RefreshIndex(11 + 8), 0);
        assert_eq!(target.content, target.present, "7 lost refreshes are 112 ms");
    }

    #[test]
    fn a_clock_that_is_ahead_slows_down() {
        let mut virtualizer = virtualizer(CatchUp::Gentle);
        let first = virtualizer.issue(RefreshIndex(11), 0);
        virtualizer.shift_content(Span::from_millis(8));
        let second = virtualizer.issue(RefreshIndex(12), 0);
        let third = virtualizer.issue(RefreshIndex(13), 0);
        assert!(second.content - first.content > INTERVAL);
        assert_eq!(third.content - second.content, INTERVAL - INTERVAL / 32);
    }

    #[test]
    fn small_corrections_wait_and_large_ones_do_not() {
        let mut virtualizer = virtualizer(CatchUp::Gentle);
        virtualizer.calibrate(grid(12, 193));
        assert_eq!(virtualizer.grid(), grid(10, 160));
        for ahead in 0..4 {
            virtualizer.issue(RefreshIndex(12), ahead);
        }
        virtualizer.calibrate(grid(12, 193));
        assert_eq!(virtualizer.grid(), grid(12, 193));
        virtualizer.calibrate(grid(13, 205));
        assert_eq!(virtualizer.grid(), grid(13, 205));
    }

    proptest! {
        #[test]
        fn targets_are_monotone_on_the_grid_and_back_in_time_after_any_faults(
            faults in prop::collection::vec((0_u64..4, 0_u64..6, -20_i64..20), 1..60)
        ) {
            let mut virtualizer = virtualizer(CatchUp::Gentle);
            let (mut next_latch, mut last) = (RefreshIndex(11), None::<DisplayTarget>);
            let mut check = |virtualizer: &mut Virtualizer, next: RefreshIndex, ahead: u64| {
                let target = virtualizer.issue(next, ahead);
                if let Some(last) = last {
                    assert!(target.refresh > last.refresh && target.present > last.present);
                }
                assert_eq!(target.present, virtualizer.grid().present_of(target.refresh));
                last = Some(target);
                target
            };
            for (lost, ahead, error) in faults {
                next_latch = next_latch.plus(1 + lost);
                check(&mut virtualizer, next_latch, ahead);
                let present = virtualizer.grid().present_of(next_latch) + Span::from_millis(error);
                virtualizer.calibrate(VsyncGrid { refresh: next_latch, present, interval: INTERVAL });
            }
            // 100 ms at a thirty-second of 16 ms per frame: at most 200 frames.
            let depth = check(&mut virtualizer, next_latch, 0).refresh.since(next_latch);
            for _ in 0..200 {
                next_latch = next_latch.next();
                check(&mut virtualizer, next_latch, depth);
            }
            let target = check(&mut virtualizer, next_latch.next(), depth);
            prop_assert_eq!(target.content, target.present);
        }
    }
}
