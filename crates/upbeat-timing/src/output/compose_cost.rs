//! Learns the cost of composing a frame, separately for frames with an animation, frames that only move planes, and all
//! other frames.
//!
//! ```text
//!            window opens: blur, scaling                    at rest: one window's damage
//!   cost     ▁▁▁▁█████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁
//!   budget   ▂▂▂▂▇▇▇▇▇▇▇▇▇▂▂▂▂▂▂▂▂▂▂▂▂▂▂      with one memory: ▇ for as long as it remembers the motion
//! ```
//!
//! A frame that only moves planes (the cursor's, a scrolled view's) costs no more than a submit. If no client draws
//! meanwhile it is latched that much later, so that it shows newer input.

use crate::defaults::{COMPOSE_FLOOR, COMPOSE_MISS, COMPOSE_WINDOW, FIRST_COMPOSE};
use crate::estimator::{Estimator, WindowQuantile};
use crate::margin::{Margin, known_quantile};
use crate::time::Span;

/// The budget before any measurement.
const FIRST_TAIL: Span = Span::from_nanos(FIRST_COMPOSE.as_nanos() + COMPOSE_FLOOR.as_nanos());

/// The costs of an output's frames, from the scheduled latch to the return of submit.
#[derive(Clone, Debug)]
pub(super) struct ComposeCost {
    rest: CostMemory,
    motion: CostMemory,
    planes: CostMemory,
    /// The previous frame had an animation.
    moved: bool,
    is_motion: bool,
}

#[derive(Clone, Debug)]
struct CostMemory {
    costs: WindowQuantile<COMPOSE_WINDOW>,
    margin: Margin,
    last: Option<(Span, Span)>,
    /// Estimates from these costs. Cached because they are read some hundred times in a refresh.
    tail: Span,
    typical: Option<Span>,
}

impl CostMemory {
    const fn new() -> Self {
        CostMemory {
            costs: WindowQuantile::new(),
            margin: Margin::new(COMPOSE_FLOOR),
            last: None,
            tail: FIRST_TAIL,
            typical: None,
        }
    }

    fn observe(&mut self, cost: Span, overshoot: Span, interval: Span) {
        self.margin.observe(overshoot, interval);
        self.costs.observe(cost);
        // A single frame says little: the first of a kind compiles shaders that later frames use.
        self.last = Some((self.last.map_or(Span::ZERO, |(_, last)| last), cost));
        let known = self.costs.budget(known_quantile(COMPOSE_MISS)).map(|estimate| estimate + self.margin.get());
        (self.tail, self.typical) = (known.unwrap_or(FIRST_TAIL), self.costs.typical());
    }

    /// The smaller of the last two costs.
    fn smaller_recent_cost(&self) -> Span {
        self.last.map_or(Span::ZERO, |(before, last)| before.min(last))
    }

    fn clipped(&self, interval: Span) -> Span {
        let half = interval / 2;
        let lately = self.smaller_recent_cost() + COMPOSE_FLOOR;
        self.tail.min(if lately > half { lately.max(interval) } else { half })
    }
}

impl ComposeCost {
    pub const fn new() -> Self {
        ComposeCost {
            rest: CostMemory::new(),
            motion: CostMemory::new(),
            planes: CostMemory::new(),
            moved: false,
            is_motion: false,
        }
    }

    /// Says whether the frame that is being composed, and probably the next, has an animation. The first frame
    /// after an animation still counts, since it shows where the animation ended.
    pub const fn set_motion(&mut self, now: bool) {
        self.is_motion = now || self.moved;
        self.moved = now;
    }

    /// A composed frame took `cost`; refreshes are `interval` apart.
    pub fn observe(&mut self, cost: Span, interval: Span) {
        let overshoot = cost - self.budget(interval);
        let memory = if self.is_motion { &mut self.motion } else { &mut self.rest };
        memory.observe(cost, overshoot, interval);
    }

    /// A frame that composed nothing took `cost`.
    pub fn observe_planes(&mut self, cost: Span, interval: Span) {
        let overshoot = cost - self.planes_budget(interval);
        self.planes.observe(cost, overshoot, interval);
    }

    /// Like [`budget`](Self::budget) for a frame that only moves planes; never more than for a composed frame.
    pub fn planes_budget(&self, interval: Span) -> Span {
        let composed = self.budget(interval);
        if self.planes.typical.is_none() { composed } else { self.planes.clipped(interval).min(composed) }
    }

    /// The typical cost of a frame that only moves planes.
    pub fn planes_typical(&self) -> Span {
        self.planes.typical.unwrap_or_else(|| self.typical())
    }

