//! Sends predicted input positions to clients, as events.

use super::generated::upbeat_predicted_input_v1::{self as wire, UpbeatPredictedInputV1};
use crate::surface::foresight::{Device, PredictionListener, Why};
use upbeat_timing::input_prediction::Predicted;
use upbeat_timing::time::{Instant, Span};

impl PredictionListener for UpbeatPredictedInputV1 {
    fn tell_effective(&self, horizon: Span, why: Why) {
        let reason = match why {
            Why::Client => wire::Reason::Client,
            Why::Limit => wire::Reason::Limit,
            Why::Policy => wire::Reason::Policy,
        };
        self.effective(u32::try_from(horizon.as_nanos()).unwrap_or(u32::MAX), reason);
    }

    fn tell_predicted(&self, device: Device, present: Instant, predicted: Predicted) {
        let (kind, id) = match device {
            Device::Pointer => (wire::Device::Pointer, 0),
            Device::Touch(finger) => (wire::Device::Touch, finger),
            Device::Tool(tool) => (wire::Device::Tool, tool),
        };
        let (seconds_high, seconds_low, nanos) = present.as_wayland_parts();
        let (x, y) = (fixed(predicted.x), fixed(predicted.y));
        let (error_x, error_y) = (fixed(predicted.error_x), fixed(predicted.error_y));
        self.predicted(kind, id, seconds_high, seconds_low, nanos, x, y, error_x, error_y);
    }

    fn tell_tool_timestamp(&self, tool: u32, at: Instant) {
        let (seconds_high, seconds_low, nanos) = at.as_wayland_parts();
        self.tool_timestamp(tool, seconds_high, seconds_low, nanos);
    }
}

/// The largest integer in `wl_fixed`, which has 24 bits before the point.
const MOST_FIXED: f64 = 8_388_607.0;

fn fixed(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(-MOST_FIXED, MOST_FIXED) }
}
