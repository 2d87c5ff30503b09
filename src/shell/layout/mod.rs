//! Tiling layout: scrollable strips of columns, and floating windows. Pure: no Wayland, no time, no drawing.
//!
//! Every screen has its workspaces. A workspace is a *strip* of columns, which may be wider than the screen and scrolls
//! horizontally, with floating windows above. Every action of a user, a client, an output or the configuration is an
//! [`LayoutOp`]. [`TilingLayout::arrange`] gives the rectangles of all windows of a workspace, in whole physical
//! pixels.
//!
//! ```text
//!   op ─► TilingLayout::apply ─► strips, views, focus ─► arrange(place) ─► rectangles, order, visibility
//! ```
//! Invariants after every op (the properties in `tests`): each window is in exactly one place; no column is empty; the
//! focused window is visible; tiled windows never overlap and fill the height; the active column lies in the view.
//! Opening and closing a window restores the previous state, and so does unplugging a screen and plugging it in again.
//!
//! The layout is the *intended* state. The state that a client has acknowledged, and the picture during an animation,
//! are kept elsewhere (`shell::configure`, `shell::animation`).

mod arrange;
mod column;
mod divide;
mod drop_target;
pub mod op;
mod renumber;
mod screens;
mod strip;
#[cfg(test)]
mod tests;
mod workspace;

pub use arrange::ArrangedWindow;
pub use op::{DropTarget, LayoutArea, LayoutOp, RestorePosition};
pub use strip::StripScroll;
pub use workspace::ActiveColumn;

use smithay::utils::{Physical, Point};

use super::WindowId;
use super::workspaces::{ScreenId, WorkspaceId, WorkspaceNumber};
use column::{LayoutTile, TiledColumn};
use op::{LayoutRect, WindowOpening};
use screens::ScreenState;
use upbeat_record::ipc::message::ColumnPosition;
use workspace::LayoutWorkspace;

/// All windows of a session, on all workspaces of all screens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TilingLayout {
    /// In the order in which they were plugged in first. The first entry is a placeholder that is never connected: it
    /// is the home of windows that open before there is a screen.
    screens: Vec<ScreenState>,
    focused: ScreenId,
}

/// Size of the placeholder screen, in physical pixels: a common size.
const NOWHERE: (i32, i32) = (1920, 1080);

impl TilingLayout {
    /// Without screens and windows. `nowhere` is the placeholder screen, the home of windows that open before there is
    /// a screen.
    pub fn new(nowhere: ScreenId) -> Self {
        let full = LayoutRect::from_size(NOWHERE.into());
        TilingLayout {
            screens: vec![ScreenState::new(nowhere, LayoutArea { full, usable: full, scale: 120, gap: 0, titles: 0 })],
            focused: nowhere,
        }
    }

    /// Applies an op. An op that is not possible does nothing.
    pub fn apply(&mut self, op: &LayoutOp) {
        match *op {
            LayoutOp::Connect(screen, area) => self.connect(screen, area),
            LayoutOp::Disconnect(screen) => self.disconnect(screen),
            LayoutOp::Renumber(renumbering) => self.renumber(&renumbering),
            LayoutOp::Open(window, limits, opening) => self.open(LayoutTile::new(window, limits), opening),
            LayoutOp::Close(window) => {
                self.take(window);
            }
            LayoutOp::SetMinimumSize(window, limits) => self.limit(window, limits),
            LayoutOp::Show(place) => self.show(place),
            LayoutOp::Send(window, place) => self.send(window, place),
            LayoutOp::SendColumn(window, place) => self.send_column(window, place),
            LayoutOp::Focus(window) => self.on_place_of(window, true, op),
            LayoutOp::SetFullscreen(window, _)
            | LayoutOp::SetFloating(window, ..)
            | LayoutOp::MoveFloating(window, _) => {
                self.on_place_of(window, false, op);
            }
            LayoutOp::ScrollTo(place, _) => self.on(place, op),
            LayoutOp::Drop(window, _) | LayoutOp::SetRowEdge(window, _) => self.on_place_of(window, false, op),
            _ => self.on(self.focused_place(), op),
        }
    }

    /// Arranges all windows of a workspace, from the lowest to the topmost.
    pub fn arrange(&self, place: WorkspaceId, into: &mut Vec<ArrangedWindow>) {
        into.clear();
        if let Some(screen) = self.state(place.screen) {
            arrange::arrange(screen.workspace(place.number), &screen.area, into);
        }
    }

    /// The workspace with the focus.
    pub fn focused_place(&self) -> WorkspaceId {
        let number = self.state(self.focused).map_or(WorkspaceNumber::FIRST, |screen| screen.active);
        WorkspaceId { screen: self.focused, number }
    }

    /// The visible workspace of a screen that is plugged in.
    pub fn shown(&self, screen: ScreenId) -> Option<WorkspaceId> {
        let state = self.state(screen).filter(|state| state.is_connected)?;
        Some(WorkspaceId { screen, number: state.active })
    }

