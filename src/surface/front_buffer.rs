//! Front-buffer rendering: clients that write into the buffer being scanned out, ahead of the beam
//! (`upbeat_late_latch_v1`).
//!
//! ```text
//!            fits                     does not any more                  acknowledged
//!   inactive ─────► active(serial) ────────────────────► revoked(serial) ────────────► inactive
//!                     └ written(id) ─► the beam was there ─► light(id), or missed(id)
//! ```
//!
//! The client's request travels with its commits ([`FrontBufferRequest`]); the output that shows the surface decides
//! whether it is granted (`output::clients::front_buffer`).

use std::sync::Arc;

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::compositor::Cacheable;

use crate::backend::PixelRect;
use crate::backend::front::FrontScanReport;
use upbeat_timing::time::{Instant, Span};

/// Writes that wait for the beam: one for the refresh in progress, and one for the next.
const MOST_WAITING: usize = 2;

/// The client's request to write into the front buffer: double-buffered state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontBufferRequest {
    /// The rectangle in the buffer's pixels; `None` before the first request.
    pub rect: Option<PixelRect>,
    /// Counts the requests: a request that ended is not granted again without a new one.
    pub number: u64,
    /// Whether the commit that it travels with made it.
    pub is_new: bool,
}

impl Cacheable for FrontBufferRequest {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        let committed = *self;
        self.is_new = false;
        committed
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

/// Why a client may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontBufferReason {
    /// The display cannot show the buffer directly, or its scan-out timing is unknown.
    Display,
    /// Something covers it, or it is not entirely on one output.
    Covered,
    /// It is not shown as it is in its buffer: turned, scaled, translucent, or animated.
    Changed,
    /// The buffer was replaced, or cannot be read.
    Buffer,
    /// It is not visible: the output is off or locked.
    Hidden,
    /// The output is being captured.
    Captured,
}

/// When the beam reads which line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanTimes {
    /// When line 0 of the output is read, in any one refresh.
    pub anchor: Instant,
    /// From one refresh to the next.
    pub interval: Span,
    /// From one line to the next.
    pub line_time: Span,
    /// The output line at which the rectangle begins.
    pub first_line: i32,
}

/// The client's protocol object of a front buffer.
pub trait FrontBufferListener: std::fmt::Debug + Send + Sync {
    /// Sends when the beam reads which line.
    fn send_scan(&self, times: ScanTimes);

    /// Sends that the client may write into `rect` of its buffer.
    fn send_active(&self, serial: u32, rect: PixelRect);

    /// Sends that the client may not write, or not any more.
    fn send_inactive(&self, serial: u32, reason: FrontBufferReason);

    /// Sends that write `id` was lit from `at` on.
    fn send_light(&self, id: u32, at: Instant);

    /// Sends that write `id` is not known to have been seen.
    fn send_missed(&self, id: u32);

    /// Posts a protocol error: the rectangle does not lie inside the buffer.
    fn refuse_rectangle(&self, rect: PixelRect);

    /// Posts a protocol error: the commit of the request has an acquire point.
    fn refuse_acquire_point(&self);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrontBufferStage {
    Inactive,
    Active,
    /// Not active any more, and the client has not acknowledged that yet.
    Revoked,
}

/// A write that the beam has not reached yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrontBufferWrite {
    id: u32,
    light: Instant,
}

/// The front buffer of one surface.
#[derive(Debug)]
pub struct FrontBuffer {
    listener: Arc<dyn FrontBufferListener>,
    stage: FrontBufferStage,
    /// The serial of the newest activation; 0 before the first.
    serial: u32,
    /// The number of the request that ended.
    ended_request: u64,
    /// The reason sent last, while inactive.
    last_reason: Option<FrontBufferReason>,
    /// The scan times sent last.
    times: Option<ScanTimes>,
    waiting: Vec<FrontBufferWrite>,
}

impl FrontBuffer {
    pub fn new(listener: Arc<dyn FrontBufferListener>) -> Self {
        FrontBuffer {
            listener,
            stage: FrontBufferStage::Inactive,
            serial: 0,
            ended_request: 0,
            last_reason: None,
            times: None,
            waiting: Vec::with_capacity(MOST_WAITING),
        }
    }

    /// Whether the client may write.
    pub fn is_active(&self) -> bool {
        self.stage == FrontBufferStage::Active
    }

