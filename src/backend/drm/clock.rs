//! Whether a driver's flip events can be believed, and what stands in for them when not.
//!
//! Pure: times go in, times come out.
//!
//! Some drivers have no vblank: a flip is "done" as soon as it was taken (virtio-gpu: thousands of flips a second,
//! each with sequence 0), and some stamp zero or a moment long ago. A frame counts as light at the next tick of a grid
//! of our own then (*software vsync*), so that the rest of the compositor sees a display like any other:
//!
//! ```text
//!  grid        │              │              │              │
//!  submit          ▲                ▲
//!  flip event       ▲                ▲          believed? no: told at ...
//!  light                      ●              ●  ... the next tick
//! ```
//!
//! A modeset has no vblank that could be told: the first flip event after it carries the moment at which vblanks were
//! switched on, or the last one in the old mode (vkms, 130 to 480 ms ago). An event from before its own commit was asked
//! for is no light either. Such frames have been shown, at a time that nobody knows; the vsync model says the likeliest.

use upbeat_timing::time::{Instant, Span};

/// So many strange events among the latest [`MEMORY`] make the driver one without timestamps. One or two happen to
/// good drivers, around a mode switch.
const TOLERATED: u32 = 3;
/// How many events are remembered, one bit each.
const MEMORY: u32 = 16;

/// When a flip reaches light, and the refresh counter there if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Light {
    /// `CLOCK_MONOTONIC`. It may lie in the future: then the flip counts as under way until then. [`Instant::ZERO`]: it
    /// was shown, and nobody knows when.
    pub time: Instant,
    /// Counts refreshes; without gaps in what the display was not asked for.
    pub sequence: Option<u64>,
}

/// What a driver said of a flip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlipEvent {
    /// The timestamp, `CLOCK_MONOTONIC`; [`Instant::ZERO`] is what broken drivers say.
    pub time: Instant,
    /// The 32 bits that DRM has for the counter; they wrap.
    pub sequence: u32,
}

/// What is known of the commit that a flip belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// When the kernel was about to be asked. (When it answers, the vblank may have passed already.)
    pub at: Instant,
    /// It switched the mode, or the output on.
    pub modeset: bool,
}

/// Judges a pipe's flip events.
#[derive(Debug)]
pub struct FlipClock {
    interval: Span,
    /// Any tick of the grid of our own.
    anchor: Instant,
    believed: bool,
    /// The latest events, newest in the lowest bit; 1 is strange.
    strange: u32,
    last: Option<FlipEvent>,
    /// The counter in 64 bits.
    counted: u64,
}

impl FlipClock {
    /// For a mode with this interval. `believed`: the driver says that it counts vblanks.
    pub fn new(interval: Span, believed: bool, now: Instant) -> Self {
        FlipClock { interval, anchor: now, believed, strange: 0, last: None, counted: 0 }
    }

    /// Whether the driver's timestamps are used.
    pub fn is_believed(&self) -> bool {
        self.believed
    }

    /// Events have stopped for a while or the mode changed: what comes next says nothing about what came before.
    pub fn restart(&mut self, interval: Span, now: Instant) {
        (self.interval, self.anchor, self.last) = (interval, now, None);
    }

    /// A flip that was `asked` for is done, says the driver at `now`.
    pub fn flipped(&mut self, event: FlipEvent, asked: Asked, now: Instant) -> Light {
        if self.believed && !asked.modeset {
            let strange = self.is_strange(event, asked.at, now);
            self.strange = (self.strange << 1 | u32::from(strange)) & ((1 << MEMORY) - 1);
            self.believed = self.strange.count_ones() < TOLERATED;
        }
        if !self.believed {
            return self.next_tick(now);
        }
        let step =
            self.last.map_or(u64::from(event.sequence), |last| u64::from(event.sequence.wrapping_sub(last.sequence)));
        self.counted += step;
        self.last = Some(event);
        let known = !asked.modeset && event.time >= asked.at;
        Light { time: if known { event.time } else { Instant::ZERO }, sequence: Some(self.counted) }
    }

    /// A refresh cannot have been before the flip was asked for by more than the refresh that was going on, after now,
    /// or twice in one.
    fn is_strange(&self, event: FlipEvent, asked: Instant, now: Instant) -> bool {
        let impossible = event.time + self.interval < asked || event.time > now + self.interval;
        let repeated =
            self.last.is_some_and(|last| event.time < last.time + self.interval / 2 || event.sequence == last.sequence);
        impossible || repeated
    }

