//! Title bars of floating windows with server-side decorations, with a close button at the right end. A title bar lies
//! directly above its window and has the window's place in the stacking order. It looks like the
//! [titles](super::titles) above a column with tabs.

use std::ops::RangeInclusive;

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::change_log::ShellRevision;
use super::titles::TITLES;
use super::{Shell, Window, WindowArrangement, WindowId};
use crate::shell::geometry;

/// The part of a title bar at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TitleBarHit {
    pub window: WindowId,
    /// The point is on the close button.
    pub closes: bool,
}

/// The title bars of the visible windows, kept while no window changes. The pointer is compared with them after every
/// frame, and most windows have none.
#[derive(Debug, Default)]
pub(super) struct VisibleTitleBars {
    /// [`Shell::changes`] when the bars were found.
    found_at: Option<ShellRevision>,
    /// Global logical coordinates.
    bars: Vec<Rectangle<i32, Logical>>,
}

/// Heights, in logical pixels, of what a client may draw above its window geometry as a title bar. Less is a border or
/// a shadow, and more is no title bar.
const DRAWN_TITLE_BARS: RangeInclusive<i32> = 20..=100;

/// Height of the title bar that a client draws above its window geometry, in logical pixels; 0 without one. Both
/// rectangles are in coordinates of its root surface.
///
/// Some clients (alacritty 0.11) declare only their root surface as the geometry, and draw the title bar as a
/// subsurface above it. A geometry that begins elsewhere was declared with the title bar in mind: what lies beyond it
/// is a shadow.
fn drawn_above(geometry: Rectangle<i32, Logical>, extent: Rectangle<i32, Logical>) -> i32 {
    let height = geometry.loc.y.saturating_sub(extent.loc.y);
    if geometry.loc.y == 0 && DRAWN_TITLE_BARS.contains(&height) { height } else { 0 }
}

impl Shell {
    /// Windows with a title bar.
    pub fn windows_with_title_bar(&self) -> impl Iterator<Item = WindowId> {
        let windows = self.effects.title_bars.then(|| self.windows());
        windows.into_iter().flatten().filter(|window| self.bar_height(window) > 0).map(|window| window.id)
    }

    /// Height of a window's title bar, in logical pixels; 0 without one.
    pub(super) fn bar_height(&self, window: &Window) -> i32 {
        let floats = window.applied == WindowArrangement::Floating && window.wanted == WindowArrangement::Floating;
        if floats { self.floating_bar_height(window) } else { 0 }
    }

    /// The same as it will be while the window floats.
    fn floating_bar_height(&self, window: &Window) -> i32 {
        // A window that draws beyond its geometry has its own decoration, whatever mode it negotiated.
        let is_bare = window.has_server_decoration && window.extent == window.geometry;
        if self.effects.title_bars && is_bare && !window.in_strip { TITLES } else { 0 }
    }

    /// Height of the title bar above a window's geometry while it floats, in logical pixels: our own, or one that the
    /// client draws there. 0 without one.
    pub(super) fn height_above(&self, window: &Window) -> i32 {
        match self.floating_bar_height(window) {
            0 => drawn_above(window.geometry, window.extent),
            bar => bar,
        }
    }

    /// Rectangle of a window and its title bar.
    pub(super) fn with_title_bar(&self, window: &Window) -> Rectangle<i32, Logical> {
        let floats = window.applied == WindowArrangement::Floating;
        let (rect, bar) = (window.rect(), if floats { self.height_above(window) } else { 0 });
        Rectangle::new(rect.loc - Point::from((0, bar)), rect.size + Size::from((0, bar)))
    }

    /// The part of `area` that is left for a window below its title bar.
    pub(super) fn below_bar(&self, id: WindowId, area: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let bar = self.window(id).map_or(0, |window| self.height_above(window)).min(area.size.h - 1).max(0);
        Rectangle::new(area.loc + Point::from((0, bar)), Size::from((area.size.w, area.size.h - bar)))
    }

    /// The title bar at `point` (global logical coordinates), if nothing lies above it.
    pub fn bar_at(&self, point: Point<f64, Logical>) -> Option<TitleBarHit> {
        // Called for every frame: where no title bar is, this must cost nothing, even with a thousand windows.
        if !self.effects.title_bars || !self.is_bar_at(point) || self.lock.takes_input() || self.overlays.take_input() {
            return None;
        }
        let bar = |window: &Window| {
            let bar = self.bar_rect(window)?;
            bar.to_f64().contains(point).then(|| TitleBarHit {
                window: window.id,
                closes: point.x >= f64::from(bar.loc.x + bar.size.w - TITLES),
            })
        };
        let output = self.layers.outputs().find(|output| geometry(output).to_f64().contains(point));
        if self.hit_input_popups(point).is_some() || output.is_some_and(|it| self.hit_above(point, it).is_some()) {
            return None;
        }
        for window in self.visible_windows().rev().filter(|window| self.may_be_at(window, point)) {
            if self.hit_window(window, point).is_some() {
                return None;
            }
            if let Some(bar) = bar(window) {
                return Some(bar);
            }
        }
        None
    }

    /// The title bar of a window, in global logical coordinates.
    fn bar_rect(&self, window: &Window) -> Option<Rectangle<i32, Logical>> {
        if self.bar_height(window) == 0 {
            return None;
        }
        let rect = window.rect();
        Some(Rectangle::new(rect.loc - Point::from((0, TITLES)), Size::from((rect.size.w, TITLES))))
    }

    /// Whether a visible window has its title bar at `point`; another window may cover it there.
    fn is_bar_at(&self, point: Point<f64, Logical>) -> bool {
        let visible = || self.visible_windows().filter_map(|window| self.bar_rect(window));
        let mut known = self.title_bars.borrow_mut();
        if known.found_at != Some(self.changes()) {
            known.found_at = Some(self.changes());
            known.bars.clear();
            known.bars.extend(visible());
        }
        debug_assert!(visible().eq(known.bars.iter().copied()), "a window changed its title bar and was not counted");
        known.bars.iter().any(|bar| bar.to_f64().contains(point))
    }
}
