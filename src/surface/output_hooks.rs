//! The interface from surfaces to the outputs that show them.

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use upbeat_timing::id::{ClientId, SurfaceId};
use upbeat_timing::surface_targets::BoundTarget;
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::Instant;

/// How a commit is handled, by the pacing of its client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitHandling {
    /// The commit waits for this refresh, because it was drawn further ahead.
    pub hold: Option<RefreshIndex>,
    /// The client's callbacks for its next frame are answered while this frame still waits to be shown.
    pub runs_ahead: bool,
}

/// When a device finished drawing a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferFinished {
    /// The time, or the time at which the fence was found signalled.
    pub at: Instant,
    /// The exact time is unknown: it was `at` or earlier.
    pub at_most: bool,
}

/// A commit with new content, its own or that of synchronised subsurfaces.
#[derive(Clone, Copy, Debug)]
pub struct CommitInfo {
    /// When the request came in.
    pub at: Instant,
    /// It has a fifo barrier or a time stamp.
    pub queued: bool,
    /// How many buffers its client has.
    pub buffers: usize,
    /// The earliest time at which it may be shown (`wp_commit_timer`).
    pub stamp: Option<Instant>,
    /// The refresh that it was drawn for, if the client named a target.
    pub bound: Option<Target>,
    /// A device is still drawing the buffer.
    pub unfinished: bool,
    /// At least a part of the content is the surface's own.
    pub is_own: bool,
}

/// Implemented by the outputs. It is a trait because `output` depends on `surface`, so `surface` may not depend on
/// `output`.
pub trait OutputHooks {
    /// A surface was created.
    fn surface_made(&mut self, surface: SurfaceId);

    /// A surface was destroyed. `client_left`: it was its client's last surface.
    fn surface_gone(&mut self, surface: SurfaceId, client: ClientId, client_left: bool);

    /// Schedules a repaint, because the appearance of `surface` has changed.
    fn schedule_repaint(&mut self, surface: &WlSurface);

    /// `surface` has new content, and nothing else of it has changed. Returns whether the content will be drawn in
    /// place; if not, a [repaint](Self::schedule_repaint) has to be scheduled.
    fn draw_in_place(&mut self, surface: &WlSurface) -> bool;

    /// The subsurfaces of `surface` or their positions changed.
    fn tree_changed(&mut self, surface: &WlSurface);

    /// An update of `surface` waits: schedules a latch of its output for when it is due.
    fn schedule_latch_when_due(&mut self, surface: &WlSurface);

    /// A gate of `surface` was opened outside a latch: applies the updates behind it.
    fn apply_opened(&mut self, surface: &WlSurface);

    /// A frame callback was requested that needs no latch: nothing changed, or the client runs ahead.
    fn schedule_callback(&mut self, surface: &WlSurface);

    /// An update of `surface` was applied that changes nothing, but has feedback or a fifo barrier, which end with
    /// a latch.
    fn schedule_latch(&mut self, surface: &WlSurface);

    /// When the output that shows `surface` latches its next frame, or the frame shown at `wanted`: an update has to be
    /// finished by then to be in it. `None` without outputs.
    fn next_latch_at(&self, surface: &WlSurface, wanted: Option<Instant>) -> Option<Instant>;

    /// The refresh of the target that a commit of `surface` is bound to, unless the target was revoked.
    fn target_of(&self, surface: &WlSurface, bound: &BoundTarget) -> Option<Target>;

    /// A client commits `buffer`: its pixels are hashed if the pacer asked for that.
    fn hash_pixels(&mut self, surface: &WlSurface, buffer: &WlBuffer);

    /// A commit with new content came in.
    fn committed(&mut self, surface: &WlSurface, commit: CommitInfo) -> CommitHandling;

    /// A device has finished drawing the buffer of commit `number` of `surface`.
    fn finished(&mut self, surface: &WlSurface, number: u64, at: BufferFinished);

    /// An update of `surface` was applied, or waits, and its client may be due a callback before that update is
    /// latched.
    fn committed_ahead(&mut self, surface: &WlSurface);
}
