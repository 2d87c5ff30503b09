//! Subsurfaces that are kept where a pointer is: their place in the tree follows it, not `wl_subsurface.set_position`.
//!
//! Where that is, the output that shows them says at its latch (`output::scene::following`); [`tree`](super::tree) asks here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::SurfaceData;

/// How a follower is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Means {
    /// It is not.
    #[default]
    None,
    /// With the frame, when its content is chosen.
    Composed,
    /// In the picture that is being shown, ahead of the beam.
    InPlace,
}

/// Hears of it.
pub trait FollowerListener: std::fmt::Debug + Send + Sync {
    /// It is moved like this from now on.
    fn tell_means(&self, means: Means);

    /// Whether the pointer that it follows is there.
    fn is_led(&self) -> bool;
}

/// A surface that follows the pointer.
#[derive(Debug)]
pub struct Follower {
    /// The point that is held (surface coordinates).
    pub(super) anchor: Point<i32, Logical>,
    means: Means,
    listener: Arc<dyn FollowerListener>,
}

impl Follower {
    /// One that nothing moves yet; `listener` is told so.
    pub fn new(listener: Arc<dyn FollowerListener>) -> Self {
        listener.tell_means(Means::None);
        Follower { anchor: Point::default(), means: Means::None, listener }
    }

    /// The point that is held (surface coordinates).
    pub const fn anchor(&self) -> Point<i32, Logical> {
        self.anchor
    }

    /// Holds another point.
    pub const fn set_anchor(&mut self, anchor: Point<i32, Logical>) {
        self.anchor = anchor;
    }

    /// Whether the pointer that it follows is there.
    pub fn is_led(&self) -> bool {
        self.listener.is_led()
    }

    /// How it is moved.
    pub const fn means(&self) -> Means {
        self.means
    }

    /// It is moved like this from now on.
    pub fn tell(&mut self, means: Means) {
        if std::mem::replace(&mut self.means, means) != means {
            self.listener.tell_means(means);
        }
    }
}

/// Where a follower is shown from the next frame on, in its parent's coordinates; `None`: where its subsurface is.
#[derive(Debug)]
struct ShownPlace(Mutex<Option<Point<f64, Logical>>>);

/// Surfaces that have such a place. Without any, nobody is asked: whoever has none is found out by a walk through all that is
/// kept for a surface, and trees have thousands.
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

/// Where it is shown, if it follows.
pub fn place(states: &SurfaceData) -> Option<Point<f64, Logical>> {
    if PLACES.load(Ordering::Relaxed) == 0 {
        return None;
    }
    *states.data_map.get::<ShownPlace>()?.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// It is shown there. Returns whether that is another place.
pub fn set_place(states: &SurfaceData, place: Option<Point<f64, Logical>>) -> bool {
    states.data_map.insert_if_missing_threadsafe(ShownPlace::default);
    let Some(shown) = states.data_map.get::<ShownPlace>() else { return false };
    let mut shown = shown.0.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *shown, place) != place
}
