//! Subsurfaces that follow a device: their place in the tree is the device's, not that of
//! `wl_subsurface.set_position`.
//!
//! The output that shows them sets the place at its latch (`output::scene::followers`); [`tree`](super::tree) reads it
//! here.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use smithay::utils::{Logical, Point};
use smithay::wayland::compositor::SurfaceData;

use super::input_prediction::TrackedDevice;
use upbeat_timing::input_prediction::DeviceHistory;
use upbeat_timing::time::Span;

/// How a follower is moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FollowMode {
    /// It does not move: no device leads it, or it cannot be shown.
    #[default]
    None,
    /// At the latch, with the frame.
    Composed,
    /// At the latch, by an overlay plane: nothing is drawn for it.
    Overlay,
    /// By the cursor plane.
    Cursor,
    /// In the buffer that is being scanned out, ahead of the beam.
    InPlace,
}

/// The kinds of devices that lead a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeadingDevices {
    pub pointer: bool,
    pub touch: bool,
    pub tool: bool,
}

impl LeadingDevices {
    pub const fn contains(self, device: TrackedDevice) -> bool {
        match device {
            TrackedDevice::Pointer => self.pointer,
            TrackedDevice::Touch(_) => self.touch,
            TrackedDevice::Tool(_) => self.tool,
        }
    }
}

/// The client's protocol object of a follower.
pub trait FollowerListener: std::fmt::Debug + Send + Sync {
    /// Tells the client how its surface is moved from now on.
    fn send_mode(&self, means: FollowMode);

    /// Whether the client still has the `wl_seat` whose devices lead it.
    fn has_seat(&self) -> bool;
}

#[derive(Debug)]
pub struct Follower {
    /// The point of the surface that is kept at the device (surface coordinates).
    pub(super) anchor: Point<i32, Logical>,
    devices: LeadingDevices,
    /// How far beyond the device's last report its position is predicted.
    horizon: Span,
    /// Whether the user allows predictions; `false` until known.
    predicts: bool,
    means: FollowMode,
    listener: Arc<dyn FollowerListener>,
}

impl Follower {
    /// A follower of `devices` that is not moved yet; sends that to `listener`.
    pub fn new(devices: LeadingDevices, listener: Arc<dyn FollowerListener>) -> Self {
        listener.send_mode(FollowMode::None);
        let (anchor, horizon) = (Point::default(), DeviceHistory::HORIZON);
        Follower { anchor, devices, horizon, predicts: false, means: FollowMode::None, listener }
    }

    /// The point of the surface that is kept at the device (surface coordinates).
    pub const fn anchor(&self) -> Point<i32, Logical> {
        self.anchor
    }

    pub const fn set_anchor(&mut self, anchor: Point<i32, Logical>) {
        self.anchor = anchor;
    }

    /// How far beyond the device's last report its position is predicted.
    pub const fn allowed_horizon(&self) -> Span {
        if self.predicts { self.horizon } else { Span::ZERO }
    }

    /// Sets whether the user allows predictions.
    pub const fn allow_predictions(&mut self, allowed: bool) {
        self.predicts = allowed;
    }

    pub fn set_horizon(&mut self, horizon: Span) {
        self.horizon = horizon.min(DeviceHistory::HORIZON);
    }

    /// Whether `device` may lead it: it is of the requested kinds, and the client still has its `wl_seat`.
    pub fn is_led_by(&self, device: TrackedDevice) -> bool {
        self.devices.contains(device) && self.listener.has_seat()
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

/// The place of a surface that follows a device.
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
