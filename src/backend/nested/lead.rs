//! How long before a refresh the parent wants our frame: learned, because no protocol says it.
//!
//! The parent latches some time before its own vblank: a few hundred microseconds where it works just in time, 7 ms
//! under weston. What can be seen is only whether a frame that was committed so early was shown by the refresh that it
//! was meant for:
//! ```text
//!   committed            meant                    meant + 1
//!      │◄──── distance ────►│                        │
//!      │    ▲ parent's latch│      shown in time ────┘ or here: the parent wants more than `distance`
//! ```

use crate::time::{Instant, Span};

/// What is assumed of a parent of which nothing is known: it works as late as we do.
const FIRST: Span = Span::from_millis(2);
/// No lead is longer than this share of the interval (fifteen eighths): two frames may be on their way at once, and what
/// is left is for composing after the light of the last but one. A parent that wants more shows every frame later than
/// was meant, and no lead helps.
const LONGEST: (i64, i64) = (15, 8);
/// A lead that did not suffice grows to what was tried and this share of the interval.
const STEP_DIVISOR: i64 = 16;
/// Or by this share of itself, if that is more: a parent that wants far more is met soon.
const GROWTH_DIVISOR: i64 = 4;
/// What a frame that came too late adds to the suspicion, of which one in time takes 1.
const MISS: u32 = 16;
/// With so much suspicion the lead is too short: two misses within eight frames, or more than every sixteenth frame.
const TOO_SHORT: u32 = 24;
/// Frames in time after which a shorter lead is tried: ten seconds at 60 Hz.
const PATIENCE: u32 = 600;
/// Each time that a shorter lead was too short, patience grows so many times, until it is this long: an hour and more.
const PATIENCE_GROWTH: u32 = 4;
const LONGEST_PATIENCE: u32 = PATIENCE * PATIENCE_GROWTH.pow(5);
/// After an idle of so many intervals the refresh that was meant says little: the phase has to be found again.
const IDLE_INTERVALS: i64 = 16;

/// A frame of which the parent reported light.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    /// When the refresh was expected that it was made for.
    pub meant: Instant,
    /// When it was committed.
    pub committed: Instant,
    /// When it was shown.
    pub shown: Instant,
}

/// The learned lead of one window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead {
    lead: Span,
    suspicion: u32,
    /// Of the misses that made the suspicion, the one that was committed last.
    least: Span,
    /// Frames in time since the last change.
    quiet: u32,
    patience: u32,
    /// The last change was a try to do with less.
    is_trying: bool,
    last: Option<Instant>,
}

impl Default for Lead {
    fn default() -> Self {
        Lead { lead: FIRST, suspicion: 0, least: Span::MAX, quiet: 0, patience: PATIENCE, is_trying: false, last: None }
    }
}

impl Lead {
    /// How long before the refresh a frame is to be committed.
    pub(super) const fn get(&self) -> Span {
        self.lead
    }

    /// Learns from a frame. Returns whether the lead has changed.
    pub(super) fn observe(&mut self, frame: Shown, interval: Span) -> bool {
        let steady = self.last.is_some_and(|last| frame.shown - last < interval * IDLE_INTERVALS);
        self.last = Some(frame.shown);
        let distance = frame.meant - frame.committed;
        let late = frame.shown - frame.meant > interval / 2;
        if !steady || (late && distance < self.lead) {
            return false;
        }
        if late { self.miss(distance, interval) } else { self.hit() }
    }

    fn miss(&mut self, distance: Span, interval: Span) -> bool {
        self.quiet = 0;
        self.suspicion += MISS;
        // One miss may be the parent's own trouble: what several have in common counts.
        self.least = self.least.min(distance);
        if self.suspicion < TOO_SHORT {
            return false;
        }
        let longest = interval.scale(LONGEST.0, LONGEST.1).max(self.lead);
        let step = (interval / STEP_DIVISOR).max(self.least / GROWTH_DIVISOR);
        let lead = (self.least + step).min(longest);
        self.suspicion = 0;
        if std::mem::take(&mut self.is_trying) {
            self.patience = (self.patience * PATIENCE_GROWTH).min(LONGEST_PATIENCE);
        }
        self.change(lead)
    }

