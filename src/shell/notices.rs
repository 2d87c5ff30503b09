//! Notices: messages to the user that lie above the windows and take no input.
//!
//! - A program was ended by the compositor, and why: for some seconds. `upbeat msg clients` lists the latest.
//! - A program could not be started: for some seconds, or until it starts.
//! - The file of a screenshot: for some seconds.
//! - The configuration is invalid: until it is valid again.

use std::collections::VecDeque;

use super::animation::AnimatedToggle;
use super::workspace_actions;
use super::workspaces::ScreenId;
use crate::guard::Ended;
use crate::shell::ShellOutputs;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// Time for which a notice is shown: enough to read two short lines twice.
const SEEN_FOR: Span = Span::from_seconds(8);
/// Number of notices that are shown at a time, and that are remembered: always the newest.
const MOST_SEEN: usize = 3;
const MOST_REMEMBERED: usize = 8;

/// A client that the compositor has ended. Repetitions in a row are one notice.
#[derive(Clone, Debug)]
pub struct EndedClientNotice {
    /// Program and reason of the latest time.
    pub ended: Ended,
    /// How often it happened in a row.
    pub times: u32,
    /// When it happened last.
    pub at: Instant,
}

/// Result of an action of the user: a program that could not be started, or a screenshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultNotice {
    /// Identifies the action. The next message with the same purpose replaces this message, and a success withdraws it.
    pub purpose: String,
    /// Summary in a few words.
    pub heading: String,
    /// Details: the shortcut that ran the action, the way to mend the failure, or the file.
    pub text: String,
    /// Time of the latest attempt.
    pub at: Instant,
    pub is_failure: bool,
}

/// Recent notices, and the state that shows and hides them.
#[derive(Debug, Default)]
pub struct Notices {
    /// Remembered notices, oldest first.
    remembered: VecDeque<EndedClientNotice>,
    /// Results of the user's actions, oldest first.
    messages: VecDeque<ResultNotice>,
    /// Whether notices are shown, with their fade.
    pub shown: AnimatedToggle,
    /// The output that shows them.
    pub screen: Option<ScreenId>,
    /// Only notices since this time are shown.
    since: Instant,
    /// Time at which the notices fade out.
    until: Option<Instant>,
    /// Error in the configuration; kept until its notice has faded out.
    config_error: Option<String>,
    /// Whether the configuration is still invalid.
    is_config_invalid: bool,
    /// No configuration was valid yet, so the built-in defaults are in use.
    pub on_defaults: bool,
}

impl Notices {
    /// All remembered notices, oldest first.
    pub fn remembered(&self) -> impl DoubleEndedIterator<Item = &EndedClientNotice> {
        self.remembered.iter()
    }

    /// Notices that are shown, newest first.
    pub fn seen(&self) -> impl Iterator<Item = &EndedClientNotice> {
        self.remembered.iter().rev().take_while(|notice| notice.at >= self.since).take(MOST_SEEN)
    }

    /// Messages that are shown, newest first.
    pub fn messages(&self) -> impl Iterator<Item = &ResultNotice> {
        self.messages.iter().rev().take_while(|message| message.at >= self.since)
    }

    /// The error in the configuration that is shown, possibly fading out.
    pub fn config_error(&self) -> Option<&str> {
        self.config_error.as_deref()
    }

    /// The error in the configuration, if it is still invalid.
    pub fn current_config_error(&self) -> Option<&str> {
        self.config_error().filter(|_| self.is_config_invalid)
    }

    /// Time at which the notices fade out.
    pub const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Adds a notice that a client was ended at `now`.
    fn add_ended(&mut self, ended: Ended, now: Instant) {
        self.show(now);
        let same = |notice: &EndedClientNotice| {
            (&notice.ended.program, &notice.ended.reason) == (&ended.program, &ended.reason)
        };
        match self.remembered.back_mut().filter(|last| same(last)) {
            Some(last) => *last = EndedClientNotice { ended, times: last.times.saturating_add(1), at: now },
            None => self.remembered.push_back(EndedClientNotice { ended, times: 1, at: now }),
        }
        if self.remembered.len() > MOST_REMEMBERED {
            self.remembered.pop_front();
        }
        self.until = Some(now + SEEN_FOR);
    }