    /// Whether the request `wish` may be granted, as far as the client is concerned.
    pub fn can_activate(&self, wish: FrontBufferRequest) -> bool {
        self.stage == FrontBufferStage::Inactive && wish.rect.is_some() && wish.number != self.ended_request
    }

    /// Lets the client write into `rect` of its buffer from now on.
    pub fn activate(&mut self, rect: PixelRect, times: ScanTimes) {
        self.stage = FrontBufferStage::Active;
        self.serial = self.serial.wrapping_add(1).max(1);
        self.last_reason = None;
        self.times = Some(times);
        self.listener.send_scan(times);
        self.listener.send_active(self.serial, rect);
    }

    /// Sends new scan times if these differ from the last ones by more than `most`.
    pub fn update_scan_times(&mut self, times: ScanTimes, most: Span) {
        let Some(last_sent) = self.times.filter(|_| self.is_active()) else { return };
        let interval = last_sent.interval.as_nanos().max(1);
        let off = (times.anchor - last_sent.anchor).as_nanos().rem_euclid(interval);
        if off.min(interval - off) > most.as_nanos() || times.interval != last_sent.interval {
            self.times = Some(times);
            self.listener.send_scan(times);
        }
    }

    /// Ends an activation: waiting writes are missed.
    pub fn revoke(&mut self, reason: FrontBufferReason) {
        if self.is_active() {
            self.stage = FrontBufferStage::Revoked;
            self.last_reason = Some(reason);
            self.listener.send_inactive(self.serial, reason);
            self.waiting.drain(..).for_each(|written| self.listener.send_missed(written.id));
        }
    }

    /// Sends why the front buffer cannot be activated, if the reason is new.
    pub fn refuse(&mut self, reason: FrontBufferReason) {
        if self.stage == FrontBufferStage::Inactive && self.last_reason != Some(reason) {
            self.last_reason = Some(reason);
            self.listener.send_inactive(self.serial, reason);
        }
    }

    /// Ends request `number`: the client has to ask again.
    pub fn end_request(&mut self, number: u64) {
        self.ended_request = number;
    }

    /// The client has stopped writing.
    pub fn acknowledge(&mut self, serial: u32) {
        if self.stage == FrontBufferStage::Revoked && serial == self.serial {
            self.stage = FrontBufferStage::Inactive;
        }
    }

    /// The client has written. The beam reads that at `light`; `None`: the time is unknown, or the surface is hidden.
    pub fn write(&mut self, id: u32, light: Option<Instant>) {
        let Some(light) = light.filter(|_| self.is_active()) else { return self.listener.send_missed(id) };
        // A newer write for the same refresh replaces an older one, which is then never seen as it was. When too many
        // wait, the oldest counts as missed.
        let newer = FrontBufferWrite { id, light };
        let replaced = self.waiting.iter().position(|known| known.light == light);
        let place = replaced.or_else(|| (self.waiting.len() >= MOST_WAITING).then_some(0));
        if let Some(place) = place {
            let lost = self.waiting.remove(place);
            self.listener.send_missed(lost.id);
        }
        self.waiting.push(newer);
    }

    /// The beam has passed in a refresh of length `interval`: answers the writes for it.
    pub fn scanned(&mut self, scanned: FrontScanReport, interval: Span) {
        let listener = &self.listener;
        self.waiting.retain(|written| {
            if written.light >= scanned.refresh + interval {
                return true;
            }
            if scanned.is_proven && written.light >= scanned.refresh {
                listener.send_light(written.id, written.light);
            } else {
                listener.send_missed(written.id);
            }
            false
        });
    }

    /// Posts a protocol error: the commit of the request has an acquire point.
    pub fn refuse_acquire_point(&self) {
        self.listener.refuse_acquire_point();
    }

    /// Posts a protocol error: the rectangle does not lie inside the buffer.
    pub fn refuse_rectangle(&mut self, rect: PixelRect) {
        self.listener.refuse_rectangle(rect);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Mutex;

    const INTERVAL: Span = Span::from_millis(16);
    const TIMES: ScanTimes =
        ScanTimes { anchor: Instant::ZERO, interval: INTERVAL, line_time: Span::from_micros(20), first_line: 3 };
    const RECT: PixelRect = PixelRect { x: 1, y: 2, width: 3, height: 4 };
    const WISH: FrontBufferRequest = FrontBufferRequest { rect: Some(RECT), number: 1, is_new: true };

    #[derive(Debug, Default)]
    struct EventRecorder(Mutex<Vec<String>>);

    impl EventRecorder {
        fn take_events(&self) -> Vec<String> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }

        fn record(&self, what: String) {
            self.0.lock().unwrap().push(what);
        }
    }

