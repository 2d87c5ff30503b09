//! The devices that can lead followers: on which window each is, its last report and its course.

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use crate::surface::follower::Follower;
use crate::surface::input_prediction::TrackedDevice;
use upbeat_timing::input_prediction::{DeviceHistory, PositionSample};
use upbeat_timing::time::{Instant, Span};

/// Devices that are known at once, at most: a pointer, all the fingers on a screen and a few tools.
const MOST_DEVICES: usize = 64;

/// A report of a device.
pub(super) struct DeviceReport<'a> {
    pub device: TrackedDevice,
    pub time: Instant,
    /// Global logical coordinates.
    pub position: Point<f64, Logical>,
    /// The root of the surface that it is on.
    pub window: &'a WlSurface,
}

/// A device on a window.
#[derive(Debug)]
pub(super) struct DeviceOnWindow {
    device: TrackedDevice,
    window: WlSurface,
    position: Point<f64, Logical>,
    history: DeviceHistory,
    /// Counts the reports of all devices: the largest number is the newest report.
    number: u64,
}

impl DeviceOnWindow {
    /// The last report (global logical coordinates).
    pub fn position(&self) -> Point<f64, Logical> {
        self.position
    }

    /// The position at `light`, as known at `now`, at most `horizon` beyond the last report; `None` if the last report
    /// is the best guess.
    pub fn predict(&self, light: Instant, now: Instant, horizon: Span) -> Option<Point<f64, Logical>> {
        let predicted = self.history.predict(light, now, horizon)?;
        Some(Point::from((predicted.x, predicted.y)))
    }
}

/// The devices on windows while there are followers.
#[derive(Debug, Default)]
pub(super) struct DevicesOnWindows {
    devices: Vec<DeviceOnWindow>,
    /// By device class, the history of the last device that left: a new device starts with what it taught.
    learned: [Option<DeviceHistory>; 3],
    reports: u64,
}

impl DevicesOnWindows {
    /// Adds a report. Returns the window that the device was on before.
    pub fn report(&mut self, report: DeviceReport<'_>) -> Option<WlSurface> {
        let DeviceReport { device, time, position, window } = report;
        self.reports += 1;
        let sample = PositionSample { at: time, x: position.x, y: position.y };
        if let Some(known) = self.devices.iter_mut().find(|known| known.device == device) {
            known.history.observe(sample);
            (known.position, known.number) = (position, self.reports);
            return Some(std::mem::replace(&mut known.window, window.clone()));
        }
        if self.devices.len() < MOST_DEVICES {
            let mut history = self.learned[device.kind()].clone().unwrap_or_default();
            history.observe(sample);
            let number = self.reports;
            self.devices.push(DeviceOnWindow { device, window: window.clone(), position, history, number });
        }
        None
    }

    /// Another window is below a device that stands still. Returns the window that it was on before.
    pub fn stand(&mut self, report: DeviceReport<'_>) -> Option<WlSurface> {
        match self.devices.iter_mut().find(|known| known.device == report.device) {
            Some(known) => Some(std::mem::replace(&mut known.window, report.window.clone())),
            None => self.report(report),
        }
    }

    /// Removes a device. Returns the window that it was on.
    pub fn leave(&mut self, device: TrackedDevice) -> Option<WlSurface> {
        let index = self.devices.iter().position(|known| known.device == device)?;
        let DeviceOnWindow { window, mut history, .. } = self.devices.swap_remove(index);
        history.begin();
        self.learned[device.kind()] = Some(history);
        Some(window)
    }

    /// A finger on a window.
    pub fn any_finger(&self) -> Option<TrackedDevice> {
        self.devices.iter().map(|known| known.device).find(|device| matches!(device, TrackedDevice::Touch(_)))
    }

    /// The device that leads a follower on this window: of those it asks for, the one with the newest report.
    pub fn leader(&self, window: &WlSurface, follower: &Follower) -> Option<&DeviceOnWindow> {
        let leads = |known: &&DeviceOnWindow| known.window == *window && follower.is_led_by(known.device);
        self.devices.iter().filter(leads).max_by_key(|known| known.number)
    }
}
