//! Log of recently changed windows, so that caches only update those windows.

use std::collections::VecDeque;

use super::WindowId;
use crate::revision::Revision;

/// Length of the log: more changes than occur between two latches while one window opens or another gets the focus.
const KEPT: usize = 64;

/// Advances when anything changes that affects the picture; see [`Shell::changes`](super::Shell::changes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellRevision {
    pub(super) windows: Revision,
    pub(super) places: Revision,
}

/// Advances when a list of windows may differ; see [`Shell::listed`](super::Shell::listed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRevision {
    pub(super) changes: ShellRevision,
    pub(super) names: Revision,
    pub(super) focused: Option<WindowId>,
}

/// Counts changes, and keeps the windows of the latest changes.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangeLog {
    revision: Revision,
    /// Windows of the latest changes, oldest first. Cleared by a change that may concern all windows.
    recent: VecDeque<WindowId>,
}

impl ChangeLog {
    /// Advances with every change.
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Records a change of one window.
    pub fn note(&mut self, window: WindowId) {
        self.revision.advance();
        if self.recent.len() == KEPT {
            self.recent.pop_front();
        }
        self.recent.push_back(window);
    }

    /// Records a change that may concern all windows.
    pub fn note_all(&mut self) {
        self.revision.advance();
        self.recent.clear();
    }

    /// The windows that changed since [`revision`](Self::revision) was `earlier`, oldest first. `None` if any window
    /// may have changed.
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
