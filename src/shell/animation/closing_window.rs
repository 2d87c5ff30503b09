//! Fade-out of closed windows: a snapshot is drawn until the animation ends.
//!
//! A snapshot keeps the buffers that the window showed last. They are released to the client when the fade-out ends. If
//! the client has exited, their memory belongs to us until then.

use smithay::backend::renderer::element::Id;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Rectangle};
use smithay::wayland::compositor::{BufferAssignment, SurfaceAttributes};

use super::FadeStyle;
use super::pose::{FadeMotion, FadeSample, WindowMotion, WindowPose};
use crate::guard;
use crate::scene::Snapshot;
use crate::shell::ShellOutputs;
use crate::shell::effects::WindowDecoration;
use crate::shell::workspaces::WorkspaceId;
use crate::shell::{Window, WindowId};
use crate::state::State;
use crate::surface::content::SurfaceContent;
use crate::surface::tree;
use upbeat_timing::time::Instant;

/// One surface of a closed window.
#[derive(Debug)]
pub struct ClosingSurface {
    pub content: SurfaceContent,
    /// Position in the root surface's coordinates.
    pub place: tree::SurfacePlace,
    /// Id for damage tracking. Not the surface's own id, because the surface may be mapped again.
    pub id: Id,
    /// Key for caches of this content, such as imported textures.
    pub name: Snapshot,
}

/// Snapshot of a closed window while it fades out.
#[derive(Debug)]
pub struct ClosingWindow {
    pub window: WindowId,
    /// Surfaces of the window, topmost first. Popups vanish at once.
    pub parts: Vec<ClosingSurface>,
    /// The window geometry, in the root surface's coordinates.
    pub geometry: Rectangle<i32, Logical>,
    /// Place of the window (global logical coordinates).
    pub rect: Rectangle<i32, Logical>,
    /// Number of windows below it in the stacking order.
    pub below: usize,
    pub place: Option<WorkspaceId>,
    /// The window's border, shadow and blur.
    pub decoration: WindowDecoration,
    /// The window is black in screenshots and screen recordings.
    pub hidden_from_capture: bool,
    motion: WindowMotion,
    /// End of the fade-out; `None` before the first latch.
    end: Option<Instant>,
}

impl ClosingWindow {
    /// Pose in the frame presented at `present`.
    pub fn pose_at(&self, present: Instant) -> WindowPose {
        self.motion.at(self.rect, present)
    }

    pub(super) fn fade_sample(&self, present: Instant) -> FadeSample {
        self.motion.fade_sample(present)
    }

    /// Starts the fade-out, unless it has started, from the state in the frame shown at `start`. Returns whether an
    /// animation starts.
    pub(super) fn start(&mut self, close: Option<FadeStyle>, start: Instant) -> bool {
        if self.end.is_some() {
            return false;
        }
        let Some(fade) = close else {
            self.end = Some(Instant::ZERO);
            return false;
        };
        let look = FadeMotion::new(fade.style, start, self.motion.fade_sample(start), 0.0, fade.scale);
        self.motion.set_fade(look);
        self.end = Some(look.settled_by());
        true
    }

    /// Whether it is visible in the frame presented at `present`.
    pub fn is_seen(&self, present: Instant) -> bool {
        self.end.is_none_or(|end| end > present)
    }
}

/// Called before an update of `surface` is applied: an update that unmaps a window leaves a snapshot of it.
pub fn about_to_apply(state: &mut State, surface: &WlSurface) {
    let Some(window) = state.shell.window_of_root(surface).filter(|window| window.mapped) else { return };
    let removes = guard::with_states(surface, |states| {
        let mut attributes = states.cached_state.get::<SurfaceAttributes>();
        matches!(attributes.current().buffer, Some(BufferAssignment::Removed))
    });
    if removes {
        let id = window.id;
        keep_snapshot(state, id);
    }
}

/// Called before `surface`, or its window, is destroyed with its content.
pub fn about_to_destroy(state: &mut State, surface: &WlSurface) {
    if let Some(id) = state.shell.window_of_root(surface).filter(|window| window.mapped).map(|window| window.id) {
        keep_snapshot(state, id);
    }
}

/// Keeps a snapshot of a window that is about to be unmapped, until it has faded out.
pub(in crate::shell) fn keep_snapshot(state: &mut State, id: WindowId) {
    if state.shell.animations.close.is_none() || state.shell.closing_windows.iter().any(|ghost| ghost.window == id) {
        return;
    }
    let below = state.shell.windows().position(|window| window.id == id).unwrap_or(0);
    let Some(window) = state.shell.window(id).filter(|window| !window.motion.is_new()) else { return };
    if !state.is_drawn(window.surface()) {
        return;
    }
    let ghost = snapshot(window, below, state.shell.workspaces.place(id));
    if !ghost.parts.is_empty() {
        state.shell.closing_windows.push(ghost);
    }
}

fn snapshot(window: &Window, below: usize, place: Option<WorkspaceId>) -> ClosingWindow {
    let part = |(content, place)| ClosingSurface { content, place, id: Id::new(), name: Snapshot::default() };
    ClosingWindow {
        window: window.id,
        parts: SurfaceContent::of_tree(window.surface()).into_iter().map(part).collect(),
        geometry: window.geometry,
        rect: window.rect(),
        below,
        place,
        decoration: window.decoration(),
        hidden_from_capture: window.is_hidden_from_capture(),
        motion: window.motion.clone(),
        end: None,
    }
}
