//! Statistics over frame records: quantiles, drops and hitches of the recent past.

use serde::{Deserialize, Serialize};

use super::{Blame, ClientFrameRecord, FrameRecord};
use crate::time::{Instant, NANOS_PER_SECOND, Span};

/// The number of values that a [`RecentDistribution`] of an output remembers: 8 seconds at 60 Hz, enough for a p99
/// based on five values.
const VALUES_KEPT: usize = 512;
/// The same for a window, since there are many: 4 seconds.
const WINDOW_VALUES_KEPT: usize = 256;

/// The number of seconds that a [`EventRate`] covers.
const RATE_SECONDS: usize = 10;

/// A gap of more than this many thousandths of a period is a hitch.
pub const HITCH_PER_MILLE: i64 = 1_260;

/// The distribution of the last `N` values, up to four seconds each. Memory grows with the values, so that rare events
/// cost little. Adding a value moves no other value; a query sorts them.
#[derive(Clone, Debug, Default)]
pub struct RecentDistribution<const N: usize = VALUES_KEPT> {
    values: Vec<u32>,
    /// The index of the oldest value, once there are `N`: the next value replaces it.
    oldest: usize,
}

/// A [`RecentDistribution`] in four numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DistributionSummary {
    /// The median: half of the values are at or below it.
    pub p50: Span,
    /// 99 of 100 values are at or below it.
    pub p99: Span,
    /// The largest of the values.
    pub max: Span,
    /// The number of values.
    pub samples: usize,
}

impl<const N: usize> RecentDistribution<N> {
    /// Adds a value. A negative value counts as zero.
    pub fn add(&mut self, value: Span) {
        let nanos = u32::try_from(value.as_nanos().max(0)).unwrap_or(u32::MAX);
        if self.values.len() < N {
            self.values.push(nanos);
            return;
        }
        self.values[self.oldest] = nanos;
        self.oldest = (self.oldest + 1) % N;
    }

    /// The summary of the remembered values; `None` without any.
    pub fn summary(&self) -> Option<DistributionSummary> {
        let mut sorted = self.values.clone();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        // This many (per mille) of the values lie above it.
        let quantile =
            |per_mille: usize| Span::from_nanos(i64::from(sorted[last - (sorted.len() * per_mille / 1000).min(last)]));
        Some(DistributionSummary { p50: quantile(500), p99: quantile(10), max: quantile(0), samples: sorted.len() })
    }
}

/// Counts events: how many a second over the last ten seconds, and the total.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventRate {
    total: u64,
    since: Option<Instant>,
    second: u64,
    bins: [u64; RATE_SECONDS],
}

impl EventRate {
    /// Starts counting at `now`, unless it has started already.
    pub fn start(&mut self, now: Instant) {
        self.since.get_or_insert(now);
        self.forget_before(now);
    }

    /// Counts `count` events at `now`.
    pub fn add(&mut self, count: u64, now: Instant) {
        self.start(now);
        self.total += count;
        self.bins[(self.second % RATE_SECONDS as u64) as usize] += count;
    }

    /// The total number of events.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The recent number of events per second. A count over less than one second is not extrapolated.
    pub fn per_second(mut self, now: Instant) -> f64 {
        let Some(since) = self.since else { return 0.0 };
        self.forget_before(now);
        let oldest = Instant::from_nanos(self.second.saturating_sub(RATE_SECONDS as u64 - 1) * NANOS_PER_SECOND as u64);
        let counted = (now - since.max(oldest)).max(Span::from_seconds(1));
        self.bins.iter().sum::<u64>() as f64 / counted.as_seconds_f64()
    }

    /// Clears the bins between the last counted second and the second of `now`. Time that runs backwards changes
    /// nothing.
    fn forget_before(&mut self, now: Instant) {
        let second = now.as_nanos() / NANOS_PER_SECOND as u64;
        let passed = second.saturating_sub(self.second).min(RATE_SECONDS as u64);
        for step in 1..=passed {
            self.bins[((second - passed + step) % RATE_SECONDS as u64) as usize] = 0;
        }
        self.second = self.second.max(second);
    }
}

