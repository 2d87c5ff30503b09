//! Subsurfaces that follow the pointer: their place in the tree is the pointer's, not that of
//! `wl_subsurface.set_position`.
//!
//! The output that shows them sets the place at its latch (`output::scene::followers`); [`tree`](super::tree) reads it
//! here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::SurfaceData;

/// How a follower is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FollowMode {
    /// It does not move: nothing leads it, or it cannot be shown.
    #[default]
    None,
    /// At the latch, with the frame.
    Composed,
    /// In the buffer that is being scanned out, ahead of the beam.
    InPlace,
}

/// The client's protocol object of a follower.
pub trait FollowerListener: std::fmt::Debug + Send + Sync {
    /// Tells the client how its surface is moved from now on.
    fn send_mode(&self, means: FollowMode);

    /// Whether the client still has the `wl_pointer` that it follows.
    fn has_pointer(&self) -> bool;
}

#[derive(Debug)]
pub struct Follower {
    /// The point of the surface that is kept at the pointer (surface coordinates).
    pub(super) anchor: Point<i32, Logical>,
    means: FollowMode,
    listener: Arc<dyn FollowerListener>,
}

impl Follower {
    /// A follower that is not moved yet; sends that to `listener`.
    pub fn new(listener: Arc<dyn FollowerListener>) -> Self {
        listener.send_mode(FollowMode::None);
        Follower { anchor: Point::default(), means: FollowMode::None, listener }
    }

    /// The point of the surface that is kept at the pointer (surface coordinates).
    pub const fn anchor(&self) -> Point<i32, Logical> {
        self.anchor
    }

    pub const fn set_anchor(&mut self, anchor: Point<i32, Logical>) {
        self.anchor = anchor;
    }

    /// Whether the client still has the `wl_pointer` that it follows.
    pub fn is_led(&self) -> bool {
        self.listener.has_pointer()
    }

    pub const fn means(&self) -> FollowMode {
        self.means
    }

    /// Sets how it is moved from now on, and tells the client if that changed.
    pub fn set_mode(&mut self, means: FollowMode) {
        if std::mem::replace(&mut self.means, means) != means {
            self.listener.send_mode(means);
        }
    }
}

/// Where a follower is shown from the next frame on, in its parent's coordinates; `None`: at its subsurface's position.
#[derive(Debug)]
struct ShownPlace(Mutex<Option<Point<f64, Logical>>>);

/// How many surfaces have such a place. While there is none the lookup is skipped: it walks through all user data of a
/// surface, and trees have thousands of surfaces.
static PLACES: AtomicUsize = AtomicUsize::new(0);

impl Default for ShownPlace {
    fn default() -> Self {
        PLACES.fetch_add(1, Ordering::Relaxed);
        ShownPlace(Mutex::default())
    }
}

impl Drop for ShownPlace {
    fn drop(&mut self) {
        PLACES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The place of a surface that follows the pointer.
pub fn place(states: &SurfaceData) -> Option<Point<f64, Logical>> {
    if PLACES.load(Ordering::Relaxed) == 0 {
        return None;
    }
    *states.data_map.get::<ShownPlace>()?.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the place. Returns whether it changed.
pub fn set_place(states: &SurfaceData, place: Option<Point<f64, Logical>>) -> bool {
    states.data_map.insert_if_missing_threadsafe(ShownPlace::default);
    let Some(shown) = states.data_map.get::<ShownPlace>() else { return false };
    let mut shown = shown.0.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *shown, place) != place
}
