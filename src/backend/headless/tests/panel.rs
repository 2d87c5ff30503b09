//! The panel's images, as a camera in front of it would see them.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

use expect_test::expect;
use proptest::prelude::*;

use super::stage::{compose, ms, options, plan, submit_at};
use crate::backend::headless::display::VirtualDisplay;
use crate::backend::headless::image::PanelImage;
use crate::backend::headless::options::OutputOptions;
use crate::backend::headless::panel_watch::{PanelWatch, ScreenTime};
use crate::backend::headless::scan::scan;
use crate::backend::{
    BufferStorage, CursorPlane, DisplayEvent, FrameId, FramePlan, PixelBuffer, PixelRect, PlanChange, SubmitError,
    VideoMode,
};
use upbeat_timing::time::{Instant, Span};

/// 8 rows, 10 ms a refresh.
const MODE: VideoMode = VideoMode { width: 3, height: 8, refresh: 100_000 };

fn vblank(refresh: u64) -> Instant {
    ms(10.0 * refresh as f64)
}

fn display(options: OutputOptions) -> VirtualDisplay {
    VirtualDisplay::new(MODE, options, Instant::ZERO).expect("valid options")
}

fn front_options() -> OutputOptions {
    OutputOptions { front_buffer: true, cursor_plane: Some((64, 64)), ..options() }
}

fn rectangle(frame: u64, y: i32, height: i32, colour: u32) -> FramePlan {
    let rect = PixelRect { x: 1, y, width: 2, height };
    plan(frame, PlanChange::FrontRectangle { rect, pixels: vec![colour; 2 * height as usize] })
}

/// Logs every image that was on screen.
#[derive(Clone, Default)]
struct Camera(Rc<RefCell<String>>);

impl PanelWatch for Camera {
    fn image_done(&mut self, image: &PanelImage<'_>, shown: ScreenTime) {
        let mut picture = PixelBuffer::default();
        image.copy_into(&mut picture);
        let rows: Vec<_> = picture.pixels.chunks(picture.width as usize).map(|row| format!("{row:x?}")).collect();
        let (first, frame) = (shown.first, shown.frame.0);
        let mut log = self.0.borrow_mut();
        writeln!(log, "refresh {} {}..{} frame {frame}", first.sequence, first.time, shown.until).expect("a string");
        writeln!(log, "    {}", rows.join(" ")).expect("a string");
    }
}

fn events(display: &mut VirtualDisplay) -> Vec<DisplayEvent> {
    std::iter::from_fn(|| display.poll_event()).collect()
}

