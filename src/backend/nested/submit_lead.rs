//! The submit lead: how long before a refresh the parent needs our frame. It is learned, because no protocol states it.
//!
//! The parent latches some time before its own vblank: a few hundred microseconds before if it composes just in time, 7
//! ms before under weston. The only observation is whether a frame that was committed this early was shown by the
//! refresh that it was meant for:
//! ```text
//!   committed            target                   target + 1
//!      │◄──── distance ────►│                        │
//!      │    ▲ parent's latch│      shown in time ────┘ or here: the parent needs more than `distance`
//! ```
//! A lead that was learned while the parent was busy may be a whole refresh too long. Frames are then shown one refresh
//! too early, and the time from commit to light shows how short a lead suffices.

use upbeat_timing::time::{Instant, Span};

/// The initial lead: assumes that the parent composes as late as we do.
const FIRST: Span = Span::from_millis(2);
/// The longest lead as a fraction of the interval (fifteen eighths). Two frames may be in flight at once, and the rest
/// of the time is for composing after the light of the last frame but one. If a parent needs more, it shows every frame
/// late, and no lead helps.
const LONGEST: (i64, i64) = (15, 8);
/// After a miss the lead grows to the distance that failed plus the interval divided by this.
const STEP_DIVISOR: i64 = 16;
/// It grows at least by the distance that failed divided by this, so that a large lead is found soon.
const GROWTH_DIVISOR: i64 = 4;
/// A late frame adds this to the suspicion, and a frame in time subtracts 1.
const MISS: u32 = 16;
/// A frame that is late by more than this many refreshes was not delayed by the parent's latch.
const LATEST: i64 = 2;
/// After this many frames in a row that were shown before their refresh the lead is too long.
const TOO_LONG: u32 = 4;
/// At this suspicion the lead is too short: two misses within eight frames, or more than every sixteenth frame.
const TOO_SHORT: u32 = 24;
/// Frames in time after which a shorter lead is tried: a second at 60 Hz. So a lead that was learned while the parent
/// was busy, or adapted to a slower client, is soon forgotten.
const PATIENCE: u32 = 60;
/// Each time that a shorter lead fails, the patience is multiplied by this, up to more than an hour.
const PATIENCE_GROWTH: u32 = 4;
const LONGEST_PATIENCE: u32 = PATIENCE * PATIENCE_GROWTH.pow(6);
/// After an idle time of this many intervals the target refresh is uncertain: the phase has to be found again.
const IDLE_INTERVALS: i64 = 16;

/// A frame whose light the parent reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct PresentedSample {
    /// The expected start of the refresh that it was made for.
    pub target: Instant,
    pub committed: Instant,
    pub shown: Instant,
}

/// The learned lead of one window.
#[derive(Clone, Copy, Debug)]
pub(super) struct LearnedLead {
    lead: Span,
    suspicion: u32,
    /// The shortest distance from commit to refresh among the misses since the suspicion was zero.
    least: Span,
    /// Frames in a row that were shown before their refresh.
    early: u32,
    /// The shortest time from commit to light among these frames.
    sufficed: Span,
    /// Frames in time since the last change.
    quiet: u32,
    patience: u32,
    /// Set if the last change was an attempt with a shorter lead: the lead before it.
    tried_from: Option<Span>,
    /// The longest lead for which such an attempt failed.
    refused: Span,
    last: Option<Instant>,
}

impl Default for LearnedLead {
    fn default() -> Self {
        LearnedLead {
            lead: FIRST,
            suspicion: 0,
            least: Span::MAX,
            early: 0,
            sufficed: Span::MAX,
            quiet: 0,
            patience: PATIENCE,
            tried_from: None,
            refused: FIRST,
            last: None,
        }
    }
}

impl LearnedLead {
    /// How long before the refresh a frame is to be committed.
    pub(super) const fn get(&self) -> Span {
        self.lead
    }

    /// Learns from a shown frame. Returns whether the lead has changed.
    pub(super) fn observe(&mut self, frame: PresentedSample, interval: Span) -> bool {
        let steady = self.last.is_some_and(|last| frame.shown - last < interval * IDLE_INTERVALS);
        self.last = Some(frame.shown);
        let distance = frame.target - frame.committed;
        let late = frame.shown - frame.target;
        if late > -interval / 2 {
            self.early = 0;
        }
        if !steady {
            false
        } else if late < -interval / 2 {
            self.early(frame.shown - frame.committed)
        } else if late < interval / 2 {
            self.hit(interval)
        } else {
            // A frame that is much later, or was committed later than the lead, was not delayed by the parent's latch.
            late < interval * LATEST + interval / 2 && distance >= self.lead && self.miss(distance, interval)
        }
    }

