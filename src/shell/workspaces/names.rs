//! Workspaces with a name, which follow the nine with a number on every output.

use std::sync::Arc;

use super::{
    ScreenId, WorkspaceId, WorkspaceName, WorkspaceNumber, WorkspaceReference, WorkspaceRenumbering, Workspaces,
};

/// There is no workspace with this name; the message lists the names that exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no workspace called \"{name}\"; there are 1 to 9{}", list(.known))]
pub struct UnknownWorkspace {
    pub name: WorkspaceName,
    pub known: Arc<[WorkspaceName]>,
}

/// The names after a list that has begun: `, "a" and "b"`.
fn list(names: &[WorkspaceName]) -> String {
    let quoted = |names: &[WorkspaceName]| names.iter().map(|name| format!(", \"{name}\"")).collect::<String>();
    match names {
        [] => String::new(),
        [names @ .., last] => format!("{} and \"{last}\"", quoted(names)),
    }
}

impl UnknownWorkspace {
    /// Checks that a reference is a number or one of the `known` names.
    ///
    /// # Errors
    /// If it is another name.
    pub fn check(reference: &WorkspaceReference, known: &Arc<[WorkspaceName]>) -> Result<WorkspaceNumber, Self> {
        match reference {
            WorkspaceReference::Number(number) => Ok(*number),
            WorkspaceReference::Name(name) => {
                let index = known.iter().position(|it| it == name);
                let unknown = || UnknownWorkspace { name: name.clone(), known: known.clone() };
                index.and_then(WorkspaceNumber::of_name).ok_or_else(unknown)
            }
        }
    }
}

impl Workspaces {
    /// Names of the workspaces from 10, in their order.
    pub const fn names(&self) -> &Arc<[WorkspaceName]> {
        &self.names
    }

    /// The numbers of all workspaces of an output, in their order.
    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = WorkspaceNumber> + use<> {
        WorkspaceNumber::up_to(self.last_number())
    }

    /// The number of the last workspace.
    pub fn last_number(&self) -> WorkspaceNumber {
        let last = self.names.len().checked_sub(1).and_then(WorkspaceNumber::of_name);
        last.unwrap_or(WorkspaceNumber::LAST_UNNAMED)
    }

    /// The name of a workspace; `None` for 1 to 9.
    pub fn name_of(&self, number: WorkspaceNumber) -> Option<&WorkspaceName> {
        self.names.get(number.name_index()?)
    }

    /// The name of a workspace, or else its number.
    pub fn label(&self, number: WorkspaceNumber) -> String {
        self.name_of(number).map_or_else(|| number.to_string(), WorkspaceName::to_string)
    }

    /// The number of the workspace that a user has written.
    ///
    /// # Errors
    /// If there is none with this name.
    pub fn find(&self, reference: &WorkspaceReference) -> Result<WorkspaceNumber, UnknownWorkspace> {
        UnknownWorkspace::check(reference, &self.names)
    }

    /// The workspace `number` that a user means who works on `screen`. For 1 to 9 it is on `screen`. A workspace with a
    /// name is one place to its user: if all its windows are on other outputs, it is on the first of these.
    pub fn meant(&self, screen: ScreenId, number: WorkspaceNumber) -> WorkspaceId {
        let here = WorkspaceId { screen, number };
        let is_named = number > WorkspaceNumber::LAST_UNNAMED;
        let places = || self.homes.keys().filter_map(|window| self.place(*window)).filter(|at| at.number == number);
        if !is_named || places().any(|at| at == here) {
            return here;
        }
        let order = |at: &WorkspaceId| self.screens().position(|(screen, _)| screen == at.screen);
        places().filter(|at| order(at).is_some()).min_by_key(order).unwrap_or(here)
    }

    /// Replaces the names. A workspace keeps its windows, also at another place of the list. Windows of a name that is
    /// gone move to the visible workspace of their home; if that is gone, workspace 1 becomes visible there.
    pub fn rename(&mut self, names: Arc<[WorkspaceName]>) -> WorkspaceRenumbering {
        let renumbering = WorkspaceRenumbering::between(&self.names, &names);
        if self.names == names {
            return renumbering;
        }
        self.names = names;
        self.changes.note_all();
        for known in &mut self.screens {
            known.active = renumbering.of(known.active).unwrap_or(WorkspaceNumber::FIRST);
        }
        let Workspaces { screens, homes, .. } = self;
        for home in homes.values_mut() {
            let visible = || screens.iter().find(|known| known.screen == home.screen).map(|known| known.active);
            home.number = renumbering.of(home.number).or_else(visible).unwrap_or(WorkspaceNumber::FIRST);
        }
        renumbering
    }
}
