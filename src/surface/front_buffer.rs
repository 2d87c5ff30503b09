//! Surfaces whose memory is scanned out as it stands, for clients that write ahead of the beam (`upbeat_late_latch_v1`).
//!
//! ```text
//!            fits                     does not any more                  acknowledged
//!   inactive ─────► active(serial) ────────────────────► revoked(serial) ────────────► inactive
//!                     └ written(id) ─► the beam was there ─► light(id), or missed(id)
//! ```
//!
//! What a client wishes travels with its commits ([`FrontState`]); whether it is so says the output that shows it
//! (`output::clients::front_buffer`).

use std::sync::Arc;

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::wayland::compositor::Cacheable;

use crate::backend::PixelRect;
use crate::backend::front::Scanned;
use upbeat_timing::time::{Instant, Span};

/// Writes that wait for the beam: one for the refresh that is going on, and one for the next.
const MOST_WAITING: usize = 2;

/// What a client wishes to write into, as its commits say it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontState {
    /// The rectangle, in its buffer's pixels; none before the first request.
    pub rect: Option<PixelRect>,
    /// Counts its requests: one that ended is not in force again by itself.
    pub number: u64,
}

impl Cacheable for FrontState {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        *self
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

/// Why a client may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The display cannot show it so, or nobody knows how it is scanned.
    Display,
    /// Something lies above it, or not all of it is on one screen.
    Covered,
    /// It is not seen as its buffer has it: turned, scaled, see-through, on its way.
    Changed,
    /// Its buffer is another one, or cannot be read.
    Buffer,
    /// Nothing of it is seen: the screen is off or locked.
    Hidden,
}

/// When the beam reads what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanTimes {
    /// When line 0 of the output is read, in some refresh.
    pub anchor: Instant,
    /// From one refresh to the next.
    pub interval: Span,
    /// From one line to the next.
    pub line_time: Span,
    /// The line that the rectangle begins with.
    pub first_line: i32,
}

/// Tells a client.
pub trait FrontListener: std::fmt::Debug + Send + Sync {
    /// This is when the beam reads what.
    fn tell_scan(&self, times: ScanTimes);

    /// It may write into that rectangle of its buffer.
    fn tell_active(&self, serial: u32, rect: PixelRect);

    /// It may not (any more).
    fn tell_inactive(&self, serial: u32, reason: Reason);

    /// What it wrote was lit from then on.
    fn tell_light(&self, id: u32, at: Instant);

    /// Nobody knows that it was seen.
    fn tell_missed(&self, id: u32);

    /// The rectangle does not lie inside of its buffer: that is an error.
    fn refuse_rectangle(&self, rect: PixelRect);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It may be activated.
    Inactive,
    Active,
    /// Its client has not heard of that yet.
    Revoked,
}

/// A write that the beam has not come to yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    id: u32,
    light: Instant,
}

/// The front buffer of one surface.
#[derive(Debug)]
pub struct FrontBuffer {
    listener: Arc<dyn FrontListener>,
    stage: Stage,
    /// Of the newest activation; 0 before the first.
    serial: u32,
    /// The request that ended.
    ended: u64,
    /// What it was told last, while it is inactive.
    told: Option<Reason>,
    /// What was said of the beam.
    times: Option<ScanTimes>,
    waiting: Vec<Written>,
}

impl FrontBuffer {
    /// Of a surface that nothing is known of yet.
    pub fn new(listener: Arc<dyn FrontListener>) -> Self {
        FrontBuffer {
            listener,
            stage: Stage::Inactive,
            serial: 0,
            ended: 0,
            told: None,
            times: None,
            waiting: Vec::with_capacity(MOST_WAITING),
        }
    }

    /// Whether its client may write.
    pub fn is_active(&self) -> bool {
        self.stage == Stage::Active
    }

    /// Whether `wish` may be fulfilled, as far as its client is concerned.
    pub fn waits_for(&self, wish: FrontState) -> bool {
        self.stage == Stage::Inactive && wish.rect.is_some() && wish.number != self.ended
    }

    /// It may write into `rect` of its buffer from now on.
    pub fn activate(&mut self, rect: PixelRect, times: ScanTimes) {
        self.stage = Stage::Active;
        self.serial = self.serial.wrapping_add(1).max(1);
        self.told = None;
        self.times = Some(times);
        self.listener.tell_scan(times);
        self.listener.tell_active(self.serial, rect);
    }

    /// The beam is this much elsewhere than was said: told anew where that is more than `most`.
    pub fn correct(&mut self, times: ScanTimes, most: Span) {
        let Some(told) = self.times.filter(|_| self.is_active()) else { return };
        let interval = told.interval.as_nanos().max(1);
        let off = (times.anchor - told.anchor).as_nanos().rem_euclid(interval);
        if off.min(interval - off) > most.as_nanos() || times.interval != told.interval {
            self.times = Some(times);
            self.listener.tell_scan(times);
        }
    }

    /// It may not write any more.
    pub fn revoke(&mut self, reason: Reason) {
        if self.is_active() {
            self.stage = Stage::Revoked;
            self.told = Some(reason);
            self.listener.tell_inactive(self.serial, reason);
            self.waiting.drain(..).for_each(|written| self.listener.tell_missed(written.id));
        }
    }

    /// It cannot be activated, for this reason.
    pub fn refuse(&mut self, reason: Reason) {
        if self.stage == Stage::Inactive && self.told != Some(reason) {
            self.told = Some(reason);
            self.listener.tell_inactive(self.serial, reason);
        }
    }

