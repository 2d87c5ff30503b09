//! Overlay planes of the panel.

use std::sync::{Arc, Weak};

use super::stage::{compose, ms, options, plan};
use crate::backend::front::FrontMemory;
use crate::backend::headless::display::VirtualDisplay;
use crate::backend::headless::limits::OptionsError;
use crate::backend::headless::options::OutputOptions;
use crate::backend::plane::{DeviceMemory, PlaneContent, PlaneContents, PlaneMemory, SourceRect};
use crate::backend::{CursorPlane, FramePlan, PixelBuffer, PixelRect, PlanChange, SubmitError, VideoMode};
use upbeat_timing::time::Instant;

/// 5 columns and 4 rows, 10 ms a refresh.
const MODE: VideoMode = VideoMode { width: 5, height: 4, refresh: 100_000 };
const COLOURS: u32 = 0x00ff_ffff;

/// A client's memory of one colour; `None`: it cannot be read.
#[derive(Debug)]
struct OneColourMemory(Option<u32>);

impl FrontMemory for OneColourMemory {
    fn read(&self, _first: i32, _height: i32, into: &mut [u32]) -> bool {
        self.0.map(|colour| into.fill(colour)).is_some()
    }
}

fn display(overlays: u32) -> VirtualDisplay {
    let options = OutputOptions { overlays, cursor_plane: Some((4, 4)), ..options() };
    VirtualDisplay::new(MODE, options, Instant::ZERO).expect("valid options")
}

fn content(colour: Option<u32>, target: PixelRect) -> PlaneContent {
    let source = SourceRect { x: 0.0, y: 0.0, width: f64::from(target.width), height: f64::from(target.height) };
    let memory = PlaneMemory::Shared(Arc::new(OneColourMemory(colour)));
    PlaneContent { memory, hold: Arc::new(()), source, is_opaque: true, target }
}

fn rect(x: i32, y: i32, width: i32, height: i32) -> PixelRect {
    PixelRect { x, y, width, height }
}

fn on_overlays(overlays: Vec<PlaneContent>) -> PlaneContents {
    PlaneContents { direct: None, overlays }
}

fn show(display: &mut VirtualDisplay, at: f64, plan: FramePlan) {
    display.submit(plan, Some(ms(at)), ms(at)).map_err(|(error, _)| error).expect("taken");
    display.advance(ms(at + 10.0));
}

/// The colours on screen, row by row.
fn rows(display: &VirtualDisplay) -> Vec<Vec<u32>> {
    let picture = display.screenshot(true).expect("a lit panel");
    let row = |row: &[u32]| row.iter().map(|pixel| pixel & COLOURS).collect();
    picture.pixels.chunks_exact(MODE.width as usize).map(row).collect()
}

#[test]
fn overlays_lie_between_the_picture_and_the_cursor_and_may_reach_over_the_edges() {
    let mut display = display(2);
    let image = Arc::new(PixelBuffer { width: 1, height: 1, pixels: vec![0xff00_000c] });
    let planes = on_overlays(vec![content(Some(0xa), rect(1, 1, 2, 2)), content(Some(0xb), rect(4, -1, 3, 2))]);
    let cursor = Some(CursorPlane { x: 2, y: 2, image });
    let first = FramePlan { planes, cursor, ..compose(&mut display, 1) };
    show(&mut display, 3.0, first);
    assert_eq!(rows(&display), [[1, 1, 1, 1, 0xb], [1, 0xa, 0xa, 1, 1], [1, 0xa, 0xc, 1, 1], [1, 1, 1, 1, 1]]);
    // A frame that states no planes shows none.
    let second = compose(&mut display, 2);
    show(&mut display, 13.0, second);
    assert_eq!(rows(&display), [[2; 5]; 4]);
}

#[test]
fn translucent_overlay_is_blended_with_the_overlay_below_it() {
    let mut display = display(2);
    // Half of 0x80, and half of what is below.
    let above = PlaneContent { is_opaque: false, ..content(Some(0x8000_0040), rect(1, 0, 2, 1)) };
    let planes = on_overlays(vec![above, content(Some(0x20), rect(2, 0, 2, 1))]);
    let frame = FramePlan { planes, ..compose(&mut display, 2) };
    show(&mut display, 3.0, frame);
    assert_eq!(rows(&display)[0], [2, 0x41, 0x50, 0x20, 2]);
}

