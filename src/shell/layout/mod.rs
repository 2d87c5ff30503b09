//! Where windows are: pure, no Wayland, no time, no drawing.
//!
//! Every screen has its workspaces; a workspace is a *strip* of columns (longer than the screen is wide, and moved along
//! beneath it), with floating windows above. Whatever a person, a client, an output or the configuration does is one [`Op`];
//! [`Layout::arrange`] says where all windows of a workspace are then, in whole physical pixels.
//!
//! ```text
//!   op ─► Layout::apply ─► strips, views, focus ─► arrange(place) ─► rectangles, order, what is seen
//! ```
//! What holds after every op (the properties in `tests`): each window is in exactly one place; no column is empty; the focus is on
//! what can be seen; tiled windows never overlap and fill the height; the active column lies in the view. Opening and closing a
//! window leaves everything as it was, and so does a screen that is unplugged and plugged in again.
//!
//! This is what the layout *wants*. What a client has acknowledged, and what is shown of it while it moves, are kept
//! elsewhere (`shell::configure`, `shell::animation`).

mod arrange;
mod column;
pub mod op;
mod screens;
mod share;
mod strip;
#[cfg(test)]
mod tests;
mod workspace;

pub use arrange::Arranged;
pub use op::{Area, Op};

use super::WindowId;
use super::workspaces::{Number, Place, Screen};
use column::Tile;
use op::{Opening, Rect};
use screens::ScreenState;
use workspace::Workspace;

/// All windows of a session, on all workspaces of all screens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// In the order in which they were plugged in first. The first one stands for none, and is never there: what opens before
    /// any screen is at home there.
    screens: Vec<ScreenState>,
    focused: Screen,
}

/// The size of a screen that is not there, in pixels: a common one.
const NOWHERE: (i32, i32) = (1920, 1080);

impl Layout {
    /// Without screens and windows. `nowhere` names no screen: what opens before there is one is at home there.
    pub fn new(nowhere: Screen) -> Self {
        let full = Rect::from_size(NOWHERE.into());
        Layout {
            screens: vec![ScreenState::new(nowhere, Area { full, usable: full, scale: 120, gap: 0 })],
            focused: nowhere,
        }
    }

    /// Does it. What is not possible does nothing.
    pub fn apply(&mut self, op: &Op) {
        match *op {
            Op::Connect(screen, area) => self.connect(screen, area),
            Op::Disconnect(screen) => self.disconnect(screen),
            Op::Resize(screen, area) => self.resize(screen, area),
            Op::Open(window, limits, opening) => self.open(Tile::new(window, limits), opening),
            Op::Close(window) => {
                self.take(window);
            }
            Op::Limit(window, limits) => self.limit(window, limits),
            Op::Show(place) => self.show(place),
            Op::Send(window, place) => self.send(window, place),
            Op::Focus(window) => self.on_place_of(window, true, op),
            Op::SetFullscreen(window, _) | Op::SetFloating(window, ..) | Op::MoveFloating(window, _) => {
                self.on_place_of(window, false, op);
            }
            _ => self.on(self.focused_place(), op),
        }
    }

    /// Where every window of a workspace is, from the lowest to the topmost.
    pub fn arrange(&self, place: Place, into: &mut Vec<Arranged>) {
        into.clear();
        if let Some(screen) = self.state(place.screen) {
            arrange::arrange(screen.workspace(place.number), &screen.area, into);
        }
    }

    /// The window that has the focus.
    pub fn focus(&self) -> Option<WindowId> {
        self.workspace(self.focused_place())?.focus()
    }

    /// The workspace that has the focus.
    pub fn focused_place(&self) -> Place {
        let number = self.state(self.focused).map_or(Number::FIRST, |screen| screen.active);
        Place { screen: self.focused, number }
    }

    /// The workspace of a screen that is seen.
    pub fn shown(&self, screen: Screen) -> Option<Place> {
        let state = self.state(screen).filter(|state| state.is_connected)?;
        Some(Place { screen, number: state.active })
    }

