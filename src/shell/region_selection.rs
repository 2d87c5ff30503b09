//! Selection of the region for a screenshot: a whole screen, or a rectangle drawn with a button or a finger. While the
//! user selects, all keys, buttons and touches are for the selection. Escape and a press without movement cancel it.

use smithay::input::keyboard::{Keysym, keysyms};
use smithay::utils::{Logical, Point, Rectangle, Size};

use super::workspaces::ScreenId;
use super::{popup, workspace_actions};
use crate::shell::{ShellOutputs, ShellSeat};
use crate::state::State;
use upbeat_timing::time::{Clock as _, Instant};

/// Smallest width and height of a region, in logical pixels; anything smaller is a press without movement.
const SMALLEST: f64 = 3.0;

/// The device that draws the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickedWith {
    /// A button of the pointer.
    Pointer,
    /// A finger, by its slot.
    Finger(u32),
}

/// The selected region of a screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PickedRegion {
    pub screen: ScreenId,
    /// Rectangle within the screen (global logical coordinates); `None` for the whole screen.
    pub area: Option<Rectangle<f64, Logical>>,
    /// Time of the selection.
    pub picked_at: Instant,
}

#[derive(Clone, Copy, Debug)]
struct RegionDrag {
    with: PickedWith,
    screen: ScreenId,
    /// Rectangle of the screen, which limits the region.
    within: Rectangle<f64, Logical>,
    from: Point<f64, Logical>,
    to: Point<f64, Logical>,
}

impl RegionDrag {
    fn area(&self) -> Rectangle<f64, Logical> {
        let (start, end) = (self.within.loc, self.within.loc + self.within.size.to_point());
        let inside = |point: Point<f64, Logical>| (point.x.clamp(start.x, end.x), point.y.clamp(start.y, end.y));
        let ((ax, ay), (bx, by)) = (inside(self.from), inside(self.to));
        let size = Size::from(((ax - bx).abs(), (ay - by).abs()));
        Rectangle::new(Point::from((ax.min(bx), ay.min(by))), size)
    }
}

/// State of the selection.
#[derive(Debug, Default)]
pub struct RegionPick {
    is_on: bool,
    stroke: Option<RegionDrag>,
    /// The screenshot is taken as soon as the screen shows neither the selection nor the cursor.
    picked: Option<PickedRegion>,
}

impl RegionPick {
    /// Whether the user is selecting.
    pub const fn is_on(&self) -> bool {
        self.is_on
    }

    /// The region drawn so far.
    pub fn area(&self) -> Option<Rectangle<f64, Logical>> {
        self.stroke.map(|stroke| stroke.area())
    }

    /// The selected region, until its screenshot is taken.
    pub const fn picked(&self) -> Option<PickedRegion> {
        self.picked
    }
}

/// Lets the user select a region.
pub fn begin(state: &mut State) {
    if state.shell.lock.takes_input()
        || state.shell.drag.is_some()
        || workspace_actions::current_screen(state).is_none()
    {
        return;
    }
    popup::dismiss_grabs(state);
    state.shell.overlays.region = RegionPick { is_on: true, ..RegionPick::default() };
    changed(state);
}

/// Selects all of `screen`.
pub fn pick_all(state: &mut State, screen: ScreenId) {
    cancel(state);
    let since = state.clock.now();
    state.shell.overlays.region.picked = Some(PickedRegion { screen, area: None, picked_at: since });
    state.schedule_repaint_all();
}

/// Cancels the selection, and the pending screenshot of an earlier selection.
pub fn cancel(state: &mut State) {
    let before = std::mem::take(&mut state.shell.overlays.region);
    if before.is_on {
        changed(state);
    } else if before.picked.is_some() {
        // Repaint to show the cursor again.
        state.schedule_repaint_all();
    }
}

fn changed(state: &mut State) {
    state.refresh_focus();
    state.schedule_repaint_all();
}

fn is_picking(state: &State) -> bool {
    state.shell.overlays.region.is_on && !state.shell.lock.takes_input()
}

/// Handles a key press. Returns whether the selection used it.
pub fn key(state: &mut State, key: Keysym) -> bool {
    if !is_picking(state) || key.is_modifier_key() {
        return false;
    }
    if key.raw() == keysyms::KEY_Escape {
        cancel(state);
    }
    true
}

/// Handles the press of a button or finger at `point` (global logical coordinates). Returns whether the selection used
/// it.
pub fn pressed(state: &mut State, point: Point<f64, Logical>, with: PickedWith) -> bool {
    if !is_picking(state) {
        return false;
    }
    let screens: Vec<ScreenId> = state.shell.workspaces.screens().map(|(screen, _)| screen).collect();
    let mut areas =
        screens.into_iter().filter_map(|screen| Some((screen, workspace_actions::area_of(state, screen)?.to_f64())));
    let on = areas.find(|(_, area)| area.contains(point));
    let region = &mut state.shell.overlays.region;
    if let Some((screen, within)) = on.filter(|_| region.stroke.is_none()) {
        region.stroke = Some(RegionDrag { with, screen, within, from: point, to: point });
    }
    true
}

/// Handles motion of the pointer or a finger to `point`.
pub fn moved(state: &mut State, point: Point<f64, Logical>, with: PickedWith) {
    let stroke = state.shell.overlays.region.stroke.as_mut().filter(|stroke| stroke.with == with);
    if let Some(stroke) = stroke
        && std::mem::replace(&mut stroke.to, point) != point
    {
        state.schedule_repaint_all();
    }
}

/// Handles the release of the buttons or of a finger.
pub fn released(state: &mut State, with: PickedWith) {
    let Some(stroke) = state.shell.overlays.region.stroke.filter(|stroke| stroke.with == with) else { return };
    let area = stroke.area();
    cancel(state);
    if area.size.w >= SMALLEST && area.size.h >= SMALLEST {
        let since = state.clock.now();
        state.shell.overlays.region.picked =
            Some(PickedRegion { screen: stroke.screen, area: Some(area), picked_at: since });
        state.schedule_repaint_all();
    }
}

/// Called when touches are cancelled: forgets the region drawn by a finger, so that another can be drawn.
pub fn fingers_cancelled(state: &mut State) {
    let stroke = &mut state.shell.overlays.region.stroke;
    if stroke.take_if(|stroke| matches!(stroke.with, PickedWith::Finger(_))).is_some() {
        state.schedule_repaint_all();
    }
}