    /// The workspace of a window, preferably on a screen that is plugged in.
    pub fn place_of(&self, window: WindowId) -> Option<WorkspaceId> {
        let place = |screen: &ScreenState| {
            let number = WorkspaceNumber::all().find(|number| screen.workspace(*number).has(window))?;
            Some(WorkspaceId { screen: screen.screen, number })
        };
        let there = self.screens.iter().filter(|screen| screen.is_connected).find_map(place);
        there.or_else(|| self.screens.iter().find_map(place))
    }

    /// The window that has the focus when this workspace has it.
    pub fn focus_on(&self, place: WorkspaceId) -> Option<WindowId> {
        self.workspace(place)?.focus()
    }

    /// Every window with its workspace. Windows of unplugged screens come first, and once more where they are guests.
    pub fn windows(&self) -> impl Iterator<Item = (WindowId, WorkspaceId)> {
        let of = |is_connected: bool| self.screens.iter().filter(move |screen| screen.is_connected == is_connected);
        of(false).chain(of(true)).flat_map(|screen| {
            WorkspaceNumber::all().flat_map(move |number| {
                let place = WorkspaceId { screen: screen.screen, number };
                screen.workspace(number).tiles().map(move |tile| (tile.window, place))
            })
        })
    }

    /// Area of a screen that is plugged in.
    pub fn area(&self, screen: ScreenId) -> Option<&LayoutArea> {
        self.state(screen).filter(|known| known.is_connected).map(|known| &known.area)
    }

    /// Screens that are plugged in.
    pub fn screens(&self) -> impl Iterator<Item = ScreenId> {
        self.screens.iter().filter(|known| known.is_connected).map(|known| known.screen)
    }

    /// State of the active column of a workspace, if a tiled window has its focus.
    pub fn active_column(&self, place: WorkspaceId) -> Option<ActiveColumn> {
        self.workspace(place)?.active_column()
    }

    /// Scroll position of a workspace's strip; `None` without columns.
    pub fn view(&self, place: WorkspaceId) -> Option<StripScroll> {
        let screen = self.state(place.screen).filter(|screen| screen.is_connected)?;
        let strip = &screen.workspace(place.number).strip;
        strip.range(&screen.area).map(|(least, most)| StripScroll { at: strip.view, least, most })
    }

    /// The windows of a window's column, from top to bottom; empty if the window is in no column.
    pub fn column_of(&self, window: WindowId) -> Vec<WindowId> {
        let workspace = self.place_of(window).and_then(|place| self.workspace(place));
        let column = workspace.and_then(|it| it.strip.columns.get(it.strip.find(window)?.column));
        column.map_or_else(Vec::new, |column| column.rows.iter().map(|tile| tile.window).collect())
    }

    /// The position of a window on its workspace, to restore it later.
    pub fn restore_position(&self, window: WindowId) -> Option<RestorePosition> {
        self.workspace(self.place_of(window)?)?.restore_position(window)
    }

    /// Whether a window floats above the columns of its workspace.
    pub fn is_floating(&self, window: WindowId) -> bool {
        let workspace = self.place_of(window).and_then(|place| self.workspace(place));
        workspace.is_some_and(|workspace| workspace.floating.iter().any(|floating| floating.tile.window == window))
    }

    /// Where on a workspace a dragged window goes when it is released at `point` (physical pixels from the output's upper
    /// left corner), and the rectangle to mark meanwhile.
    pub fn drop_target(&self, place: WorkspaceId, point: Point<i32, Physical>) -> Option<(DropTarget, op::LayoutRect)> {
        let screen = self.state(place.screen).filter(|screen| screen.is_connected)?;
        drop_target::at(&screen.workspace(place.number).strip, point, &screen.area)
    }

    /// Every tiled window on a screen that is plugged in, with its place. The width is in physical pixels.
    pub fn column_positions(&self) -> impl Iterator<Item = (WindowId, ColumnPosition)> {
        let connected = self.screens.iter().filter(|screen| screen.is_connected);
        let columns = connected.flat_map(|screen| {
            let strips = screen.workspaces().iter().map(|workspace| &workspace.strip.columns);
            strips.flat_map(|columns| (1..).zip(columns)).map(|(number, column)| (number, column, &screen.area))
        });
        columns.flat_map(|(number, column, area)| {
            let (tabs, width) = (column.is_tabbed(area), column.width(area));
            let active = column.active_window();
            (1..).zip(&column.rows).map(move |(row, tile)| {
                let active = active == Some(tile.window);
                (tile.window, ColumnPosition { column: number, row, tabs, active, width })
            })
        })
    }

    /// Every column with tab titles: its visible window, and all its windows from top to bottom.
    pub fn tabbed(&self) -> impl Iterator<Item = (WindowId, Vec<WindowId>)> {
        let connected = self.screens.iter().filter(|screen| screen.is_connected);
        connected.flat_map(|screen| {
            let columns = screen.workspaces().iter().flat_map(|workspace| &workspace.strip.columns);
            let titled = columns.filter(|column| column.titles(&screen.area) > 0);
            titled.filter_map(|column| {
                Some((column.active_window()?, column.rows.iter().map(|tile| tile.window).collect()))
            })
        })
    }

