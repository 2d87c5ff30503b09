//! Times of writes into the picture on screen: when the beam lights a written rectangle, and when memory that a client
//! shares is copied into the picture. Pure: times go in, times come out.
//!
//! ```text
//!   refresh    k                                        k+1
//!              │         enters      leaves             │         enters
//!   beam       ├──────────┤██████████├──────────────────┼──────────┤███
//!   copy           ├──────┤  read ahead                     ├──────┤
//!   report                            ▲ FrontScanned
//! ```

use crate::backend::front::{FrontScanReport, ReadAhead, SharedFront};
use crate::backend::{Beam, PixelRect};
use upbeat_timing::time::{Instant, Span};

/// A sleeping presenter may wake this late, and the driver may take this long to be told of the changed pixels.
const WAKE: Span = Span::from_micros(500);
/// How many bytes are copied in a microsecond at the least: 2 GB/s, half of slow memory that is written in order.
const COPIED_BYTES: i64 = 2_000;
/// Bytes of a pixel.
const PIXEL: i64 = 4;

/// How the refreshes of an output follow each other while the buffer on screen is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanGrid {
    pub beam: Beam,
    pub interval: Span,
    /// The start of any refresh.
    pub anchor: Instant,
}

impl ScanGrid {
    /// The last refresh that began at or before `now`.
    pub fn last(&self, now: Instant) -> Instant {
        let interval = self.interval.as_nanos().max(1);
        self.anchor + self.interval * (now - self.anchor).as_nanos().div_euclid(interval)
    }

    /// When a rectangle is lit that was written from `begun` to `ended`.
    pub fn light_of(&self, rect: &PixelRect, (begun, ended): (Instant, Instant)) -> RowLight {
        let mut refresh = self.last(begun);
        let mut torn = false;
        while ended > self.beam.enters(refresh, rect) {
            // Written before the beam had left the rectangle: this refresh shows a part of it.
            torn |= begun < self.beam.leaves(refresh, rect);
            refresh += self.interval;
        }
        RowLight { refresh, light: self.beam.enters(refresh, rect), torn }
    }
}

/// The light of a written rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowLight {
    /// The start of the refresh that shows all of it.
    pub refresh: Instant,
    /// When its first row is lit.
    pub light: Instant,
    /// An earlier refresh shows a part of it.
    pub torn: bool,
}

/// Memory of a client that is copied into the picture on screen once a refresh.
#[derive(Debug)]
pub(super) struct FrontScan {
    shared: SharedFront,
    grid: ScanGrid,
    /// The pixels that were read last.
    pixels: Vec<u32>,
    /// Pixels were read.
    is_read: bool,
    /// The start of the refresh for which memory is read next.
    next: Instant,
    /// The report of the refresh before it, until the beam has left the rectangle.
    passing: Option<FrontScanReport>,
}

impl FrontScan {
    /// Reads from the first refresh on whose rectangle can still be copied in time.
    pub fn new(shared: SharedFront, grid: ScanGrid, now: Instant) -> Self {
        let pixels = shared.rect.width.max(0) as usize * shared.rect.height.max(0) as usize;
        let next = grid.last(now);
        let mut scan = FrontScan { shared, grid, pixels: vec![0; pixels], is_read: false, next, passing: None };
        scan.skip_missed(now);
        scan
    }

    pub fn rect(&self) -> PixelRect {
        self.shared.rect
    }

    /// The pixels that were read last; `None` before the first.
    pub fn pixels(&self) -> Option<&[u32]> {
        self.is_read.then_some(&*self.pixels)
    }

    /// When there is work to do next.
    pub fn next_wake(&self) -> Instant {
        let passed = self.passing.map(|report| self.grid.beam.leaves(report.refresh, &self.shared.rect));
        passed.map_or(self.read_at(), |passed| passed.min(self.read_at()))
    }

    /// Whether the memory is to be read now.
    pub fn is_read_due(&self, now: Instant) -> bool {
        self.read_at() <= now
    }

