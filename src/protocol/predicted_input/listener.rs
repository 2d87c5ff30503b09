//! Sends predicted input positions to clients, as events.

use super::generated::upbeat_predicted_input_v1::{self as wire, UpbeatPredictedInputV1};
use crate::surface::input_prediction::{HorizonReason, PredictionListener, TrackedDevice};
use upbeat_timing::input_prediction::PredictedPosition;
use upbeat_timing::time::{Instant, Span};

impl PredictionListener for UpbeatPredictedInputV1 {
    fn send_effective(&self, horizon: Span, why: HorizonReason) {
        let reason = match why {
            HorizonReason::Client => wire::Reason::Client,
            HorizonReason::Limit => wire::Reason::Limit,
            HorizonReason::Policy => wire::Reason::Policy,
        };
        self.effective(u32::try_from(horizon.as_nanos()).unwrap_or(u32::MAX), reason);
    }

    fn send_predicted(&self, device: TrackedDevice, present: Instant, predicted: PredictedPosition) {
        let (kind, id) = match device {
            TrackedDevice::Pointer => (wire::Device::Pointer, 0),
            TrackedDevice::Touch(finger) => (wire::Device::Touch, finger),
            TrackedDevice::Tool(tool) => (wire::Device::Tool, tool),
        };
        let (seconds_high, seconds_low, nanos) = present.as_wayland_parts();
        let (x, y) = (fixed(predicted.x), fixed(predicted.y));
        let (error_x, error_y) = (fixed(predicted.error_x), fixed(predicted.error_y));
        self.predicted(kind, id, seconds_high, seconds_low, nanos, x, y, error_x, error_y);
    }

    fn send_tool_timestamp(&self, tool: u32, at: Instant) {
        let (seconds_high, seconds_low, nanos) = at.as_wayland_parts();
        self.tool_timestamp(tool, seconds_high, seconds_low, nanos);
    }
}

/// The largest integer in `wl_fixed`, which has 24 bits before the point.
const MOST_FIXED: f64 = 8_388_607.0;

fn fixed(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(-MOST_FIXED, MOST_FIXED) }
}
