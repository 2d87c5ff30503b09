//! Snapshots of windows that are gone, until they have faded out.
//!
//! A snapshot holds on to the buffers that the window showed last. Their client gets them back when the window is not
//! seen any more; one that is gone itself leaves the memory to us.

use smithay::backend::renderer::element::Id;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle};
use smithay::wayland::compositor::{BufferAssignment, SurfaceAttributes};

use super::Fade;
use super::pose::{Look, LookSample, Pose, WindowMotion};
use crate::guard;
use crate::scene::Snapshot;
use crate::shell::Desk;
use crate::shell::effects::Decoration;
use crate::shell::workspaces::Place;
use crate::shell::{Window, WindowId};
use crate::state::State;
use crate::surface::content::SurfaceContent;
use crate::surface::tree;
use upbeat_timing::time::Instant;

/// One surface of a window that is gone.
#[derive(Debug)]
pub struct GhostPart {
    /// What it showed.
    pub content: SurfaceContent,
    /// Where it lay in the root surface's coordinates.
    pub place: tree::Place,
    /// Its name for damage tracking: the surface may come back under its own.
    pub id: Id,
    /// Its name for those who keep what they made of it.
    pub name: Snapshot,
}

/// The last that is seen of a window.
#[derive(Debug)]
pub struct Ghost {
    /// Which window.
    pub window: WindowId,
    /// Its surfaces, topmost first. Popups are gone at once.
    pub parts: Vec<GhostPart>,
    /// The window geometry, in the root surface's coordinates.
    pub geometry: Rectangle<i32, Logical>,
    /// Where the window belonged (global logical coordinates).
    pub rect: Rectangle<i32, Logical>,
    /// How many windows were below it.
    pub below: usize,
    /// The workspace that it was on.
    pub place: Option<Place>,
    /// What was drawn below and around it.
    pub decoration: Decoration,
    /// It is black in pictures of the screen.
    pub kept_out: bool,
    motion: WindowMotion,
    /// When it is not seen any more; `None` before the first latch.
    end: Option<Instant>,
}

impl Ghost {
    /// How it is seen in the frame presented at `present`.
    pub fn at(&self, present: Instant) -> Pose {
        self.motion.at(self.rect, present)
    }

    pub(super) fn pose(&self, present: Instant) -> LookSample {
        self.motion.look(present)
    }

    /// Begins to go, as it was in the frame shown at `start`, unless it did before. Returns whether it begins to move.
    pub(super) fn start(&mut self, close: Option<Fade>, start: Instant) -> bool {
        if self.end.is_some() {
            return false;
        }
        let Some(fade) = close else {
            self.end = Some(Instant::ZERO);
            return false;
        };
        let look = Look::new(fade.style, start, self.motion.look(start), 0.0, fade.scale);
        self.motion.set_look(look);
        self.end = Some(look.settled_by());
        true
    }

    /// Whether there is anything left of it in the frame presented at `present`.
    pub fn is_seen(&self, present: Instant) -> bool {
        self.end.is_none_or(|end| end > present)
    }
}

/// An update of `surface` is about to be applied: one that takes a window's content away leaves a snapshot of it.
pub fn about_to_apply(state: &mut State, surface: &WlSurface) {
    let Some(window) = state.shell.window_of_root(surface).filter(|window| window.mapped) else { return };
    let removes = guard::with_states(surface, |states| {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        matches!(attributes.current().buffer, Some(BufferAssignment::Removed))
    });
    if removes {
        let id = window.id;
        leave(state, id);
    }
}

/// `surface`, or its window, is about to go, with its content.
pub fn about_to_destroy(state: &mut State, surface: &WlSurface) {
    if let Some(id) = state.shell.window_of_root(surface).filter(|window| window.mapped).map(|window| window.id) {
        leave(state, id);
    }
}

/// The window is seen for the last time: what it shows stays until it has faded out.
pub(in crate::shell) fn leave(state: &mut State, id: WindowId) {
    if state.shell.animations.close.is_none() || state.shell.ghosts.iter().any(|ghost| ghost.window == id) {
        return;
    }
    let below = state.shell.windows().position(|window| window.id == id).unwrap_or(0);
    let Some(window) = state.shell.window(id).filter(|window| !window.motion.is_new()) else { return };
    if !state.is_drawn(window.surface()) {
        return;
    }
    let ghost = snapshot(window, below, state.shell.workspaces.place(id));
    if !ghost.parts.is_empty() {
        state.shell.ghosts.push(ghost);
    }
}

fn snapshot(window: &Window, below: usize, place: Option<Place>) -> Ghost {
    let part = |(content, place)| GhostPart { content, place, id: Id::new(), name: Snapshot::default() };
    Ghost {
        window: window.id,
        parts: SurfaceContent::of_tree(window.surface()).into_iter().map(part).collect(),
        geometry: window.geometry,
        rect: window.rect(),
        below,
        place,
        decoration: window.decoration(),
        kept_out: window.is_kept_out(),
        motion: window.motion.clone(),
        end: None,
    }
}
