//! Shared client memory: writes that stay ahead of the beam, writes that do not, and reads that come late.

use std::sync::{Arc, Mutex};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::beam::{MODE, lit};
use super::stage::{options, submit_at};
use crate::backend::front::{FrontMemory, FrontScanReport, SharedFront};
use crate::backend::headless::display::VirtualDisplay;
use crate::backend::{DisplayEvent, PixelRect};
use upbeat_timing::time::{Instant, Span};

const WHOLE: PixelRect = PixelRect { x: 0, y: 0, width: MODE.width, height: MODE.height };
const WRITES: u64 = 10_000;

/// The memory of a client that writes to it.
#[derive(Clone, Debug)]
struct SharedClientMemory(Arc<Mutex<Vec<u32>>>);

impl SharedClientMemory {
    fn new() -> Self {
        SharedClientMemory(Arc::new(Mutex::new(vec![0; (MODE.width * MODE.height) as usize])))
    }

    fn write(&self, y: i32, height: i32, value: u32) {
        let (from, to) = (y * MODE.width, (y + height) * MODE.width);
        self.0.lock().expect("no thread panicked")[from as usize..to as usize].fill(value);
    }
}

impl FrontMemory for SharedClientMemory {
    fn read(&self, first: i32, _height: i32, into: &mut [u32]) -> bool {
        let from = (first * MODE.width) as usize;
        into.copy_from_slice(&self.0.lock().expect("no thread panicked")[from..from + into.len()]);
        true
    }
}

/// Advances to `then` without ever being late, and returns the scan-out reports on the way.
fn go(display: &mut VirtualDisplay, then: Instant) -> Vec<FrontScanReport> {
    let mut scanned = Vec::new();
    loop {
        let next = display.next_event().filter(|next| *next <= then);
        display.advance(next.unwrap_or(then));
        while let Some(event) = display.poll_event() {
            match event {
                DisplayEvent::FrontScanned(what) => scanned.push(what),
                other => panic!("{other:?}"),
            }
        }
        if next.is_none() {
            return scanned;
        }
    }
}

/// The first pixel of each row of the screen from `y` on.
fn rows(display: &VirtualDisplay, y: i32, height: i32) -> Vec<u32> {
    let picture = display.screenshot(false).expect("it is lit");
    (y..y + height).map(|row| picture.pixels[(row * MODE.width) as usize]).collect()
}

#[test]
fn timely_shared_writes_are_never_torn_or_unproven_and_late_writes_are_torn() {
    let mut rng = StdRng::seed_from_u64(16);
    let (mut display, memory) = (lit(), SharedClientMemory::new());
    let scan = display.capabilities().scan.expect("it says how it scans");
    let mut now = Instant::ZERO + Span::from_millis(200);
    let ahead =
        display.share(Some(SharedFront { rect: WHOLE, memory: Arc::new(memory.clone()) }), now).expect("shared").0;
    assert!(ahead < Span::from_millis(1), "{ahead}");
    // The first refresh that is read completely.
    let mut present = display.last_refresh(now).expect("it refreshes").time + MODE.interval() * 2;
    let (mut torn, mut late, mut newest) = (0, 0, 0);
    for write in 1..=WRITES + WRITES / 10 {
        let height = rng.random_range(2..200);
        let y = rng.random_range(0..MODE.height - height);
        let rect = PixelRect { y, height, ..WHOLE };
        let is_late = write % 11 == 0;
        // After the beam has left the rectangle in the previous refresh, and before any of it may be read in
        // this refresh.
        let (first, last) =
            (scan.leaves(present - MODE.interval(), &rect).max(now), scan.enters(present, &rect) - ahead);
        let at = if is_late {
            scan.line_start(present, y + height / 2)
        } else {
            let room = (last - first).max(Span::ZERO);
            first + Span::from_nanos(rng.random_range(0..=room.as_nanos()))
        };
        let mut scanned = go(&mut display, at);
        let value = write as u32;
        memory.write(y, height, value);
        now = present + MODE.interval() - Span::from_nanos(1);
        scanned.extend(go(&mut display, now));
        assert!(scanned.iter().all(|scanned| scanned.is_proven), "{scanned:?}");
        assert!(scanned.iter().any(|scanned| scanned.refresh == present), "{scanned:?} without {present}");
        let seen = rows(&display, y, height);
        let is_whole = seen.iter().all(|row| *row == value);
        match is_late {
            false if last >= first => assert!(is_whole, "write {write}: {height} rows from {y}, at {at}: {seen:?}"),
            false => {}
            true => {
                late += 1;
                torn += u64::from(!is_whole && seen.contains(&value));
            }
        }
        newest = value;
        present += MODE.interval();
    }
    assert!(u64::from(newest) >= WRITES && late > 500);
    // A rectangle no higher than a band is read at once, so a late write misses it wholly instead of tearing it.
    assert!(torn * 2 > late, "{torn} of {late}");
}

#[test]
fn late_read_is_unproven_and_not_seen() {
    let (mut display, memory) = (lit(), SharedClientMemory::new());
    let now = Instant::ZERO + Span::from_millis(200);
    assert!(display.share(Some(SharedFront { rect: WHOLE, memory: Arc::new(memory.clone()) }), now).is_some());
    let present = display.last_refresh(now).expect("it refreshes").time + MODE.interval() * 2;
    go(&mut display, present - Span::from_millis(1));
    memory.write(0, MODE.height, 7);
    // No dispatch for the time of a quarter of the scan.
    display.advance(present + Span::from_millis(4));
    let scanned = go(&mut display, present + MODE.interval() - Span::from_micros(1));
    let this: Vec<FrontScanReport> = scanned.into_iter().filter(|scanned| scanned.refresh == present).collect();
    assert_eq!(this, [FrontScanReport { refresh: present, is_proven: false }]);
    assert!(rows(&display, 0, MODE.height).iter().all(|row| *row == 0), "nothing of it");
    let scanned = go(&mut display, present + MODE.interval() * 2 - Span::from_micros(1));
    assert!(scanned.iter().all(|scanned| scanned.is_proven));
    assert!(rows(&display, 0, MODE.height).iter().all(|row| *row == 7));
    // Not shared any more: no read, and no wake-up.
    let end = present + MODE.interval() * 3;
    go(&mut display, end);
    assert_eq!(display.share(None, end), None);
    memory.write(0, MODE.height, 8);
    assert_eq!((go(&mut display, end + MODE.interval() * 3), display.next_event()), (Vec::new(), None));
    assert!(rows(&display, 0, MODE.height).iter().all(|row| *row == 7));
}

#[test]
fn impossible_front_is_not_shared() {
    let now = Instant::ZERO + Span::from_millis(200);
    let front = |rect| Some(SharedFront { rect, memory: Arc::new(SharedClientMemory::new()) });
    let mut display = lit();
    for rect in [
        PixelRect { x: 1, ..WHOLE },
        PixelRect { y: -1, ..WHOLE },
        PixelRect { width: 0, ..WHOLE },
        PixelRect { height: i32::MAX, ..WHOLE },
    ] {
        assert_eq!(display.share(front(rect), now), None, "{rect:?}");
    }
    assert!(display.share(front(WHOLE), now).is_some());
    display.set_power(false, now);
    assert_eq!((display.next_event(), display.share(front(WHOLE), now)), (None, None));
    let mut plain = VirtualDisplay::new(MODE, options(), Instant::ZERO).expect("valid options");
    submit_at(&mut plain, 0, Instant::ZERO + Span::from_millis(1)).expect("taken");
    plain.advance(now);
    assert_eq!(plain.share(front(WHOLE), now), None, "it has no front buffer");
}
