//! Which window is on which workspace: numbers and names, no Wayland.
//!
//! Every output has the same nine workspaces, numbered; one of them is seen. They are fixed, not made on demand: a
//! number is a place that is remembered, nothing renumbers itself when a window closes, and an output that goes needs no
//! rule for merging lists. Its windows are then on the workspaces of the same numbers of another output; where they are
//! at home is remembered, and they return with it.
//!
//! ```text
//!            plugged in                 DP-2 unplugged             DP-2 is back
//!   DP-1   [1: a] 2     3         [1: a] 2: b  3: c               [1: a] 2     3
//!   DP-2    1    [2: b] 3: c       (remembered: b at home on 2)    1    [2: b] 3: c
//! ```

use ahash::{HashMap, HashSet};

use super::WindowId;
use super::change_log::ChangeLog;
pub use upbeat_record::ipc::message::workspace::{NoSuchNumber, Number};

use crate::revision::Revision;

/// The name of no output: windows that come before any are there.
const NOWHERE: &str = "";

/// Names an output, also while it is unplugged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen(pub u32);

/// A workspace of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which output.
    pub screen: Screen,
    /// Which of its workspaces.
    pub number: Number,
}

/// The workspaces of one output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Which output.
    pub screen: Screen,
    /// The workspace that is seen.
    pub active: Number,
    /// A bit for each that has windows, at its number.
    occupied: u16,
    /// The same for those that have an urgent one.
    urgent: u16,
}

impl Row {
    /// Whether any window is on workspace `number`.
    pub const fn is_occupied(&self, number: Number) -> bool {
        self.occupied & 1 << number.get() != 0
    }

    /// Whether a window on workspace `number` is urgent.
    pub const fn is_urgent(&self, number: Number) -> bool {
        self.urgent & 1 << number.get() != 0
    }
}

#[derive(Clone, Debug)]
struct Known {
    screen: Screen,
    /// What it is plugged into, or was last.
    name: String,
    /// Which monitor it is, if it says so: that is what it is remembered by.
    monitor: Option<String>,
    active: Number,
    connected: bool,
}

/// All workspaces of all outputs.
#[derive(Clone, Debug, Default)]
pub struct Workspaces {
    /// In the order in which they were plugged in first. One that is unplugged stays while windows are at home there.
    screens: Vec<Known>,
    homes: HashMap<WindowId, Place>,
    /// Windows that want to be looked at.
    urgent: HashSet<WindowId>,
    /// Windows that are not seen though their workspace is.
    minimised: HashSet<WindowId>,
    last: u32,
    /// Which windows are elsewhere than they were, and whether anything else changed.
    changes: ChangeLog,
}

