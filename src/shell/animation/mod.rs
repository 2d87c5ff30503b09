//! Windows that appear, go and change their place by themselves.
//!
//! Everything here is a function of the time at which a frame is *shown*. What the latch finds changed since the one
//! before starts to move in the frame that shows the state before the change, so that the first frame after it moves
//! already; what is in motion and is changed again goes on from where it is in that frame, with its velocity.
//!
//! ```text
//!   refresh      k−1            k            k+1           k+2
//!   change           └ commit ┐
//!   latch             for k ──┴ finds it
//!   shown      the state before  one refresh in   two in …
//!              └ start of the motion
//! ```
//!
//! A window that opens or goes answers nobody: where frames are rendered ahead its motion starts a refresh later
//! ([`Shown::unasked`]), and its first frame that moves is rendered ahead like the others.
//!
//! [`Shell::animate`] is called at every latch; what it starts or drops it leaves in the windows ([`WindowMotion`]) and
//! in the snapshots of windows that are gone ([`Ghost`]). Who draws asks them for a moment.

mod course;
mod ghost;
mod pan;
mod pose;
mod shown;
mod slide;
mod toggle;

pub(super) use ghost::leave;
pub use ghost::{Ghost, GhostPart, about_to_apply, about_to_destroy};
pub use pan::Pans;
pub use pose::{Pose, WindowMotion};
pub use shown::Shown;
pub use slide::{GAP, Slides};
use smithay::output::Output;
use smithay::utils::{Logical, Rectangle};
pub use toggle::Toggle;

use super::overview::Overlays;
use super::workspaces::Place;
use super::{Shell, Window, WindowId};
use crate::shell::geometry;
use upbeat_timing::motion::Style;
use upbeat_timing::time::Instant;

/// When an edge counts as settled, in logical pixels.
const EDGE_TOLERANCE: f64 = 0.25;

/// How windows move. Nothing does by default: motion is what a configuration asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Animations {
    /// How a window appears.
    pub open: Option<Fade>,
    /// How it goes.
    pub close: Option<Fade>,
    /// How it gets to another place or size that nobody dragged it to: maximised, fullscreen, and back.
    pub place: Option<Style>,
    /// How the eye gets to another workspace.
    pub workspace: Option<Style>,
    /// How the overview comes and goes.
    pub overview: Option<Style>,
    /// How the list of shortcuts and notices do.
    pub help: Option<Style>,
}

/// How a window appears or goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fade {
    /// How opacity and size change.
    pub style: Style,
    /// The share of its size that it has while it cannot be seen.
    pub scale: f64,
}

