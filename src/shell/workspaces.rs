//! Assignment of windows to workspaces: numbers and names, no Wayland.
//!
//! Every output has the same workspaces, nine with a number and those that the configuration names (`names`). One of
//! them is visible. They are fixed, not created on demand,
//! so that the user can remember a number as a place, no workspace is renumbered when a window closes, and unplugging
//! an output needs no rule for merging lists. The windows of an unplugged output are shown on another output, on
//! workspaces of the same numbers. Their home is remembered, and they return with their output.
//!
//! ```text
//!            plugged in                 DP-2 unplugged             DP-2 is back
//!   DP-1   [1: a] 2     3         [1: a] 2: b  3: c               [1: a] 2     3
//!   DP-2    1    [2: b] 3: c       (remembered: b at home on 2)    1    [2: b] 3: c
//! ```

mod names;
mod renumbering;

use std::sync::Arc;

use ahash::{HashMap, HashSet};

use super::WindowId;
use super::change_log::ChangeLog;
pub use names::UnknownWorkspace;
pub use renumbering::WorkspaceRenumbering;
pub use upbeat_record::ipc::message::workspace::{InvalidWorkspaceNumber, MOST_NAMED, WorkspaceNumber};
pub use upbeat_record::ipc::message::workspace_name::{
    InvalidWorkspaceName, ParseWorkspaceError, WorkspaceName, WorkspaceReference,
};

use crate::revision::Revision;

/// Name of the placeholder output: the home of windows that open before there is an output.
const NOWHERE: &str = "";

/// Identifies an output, even while it is unplugged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreenId(pub u32);

/// A workspace of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceId {
    pub screen: ScreenId,
    pub number: WorkspaceNumber,
}

/// State of the workspaces of one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputWorkspaces {
    pub screen: ScreenId,
    /// The workspace that is visible.
    pub active: WorkspaceNumber,
    /// Bit mask of workspaces with windows; bit `n` is workspace `n`.
    occupied: u32,
    /// Bit mask of workspaces with an urgent window.
    urgent: u32,
}

impl OutputWorkspaces {
    pub const fn is_occupied(&self, number: WorkspaceNumber) -> bool {
        self.occupied & 1 << number.get() != 0
    }

    pub const fn is_urgent(&self, number: WorkspaceNumber) -> bool {
        self.urgent & 1 << number.get() != 0
    }
}

#[derive(Clone, Debug)]
struct KnownOutput {
    screen: ScreenId,
    /// Connector that it is plugged into, or was last.
    name: String,
    /// Identity of the monitor, if it has any. A known monitor is recognised on another connector.
    monitor: Option<String>,
    active: WorkspaceNumber,
    connected: bool,
}

/// All workspaces of all outputs.
#[derive(Clone, Debug, Default)]
pub struct Workspaces {
    /// In the order in which they were plugged in first. An unplugged output is kept while it is the home of windows.
    screens: Vec<KnownOutput>,
    homes: HashMap<WindowId, WorkspaceId>,
    /// Names of the workspaces from 10, in their order.
    names: Arc<[WorkspaceName]>,
    /// Windows that ask for attention.
    urgent: HashSet<WindowId>,
    /// Windows that are hidden although their workspace is visible.
    minimised: HashSet<WindowId>,
    last: u32,
    /// Windows that were moved, and other changes.
    changes: ChangeLog,
}