    /// The cost of a frame at the output's miss budget. It is at most half an interval, since otherwise content
    /// would be chosen before any client has drawn it.
    ///
    /// If two frames in a row take longer than that, each frame would be shown a refresh after its target. Then the
    /// budget is the real cost; outliers count only up to an interval.
    ///
    /// ```text
    ///   composing takes 10 of 16.7 ms      k-1        k          k+1        k+2        k+3
    ///   half of an interval                     ▓▓▓▓▓▓│▓          k'   ▓▓▓▓▓▓│▓         (k+2)'   30 a second, all late
    ///   the real cost                          ▓▓▓▓▓▓▓k  ▓▓▓▓▓▓▓ k+1 ▓▓▓▓▓▓▓ k+2
    /// ```
    pub fn budget(&self, interval: Span) -> Span {
        self.memory().clipped(interval)
    }

    /// The largest budget that an earlier plan may have used, for either kind of frame.
    pub fn largest_budget(&self, interval: Span) -> Span {
        self.rest.clipped(interval).max(self.motion.clipped(interval)).max(self.typical())
    }

    /// The cost of a frame at the output's miss budget, without a limit.
    pub fn tail(&self) -> Span {
        self.memory().tail
    }

    /// The typical cost of a frame.
    pub fn typical(&self) -> Span {
        self.memory().typical.unwrap_or(FIRST_COMPOSE)
    }

    /// The memory for the current frame. Before the first animation, its cost is assumed to equal the cost at rest.
    fn memory(&self) -> &CostMemory {
        if self.is_motion && self.motion.typical.is_some() { &self.motion } else { &self.rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_micros(16_667);
    const CHEAP: Span = Span::from_micros(700);
    const DEAR: Span = Span::from_millis(6);

    fn frames(cost: &mut ComposeCost, count: usize, moves: bool, each: Span) {
        for _ in 0..count {
            cost.set_motion(moves);
            cost.observe(each, INTERVAL);
        }
    }

    #[test]
    fn a_motion_does_not_make_the_frames_after_it_early() {
        let mut cost = ComposeCost::new();
        frames(&mut cost, 100, false, CHEAP);
        let before = cost.budget(INTERVAL);
        frames(&mut cost, 30, true, DEAR);
        assert!(cost.budget(INTERVAL) > DEAR);
        // The last frame of the animation costs as much.
        frames(&mut cost, 1, false, DEAR);
        cost.set_motion(false);
        assert!(cost.budget(INTERVAL) <= before, "{:?} after {before:?}", cost.budget(INTERVAL));
    }

    #[test]
    fn frames_that_only_move_planes_are_remembered_by_themselves() {
        let mut cost = ComposeCost::new();
        assert_eq!(cost.planes_budget(INTERVAL), cost.budget(INTERVAL), "no such frame was measured yet");
        frames(&mut cost, 100, false, DEAR);
        let composed = cost.budget(INTERVAL);
        for _ in 0..100 {
            cost.observe_planes(CHEAP, INTERVAL);
        }
        assert_eq!(cost.budget(INTERVAL), composed);
        let planes = cost.planes_budget(INTERVAL);
        assert!(planes > CHEAP && planes < CHEAP * 2, "{planes:?}");
        (0..100).for_each(|_| cost.observe_planes(DEAR * 2, INTERVAL));
        assert_eq!(cost.planes_budget(INTERVAL), composed, "what moves planes was never slower than all of it");
    }

    #[test]
    fn outliers_do_not_make_content_older_than_half_an_interval_and_what_is_usual_does() {
        let mut cost = ComposeCost::new();
        let outliers = |cost: &mut ComposeCost, usual| {
            for _ in 0..20 {
                frames(cost, 5, false, usual);
                frames(cost, 1, false, INTERVAL * 3);
            }
        };
        outliers(&mut cost, CHEAP);
        assert_eq!(cost.budget(INTERVAL), INTERVAL / 2);
        let slow = INTERVAL * 5 / 8;
        frames(&mut cost, 400, false, slow);
        assert!(cost.budget(INTERVAL) > slow && cost.budget(INTERVAL) < INTERVAL, "{:?}", cost.budget(INTERVAL));
        outliers(&mut cost, slow);
        assert_eq!(cost.budget(INTERVAL), INTERVAL);
        // Longer than a refresh: then every second refresh has a frame, and it is the refresh that the frame
        // was made for.
        frames(&mut cost, 200, false, INTERVAL * 5 / 4);
        assert!(cost.budget(INTERVAL) > INTERVAL * 5 / 4);
        frames(&mut cost, 1, false, CHEAP);
        assert_eq!(cost.budget(INTERVAL), INTERVAL / 2, "they are over");
    }

    #[test]
    fn the_next_motion_has_the_time_that_the_last_one_took() {
        let mut cost = ComposeCost::new();
        frames(&mut cost, 100, false, CHEAP);
        cost.set_motion(true);
        assert!(cost.budget(INTERVAL) < DEAR, "the first animation was not expected");
        frames(&mut cost, 30, true, DEAR);
        frames(&mut cost, 500, false, CHEAP);
        cost.set_motion(true);
        assert!(cost.budget(INTERVAL) > DEAR);
    }
}
