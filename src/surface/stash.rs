//! Keeps uncommitted state of a client out of a commit that is not its own.
//!
//! When a parent commits, Smithay 0.7 commits the *pending* state of its synchronised subsurfaces with it: a buffer
//! that was attached but not committed would be shown. Around such a commit the pending state of these subsurfaces is
//! put aside and replaced by the state that they committed last.

use smithay::reexports::wayland_server::protocol::wl_callback::WlCallback;
use smithay::reexports::wayland_server::protocol::wl_output::Transform;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::{
    BufferAssignment, Cacheable, CachedState, Damage, RegionAttributes, SurfaceAttributes, SurfaceData,
};
use smithay::wayland::fifo::FifoCachedState;
use smithay::wayland::presentation::{PresentationFeedbackCachedState, PresentationFeedbackCallback};
use smithay::wayland::viewporter::ViewportCachedState;

use super::background::BackgroundEffects;
use super::opacity::Opacity;
use super::pacing_state::{PacingState, PendingTarget};
use super::scroll::ViewState;
use super::tree::SubsurfaceState;

use crate::guard;

/// State that stays from one commit to the next.
#[derive(Clone, Debug)]
pub(super) struct PersistentState {
    scale: i32,
    transform: Transform,
    opaque: Option<RegionAttributes>,
    input: Option<RegionAttributes>,
    viewport: ViewportCachedState,
    children: SubsurfaceState,
    pacing: PacingState,
    view: ViewState,
    opacity: Opacity,
    background: BackgroundEffects,
}

/// State that a commit uses up.
#[derive(Debug, Default)]
struct OneShotState {
    buffer: Option<BufferAssignment>,
    delta: Option<Point<i32, Logical>>,
    damage: Vec<Damage>,
    callbacks: Vec<WlCallback>,
    feedback: Vec<PresentationFeedbackCallback>,
    fifo: FifoCachedState,
    target: PendingTarget,
}

/// The uncommitted state of one surface, put aside.
#[derive(Debug)]
pub(super) struct StashedState {
    surface: WlSurface,
    lasting: PersistentState,
    once: OneShotState,
}

#[derive(Clone, Copy, Debug)]
enum CachedVersion {
    Pending,
    Current,
}

impl CachedVersion {
    fn of<T: Cacheable>(self, cached: &mut CachedState<T>) -> &mut T {
        match self {
            CachedVersion::Pending => cached.pending(),
            CachedVersion::Current => cached.current(),
        }
    }

    fn copy<T: Cacheable + Clone + Send + 'static>(self, states: &SurfaceData) -> T {
        self.of(&mut states.cached_state.get::<T>()).clone()
    }
}

impl PersistentState {
    /// Copies the pending state.
    pub fn pending(states: &SurfaceData) -> Self {
        Self::of(states, CachedVersion::Pending)
    }

    /// Copies the applied state: the best guess for a surface that has not committed as a subsurface yet.
    fn current(states: &SurfaceData) -> Self {
        Self::of(states, CachedVersion::Current)
    }

    fn of(states: &SurfaceData, version: CachedVersion) -> Self {
        let (scale, transform, opaque, input) = {
            let mut attributes = states.cached_state.get::<SurfaceAttributes>();
            let of = version.of(&mut attributes);
            (of.buffer_scale, of.buffer_transform, of.opaque_region.clone(), of.input_region.clone())
        };
        PersistentState {
            scale,
            transform,
            opaque,
            input,
            viewport: version.copy(states),
            children: version.copy(states),
            pacing: version.copy(states),
            view: version.copy(states),
            opacity: version.copy(states),
            background: version.copy(states),
        }
    }

    /// Makes it the pending state.
    fn put(self, states: &SurfaceData) {
        {
            let mut attributes = states.cached_state.get::<SurfaceAttributes>();
            let pending = attributes.pending();
            pending.buffer_scale = self.scale;
            pending.buffer_transform = self.transform;
            pending.opaque_region = self.opaque;
            pending.input_region = self.input;
        }
        *states.cached_state.get::<ViewportCachedState>().pending() = self.viewport;
        *states.cached_state.get::<SubsurfaceState>().pending() = self.children;
        *states.cached_state.get::<PacingState>().pending() = self.pacing;
        *states.cached_state.get::<ViewState>().pending() = self.view;
        *states.cached_state.get::<Opacity>().pending() = self.opacity;
        *states.cached_state.get::<BackgroundEffects>().pending() = self.background;
    }
}

impl OneShotState {
    /// Swaps it with the pending state.
    fn exchange(&mut self, states: &SurfaceData) {
        {
            let mut attributes = states.cached_state.get::<SurfaceAttributes>();
            let pending = attributes.pending();
            std::mem::swap(&mut pending.buffer, &mut self.buffer);
            std::mem::swap(&mut pending.buffer_delta, &mut self.delta);
            std::mem::swap(&mut pending.damage, &mut self.damage);
            std::mem::swap(&mut pending.frame_callbacks, &mut self.callbacks);
        }
        let mut feedback = states.cached_state.get::<PresentationFeedbackCachedState>();
        std::mem::swap(&mut feedback.pending().callbacks, &mut self.feedback);
        std::mem::swap(states.cached_state.get::<FifoCachedState>().pending(), &mut self.fifo);
        std::mem::swap(states.cached_state.get::<PendingTarget>().pending(), &mut self.target);
    }
}

/// Puts the uncommitted state of `surface` aside. `committed`: the state that it committed last, if it ever did as a
/// subsurface.
pub(super) fn hide(surface: &WlSurface, committed: Option<PersistentState>) -> StashedState {
    guard::with_states(surface, |states| {
        let lasting = PersistentState::pending(states);
        committed.unwrap_or_else(|| PersistentState::current(states)).put(states);
        let mut once = OneShotState::default();
        once.exchange(states);
        StashedState { surface: surface.clone(), lasting, once }
    })
}

impl StashedState {
    /// Makes it the pending state again.
    pub fn restore(mut self) {
        guard::with_states(&self.surface, |states| {
            self.lasting.put(states);
            self.once.exchange(states);
        });
    }
}