#[test]
fn a_rectangle_written_under_the_beam_lands_row_by_row() {
    let (mut display, camera) = (display(front_options()), Camera::default());
    let id = display.add_watch(Box::new(camera.clone()));
    submit_at(&mut display, 1, ms(3.0)).expect("taken");
    display.advance(ms(10.0));
    let beam_at_row_4 = (3..).map(|n| ms(10.0) + Span::from_micros(100) * n).find(|&t| display.rows_read(t) == Some(4));
    let now = beam_at_row_4.expect("the beam gets there");
    display.submit(rectangle(2, 3, 3, 0xb), Some(now), now).map_err(|e| e.0).expect("taken");
    display.submit(rectangle(3, 6, 1, 0xc), Some(now), now).map_err(|e| e.0).expect("taken");
    let row = |refresh, row| scan(MODE, MODE.interval()).line_start(vblank(refresh), row);
    assert_eq!(display.next_event(), Some(ms(20.0)), "the camera waits for the whole picture");
    display.advance(ms(47.0));
    display.remove_watch(id, ms(47.0));
    expect![[r#"
        refresh 1 10.000000ms..20.000000ms frame 3
            [1, 1, 1] [1, 1, 1] [1, 1, 1] [1, 1, 1] [1, b, b] [1, b, b] [1, c, c] [1, 1, 1]
        refresh 2 20.000000ms..47.000000ms frame 3
            [1, 1, 1] [1, 1, 1] [1, 1, 1] [1, b, b] [1, b, b] [1, b, b] [1, c, c] [1, 1, 1]
    "#]]
    .assert_eq(&camera.0.borrow());
    let presented = DisplayEvent::Presented { frame: FrameId(1), time: vblank(1), sequence: Some(1) };
    let written = |frame, sequence, light, torn| DisplayEvent::FrontLit {
        frame: FrameId(frame),
        light,
        sequence: Some(sequence),
        torn,
    };
    let (ahead, torn) = (written(3, 1, row(1, 6), false), written(2, 2, row(2, 3), true));
    assert_eq!(events(&mut display), [presented, ahead, torn]);
}

#[test]
fn the_cursor_is_over_the_picture_and_moves_without_a_new_buffer() {
    let (mut display, camera) = (display(front_options()), Camera::default());
    let id = display.add_watch(Box::new(camera.clone()));
    let image = Arc::new(PixelBuffer { width: 2, height: 1, pixels: vec![0xff00_0009, 0x8000_0020] });
    let first =
        FramePlan { cursor: Some(CursorPlane { x: 2, y: 0, image: image.clone() }), ..compose(&mut display, 0x80) };
    display.submit(first, Some(ms(1.0)), ms(1.0)).map_err(|e| e.0).expect("taken");
    let moved = FramePlan { cursor: Some(CursorPlane { x: -1, y: 7, image }), ..plan(2, PlanChange::Planes) };
    display.submit(moved, Some(ms(11.0)), ms(11.0)).map_err(|e| e.0).expect("taken");
    display.submit(plan(3, PlanChange::Planes), Some(ms(21.0)), ms(21.0)).map_err(|e| e.0).expect("taken");
    display.advance(ms(30.0));
    display.remove_watch(id, ms(35.0));
    expect![[r#"
        refresh 1 10.000000ms..20.000000ms frame 128
            [80, 80, 9] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80]
        refresh 2 20.000000ms..30.000000ms frame 2
            [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [60, 80, 80]
        refresh 3 30.000000ms..35.000000ms frame 3
            [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80] [80, 80, 80]
    "#]]
    .assert_eq(&camera.0.borrow());
}

#[test]
fn a_screenshot_is_what_is_on_screen_and_a_dark_panel_has_none() {
    let mut display = display(options());
    assert!(display.screenshot(true).is_none());
    submit_at(&mut display, 5, ms(1.0)).expect("taken");
    assert!(display.screenshot(true).is_none(), "it is not on screen yet");
    display.advance(ms(10.0));
    assert_eq!(display.screenshot(true).map(|shot| shot.pixels), Some(vec![5; 24]));
    display.set_power(false, ms(12.0));
    assert!(display.screenshot(true).is_none());
}

#[test]
fn a_picture_stays_what_it_was_however_late_it_is_read_and_keeps_no_frame_from_the_display() {
    let mut display = display(front_options());
    submit_at(&mut display, 1, ms(1.0)).expect("taken");
    display.advance(ms(10.0));
    let shots: Vec<_> = (2..20u64)
        .map(|frame| {
            let before = display.snapshot(true).expect("it is lit");
            // A write above the beam, into a buffer to which a snapshot refers.
            display.submit(rectangle(100 + frame, 7, 1, 0), None, vblank(frame - 1)).expect("taken");
            submit_at(&mut display, frame, vblank(frame - 1) + Span::from_millis(1)).expect("there is a buffer");
            display.advance(vblank(frame));
            before
        })
        .collect();
    for (shot, frame) in shots.iter().zip(1..) {
        assert_eq!(shot.whole().map(|shot| shot.pixels), Some(vec![frame; 24]));
    }
    drop(shots);
    // All buffers are back in the pool, with their contents.
    for frame in 20..23u64 {
        submit_at(&mut display, frame, vblank(frame - 1) + Span::from_millis(1)).expect("there is a buffer");
        display.advance(vblank(frame));
    }
    let next = display.acquire().expect("a buffer");
    assert!(next.age > 0, "{}", next.age);
    assert_eq!(display.screenshot(true).map(|shot| shot.pixels), Some(vec![22; 24]));
}

#[test]
fn a_front_rectangle_that_makes_no_sense_is_refused_with_the_reason() {
    let mut display = display(front_options());
    let reason = |display: &VirtualDisplay, plan: &FramePlan| match display.test(plan) {
        Err(SubmitError::Unsupported(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&display, &rectangle(2, 0, 1, 0)), "there is no buffer on screen to draw into");
    submit_at(&mut display, 1, ms(1.0)).expect("taken");
    display.advance(ms(10.0));
    for (y, height) in [(-1, 2), (7, 2), (0, 0)] {
        assert_eq!(reason(&display, &rectangle(2, y, height, 0)), "the rectangle is empty or not inside the output");
    }
    let rect = PixelRect { x: i32::MAX, y: 0, width: i32::MAX, height: 1 };
    let huge = plan(2, PlanChange::FrontRectangle { rect, pixels: Vec::new() });
    assert_eq!(reason(&display, &huge), "the rectangle is empty or not inside the output");
    let rect = PixelRect { x: 0, y: 0, width: 2, height: 2 };
    let few = plan(2, PlanChange::FrontRectangle { rect, pixels: vec![0; 3] });
    assert_eq!(reason(&display, &few), "the number of pixels does not match the rectangle");
    let mut plain = VirtualDisplay::new(MODE, options(), Instant::ZERO).expect("valid options");
    submit_at(&mut plain, 1, ms(1.0)).expect("taken");
    plain.advance(ms(10.0));
    assert_eq!(reason(&plain, &rectangle(2, 0, 1, 0)), "this output has no front buffer to draw into");
}

proptest! {
    /// The reference panel reads each row from the front buffer at that row's time.
    #[test]
    fn each_row_shows_the_front_buffer_at_its_scan_time(
        writes in prop::collection::vec((0i64..7_000_000, 0i32..8, 1i32..8), 1..30),
    ) {
        let (mut display, camera) = (display(front_options()), ColumnCamera::default());
        let id = display.add_watch(Box::new(camera.clone()));
        submit_at(&mut display, 1, ms(3.0)).expect("taken");
        let (mut now, mut history) = (ms(10.0), vec![(ms(10.0), 0, 8, 1)]);
        for (colour, (gap, y, height)) in (2..).zip(writes) {
            now += Span::from_nanos(gap);
            let height = height.min(8 - y);
            let plan = rectangle(u64::from(colour), y, height, colour);
            display.submit(plan, Some(now), now).map_err(|e| e.0).expect("taken");
            history.push((now, y, y + height, colour));
        }
        let refreshes = now.as_nanos() / 10_000_000;
        display.remove_watch(id, vblank(refreshes + 2));
        let pictures = camera.0.borrow();
        let beam = scan(MODE, MODE.interval());
        for refresh in 1..=refreshes + 1 {
            let start = vblank(refresh);
            let rows: Vec<u32> = (0..8).map(|row| {
                let read_at = beam.line_start(start, row);
                let there = history.iter().rev().find(|(at, from, to, _)| *at <= read_at && (*from..*to).contains(&row));
                there.expect("the first frame filled it").3
            }).collect();
            let seen = pictures.iter().rev().find(|(shown, _)| shown.first.time <= start && start < shown.until);
            prop_assert_eq!(&seen.expect("it is lit all the time").1, &rows, "refresh {}", refresh);
        }
    }

    #[test]
    fn front_rectangles_keep_the_ages_right(actions in prop::collection::vec((0u8..3, 0i64..13_000_000), 1..60)) {
        let mut display = display(front_options());
        // Like a compositor: repaint the damage of the frames since, and include front-buffer writes in the
        // damage of the next frame.
        let (mut now, mut picture) = (Instant::ZERO, vec![0u32; 24]);
        let (mut changes, mut change) = (Vec::<Vec<usize>>::new(), Vec::new());
        for (colour, (action, gap)) in (1..).zip(actions) {
            now += Span::from_nanos(gap);
            display.advance(now);
            if action == 0 {
                if display.submit(rectangle(0, 0, 1, colour), Some(now), now).is_ok() {
                    picture[1..3].fill(colour);
                    change.extend([1, 2]);
                }
                continue;
            }
            let Some(mut buffer) = display.acquire() else { continue };
            let age = buffer.age as usize;
            let BufferStorage::Memory(memory) = &mut buffer.storage else { panic!("not in memory") };
            picture[5] = colour;
            change.push(5);
            if age > 0 {
                let older = changes.iter().rev().take(age - 1).flatten();
                older.chain(&change).for_each(|&pixel| memory.pixels[pixel] = picture[pixel]);
                prop_assert_eq!(&memory.pixels, &picture);
            }
            memory.pixels.clone_from(&picture);
            match display.submit(plan(0, PlanChange::Compose { buffer, damage: Vec::new() }), Some(now), now) {
                Ok(()) => changes.push(std::mem::take(&mut change)),
                Err((_, FramePlan { change: PlanChange::Compose { buffer, .. }, .. })) => display.release(buffer),
                Err(_) => prop_assert!(false, "the plan came back changed"),
            }
        }
    }
}

/// A column of pixels, with the times at which it was on screen.
type CapturedColumn = (ScreenTime, Vec<u32>);

/// Keeps the second column of every image.
#[derive(Clone, Default)]
struct ColumnCamera(Rc<RefCell<Vec<CapturedColumn>>>);

impl PanelWatch for ColumnCamera {
    fn image_done(&mut self, image: &PanelImage<'_>, shown: ScreenTime) {
        let mut column = Vec::new();
        image.read(PixelRect { x: 1, y: 0, width: 1, height: 8 }, &mut column);
        self.0.borrow_mut().push((shown, column));
    }
}

#[test]
fn a_buffer_that_outlived_its_mode_is_refused_and_costs_the_new_mode_none() {
    let mut display = display(options());
    let (first, second) = (compose(&mut display, 1), display.acquire().expect("a free buffer"));
    // Back to the same size, so only the slot's number tells the buffers apart.
    for height in [9, 8] {
        display.set_mode(VideoMode { height, ..MODE }, ms(5.0)).expect("a valid mode");
    }
    let (error, plan) = display.submit(first, Some(ms(6.0)), ms(6.0)).expect_err("refused");
    assert_eq!(error, SubmitError::Unsupported("the buffer is not one of this output in this mode"));
    let PlanChange::Compose { buffer: first, .. } = plan.change else { panic!("the plan came back changed") };
    let lent: Vec<_> = std::iter::from_fn(|| display.acquire()).collect();
    assert_eq!(lent.len(), options().buffers);
    assert!(lent.iter().all(|buffer| buffer.age == 0), "nothing was composed in this mode");
    display.release(first);
    display.release(second);
    assert!(display.acquire().is_none(), "a foreign buffer came into the pool");
    lent.into_iter().for_each(|buffer| display.release(buffer));
    assert_eq!(std::iter::from_fn(|| display.acquire()).count(), options().buffers);
}