    /// Moves the refreshes to the phase of `refresh`, the start of one.
    pub fn align(&mut self, refresh: Instant) {
        self.grid.anchor = refresh;
        self.next = self.grid.last(self.next + self.grid.interval / 2);
    }

    /// Reads the memory for the next refresh. Returns false, and skips that refresh, if its beam is already there or the
    /// memory cannot be read.
    pub fn read(&mut self, now: Instant) -> bool {
        let is_early = now <= self.lit_at(self.next);
        let is_read = is_early && self.shared.memory.read(0, self.shared.rect.height, &mut self.pixels);
        self.is_read = is_read || self.is_read && !is_early;
        if !is_read {
            self.next += self.grid.interval;
            self.skip_missed(now);
        }
        is_read
    }

    /// The pixels that were [read](Self::read) are in the picture on screen since `ended`. Returns the report of the
    /// refresh before if it is still due: the beam leaves a high rectangle while the next copy begins.
    pub fn copied(&mut self, ended: Instant) -> Option<FrontScanReport> {
        let report = FrontScanReport { refresh: self.next, is_proven: ended <= self.lit_at(self.next) };
        self.next += self.grid.interval;
        self.skip_missed(ended);
        self.passing.replace(report)
    }

    /// The report of the refresh in which the beam has left the rectangle by `now`.
    pub fn take_passed(&mut self, now: Instant) -> Option<FrontScanReport> {
        let (beam, rect) = (self.grid.beam, self.shared.rect);
        self.passing.take_if(|report| beam.leaves(report.refresh, &rect) <= now)
    }

    fn read_at(&self) -> Instant {
        self.lit_at(self.next) - copy_lead(&self.shared.rect)
    }

    fn lit_at(&self, refresh: Instant) -> Instant {
        self.grid.beam.enters(refresh, &self.shared.rect)
    }

    /// Skips refreshes in which the memory would have had to be read before `now`.
    fn skip_missed(&mut self, now: Instant) {
        while self.read_at() < now {
            self.next += self.grid.interval;
        }
    }
}

/// How long before the light of its first row a rectangle is copied.
fn copy_lead(rect: &PixelRect) -> Span {
    let bytes = i64::from(rect.width) * i64::from(rect.height) * PIXEL;
    WAKE + Span::from_micros(bytes / COPIED_BYTES)
}

