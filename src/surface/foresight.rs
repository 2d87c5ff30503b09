//! Where the devices on a surface will be when it is seen, for clients that ask for it.
//!
//! ```text
//!   input, each report ─► observe ─► DeviceHistory, one a device       [pure]
//!   a frame is started ─► foresee(present) ─► PredictionListener ─► right after it the callback or the target
//! ```
//!
//! A surface of which nobody asks it has no such thing, and nothing of it is followed. The wire is not known here.

use std::sync::Arc;

use upbeat_timing::input_prediction::{DeviceHistory, Predicted, Sample};
use upbeat_timing::time::{Instant, Span};

/// Devices that are followed on one surface, at most: a pointer, all the fingers of a screen and a few tools.
const MOST_DEVICES: usize = 64;

/// A device, as the client of the surface that it is on knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The pointer.
    Pointer,
    /// A finger.
    Touch(u32),
    /// A tool of a graphics tablet, by the low half of its serial.
    Tool(u32),
}

impl Device {
    /// Which sort of hand moves it.
    const fn kind(self) -> usize {
        match self {
            Device::Pointer => 0,
            Device::Touch(_) => 1,
            Device::Tool(_) => 2,
        }
    }
}

/// What the client wishes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// To know the horizontal position.
    pub horizontal: bool,
    /// To know the vertical position.
    pub vertical: bool,
    /// How far beyond the last report of a device; `None` leaves it to us.
    pub horizon: Option<Span>,
}

/// Why a horizon is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The client wants it so.
    Client,
    /// Nobody should say more.
    Limit,
    /// The user does not want it.
    Policy,
}

/// The client's end.
pub trait PredictionListener: std::fmt::Debug {
    /// How far beyond the last report is predicted; zero: nothing is.
    fn tell_effective(&self, horizon: Span, why: Why);
    /// Where `device` will be at `present` (surface coordinates).
    fn tell_predicted(&self, device: Device, present: Instant, predicted: Predicted);
    /// When the tool did what is told next of it.
    fn tell_tool_timestamp(&self, tool: u32, at: Instant);
}

/// The devices on one surface, for a client that asked to be told where they will be.
#[derive(Debug)]
pub struct Foresight {
    /// Who is told.
    pub(super) listener: Arc<dyn PredictionListener>,
    wish: Wish,
    /// Whether the user lets it be told, as far as that was found out.
    allowed: Option<bool>,
    devices: Vec<(Device, DeviceHistory)>,
    /// By sort, what was learned of the last one that left.
    learned: [Option<DeviceHistory>; 3],
    told: Option<(Span, Why)>,
    /// The frame that was told of last.
    foreseen: Option<Instant>,
}

impl Foresight {
    /// The client, which is told.
    pub fn listener(&self) -> &dyn PredictionListener {
        self.listener.as_ref()
    }

    /// Of a surface of which nothing was followed yet, and nothing is until it is [allowed](Self::allow).
    pub fn new(listener: Arc<dyn PredictionListener>) -> Self {
        let wish = Wish { horizontal: true, vertical: true, horizon: None };
        Foresight {
            listener,
            wish,
            allowed: None,
            devices: Vec::new(),
            learned: [const { None }; 3],
            told: None,
            foreseen: None,
        }
    }

    /// Changes what the client wishes for.
    pub fn wish(&mut self, change: impl FnOnce(&mut Wish)) {
        change(&mut self.wish);
        self.tell_effective();
    }

    /// Whether the user lets it be told.
    pub fn allow(&mut self, allowed: bool) {
        self.allowed = Some(allowed);
        self.tell_effective();
    }

    fn effective(&self) -> (Span, Why) {
        let furthest = DeviceHistory::HORIZON;
        match self.wish.horizon {
            _ if self.allowed == Some(false) => (Span::ZERO, Why::Policy),
            Some(horizon) if horizon <= furthest => (horizon, Why::Client),
            _ => (furthest, Why::Limit),
        }
    }

    fn tell_effective(&mut self) {
        if self.allowed.is_none() {
            return;
        }
        let effective = self.effective();
        if self.told.replace(effective) != Some(effective) {
            self.listener.tell_effective(effective.0, effective.1);
        }
        if effective.0 == Span::ZERO {
            self.devices.clear();
        }
    }

    /// Whether anything is followed: not where nothing is told.
    fn follows(&self) -> bool {
        self.allowed.is_some() && self.effective().0 > Span::ZERO && (self.wish.horizontal || self.wish.vertical)
    }

    /// A device on the surface reported where it is (surface coordinates).
    pub fn observe(&mut self, device: Device, sample: Sample) {
        if !self.follows() {
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

    /// A device is not on the surface any more, or begins anew.
    pub fn leave(&mut self, device: Device) {
        let Some(index) = self.devices.iter().position(|(followed, _)| *followed == device) else { return };
        let (_, mut history) = self.devices.swap_remove(index);
        history.begin();
        self.learned[device.kind()] = Some(history);
    }

    /// A frame is started at `now` that will be seen at `present`: its client is told where everything will be by then. Once for
    /// a frame, however it is started.
    pub fn foresee(&mut self, present: Instant, now: Instant) {
        if self.foreseen == Some(present) {
            return;
        }
        self.tell_effective();
        if !self.follows() {
            return;
        }
        self.foreseen = Some(present);
        let (horizon, _) = self.effective();
        for (device, history) in &self.devices {
            if let Some((last, predicted)) = history.last().zip(history.predict(present, now, horizon)) {
                self.listener.tell_predicted(*device, present, self.wish.cut(last, predicted));
            }
        }
    }
}

impl Wish {
    /// On an axis that is not wished for a device stays where it was.
    fn cut(self, last: Sample, mut predicted: Predicted) -> Predicted {
        if !self.horizontal {
            (predicted.x, predicted.error_x) = (last.x, 0.0);
        }
        if !self.vertical {
            (predicted.y, predicted.error_y) = (last.y, 0.0);
        }
        predicted
    }
}