    /// Where a window is; on a screen that is plugged in, if there is one.
    pub fn place_of(&self, window: WindowId) -> Option<Place> {
        let place = |screen: &ScreenState| {
            let number = Number::all().find(|number| screen.workspace(*number).has(window))?;
            Some(Place { screen: screen.screen, number })
        };
        let there = self.screens.iter().filter(|screen| screen.is_connected).find_map(place);
        there.or_else(|| self.screens.iter().find_map(place))
    }

    fn state(&self, screen: Screen) -> Option<&ScreenState> {
        self.screens.iter().find(|known| known.screen == screen)
    }

    fn state_mut(&mut self, screen: Screen) -> Option<&mut ScreenState> {
        self.screens.iter_mut().find(|known| known.screen == screen)
    }

    fn is_connected(&self, screen: Screen) -> bool {
        self.state(screen).is_some_and(|known| known.is_connected)
    }

    fn workspace(&self, place: Place) -> Option<&Workspace> {
        self.state(place.screen).map(|screen| screen.workspace(place.number))
    }

    /// A workspace that a window can be put on: that of a screen that is there, unless none is.
    fn sane(&self, place: Place) -> Place {
        let has_any = self.screens.iter().any(|screen| screen.is_connected);
        if self.is_connected(place.screen) || !has_any && self.state(place.screen).is_some() {
            place
        } else {
            Place { screen: self.focused, ..place }
        }
    }

    fn open(&mut self, tile: Tile, opening: Opening) {
        if self.place_of(tile.window).is_some() {
            return;
        }
        let place = self.sane(opening.place.unwrap_or(self.focused_place()));
        if let Some(screen) = self.state_mut(place.screen) {
            let (workspace, area) = screen.workspace_mut(place.number);
            workspace.open(tile, opening.floating, opening.focused, area);
        }
    }

    fn limit(&mut self, window: WindowId, limits: op::Limits) {
        for screen in &mut self.screens {
            let (workspaces, area) = screen.each();
            for workspace in workspaces {
                workspace.tiles_mut().filter(|tile| tile.window == window).for_each(|tile| tile.limits = limits);
                workspace.settle(area);
            }
        }
    }

    fn show(&mut self, place: Place) {
        let place = self.sane(place);
        self.focused = place.screen;
        if let Some(screen) = self.state_mut(place.screen) {
            screen.active = place.number;
        }
    }

    fn send(&mut self, window: WindowId, place: Place) {
        let place = self.sane(place);
        let Some(from) = self.place_of(window).filter(|from| *from != place) else { return };
        let rect =
            self.workspace(from).and_then(|it| it.floating.iter().find(|floating| floating.tile.window == window));
        let rect = rect.map(|floating| floating.rect);
        let (Some(tile), Some(screen)) = (self.take(window), self.state_mut(place.screen)) else { return };
        let (workspace, area) = screen.workspace_mut(place.number);
        let tile = Tile { guest_of: None, unfloat: None, unfill: None, ..tile };
        workspace.arrive(tile, rect, area);
        workspace.apply(&Op::Focus(window), area);
    }

    /// Takes a window from where it is: from where it is a guest, and from home.
    fn take(&mut self, window: WindowId) -> Option<Tile> {
        self.screens.iter_mut().fold(None, |found, screen| screen.close(window).or(found))
    }

    /// Does what concerns the workspace that a window is on; which is seen from then on, if it is to be.
    fn on_place_of(&mut self, window: WindowId, shown: bool, op: &Op) {
        let Some(place) = self.place_of(window) else { return };
        self.on(place, op);
        if shown {
            self.show(place);
        }
    }

    fn on(&mut self, place: Place, op: &Op) {
        if let Some(screen) = self.state_mut(place.screen) {
            let (workspace, area) = screen.workspace_mut(place.number);
            workspace.apply(op, area);
        }
    }
}
