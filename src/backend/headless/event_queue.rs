//! The event queue of a virtual display: events are correct, or changed by a fault script.

use std::collections::VecDeque;

use super::fault::{FaultKind, FaultPlayer, FaultPoint, StampFault};
use super::grid::RecordedRefresh;
use crate::backend::{DisplayEvent, FrameId, LossReason};
use upbeat_timing::time::{Instant, Span};

/// Events that the compositor has not polled yet.
#[derive(Debug, Default)]
pub struct DisplayEventQueue {
    /// Each event with the time from which it may be polled.
    queue: VecDeque<(Instant, DisplayEvent)>,
    last_stamp: Option<Instant>,
}

/// A front-buffer rectangle that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LitRectangle {
    pub frame: FrameId,
    /// The rectangle's first row.
    pub row: i32,
    /// The beam was within it when it was written.
    pub torn: bool,
}

impl DisplayEventQueue {
    /// `frame` was shown by `refresh`.
    pub fn presented(&mut self, frame: FrameId, refresh: RecordedRefresh, faults: &mut FaultPlayer) {
        let point = FaultPoint { time: refresh.time, refresh: refresh.sequence, frame };
        let stamp_fault =
            faults.take(point, |kind| if let FaultKind::Stamp(fault) = kind { Some(fault) } else { None });
        let time = self.stamp(refresh.time, stamp_fault);
        let no_sequence = faults.take(point, |kind| (kind == FaultKind::NoSequence).then_some(())).is_some();
        let sequence = (!no_sequence).then_some(refresh.sequence);
        self.tell(point, faults, DisplayEvent::Presented { frame, time, sequence });
    }

    /// A rectangle is lit at `light` in `refresh`, and reported at that time.
    pub fn written(&mut self, lit: LitRectangle, light: Instant, refresh: RecordedRefresh, faults: &mut FaultPlayer) {
        let LitRectangle { frame, torn, .. } = lit;
        let point = FaultPoint { time: refresh.time, refresh: refresh.sequence, frame };
        let no_sequence = faults.take(point, |kind| (kind == FaultKind::NoSequence).then_some(())).is_some();
        let sequence = (!no_sequence).then_some(refresh.sequence);
        let event = DisplayEvent::FrontLit { frame, light, sequence, torn };
        self.tell(FaultPoint { time: light, ..point }, faults, event);
    }

    /// `frame` was lost at `time`, in refresh number `refresh`.
    pub fn lost(
        &mut self,
        frame: FrameId,
        reason: LossReason,
        (time, refresh): (Instant, u64),
        faults: &mut FaultPlayer,
    ) {
        self.tell(FaultPoint { time, refresh, frame }, faults, DisplayEvent::Lost { frame, reason });
    }

    /// Queues an event that belongs to no frame.
    pub fn note(&mut self, event: DisplayEvent, now: Instant) {
        self.queue.push_back((now, event));
    }

    /// Whether an event may be polled at `now`.
    pub fn is_due(&self, now: Instant) -> bool {
        self.queue.front().is_some_and(|&(from, _)| from <= now)
    }

    /// The next event that may be polled at `now`. Events stay in order.
    pub fn poll(&mut self, now: Instant) -> Option<DisplayEvent> {
        if self.is_due(now) { self.queue.pop_front().map(|(_, event)| event) } else { None }
    }

    /// When the next delayed event after `now` may be polled.
    pub fn next_after(&self, now: Instant) -> Option<Instant> {
        self.queue.front().map(|&(from, _)| from).filter(|&from| from > now)
    }

    fn tell(&mut self, point: FaultPoint, faults: &mut FaultPlayer, event: DisplayEvent) {
        let delay = faults.take(point, |kind| if let FaultKind::DelayEvents(by) = kind { Some(by) } else { None });
        self.queue.push_back((point.time + delay.unwrap_or(Span::ZERO), event));
    }

    fn stamp(&mut self, truth: Instant, fault: Option<StampFault>) -> Instant {
        let last = self.last_stamp.unwrap_or(truth);
        let stamp = match fault {
            None => truth,
            Some(StampFault::Early(by)) => truth - by,
            Some(StampFault::Late(by)) => truth + by,
            Some(StampFault::Zero) => Instant::ZERO,
            Some(StampFault::Backwards(by)) => last - by,
            Some(StampFault::Duplicate) => last,
        };
        self.last_stamp = Some(stamp);
        stamp
    }
}