impl Workspaces {
    /// Outputs of these names, with these monitors, are plugged in, and no others. A monitor that was plugged into something
    /// else before is the same.
    pub fn connect_monitors<'a>(&mut self, outputs: impl Iterator<Item = (&'a str, Option<&'a str>)>) {
        self.changes.note_all();
        let were_connected: Vec<Screen> = self.screens().map(|(screen, _)| screen).collect();
        self.screens.iter_mut().for_each(|known| known.connected = false);
        for (name, monitor) in outputs {
            // Of several that say the same each stays where it was.
            let is_it = |known: &Known| !known.connected && known.monitor.as_deref() == monitor;
            let is_there = |known: &Known| is_it(known) && known.name == name;
            let is_elsewhere =
                |known: &Known| is_it(known) && monitor.is_some() && !were_connected.contains(&known.screen);
            let place = self.screens.iter().position(is_there).or_else(|| self.screens.iter().position(is_elsewhere));
            let place = place.unwrap_or_else(|| {
                self.learn(name, monitor);
                self.screens.len() - 1
            });
            let known = &mut self.screens[place];
            known.connected = true;
            known.name = name.to_owned();
        }
        if let Some(first) = self.stand_in() {
            // What came before any output is at home on the first one.
            let nowhere = self.screens.iter().find(|known| known.name == NOWHERE).map(|known| known.screen);
            let homeless = self.homes.values_mut().filter(|home| Some(home.screen) == nowhere);
            homeless.for_each(|home| home.screen = first);
        }
        let Workspaces { screens, homes, .. } = self;
        screens.retain(|known| known.connected || homes.values().any(|home| home.screen == known.screen));
    }

    fn learn(&mut self, name: &str, monitor: Option<&str>) -> Screen {
        self.last += 1;
        let screen = Screen(self.last);
        let (name, monitor) = (name.to_owned(), monitor.map(str::to_owned));
        self.screens.push(Known { screen, name, monitor, active: Number::FIRST, connected: false });
        screen
    }

    fn known(&self, screen: Screen) -> Option<&Known> {
        self.screens.iter().find(|known| known.screen == screen)
    }

    /// Advanced whenever what [`rows`](Self::rows) says may have changed.
    pub const fn changes(&self) -> Revision {
        self.changes.revision()
    }

    /// The windows that were put anywhere since [`changes`](Self::changes) was `earlier`; `None` if other workspaces may be
    /// seen since.
    pub(super) fn changes_since(&self, earlier: Revision) -> Option<impl Iterator<Item = WindowId>> {
        self.changes.since(earlier)
    }

    /// The output of this name, if it is plugged in.
    pub fn screen(&self, name: &str) -> Option<Screen> {
        self.screens.iter().find(|known| known.connected && known.name == name).map(|known| known.screen)
    }

    /// Outputs that are plugged in, with their names.
    pub fn screens(&self) -> impl Iterator<Item = (Screen, &str)> {
        self.screens.iter().filter(|known| known.connected).map(|known| (known.screen, known.name.as_str()))
    }

    /// The name of an output.
    pub fn name(&self, screen: Screen) -> Option<&str> {
        self.known(screen).map(|known| known.name.as_str())
    }

    /// The output that has the workspaces of those that are unplugged.
    fn stand_in(&self) -> Option<Screen> {
        self.screens().next().map(|(screen, _)| screen)
    }

    /// The workspace of `screen` that is seen.
    pub fn active(&self, screen: Screen) -> Number {
        self.known(screen).map_or(Number::FIRST, |known| known.active)
    }

    /// Shows workspace `number` on `screen`; whether it did not before.
    pub fn switch(&mut self, screen: Screen, number: Number) -> bool {
        let known = self.screens.iter_mut().find(|known| known.screen == screen && known.connected);
        let is_another = known.is_some_and(|known| std::mem::replace(&mut known.active, number) != number);
        if is_another {
            self.changes.note_all();
        }
        is_another
    }

    /// A window appears on the workspace that is seen on `screen`, or on any output where there is none.
    pub fn add(&mut self, window: WindowId, screen: Option<Screen>) {
        let screen = screen.filter(|screen| self.known(*screen).is_some()).or_else(|| self.stand_in());
        let screen = screen.or_else(|| self.screens.first().map(|known| known.screen));
        let screen = screen.unwrap_or_else(|| self.learn(NOWHERE, None));
        self.put(window, Place { screen, number: self.active(screen) });
    }

    /// A window is on this workspace from now on, and at home there. Nothing happens if the output is not known.
    pub fn put(&mut self, window: WindowId, place: Place) {
        if self.known(place.screen).is_none() {
            return;
        }
        if self.homes.insert(window, place) != Some(place) {
            self.changes.note(window);
        }
    }

    /// A window is gone.
    pub fn remove(&mut self, window: WindowId) {
        self.urgent.remove(&window);
        self.minimised.remove(&window);
        if self.homes.remove(&window).is_some() {
            self.changes.note(window);
        }
    }

    /// A window wants to be looked at, or was. Returns whether it did not before, or did.
    pub fn set_urgent(&mut self, window: WindowId, urgent: bool) -> bool {
        let is_other = if urgent { self.urgent.insert(window) } else { self.urgent.remove(&window) };
        if is_other {
            self.changes.note(window);
        }
        is_other
    }

    /// Whether it wants to be looked at.
    pub fn is_urgent(&self, window: WindowId) -> bool {
        self.urgent.contains(&window)
    }

    /// A window is minimised, or is not any more. Returns whether that is new.
    pub fn set_minimised(&mut self, window: WindowId, minimised: bool) -> bool {
        let is_other = if minimised { self.minimised.insert(window) } else { self.minimised.remove(&window) };
        if is_other {
            self.changes.note(window);
        }
        is_other
    }

    /// Whether it is minimised.
    pub fn is_minimised(&self, window: WindowId) -> bool {
        self.minimised.contains(&window)
    }

    /// Where a window is at home, though its output may be unplugged.
    pub fn home(&self, window: WindowId) -> Option<Place> {
        self.homes.get(&window).copied()
    }

    /// Where a window is.
    pub fn place(&self, window: WindowId) -> Option<Place> {
        let home = self.home(window)?;
        let connected = self.known(home.screen).is_some_and(|known| known.connected);
        let screen = if connected { home.screen } else { self.stand_in().unwrap_or(home.screen) };
        Some(Place { screen, ..home })
    }

    /// Whether a window is on a workspace that is seen, and is not minimised.
    pub fn is_visible(&self, window: WindowId) -> bool {
        !self.is_minimised(window) && self.is_on_shown(window)
    }

    /// Whether a window is on a workspace that is seen, minimised or not.
    pub fn is_on_shown(&self, window: WindowId) -> bool {
        self.place(window).is_some_and(|place| self.active(place.screen) == place.number)
    }

    /// All outputs that are plugged in, with what is on them.
    pub fn rows(&self) -> Vec<Row> {
        let row = |(screen, _)| Row { screen, active: self.active(screen), occupied: 0, urgent: 0 };
        let mut rows: Vec<Row> = self.screens().map(row).collect();
        for (window, place) in self.homes.keys().filter_map(|window| Some((window, self.place(*window)?))) {
            if let Some(row) = rows.iter_mut().find(|row| row.screen == place.screen) {
                row.occupied |= 1 << place.number.get();
                row.urgent |= u16::from(self.is_urgent(*window)) << place.number.get();
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests;
