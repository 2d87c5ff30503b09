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

use ahash::HashMap;
use serde::{Deserialize, Serialize};

use super::WindowId;
use super::change_log::{Change, ChangeLog};

/// The number of a workspace: 1 to 9, as there are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct Number(u8);

/// There is no workspace of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the number of a workspace, 1 to 9")]
pub struct NoSuchNumber;

impl Number {
    /// The first one.
    pub const FIRST: Number = Number(1);
    /// The last one.
    pub const LAST: Number = Number(9);

    /// All of them.
    pub fn all() -> impl DoubleEndedIterator<Item = Number> {
        (Self::FIRST.0..=Self::LAST.0).map(Number)
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The one after it; the last one has none.
    pub fn next(self) -> Self {
        Number(self.0 + 1).min(Self::LAST)
    }

    /// The one before it; the first one has none.
    pub fn previous(self) -> Self {
        Number(self.0 - 1).max(Self::FIRST)
    }
}

impl TryFrom<u8> for Number {
    type Error = NoSuchNumber;

    fn try_from(number: u8) -> Result<Self, NoSuchNumber> {
        let number = Number(number);
        if (Self::FIRST..=Self::LAST).contains(&number) { Ok(number) } else { Err(NoSuchNumber) }
    }
}

impl From<Number> for u8 {
    fn from(number: Number) -> u8 {
        number.0
    }
}

impl std::str::FromStr for Number {
    type Err = NoSuchNumber;

    fn from_str(text: &str) -> Result<Self, NoSuchNumber> {
        text.parse::<u8>().map_err(|_| NoSuchNumber)?.try_into()
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

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
}

impl Row {
    /// Whether any window is on workspace `number`.
    pub const fn is_occupied(&self, number: Number) -> bool {
        self.occupied & 1 << number.get() != 0
    }
}

#[derive(Clone, Debug)]
struct Known {
    screen: Screen,
    name: String,
    active: Number,
    connected: bool,
}

/// All workspaces of all outputs.
#[derive(Clone, Debug, Default)]
pub struct Workspaces {
    /// In the order in which they were plugged in first. One that is unplugged stays while windows are at home there.
    screens: Vec<Known>,
    homes: HashMap<WindowId, Place>,
    last: u32,
    /// Which windows are elsewhere than they were, and whether anything else changed.
    changes: ChangeLog,
}

impl Workspaces {
    /// These outputs are plugged in, and no others.
    pub fn connect<'a>(&mut self, names: impl Iterator<Item = &'a str> + Clone) {
        self.changes.note_all();
        for name in names.clone() {
            if !self.screens.iter().any(|known| known.name == name) {
                self.learn(name);
            }
        }
        for known in &mut self.screens {
            known.connected = names.clone().any(|name| name == known.name);
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

    fn learn(&mut self, name: &str) -> Screen {
        self.last += 1;
        let screen = Screen(self.last);
        self.screens.push(Known { screen, name: name.to_owned(), active: Number::FIRST, connected: false });
        screen
    }

    fn known(&self, screen: Screen) -> Option<&Known> {
        self.screens.iter().find(|known| known.screen == screen)
    }

    /// A number that is another one whenever what [`rows`](Self::rows) says may have changed.
    pub const fn changes(&self) -> u64 {
        self.changes.number()
    }

    /// The windows that were put anywhere since [`changes`](Self::changes) was `number`; `None` if other workspaces may be
    /// seen since.
    pub(super) fn changes_since(&self, number: u64) -> Option<impl Iterator<Item = Change>> {
        self.changes.since(number)
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
        let screen = screen.unwrap_or_else(|| self.learn(NOWHERE));
        self.put(window, Place { screen, number: self.active(screen) });
    }

    /// A window is on this workspace from now on, and at home there. Nothing happens if the output is not known.
    pub fn put(&mut self, window: WindowId, place: Place) {
        if self.known(place.screen).is_none() {
            return;
        }
        if self.homes.insert(window, place) != Some(place) {
            self.changes.note(Change::Any(window));
        }
    }

    /// A window is gone.
    pub fn remove(&mut self, window: WindowId) {
        if self.homes.remove(&window).is_some() {
            self.changes.note(Change::Any(window));
        }
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

    /// Whether a window is on a workspace that is seen.
    pub fn is_visible(&self, window: WindowId) -> bool {
        self.place(window).is_some_and(|place| self.active(place.screen) == place.number)
    }

    /// All outputs that are plugged in, with what is on them.
    pub fn rows(&self) -> Vec<Row> {
        let row = |(screen, _)| Row { screen, active: self.active(screen), occupied: 0 };
        let mut rows: Vec<Row> = self.screens().map(row).collect();
        for place in self.homes.keys().filter_map(|window| self.place(*window)) {
            if let Some(row) = rows.iter_mut().find(|row| row.screen == place.screen) {
                row.occupied |= 1 << place.number.get();
            }
        }
        rows
    }

    /// Whether any window is on this workspace.
    pub fn is_occupied(&self, place: Place) -> bool {
        self.homes.keys().any(|window| self.place(*window) == Some(place))
    }
}

#[cfg(test)]
mod tests;
