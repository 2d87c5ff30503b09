//! What changed of windows lately: whoever has looked at all of them looks again only at those that are named here.

use std::collections::VecDeque;

use super::WindowId;
use crate::revision::Revision;

/// Changes that are told apart: more than there are between two latches while one window opens or another has the focus.
const KEPT: usize = 64;

/// Another value whenever anything changed that says what is seen where; see [`Shell::changes`](super::Shell::changes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellRevision {
    pub(super) windows: Revision,
    pub(super) places: Revision,
}

/// Another value whenever a list of windows may say something else; see [`Shell::listed`](super::Shell::listed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRevision {
    pub(super) changes: ShellRevision,
    pub(super) names: Revision,
    pub(super) focused: Option<WindowId>,
}

/// Counts changes, and knows the last of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeLog {
    revision: Revision,
    /// The last ones, oldest first; empty after one that says nothing of any window.
    recent: VecDeque<WindowId>,
}

impl ChangeLog {
    /// Advanced with every change.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Something happened to one window.
    pub fn note(&mut self, window: WindowId) {
        self.revision.advance();
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(window);
    }

    /// Something happened to any number of them.
    pub fn note_all(&mut self) {
        self.revision.advance();
        self.recent.clear();
    }

    /// The windows that something happened to since [`revision`](Self::revision) was `earlier`, oldest first; `None` if it may
    /// have happened to any.
    pub fn since(&self, earlier: Revision) -> Option<impl Iterator<Item = WindowId>> {
        let known = self.recent.len().checked_sub(self.revision.changes_since(earlier)?)?;
        Some(self.recent.range(known..).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(log: &ChangeLog, earlier: Revision) -> Option<Vec<u32>> {
        log.since(earlier).map(|changes| changes.map(|window| window.0).collect())
    }

    #[test]
    fn changes_are_known_one_by_one_until_there_are_too_many_or_one_is_of_all() {
        let mut log = ChangeLog::default();
        let start = log.revision();
        assert_eq!(since(&log, start), Some(vec![]));
        log.note(WindowId(1));
        let after_one = log.revision();
        log.note(WindowId(2));
        assert_eq!(since(&log, start), Some(vec![1, 2]));
        assert_eq!(since(&log, after_one), Some(vec![2]));
        (0..KEPT as u32).for_each(|window| log.note(WindowId(window)));
        assert_eq!(since(&log, after_one), None);
        let before = log.revision();
        log.note_all();
        assert_eq!(since(&log, before), None);
        assert_eq!(since(&log, log.revision()), Some(vec![]));
    }
}