    /// Adds the result of an action of the user.
    fn add_result(&mut self, message: ResultNotice) {
        let now = message.at;
        self.show(now);
        self.messages.retain(|other| other.purpose != message.purpose);
        self.messages.push_back(message);
        if self.messages.len() > MOST_SEEN {
            self.messages.pop_front();
        }
        self.until = Some(now + SEEN_FOR);
    }

    /// A program was started for `purpose`, so its failure is withdrawn. Returns whether that changes the notices on
    /// screen.
    fn withdraw_failure(&mut self, purpose: &str, now: Instant) -> bool {
        if !self.shown.is_on() || !self.messages().any(|message| message.purpose == purpose) {
            return false;
        }
        let is_alone = self.messages().count() == 1 && self.seen().next().is_none();
        if is_alone {
            // Keep the text while the notice fades out, unless another notice stays.
            self.hide(now);
        } else {
            self.messages.retain(|message| message.purpose != purpose);
        }
        true
    }

    /// Shows notices from `now` on.
    fn show(&mut self, now: Instant) {
        if self.shown.set(true) {
            self.since = now;
            self.config_error.take_if(|_| !self.is_config_invalid);
        }
    }

    /// Sets or clears the error in the configuration at `now`.
    fn set_config_error(&mut self, mistake: Option<String>, now: Instant) {
        self.is_config_invalid = mistake.is_some();
        self.on_defaults &= self.is_config_invalid;
        if self.is_config_invalid {
            self.show(now);
            self.config_error = mistake;
        } else if self.until.is_none() {
            self.shown.set(false);
        } else {
            self.config_error = None;
        }
    }

    /// Hides all notices, except that of an invalid configuration.
    fn hide(&mut self, now: Instant) {
        self.until = None;
        if self.is_config_invalid {
            self.since = now + Span::from_nanos(1);
        } else {
            self.shown.set(false);
        }
    }
}

/// Reports an error in the configuration, as a sentence, or that it is valid again.
pub fn set_config_error(state: &mut State, mistake: Option<String>) {
    if state.shell.overlays.notices.config_error == mistake
        && state.shell.overlays.notices.is_config_invalid == mistake.is_some()
    {
        return;
    }
    let (now, screen) = (state.clock.now(), workspace_actions::current_screen(state));
    let notices = &mut state.shell.overlays.notices;
    notices.screen = screen.filter(|_| !notices.shown.is_on()).or(notices.screen);
    notices.set_config_error(mistake, now);
    state.schedule_repaint_all();
}

/// Shows the result of an action of the user.
pub fn show_result(state: &mut State, message: ResultNotice) {
    let screen = workspace_actions::current_screen(state);
    let notices = &mut state.shell.overlays.notices;
    notices.screen = screen.filter(|_| !notices.shown.is_on()).or(notices.screen);
    notices.add_result(message);
    state.schedule_repaint_all();
}

/// A program was started: withdraws the notice of an earlier failure.
pub fn withdraw_failure(state: &mut State, purpose: &str) {
    let now = state.clock.now();
    if state.shell.overlays.notices.withdraw_failure(purpose, now) {
        state.schedule_repaint_all();
    }
}