impl Workspaces {
    /// Sets the connected outputs, with their names and monitors. A known monitor is recognised on another connector.
    pub fn connect_monitors<'a>(&mut self, outputs: impl Iterator<Item = (&'a str, Option<&'a str>)>) {
        self.changes.note_all();
        let were_connected: Vec<ScreenId> = self.screens().map(|(screen, _)| screen).collect();
        self.screens.iter_mut().for_each(|known| known.connected = false);
        for (name, monitor) in outputs {
            // If several monitors have the same identity, each stays with its connector.
            let is_it = |known: &KnownOutput| !known.connected && known.monitor.as_deref() == monitor;
            let is_there = |known: &KnownOutput| is_it(known) && known.name == name;
            let is_elsewhere =
                |known: &KnownOutput| is_it(known) && monitor.is_some() && !were_connected.contains(&known.screen);
            let place = self.screens.iter().position(is_there).or_else(|| self.screens.iter().position(is_elsewhere));
            let place = place.unwrap_or_else(|| {
                self.add_output(name, monitor);
                self.screens.len() - 1
            });
            let known = &mut self.screens[place];
            known.connected = true;
            known.name = name.to_owned();
        }
        if let Some(first) = self.first_connected() {
            // The first output becomes the home of windows that opened before it.
            let nowhere = self.screens.iter().find(|known| known.name == NOWHERE).map(|known| known.screen);
            let homeless = self.homes.values_mut().filter(|home| Some(home.screen) == nowhere);
            homeless.for_each(|home| home.screen = first);
        }
        let Workspaces { screens, homes, .. } = self;
        screens.retain(|known| known.connected || homes.values().any(|home| home.screen == known.screen));
    }

    fn add_output(&mut self, name: &str, monitor: Option<&str>) -> ScreenId {
        self.last += 1;
        let screen = ScreenId(self.last);
        let (name, monitor) = (name.to_owned(), monitor.map(str::to_owned));
        self.screens.push(KnownOutput { screen, name, monitor, active: WorkspaceNumber::FIRST, connected: false });
        screen
    }

    fn known(&self, screen: ScreenId) -> Option<&KnownOutput> {
        self.screens.iter().find(|known| known.screen == screen)
    }

    /// Advances when the result of [`rows`](Self::rows) may have changed.
    pub const fn changes(&self) -> Revision {
        self.changes.revision()
    }

    /// The windows that have been moved since [`changes`](Self::changes) was `earlier`; `None` if other workspaces may
    /// be visible since then.
    pub(super) fn changes_since(&self, earlier: Revision) -> Option<impl Iterator<Item = WindowId>> {
        self.changes.since(earlier)
    }

    /// The output of this name, if it is plugged in.
    pub fn screen(&self, name: &str) -> Option<ScreenId> {
        self.screens.iter().find(|known| known.connected && known.name == name).map(|known| known.screen)
    }

    /// Connected outputs, with their names.
    pub fn screens(&self) -> impl Iterator<Item = (ScreenId, &str)> {
        self.screens.iter().filter(|known| known.connected).map(|known| (known.screen, known.name.as_str()))
    }

    pub fn name(&self, screen: ScreenId) -> Option<&str> {
        self.known(screen).map(|known| known.name.as_str())
    }

    /// The output that shows the windows of unplugged outputs.
    fn first_connected(&self) -> Option<ScreenId> {
        self.screens().next().map(|(screen, _)| screen)
    }

    /// The visible workspace of `screen`.
    pub fn active(&self, screen: ScreenId) -> WorkspaceNumber {
        self.known(screen).map_or(WorkspaceNumber::FIRST, |known| known.active)
    }

    /// Shows workspace `number` on `screen`. Returns whether that is a change.
    pub fn switch(&mut self, screen: ScreenId, number: WorkspaceNumber) -> bool {
        let known = self.screens.iter_mut().find(|known| known.screen == screen && known.connected);
        let is_another = known.is_some_and(|known| std::mem::replace(&mut known.active, number) != number);
        if is_another {
            self.changes.note_all();
        }
        is_another
    }

    /// Assigns a new window to the visible workspace of `screen`, or of any output without `screen`.
    pub fn add(&mut self, window: WindowId, screen: Option<ScreenId>) {
        let screen = screen.filter(|screen| self.known(*screen).is_some()).or_else(|| self.first_connected());
        let screen = screen.or_else(|| self.screens.first().map(|known| known.screen));
        let screen = screen.unwrap_or_else(|| self.add_output(NOWHERE, None));
        self.assign(window, WorkspaceId { screen, number: self.active(screen) });
    }

    /// Assigns a window to a workspace, which becomes its home. Does nothing if the output is unknown.
    pub fn assign(&mut self, window: WindowId, place: WorkspaceId) {
        if self.known(place.screen).is_none() {
            return;
        }
        if self.homes.insert(window, place) != Some(place) {
            self.changes.note(window);
        }
    }

    /// Removes a window that is gone.
    pub fn remove(&mut self, window: WindowId) {
        self.urgent.remove(&window);
        self.minimised.remove(&window);
        if self.homes.remove(&window).is_some() {
            self.changes.note(window);
        }
    }

    /// Marks a window as urgent, or not. Returns whether that is a change.
    pub fn set_urgent(&mut self, window: WindowId, urgent: bool) -> bool {
        let is_other = if urgent { self.urgent.insert(window) } else { self.urgent.remove(&window) };
        if is_other {
            self.changes.note(window);
        }
        is_other
    }

    /// Whether the window asks for attention.
    pub fn is_urgent(&self, window: WindowId) -> bool {
        self.urgent.contains(&window)
    }

    /// Marks a window as minimised, or not. Returns whether that is a change.
    pub fn set_minimised(&mut self, window: WindowId, minimised: bool) -> bool {
        let is_other = if minimised { self.minimised.insert(window) } else { self.minimised.remove(&window) };
        if is_other {
            self.changes.note(window);
        }
        is_other
    }

    pub fn is_minimised(&self, window: WindowId) -> bool {
        self.minimised.contains(&window)
    }

    /// The home of a window, which may be on an unplugged output.
    pub fn home(&self, window: WindowId) -> Option<WorkspaceId> {
        self.homes.get(&window).copied()
    }

    /// The workspace that a window is on now.
    pub fn place(&self, window: WindowId) -> Option<WorkspaceId> {
        let home = self.home(window)?;
        let connected = self.known(home.screen).is_some_and(|known| known.connected);
        let screen = if connected { home.screen } else { self.first_connected().unwrap_or(home.screen) };
        Some(WorkspaceId { screen, ..home })
    }

    /// Whether a window is on a visible workspace and not minimised.
    pub fn is_visible(&self, window: WindowId) -> bool {
        !self.is_minimised(window) && self.is_on_visible_workspace(window)
    }

    /// Whether a window is on a visible workspace, minimised or not.
    pub fn is_on_visible_workspace(&self, window: WindowId) -> bool {
        self.place(window).is_some_and(|place| self.active(place.screen) == place.number)
    }

    /// State of the workspaces of all connected outputs.
    pub fn rows(&self) -> Vec<OutputWorkspaces> {
        let row = |(screen, _)| OutputWorkspaces { screen, active: self.active(screen), occupied: 0, urgent: 0 };
        let mut rows: Vec<OutputWorkspaces> = self.screens().map(row).collect();
        for (window, place) in self.homes.keys().filter_map(|window| Some((window, self.place(*window)?))) {
            if let Some(row) = rows.iter_mut().find(|row| row.screen == place.screen) {
                row.occupied |= 1 << place.number.get();
                row.urgent |= u32::from(self.is_urgent(*window)) << place.number.get();
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests;