    fn state(&self, screen: ScreenId) -> Option<&ScreenState> {
        self.screens.iter().find(|known| known.screen == screen)
    }

    fn state_mut(&mut self, screen: ScreenId) -> Option<&mut ScreenState> {
        self.screens.iter_mut().find(|known| known.screen == screen)
    }

    fn is_connected(&self, screen: ScreenId) -> bool {
        self.state(screen).is_some_and(|known| known.is_connected)
    }

    fn workspace(&self, place: WorkspaceId) -> Option<&LayoutWorkspace> {
        self.state(place.screen).map(|screen| screen.workspace(place.number))
    }

    /// A workspace on a connected screen: the given place, or the same number on the focused screen. Without connected
    /// screens, a place on a known screen stays as it is.
    fn connected_place(&self, place: WorkspaceId) -> WorkspaceId {
        let has_any = self.screens.iter().any(|screen| screen.is_connected);
        if self.is_connected(place.screen) || !has_any && self.state(place.screen).is_some() {
            place
        } else {
            WorkspaceId { screen: self.focused, ..place }
        }
    }

    fn open(&mut self, tile: LayoutTile, opening: WindowOpening) {
        if self.place_of(tile.window).is_some() {
            return;
        }
        let place = self.connected_place(opening.place.unwrap_or(self.focused_place()));
        if let Some(screen) = self.state_mut(place.screen) {
            let (workspace, area) = screen.workspace_mut(place.number);
            workspace.open(tile, opening, area);
        }
    }

    fn limit(&mut self, window: WindowId, limits: op::MinimumSize) {
        for screen in &mut self.screens {
            let (workspaces, area) = screen.each();
            for workspace in workspaces {
                workspace.tiles_mut().filter(|tile| tile.window == window).for_each(|tile| tile.limits = limits);
                workspace.settle(area);
            }
        }
    }

    fn show(&mut self, place: WorkspaceId) {
        let place = self.connected_place(place);
        self.focused = place.screen;
        if let Some(screen) = self.state_mut(place.screen) {
            screen.active = place.number;
        }
    }

    fn send(&mut self, window: WindowId, place: WorkspaceId) {
        let place = self.connected_place(place);
        let Some(from) = self.place_of(window).filter(|from| *from != place) else { return };
        let rect =
            self.workspace(from).and_then(|it| it.floating.iter().find(|floating| floating.tile.window == window));
        let rect = rect.map(|floating| floating.rect);
        let (Some(tile), Some(screen)) = (self.take(window), self.state_mut(place.screen)) else { return };
        let (workspace, area) = screen.workspace_mut(place.number);
        let tile =
            LayoutTile { guest_of: None, position_before_floating: None, position_before_fullscreen: None, ..tile };
        workspace.add_at_end(tile, rect, area);
        workspace.apply(&LayoutOp::Focus(window), area);
    }

    fn send_column(&mut self, window: WindowId, place: WorkspaceId) {
        let place = self.connected_place(place);
        let Some(from) = self.place_of(window).filter(|from| *from != place) else { return };
        let column = self.workspace(from).and_then(|it| it.strip.columns.get(it.strip.find(window)?.column)).cloned();
        let Some(column) = column else { return self.send(window, place) };
        let taken: Vec<LayoutTile> = column.rows.iter().filter_map(|tile| self.take(tile.window)).collect();
        let rows = taken
            .into_iter()
            .map(|tile| LayoutTile {
                guest_of: None,
                position_before_floating: None,
                position_before_fullscreen: None,
                ..tile
            })
            .collect();
        let (Some(active), Some(screen)) = (column.active_window(), self.state_mut(place.screen)) else { return };
        let (workspace, area) = screen.workspace_mut(place.number);
        workspace.strip.insert(usize::MAX, TiledColumn { rows, is_fullscreen: false, ..column }, area);
        workspace.apply(&LayoutOp::Focus(active), area);
    }

    /// Removes a window from its screen, and from every screen where it is a guest.
    fn take(&mut self, window: WindowId) -> Option<LayoutTile> {
        self.screens.iter_mut().fold(None, |found, screen| screen.close(window).or(found))
    }

    /// Applies an op to the workspace of a window, and shows this workspace if `shown`.
    fn on_place_of(&mut self, window: WindowId, shown: bool, op: &LayoutOp) {
        let Some(place) = self.place_of(window) else { return };
        self.on(place, op);
        if shown {
            self.show(place);
        }
    }

    fn on(&mut self, place: WorkspaceId, op: &LayoutOp) {
        if let Some(screen) = self.state_mut(place.screen) {
            let (workspace, area) = screen.workspace_mut(place.number);
            workspace.apply(op, area);
        }
    }
}