    fn hit(&mut self) -> bool {
        self.suspicion = self.suspicion.saturating_sub(1);
        if self.suspicion == 0 {
            self.least = Span::MAX;
        }
        self.quiet += 1;
        if self.quiet < self.patience || self.lead == FIRST {
            return false;
        }
        self.is_trying = true;
        self.change((self.lead - self.lead / STEP_DIVISOR).max(FIRST))
    }

    fn change(&mut self, lead: Span) -> bool {
        self.quiet = 0;
        self.least = Span::MAX;
        std::mem::replace(&mut self.lead, lead) != lead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_micros(16_667);

    /// A parent that latches `wants` before its refresh shows `frames` frames, committed as late as is learned.
    fn learn(wants: Span, frames: i64) -> (Lead, i64) {
        let mut lead = Lead::default();
        let (mut refresh, mut late) = (Instant::from_nanos(1_000_000_000), 0);
        for frame in 0..frames {
            refresh += INTERVAL;
            let meant = refresh;
            // Timers are up to 0.3 ms late.
            let committed = meant - lead.get() + Span::from_micros(frame % 4 * 100 - 300);
            if meant - committed < wants {
                refresh += INTERVAL;
                late += 1;
            }
            lead.observe(Shown { meant, committed, shown: refresh }, INTERVAL);
        }
        (lead, late)
    }

    #[test]
    fn a_parent_that_works_just_in_time_costs_no_more_than_the_first_guess() {
        let (lead, late) = learn(Span::from_micros(1_400), 1_000);
        assert_eq!((lead.get(), late), (FIRST, 0));
    }

    #[test]
    fn a_parent_that_latches_7_ms_early_is_met_after_a_few_frames_and_then_always() {
        let (lead, late) = learn(Span::from_millis(7), 1_000);
        assert!(lead.get() >= Span::from_millis(7) && lead.get() < Span::from_micros(8_500), "{:?}", lead.get());
        assert!(late <= 16, "{late} frames were late");
    }

    #[test]
    fn a_parent_that_latches_at_the_vblank_before_is_met_within_half_a_second() {
        let (lead, late) = learn(INTERVAL + Span::from_micros(400), 1_000);
        assert!(lead.get() > INTERVAL && lead.get() < INTERVAL.scale(4, 3), "{:?}", lead.get());
        assert!(late <= 30, "{late} frames were late");
    }

    #[test]
    fn a_parent_that_no_lead_suffices_leaves_time_for_composing() {
        let (lead, _) = learn(INTERVAL * 3, 1_000);
        assert_eq!(lead.get(), INTERVAL.scale(15, 8));
    }

    #[test]
    fn a_shorter_lead_is_tried_less_and_less_often() {
        let (_, in_a_minute) = learn(Span::from_millis(7), 3_600);
        let (_, in_an_hour) = learn(Span::from_millis(7), 216_000);
        assert!(in_a_minute <= 24 && in_an_hour <= 60, "{in_a_minute}, {in_an_hour}");
    }

    #[test]
    fn what_a_parent_wanted_while_it_was_busy_is_forgotten() {
        let mut lead = Lead { lead: Span::from_millis(9), ..Lead::default() };
        for number in 1..100_000 {
            let meant = Instant::from_nanos(1_000_000_000) + INTERVAL * number;
            lead.observe(Shown { meant, committed: meant - lead.get(), shown: meant }, INTERVAL);
        }
        assert_eq!(lead.get(), FIRST);
    }

    #[test]
    fn frames_that_were_late_by_our_own_fault_teach_nothing() {
        let mut lead = Lead::default();
        for number in 1..100 {
            let meant = Instant::from_nanos(1_000_000_000) + INTERVAL * number;
            let committed = meant - Span::from_millis(1);
            assert!(!lead.observe(Shown { meant, committed, shown: meant + INTERVAL }, INTERVAL));
        }
        assert_eq!(lead.get(), FIRST);
    }
}
