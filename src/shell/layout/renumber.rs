//! New numbers of workspaces, after the list of those with a name has changed.
//!
//! ```text
//!   10 [a]  11 [b|c]  12 [d]            10 [b|c]  11    1 [e] [a] [d]
//!   mail    music     chat      ──►     music     new   visible: the windows of names that are gone
//! ```

use super::TilingLayout;
use super::column::{LayoutTile, TiledColumn};
use super::op::LayoutOp;
use super::screens::ScreenState;
use super::workspace::{FloatingTile, LayoutWorkspace};
use crate::shell::workspaces::{ScreenId, WorkspaceNumber, WorkspaceRenumbering};

impl TilingLayout {
    pub(super) fn renumber(&mut self, renumbering: &WorkspaceRenumbering) {
        let mut gone = Vec::new();
        for screen in &mut self.screens {
            let before = std::mem::replace(&mut screen.workspaces, std::array::from_fn(|_| LayoutWorkspace::default()));
            let active = renumbering.of(screen.active).unwrap_or(WorkspaceNumber::FIRST);
            let old_active = std::mem::replace(&mut screen.active, active);
            for (old, workspace) in WorkspaceNumber::all().zip(before) {
                match renumbering.of(old) {
                    Some(new) => *screen.workspace_mut(new).0 = workspace,
                    None => gone.push((screen.screen, old == old_active, workspace)),
                }
            }
        }
        let visible: Vec<_> = self.screens.iter().map(|screen| (screen.screen, screen.active)).collect();
        for (screen, was_visible, workspace) in gone {
            if let Some(screen) = self.state_mut(screen) {
                screen.take_in(workspace, was_visible, &visible);
            }
        }
    }
}

impl ScreenState {
    /// Adds the windows of a workspace that is gone. A window goes to the `visible` workspace of its home, so that a
    /// guest is on the same workspace as on its own screen.
    fn take_in(&mut self, gone: LayoutWorkspace, was_visible: bool, visible: &[(ScreenId, WorkspaceNumber)]) {
        let own = self.screen;
        let goal = |tile: &LayoutTile| {
            let home = tile.guest_of.unwrap_or(own);
            visible.iter().find(|(screen, _)| *screen == home).map_or(WorkspaceNumber::FIRST, |(_, number)| *number)
        };
        let focus = gone.focus();
        for column in gone.strip.columns {
            let mut rows: Vec<LayoutTile> = column.rows.iter().map(without_memory).collect();
            let first = rows.first().map_or(WorkspaceNumber::FIRST, goal);
            if rows.iter().all(|tile| goal(tile) == first) {
                let (workspace, area) = self.workspace_mut(first);
                workspace.strip.insert(usize::MAX, TiledColumn { rows, is_fullscreen: false, ..column }, area);
                workspace.forget_openings();
                workspace.settle(area);
                continue;
            }
            for tile in rows.drain(..) {
                let (workspace, area) = self.workspace_mut(goal(&tile));
                workspace.forget_openings();
                workspace.add_at_end(tile, None, area);
            }
        }
        for FloatingTile { tile, rect } in gone.floating {
            let (workspace, area) = self.workspace_mut(goal(&tile));
            workspace.add_at_end(without_memory(&tile), Some(rect), area);
            workspace.forget_openings();
        }
        let active = self.active;
        let (workspace, area) = self.workspace_mut(active);
        if let Some(focus) = focus.filter(|focus| was_visible && workspace.has(*focus)) {
            workspace.apply(&LayoutOp::Focus(focus), area);
        }
    }
}

/// The same window without places beside windows of the workspace that it leaves.
fn without_memory(tile: &LayoutTile) -> LayoutTile {
    LayoutTile { position_before_floating: None, position_before_fullscreen: None, ..tile.clone() }
}
