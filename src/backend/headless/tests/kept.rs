//! Frames whose pixels the renderer keeps.

use super::stage::{MODE, compose, ms, options, plan};
use crate::backend::headless::display::VirtualDisplay;
use crate::backend::headless::options::OutputOptions;
use crate::backend::kept::KeptPixels;
use crate::backend::{BufferStorage, FramePlan, PixelBuffer, PixelRect, PlanChange, ScreenSnapshot, SubmitError};
use upbeat_timing::time::{Instant, Span};

const WHOLE: PixelRect = PixelRect { x: 0, y: 0, width: MODE.width, height: MODE.height };
/// What the buffer's own memory holds, which is not shown.
const STALE: u32 = 99;

/// A plan whose pixels, all of them `frame`, are kept.
fn kept(display: &mut VirtualDisplay, frame: u64) -> FramePlan {
    let plan = compose(display, frame);
    let PlanChange::Compose { buffer, damage } = plan.change else { panic!("it composes") };
    let BufferStorage::Memory(mut memory) = buffer.storage else { panic!("in memory") };
    let picture = ScreenSnapshot::copied(PixelBuffer { pixels: memory.pixels.clone(), ..memory });
    memory.pixels.fill(STALE);
    let storage = BufferStorage::Kept(KeptPixels { memory, picture });
    let buffer = crate::backend::Buffer { storage, ..buffer };
    FramePlan { change: PlanChange::Compose { buffer, damage }, ..plan }
}

fn show(display: &mut VirtualDisplay, plan: FramePlan, at: Instant) {
    assert!(display.submit(plan, Some(at), at).is_ok());
    display.advance(at + Span::from_millis(10));
    while display.poll_event().is_some() {}
}

fn shown(display: &VirtualDisplay) -> Vec<u32> {
    display.screenshot(true).expect("it is on").pixels
}

fn write(display: &mut VirtualDisplay, frame: u64, at: Instant) -> Result<(), SubmitError> {
    let change = PlanChange::FrontRectangle { rect: WHOLE, pixels: vec![77; 8] };
    display.submit(plan(frame, change), Some(at), at).map_err(|(error, _)| error)
}

#[test]
fn kept_pixels_are_shown_and_stay_while_a_snapshot_lives() {
    let mut display = VirtualDisplay::new(MODE, options(), Instant::ZERO).expect("valid options");
    let frame = kept(&mut display, 1);
    show(&mut display, frame, ms(2.0));
    assert_eq!(shown(&display), [1; 8]);
    let snapshot = display.snapshot(true).expect("it is on");
    for number in 2..8 {
        let frame = kept(&mut display, number);
        show(&mut display, frame, ms(10.0 * number as f64));
        assert_eq!(shown(&display), [number as u32; 8]);
    }
    assert_eq!(snapshot.whole().expect("it lives").pixels, [1; 8]);
}

#[test]
fn write_is_refused_until_the_pixels_are_at_hand() {
    let options = OutputOptions { front_buffer: true, ..options() };
    let mut display = VirtualDisplay::new(MODE, options, Instant::ZERO).expect("valid options");
    let frame = kept(&mut display, 1);
    show(&mut display, frame, ms(2.0));
    assert!(!display.needs_pixels());
    assert!(matches!(write(&mut display, 2, ms(14.0)), Err(SubmitError::Unsupported(_))));
    assert_eq!(shown(&display), [1; 8]);
    // From now on frames come in memory, and can be written.
    assert!(display.needs_pixels());
    let frame = compose(&mut display, 3);
    show(&mut display, frame, ms(16.0));
    assert_eq!(write(&mut display, 4, ms(27.0)), Ok(()));
    display.advance(ms(41.0));
    assert_eq!(shown(&display), [77; 8]);
    display.advance(ms(20_000.0));
    assert!(!display.needs_pixels());
}

#[test]
fn watch_of_a_kept_frame_sees_its_pixels() {
    let mut display = VirtualDisplay::new(MODE, options(), Instant::ZERO).expect("valid options");
    let frame = kept(&mut display, 1);
    show(&mut display, frame, ms(2.0));
    let (log, watch) = crate::backend::headless::record::ProbeLog::new(WHOLE, 10);
    display.add_watch(watch);
    assert!(display.needs_pixels());
    let frame = kept(&mut display, 2);
    show(&mut display, frame, ms(12.0));
    let frame = compose(&mut display, 3);
    show(&mut display, frame, ms(22.0));
    let seen: Vec<u32> = std::iter::from_fn(|| log.pop()).map(|sample| sample.pixels[0]).collect();
    assert_eq!(seen, [1, 2, 3]);
}
