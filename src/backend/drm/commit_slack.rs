//! Commit slack: how much earlier than necessary a waiting frame is committed. Pure.
//!
//! The thread that commits, or the kernel worker that carries out the flip, may be scheduled late, for example by our
//! own main thread on a machine with one CPU. An earlier commit is safe from that, but it cannot be superseded any
//! more. The slack that a machine needs cannot be queried. So it stays small until a frame was late, is then large for
//! some time, and each time for twice as long.
//!
//! ```text
//!   slack   ▁▁▁▁▁▁│████▁▁▁▁│████████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁│████
//!                 late     late again               late after long: a short while again
//! ```

use upbeat_timing::time::Span;

/// The default slack: a real-time thread takes no longer to wake up.
const SMALL: Span = Span::from_micros(500);
/// The slack after a late frame: one scheduler tick at 250 Hz, since a thread may wait that long for the only CPU.
const LARGE: Span = Span::from_millis(4);
/// The slack is at most the interval divided by this.
const LARGEST_PART: i64 = 4;
/// For how many frames the slack stays large: after the first late frame, and at most (ten minutes at 60 Hz).
const SHORTEST: u32 = 120;
const LONGEST: u32 = 36_000;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommitSlack {
    /// Frames left with the large slack.
    frames_left: u32,
    /// For how many frames the slack was large last time, minus the timely frames since then.
    last_duration: u32,
}

impl CommitSlack {
    /// How much earlier than necessary a frame is committed.
    pub fn slack(self, interval: Span) -> Span {
        let early = if self.frames_left > 0 { LARGE } else { SMALL };
        early.min(interval / LARGEST_PART)
    }

    /// Records whether a frame that had waited was shown late although it was ready in time. If it is late while
    /// the slack is large, the large slack only lasts longer and does not double: it was not reduced too early.
    pub fn record_frame(&mut self, late: bool) {
        if late {
            if self.frames_left == 0 {
                self.last_duration = (self.last_duration * 2).clamp(SHORTEST, LONGEST);
            }
            self.frames_left = self.last_duration;
        } else if self.frames_left > 0 {
            self.frames_left -= 1;
        } else {
            self.last_duration = self.last_duration.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_millis(16);

    /// For how many frames the slack stays large.
    fn large_for(mut commit_slack: CommitSlack) -> u32 {
        let is_large = |commit_slack: &CommitSlack| commit_slack.slack(INTERVAL) == LARGE;
        std::iter::repeat_with(|| (is_large(&commit_slack), commit_slack.record_frame(false)).0)
            .take_while(|large| *large)
            .count() as u32
    }

    #[test]
    fn slack_is_small_until_a_frame_was_late() {
        let mut commit_slack = CommitSlack::default();
        (0..1000).for_each(|_| commit_slack.record_frame(false));
        assert_eq!(commit_slack.slack(INTERVAL), SMALL);
        // Late frames while the slack is large do not double its duration.
        (0..20).for_each(|_| commit_slack.record_frame(true));
        assert_eq!(large_for(commit_slack), SHORTEST);
        assert_eq!(commit_slack.slack(Span::from_millis(4)), Span::from_millis(1));
    }

    #[test]
    fn repeated_late_frames_double_the_duration_and_long_timeliness_resets_it() {
        let mut commit_slack = CommitSlack::default();
        let mut waits = Vec::new();
        for _ in 0..12 {
            commit_slack.record_frame(true);
            waits.push(large_for(commit_slack));
            (0..large_for(commit_slack)).for_each(|_| commit_slack.record_frame(false));
        }
        assert_eq!(waits[..3], [SHORTEST, 2 * SHORTEST, 4 * SHORTEST]);
        assert_eq!(*waits.last().unwrap(), LONGEST);
        (0..LONGEST).for_each(|_| commit_slack.record_frame(false));
        commit_slack.record_frame(true);
        assert_eq!(large_for(commit_slack), SHORTEST);
    }
}
