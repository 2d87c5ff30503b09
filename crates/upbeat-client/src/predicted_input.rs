//! [`PredictedInput`]: where pointers, fingers and pens will be when a frame is seen, where the compositor says so.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Proxy, WEnum};

use super::binding::{Deaf, bind};
use super::protocol::predicted_input::upbeat_predicted_input_manager_v1::{self, UpbeatPredictedInputManagerV1};
use super::protocol::predicted_input::upbeat_predicted_input_v1::{Axes, Device, Event, UpbeatPredictedInputV1};
use super::wire::instant;
use upbeat_timing::time::{Instant, Span};

/// Predictions that nobody took: more devices than a surface has at once.
const MOST_DEVICES: usize = 64;

/// A device on a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PredictedDevice {
    /// The pointer.
    Pointer,
    /// A finger, by the id of `wl_touch.down`.
    Touch(u32),
    /// A tablet tool, by the low half of its hardware serial.
    Tool(u32),
}

/// Where a device will be. It is a guess: never to be taken for a position that was reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedPoint {
    /// Which.
    pub device: PredictedDevice,
    /// When the frame will be seen that this is for, on the clock of `wp_presentation`.
    pub present: Instant,
    /// Surface-local position.
    pub x: f64,
    /// Surface-local position.
    pub y: f64,
    /// How far off such predictions have been lately, in x (root mean square, pixels).
    pub error_x: f64,
    /// The same in y.
    pub error_y: f64,
}

/// Says, for each frame of a surface, where the devices on it will be when that is seen.
///
/// On compositors without `upbeat_predicted_input_v1`, and where the user does not want it, there is never a prediction: a
/// program draws to the last reported position then, as it does when a device rests. So it is written once for all.
///
/// Like [`FramePacer`](super::FramePacer) it needs no event queue: when a frame is started (by a callback or a target) what
/// was said for that frame has come before.
///
/// ```no_run
/// # use upbeat_client::{FramePacer, PredictedInput};
/// # fn ink_to(_: f64, _: f64) {}
/// # fn draw(pacer: &FramePacer, predicted: &PredictedInput) {
/// while let Some(target) = pacer.next_target() {
///     // Lasting ink goes to what was reported; this goes on from there, and is drawn anew in the next frame.
///     for point in predicted.take() {
///         ink_to(point.x, point.y);
///     }
/// #   let _ = target;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct PredictedInput {
    said: Arc<Listener>,
    object: Option<UpbeatPredictedInputV1>,
}

impl PredictedInput {
    /// Asks for predictions on `surface`, of which there may be one such object.
    pub fn new(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Self {
        let said = Arc::new(Listener::default());
        let manager: Option<UpbeatPredictedInputManagerV1> = bind(globals, 1, Arc::new(Deaf));
        let object = manager.and_then(|manager| {
            let request = upbeat_predicted_input_manager_v1::Request::GetPredictedInput { surface: surface.clone() };
            let object = manager.send_constructor(request, said.clone()).ok();
            manager.destroy();
            object
        });
        // A connection that fails is told of by what the program reads next.
        let _ = connection.flush();
        PredictedInput { said, object }
    }

    /// Whether the compositor can predict at all.
    pub const fn is_offered(&self) -> bool {
        self.object.is_some()
    }

    /// How far predictions may reach beyond the last report of a device; zero for none at all.
    pub fn set_horizon(&self, horizon: Span) {
        if let Some(object) = &self.object {
            object.set_horizon(horizon.as_nanos().clamp(0, u32::MAX.into()) as u32);
        }
    }

    /// Which axes are predicted.
    pub fn set_axes(&self, horizontal: bool, vertical: bool) {
        let mut axes = Axes::empty();
        axes.set(Axes::Horizontal, horizontal);
        axes.set(Axes::Vertical, vertical);
        if let Some(object) = &self.object {
            object.set_axes(axes);
        }
    }

    /// How far predictions reach; zero while there are none.
    pub fn horizon(&self) -> Span {
        self.said.lock().horizon
    }

    /// What was said for the frame that was started last, and was not taken before. Empty while every device rests.
    pub fn take(&self) -> Vec<PredictedPoint> {
        std::mem::take(&mut self.said.lock().points)
    }
}

impl Drop for PredictedInput {
    fn drop(&mut self) {
        if let Some(object) = &self.object {
            object.destroy();
        }
    }
}

/// What was said.
#[derive(Debug, Default)]
struct Said {
    horizon: Span,
    points: Vec<PredictedPoint>,
}

#[derive(Debug, Default)]
struct Listener(Mutex<Said>);

impl Listener {
    fn lock(&self) -> MutexGuard<'_, Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ObjectData for Listener {
    fn event(self: Arc<Self>, backend: &Backend, message: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        let connection = Connection::from_backend(backend.clone());
        if let Ok((_, event)) = UpbeatPredictedInputV1::parse_event(&connection, message) {
            self.lock().hear(event);
        }
        None
    }

    fn destroyed(&self, _: ObjectId) {}
}

impl Said {
    fn hear(&mut self, event: Event) {
        match event {
            Event::Effective { nanoseconds, .. } => self.horizon = Span::from_nanos(i64::from(nanoseconds)),
            Event::Predicted { device, id, tv_sec_hi, tv_sec_lo, tv_nsec, x, y, error_x, error_y } => {
                let device = match device {
                    WEnum::Value(Device::Pointer) => PredictedDevice::Pointer,
                    WEnum::Value(Device::Touch) => PredictedDevice::Touch(id),
                    WEnum::Value(Device::Tool) => PredictedDevice::Tool(id),
                    _ => return,
                };
                let present = instant(tv_sec_hi, tv_sec_lo, tv_nsec);
                // What was said for an earlier frame does not hold any more.
                self.points.retain(|point| point.present == present && point.device != device);
                if self.points.len() < MOST_DEVICES {
                    self.points.push(PredictedPoint { device, present, x, y, error_x, error_y });
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(device: Device, id: u32, nanos: u32, x: f64) -> Event {
        let (tv_sec_hi, tv_sec_lo) = (0, 5);
        let device = WEnum::Value(device);
        Event::Predicted { device, id, tv_sec_hi, tv_sec_lo, tv_nsec: nanos, x, y: 2.0, error_x: 0.5, error_y: 0.25 }
    }

    #[test]
    fn what_was_said_for_an_earlier_frame_does_not_hold_for_the_next() {
        let mut said = Said::default();
        said.hear(predicted(Device::Pointer, 0, 1, 10.0));
        said.hear(predicted(Device::Touch, 3, 1, 11.0));
        assert_eq!(said.points.len(), 2);
        said.hear(predicted(Device::Touch, 3, 2, 12.0));
        let point = |point: &PredictedPoint| (point.device, point.x);
        assert_eq!(said.points.iter().map(point).collect::<Vec<_>>(), [(PredictedDevice::Touch(3), 12.0)]);
        said.hear(predicted(Device::Touch, 3, 2, 13.0));
        assert_eq!(said.points.iter().map(point).collect::<Vec<_>>(), [(PredictedDevice::Touch(3), 13.0)]);
    }
}