    fn next_tick(&self, now: Instant) -> Light {
        let interval = self.interval.as_nanos().max(1);
        let passed = now.since(self.anchor).as_nanos().max(0) / interval;
        let tick = passed + 1;
        Light { time: self.anchor + self.interval * tick, sequence: Some(tick.unsigned_abs()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_millis(10);

    fn at(millis: i64) -> Instant {
        Instant::from_nanos(1_000_000_000) + Span::from_millis(millis)
    }

    fn event(millis: i64, sequence: u32) -> FlipEvent {
        FlipEvent { time: at(millis), sequence }
    }

    fn asked(at: Instant) -> Asked {
        Asked { at, modeset: false }
    }

    #[test]
    fn an_event_from_before_its_commit_is_no_light() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        assert_eq!(clock.flipped(event(10, 1), asked(at(4)), at(10)).time, at(10));
        let stale = clock.flipped(event(20, 2), asked(at(24)), at(30));
        assert_eq!(stale, Light { time: Instant::ZERO, sequence: Some(2) }, "it was shown, and nobody knows when");
        assert_eq!(clock.flipped(event(40, 4), asked(at(34)), at(40)), Light { time: at(40), sequence: Some(4) });
    }

    #[test]
    fn a_vblank_while_the_kernel_still_answers_is_light() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        // Asked just before it; the answer came just after.
        assert_eq!(clock.flipped(event(10, 1), asked(at(9)), at(11)).time, at(10));
    }

    #[test]
    fn what_a_modeset_says_is_neither_light_nor_a_reason_for_doubt() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        for turn in 0..10_u32 {
            let start = i64::from(turn) * 1_000;
            let on = Asked { at: at(start + 480), modeset: true };
            let first = clock.flipped(event(start, turn * 50), on, at(start + 490));
            assert_eq!(first.time, Instant::ZERO, "480 ms before it was asked for");
            let next = clock.flipped(event(start + 500, turn * 50 + 1), asked(at(start + 495)), at(start + 500));
            assert_eq!(next.time, at(start + 500));
        }
        assert!(clock.is_believed());
    }

    #[test]
    fn a_good_driver_is_believed_and_its_counter_goes_on_beyond_32_bits() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        let first = clock.flipped(event(10, u32::MAX), asked(at(3)), at(10));
        assert_eq!(first, Light { time: at(10), sequence: Some(u64::from(u32::MAX)) });
        let second = clock.flipped(event(30, 1), asked(at(21)), at(30));
        assert_eq!(second, Light { time: at(30), sequence: Some(u64::from(u32::MAX) + 2) });
        assert!(clock.is_believed());
    }

    #[test]
    fn a_driver_that_completes_at_once_gets_a_grid_and_one_flip_a_tick() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        let mut now = at(3);
        let mut lights = Vec::new();
        // The first few are passed on: the vsync model survives them.
        while clock.is_believed() {
            clock.flipped(FlipEvent { time: now, sequence: 0 }, asked(now), now);
            now += Span::from_millis(1);
        }
        assert!(now < at(3) + INTERVAL);
        for _ in 0..4 {
            let light = clock.flipped(FlipEvent { time: now, sequence: 0 }, asked(now), now);
            lights.push(light.time);
            now = now.max(light.time) + Span::from_millis(1);
        }
        assert_eq!(lights, [at(10), at(20), at(30), at(40)]);
    }

    #[test]
    fn one_bad_timestamp_is_passed_on_and_forgiven() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        for refresh in 1..100u32 {
            let broken = refresh % 17 == 0;
            let time = if broken { Instant::ZERO } else { at(i64::from(refresh) * 10) };
            let due = at(i64::from(refresh) * 10);
            clock.flipped(FlipEvent { time, sequence: refresh }, asked(due - Span::from_millis(4)), due);
        }
        assert!(clock.is_believed());
    }

    #[test]
    fn without_a_vblank_counter_it_is_software_vsync_from_the_start() {
        let mut clock = FlipClock::new(INTERVAL, false, at(0));
        let light = clock.flipped(event(10, 7), asked(at(11)), at(11));
        assert_eq!(light, Light { time: at(20), sequence: Some(2) });
    }
}
