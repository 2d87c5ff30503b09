//! Client memory that is scanned out without a copy: results of reading it along with the beam.

use std::sync::Arc;

use super::{DisplayPower, VirtualDisplay};
use crate::backend::front::{FrontMemory, FrontScanReport, ReadAhead, SharedFront};
use crate::backend::headless::front::{Bands, DispatchSampler, FrontSampler, FrontScanout, SamplerThread};
use crate::backend::headless::grid::RecordedRefresh;
use crate::backend::overlay::intersection;
use crate::backend::{DisplayEvent, PixelRect};
use upbeat_timing::time::Instant;

impl VirtualDisplay {
    /// Scans `front` out from the next refresh on. Returns how long before its light a row may be read. `None`
    /// where this is impossible: the panel is dark, its rate varies, it has no front buffer, or the rectangle does
    /// not lie on it.
    pub fn share(&mut self, front: Option<SharedFront>, now: Instant) -> Option<ReadAhead> {
        self.advance(now);
        self.front = None;
        let SharedFront { rect, memory } = front?;
        let whole = PixelRect { x: 0, y: 0, width: self.mode.width, height: self.mode.height };
        let fits = rect.width > 0 && rect.height > 0 && intersection(rect, whole) == rect;
        let is_able = self.options.front_buffer && self.options.variable_refresh.is_none();
        if !fits || !is_able || self.power != DisplayPower::On || self.panel.slot().is_none() {
            return None;
        }
        let bands = Bands { rect, beam: self.panel.beam() };
        // Start with the first refresh whose first row can still be read.
        let mut first = self.grid.next_repeat(now);
        while bands.due(first.time, 0) < now {
            first = self.grid.next_repeat(first.time);
        }
        let sampler = self.sampler(bands, memory, first)?;
        self.front = Some(FrontScanout::new(bands, sampler, first));
        Some(bands.read_ahead())
    }

    fn sampler(
        &self,
        bands: Bands,
        memory: Arc<dyn FrontMemory>,
        first: RecordedRefresh,
    ) -> Option<Box<dyn FrontSampler>> {
        let interval = self.grid.shortest();
        if !self.options.sampler_thread {
            return Some(Box::new(DispatchSampler::new(bands, memory, first, interval)));
        }
        match SamplerThread::start(bands, memory, first, interval) {
            Ok(thread) => Some(Box::new(thread)),
            Err(error) => {
                tracing::warn!(%error, "a client's memory is not shared: the thread to read it cannot be started");
                None
            }
        }
    }

    pub(super) fn read_front(&mut self, now: Instant) {
        if let Some(front) = &mut self.front {
            front.sampler.read_band(now);
        }
    }

    /// The beam has left the shared rectangle: the rows that were read in time count as seen.
    pub(super) fn scanned(&mut self, at: Instant) {
        let Some(front) = &mut self.front else { return };
        let refresh = front.refresh;
        let rows = front.sampler.take(refresh.sequence);
        let is_proven = rows.as_ref().is_some_and(|rows| rows.is_proven);
        match rows {
            Some(mut rows) if is_proven => {
                if let Some(slot) = self.panel.slot() {
                    self.pool.written(slot);
                }
                self.panel.scanned(front.bands.rect, &rows.pixels, refresh);
                std::mem::swap(&mut front.seen, &mut rows.pixels);
                front.sampler.give_back(rows);
            }
            rows => {
                self.panel.notify_image_unproven();
                rows.into_iter().for_each(|rows| front.sampler.give_back(rows));
            }
        }
        front.refresh = self.grid.next_repeat(refresh.time);
        self.reports.note(DisplayEvent::FrontScanned(FrontScanReport { refresh: refresh.time, is_proven }), at);
    }
}