    fn miss(&mut self, distance: Span, interval: Span) -> bool {
        self.quiet = 0;
        self.suspicion += MISS;
        // One miss may be due to the parent's load, so only the shortest distance of several misses counts.
        self.least = self.least.min(distance);
        if self.suspicion < TOO_SHORT {
            return false;
        }
        if let Some(before) = self.tried_from.take() {
            self.refused = self.lead;
            self.patience = (self.patience * PATIENCE_GROWTH).min(LONGEST_PATIENCE);
            return self.change(before);
        }
        let longest = interval.scale(LONGEST.0, LONGEST.1).max(self.lead);
        let step = (interval / STEP_DIVISOR).max(self.least / GROWTH_DIVISOR);
        self.change((self.least + step).min(longest))
    }

    fn early(&mut self, sufficed: Span) -> bool {
        self.sufficed = if self.early == 0 { sufficed } else { self.sufficed.min(sufficed) };
        self.early += 1;
        if self.early < TOO_LONG {
            return false;
        }
        self.early = 0;
        self.tried_from = None;
        self.change(self.sufficed.max(FIRST).min(self.lead))
    }

    fn hit(&mut self, interval: Span) -> bool {
        self.suspicion = self.suspicion.saturating_sub(1);
        if self.suspicion == 0 {
            self.least = Span::MAX;
        }
        self.quiet += 1;
        if self.quiet < self.patience || self.lead == FIRST {
            return false;
        }
        // Shorten by half of the possible excess, and only little by little below a lead that failed before.
        let step = ((self.lead - self.refused) / 2).max(interval / STEP_DIVISOR);
        self.tried_from = Some(self.lead);
        self.change((self.lead - step).max(FIRST))
    }

    fn change(&mut self, lead: Span) -> bool {
        self.quiet = 0;
        self.suspicion = 0;
        self.least = Span::MAX;
        std::mem::replace(&mut self.lead, lead) != lead
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_micros(16_667);

    /// Simulates `frames` frames of a parent that latches `wants` before its refresh, each committed at the learned
    /// lead.
    fn learn(wants: Span, frames: i64) -> (LearnedLead, i64) {
        let mut lead = LearnedLead::default();
        let (mut refresh, mut late) = (Instant::from_nanos(1_000_000_000), 0);
        for frame in 0..frames {
            refresh += INTERVAL;
            let target = refresh;
            // Timers are up to 0.3 ms late.
            let committed = target - lead.get() + Span::from_micros(frame % 4 * 100 - 300);
            if target - committed < wants {
                refresh += INTERVAL;
                late += 1;
            }
            lead.observe(PresentedSample { target, committed, shown: refresh }, INTERVAL);
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
    fn lead_is_limited_to_leave_time_for_composing() {
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
    fn lead_of_a_busy_parent_shrinks_again() {
        let mut lead = LearnedLead { lead: Span::from_millis(9), ..LearnedLead::default() };
        for number in 1..100_000 {
            let target = Instant::from_nanos(1_000_000_000) + INTERVAL * number;
            lead.observe(PresentedSample { target, committed: target - lead.get(), shown: target }, INTERVAL);
        }
        assert_eq!(lead.get(), FIRST);
    }

    #[test]
    fn a_lead_that_is_a_refresh_too_long_is_given_up_at_once() {
        let mut lead = LearnedLead { lead: Span::from_millis(19), ..LearnedLead::default() };
        let early = |number: i64| {
            let target = Instant::from_nanos(1_000_000_000) + INTERVAL * number;
            PresentedSample { target, committed: target - Span::from_millis(21), shown: target - INTERVAL }
        };
        let changes = (1..=5).filter(|number| lead.observe(early(*number), INTERVAL)).count();
        assert_eq!((lead.get(), changes), (Span::from_micros(4_333), 1), "the shortest sufficient lead");
    }

    #[test]
    fn lead_of_a_short_load_shrinks_within_seconds() {
        let mut lead = LearnedLead { lead: Span::from_millis(16), ..LearnedLead::default() };
        for number in 1..600 {
            let target = Instant::from_nanos(1_000_000_000) + INTERVAL * number;
            let committed = target - lead.get();
            let shown = if target - committed < Span::from_micros(2_500) { target + INTERVAL } else { target };
            lead.observe(PresentedSample { target, committed, shown }, INTERVAL);
        }
        assert!(lead.get() >= Span::from_micros(2_500) && lead.get() < Span::from_millis(5), "{:?}", lead.get());
    }

    #[test]
    fn frames_that_are_many_refreshes_late_teach_nothing() {
        let mut lead = LearnedLead::default();
        for number in 1..20 {
            let target = Instant::from_nanos(1_000_000_000) + INTERVAL * number;
            let shown = target + INTERVAL * 5;
            assert!(
                !lead.observe(PresentedSample { target, committed: target - Span::from_millis(4), shown }, INTERVAL)
            );
        }
        assert_eq!(lead.get(), FIRST);
    }

    #[test]
    fn frames_that_were_late_by_our_own_fault_teach_nothing() {
        let mut lead = LearnedLead::default();
        for number in 1..100 {
            let target = Instant::from_nanos(1_000_000_000) + INTERVAL * number;
            let committed = target - Span::from_millis(1);
            assert!(!lead.observe(PresentedSample { target, committed, shown: target + INTERVAL }, INTERVAL));
        }
        assert_eq!(lead.get(), FIRST);
    }
}
