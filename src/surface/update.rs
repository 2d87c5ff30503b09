//! What is owed for each commit until it is applied: the release of its buffer and the end of its feedback.
//!
//! Smithay's queue keeps both inside a surface's state, where nothing can be taken out again: when the surface is
//! destroyed, buffers of commits that waited would never be released, and feedback would end whenever the last
//! reference to the surface goes. So they are kept here, by the number of the commit, and the number travels through
//! the queue.

use std::collections::VecDeque;

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::compositor::Cacheable;
use smithay::wayland::presentation::PresentationFeedbackCallback;

/// Which commit a state belongs to, counted from 1; 0 before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UpdateNumber(pub u64);

impl Cacheable for UpdateNumber {
    fn commit(&mut self, _display: &DisplayHandle) -> Self {
        *self
    }

    fn merge_into(self, into: &mut Self, _display: &DisplayHandle) {
        *into = self;
    }
}

/// What a commit does with the surface's buffer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Content {
    /// Shows this one from now on.
    Attached(WlBuffer),
    /// Shows nothing from now on.
    Removed,
    /// Leaves it.
    Kept,
}

impl Content {
    fn is_new(&self) -> bool {
        *self != Content::Kept
    }
}

#[derive(Debug)]
struct Commit {
    number: UpdateNumber,
    content: Content,
    feedback: Vec<PresentationFeedbackCallback>,
}

/// Commits of one surface that were not applied yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    last: UpdateNumber,
    commits: VecDeque<Commit>,
}

/// What was applied.
#[derive(Debug, Default)]
pub(super) struct Applied {
    /// The buffer was replaced or removed.
    pub new_content: bool,
    /// Who is to be told when it is shown.
    pub feedback: Vec<PresentationFeedbackCallback>,
}

impl Outstanding {
    /// A commit is made.
    pub fn commit(&mut self, content: Content, feedback: Vec<PresentationFeedbackCallback>) -> UpdateNumber {
        self.last.0 += 1;
        self.commits.push_back(Commit { number: self.last, content, feedback });
        self.last
    }

    /// Whether something was committed and not applied.
    pub fn any(&self) -> bool {
        !self.commits.is_empty()
    }

    /// All commits up to `number` are applied: their buffers are Smithay's to release. Feedback for content that
    /// another of them replaced ends here.
    pub fn apply(&mut self, number: UpdateNumber) -> Applied {
        let mut applied = Applied::default();
        while self.commits.front().is_some_and(|commit| commit.number <= number) {
            let Some(commit) = self.commits.pop_front() else { break };
            applied.new_content |= commit.content.is_new();
            if commit.content.is_new() {
                discard(std::mem::replace(&mut applied.feedback, commit.feedback));
            } else {
                applied.feedback.extend(commit.feedback);
            }
            if commit.content == Content::Removed {
                discard(std::mem::take(&mut applied.feedback));
            }
        }
        applied
    }

    /// The surface is gone: releases buffers that nobody else will, and ends all feedback.
    pub fn abandon(&mut self) {
        for commit in self.commits.drain(..) {
            if let Content::Attached(buffer) = commit.content {
                buffer.release();
            }
            discard(commit.feedback);
        }
    }
}

/// Tells clients that what they asked about was never shown.
pub(super) fn discard(feedback: Vec<PresentationFeedbackCallback>) {
    feedback.into_iter().for_each(PresentationFeedbackCallback::discarded);
}
