//! Notices: what the user has to know and did not ask for, such as that a program was ended, and why. They lie above the
//! windows for some seconds, take no input, and those of late can be asked for (`upbeat msg clients`).

use std::collections::VecDeque;

use super::animation::Toggle;
use super::spaces;
use super::workspaces::Screen;
use crate::guard::Ended;
use crate::shell::Desk;
use crate::state::State;
use crate::time::{Clock, Instant, Span};

/// How long one is seen: two short lines are read twice in that.
const SEEN_FOR: Span = Span::from_seconds(8);
/// So many are seen at a time, and remembered: the newest.
const MOST_SEEN: usize = 3;
const MOST_REMEMBERED: usize = 8;

/// A program that was ended, as often as it was in a row.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Who, and why; the last time.
    pub ended: Ended,
    /// How often.
    pub times: u32,
    /// When it happened last.
    pub at: Instant,
}

/// Notices of late.
#[derive(Debug, Default)]
pub struct Notices {
    /// The oldest first.
    remembered: VecDeque<Notice>,
    /// Whether they are there.
    pub shown: Toggle,
    /// On which output.
    pub on: Option<Screen>,
    /// Those from then on are seen.
    since: Instant,
    /// They go then.
    until: Option<Instant>,
}

impl Notices {
    /// All that are remembered, the oldest first.
    pub fn remembered(&self) -> impl DoubleEndedIterator<Item = &Notice> {
        self.remembered.iter()
    }

    /// Those that are seen, the newest first.
    pub fn seen(&self) -> impl Iterator<Item = &Notice> {
        self.remembered.iter().rev().take_while(|notice| notice.at >= self.since).take(MOST_SEEN)
    }

    /// When they go.
    pub const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// A client was ended at `now`.
    fn tell(&mut self, ended: Ended, now: Instant) {
        if !self.shown.is_on() {
            self.since = now;
        }
        let same = |notice: &Notice| (&notice.ended.program, &notice.ended.reason) == (&ended.program, &ended.reason);
        match self.remembered.back_mut().filter(|last| same(last)) {
            Some(last) => *last = Notice { ended, times: last.times.saturating_add(1), at: now },
            None => self.remembered.push_back(Notice { ended, times: 1, at: now }),
        }
        if self.remembered.len() > MOST_REMEMBERED {
            self.remembered.pop_front();
        }
        self.shown.set(true);
        self.until = Some(now + SEEN_FOR);
    }
}

/// Shows who was ended since the last turn, and lets notices go that were seen for long enough.
pub fn attend(state: &mut State) {
    let now = state.clock.now();
    let ended = crate::guard::take_ended();
    let is_over = state.shell.overlays.notices.until.is_some_and(|until| until <= now);
    if ended.is_empty() && !is_over {
        return;
    }
    let screen = spaces::current_screen(state);
    let notices = &mut state.shell.overlays.notices;
    if !ended.is_empty() {
        notices.on = screen.filter(|_| !notices.shown.is_on()).or(notices.on);
        ended.into_iter().for_each(|ended| notices.tell(ended, now));
    } else {
        notices.shown.set(false);
        notices.until = None;
    }
    state.need_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(program: &str) -> Ended {
        Ended { pid: 7, program: program.to_owned(), reason: "more than 128 popups of one client".to_owned() }
    }

    #[test]
    fn one_who_is_ended_again_and_again_is_one_notice_and_old_ones_are_not_seen_again() {
        let (mut notices, start) = (Notices::default(), Instant::from_nanos(1_000_000_000));
        (0..3).for_each(|_| notices.tell(ended("a"), start));
        notices.tell(ended("b"), start);
        let seen: Vec<_> = notices.seen().map(|notice| (notice.ended.program.as_str(), notice.times)).collect();
        assert_eq!(seen, [("b", 1), ("a", 3)]);
        notices.shown.set(false);
        notices.tell(ended("c"), start + Span::from_seconds(60));
        assert_eq!(notices.seen().count(), 1);
        (0..20).for_each(|number| notices.tell(ended(&number.to_string()), start + Span::from_seconds(61)));
        assert_eq!((notices.seen().count(), notices.remembered().count()), (MOST_SEEN, MOST_REMEMBERED));
    }
}