#[test]
fn buffer_is_held_until_its_plane_shows_another() {
    let mut display = display(1);
    let held = |display: &mut VirtualDisplay, frame: u64, at: f64, change: Option<PlanChange>| -> Weak<()> {
        let hold = Arc::new(());
        let released = Arc::downgrade(&hold);
        let content = PlaneContent { hold, ..content(Some(frame as u32), rect(0, 0, 2, 2)) };
        let plan = match change {
            Some(change) => plan(frame, change),
            None => compose(display, frame),
        };
        let plan = FramePlan { planes: on_overlays(vec![content]), ..plan };
        display.submit(plan, Some(ms(at)), ms(at)).map_err(|(error, _)| error).expect("taken");
        released
    };
    let first = held(&mut display, 1, 3.0, None);
    display.advance(ms(10.0));
    let second = held(&mut display, 2, 13.0, Some(PlanChange::Planes));
    display.advance(ms(19.0));
    assert!(first.upgrade().is_some() && second.upgrade().is_some());
    display.advance(ms(20.0));
    assert!(first.upgrade().is_none() && second.upgrade().is_some());
    assert_eq!(rows(&display)[0], [2, 2, 1, 1, 1], "the composed picture stays");
    let withdrawn = held(&mut display, 3, 23.0, Some(PlanChange::Planes));
    display.set_power(false, ms(24.0));
    assert!(second.upgrade().is_none() && withdrawn.upgrade().is_none(), "a dark panel holds nothing");
}

#[test]
fn memory_that_cannot_be_read_is_black() {
    let mut display = display(1);
    for (frame, colour) in [(1, Some(7)), (2, None)] {
        let planes = on_overlays(vec![content(colour, rect(0, 0, 2, 1))]);
        let plan = FramePlan { planes, ..compose(&mut display, frame) };
        show(&mut display, frame as f64 * 10.0 + 3.0, plan);
    }
    assert_eq!(rows(&display)[0], [0, 0, 2, 2, 2]);
}

#[test]
fn planes_that_the_panel_lacks_are_refused() {
    let device = DeviceMemory { width: 2, height: 2, format: 0, modifier: 0, parts: Vec::new() };
    let one = || content(Some(1), rect(0, 0, 2, 2));
    let scaled = PlaneContent { target: rect(0, 0, 3, 2), ..one() };
    let in_device = PlaneContent { memory: PlaneMemory::Device(Arc::new(device)), ..one() };
    let wide = content(Some(1), rect(0, 0, MODE.width + 1, 1));
    let empty = content(Some(1), rect(0, 0, 0, 0));
    let mut display = display(1);
    for planes in [
        on_overlays(vec![one(), content(Some(2), rect(3, 3, 1, 1))]),
        on_overlays(vec![scaled]),
        on_overlays(vec![in_device]),
        on_overlays(vec![wide]),
        on_overlays(vec![empty]),
        PlaneContents { direct: Some(one()), overlays: Vec::new() },
    ] {
        assert!(!display.can_show(&planes), "{planes:?}");
        let plan = FramePlan { planes, ..compose(&mut display, 1) };
        let Err((error, plan)) = display.submit(plan, Some(ms(1.0)), ms(1.0)) else { panic!("it was taken") };
        assert!(matches!(error, SubmitError::Unsupported(_)), "{error}");
        let PlanChange::Compose { buffer, .. } = plan.change else { panic!("the buffer comes back") };
        display.release(buffer);
    }
    assert!(display.can_show(&on_overlays(vec![one()])));
    display.set_power(false, ms(2.0));
    assert!(!display.can_show(&on_overlays(vec![one()])));
}

#[test]
fn absurd_numbers_of_overlays_are_refused() {
    let options = OutputOptions { overlays: 9, ..options() };
    let error = VirtualDisplay::new(MODE, options, Instant::ZERO).err();
    assert_eq!(error, Some(OptionsError::Overlays(9)));
    assert_eq!(OptionsError::Overlays(9).to_string(), "9 overlay planes: must lie in 0..=8");
    let none = display(0).capabilities();
    assert_eq!((none.overlay_planes, none.shared_memory_planes, none.plane_scroll), (0, false, false));
    let two = display(2).capabilities();
    assert_eq!((two.overlay_planes, two.shared_memory_planes, two.plane_scroll), (2, true, true));
}
