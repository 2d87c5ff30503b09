//! Input prediction: where the devices on a surface will be when its next frame is seen, for clients that ask for it.
//!
//! ```text
//!   input, each report ─► observe ─► DeviceHistory, one a device       [pure]
//!   a frame is started ─► send_predictions(present) ─► PredictionListener ─► right after it the callback or the target
//! ```
//!
//! A surface without a prediction object has no `InputPrediction`, and its devices are not tracked. This module does
//! not know the protocol.

use std::sync::Arc;

use upbeat_timing::input_prediction::{DeviceHistory, PositionSample, PredictedPosition};
use upbeat_timing::time::{Instant, Span};

/// Devices that are tracked on one surface, at most: a pointer, all the fingers on a screen and a few tools.
const MOST_DEVICES: usize = 64;

/// A device on a surface, with the id that the surface's client knows it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackedDevice {
    Pointer,
    /// A finger, by its touch id.
    Touch(u32),
    /// A tool of a graphics tablet, by the low half of its serial.
    Tool(u32),
}

impl TrackedDevice {
    /// Its device class, as an index: pointers, fingers, tools.
    pub const fn kind(self) -> usize {
        match self {
            TrackedDevice::Pointer => 0,
            TrackedDevice::Touch(_) => 1,
            TrackedDevice::Tool(_) => 2,
        }
    }
}

/// The client's prediction settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictionSettings {
    /// The horizontal position is predicted.
    pub horizontal: bool,
    /// The vertical position is predicted.
    pub vertical: bool,
    /// How far beyond the last report of a device is predicted; `None`: the compositor chooses.
    pub horizon: Option<Span>,
}

/// Why a horizon is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HorizonReason {
    /// The client asked for it.
    Client,
    /// It is the furthest that can be predicted.
    Limit,
    /// The user turned prediction off.
    Policy,
}

/// The client's protocol object for predictions.
pub trait PredictionListener: std::fmt::Debug {
    /// Sends how far beyond the last report is predicted; zero: no prediction.
    fn send_effective(&self, horizon: Span, why: HorizonReason);
    /// Sends where `device` will be at `present` (surface coordinates).
    fn send_predicted(&self, device: TrackedDevice, present: Instant, predicted: PredictedPosition);
    /// Sends the hardware time of the tool's next event.
    fn send_tool_timestamp(&self, tool: u32, at: Instant);
}

/// The tracked devices on one surface whose client asked for predictions.
#[derive(Debug)]
pub struct InputPrediction {
    pub(super) listener: Arc<dyn PredictionListener>,
    settings: PredictionSettings,
    /// Whether the user allows predictions; `None`: not known yet.
    allowed: Option<bool>,
    devices: Vec<(TrackedDevice, DeviceHistory)>,
    /// By device class, the history of the last device that left: a new device starts with its parameters.
    learned: [Option<DeviceHistory>; 3],
    last_sent: Option<(Span, HorizonReason)>,
    /// The present time of the last frame that predictions were sent for.
    predicted_for: Option<Instant>,
}

impl InputPrediction {
    pub fn listener(&self) -> &dyn PredictionListener {
        self.listener.as_ref()
    }

    /// Tracks nothing until it is [allowed](Self::allow).
    pub fn new(listener: Arc<dyn PredictionListener>) -> Self {
        let wish = PredictionSettings { horizontal: true, vertical: true, horizon: None };
        InputPrediction {
            listener,
            settings: wish,
            allowed: None,
            devices: Vec::new(),
            learned: [const { None }; 3],
            last_sent: None,
            predicted_for: None,
        }
    }

    /// Changes the client's settings.
    pub fn change_settings(&mut self, change: impl FnOnce(&mut PredictionSettings)) {
        change(&mut self.settings);
        self.tell_effective();
    }

    /// Sets whether the user allows predictions.
    pub fn allow(&mut self, allowed: bool) {
        self.allowed = Some(allowed);
        self.tell_effective();
    }

    fn effective(&self) -> (Span, HorizonReason) {
        let furthest = DeviceHistory::HORIZON;
        match self.settings.horizon {
            _ if self.allowed == Some(false) => (Span::ZERO, HorizonReason::Policy),
            Some(horizon) if horizon <= furthest => (horizon, HorizonReason::Client),
            _ => (furthest, HorizonReason::Limit),
        }
    }

    fn tell_effective(&mut self) {
        if self.allowed.is_none() {
            return;
        }
        let effective = self.effective();
        if self.last_sent.replace(effective) != Some(effective) {
            self.listener.send_effective(effective.0, effective.1);
        }
        if effective.0 == Span::ZERO {
            self.devices.clear();
        }
    }

    /// Whether devices are tracked: only where predictions are sent.
    fn is_tracking(&self) -> bool {
        self.allowed.is_some()
            && self.effective().0 > Span::ZERO
            && (self.settings.horizontal || self.settings.vertical)
    }

    /// A device on the surface reported its position (surface coordinates).
    pub fn observe(&mut self, device: TrackedDevice, sample: PositionSample) {
        if !self.is_tracking() {
            return;
        }
        if let Some((_, history)) = self.devices.iter_mut().find(|(followed, _)| *followed == device) {
            history.observe(sample);
            return;
        }
        if self.devices.len() < MOST_DEVICES {
            let mut history = self.learned[device.kind()].clone().unwrap_or_default();
            history.observe(sample);
            self.devices.push((device, history));
        }
    }

    /// A device left the surface, or starts a new stroke.
    pub fn leave(&mut self, device: TrackedDevice) {
        let Some(index) = self.devices.iter().position(|(followed, _)| *followed == device) else { return };
        let (_, mut history) = self.devices.swap_remove(index);
        history.begin();
        self.learned[device.kind()] = Some(history);
    }

    /// Sends the predictions for a frame that starts at `now` and is seen at `present`; once for a frame, however it is
    /// started.
    pub fn send_predictions(&mut self, present: Instant, now: Instant) {
        if self.predicted_for == Some(present) {
            return;
        }
        self.tell_effective();
        if !self.is_tracking() {
            return;
        }
        self.predicted_for = Some(present);
        let (horizon, _) = self.effective();
        for (device, history) in &self.devices {
            if let Some((last, predicted)) = history.last().zip(history.predict(present, now, horizon)) {
                self.listener.send_predicted(*device, present, self.settings.drop_unwanted_axes(last, predicted));
            }
        }
    }
}

impl PredictionSettings {
    /// Keeps the last position on an axis that the client did not ask for.
    fn drop_unwanted_axes(self, last: PositionSample, mut predicted: PredictedPosition) -> PredictedPosition {
        if !self.horizontal {
            (predicted.x, predicted.error_x) = (last.x, 0.0);
        }
        if !self.vertical {
            (predicted.y, predicted.error_y) = (last.y, 0.0);
        }
        predicted
    }
}