/// Counts frames, drops and hitches of one window or output.
///
/// A drop is a refresh in which new content was needed and did not come, counted on the display's sequence numbers when
/// the late frame at last reaches light. A hitch is a gap of more than 1.26 periods between two frames during which
/// content was needed: an idle window does not hitch.
#[derive(Clone, Copy, Debug, Default)]
pub struct SmoothnessCounters {
    /// Frames that reached light.
    pub frames: EventRate,
    /// Refreshes without the new content that was needed.
    pub drops: EventRate,
    /// Gaps over 1.26 periods.
    pub hitches: EventRate,
    last: Option<(Instant, u64)>,
}

impl SmoothnessCounters {
    /// New content reached light at `presented`, with the display's count at `sequence`; it was needed since the
    /// refresh counted `due`. `interval` is the period.
    pub fn presented(&mut self, due: u64, sequence: u64, presented: Instant, interval: Span) {
        let (mut due, mut hitch) = (due, false);
        if let Some((before, last)) = self.last {
            let continuous = due <= last + 1;
            due = due.max(last + 1);
            hitch = continuous && (presented - before).scale(1_000, HITCH_PER_MILLE) > interval;
        }
        self.frames.add(1, presented);
        self.drops.add(sequence.saturating_sub(due), presented);
        self.hitches.add(u64::from(hitch), presented);
        self.last = Some((presented, sequence));
    }

    /// No content is needed from now on: hidden, switched off. The gap before the next frame does not count.
    pub fn pause(&mut self) {
        self.last = None;
    }
}

/// The number of misses that each party is to blame for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameCounts {
    /// Misses blamed on the client.
    pub client: u64,
    /// Misses blamed on the compositor.
    pub compositor: u64,
    /// Misses blamed on the display.
    pub display: u64,
    /// Misses that a policy decided.
    pub policy: u64,
}

impl BlameCounts {
    fn add(&mut self, blame: Blame) {
        match blame {
            Blame::Client => self.client += 1,
            Blame::Compositor => self.compositor += 1,
            Blame::Display => self.display += 1,
            Blame::Policy => self.policy += 1,
        }
    }
}

/// The statistics of one output.
#[derive(Clone, Debug, Default)]
pub struct OutputStatistics {
    /// Frames, drops and hitches.
    pub cadence: SmoothnessCounters,
    /// The duration of composing.
    pub compose: RecentDistribution,
    /// The delay of the latch after `latch_at`.
    pub wake: RecentDistribution,
    /// The time from the latch to light.
    pub latch_to_light: RecentDistribution,
    /// Late frames by the party to blame.
    pub misses: BlameCounts,
}

impl OutputStatistics {
    /// Learns from a frame whose outcome is known.
    pub fn observe(&mut self, record: &FrameRecord) {
        if let Some(miss) = record.miss {
            self.misses.add(miss.blame());
        }
        self.wake.add(record.latched - record.latch_at);
        self.compose.add(record.compose_cost);
        let Some(presented) = record.presented else { return };
        self.latch_to_light.add(presented - record.latched);
        if let (Some(late), Some(sequence)) = (record.refreshes_late(), record.sequence) {
            self.cadence.presented(sequence.saturating_sub(late), sequence, presented, record.interval);
        }
    }
}

/// The statistics of one window.
#[derive(Clone, Debug, Default)]
pub struct WindowStatistics {
    /// Frames, drops and hitches.
    pub cadence: SmoothnessCounters,
    /// The duration of a frame, from the scheduled callback until it is ready.
    pub cost: RecentDistribution<WINDOW_VALUES_KEPT>,
    /// The CPU time within that duration.
    pub cpu: RecentDistribution<WINDOW_VALUES_KEPT>,
    /// The time from the newest input that a frame can show to light.
    pub input_to_light: RecentDistribution<WINDOW_VALUES_KEPT>,
    /// The time from the callback to light.
    pub callback_to_light: RecentDistribution<WINDOW_VALUES_KEPT>,
    /// The time from the commit to light.
    pub commit_to_light: RecentDistribution<WINDOW_VALUES_KEPT>,
    /// Late frames by the party to blame.
    pub misses: BlameCounts,
}

