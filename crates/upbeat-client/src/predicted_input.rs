//! [`PredictedInput`]: predicts where pointers, fingers and pens will be when a frame is shown, if the compositor
//! supports it.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wayland_backend::client::{Backend, ObjectData, ObjectId};
use wayland_backend::protocol::Message;
use wayland_client::globals::GlobalList;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Proxy, WEnum};

use super::bind_global::{IgnoreEvents, bind};
use super::protocol::predicted_input::upbeat_predicted_input_manager_v1::{self, UpbeatPredictedInputManagerV1};
use super::protocol::predicted_input::upbeat_predicted_input_v1::{Axes, Device, Event, UpbeatPredictedInputV1};
use super::wire::instant;
use upbeat_timing::time::{Instant, Span};

/// Limit on predictions that the program has not taken: more than a surface has devices at once.
const MOST_DEVICES: usize = 64;

/// An input device on a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PredictedDevice {
    /// The pointer of the seat.
    Pointer,
    /// A finger, by the id of `wl_touch.down`.
    Touch(u32),
    /// A tablet tool, by the low half of its hardware serial.
    Tool(u32),
}

/// A predicted position of a device. It is a guess: never treat it as a reported position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictedPoint {
    /// The device that is predicted.
    pub device: PredictedDevice,
    /// When the frame that this is for will be shown, on the clock of `wp_presentation`.
    pub present: Instant,
    /// Predicted x coordinate, surface-local.
    pub x: f64,
    /// Predicted y coordinate, surface-local.
    pub y: f64,
    /// Recent error of such predictions in x (root mean square, pixels).
    pub error_x: f64,
    /// Recent error of such predictions in y (root mean square, pixels).
    pub error_y: f64,
}

/// Predicts, for each frame of a surface, where the input devices on it will be when the frame is shown.
///
/// Compositors without `upbeat_predicted_input_v1`, and compositors where the user has switched it off, send no
/// predictions. Then a program draws to the last reported position, as it does when a device rests. So the program is
/// the same for all compositors.
///
/// Like [`FramePacer`](super::FramePacer) it needs no event queue: the predictions for a frame arrive before the
/// callback or the target that starts the frame.
///
/// ```no_run
/// # use upbeat_client::{FramePacer, PredictedInput};
/// # fn ink_to(_: f64, _: f64) {}
/// # fn draw(pacer: &FramePacer, predicted: &PredictedInput) {
/// while let Some(target) = pacer.next_target() {
///     // Permanent ink ends at the reported position. The predicted part continues it, and is redrawn in each frame.
///     for point in predicted.take() {
///         ink_to(point.x, point.y);
///     }
/// #   let _ = target;
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct PredictedInput {
    state: Arc<PredictedInputListener>,
    object: Option<UpbeatPredictedInputV1>,
}

impl PredictedInput {
    /// Requests predictions on `surface`. A surface can have only one such object.
    pub fn new(connection: &Connection, globals: &GlobalList, surface: &WlSurface) -> Self {
        let listener = Arc::new(PredictedInputListener::default());
        let manager: Option<UpbeatPredictedInputManagerV1> = bind(globals, 1, Arc::new(IgnoreEvents));
        let object = manager.and_then(|manager| {
            let request = upbeat_predicted_input_manager_v1::Request::GetPredictedInput { surface: surface.clone() };
            let object = manager.send_constructor(request, listener.clone()).ok();
            manager.destroy();
            object
        });
        // A connection error is reported by the program's next read.
        let _ = connection.flush();
        PredictedInput { state: listener, object }
    }

    /// Whether the compositor offers predictions at all.
    pub const fn is_offered(&self) -> bool {
        self.object.is_some()
    }

    /// Sets how far predictions may reach beyond the last report of a device; zero for no predictions.
    pub fn set_horizon(&self, horizon: Span) {
        if let Some(object) = &self.object {
            object.set_horizon(horizon.as_nanos().clamp(0, u32::MAX.into()) as u32);
        }
    }

    /// Sets the axes that are predicted.
    pub fn set_axes(&self, horizontal: bool, vertical: bool) {
        let mut axes = Axes::empty();
        axes.set(Axes::Horizontal, horizontal);
        axes.set(Axes::Vertical, vertical);
        if let Some(object) = &self.object {
            object.set_axes(axes);
        }
    }

    /// How far predictions reach at present; zero while there are none.
    pub fn horizon(&self) -> Span {
        self.state.lock().horizon
    }

    /// The predictions for the frame that was started last. Empty if they were taken before, or every device rests.
    pub fn take(&self) -> Vec<PredictedPoint> {
        std::mem::take(&mut self.state.lock().points)
    }
}

impl Drop for PredictedInput {
    fn drop(&mut self) {
        if let Some(object) = &self.object {
            object.destroy();
        }
    }
}

/// State that events change.
#[derive(Debug, Default)]
struct PredictionState {
    horizon: Span,
    points: Vec<PredictedPoint>,
}

#[derive(Debug, Default)]
struct PredictedInputListener(Mutex<PredictionState>);

impl PredictedInputListener {
    fn lock(&self) -> MutexGuard<'_, PredictionState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ObjectData for PredictedInputListener {
    fn event(self: Arc<Self>, backend: &Backend, message: Message<ObjectId, OwnedFd>) -> Option<Arc<dyn ObjectData>> {
        let connection = Connection::from_backend(backend.clone());
        if let Ok((_, event)) = UpbeatPredictedInputV1::parse_event(&connection, message) {
            self.lock().handle_event(event);
        }
        None
    }

    fn destroyed(&self, _: ObjectId) {}
}

impl PredictionState {
    fn handle_event(&mut self, event: Event) {
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
                // Predictions for an earlier frame are no longer valid.
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
    fn predictions_for_an_earlier_frame_are_dropped() {
        let mut state = PredictionState::default();
        state.handle_event(predicted(Device::Pointer, 0, 1, 10.0));
        state.handle_event(predicted(Device::Touch, 3, 1, 11.0));
        assert_eq!(state.points.len(), 2);
        state.handle_event(predicted(Device::Touch, 3, 2, 12.0));
        let point = |point: &PredictedPoint| (point.device, point.x);
        assert_eq!(state.points.iter().map(point).collect::<Vec<_>>(), [(PredictedDevice::Touch(3), 12.0)]);
        state.handle_event(predicted(Device::Touch, 3, 2, 13.0));
        assert_eq!(state.points.iter().map(point).collect::<Vec<_>>(), [(PredictedDevice::Touch(3), 13.0)]);
    }
}
