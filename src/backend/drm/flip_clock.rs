//! Checks a driver's flip-event timestamps, and replaces unusable timestamps by software vsync.
//!
//! Pure: times go in, times come out.
//!
//! Some drivers have no vblank: a flip is "done" as soon as it is accepted (virtio-gpu: thousands of flips a second,
//! each with sequence 0). Some drivers stamp zero or a time long ago. A frame then counts as light at the next tick of
//! our own grid (*software vsync*), so that the rest of the compositor sees an ordinary display:
//!
//! ```text
//!  grid        │              │              │              │
//!  submit          ▲                ▲
//!  flip event       ▲                ▲          trusted? no: reported at ...
//!  light                      ●              ●  ... the next tick
//! ```
//!
//! A modeset has no vblank of its own. The first flip event after it carries the time at which vblanks were switched
//! on, or the last vblank in the old mode (vkms, 130 to 480 ms ago). An event time from before its own commit is no
//! light either. In both cases the frame was shown at an unknown time, and the vsync model picks the likeliest.

use upbeat_timing::time::{Instant, Span};

/// With this many implausible events among the latest [`MEMORY`] the driver counts as one without timestamps. One or
/// two occur on good drivers, around a mode switch.
const TOLERATED: u32 = 3;
/// The number of remembered events, one bit each.
const MEMORY: u32 = 16;

/// The time at which a flip reaches light, and the refresh counter at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlipLight {
    /// `CLOCK_MONOTONIC`. It may lie in the future: the flip then counts as in flight until this time.
    /// [`Instant::ZERO`]: the frame was shown at an unknown time.
    pub time: Instant,
    /// Counts refreshes, including refreshes without a flip.
    pub sequence: Option<u64>,
}

/// The kernel's flip event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlipEvent {
    /// `CLOCK_MONOTONIC`; broken drivers send [`Instant::ZERO`].
    pub time: Instant,
    /// DRM's refresh counter: 32 bits, wrapping.
    pub sequence: u32,
}

/// The commit that a flip belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlipCommit {
    /// The time just before the commit ioctl. (When the ioctl returns, the vblank may have passed already.)
    pub at: Instant,
    /// The commit switched the mode, or the output on.
    pub modeset: bool,
}

/// The start of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshStart {
    /// `CLOCK_MONOTONIC`. Up to the vertical blanking later than the time at which it was asked for.
    pub time: Instant,
    /// Counts refreshes, as [`FlipLight::sequence`] does.
    pub sequence: Option<u64>,
}

/// Checks the flip events of one pipe.
#[derive(Debug)]
pub struct FlipClock {
    interval: Span,
    /// Any tick of our own grid.
    anchor: Instant,
    trusted: bool,
    /// The latest events, the newest in the lowest bit; 1 is implausible.
    implausible: u32,
    last: Option<FlipEvent>,
    /// The refresh counter, extended to 64 bits.
    counted: u64,
}

impl FlipClock {
    /// `trusted`: the driver claims to count vblanks.
    pub fn new(interval: Span, trusted: bool, now: Instant) -> Self {
        FlipClock { interval, anchor: now, trusted, implausible: 0, last: None, counted: 0 }
    }

    /// Whether the driver's timestamps are used.
    pub fn is_trusted(&self) -> bool {
        self.trusted
    }

    /// Call this after a long pause or a mode switch: the next event is not compared with the events before it.
    pub fn restart(&mut self, interval: Span, now: Instant) {
        (self.interval, self.anchor, self.last) = (interval, now, None);
    }

    /// Returns when the frame of `commit` reaches light, from its flip event, received at `now`.
    pub fn flipped(&mut self, event: FlipEvent, commit: FlipCommit, now: Instant) -> FlipLight {
        if self.trusted && !commit.modeset {
            let implausible = self.is_implausible(event, commit.at, now);
            self.implausible = (self.implausible << 1 | u32::from(implausible)) & ((1 << MEMORY) - 1);
            self.trusted = self.implausible.count_ones() < TOLERATED;
        }
        if !self.trusted {
            return self.next_tick(now);
        }
        let step =
            self.last.map_or(u64::from(event.sequence), |last| u64::from(event.sequence.wrapping_sub(last.sequence)));
        self.counted += step;
        self.last = Some(event);
        let known = !commit.modeset && event.time >= commit.at;
        FlipLight { time: if known { event.time } else { Instant::ZERO }, sequence: Some(self.counted) }
    }

    /// The last refresh at `now`. `vblank`: the driver's last vblank, if it was asked. Without an answer refreshes are counted
    /// from the last flip event.
    pub fn last_refresh(&self, vblank: Option<FlipEvent>, now: Instant) -> RefreshStart {
        if !self.trusted {
            let FlipLight { time, sequence } = self.next_tick(now);
            let sequence = sequence.map(|sequence| sequence.saturating_sub(1));
            return RefreshStart { time: time - self.interval, sequence };
        }
        let since_flip = |sequence: u32| {
            let last = self.last.map_or(0, |last| last.sequence);
            self.counted.saturating_add_signed(i64::from(sequence.wrapping_sub(last).cast_signed()))
        };
        let is_now = |event: &FlipEvent| event.time <= now + self.interval && now < event.time + self.interval * 2;
        if let Some(event) = vblank.filter(is_now) {
            return RefreshStart { time: event.time, sequence: Some(since_flip(event.sequence)) };
        }
        let (start, counted) = self.last.map_or((self.anchor, None), |last| (last.time, Some(self.counted)));
        let passed = (now - start).as_nanos().max(0) / self.interval.as_nanos().max(1);
        let sequence = counted.map(|counted| counted.saturating_add_signed(passed));
        RefreshStart { time: start + self.interval * passed, sequence }
    }

