//! Notices: messages to the user that lie above the windows and take no input.
//!
//! - A program was ended by the compositor, and why: for some seconds. `upbeat msg clients` lists the latest.
//! - A program could not be started: for some seconds, or until it starts.
//! - The file of a screenshot: for some seconds.
//! - The configuration is invalid: until it is valid again.

use std::collections::VecDeque;

use super::animation::Toggle;
use super::spaces;
use super::workspaces::Screen;
use crate::guard::Ended;
use crate::shell::Desk;
use crate::state::State;
use upbeat_timing::time::{Clock, Instant, Span};

/// Time for which a notice is shown: enough to read two short lines twice.
const SEEN_FOR: Span = Span::from_seconds(8);
/// Number of notices that are shown at a time, and that are remembered: always the newest.
const MOST_SEEN: usize = 3;
const MOST_REMEMBERED: usize = 8;

/// A client that the compositor has ended. Repetitions in a row are one notice.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Program and reason of the latest time.
    pub ended: Ended,
    /// How often it happened in a row.
    pub times: u32,
    /// When it happened last.
    pub at: Instant,
}

/// Result of an action of the user: a program that could not be started, or a screenshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
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
    remembered: VecDeque<Notice>,
    /// Results of the user's actions, oldest first.
    messages: VecDeque<Message>,
    /// Whether notices are shown, with their fade.
    pub shown: Toggle,
    /// The output that shows them.
    pub on: Option<Screen>,
    /// Only notices since this time are shown.
    since: Instant,
    /// Time at which the notices fade out.
    until: Option<Instant>,
    /// Error in the configuration; kept until its notice has faded out.
    mistake: Option<String>,
    /// Whether the configuration is still invalid.
    is_wrong: bool,
    /// No configuration was valid yet, so the built-in defaults are in use.
    pub on_defaults: bool,
}

impl Notices {
    /// All remembered notices, oldest first.
    pub fn remembered(&self) -> impl DoubleEndedIterator<Item = &Notice> {
        self.remembered.iter()
    }

    /// Notices that are shown, newest first.
    pub fn seen(&self) -> impl Iterator<Item = &Notice> {
        self.remembered.iter().rev().take_while(|notice| notice.at >= self.since).take(MOST_SEEN)
    }

    /// Messages that are shown, newest first.
    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().rev().take_while(|message| message.at >= self.since)
    }

    /// The error in the configuration that is shown, possibly fading out.
    pub fn mistake(&self) -> Option<&str> {
        self.mistake.as_deref()
    }

    /// The error in the configuration, if it is still invalid.
    pub fn mistake_in_force(&self) -> Option<&str> {
        self.mistake().filter(|_| self.is_wrong)
    }

    /// Time at which the notices fade out.
    pub const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Adds a notice that a client was ended at `now`.
    fn tell(&mut self, ended: Ended, now: Instant) {
        self.begin(now);
        let same = |notice: &Notice| (&notice.ended.program, &notice.ended.reason) == (&ended.program, &ended.reason);
        match self.remembered.back_mut().filter(|last| same(last)) {
            Some(last) => *last = Notice { ended, times: last.times.saturating_add(1), at: now },
            None => self.remembered.push_back(Notice { ended, times: 1, at: now }),
        }
        if self.remembered.len() > MOST_REMEMBERED {
            self.remembered.pop_front();
        }
        self.until = Some(now + SEEN_FOR);
    }

    /// Adds the result of an action of the user.
    fn note_message(&mut self, message: Message) {
        let now = message.at;
        self.begin(now);
        self.messages.retain(|other| other.purpose != message.purpose);
        self.messages.push_back(message);
        if self.messages.len() > MOST_SEEN {
            self.messages.pop_front();
        }
        self.until = Some(now + SEEN_FOR);
    }

    /// A program was started for `purpose`, so its failure is withdrawn. Returns whether that changes the notices on
    /// screen.
    fn succeed(&mut self, purpose: &str, now: Instant) -> bool {
        if !self.shown.is_on() || !self.messages().any(|message| message.purpose == purpose) {
            return false;
        }
        let is_alone = self.messages().count() == 1 && self.seen().next().is_none();
        if is_alone {
            // Keep the text while the notice fades out, unless another notice stays.
            self.let_go(now);
        } else {
            self.messages.retain(|message| message.purpose != purpose);
        }
        true
    }

    /// Shows notices from `now` on.
    fn begin(&mut self, now: Instant) {
        if self.shown.set(true) {
            self.since = now;
            self.mistake.take_if(|_| !self.is_wrong);
        }
    }

    /// Sets or clears the error in the configuration at `now`.
    fn note_mistake(&mut self, mistake: Option<String>, now: Instant) {
        self.is_wrong = mistake.is_some();
        self.on_defaults &= self.is_wrong;
        if self.is_wrong {
            self.begin(now);
            self.mistake = mistake;
        } else if self.until.is_none() {
            self.shown.set(false);
        } else {
            self.mistake = None;
        }
    }

    /// Hides all notices, except that of an invalid configuration.
    fn let_go(&mut self, now: Instant) {
        self.until = None;
        if self.is_wrong {
            self.since = now + Span::from_nanos(1);
        } else {
            self.shown.set(false);
        }
    }
}