    impl FrontBufferListener for EventRecorder {
        fn send_scan(&self, _times: ScanTimes) {}

        fn send_active(&self, serial: u32, _rect: PixelRect) {
            self.record(format!("active {serial}"));
        }

        fn send_inactive(&self, serial: u32, reason: FrontBufferReason) {
            self.record(format!("inactive {serial} {reason:?}"));
        }

        fn send_light(&self, id: u32, at: Instant) {
            self.record(format!("light {id} {}", at.as_micros() / 1_000));
        }

        fn send_missed(&self, id: u32) {
            self.record(format!("missed {id}"));
        }

        fn refuse_rectangle(&self, _rect: PixelRect) {}

        fn refuse_acquire_point(&self) {}
    }

    fn at(millis: i64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn scanned(millis: i64, is_proven: bool) -> FrontScanReport {
        FrontScanReport { refresh: at(millis), is_proven }
    }

    #[test]
    fn client_may_write_again_after_it_acknowledged_the_revocation() {
        let recorder = Arc::new(EventRecorder::default());
        let mut front = FrontBuffer::new(recorder.clone());
        assert!(front.can_activate(WISH) && !front.can_activate(FrontBufferRequest::default()));
        front.refuse(FrontBufferReason::Covered);
        front.refuse(FrontBufferReason::Covered);
        front.activate(RECT, TIMES);
        front.write(7, Some(at(20)));
        front.revoke(FrontBufferReason::Hidden);
        assert_eq!(recorder.take_events(), ["inactive 0 Covered", "active 1", "inactive 1 Hidden", "missed 7"]);
        front.write(8, Some(at(20)));
        assert_eq!(recorder.take_events(), ["missed 8"]);
        assert!(!front.can_activate(WISH));
        front.acknowledge(5);
        assert!(!front.can_activate(WISH));
        front.acknowledge(1);
        assert!(front.can_activate(WISH));
        front.end_request(1);
        assert!(!front.can_activate(WISH) && front.can_activate(FrontBufferRequest { number: 2, ..WISH }));
    }

    #[test]
    fn last_write_before_the_beam_is_lit_if_the_scan_is_proven() {
        let recorder = Arc::new(EventRecorder::default());
        let mut front = FrontBuffer::new(recorder.clone());
        front.activate(RECT, TIMES);
        recorder.take_events();
        front.write(1, Some(at(20)));
        front.write(2, Some(at(20)));
        front.write(3, Some(at(36)));
        front.scanned(scanned(0, true), INTERVAL);
        front.scanned(scanned(16, true), INTERVAL);
        assert_eq!(recorder.take_events(), ["missed 1", "light 2 20"]);
        front.scanned(scanned(32, false), INTERVAL);
        assert_eq!(recorder.take_events(), ["missed 3"]);
        front.write(4, None);
        assert_eq!(recorder.take_events(), ["missed 4"]);
    }

    proptest! {
        #[test]
        fn each_write_is_answered_once(steps in proptest::collection::vec((0u8..6, 0i64..8), 1..80)) {
            let recorder = Arc::new(EventRecorder::default());
            let mut front = FrontBuffer::new(recorder.clone());
            let (mut now, mut written) = (0, 0);
            for (what, refresh) in steps {
                match what {
                    0 if front.can_activate(WISH) => front.activate(RECT, TIMES),
                    1 => front.revoke(FrontBufferReason::Covered),
                    2 => front.acknowledge(1),
                    3 => {
                        front.scanned(scanned(now, refresh % 2 == 0), INTERVAL);
                        now += 16;
                    }
                    _ => {
                        written += 1;
                        front.write(written, Some(at(now + 16 * (refresh % 2) + 3)));
                    }
                }
                prop_assert!(front.waiting.len() <= MOST_WAITING);
            }
            front.revoke(FrontBufferReason::Covered);
            let events = recorder.take_events();
            let answers = events.iter().filter(|event| event.starts_with("light") || event.starts_with("missed"));
            prop_assert_eq!(answers.count() as u32, written);
        }
    }
}
