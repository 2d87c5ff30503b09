//! Packs the starts of several clients so that all are ready in time and the focused client starts last.
//!
//! Paced separately, clients start at the same moment, wait for each other's CPU time and measure that wait as their
//! own cost. Packed backwards from `ready_by` they do not wait, and the client that starts last has the freshest
//! content:
//!
//! ```text
//!           background batch                    focused batch
//!  core 0  ├─ b ─┤├─ c ─┤├─ d ─┤        ├──── focused ────┤
//!  core 1          (N > 1: background work may run here too)
//!          ▲ start of the first batch   ▲ start of the second   ▲ ready_by
//! ```
//!
//! There are two batches, so that a refresh costs at most two timers for any number of clients.

use super::defaults::{LARGEST_STRETCH, STRETCH_SHARE};
use crate::time::{Instant, Span};

/// The time that one client needs for one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackingUnit {
    /// From callback to commit, at the miss budget in force. The client must start at least this long before
    /// `ready_by`.
    pub wall: Span,
    /// CPU time at the same budget: other clients wait this long while it runs. At most `wall`.
    pub cpu: Span,
    /// Whether the client has the focus.
    pub focused: bool,
}

/// When the two batches start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchStarts {
    /// Start of the clients without focus.
    pub background: Instant,
    /// Start of the focused client.
    pub focused: Instant,
}

/// The measured ratio of a batch's duration to the sum of its clients' CPU times.
#[derive(Clone, Copy, Debug)]
pub struct BatchStretch {
    /// The ratio in thousandths.
    factor: i64,
    start: Option<Instant>,
    cpu: Span,
    units: u32,
}

/// A batch takes at least the sum of its parts.
const SMALLEST_STRETCH: i64 = 1_000;

impl BatchStretch {
    /// No measurement yet: a ratio of 1.
    pub const fn new() -> Self {
        BatchStretch { factor: SMALLEST_STRETCH, start: None, cpu: Span::ZERO, units: 0 }
    }

    /// A client of the background batch was called back.
    pub fn called(&mut self, scheduled: Instant) {
        self.start.get_or_insert(scheduled);
    }

    /// A client of the batch answered and has used this CPU time. `last`: no other client of the batch draws.
    pub fn answered(&mut self, cpu: Option<Span>, last: bool, now: Instant) {
        let (Some(start), Some(cpu)) = (self.start, cpu) else { return };
        self.cpu += cpu;
        self.units += 1;
        if !last {
            return;
        }
        if self.units > 1 && self.cpu > Span::ZERO {
            let factor = (now - start).scale(1_000, self.cpu.as_nanos().max(1)).as_nanos();
            let factor = factor.clamp(SMALLEST_STRETCH, LARGEST_STRETCH);
            self.factor += (factor - self.factor) / STRETCH_SHARE;
        }
        (self.start, self.cpu, self.units) = (None, Span::ZERO, 0);
    }

    /// The duration of `cpu` within a batch.
    pub fn apply(self, cpu: Span) -> Span {
        cpu.scale(self.factor, 1_000)
    }
}

impl Default for BatchStretch {
    fn default() -> Self {
        Self::new()
    }
}

/// Packs `units` back from `ready_by` over `cores` cores. A batch without units starts at `ready_by`.
pub fn pack(units: impl Iterator<Item = PackingUnit>, cores: usize, ready_by: Instant) -> BatchStarts {
    let cores = cores.max(1) as i64;
    let (mut focused, mut background) = (BatchLoad::default(), BatchLoad::default());
    for unit in units {
        if unit.focused { &mut focused } else { &mut background }.add(unit);
    }
    let focused_start = ready_by - focused.makespan(cores);
    let background_start = if cores == 1 {
        (focused_start - background.cpu).min(ready_by - background.longest)
    } else {
        // One core is the focused client's; the background has the rest until the deadline.
        let free = if focused.count == 0 { cores } else { cores - 1 };
        ready_by - background.makespan(free)
    };
    BatchStarts { background: background_start, focused: focused_start }
}

/// The longest time that a client may have waited for one of `cores` processor cores while other clients, which take
/// this CPU time each, were drawing: none while a core was left for it.
pub(super) fn held_up(others: impl Iterator<Item = Span>, cores: usize) -> Span {
    let (count, cpu) = others.fold((0, Span::ZERO), |(count, sum), cpu| (count + 1, sum + cpu));
    if count < cores { Span::ZERO } else { cpu / cores.max(1) as i64 }
}