/// Shows notices of clients that were ended since the last turn, and hides notices whose time is over.
pub fn update(state: &mut State) {
    let notices = &state.shell.overlays.notices;
    if notices.shown.is_on() && notices.screen.is_none() {
        // The notice was added before there was an output.
        let screen = workspace_actions::current_screen(state);
        state.shell.overlays.notices.screen = screen;
        if screen.is_some() {
            state.schedule_repaint_all();
        }
    }
    let ended = crate::guard::take_ended();
    let until = state.shell.overlays.notices.until;
    if ended.is_empty() && until.is_none() {
        return;
    }
    let now = state.clock.now();
    if ended.is_empty() && until.is_some_and(|until| until > now) {
        return;
    }
    let screen = workspace_actions::current_screen(state);
    let notices = &mut state.shell.overlays.notices;
    if !ended.is_empty() {
        notices.screen = screen.filter(|_| !notices.shown.is_on()).or(notices.screen);
        ended.into_iter().for_each(|ended| notices.add_ended(ended, now));
    } else {
        notices.hide(now);
    }
    state.schedule_repaint_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(program: &str) -> Ended {
        Ended { pid: 7, program: program.to_owned(), reason: "more than 128 popups of one client".to_owned() }
    }

    #[test]
    fn config_error_stays_until_fixed_beside_other_notices() {
        let (mut notices, start) = (Notices::default(), Instant::from_nanos(1_000_000_000));
        let seen =
            |notices: &Notices| (notices.shown.is_on(), notices.config_error().is_some(), notices.seen().count());
        notices.set_config_error(Some("wrong".to_owned()), start);
        assert_eq!(seen(&notices), (true, true, 0));
        notices.add_ended(ended("a"), start);
        assert_eq!((seen(&notices), notices.until()), ((true, true, 1), Some(start + SEEN_FOR)));
        notices.hide(start + SEEN_FOR);
        assert_eq!((seen(&notices), notices.until()), ((true, true, 0), None));
        notices.set_config_error(None, start + SEEN_FOR * 2);
        assert_eq!(seen(&notices), (false, true, 0), "it fades with what it said");
        notices.add_ended(ended("b"), start + SEEN_FOR * 3);
        assert_eq!(seen(&notices), (true, false, 1));
        notices.set_config_error(Some("wrong".to_owned()), start + SEEN_FOR * 3);
        notices.set_config_error(None, start + SEEN_FOR * 3);
        assert_eq!(seen(&notices), (true, false, 1));
    }

    fn failure(purpose: &str, at: Instant) -> ResultNotice {
        let heading = format!("{purpose} is not installed");
        ResultNotice { purpose: purpose.to_owned(), heading, text: String::new(), at, is_failure: true }
    }

    #[test]
    fn failure_is_seen_for_a_while_or_until_the_next_success() {
        let (mut notices, start) = (Notices::default(), Instant::from_nanos(1_000_000_000));
        let seen = |notices: &Notices| (notices.shown.is_on(), notices.messages().count(), notices.seen().count());
        notices.add_result(failure("a", start));
        notices.add_result(failure("a", start));
        assert_eq!((seen(&notices), notices.until()), ((true, 1, 0), Some(start + SEEN_FOR)));
        assert!(!notices.withdraw_failure("b", start), "that says nothing of the other");
        assert!(notices.withdraw_failure("a", start));
        assert_eq!((seen(&notices), notices.until()), ((false, 1, 0), None), "it fades with what it said");
        let later = start + Span::from_seconds(1);
        notices.add_result(failure("b", later));
        assert_eq!(seen(&notices), (true, 1, 0), "not the one before");
        notices.add_ended(ended("c"), later);
        assert!(notices.withdraw_failure("b", later));
        assert_eq!((seen(&notices), notices.until()), ((true, 0, 1), Some(later + SEEN_FOR)));
        notices.hide(later + SEEN_FOR);
        assert!(!notices.withdraw_failure("b", later + SEEN_FOR));
        (0..20).for_each(|number| notices.add_result(failure(&number.to_string(), later + SEEN_FOR * 2)));
        assert_eq!(seen(&notices), (true, MOST_SEEN, 0));
        notices.set_config_error(Some("wrong".to_owned()), later + SEEN_FOR * 2);
        notices.hide(later + SEEN_FOR * 3);
        assert_eq!(seen(&notices), (true, 0, 0), "the mistake stays");
    }

    #[test]
    fn repeated_ends_are_one_notice_and_old_notices_stay_hidden() {
        let (mut notices, start) = (Notices::default(), Instant::from_nanos(1_000_000_000));
        (0..3).for_each(|_| notices.add_ended(ended("a"), start));
        notices.add_ended(ended("b"), start);
        let seen: Vec<_> = notices.seen().map(|notice| (notice.ended.program.as_str(), notice.times)).collect();
        assert_eq!(seen, [("b", 1), ("a", 3)]);
        notices.shown.set(false);
        notices.add_ended(ended("c"), start + Span::from_seconds(60));
        assert_eq!(notices.seen().count(), 1);
        (0..20).for_each(|number| notices.add_ended(ended(&number.to_string()), start + Span::from_seconds(61)));
        assert_eq!((notices.seen().count(), notices.remembered().count()), (MOST_SEEN, MOST_REMEMBERED));
    }
}
