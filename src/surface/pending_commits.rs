//! The duties that each commit brings until it is applied: the release of its buffer and the end of its feedback.
//!
//! Smithay's queue keeps both inside a surface's state, where nothing can be taken out again. When the surface is
//! destroyed, buffers of waiting commits would never be released, and feedback would end only when the last reference
//! to the surface is dropped. So both are kept here, by the number of the commit, and the number travels through the
//! queue.

use std::collections::VecDeque;

use smithay::reexports::wayland_server::DisplayHandle;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::wayland::compositor::Cacheable;
use smithay::wayland::drm_syncobj::DrmSyncPoint;

use super::feedback::Feedback;
use super::paced_frame::{FrameDiscardReason, PacedFrame};
use super::sync_points;
use crate::guard::CountedResource;
use upbeat_timing::surface_targets::SurfaceTargetId;

/// The commit that a state belongs to, counted from 1; 0 before the first.
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

/// The effect of a commit on the surface's buffer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CommitContent {
    /// A new buffer is attached.
    Attached(WlBuffer),
    /// A null buffer is attached: the surface is unmapped.
    Removed,
    /// No buffer is attached.
    Kept,
}

impl CommitContent {
    fn is_new(&self) -> bool {
        *self != CommitContent::Kept
    }

    /// Releases the buffer of a commit that is never shown.
    fn release(self, point: Option<DrmSyncPoint>) {
        if let CommitContent::Attached(buffer) = self {
            buffer.release();
        }
        point.iter().for_each(sync_points::signal);
    }
}

#[derive(Debug)]
struct PendingCommit {
    number: UpdateNumber,
    content: CommitContent,
    /// Signalled when the buffer is not read any more.
    release: Option<DrmSyncPoint>,
    feedback: Feedback,
    /// The content was cancelled and the buffer released.
    cancelled: bool,
    /// Counts against the client's limit of waiting updates.
    _held: Option<CountedResource>,
}

/// The commits of one surface that were not applied yet, oldest first.
#[derive(Debug, Default)]
pub(super) struct PendingCommits {
    last: UpdateNumber,
    commits: VecDeque<PendingCommit>,
}

/// The result of applying commits.
#[derive(Debug, Default)]
pub(super) struct AppliedCommits {
    /// The buffer was replaced or removed.
    pub new_content: bool,
    /// The feedback that waits for the applied content to be presented.
    pub feedback: Feedback,
}

impl PendingCommits {
    /// Adds a commit. Returns its number.
    pub fn commit(
        &mut self,
        content: CommitContent,
        release: Option<DrmSyncPoint>,
        feedback: Feedback,
        held: Option<CountedResource>,
    ) -> UpdateNumber {
        self.last.0 += 1;
        let number = self.last;
        self.commits.push_back(PendingCommit { number, content, release, feedback, cancelled: false, _held: held });
        self.last
    }

    /// Frees spare capacity.
    pub fn shrink(&mut self) {
        self.commits.shrink_to_fit();
    }

    /// Whether there are commits that were not applied.
    pub fn is_any_pending(&self) -> bool {
        !self.commits.is_empty()
    }

    /// All commits up to `number` are applied: from now on Smithay releases their buffers. Feedback for content that a
    /// later one of them replaced is discarded.
    pub fn apply(&mut self, number: UpdateNumber) -> AppliedCommits {
        let mut applied = AppliedCommits::default();
        while self.commits.front().is_some_and(|commit| commit.number <= number) {
            let Some(commit) = self.commits.pop_front() else { break };
            applied.new_content |= commit.content.is_new();
            if commit.content.is_new() {
                std::mem::replace(&mut applied.feedback, commit.feedback).discard(FrameDiscardReason::Newer);
            } else {
                applied.feedback.extend(commit.feedback);
            }
            if commit.content == CommitContent::Removed {
                std::mem::take(&mut applied.feedback).discard(FrameDiscardReason::Unseen);
            }
        }
        applied
    }

    /// The surface is gone: releases the buffers that were not applied, and discards all feedback.
    pub fn abandon(&mut self) {
        for commit in self.commits.drain(..) {
            commit.content.release(commit.release);
            commit.feedback.discard(FrameDiscardReason::Unseen);
        }
    }

    /// Whether the commit with `number` was cancelled.
    pub fn is_cancelled(&self, number: UpdateNumber) -> bool {
        self.commits.iter().any(|commit| commit.number == number && commit.cancelled)
    }

    /// Whether the surface will have a buffer after these commits; `None` if they do not change that.
    pub fn leaves_content(&self) -> Option<bool> {
        let newest = self.commits.iter().rev().find(|commit| commit.content.is_new())?;
        Some(newest.content != CommitContent::Removed)
    }

    /// The frame that is bound to `id`, while it waits.
    pub fn frame_mut(&mut self, id: SurfaceTargetId) -> Option<&mut PacedFrame> {
        self.commits.iter_mut().flat_map(|commit| &mut commit.feedback.frames).find(|frame| frame.id == id)
    }

    /// Cancels the commit that is bound to `id`: releases its buffer and discards its feedback.
    pub fn cancel(&mut self, id: SurfaceTargetId) {
        let bound = |commit: &&mut PendingCommit| commit.feedback.frames.iter().any(|frame| frame.id == id);
        let Some(commit) = self.commits.iter_mut().find(bound) else { return };
        commit.cancelled = true;
        std::mem::replace(&mut commit.content, CommitContent::Kept).release(commit.release.take());
        let mut feedback = std::mem::take(&mut commit.feedback);
        // The caller sends the results of paced frames, in their order.
        feedback.frames.clear();
        feedback.discard(FrameDiscardReason::Cancelled);
    }
}
