//! Front-buffer sampling: client memory that is scanned out while the client may write to it is read in bands, each
//! just before the beam reaches it.
//!
//! ```text
//!            read from      lit
//!   band 0     ├──────────────┤                        a band is read before its first row is lit: a write behind
//!   band 1               ├──────────────┤              the beam must not count as seen
//!   band 2                         ├───×──────┤ read   a band that was read later: the refresh is unproven
//! ```
//!
//! Where time is virtual, or the process does nothing else, the display reads when it is dispatched
//! ([`DispatchSampler`]). In a session a thread reads ([`SamplerThread`]), which exists only while memory is shared.

mod thread;

pub(super) use thread::SamplerThread;

use std::sync::Arc;

use super::grid::RecordedRefresh;
use crate::backend::front::{FrontMemory, ReadAhead};
use crate::backend::{Beam, PixelRect};
use upbeat_timing::time::{Instant, Span};

/// Rows of a band: half a millisecond of 720 rows at 60 Hz, so that a thread wakes about twice a millisecond.
const BAND: i32 = 24;
/// How long before its first row is lit a band is read: a sleeping thread may wake this late.
const LEAD: Span = Span::from_micros(250);

/// The bands of a rectangle, and when each is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bands {
    pub rect: PixelRect,
    pub beam: Beam,
}

impl Bands {
    pub fn count(self) -> i32 {
        (self.rect.height + BAND - 1) / BAND
    }

    /// The first row of a band, counted from the top of the rectangle, and its number of rows.
    pub fn rows(self, band: i32) -> (i32, i32) {
        let first = band * BAND;
        (first, BAND.min(self.rect.height - first))
    }

    /// When the first row of a band is lit in the refresh that begins at `present`: it must have been read before.
    pub fn lit(self, present: Instant, band: i32) -> Instant {
        self.beam.line_start(present, self.rect.y + band * BAND)
    }

    /// The time from which on a band is read.
    pub fn due(self, present: Instant, band: i32) -> Instant {
        self.lit(present, band) - LEAD
    }

    /// When the beam leaves the rectangle in the refresh that begins at `present`.
    pub fn over(self, present: Instant) -> Instant {
        self.beam.leaves(present, &self.rect)
    }

    /// How long before its light any row may be read: the last row of a band is read together with its first.
    pub fn read_ahead(self) -> ReadAhead {
        let band = self.beam.line_start(Instant::ZERO, BAND.min(self.rect.height)) - Instant::ZERO;
        ReadAhead(LEAD + band)
    }

    /// The number of pixels of the rectangle.
    pub fn pixels(self) -> usize {
        self.rect.width.max(0) as usize * self.rect.height.max(0) as usize
    }
}

/// The rows that were read in one refresh.
#[derive(Debug, Default)]
pub(super) struct SampledRows {
    pub sequence: u64,
    pub pixels: Vec<u32>,
    /// All rows were read in time.
    pub is_proven: bool,
}

impl SampledRows {
    /// Starts a refresh of which no row was read yet.
    fn begin(&mut self, sequence: u64, pixels: usize) {
        self.sequence = sequence;
        self.pixels.resize(pixels, 0);
        self.is_proven = true;
    }

    /// Reads a band; `now` is called when it has been read.
    fn read(
        &mut self,
        bands: Bands,
        (band, present): (i32, Instant),
        memory: &dyn FrontMemory,
        now: impl FnOnce() -> Instant,
    ) {
        let (first, height) = bands.rows(band);
        let width = bands.rect.width as usize;
        let into = &mut self.pixels[first as usize * width..(first + height) as usize * width];
        let is_read = memory.read(first, height, into);
        self.is_proven &= is_read && now() <= bands.lit(present, band);
    }
}

/// Reads shared memory ahead of the beam.
pub(super) trait FrontSampler {
    /// When [`read_band`](Self::read_band) is due next.
    fn next(&self) -> Option<Instant> {
        None
    }

    /// Reads the next band at `now`, the time that [`next`](Self::next) returned.
    fn read_band(&mut self, _now: Instant) {}

    /// The rows of refresh number `sequence`, if they were read.
    fn take(&mut self, sequence: u64) -> Option<SampledRows>;