/// How long before its light any row of the rectangle may be read: the last row is read together with the first.
pub(super) fn read_ahead(rect: &PixelRect, beam: &Beam) -> ReadAhead {
    let scan = beam.line_start(Instant::ZERO, rect.height) - Instant::ZERO;
    ReadAhead(copy_lead(rect) + scan)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::backend::ScanDirection;
    use crate::backend::front::FrontMemory;

    const INTERVAL: Span = Span::from_millis(16);
    /// 600 rows of 25 µs, and 1 ms of blanking.
    const BEAM: Beam = Beam { width: 800, height: 600, direction: ScanDirection::Down, active: Span::from_millis(15) };
    const RECT: PixelRect = PixelRect { x: 10, y: 200, width: 40, height: 40 };

    /// A microsecond after a start of a refresh.
    fn at(micros: i64) -> Instant {
        Instant::from_nanos(1_000_000_000) + Span::from_micros(micros)
    }

    fn grid() -> ScanGrid {
        ScanGrid { beam: BEAM, interval: INTERVAL, anchor: at(0) }
    }

    #[test]
    fn rectangle_written_ahead_of_the_beam_is_lit_in_the_same_refresh() {
        let light = |begun, ended| grid().light_of(&RECT, (at(begun), at(ended)));
        let lit = |refresh: i64, torn| RowLight { refresh: at(refresh), light: at(refresh + 5_000), torn };
        assert_eq!(light(100, 5_000), lit(0, false));
        assert_eq!(light(4_900, 5_001), lit(16_000, true), "the beam arrived during the write");
        assert_eq!(light(5_500, 5_600), lit(16_000, true), "the beam was inside");
        assert_eq!(light(6_000, 6_100), lit(16_000, false), "the beam had left");
        assert_eq!(light(4_900, 21_001), lit(32_000, true), "the write took more than a refresh");
    }

    /// Memory whose pixels are all the number of the newest write.
    #[derive(Debug, Default)]
    struct NumberedMemory(AtomicU32);

    impl FrontMemory for NumberedMemory {
        fn read(&self, _first: i32, _height: i32, into: &mut [u32]) -> bool {
            into.fill(self.0.load(Ordering::Relaxed));
            into[0] != u32::MAX
        }
    }

    fn scan(now: Instant) -> (FrontScan, Arc<NumberedMemory>) {
        let memory = Arc::new(NumberedMemory::default());
        (FrontScan::new(SharedFront { rect: RECT, memory: memory.clone() }, grid(), now), memory)
    }

    #[test]
    fn memory_is_copied_before_its_first_row_and_reported_after_its_last() {
        let (mut scan, memory) = scan(at(0));
        for refresh in 0..3 {
            let start = at(16_000 * refresh);
            let read_at = scan.next_wake();
            assert_eq!(read_at, start + Span::from_micros(5_000 - 503));
            assert!(scan.is_read_due(read_at) && scan.take_passed(read_at).is_none());
            memory.0.store(refresh as u32, Ordering::Relaxed);
            assert!(scan.read(read_at));
            assert_eq!(scan.copied(read_at + Span::from_micros(100)), None);
            assert_eq!(scan.pixels(), Some(&[refresh as u32; 1_600][..]));
            let passed = scan.next_wake();
            assert_eq!(passed, start + Span::from_micros(6_000));
            assert!(!scan.is_read_due(passed));
            assert_eq!(scan.take_passed(passed), Some(FrontScanReport { refresh: start, is_proven: true }));
        }
    }

    #[test]
    fn copy_that_ends_behind_the_beam_is_not_proven() {
        let (mut scan, _memory) = scan(at(0));
        assert!(scan.read(at(4_900)));
        scan.copied(at(5_001));
        assert_eq!(scan.take_passed(at(6_000)), Some(FrontScanReport { refresh: at(0), is_proven: false }));
    }

    #[test]
    fn refreshes_that_are_over_are_skipped() {
        let (mut scan, memory) = scan(at(0));
        assert!(!scan.read(at(50_000)), "the beam was there three times");
        assert_eq!(scan.next_wake(), at(48_000 + 4_497));
        assert_eq!(scan.pixels(), None);
        assert!(scan.read(scan.next_wake()));
        scan.copied(at(53_000));
        memory.0.store(u32::MAX, Ordering::Relaxed);
        assert!(!scan.read(at(64_000)), "its pool is gone");
        assert_eq!(scan.pixels(), None);
    }

    #[test]
    fn copies_keep_the_phase_of_the_display() {
        let (mut scan, _memory) = scan(at(0));
        scan.align(at(-16_000 * 10 - 90));
        assert_eq!(scan.next_wake(), at(4_497 - 90));
        scan.align(at(16_000 * 10 + 90));
        assert_eq!(scan.next_wake(), at(4_497 + 90));
    }

    #[test]
    fn high_rectangle_is_reported_when_the_next_copy_begins() {
        let whole = PixelRect { x: 0, y: 0, width: 800, height: 600 };
        let shared = SharedFront { rect: whole, memory: Arc::new(NumberedMemory::default()) };
        let mut scan = FrontScan::new(shared, grid(), at(0));
        let first = scan.next_wake();
        assert_eq!(first, at(16_000 - 1_460));
        assert!(scan.read(first));
        assert_eq!(scan.copied(first), None);
        assert!(scan.next_wake() == first + INTERVAL && scan.read(first + INTERVAL));
        assert_eq!(
            scan.copied(first + INTERVAL),
            Some(FrontScanReport { refresh: at(16_000), is_proven: true }),
            "0.46 ms before the beam has left its last row"
        );
        assert!(read_ahead(&whole, &BEAM).0 >= at(16_000 + 15_000) - first);
    }
}
