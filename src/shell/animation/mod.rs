//! Animations of windows that open, close, move or change their size.
//!
//! All values here are functions of the time at which a frame is *shown*. The latch compares the state with the state
//! at the previous latch. An animation starts in the frame that shows the state before the change, so that the first
//! frame after it already moves. A change during an animation continues from the current value, with its velocity.
//!
//! ```text
//!   refresh      k−1            k            k+1           k+2
//!   change           └ commit ┐
//!   latch             for k ──┴ finds the change
//!   shown      the state before  one refresh in   two in …
//!              └ start of the motion
//! ```
//!
//! The animation of a window that opens or closes answers no input, so it may start late. Where frames are rendered
//! ahead it starts a refresh later ([`FrameTimes::open_close_start`]), and its first moving frame is rendered ahead
//! like the others.
//!
//! [`Shell::animate`] is called at every latch. It starts and ends animations, whose state is kept in the windows
//! ([`WindowMotion`]) and in the snapshots of closed windows ([`ClosingWindow`]). The scene asks them for a point in
//! time.

mod animated_value;
mod closing_window;
mod frame_times;
mod pan;
mod pose;
mod slide;
mod toggle;

pub(super) use closing_window::keep_snapshot;
pub use closing_window::{ClosingSurface, ClosingWindow, about_to_apply, about_to_destroy};
pub use frame_times::FrameTimes;
pub use pan::ColumnPans;
pub use pose::{WindowMotion, WindowPose};
pub use slide::{GAP, WorkspaceSlides};
use smithay::output::Output;
use smithay::utils::{Logical, Rectangle};
pub use toggle::AnimatedToggle;

use super::overview::Overlays;
use super::workspaces::WorkspaceId;
use super::{Shell, Window, WindowId};
use crate::shell::geometry;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::time::Instant;

/// Distance to the goal, in logical pixels, at which an edge counts as settled.
const EDGE_TOLERANCE: f64 = 0.25;

/// Styles of the animations. By default there are none: animations are enabled in the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnimationStyles {
    pub open: Option<FadeStyle>,
    pub close: Option<FadeStyle>,
    /// Animation of windows that change place or size without being dragged: maximised, fullscreen, and back.
    pub place: Option<MotionStyle>,
    /// Animation of switches between workspaces.
    pub workspace: Option<MotionStyle>,
    /// Animation of the overview when it opens or closes.
    pub overview: Option<MotionStyle>,
    /// Fade of the list of shortcuts, of notices, of questions and of the workspace indicator.
    pub help: Option<MotionStyle>,
}

/// Animation of a window that opens or closes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadeStyle {
    /// Curve of opacity and size.
    pub style: MotionStyle,
    /// Scale at zero opacity, as a share of the window's size.
    pub scale: f64,
}

impl Shell {
    /// Starts animations for the changes since the last latch and drops those that have settled. Returns whether an
    /// animation of a window that opens or closes starts delayed.
    pub fn animate(&mut self, shown: FrameTimes) -> bool {
        if self.is_at_rest() {
            return false;
        }
        let changes = self.changes();
        // Unchanged windows are at rest, so skip them.
        let changed = self.at_rest_since.and_then(|still| self.changes_since(still));
        let changed: Option<Vec<WindowId>> = changed.map(Iterator::collect);
        let areas = self.overlays.overview_animations.areas();
        let places = areas.into_iter().map(|(screen, area)| self.places(screen, area)).collect();
        let Shell {
            windows,
            closing_windows: ghosts,
            animations,
            drag,
            slides,
            pans,
            workspaces,
            overlays,
            strips,
            ..
        } = self;
        slides.update(animations.workspace, shown, workspaces, strips.are_workspaces_vertical());
        pans.update(animations.place, shown);
        overlays.overview.update(animations.overview, shown);
        overlays.overview_animations.update(animations.overview, shown, places);
        if !overlays.overview.is_on() && !overlays.overview.is_seen(shown.present) {
            overlays.overview_animations.end();
        }
        overlays.help.update(animations.help, shown);
        overlays.notices.shown.update(animations.help, shown);
        overlays.question.shown.update(animations.help, shown);
        overlays.indicators.update(animations.help, shown, workspaces, overlays.overview.is_on());
        let mut waits = false;
        let mut is_still = true;
        let mut follow = |window: &mut Window| {
            if !window.mapped {
                window.motion = WindowMotion::default();
                return;
            }
            let is_held = drag.as_ref().is_some_and(|drag| drag.window == window.id);
            if !is_held && window.stretch.is_none() && window.motion.rests_at(window.rect(), &window.applied) {
                return;
            }
            // A window that is mapped again during its fade-out continues from there.
            let returning = ghosts.iter().position(|ghost| ghost.window == window.id && window.motion.is_new());
            let from = returning.map(|index| ghosts.remove(index).fade_sample(shown.previous));
            let held = window.stretch.is_some() || is_held;
            waits |= animations.open.is_some() && window.motion.is_new() && from.is_none();
            let (rect, arrangement) = (window.rect(), window.applied.clone());
            window.motion.update(animations, shown, rect, arrangement, held, from);
            is_still &= !held && !window.motion.is_moving();
        };
        match changed {
            Some(changed) => {
                changed.into_iter().filter_map(|id| windows.get_mut_quietly(id).map(&mut follow)).collect()
            }
            None => windows.iter_mut_quietly().for_each(&mut follow),
        }
        for ghost in ghosts.iter_mut() {
            waits |= ghost.start(animations.close, shown.open_close_start);
        }
        ghosts.retain(|ghost| ghost.is_seen(shown.present));
        is_still &= ghosts.is_empty()
            && slides.is_still()
            && pans.is_still()
            && !overlays.is_anything_seen(shown.present)
            && overlays.indicators.are_still(shown.present)
            && drag.is_none();
        debug_assert!(
            !is_still || self.windows().all(|window| window.motion.rests_at(window.rect(), &window.applied)),
            "a window moves that was not marked as changed"
        );
        self.at_rest_since = is_still.then_some(changes);
        waits && shown.delays_open_close()
    }