    /// Returns memory, to be reused for a later refresh.
    fn give_back(&mut self, rows: SampledRows);
}

/// Reads when the display is dispatched.
#[derive(Debug)]
pub(super) struct DispatchSampler {
    bands: Bands,
    memory: Arc<dyn FrontMemory>,
    refresh: RecordedRefresh,
    interval: Span,
    band: i32,
    rows: SampledRows,
    done: Option<SampledRows>,
    spare: Option<SampledRows>,
}

impl DispatchSampler {
    /// Reads each refresh from `refresh` on, with this interval between refreshes.
    pub fn new(bands: Bands, memory: Arc<dyn FrontMemory>, refresh: RecordedRefresh, interval: Span) -> Self {
        let mut rows = SampledRows::default();
        rows.begin(refresh.sequence, bands.pixels());
        DispatchSampler { bands, memory, refresh, interval, band: 0, rows, done: None, spare: None }
    }
}

impl FrontSampler for DispatchSampler {
    fn next(&self) -> Option<Instant> {
        Some(self.bands.due(self.refresh.time, self.band))
    }

    fn read_band(&mut self, now: Instant) {
        self.rows.read(self.bands, (self.band, self.refresh.time), &*self.memory, || now);
        self.band += 1;
        if self.band == self.bands.count() {
            self.band = 0;
            self.refresh =
                RecordedRefresh { time: self.refresh.time + self.interval, sequence: self.refresh.sequence + 1 };
            let mut next = self.spare.take().unwrap_or_default();
            next.begin(self.refresh.sequence, self.bands.pixels());
            self.done = Some(std::mem::replace(&mut self.rows, next));
        }
    }

    fn take(&mut self, sequence: u64) -> Option<SampledRows> {
        self.done.take().filter(|rows| rows.sequence == sequence)
    }

    fn give_back(&mut self, rows: SampledRows) {
        self.spare = Some(rows);
    }
}

/// Shared memory that a display scans out.
pub(super) struct FrontScanout {
    pub bands: Bands,
    pub sampler: Box<dyn FrontSampler>,
    /// The refresh whose rows are needed next.
    pub refresh: RecordedRefresh,
    /// The last rows on screen. A new frame keeps them until the beam reaches the rectangle.
    pub seen: Vec<u32>,
}

impl FrontScanout {
    /// Scans out from the refresh `first` on.
    pub fn new(bands: Bands, sampler: Box<dyn FrontSampler>, first: RecordedRefresh) -> Self {
        FrontScanout { bands, sampler, refresh: first, seen: Vec::new() }
    }

    /// When all rows of the current refresh have been read.
    pub fn over(&self) -> Instant {
        self.bands.over(self.refresh.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::ScanDirection;
    use proptest::prelude::*;

    const PRESENT: Instant = Instant::from_nanos(1_000_000_000);
    const INTERVAL: Span = Span::from_micros(16_667);

    fn beam(height: i32) -> Beam {
        Beam { width: 10, height, direction: ScanDirection::Down, active: Span::from_millis(16) }
    }

    proptest! {
        #[test]
        fn each_row_is_in_one_band_and_read_before_it_is_lit(y in 0i32..700, height in 1i32..720) {
            let height = height.min(720 - y);
            let rect = PixelRect { x: 0, y, width: 10, height };
            let bands = Bands { rect, beam: beam(720) };
            let mut next = 0;
            for band in 0..bands.count() {
                let (first, rows) = bands.rows(band);
                prop_assert_eq!(first, next);
                prop_assert!(rows > 0);
                for row in first..first + rows {
                    let lit = bands.beam.line_start(PRESENT, y + row);
                    prop_assert!(bands.due(PRESENT, band) < lit && bands.lit(PRESENT, band) <= lit);
                    prop_assert!(lit - bands.due(PRESENT, band) <= bands.read_ahead().0);
                }
                next = first + rows;
            }
            prop_assert_eq!(next, height);
            // The beam leaves the last band of a refresh before the first band of the next is lit.
            prop_assert!(bands.over(PRESENT) <= bands.due(PRESENT + INTERVAL, 0) + LEAD);
        }
    }
}
