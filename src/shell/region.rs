//! The part of a screen that a screenshot is taken of: all of it, or one that is picked, from where a button or a finger goes down to where it is let go. Keys, buttons
//! and fingers are for that meanwhile. Escape goes back, and so does a press that does not move.

use smithay::input::keyboard::{Keysym, keysyms};
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::workspaces::Screen;
use super::{popup, spaces};
use crate::shell::{Desk, Hand};
use crate::state::State;
use upbeat_timing::time::{Clock as _, Instant};

/// A smaller part, in logical pixels either way, is a press that did not move.
const SMALLEST: f64 = 3.0;

/// The device that picks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickedWith {
    /// A button of the pointer.
    Pointer,
    /// A finger, by its slot.
    Finger(u32),
}

/// A part of a screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PickedRegion {
    /// The screen.
    pub screen: Screen,
    /// The part, which lies within it (global logical coordinates); `None`: all of it.
    pub area: Option<Rectangle<f64, Logical>>,
    /// When it was picked.
    pub since: Instant,
}

#[derive(Clone, Copy, Debug)]
struct Stroke {
    with: PickedWith,
    screen: Screen,
    /// Where all of it has to lie.
    within: Rectangle<f64, Logical>,
    from: Point<f64, Logical>,
    to: Point<f64, Logical>,
}

impl Stroke {
    fn area(&self) -> Rectangle<f64, Logical> {
        let (start, end) = (self.within.loc, self.within.loc + self.within.size.to_point());
        let inside = |point: Point<f64, Logical>| (point.x.clamp(start.x, end.x), point.y.clamp(start.y, end.y));
        let ((ax, ay), (bx, by)) = (inside(self.from), inside(self.to));
        let size = Size::from(((ax - bx).abs(), (ay - by).abs()));
        Rectangle::new(Point::from((ax.min(bx), ay.min(by))), size)
    }
}

/// The state of picking.
#[derive(Debug, Default)]
pub struct RegionPick {
    is_on: bool,
    stroke: Option<Stroke>,
    /// It is taken as soon as the screen shows nothing of the picking any more, and no cursor.
    picked: Option<PickedRegion>,
}

impl RegionPick {
    /// Whether a part is being picked.
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// The part so far.
    pub fn area(&self) -> Option<Rectangle<f64, Logical>> {
        self.stroke.map(|stroke| stroke.area())
    }

    /// The part that was picked last and is not taken yet.
    pub const fn picked(&self) -> Option<PickedRegion> {
        self.picked
    }
}

/// Lets the user pick a part of the screen.
pub fn begin(state: &mut State) {
    if state.shell.lock.takes_input() || state.shell.drag.is_some() || spaces::current_screen(state).is_none() {
        return;
    }
    popup::dismiss_grabs(state);
    state.shell.overlays.region = RegionPick { is_on: true, ..RegionPick::default() };
    changed(state);
}

/// All of `screen` is picked.
pub fn pick_all(state: &mut State, screen: Screen) {
    cancel(state);
    let since = state.clock.now();
    state.shell.overlays.region.picked = Some(PickedRegion { screen, area: None, since });
    state.need_all();
}

/// Nothing is picked, and nothing that was is taken.
pub fn cancel(state: &mut State) {
    let before = std::mem::take(&mut state.shell.overlays.region);
    if before.is_on {
        changed(state);
    } else if before.picked.is_some() {
        // The cursor is back.
        state.need_all();
    }
}

fn changed(state: &mut State) {
    state.refresh_focus();
    state.need_all();
}

fn is_picking(state: &State) -> bool {
    state.shell.overlays.region.is_on && !state.shell.lock.takes_input()
}

/// A key went down. Returns whether it was for this.
pub fn key(state: &mut State, key: Keysym) -> bool {
    if !is_picking(state) || key.is_modifier_key() {
        return false;
    }
    if key.raw() == keysyms::KEY_Escape {
        cancel(state);
    }
    true
}

/// A button or a finger went down at `point` (global logical coordinates). Returns whether it was for this.
pub fn pressed(state: &mut State, point: Point<f64, Logical>, with: PickedWith) -> bool {
    if !is_picking(state) {
        return false;
    }
    let screens: Vec<Screen> = state.shell.workspaces.screens().map(|(screen, _)| screen).collect();
    let mut areas = screens.into_iter().filter_map(|screen| Some((screen, spaces::area_of(state, screen)?.to_f64())));
    let on = areas.find(|(_, area)| area.contains(point));
    let region = &mut state.shell.overlays.region;
    if let Some((screen, within)) = on.filter(|_| region.stroke.is_none()) {
        region.stroke = Some(Stroke { with, screen, within, from: point, to: point });
    }
    true
}

/// The pointer or a finger is at `point`.
pub fn moved(state: &mut State, point: Point<f64, Logical>, with: PickedWith) {
    let stroke = state.shell.overlays.region.stroke.as_mut().filter(|stroke| stroke.with == with);
    if let Some(stroke) = stroke
        && std::mem::replace(&mut stroke.to, point) != point
    {
        state.need_all();
    }
}

/// The buttons or a finger were let go.
pub fn released(state: &mut State, with: PickedWith) {
    let Some(stroke) = state.shell.overlays.region.stroke.filter(|stroke| stroke.with == with) else { return };
    let area = stroke.area();
    cancel(state);
    if area.size.w >= SMALLEST && area.size.h >= SMALLEST {
        let since = state.clock.now();
        state.shell.overlays.region.picked = Some(PickedRegion { screen: stroke.screen, area: Some(area), since });
        state.need_all();
    }
}

/// The fingers that are down count for nothing: what they began to pick is not taken, and another part may be picked.
pub fn fingers_cancelled(state: &mut State) {
    let stroke = &mut state.shell.overlays.region.stroke;
    if stroke.take_if(|stroke| matches!(stroke.with, PickedWith::Finger(_))).is_some() {
        state.need_all();
    }
}
