//! Targets on a panel with variable refresh. There is no grid: each target follows the previous target at the rate that
//! the client keeps up with at that time. A sent target keeps its time; a new rate begins with the next target.
//!
//! ```text
//!   sent      a=10  b=17  c=24                      7 ms apart: the client needs 6 for each
//!   now needs 9                d=34  e=44           10 ms apart, behind c
//!   idle                                   f=61     as soon as it can be drawn: no chain to follow
//! ```

use super::{SurfaceTargets, TargetStage};
use crate::estimator::Estimator;
use crate::pacing::Pacing;
use crate::refresh_rate::{RateGovernor, RateRange};
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};
use crate::virtualizer::{Virtualizer, VsyncGrid};

/// A frame that takes longer than this many longest intervals is a pause, and does not affect the rate.
const PAUSE_INTERVALS: i64 = 2;
/// A target stays usable until this fraction of the shortest interval after its time.
const PASSED_DIVISOR: i64 = 2;

impl SurfaceTargets {
    /// Sets the range of intervals (shortest, longest) of the output's panel, if its rate varies.
    pub fn set_range(&mut self, range: Option<(Span, Span)>) {
        let range = range.map(|(fastest, slowest)| RateRange { fastest, slowest, variable: true });
        if self.rate.as_ref().map(RateGovernor::range) != range {
            self.rate = range.map(RateGovernor::new);
        }
    }

    /// Learns from a frame that took this long.
    pub(super) fn observe_pace(&mut self, took: Span) {
        if let Some(range) = self.rate.as_ref().map(RateGovernor::range) {
            self.pace.observe(took.min(range.slowest * PAUSE_INTERVALS));
        }
    }

    /// The grid for [`poll`](Self::poll) on a panel with variable refresh, and the first refresh on it that is not
    /// decided. `coming`: the output's next refresh; `soonest`: when a frame that is begun now can be shown. With a
    /// fixed rate, `coming` is that grid.
    pub fn variable_grid(&mut self, coming: VsyncGrid, soonest: Instant) -> (VsyncGrid, RefreshIndex) {
        let is_ahead = self.effective.pacing == Pacing::Ahead;
        let Some(rate) = &mut self.rate else { return (coming, coming.refresh) };
        let shortest = rate.range().fastest;
        // Just in time needs no rate: the next frame is shown as soon as possible.
        let (interval, apart) = match is_ahead {
            true => {
                let distance = rate.distance_for(self.pace.typical().unwrap_or(Span::ZERO));
                (distance, distance)
            }
            false => (shortest, shortest / PASSED_DIVISOR),
        };
        let Some(last) = self.virtualizer.as_ref().and_then(Virtualizer::last) else {
            return (VsyncGrid { present: soonest, interval, ..coming }, coming.refresh);
        };
        if last.present + apart < soonest {
            let behind = last.refresh.next();
            return (VsyncGrid { refresh: behind, present: soonest, interval }, behind);
        }
        let passed = coming.present - shortest / PASSED_DIVISOR;
        let to_come =
            self.live.iter().filter(|frame| frame.stage != TargetStage::Latched && frame.target.present >= passed);
        let next = to_come.map(|frame| frame.target.refresh).min().unwrap_or(last.refresh.next());
        (VsyncGrid { refresh: last.refresh, present: last.present, interval }, next)
    }
}
