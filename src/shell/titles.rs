//! Titles above a column of which one window is seen at a time: what they say, and which window lies where among them.
//!
//! The window that is seen carries them: they move, fade and go with it, below whatever lies above it. What they look like is
//! drawn once, when it changes (`output/scene/titles`).

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::{Shell, WindowId};
use crate::scene::Picture;
use crate::shell::geometry;

/// How high titles are above columns with tabs, in logical pixels: a line of text, what is around it, and some distance to the
/// window below.
pub const TITLES: i32 = 28;

/// So much of that is the distance; title bars of windows that float have none.
pub const BELOW: i32 = 4;

/// What they say, and how large they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Says {
    /// Every window of the column, from left to right, with its title.
    pub tabs: Vec<Tab>,
    /// There is a cross at the right end.
    pub closes: bool,
    /// All of them, in physical pixels.
    pub size: (i32, i32),
    /// Physical pixels for one logical one.
    pub scale: f64,
    /// The radius of the upper corners, in physical pixels.
    pub radius: i32,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab {
    /// Whose it is.
    pub window: WindowId,
    /// What it says.
    pub title: String,
    /// And its program, where the title cannot be written.
    pub app_id: String,
    /// How it looks.
    pub look: TabLook,
}

/// How a title looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TabLook {
    /// Its window is not seen.
    Behind,
    /// It is.
    Seen,
    /// It has the focus.
    Focused,
    /// It wants to be looked at.
    Urgent,
}

/// Titles as they are drawn.
#[derive(Clone, Debug)]
pub struct Titles {
    /// What they say.
    pub says: Says,
    /// What they look like.
    pub picture: Picture,
}

impl Shell {
    /// The windows of every column of which one is seen at a time, that one first.
    pub fn tabbed(&self) -> Vec<(WindowId, Vec<WindowId>)> {
        self.strips.tabbed().filter(|(seen, _)| self.is_tile(*seen)).collect()
    }

    /// What titles above a column with these windows say, of which `seen` is seen.
    pub fn says(&self, seen: WindowId, windows: &[WindowId], scale: f64, size: (i32, i32)) -> Says {
        let tab = |id: &WindowId| {
            let (title, app_id) = self.window(*id).map_or((None, None), |window| (window.title(), window.app_id()));
            let (title, app_id) = (title.unwrap_or_default(), app_id.unwrap_or_default());
            let look = match *id {
                id if self.workspaces.is_urgent(id) => TabLook::Urgent,
                id if id != seen => TabLook::Behind,
                id if self.focused == Some(id) => TabLook::Focused,
                _ => TabLook::Seen,
            };
            Tab { window: *id, title, app_id, look }
        };
        Says { tabs: windows.iter().map(tab).collect(), closes: !self.is_tile(seen), size, scale, radius: 0 }
    }

    /// The titles that a window carries.
    pub fn titles(&self, id: WindowId) -> Option<&Titles> {
        self.window(id)?.titles.as_ref()
    }

    /// A window carries these titles from now on, or none.
    pub fn set_titles(&mut self, id: WindowId, titles: Option<Titles>) {
        if let Some(window) = self.window_mut(id) {
            window.titles = titles;
        }
    }

    /// Whose title is at `point` (global logical coordinates), if nothing lies above it.
    pub fn title_at(&self, point: Point<f64, Logical>) -> Option<WindowId> {
        let output = self.layers.outputs().find(|output| geometry(output).to_f64().contains(point));
        let is_covered = self.lock.takes_input()
            || self.overlays.take_input()
            || self.hit_input_popups(point).is_some()
            || output.is_some_and(|output| self.hit_above(point, output).is_some())
            || self.hit_windows(point).is_some();
        let carriers = self.visible_windows().filter(|_| !is_covered);
        let carriers = carriers.filter(|it| it.titles.as_ref().is_some_and(|titles| !titles.says.closes));
        carriers.filter(|window| self.may_be_at(window, point)).find_map(|window| {
            let rect = window.rect();
            let above = Size::from((rect.size.w, TITLES));
            let area = Rectangle::new(rect.loc - Point::from((0, TITLES)), above).to_f64();
            let tabs = &window.titles.as_ref()?.says.tabs;
            let share = (point.x - area.loc.x) / area.size.w.max(1.0);
            area.contains(point).then(|| tabs.get((share * tabs.len() as f64) as usize).map(|tab| tab.window))?
        })
    }
}