    /// A vblank time is impossible more than one refresh before the commit or after `now`. Two flips cannot share a
    /// refresh.
    fn is_implausible(&self, event: FlipEvent, committed_at: Instant, now: Instant) -> bool {
        let impossible = event.time + self.interval < committed_at || event.time > now + self.interval;
        let repeated =
            self.last.is_some_and(|last| event.time < last.time + self.interval / 2 || event.sequence == last.sequence);
        impossible || repeated
    }

    fn next_tick(&self, now: Instant) -> FlipLight {
        let interval = self.interval.as_nanos().max(1);
        let passed = now.since(self.anchor).as_nanos().max(0) / interval;
        let tick = passed + 1;
        FlipLight { time: self.anchor + self.interval * tick, sequence: Some(tick.unsigned_abs()) }
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

    fn committed(at: Instant) -> FlipCommit {
        FlipCommit { at, modeset: false }
    }

    #[test]
    fn last_refresh_is_the_vblank_or_counted_from_the_last_flip() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        clock.flipped(event(10, 1), committed(at(4)), at(10));
        let start = |millis, sequence| RefreshStart { time: at(millis), sequence: Some(sequence) };
        assert_eq!(clock.last_refresh(Some(event(51, 5)), at(58)), start(51, 5));
        assert_eq!(
            clock.last_refresh(Some(event(61, 6)), at(59)),
            start(61, 6),
            "it is stamped in the blanking before"
        );
        assert_eq!(clock.last_refresh(Some(event(0, 0)), at(58)), start(50, 5), "the driver's answer is old");
        assert_eq!(clock.last_refresh(None, at(58)), start(50, 5));
        let software = FlipClock::new(INTERVAL, false, at(3));
        assert_eq!(software.last_refresh(None, at(58)), start(53, 5));
    }

    #[test]
    fn event_older_than_its_commit_has_an_unknown_time() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        assert_eq!(clock.flipped(event(10, 1), committed(at(4)), at(10)).time, at(10));
        let stale = clock.flipped(event(20, 2), committed(at(24)), at(30));
        assert_eq!(stale, FlipLight { time: Instant::ZERO, sequence: Some(2) }, "it was shown at an unknown time");
        assert_eq!(
            clock.flipped(event(40, 4), committed(at(34)), at(40)),
            FlipLight { time: at(40), sequence: Some(4) }
        );
    }

    #[test]
    fn a_vblank_while_the_kernel_still_answers_is_light() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        // The commit started just before the vblank; the ioctl returned just after it.
        assert_eq!(clock.flipped(event(10, 1), committed(at(9)), at(11)).time, at(10));
    }

    #[test]
    fn event_of_a_modeset_is_ignored_and_keeps_the_driver_trusted() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        for turn in 0..10_u32 {
            let start = i64::from(turn) * 1_000;
            let on = FlipCommit { at: at(start + 480), modeset: true };
            let first = clock.flipped(event(start, turn * 50), on, at(start + 490));
            assert_eq!(first.time, Instant::ZERO, "480 ms before its commit");
            let next = clock.flipped(event(start + 500, turn * 50 + 1), committed(at(start + 495)), at(start + 500));
            assert_eq!(next.time, at(start + 500));
        }
        assert!(clock.is_trusted());
    }

    #[test]
    fn plausible_driver_is_trusted_and_its_counter_is_extended_to_64_bits() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        let first = clock.flipped(event(10, u32::MAX), committed(at(3)), at(10));
        assert_eq!(first, FlipLight { time: at(10), sequence: Some(u64::from(u32::MAX)) });
        let second = clock.flipped(event(30, 1), committed(at(21)), at(30));
        assert_eq!(second, FlipLight { time: at(30), sequence: Some(u64::from(u32::MAX) + 2) });
        assert!(clock.is_trusted());
    }

    #[test]
    fn driver_without_vblanks_gets_software_vsync() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        let mut now = at(3);
        let mut lights = Vec::new();
        // The first few events are passed on: the vsync model survives them.
        while clock.is_trusted() {
            clock.flipped(FlipEvent { time: now, sequence: 0 }, committed(now), now);
            now += Span::from_millis(1);
        }
        assert!(now < at(3) + INTERVAL);
        for _ in 0..4 {
            let light = clock.flipped(FlipEvent { time: now, sequence: 0 }, committed(now), now);
            lights.push(light.time);
            now = now.max(light.time) + Span::from_millis(1);
        }
        assert_eq!(lights, [at(10), at(20), at(30), at(40)]);
    }

    #[test]
    fn single_bad_timestamp_keeps_the_driver_trusted() {
        let mut clock = FlipClock::new(INTERVAL, true, at(0));
        for refresh in 1..100u32 {
            let broken = refresh % 17 == 0;
            let time = if broken { Instant::ZERO } else { at(i64::from(refresh) * 10) };
            let due = at(i64::from(refresh) * 10);
            clock.flipped(FlipEvent { time, sequence: refresh }, committed(due - Span::from_millis(4)), due);
        }
        assert!(clock.is_trusted());
    }

    #[test]
    fn without_a_vblank_counter_it_is_software_vsync_from_the_start() {
        let mut clock = FlipClock::new(INTERVAL, false, at(0));
        let light = clock.flipped(event(10, 7), committed(at(11)), at(11));
        assert_eq!(light, FlipLight { time: at(20), sequence: Some(2) });
    }
}