#[derive(Clone, Copy, Default)]
struct BatchLoad {
    count: usize,
    longest: Span,
    cpu: Span,
}

impl BatchLoad {
    fn add(&mut self, unit: PackingUnit) {
        self.count += 1;
        self.longest = self.longest.max(unit.wall);
        self.cpu += unit.cpu.min(unit.wall);
    }

    /// A lower bound for any schedule on `cores` cores. With equal units a schedule is longer by at most one unit.
    fn makespan(&self, cores: i64) -> Span {
        self.longest.max(self.cpu / cores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(wall_us: i64, cpu_us: i64, focused: bool) -> PackingUnit {
        PackingUnit { wall: Span::from_micros(wall_us), cpu: Span::from_micros(cpu_us), focused }
    }

    const DEADLINE: Instant = Instant::from_nanos(1_000_000_000);

    #[test]
    fn the_focused_client_starts_as_late_as_if_it_were_alone() {
        let others = (0..10).map(|_| unit(600, 500, false));
        let batches = pack(others.chain([unit(2_100, 2_000, true)]), 1, DEADLINE);
        assert_eq!(DEADLINE - batches.focused, Span::from_micros(2_100));
        assert_eq!(batches.focused - batches.background, Span::from_micros(5_000));
    }

    #[test]
    fn a_second_core_lets_the_others_start_later() {
        let others = || (0..10).map(|_| unit(600, 500, false));
        let batches = pack(others().chain([unit(2_100, 2_000, true)]), 2, DEADLINE);
        assert_eq!(DEADLINE - batches.background, Span::from_micros(5_000));
        assert_eq!(DEADLINE - pack(others(), 2, DEADLINE).background, Span::from_micros(2_500));
    }

    #[test]
    fn the_overhead_of_a_batch_is_learned_and_bounded() {
        let mut stretch = BatchStretch::new();
        let ms = Span::from_millis;
        for _ in 0..100 {
            stretch.called(DEADLINE);
            stretch.answered(Some(ms(1)), false, DEADLINE + ms(2));
            stretch.answered(Some(ms(1)), true, DEADLINE + ms(3));
        }
        assert!((stretch.apply(ms(2)) - ms(3)).abs() < Span::from_micros(50));
        for _ in 0..100 {
            stretch.called(DEADLINE);
            stretch.answered(Some(ms(1)), false, DEADLINE);
            stretch.answered(Some(ms(1)), true, DEADLINE + ms(1_000));
        }
        assert!(stretch.apply(ms(1)) <= ms(3));
    }

    #[test]
    fn without_units_batches_start_at_the_deadline() {
        assert_eq!(pack(std::iter::empty(), 4, DEADLINE), BatchStarts { background: DEADLINE, focused: DEADLINE });
    }

    proptest! {
        /// If the units run greedily in order from the batches' starts, all are done at the deadline. Where
        /// units of different sizes share cores, they may be late by one unit.
        #[test]
        fn all_are_ready_in_time(
            costs in prop::collection::vec(1i64..3_000, 0..20),
            focused in prop::option::of(1i64..8_000),
            cores in 1usize..6,
        ) {
            let units: Vec<PackingUnit> = costs.iter().map(|cost| unit(*cost, *cost, false))
                .chain(focused.map(|cost| unit(cost, cost, true))).collect();
            let batches = pack(units.iter().copied(), cores, DEADLINE);
            let mut free = vec![batches.background; cores];
            if let Some(cost) = focused {
                if cores > 1 { free.pop(); }
                prop_assert!(batches.focused + Span::from_micros(cost) <= DEADLINE);
            }
            let longest = Span::from_micros(costs.iter().copied().max().unwrap_or(0));
            for cost in &costs {
                let core = free.iter_mut().min().unwrap();
                *core += Span::from_micros(*cost);
            }
            let limit = if cores == 1 && focused.is_some() { batches.focused } else { DEADLINE };
            let done = free.into_iter().max().unwrap();
            prop_assert!(done <= limit + longest, "{done:?} {limit:?}");
        }
    }
}