impl WindowStatistics {
    /// Learns from a frame whose outcome is known.
    pub fn observe(&mut self, record: &ClientFrameRecord) {
        if let Some(miss) = record.miss {
            self.misses.add(miss.blame());
        }
        let add = |distribution: &mut RecentDistribution<WINDOW_VALUES_KEPT>, value: Option<Span>| {
            if let Some(value) = value {
                distribution.add(value);
            }
        };
        add(&mut self.cost, record.cost_wall);
        add(&mut self.cpu, record.cost_cpu);
        add(&mut self.input_to_light, record.input_to_light());
        add(&mut self.callback_to_light, record.callback_to_light());
        add(&mut self.commit_to_light, record.commit_to_light());
        let seen = record.presented.zip(record.sequence);
        if let (Some(late), Some((presented, sequence))) = (record.refreshes_late(), seen) {
            self.cadence.presented(sequence.saturating_sub(late), sequence, presented, record.interval);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Span = Span::from_millis(10);

    fn refresh(sequence: u64) -> Instant {
        Instant::ZERO + PERIOD * sequence as i64
    }

    fn cadence(frames: &[(u64, u64)]) -> (u64, u64) {
        let mut cadence = SmoothnessCounters::default();
        for (due, sequence) in frames {
            cadence.presented(*due, *sequence, refresh(*sequence), PERIOD);
        }
        (cadence.drops.total(), cadence.hitches.total())
    }

    #[test]
    fn a_late_frame_drops_each_refresh_it_left_out_and_hitches_once() {
        assert_eq!(cadence(&[(1, 1), (2, 2), (3, 3)]), (0, 0));
        assert_eq!(cadence(&[(1, 1), (2, 5), (6, 6)]), (3, 1));
        // The very first frame may be late too, but without a previous frame there is no gap.
        assert_eq!(cadence(&[(1, 3)]), (2, 0));
    }

    #[test]
    fn an_idle_window_neither_drops_nor_hitches() {
        assert_eq!(cadence(&[(1, 1), (100, 100), (200, 200)]), (0, 0));
    }

    #[test]
    fn a_refresh_is_dropped_once_however_many_updates_it_was_due_for() {
        assert_eq!(cadence(&[(1, 1), (2, 4), (2, 5)]), (2, 1));
    }

    #[test]
    fn a_rate_forgets_what_is_older_than_ten_seconds() {
        let mut rate = EventRate::default();
        let second = |seconds: i64| Instant::ZERO + Span::from_seconds(100 + seconds);
        assert_eq!(rate.per_second(second(0)), 0.0);
        rate.start(second(0));
        rate.add(20, second(0));
        assert_eq!(rate.per_second(second(0)), 20.0, "less than a second counts as one");
        assert_eq!(rate.per_second(second(4)), 5.0);
        assert_eq!(rate.per_second(second(20)), 0.0);
        rate.add(9, second(21));
        assert_eq!(rate.per_second(second(21)), 1.0);
        rate.add(9, second(1));
        assert_eq!(rate.total(), 38, "time that runs backwards loses nothing");
    }

    #[test]
    fn a_summary_states_the_tail_and_not_an_average() {
        let mut distribution = RecentDistribution::<VALUES_KEPT>::default();
        assert_eq!(distribution.summary(), None);
        for value in 1..=100 {
            distribution.add(Span::from_micros(value));
        }
        let summary = distribution.summary().unwrap();
        let us = Span::from_micros;
        assert_eq!((summary.p50, summary.p99, summary.max, summary.samples), (us(50), us(99), us(100), 100));
    }

    #[test]
    fn what_an_output_does_is_counted_by_whom_it_was_due_to() {
        use super::super::{FrameOutcome, MissReason};
        let mut statistics = OutputStatistics::default();
        let on_time = FrameRecord {
            interval: PERIOD,
            presented: Some(refresh(1)),
            sequence: Some(1),
            due_sequence: Some(1),
            outcome: FrameOutcome::Presented,
            ..Default::default()
        };
        statistics.observe(&on_time);
        let late = FrameRecord {
            presented: Some(refresh(3)),
            sequence: Some(3),
            due_sequence: Some(2),
            miss: Some(MissReason::WokeLate { by: PERIOD }),
            ..on_time
        };
        statistics.observe(&late);
        assert_eq!(statistics.misses, BlameCounts { compositor: 1, ..Default::default() });
        assert_eq!(statistics.cadence.drops.total(), 1);
        assert_eq!(statistics.cadence.hitches.total(), 1);
        assert_eq!(statistics.latch_to_light.summary().map(|summary| summary.samples), Some(2));
    }
}
