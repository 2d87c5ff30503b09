//! Titles above a column with tabs, and title bars: their text, and the window at a point among them.
//!
//! The titles belong to the visible window of the column. They move and fade with it, and have its place in the
//! stacking order. Their picture is drawn once for each change (`output/scene/titles`).

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{Shell, WindowId};
use crate::scene::EffectPicture;
use crate::shell::geometry;

/// Height of titles, in logical pixels: a line of text, its margins, and the gap to the window below.
pub const TITLES: i32 = 28;

/// The gap, which is part of [`TITLES`]. Title bars of floating windows have none.
pub const BELOW: i32 = 4;

/// Text and size of titles.
#[derive(Clone, Debug, PartialEq)]
pub struct TitlesContent {
    /// Titles of all windows of the column, from left to right.
    pub tabs: Vec<WindowTab>,
    /// There is a close button at the right end.
    pub closes: bool,
    /// Size of the whole picture, in physical pixels.
    pub size: (i32, i32),
    /// Physical pixels per logical pixel.
    pub scale: f64,
    /// Radius of the upper corners, in physical pixels.
    pub radius: i32,
}

/// Title of one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowTab {
    pub window: WindowId,
    pub title: String,
    /// Shown where the title cannot be drawn.
    pub app_id: String,
    pub look: TabState,
}

/// State of a window that its title shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabState {
    /// Hidden behind the visible window of the column.
    Behind,
    /// Visible, without the focus.
    Seen,
    /// Visible, with the focus.
    Focused,
    /// The window asks for attention.
    Urgent,
}

/// Titles and their picture.
#[derive(Clone, Debug)]
pub struct RenderedTitles {
    pub content: TitlesContent,
    pub picture: EffectPicture,
}

impl Shell {
    /// Every column with tabs: its visible window, and all its windows.
    pub fn tabbed(&self) -> Vec<(WindowId, Vec<WindowId>)> {
        self.strips.tabbed().filter(|(seen, _)| self.is_tile(*seen)).collect()
    }

    /// The titles above a column of these windows, of which `seen` is visible.
    pub fn titles_of_column(
        &self,
        seen: WindowId,
        windows: &[WindowId],
        scale: f64,
        size: (i32, i32),
    ) -> TitlesContent {
        let tab = |id: &WindowId| {
            let (title, app_id) = self.window(*id).map_or((None, None), |window| (window.title(), window.app_id()));
            let (title, app_id) = (title.unwrap_or_default(), app_id.unwrap_or_default());
            let look = match *id {
                id if self.workspaces.is_urgent(id) => TabState::Urgent,
                id if id != seen => TabState::Behind,
                id if self.focused == Some(id) => TabState::Focused,
                _ => TabState::Seen,
            };
            WindowTab { window: *id, title, app_id, look }
        };
        TitlesContent { tabs: windows.iter().map(tab).collect(), closes: !self.is_tile(seen), size, scale, radius: 0 }
    }

    pub fn titles(&self, id: WindowId) -> Option<&RenderedTitles> {
        self.window(id)?.titles.as_ref()
    }

    pub fn set_titles(&mut self, id: WindowId, titles: Option<RenderedTitles>) {
        if let Some(window) = self.window_mut(id) {
            window.titles = titles;
        }
    }

    /// The window whose tab is at `point` (global logical coordinates), if nothing lies above it.
    pub fn title_at(&self, point: Point<f64, Logical>) -> Option<WindowId> {
        let output = self.layers.outputs().find(|output| geometry(output).to_f64().contains(point));
        let is_covered = self.lock.takes_input()
            || self.overlays.take_input()
            || self.hit_input_popups(point).is_some()
            || output.is_some_and(|output| self.hit_above(point, output).is_some())
            || self.hit_windows(point).is_some();
        let carriers = self.visible_windows().filter(|_| !is_covered);
        let carriers = carriers.filter(|it| it.titles.as_ref().is_some_and(|titles| !titles.content.closes));
        carriers.filter(|window| self.may_be_at(window, point)).find_map(|window| {
            let rect = window.rect();
            let above = Size::from((rect.size.w, TITLES));
            let area = Rectangle::new(rect.loc - Point::from((0, TITLES)), above).to_f64();
            let tabs = &window.titles.as_ref()?.content.tabs;
            let share = (point.x - area.loc.x) / area.size.w.max(1.0);
            area.contains(point).then(|| tabs.get((share * tabs.len() as f64) as usize).map(|tab| tab.window))?
        })
    }
}
