//! The title bar of a window that floats and leaves its decoration to us: above it, as [titles](super::titles) above a column
//! are, but without a distance, with a cross at its right end. What lies above the window lies above it, and what lies below it is below.

use smithay::utils::{Logical, Point, Rectangle, Size};

use super::titles::TITLES;
use super::{Arrangement, Shell, Window, WindowId};
use crate::shell::geometry;

/// What of a title bar is at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Whose it is.
    pub window: WindowId,
    /// It is the cross, which closes the window.
    pub closes: bool,
}

impl Shell {
    /// Windows with a title bar of their own.
    pub fn barred(&self) -> impl Iterator<Item = WindowId> {
        let windows = self.effects.title_bars.then(|| self.windows());
        windows.into_iter().flatten().filter(|window| self.bar_height(window) > 0).map(|window| window.id)
    }

    /// How much higher than itself a window is with its title bar, in logical pixels.
    pub(super) fn bar_height(&self, window: &Window) -> i32 {
        let floats = window.applied == Arrangement::Floating && window.wanted == Arrangement::Floating;
        // What is outside of its geometry is its own decoration, whatever it said.
        let is_bare = window.leaves_decoration && window.extent == window.geometry;
        if self.effects.title_bars && is_bare && floats && !window.in_strip { TITLES } else { 0 }
    }

    /// A window with its title bar.
    pub(super) fn with_bar(&self, window: &Window) -> Rectangle<i32, Logical> {
        let (rect, bar) = (window.rect(), self.bar_height(window));
        Rectangle::new(rect.loc - Point::from((0, bar)), rect.size + Size::from((0, bar)))
    }

    /// What of `area` is left for a window below its title bar.
    pub(super) fn below_bar(&self, id: WindowId, area: Rectangle<i32, Logical>) -> Rectangle<i32, Logical> {
        let bar = self.window(id).map_or(0, |window| self.bar_height(window)).min(area.size.h - 1).max(0);
        Rectangle::new(area.loc + Point::from((0, bar)), Size::from((area.size.w, area.size.h - bar)))
    }

    /// The title bar at `point` (global logical coordinates), if nothing lies above it.
    pub fn bar_at(&self, point: Point<f64, Logical>) -> Option<Bar> {
        // Asked with every frame: what is not shown costs nothing beside a thousand windows.
        if !self.effects.title_bars {
            return None;
        }
        let bar = |window: &Window| {
            let rect = window.rect();
            let above = Rectangle::new(rect.loc - Point::from((0, TITLES)), Size::from((rect.size.w, TITLES)));
            (self.bar_height(window) > 0 && above.to_f64().contains(point))
                .then(|| Bar { window: window.id, closes: point.x >= f64::from(rect.loc.x + rect.size.w - TITLES) })
        };
        if self.lock.takes_input() || self.overlays.take_input() || !self.visible_windows().any(|it| bar(it).is_some())
        {
            return None;
        }
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
}
