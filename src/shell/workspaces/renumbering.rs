//! New numbers of workspaces, after the list of names in the configuration has changed.

use super::{MOST_NAMED, WorkspaceName, WorkspaceNumber};

/// The new number of each workspace. 1 to 9 keep theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceRenumbering {
    /// New numbers of the workspaces from 10; `None` where the name is gone.
    named: [Option<WorkspaceNumber>; MOST_NAMED],
}

impl WorkspaceRenumbering {
    /// From the names `before` to the names `after`.
    pub fn between(before: &[WorkspaceName], after: &[WorkspaceName]) -> Self {
        let new = |name: &WorkspaceName| after.iter().position(|it| it == name).and_then(WorkspaceNumber::of_name);
        WorkspaceRenumbering { named: std::array::from_fn(|index| before.get(index).and_then(new)) }
    }

    /// The new number; `None` if the workspace is gone.
    pub fn of(&self, number: WorkspaceNumber) -> Option<WorkspaceNumber> {
        number.name_index().map_or(Some(number), |index| self.named.get(index).copied().flatten())
    }
}

#[cfg(test)]
impl WorkspaceRenumbering {
    /// For properties: the workspace from 10 at each index gets the name at `order`; `None`, it is gone. Each name at
    /// most once.
    pub fn of_order(order: &[Option<usize>]) -> Self {
        let new = |index: usize| order.get(index).copied().flatten().and_then(WorkspaceNumber::of_name);
        WorkspaceRenumbering { named: std::array::from_fn(new) }
    }
}