    /// The wish `number` is over: its client has to ask again.
    pub fn end_wish(&mut self, number: u64) {
        self.ended = number;
    }

    /// Its client has stopped to write.
    pub fn acknowledge(&mut self, serial: u32) {
        if self.stage == Stage::Revoked && serial == self.serial {
            self.stage = Stage::Inactive;
        }
    }

    /// It has written something, which the beam comes to at `light`; `None`: nobody knows when, or it is not seen.
    pub fn write(&mut self, id: u32, light: Option<Instant>) {
        let Some(light) = light.filter(|_| self.is_active()) else { return self.listener.tell_missed(id) };
        // What is not lit yet is not seen as such where more was written since; of too many the oldest is not.
        let newer = Written { id, light };
        let replaced = self.waiting.iter().position(|known| known.light == light);
        let place = replaced.or_else(|| (self.waiting.len() >= MOST_WAITING).then_some(0));
        if let Some(place) = place {
            let lost = self.waiting.remove(place);
            self.listener.tell_missed(lost.id);
        }
        self.waiting.push(newer);
    }

    /// The beam has passed in one refresh of this length.
    pub fn scanned(&mut self, scanned: Scanned, interval: Span) {
        let listener = &self.listener;
        self.waiting.retain(|written| {
            if written.light >= scanned.refresh + interval {
                return true;
            }
            if scanned.is_proven && written.light >= scanned.refresh {
                listener.tell_light(written.id, written.light);
            } else {
                listener.tell_missed(written.id);
            }
            false
        });
    }

    /// Its rectangle does not lie inside of its buffer.
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
    const WISH: FrontState = FrontState { rect: Some(RECT), number: 1 };

    #[derive(Debug, Default)]
    struct Ear(Mutex<Vec<String>>);

    impl Ear {
        fn heard(&self) -> Vec<String> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }

        fn hear(&self, what: String) {
            self.0.lock().unwrap().push(what);
        }
    }

    impl FrontListener for Ear {
        fn tell_scan(&self, _times: ScanTimes) {}

        fn tell_active(&self, serial: u32, _rect: PixelRect) {
            self.hear(format!("active {serial}"));
        }

        fn tell_inactive(&self, serial: u32, reason: Reason) {
            self.hear(format!("inactive {serial} {reason:?}"));
        }

        fn tell_light(&self, id: u32, at: Instant) {
            self.hear(format!("light {id} {}", at.as_micros() / 1_000));
        }

        fn tell_missed(&self, id: u32) {
            self.hear(format!("missed {id}"));
        }

        fn refuse_rectangle(&self, _rect: PixelRect) {}
    }

    fn at(millis: i64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn scanned(millis: i64, is_proven: bool) -> Scanned {
        Scanned { refresh: at(millis), is_proven }
    }

    #[test]
    fn a_client_may_write_again_when_it_has_heard_that_it_may_not() {
        let ear = Arc::new(Ear::default());
        let mut front = FrontBuffer::new(ear.clone());
        assert!(front.waits_for(WISH) && !front.waits_for(FrontState::default()));
        front.refuse(Reason::Covered);
        front.refuse(Reason::Covered);
        front.activate(RECT, TIMES);
        front.write(7, Some(at(20)));
        front.revoke(Reason::Hidden);
        assert_eq!(ear.heard(), ["inactive 0 Covered", "active 1", "inactive 1 Hidden", "missed 7"]);
        front.write(8, Some(at(20)));
        assert_eq!(ear.heard(), ["missed 8"]);
        assert!(!front.waits_for(WISH));
        front.acknowledge(5);
        assert!(!front.waits_for(WISH));
        front.acknowledge(1);
        assert!(front.waits_for(WISH));
        front.end_wish(1);
        assert!(!front.waits_for(WISH) && front.waits_for(FrontState { number: 2, ..WISH }));
    }

    #[test]
    fn what_was_written_last_before_the_beam_came_was_lit_if_that_was_seen() {
        let ear = Arc::new(Ear::default());
        let mut front = FrontBuffer::new(ear.clone());
        front.activate(RECT, TIMES);
        ear.heard();
        front.write(1, Some(at(20)));
        front.write(2, Some(at(20)));
        front.write(3, Some(at(36)));
        front.scanned(scanned(0, true), INTERVAL);
        front.scanned(scanned(16, true), INTERVAL);
        assert_eq!(ear.heard(), ["missed 1", "light 2 20"]);
        front.scanned(scanned(32, false), INTERVAL);
        assert_eq!(ear.heard(), ["missed 3"]);
        front.write(4, None);
        assert_eq!(ear.heard(), ["missed 4"]);
    }

    proptest! {
        #[test]
        fn each_write_is_answered_once(steps in proptest::collection::vec((0u8..6, 0i64..8), 1..80)) {
            let ear = Arc::new(Ear::default());
            let mut front = FrontBuffer::new(ear.clone());
            let (mut now, mut written) = (0, 0);
            for (what, refresh) in steps {
                match what {
                    0 if front.waits_for(WISH) => front.activate(RECT, TIMES),
                    1 => front.revoke(Reason::Covered),
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
            front.revoke(Reason::Covered);
            let heard = ear.heard();
            let answers = heard.iter().filter(|heard| heard.starts_with("light") || heard.starts_with("missed"));
            prop_assert_eq!(answers.count() as u32, written);
        }
    }
}