/// Reports an error in the configuration, as a sentence, or that it is valid again.
pub fn configuration(state: &mut State, mistake: Option<String>) {
    if state.shell.overlays.notices.mistake == mistake && state.shell.overlays.notices.is_wrong == mistake.is_some() {
        return;
    }
    let (now, screen) = (state.clock.now(), spaces::current_screen(state));
    let notices = &mut state.shell.overlays.notices;
    notices.on = screen.filter(|_| !notices.shown.is_on()).or(notices.on);
    notices.note_mistake(mistake, now);
    state.need_all();
}

/// Shows the result of an action of the user.
pub fn tell_message(state: &mut State, message: Message) {
    let screen = spaces::current_screen(state);
    let notices = &mut state.shell.overlays.notices;
    notices.on = screen.filter(|_| !notices.shown.is_on()).or(notices.on);
    notices.note_message(message);
    state.need_all();
}

/// A program was started: withdraws the notice of an earlier failure.
pub fn succeeded(state: &mut State, purpose: &str) {
    let now = state.clock.now();
    if state.shell.overlays.notices.succeed(purpose, now) {
        state.need_all();
    }
}

/// Shows notices of clients that were ended since the last turn, and hides notices whose time is over.
pub fn attend(state: &mut State) {
    let now = state.clock.now();
    let notices = &state.shell.overlays.notices;
    if notices.shown.is_on() && notices.on.is_none() {
        // The notice was added before there was an output.
        let screen = spaces::current_screen(state);
        state.shell.overlays.notices.on = screen;
        if screen.is_some() {
            state.need_all();
        }
    }
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
        notices.let_go(now);
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
    fn a_mistake_is_seen_until_it_is_mended_whatever_else_is_told_of() {
        let (mut notices, start) = (Notices::default(), Instant::from_nanos(1_000_000_000));
        let seen = |notices: &Notices| (notices.shown.is_on(), notices.mistake().is_some(), notices.seen().count());
        notices.note_mistake(Some("wrong".to_owned()), start);
        assert_eq!(seen(&notices), (true, true, 0));
        notices.tell(ended("a"), start);
        assert_eq!((seen(&notices), notices.until()), ((true, true, 1), Some(start + SEEN_FOR)));
        notices.let_go(start + SEEN_FOR);
        assert_eq!((seen(&notices), notices.until()), ((true, true, 0), None));
        notices.note_mistake(None, start + SEEN_FOR * 2);
        assert_eq!(seen(&notices), (false, true, 0), "it fades with what it said");
        notices.tell(ended("b"), start + SEEN_FOR * 3);
        assert_eq!(seen(&notices), (true, false, 1));
        notices.note_mistake(Some("wrong".to_owned()), start + SEEN_FOR * 3);
        notices.note_mistake(None, start + SEEN_FOR * 3);
        assert_eq!(seen(&notices), (true, false, 1));
    }

    fn failure(purpose: &str, at: Instant) -> Message {
        let heading = format!("{purpose} is not installed");
        Message { purpose: purpose.to_owned(), heading, text: String::new(), at, is_failure: true }
    }

    #[test]
    fn failure_is_seen_for_a_while_or_until_the_next_success() {
        let (mut notices, start) = (Notices::default(), Instant::from_nanos(1_000_000_000));
        let seen = |notices: &Notices| (notices.shown.is_on(), notices.messages().count(), notices.seen().count());
        notices.note_message(failure("a", start));
        notices.note_message(failure("a", start));
        assert_eq!((seen(&notices), notices.until()), ((true, 1, 0), Some(start + SEEN_FOR)));
        assert!(!notices.succeed("b", start), "that says nothing of the other");
        assert!(notices.succeed("a", start));
        assert_eq!((seen(&notices), notices.until()), ((false, 1, 0), None), "it fades with what it said");
        let later = start + Span::from_seconds(1);
        notices.note_message(failure("b", later));
        assert_eq!(seen(&notices), (true, 1, 0), "not the one before");
        notices.tell(ended("c"), later);
        assert!(notices.succeed("b", later));
        assert_eq!((seen(&notices), notices.until()), ((true, 0, 1), Some(later + SEEN_FOR)));
        notices.let_go(later + SEEN_FOR);
        assert!(!notices.succeed("b", later + SEEN_FOR));
        (0..20).for_each(|number| notices.note_message(failure(&number.to_string(), later + SEEN_FOR * 2)));
        assert_eq!(seen(&notices), (true, MOST_SEEN, 0));
        notices.note_mistake(Some("wrong".to_owned()), later + SEEN_FOR * 2);
        notices.let_go(later + SEEN_FOR * 3);
        assert_eq!(seen(&notices), (true, 0, 0), "the mistake stays");
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
