//! A window's size, scale and rate, which the parent influences, and its end.

use super::ParentToplevel;
use crate::backend::nested::event::ParentEvent;
use crate::backend::nested::submit_lead::LearnedLead;
use crate::backend::{DisplayEvent, LossReason};

/// The longest side of an output in pixels: the limit of most GPUs' textures and of our configuration.
const LONGEST_SIDE: i32 = 16_384;
/// Scales are multiples of one over this (`wp_fractional_scale_v1`).
pub(in super::super) const SCALE_STEPS: u32 = 120;
/// A refresh rate that differs by more than one part in this (0.5 %) is a new rate; less is measurement noise.
const RATE_TOLERANCE: u32 = 200;

impl ParentToplevel {
    /// Stores the parent's proposed size (logical; 0: our choice) and its state `suspended`.
    pub(in super::super) fn propose(&mut self, size: (i32, i32), suspended: bool) {
        self.proposed = size;
        self.frames.suspend(suspended);
    }

    /// The parent's configure sequence is complete.
    pub(in super::super) fn configured(&mut self, serial: u32) {
        self.serial = Some(serial);
        let pick = |new: i32, old: i32| if new > 0 { new.min(LONGEST_SIDE) } else { old };
        let size = (pick(self.proposed.0, self.logical.0), pick(self.proposed.1, self.logical.1));
        let is_first = !std::mem::replace(&mut self.is_configured, true);
        if size != self.logical {
            self.resize(size, self.scale);
        } else if !is_first {
            // The size stays, so no frame may follow. Acknowledge now, so that the parent does not wait for one.
            self.acknowledge();
            self.objects.surface.commit();
        }
        self.report_visibility();
    }

    /// The parent shows the window at another scale: `scale` physical pixels per 120 logical pixels.
    pub(in super::super) fn rescale(&mut self, scale: u32) {
        if scale != self.scale && (SCALE_STEPS / 2..=SCALE_STEPS * 8).contains(&scale) {
            self.resize(self.logical, scale);
            self.events.push_back(ParentEvent::Scale { window: self.id, scale: self.scale() });
        }
    }

    /// The same for the older protocol with integer scales, if there is no fractional scale.
    pub(in super::super) fn rescale_whole(&mut self, scale: u32) {
        if self.objects.fractional.is_none() {
            self.rescale(scale);
        }
    }

    /// The parent's refresh rate is `refresh` (millihertz); 0 if unknown.
    pub(in super::super) fn set_refresh(&mut self, refresh: u32) {
        if refresh > 0 && refresh.abs_diff(self.refresh) > self.refresh / RATE_TOLERANCE {
            self.refresh = refresh;
            self.lead = LearnedLead::default();
            self.frames.report(DisplayEvent::Changed);
        }
    }

    fn resize(&mut self, logical: (i32, i32), scale: u32) {
        let number = (self.id, self.pools + 1);
        let resized = self.buffers.resized(number, physical(logical, scale), &self.objects.shm, &self.handle);
        let buffers = match resized {
            Ok(buffers) => buffers,
            Err(error) => {
                let (width, height) = logical;
                tracing::error!(%error, "no memory for a window of {width}x{height}: it keeps its size");
                return;
            }
        };
        self.pools += 1;
        self.buffers = buffers;
        (self.logical, self.scale) = (logical, scale);
        self.frames.lose_held(LossReason::ModeChange);
        self.in_flight.clear();
        self.unsent.clear();
        self.shown = None;
        match &self.objects.viewport {
            Some(viewport) => viewport.set_destination(logical.0, logical.1),
            // Without a viewport the parent sends only integer scales.
            None => self.objects.surface.set_buffer_scale((scale / SCALE_STEPS).max(1) as i32),
        }
        self.frames.report(DisplayEvent::Changed);
    }

    /// The user closed the window.
    pub(in super::super) fn close(&mut self) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.frames.lose(LossReason::Gone);
            self.frames.report(DisplayEvent::Gone);
            self.events.push_back(ParentEvent::Closed { window: self.id });
        }
    }
}

/// Converts a logical size to physical pixels.
pub(super) fn physical(logical: (i32, i32), scale: u32) -> (i32, i32) {
    let side = |length: i32| {
        let pixels = f64::from(length) * f64::from(scale) / f64::from(SCALE_STEPS);
        (pixels.round() as i32).clamp(1, LONGEST_SIDE)
    };
    (side(logical.0), side(logical.1))
}