    /// Whether all is at rest, and stays at rest until the shell [changes](Self::changes).
    pub fn is_at_rest(&self) -> bool {
        self.at_rest_since == Some(self.changes())
    }

    /// Whether an animation changes `output` after the frame presented at `present`.
    pub fn is_moving(&self, output: &Output, present: Instant) -> bool {
        if self.is_at_rest() {
            return false;
        }
        let area = geometry(output);
        let Overlays { overview, help, overview_animations, notices, question, indicators, .. } = &self.overlays;
        let toggles = [overview, help, &notices.shown, &question.shown];
        if toggles.into_iter().any(|toggle| toggle.moves_after(present)) || overview_animations.moves_after(present) {
            return true;
        }
        if let Some(screen) = self.workspaces.screen(&output.name()) {
            let place = WorkspaceId { screen, number: self.workspaces.active(screen) };
            let fades = indicators.moves_after(screen, present);
            if fades || self.slides.moves_after(screen, present) || self.pans.moves_after(place, present) {
                return true;
            }
        }
        let reaches =
            |pose: WindowPose, goal: Rectangle<i32, Logical>| pose.rect.overlaps(area.to_f64()) || goal.overlaps(area);
        let windows = self.visible_windows().filter(|window| window.motion.moves_after(present));
        windows.into_iter().any(|window| reaches(window.motion.at(window.rect(), present), window.rect()))
            || self.closing_windows.iter().any(|ghost| reaches(ghost.pose_at(present), ghost.rect))
    }

    /// Applies new settings. Running animations continue with their old style, unless their kind is switched off.
    pub fn set_animations(&mut self, animations: AnimationStyles) {
        self.animations = animations;
        if animations.close.is_none() {
            self.closing_windows.clear();
        }
        if animations.workspace.is_none() {
            self.slides.finish();
        }
        if animations.place.is_none() {
            self.pans.finish();
        }
        if animations.overview.is_none() {
            self.overlays.overview.finish();
            self.overlays.overview_animations.finish();
        }
        if animations.help.is_none() {
            self.overlays.help.finish();
            self.overlays.notices.shown.finish();
            self.overlays.question.shown.finish();
            self.overlays.indicators.finish();
        }
        for window in self.windows.iter_mut() {
            window.motion.end_disabled(&animations);
        }
    }

    /// Ends all animations at once, because no output shows them.
    pub fn end_animations(&mut self) {
        self.closing_windows.clear();
        self.slides.finish();
        self.pans.finish();
        self.overlays.overview.finish();
        self.overlays.overview_animations.finish();
        self.overlays.help.finish();
        self.overlays.notices.shown.finish();
        self.overlays.question.shown.finish();
        self.overlays.indicators.finish();
        for window in self.windows.iter_mut() {
            window.motion.end_disabled(&AnimationStyles::default());
        }
    }

    /// Snapshots of closed windows that are still visible. For tests.
    pub fn closing_windows(&self) -> &[ClosingWindow] {
        &self.closing_windows
    }
}