impl Shell {
    /// Starts what changed since the last latch, and drops what has come to its end. Returns whether something starts
    /// that waits.
    pub fn animate(&mut self, shown: Shown) -> bool {
        if self.is_still() {
            return false;
        }
        let changes = self.changes();
        // All others rest where they did.
        let changed = self.still.and_then(|still| self.changes_since(still));
        let changed: Option<Vec<WindowId>> = changed.map(Iterator::collect);
        let areas = self.overlays.glides.areas();
        let places = areas.into_iter().map(|(screen, area)| self.places(screen, area)).collect();
        let Shell { windows, ghosts, animations, drag, slides, pans, workspaces, overlays, strips, .. } = self;
        slides.follow(animations.workspace, shown, workspaces, strips.are_spaces_vertical());
        pans.follow(animations.place, shown);
        overlays.overview.follow(animations.overview, shown);
        overlays.glides.follow(animations.overview, shown, places);
        if !overlays.overview.is_on() && !overlays.overview.is_seen(shown.at) {
            overlays.glides.end();
        }
        overlays.help.follow(animations.help, shown);
        overlays.notices.shown.follow(animations.help, shown);
        overlays.question.shown.follow(animations.help, shown);
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
            // A window that comes back before it is gone goes on from there.
            let returning = ghosts.iter().position(|ghost| ghost.window == window.id && window.motion.is_new());
            let from = returning.map(|index| ghosts.remove(index).pose(shown.before));
            let held = window.stretch.is_some() || is_held;
            waits |= animations.open.is_some() && window.motion.is_new() && from.is_none();
            let (rect, arrangement) = (window.rect(), window.applied.clone());
            window.motion.follow(animations, shown, rect, arrangement, held, from);
            is_still &= !held && !window.motion.is_moving();
        };
        match changed {
            Some(changed) => {
                changed.into_iter().filter_map(|id| windows.get_mut_quietly(id).map(&mut follow)).collect()
            }
            None => windows.iter_mut_quietly().for_each(&mut follow),
        }
        for ghost in ghosts.iter_mut() {
            waits |= ghost.start(animations.close, shown.unasked);
        }
        ghosts.retain(|ghost| ghost.is_seen(shown.at));
        is_still &= ghosts.is_empty()
            && slides.is_still()
            && pans.is_still()
            && !overlays.is_anything_seen(shown.at)
            && drag.is_none();
        debug_assert!(
            !is_still || self.windows().all(|window| window.motion.rests_at(window.rect(), &window.applied)),
            "a window moves that nobody said had changed"
        );
        self.still = is_still.then_some(changes);
        waits && shown.waits()
    }

    /// Whether all is where it belongs, and stays there until something is [changed](Self::changes).
    pub fn is_still(&self) -> bool {
        self.still == Some(self.changes())
    }

    /// Whether anything on `output` looks different after the frame presented at `present`, by itself.
    pub fn is_moving(&self, output: &Output, present: Instant) -> bool {
        if self.is_still() {
            return false;
        }
        let area = geometry(output);
        let Overlays { overview, help, glides, notices, question, .. } = &self.overlays;
        let toggles = [overview, help, &notices.shown, &question.shown];
        if toggles.into_iter().any(|toggle| toggle.moves_after(present)) || glides.moves_after(present) {
            return true;
        }
        if let Some(screen) = self.workspaces.screen(&output.name()) {
            let place = Place { screen, number: self.workspaces.active(screen) };
            if self.slides.moves_after(screen, present) || self.pans.moves_after(place, present) {
                return true;
            }
        }
        let reaches =
            |pose: Pose, goal: Rectangle<i32, Logical>| pose.rect.overlaps(area.to_f64()) || goal.overlaps(area);
        let windows = self.visible_windows().filter(|window| window.motion.moves_after(present));
        windows.into_iter().any(|window| reaches(window.motion.at(window.rect(), present), window.rect()))
            || self.ghosts.iter().any(|ghost| reaches(ghost.at(present), ghost.rect))
    }

    /// Changes how windows move. What moves already goes on as it began, unless its kind is switched off.
    pub fn set_animations(&mut self, animations: Animations) {
        self.animations = animations;
        if animations.close.is_none() {
            self.ghosts.clear();
        }
        if animations.workspace.is_none() {
            self.slides.end();
        }
        if animations.place.is_none() {
            self.pans.end();
        }
        if animations.overview.is_none() {
            self.overlays.overview.end();
            self.overlays.glides.stop();
        }
        if animations.help.is_none() {
            self.overlays.help.end();
            self.overlays.notices.shown.end();
            self.overlays.question.shown.end();
        }
        for window in self.windows.iter_mut() {
            window.motion.allow(&animations);
        }
    }

    /// Everything is at its end at once: there is nobody to see it get there.
    pub fn end_animations(&mut self) {
        self.ghosts.clear();
        self.slides.end();
        self.pans.end();
        self.overlays.overview.end();
        self.overlays.glides.stop();
        self.overlays.help.end();
        self.overlays.notices.shown.end();
        self.overlays.question.shown.end();
        for window in self.windows.iter_mut() {
            window.motion.allow(&Animations::default());
        }
    }

    /// Snapshots of windows that are gone and are still seen. For tests.
    pub fn ghosts(&self) -> &[Ghost] {
        &self.ghosts
    }
}
