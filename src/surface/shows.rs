//! What surfaces ask of the outputs that show them.

use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use upbeat_timing::ahead::Bound;
use upbeat_timing::id::{ClientId, SurfaceId};
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::Instant;

/// What a commit has to do, by its client's pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// Wait for this refresh: it was drawn further ahead.
    pub hold: Option<RefreshIndex>,
    /// The client is called back for its next frame while this one waits to be shown.
    pub runs_ahead: bool,
}

/// When a device had drawn something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finished {
    /// When, or when that was heard of.
    pub at: Instant,
    /// Nobody could say when: it was not later.
    pub at_most: bool,
}

/// A commit with new content, its own or that of synchronised subsurfaces.
#[derive(Clone, Copy, Debug)]
pub struct Commit {
    /// When it came in.
    pub at: Instant,
    /// It has a fifo barrier or a time stamp.
    pub queued: bool,
    /// How many buffers its client has.
    pub buffers: usize,
    /// Not before this moment is it to be seen.
    pub stamp: Option<Instant>,
    /// The refresh that it was drawn for, where its client says so.
    pub bound: Option<Target>,
    /// A device is still drawing it.
    pub unfinished: bool,
    /// Some of it is its own.
    pub is_own: bool,
}

/// The outputs, which show surfaces. It is a trait since `output` knows `surface`, and `surface` may not know `output`.
pub trait ShowsSurfaces {
    /// There is a surface.
    fn surface_made(&mut self, surface: SurfaceId);

    /// A surface is gone, and perhaps its client with it.
    fn surface_gone(&mut self, surface: SurfaceId, client: ClientId, client_left: bool);

    /// Something that `surface` shows has changed.
    fn need(&mut self, surface: &WlSurface);

    /// `surface` shows other content, and nothing else of it has changed. Returns whether that is taken care of; if not, it is
    /// [needed](Self::need).
    fn content_alone(&mut self, surface: &WlSurface) -> bool;

    /// Other surfaces hang on `surface`, or elsewhere.
    fn tree_changed(&mut self, surface: &WlSurface);

    /// An update of `surface` waits: its output has to latch when it is due.
    fn need_when_due(&mut self, surface: &WlSurface);

    /// A gate of `surface` was opened outside a latch: what was behind it is applied.
    fn apply_opened(&mut self, surface: &WlSurface);

    /// A callback was asked for that needs no latch: nothing changed, or the client runs ahead.
    fn callback_wanted(&mut self, surface: &WlSurface);

    /// An update of `surface` was applied that changes nothing, and brought feedback or a fifo barrier, which end with a latch.
    fn latch_wanted(&mut self, surface: &WlSurface);

    /// When the output that shows `surface` chooses the content of the next frame, or of that shown at `wanted`: by then
    /// an update has to be finished to be in it. `None` without outputs.
    fn next_latch_at(&self, surface: &WlSurface, wanted: Option<Instant>) -> Option<Instant>;

    /// The refresh of the target that a commit of `surface` is bound to, if it still holds.
    fn target_of(&self, surface: &WlSurface, bound: &Bound) -> Option<Target>;

    /// A client commits `buffer`: what it shows is looked at if somebody wants to know.
    fn drawn(&mut self, surface: &WlSurface, buffer: &WlBuffer);

    /// A commit with new content came in.
    fn committed(&mut self, surface: &WlSurface, commit: Commit) -> Committed;

    /// A device has drawn what was committed as number `number` of `surface`.
    fn finished(&mut self, surface: &WlSurface, number: u64, at: Finished);

    /// An update of `surface` was applied, or waits, and its client may be one that is called back before it is latched.
    fn committed_ahead(&mut self, surface: &WlSurface);
}
