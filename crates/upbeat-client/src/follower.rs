//! [`Follower`]: a subsurface that the compositor keeps at a device (`upbeat_late_latch_v1`).

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_seat::WlSeat;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Proxy, WEnum};

use super::bind_global::{IgnoreEvents, bind};
use super::protocol::late_latch::upbeat_follower_v1::{Event, Means, UpbeatFollowerV1};
use super::protocol::late_latch::upbeat_late_latch_manager_v1::{self, Devices, UpbeatLateLatchManagerV1};
use upbeat_timing::time::Span;

/// The kinds of devices that lead a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowDevices {
    /// The pointer of the seat.
    pub pointer: bool,
    /// Fingers on the screen.
    pub touch: bool,
    /// Tablet tools in proximity.
    pub tool: bool,
}

impl FollowDevices {
    /// The pointer, fingers and tablet tools.
    pub const ALL: FollowDevices = FollowDevices { pointer: true, touch: true, tool: true };
    /// The pointer only.
    pub const POINTER: FollowDevices = FollowDevices { pointer: true, touch: false, tool: false };

    fn bits(self) -> Devices {
        let mut devices = Devices::empty();
        devices.set(Devices::Pointer, self.pointer);
        devices.set(Devices::Touch, self.touch);
        devices.set(Devices::Tool, self.tool);
        devices
    }
}

/// How a follower is moved, in order of how late it can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FollowMeans {
    /// It is not moved: it is shown where its subsurface is.
    #[default]
    None,
    /// With the frame, when the frame's content is chosen.
    Composed,
    /// By an overlay plane of the display.
    Overlay,
    /// By the cursor plane of the display.
    Cursor,
    /// In the picture on screen, ahead of the beam.
    InPlace,
}

impl FollowMeans {
    /// Whether the compositor moves the follower.
    pub fn is_moved(self) -> bool {
        self != FollowMeans::None
    }
}

/// Keeps a subsurface at the newest position of a device, while the client sleeps.
///
/// The compositor moves the subsurface while the device is on its window. Otherwise, and on compositors without
/// `upbeat_late_latch_v1`, [`means`](Self::means) is [`FollowMeans::None`] and the subsurface is shown where
/// `wl_subsurface.set_position` puts it: then the program moves it with each event, and commits its parent.
///
/// The subsurface should have an empty input region, so that the device stays on the surface below.
///
/// ```no_run
/// # use upbeat_client::Follower;
/// # use wayland_client::protocol::{wl_subsurface::WlSubsurface, wl_surface::WlSurface};
/// # fn on_motion(follower: &Follower, tip: &WlSubsurface, window: &WlSurface, x: i32, y: i32) {
/// // The pointer moved. The anchor of the tip is (8, 8).
/// if !follower.means().is_moved() {
///     tip.set_position(x - 8, y - 8);
///     window.commit();
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Follower {
    state: Arc<FollowerEventHandler>,
    object: Option<UpbeatFollowerV1>,
}

impl Follower {
    /// Has `subsurface` follow these devices of `seat`. It must have the role of a subsurface already, and can have
    /// only one follower: otherwise the compositor ends the connection with a protocol error. Without any kind of
    /// device nothing follows.
    pub fn new(
        connection: &Connection,
        globals: &GlobalList,
        subsurface: &WlSurface,
        seat: &WlSeat,
        devices: FollowDevices,
    ) -> Self {
        let handler = Arc::new(FollowerEventHandler::default());
        let devices = devices.bits();
        let manager: Option<UpbeatLateLatchManagerV1> =
            if devices.is_empty() { None } else { bind(globals, 1, Arc::new(IgnoreEvents)) };
        let object = manager.and_then(|manager| {
            let request = upbeat_late_latch_manager_v1::Request::GetFollower {
                surface: subsurface.clone(),
                seat: seat.clone(),
                devices: WEnum::Value(devices),
            };
            let object = manager.send_constructor(request, handler.clone()).ok();
            manager.destroy();
            object
        });
        // A connection error is reported by the program's next read.
        let _ = connection.flush();
        Follower { state: handler, object }
    }

    /// Whether the compositor offers followers at all.
    pub const fn is_offered(&self) -> bool {
        self.object.is_some()
    }

    /// Sets the point that is held at the device, in coordinates of the subsurface. It is its top left corner at first.
    pub fn set_anchor(&self, x: i32, y: i32) {
        if let Some(object) = &self.object {
            object.set_anchor(x, y);
        }
    }

    /// Sets how far the shown position may be predicted beyond the last report of the device. With zero the follower is
    /// shown at the last report.
    pub fn set_horizon(&self, horizon: Span) {
        if let Some(object) = &self.object {
            object.set_horizon(horizon.as_nanos().clamp(0, u32::MAX.into()) as u32);
        }
    }

    /// How the follower is moved at present, by the events read from the connection so far.
    pub fn means(&self) -> FollowMeans {
        *self.state.lock()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(object) = &self.object {
            object.destroy();
        }
    }
}

fn means_of(event: Event) -> FollowMeans {
    let Event::Means { means } = event;
    match means {
        WEnum::Value(Means::None) => FollowMeans::None,
        WEnum::Value(Means::Overlay) => FollowMeans::Overlay,
        WEnum::Value(Means::Cursor) => FollowMeans::Cursor,
        WEnum::Value(Means::InPlace) => FollowMeans::InPlace,
        // Later means, of which this version does not know, move it as well.
        WEnum::Value(Means::Composed) | WEnum::Unknown(_) => FollowMeans::Composed,
    }
}

#[derive(Debug, Default)]
struct FollowerEventHandler(Mutex<FollowMeans>);

impl FollowerEventHandler {
    fn lock(&self) -> MutexGuard<'_, FollowMeans> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ObjectData for FollowerEventHandler {
    fn event(self: Arc<Self>, backend: &Backend, message: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        let connection = Connection::from_backend(backend.clone());
        if let Ok((_, event)) = UpbeatFollowerV1::parse_event(&connection, message) {
            *self.lock() = means_of(event);
        }
        None
    }

    fn destroyed(&self, _: ObjectId) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_means_of_the_protocol_is_reported() {
        assert_eq!(FollowMeans::default(), FollowMeans::None, "before the first event, and where nothing is offered");
        let all = [Means::None, Means::Composed, Means::Overlay, Means::Cursor, Means::InPlace];
        let expected =
            [FollowMeans::None, FollowMeans::Composed, FollowMeans::Overlay, FollowMeans::Cursor, FollowMeans::InPlace];
        assert_eq!(all.map(|means| means_of(Event::Means { means: WEnum::Value(means) })), expected);
        assert!(expected.is_sorted() && expected.iter().filter(|means| means.is_moved()).count() == 4);
        assert!(means_of(Event::Means { means: WEnum::Unknown(17) }).is_moved());
    }

    #[test]
    fn devices_have_the_bits_of_the_protocol() {
        assert_eq!(FollowDevices::POINTER.bits().bits(), 1);
        assert_eq!(FollowDevices { pointer: false, touch: true, tool: false }.bits().bits(), 2);
        assert_eq!(FollowDevices { pointer: false, touch: false, tool: true }.bits().bits(), 4);
        assert_eq!(FollowDevices::ALL.bits().bits(), 7);
    }
}
