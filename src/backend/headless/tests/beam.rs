//! Front-buffer writes that stay ahead of the beam, and writes that do not.

use std::cell::RefCell;
use std::rc::Rc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::stage::{options, submit_at};
use crate::backend::headless::display::VirtualDisplay;
use crate::backend::headless::image::PanelImage;
use crate::backend::headless::options::OutputOptions;
use crate::backend::headless::panel_watch::{PanelWatch, ScreenTime};
use crate::backend::{DisplayEvent, FrameId, FramePlan, PixelRect, PlanChange, VideoMode};
use upbeat_timing::output::OutputMachine;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::vsync::VsyncModel;

/// The number of rows is that of a small monitor.
pub(super) const MODE: VideoMode = VideoMode { width: 4, height: 720, refresh: 60_000 };
const WRITES: u64 = 10_000;
/// Each written rectangle has this column.
const WRITTEN_COLUMN: i32 = 1;
/// The longest learned cost of a write, in nanoseconds.
const LONGEST_WRITE: i64 = 4_000_000;

/// A display with a frame on screen and a writable front buffer.
pub(super) fn lit() -> VirtualDisplay {
    let options = OutputOptions { front_buffer: true, ..options() };
    let mut display = VirtualDisplay::new(MODE, options, Instant::ZERO).expect("valid options");
    submit_at(&mut display, 0, Instant::ZERO + Span::from_millis(1)).expect("taken");
    display.advance(Instant::ZERO + Span::from_millis(100));
    while display.poll_event().is_some() {}
    display
}

fn write(display: &mut VirtualDisplay, frame: u64, rect: PixelRect, at: Instant) {
    let pixels = vec![frame as u32; (rect.width * rect.height) as usize];
    let plan = FramePlan::plain(FrameId(frame), PlanChange::FrontRectangle { rect, pixels });
    display.submit(plan, None, at).map_err(|refused| refused.0).expect("taken");
}

/// The light of the first row written at `at`, its refresh, and whether the write was torn.
fn light(display: &mut VirtualDisplay, frame: u64, at: Instant) -> (Instant, Option<u64>, bool) {
    display.advance(at + MODE.interval() * 2);
    match display.poll_event() {
        Some(DisplayEvent::FrontLit { frame: FrameId(lit), light, sequence, torn }) if lit == frame => {
            (light, sequence, torn)
        }
        other => panic!("frame {frame}: {other:?}"),
    }
}

/// The number that each row of the panel has shown last, the rows that showed a lower number than before, and the
/// refreshes of unknown content.
#[derive(Debug, Default)]
struct RowHistory {
    newest: Vec<u32>,
    backwards: u64,
    unproven: u64,
}

/// A watch that keeps a [`RowHistory`] of the column at `WRITTEN_COLUMN`.
struct RowWatch(Rc<RefCell<RowHistory>>);

impl PanelWatch for RowWatch {
    fn image_unproven(&mut self) {
        self.0.borrow_mut().unproven += 1;
    }

    fn image_done(&mut self, image: &PanelImage<'_>, _: ScreenTime) {
        let mut history = self.0.borrow_mut();
        let mut column = Vec::new();
        image.read(PixelRect { x: WRITTEN_COLUMN, y: 0, width: 1, height: image.height() }, &mut column);
        history.newest.resize(column.len(), 0);
        let backwards = history.newest.iter().zip(&column).filter(|(newest, number)| number < newest).count();
        history.backwards += backwards as u64;
        history.newest = column;
    }
}

#[test]
fn timely_front_writes_are_never_torn_and_late_writes_are() {
    let mut rng = StdRng::seed_from_u64(16);
    let mut display = lit();
    let history = Rc::new(RefCell::new(RowHistory::default()));
    display.add_watch(Box::new(RowWatch(history.clone())));
    let scan = display.capabilities().scan.expect("it says how it scans");
    let (mut kept, mut late, mut frame) = (0, 0, 0);
    let mut now = Instant::ZERO + Span::from_millis(200);
    while kept < WRITES {
        frame += 1;
        now += MODE.interval() * 3 + Span::from_nanos(rng.random_range(0..20_000_000));
        let y = rng.random_range(0..MODE.height - 1);
        let height = rng.random_range(1..200).min(MODE.height - y);
        let rect = PixelRect { x: 1, y, width: 2, height };
        let before = display.last_refresh(now).expect("it refreshes");
        let mut vsync = VsyncModel::new(MODE.interval(), before.time);
        vsync.synchronise(before.time);
        let mut machine = OutputMachine::<()>::new(vsync, Span::from_millis(1), now);
        machine.set_scan(Some(scan));
        let cost = Span::from_nanos(rng.random_range(1..LONGEST_WRITE));
        machine.wrote(cost);
        let Some(index) = machine.seen_in_place(&rect, now) else {
            // As late as possible: the beam is in the middle of the rectangle.
            let middle = scan.line_start(before.time, y + height / 2) + Span::from_nanos(1);
            if height > 2 && middle > now {
                write(&mut display, frame, rect, middle);
                let (lit, _, torn) = light(&mut display, frame, middle);
                assert!(torn && lit >= before.time + MODE.interval(), "row {y}, {height} high");
                late += 1;
            }
            continue;
        };
        // The write takes a random time up to its limit.
        let done = now + Span::from_nanos(rng.random_range(0..=cost.as_nanos()));
        write(&mut display, frame, rect, done);
        let (lit, sequence, torn) = light(&mut display, frame, done);
        let seen = machine.vsync().present(index);
        assert!(!torn, "row {y}, {height} high, written at {done}, seen at {seen}");
        assert_eq!((lit, sequence), (scan.line_start(seen, y), display.last_refresh(seen).map(|at| at.sequence)));
        assert!(lit >= done, "no light before it is written");
        kept += 1;
    }
    assert!(late > 500, "{late} late ones");
    let history = history.borrow();
    assert_eq!((history.backwards, history.unproven), (0, 0), "no row shows older content after newer");
    assert!(history.newest.iter().all(|newest| *newest > 0), "each row was written");
}
