//! Scanning out memory that a client writes to meanwhile: it is read in bands, each just before the beam comes to it.
//!
//! ```text
//!            read from      lit
//!   band 0     ├──────────────┤                        READ_AHEAD before its first row is lit, so that nothing counts as
//!   band 1               ├──────────────┤              seen that was written after the beam had passed
//!   band 2                         ├───×──────┤ read   a band that was read later: the refresh is unproven
//! ```
//!
//! Where time is virtual, or nothing else is done, the display reads in its turn ([`InTurn`]); in a session a thread does
//! ([`SamplerThread`]), which is there only while something is shared.

mod thread;

pub(super) use thread::SamplerThread;

use std::sync::Arc;

use super::grid::Refresh;
use crate::backend::front::{FrontMemory, ReadAhead};
use crate::backend::{Beam, PixelRect};
use upbeat_timing::time::{Instant, Span};

/// Rows of a band: half a millisecond of 720 rows at 60 Hz, so that a thread is woken about twice a millisecond.
const BAND: i32 = 24;
/// How long before its first row is lit a band is read: what a thread that sleeps may be late by.
const LEAD: Span = Span::from_micros(250);

/// When which rows of a rectangle are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bands {
    pub rect: PixelRect,
    pub beam: Beam,
}

impl Bands {
    pub fn count(self) -> i32 {
        (self.rect.height + BAND - 1) / BAND
    }

    /// The first row of a band, from the top of the rectangle on, and how many it has.
    pub fn rows(self, band: i32) -> (i32, i32) {
        let first = band * BAND;
        (first, BAND.min(self.rect.height - first))
    }

    /// When the first row of a band is lit in the refresh that begins at `present`: it must have been read by then.
    pub fn lit(self, present: Instant, band: i32) -> Instant {
        self.beam.line_start(present, self.rect.y + band * BAND)
    }

    /// From when on it is read.
    pub fn due(self, present: Instant, band: i32) -> Instant {
        self.lit(present, band) - LEAD
    }

    /// When the last row was read in the refresh that begins at `present`.
    pub fn over(self, present: Instant) -> Instant {
        self.beam.leaves(present, &self.rect)
    }

    /// How long before its light any row may have been read: the last one of a band was with the first.
    pub fn read_ahead(self) -> ReadAhead {
        let band = self.beam.line_start(Instant::ZERO, BAND.min(self.rect.height)) - Instant::ZERO;
        ReadAhead(LEAD + band)
    }

    /// How many pixels it has.
    pub fn pixels(self) -> usize {
        self.rect.width.max(0) as usize * self.rect.height.max(0) as usize
    }
}

/// What was read of one refresh.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub sequence: u64,
    pub pixels: Vec<u32>,
    /// All of it was read in time.
    pub is_proven: bool,
}

impl Rows {
    /// Nothing was read of it yet.
    fn begin(&mut self, sequence: u64, pixels: usize) {
        self.sequence = sequence;
        self.pixels.resize(pixels, 0);
        self.is_proven = true;
    }

    /// Reads a band; `now` is asked when that is done.
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

/// Whoever reads.
pub(super) trait Sampler {
    /// When it wants to be [looked at](Self::look) next.
    fn next(&self) -> Option<Instant> {
        None
    }

    /// It is `now`, and that moment has come.
    fn look(&mut self, _now: Instant) {}

    /// What was read of refresh number `sequence`, if it was.
    fn take(&mut self, sequence: u64) -> Option<Rows>;

    /// Memory for what is read next.
    fn give_back(&mut self, rows: Rows);
}

/// Reads when the display is looked at.
#[derive(Debug)]
pub(super) struct InTurn {
    bands: Bands,
    memory: Arc<dyn FrontMemory>,
    refresh: Refresh,
    interval: Span,
    band: i32,
    rows: Rows,
    done: Option<Rows>,
    spare: Option<Rows>,
}

impl InTurn {
    /// From `refresh` on, which the others follow by `interval`.
    pub fn new(bands: Bands, memory: Arc<dyn FrontMemory>, refresh: Refresh, interval: Span) -> Self {
        let mut rows = Rows::default();
        rows.begin(refresh.sequence, bands.pixels());
        InTurn { bands, memory, refresh, interval, band: 0, rows, done: None, spare: None }
    }
}

impl Sampler for InTurn {
    fn next(&self) -> Option<Instant> {
        Some(self.bands.due(self.refresh.time, self.band))
    }

    fn look(&mut self, now: Instant) {
        self.rows.read(self.bands, (self.band, self.refresh.time), &*self.memory, || now);
        self.band += 1;
        if self.band == self.bands.count() {
            self.band = 0;
            self.refresh = Refresh { time: self.refresh.time + self.interval, sequence: self.refresh.sequence + 1 };
            let mut next = self.spare.take().unwrap_or_default();
            next.begin(self.refresh.sequence, self.bands.pixels());
            self.done = Some(std::mem::replace(&mut self.rows, next));
        }
    }

    fn take(&mut self, sequence: u64) -> Option<Rows> {
        self.done.take().filter(|rows| rows.sequence == sequence)
    }

    fn give_back(&mut self, rows: Rows) {
        self.spare = Some(rows);
    }
}

/// What a display scans out beside its buffer.
pub(super) struct Scanning {
    pub bands: Bands,
    pub sampler: Box<dyn Sampler>,
    /// The refresh whose rows are wanted next.
    pub refresh: Refresh,
    /// What was seen last: a new picture has it, too, until the beam is there.
    pub seen: Vec<u32>,
}

impl Scanning {
    /// From the refresh `first` on.
    pub fn new(bands: Bands, sampler: Box<dyn Sampler>, first: Refresh) -> Self {
        Scanning { bands, sampler, refresh: first, seen: Vec::new() }
    }

    /// When the rows of the refresh at hand are there.
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
            // The last band of a refresh comes before the first of the next one.
            prop_assert!(bands.over(PRESENT) <= bands.due(PRESENT + INTERVAL, 0) + LEAD);
        }
    }
}
