//! How much earlier than it must a frame that waits is given to the kernel. Pure.
//!
//! Who commits it, and who carries the flip out in the kernel, may be kept from it: on a machine with one CPU by our own main
//! thread. What is committed earlier is safe from that, and nothing can take its place any more. Nobody can ask a machine
//! what it needs: it is trusted until it was late, then not for a while, and each time for twice as long.
//!
//! ```text
//!   early   ▁▁▁▁▁▁│████▁▁▁▁│████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁│████
//!                 late     late again               late after long: a short while again
//! ```

use upbeat_timing::time::Span;

/// By default: waking up takes a real-time thread no longer.
const TRUSTING: Span = Span::from_micros(500);
/// After it was too late: a tick of the scheduler where there are 250 a second, which is what a thread may have to wait for
/// that another keeps from the only CPU.
const WARY: Span = Span::from_millis(4);
/// Of an interval, at most.
const LARGEST_PART: i64 = 4;
/// Frames for which it is wary after the first time, and at most: ten minutes at 60 Hz.
const SHORTEST: u32 = 120;
const LONGEST: u32 = 36_000;

/// What one pipe has learned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Caution {
    /// For how many more frames it is wary.
    wary_for: u32,
    /// For how many it was after the last time, less those since that were in time.
    memory: u32,
}

impl Caution {
    /// How much earlier than it must a frame is committed.
    pub fn early(self, interval: Span) -> Span {
        let early = if self.wary_for > 0 { WARY } else { TRUSTING };
        early.min(interval / LARGEST_PART)
    }

    /// A frame that had waited was shown: late although it was there in time, or not. One that is late all the same while it
    /// is wary says that it goes on, not that it was trusted too soon.
    pub fn learn(&mut self, late: bool) {
        if late {
            if self.wary_for == 0 {
                self.memory = (self.memory * 2).clamp(SHORTEST, LONGEST);
            }
            self.wary_for = self.memory;
        } else if self.wary_for > 0 {
            self.wary_for -= 1;
        } else {
            self.memory = self.memory.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_millis(16);

    /// For how many frames it stays wary.
    fn wary_for(mut caution: Caution) -> u32 {
        let is_wary = |caution: &Caution| caution.early(INTERVAL) == WARY;
        std::iter::repeat_with(|| (is_wary(&caution), caution.learn(false)).0).take_while(|wary| *wary).count() as u32
    }

    #[test]
    fn it_trusts_the_machine_until_that_was_late() {
        let mut caution = Caution::default();
        (0..1000).for_each(|_| caution.learn(false));
        assert_eq!(caution.early(INTERVAL), TRUSTING);
        // As long as it lasts.
        (0..20).for_each(|_| caution.learn(true));
        assert_eq!(wary_for(caution), SHORTEST);
        assert_eq!(caution.early(Span::from_millis(4)), Span::from_millis(1));
    }

    #[test]
    fn who_is_late_again_and_again_is_tried_ever_less_often_and_who_was_not_for_long_is_forgiven() {
        let mut caution = Caution::default();
        let mut waits = Vec::new();
        for _ in 0..12 {
            caution.learn(true);
            waits.push(wary_for(caution));
            (0..wary_for(caution)).for_each(|_| caution.learn(false));
        }
        assert_eq!(waits[..3], [SHORTEST, 2 * SHORTEST, 4 * SHORTEST]);
        assert_eq!(*waits.last().unwrap(), LONGEST);
        (0..LONGEST).for_each(|_| caution.learn(false));
        caution.learn(true);
        assert_eq!(wary_for(caution), SHORTEST);
    }
}
