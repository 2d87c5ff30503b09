//! Screens that are plugged and unplugged, and windows that are shown as guests meanwhile.
//!
//! An unplugged screen keeps its workspaces unchanged. Another screen shows its windows as guests, on workspaces of the
//! same numbers. When the screen is back, its windows return to their places there, except windows that were sent
//! elsewhere.
//!
//! ```text
//!              both                      DP-2 is gone                 DP-2 is back
//!   DP-1    [a] [b]                  [a] [b] [c]' [d]'                [a] [b]
//!   DP-2    [c|d] (kept as it was)                                    [c|d]
//! ```

use super::TilingLayout;
use super::column::{LayoutTile, TiledColumn};
use super::op::{LayoutArea, LayoutRect, WindowOpening};
use super::workspace::LayoutWorkspace;
use crate::shell::WindowId;
use crate::shell::workspaces::{ScreenId, WorkspaceNumber};

/// Number of workspaces that a screen can have. Empty ones cost next to nothing.
const WORKSPACES: usize = WorkspaceNumber::LARGEST.get() as usize;

/// A screen that is or was plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ScreenState {
    pub screen: ScreenId,
    pub area: LayoutArea,
    pub is_connected: bool,
    pub active: WorkspaceNumber,
    pub(super) workspaces: [LayoutWorkspace; WORKSPACES],
}

impl ScreenState {
    pub fn new(screen: ScreenId, area: LayoutArea) -> Self {
        let workspaces = std::array::from_fn(|_| LayoutWorkspace::default());
        ScreenState { screen, area, is_connected: false, active: WorkspaceNumber::FIRST, workspaces }
    }

    pub fn workspace(&self, number: WorkspaceNumber) -> &LayoutWorkspace {
        &self.workspaces[usize::from(number.get()) - 1]
    }

    pub fn workspace_mut(&mut self, number: WorkspaceNumber) -> (&mut LayoutWorkspace, &LayoutArea) {
        (&mut self.workspaces[usize::from(number.get()) - 1], &self.area)
    }

    pub fn workspaces(&self) -> &[LayoutWorkspace] {
        &self.workspaces
    }

    /// All workspaces, and the area of the screen.
    pub fn each(&mut self) -> (impl Iterator<Item = &mut LayoutWorkspace>, &LayoutArea) {
        (self.workspaces.iter_mut(), &self.area)
    }

    /// Removes a window from this screen.
    pub fn close(&mut self, window: WindowId) -> Option<LayoutTile> {
        let (workspaces, area) = self.each();
        let mut found = None;
        for workspace in workspaces {
            found = workspace.close(window, area).or(found);
        }
        found
    }
}

impl TilingLayout {
    pub(super) fn connect(&mut self, screen: ScreenId, area: LayoutArea) {
        let area = area.sanitised();
        match self.screens.iter_mut().find(|known| known.screen == screen) {
            Some(known) if known.is_connected => return self.resize(screen, area),
            Some(known) => known.is_connected = true,
            None => {
                self.screens.push(ScreenState { is_connected: true, ..ScreenState::new(screen, area) });
            }
        }
        self.resize(screen, area);
        self.remove_guests(screen);
        if !self.is_connected(self.focused) {
            self.focused = screen;
        }
        self.show_guests();
    }

    pub(super) fn disconnect(&mut self, screen: ScreenId) {
        let Some(known) = self.screens.iter_mut().find(|known| known.screen == screen && known.is_connected) else {
            return;
        };
        known.is_connected = false;
        // Guests move on to the next screen, together with the windows of this screen. Only their home screen keeps
        // them.
        let leaving: Vec<_> = guests(known, |_| true).collect();
        for window in leaving {
            known.close(window);
        }
        let Some(host) = self.screens.iter().find(|other| other.is_connected).map(|other| other.screen) else { return };
        if self.focused == screen {
            self.focused = host;
        }
        self.show_guests();
    }

    pub(super) fn resize(&mut self, screen: ScreenId, area: LayoutArea) {
        if let Some(known) = self.state_mut(screen) {
            known.area = area.sanitised();
            let (workspaces, area) = known.each();
            workspaces.for_each(|workspace| workspace.settle(area));
        }
    }

    /// Removes guests whose home screen `home` is back from the other screens. A window that was sent elsewhere is no
    /// guest, so it stays.
    fn remove_guests(&mut self, home: ScreenId) {
        for host in self.screens.iter_mut().filter(|host| host.screen != home) {
            let leaving: Vec<_> = guests(host, |of| of == home).collect();
            for window in leaving {
                host.close(window);
            }
        }
    }

    /// Shows the windows of unplugged screens on the first connected screen, unless they are shown already.
    fn show_guests(&mut self) {
        let Some(host) = self.screens.iter().position(|screen| screen.is_connected) else { return };
        let mut arriving = Vec::new();
        for gone in self.screens.iter().filter(|screen| !screen.is_connected) {
            for number in WorkspaceNumber::all() {
                arriving.extend(gone.workspace(number).tiles().map(|tile| (number, gone.screen, tile.window)));
            }
        }
        arriving.retain(|(.., window)| self.screens.iter().all(|screen| !screen.is_connected || !has(screen, *window)));
        for (number, home, window) in arriving {
            let Some(gone) = self.state(home) else { continue };
            let floats = gone.workspace(number).floating.iter().find(|floating| floating.tile.window == window);
            let (tile, rect) = match floats {
                Some(floating) => (Some(floating.tile.clone()), Some(floating.rect)),
                None => (gone.workspace(number).tiles().find(|tile| tile.window == window).cloned(), None),
            };
            let Some(tile) = tile else { continue };
            let guest = LayoutTile {
                guest_of: tile.guest_of.or(Some(home)),
                position_before_floating: None,
                position_before_fullscreen: None,
                ..tile
            };
            let (workspace, area) = self.screens[host].workspace_mut(number);
            workspace.add_at_end(guest, rect, area);
        }
    }
}

impl LayoutWorkspace {
    /// Adds a window at the end without giving it the focus.
    pub(super) fn add_at_end(&mut self, tile: LayoutTile, rect: Option<LayoutRect>, area: &LayoutArea) {
        match rect {
            Some(_) => self.open(tile, WindowOpening { place: None, floating: rect, focused: false, back: None }, area),
            None => {
                self.strip.insert(usize::MAX, TiledColumn::of(tile), area);
                self.settle(area);
            }
        }
    }
}

/// Guests on a screen whose home screen satisfies `of`.
fn guests(screen: &ScreenState, of: impl Fn(ScreenId) -> bool) -> impl Iterator<Item = WindowId> {
    let tiles = screen.workspaces().iter().flat_map(LayoutWorkspace::tiles);
    tiles.filter(move |tile| tile.guest_of.is_some_and(&of)).map(|tile| tile.window)
}

fn has(screen: &ScreenState, window: WindowId) -> bool {
    screen.workspaces().iter().any(|workspace| workspace.has(window))
}
