//! Clicks during a fling: each arrives with the document position that is visible under the pointer.

use super::*;
use crate::fixture::ClientEvent;
use crate::fixture::dispatch::id;

/// Clicks on a view, and on a nested view.
const CLICKS: usize = 140;
const NESTED_CLICKS: usize = 60;
/// Position of the inner view in the outer document, its size, and the number of rows of its document.
const INNER: (i32, i32) = (100, 20);
const INNER_SIZE: (i32, i32) = (50, 50);
const INNER_ROWS: i32 = 1_500;
/// Colour bit that distinguishes rows of the inner view from rows of the outer view.
const MARK: u32 = 0x0040_0000;

/// Next pseudorandom number below `below`.
fn chance(state: &mut u64, below: u64) -> i64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) % below) as i64
}

/// Pointer state of the client, from the events it received.
#[derive(Clone, Copy, Debug, Default)]
struct ClickedPointer {
    surface: u32,
    y: f64,
    presses: usize,
}

impl ClickedPointer {
    fn update(&mut self, stage: &mut ScrollStage) {
        for event in stage.world.client(stage.client).take_events() {
            match event {
                ClientEvent::PointerEnter { surface, y, .. } => (self.surface, self.y) = (surface, y),
                ClientEvent::PointerMotion { y, .. } => self.y = y,
                ClientEvent::Button { pressed: true, .. } => {
                    self.presses += 1;
                    return;
                }
                _ => {}
            }
        }
    }
}

/// Returns the document row that is visible in a line of the window.
type VisibleRowAt<'a> = &'a dyn Fn(&ScrollStage, i32) -> i32;

/// Flings the view under a point again and again, and clicks there during the fling.
fn click_in_flings(
    stage: &mut ScrollStage,
    clicks: usize,
    (x, top, height): (f64, i32, i64),
    last_row: i32,
    (tile, seen): (u32, VisibleRowAt<'_>),
) {
    let (mut state, mut told, mut flying) = (11, ClickedPointer::default(), 0);
    let origin = stage.world.window("view").origin();
    let at = |line: i32| (f64::from(origin.x) + x, f64::from(origin.y + line) + 0.5);
    for click in 1..=clicks {
        let mut line = top + chance(&mut state, height as u64) as i32;
        let (px, py) = at(line);
        stage.world.point(px, py);
        let speed = 2.0 + chance(&mut state, 12) as f64;
        let down = seen(stage, line) < last_row / 2;
        stage.swipe(6 + chance(&mut state, 8), if down { speed } else { -speed }, &mut |_| {});
        stage.run(REFRESH * chance(&mut state, 6) + Span::from_millis(1 + chance(&mut state, 17)));
        let before = seen(stage, line);
        stage.run(REFRESH);
        flying += usize::from(seen(stage, line) != before);
        if chance(&mut state, 2) == 0 {
            line = top + chance(&mut state, height as u64) as i32;
            let (px, py) = at(line);
            stage.world.point(px, py);
        }
        let row = seen(stage, line);
        let time = stage.world.now();
        stage.world.input(InputEvent::Button { time, button: 0x110, pressed: true });
        told.update(stage);
        assert_eq!((told.presses, told.surface), (click, tile), "click {click}: {told:?}");
        assert_eq!(told.y.floor() as i32, row, "click {click} at line {line}: {told:?}");
        let time = stage.world.now();
        stage.world.input(InputEvent::Button { time, button: 0x110, pressed: false });
        stage.run(REFRESH * 2);
        told.update(stage);
    }
    assert!(flying * 10 >= clicks * 9, "{flying} of {clicks} while it moved");
}

#[test]
fn click_during_a_fling_arrives_at_the_visible_row() {
    let mut stage = ScrollStage::new();
    stage.render(0, DOCUMENT);
    stage.rest();
    let tile = id(&stage.tile);
    // A point outside the inner view.
    click_in_flings(&mut stage, CLICKS, (100.0, 5, 90), DOCUMENT, (tile, &|stage, line| stage.row_at(line)));
}

#[test]
fn click_during_a_fling_of_a_nested_view_arrives_at_the_visible_row() {
    let mut stage = ScrollStage::new();
    let client = stage.world.client(stage.client);
    let (inner, _) = client.subsurface(&stage.window.surface);
    let view = client.view(&inner);
    client.content(&stage.view, &inner).set_position(INNER.0, INNER.1);
    view.set_document(0, 0, INNER_SIZE.0, INNER_ROWS);
    view.set_axes(Axes::Vertical);
    view.set_inputs(Inputs::Finger);
    client.draw(&inner, 30, INNER_SIZE, RED);
    let (tile, _) = client.subsurface(&inner);
    client.content(&view, &tile);
    let pixels: Vec<u32> = (0..INNER_ROWS).flat_map(|row| [MARK | row as u32; INNER_SIZE.0 as usize]).collect();
    let buffer = client.buffer_of_pixels(31, wl_shm::Format::Xrgb8888, INNER_SIZE.0, INNER_ROWS, &pixels);
    tile.attach(Some(&buffer), 0, 0);
    tile.damage_buffer(0, 0, i32::MAX, i32::MAX);
    tile.commit();
    inner.commit();
    stage.window.surface.commit();
    stage.rest();
    let seen = |stage: &ScrollStage, line: i32| {
        let origin = stage.world.window("view").origin();
        let pixel = stage.world.pixel(origin.x + INNER.0 + 2, origin.y + line);
        assert!(pixel & MARK != 0, "line {line}: {pixel:#x}");
        (pixel & !MARK) as i32
    };
    let at = (f64::from(INNER.0) + 40.0, INNER.1 + 2, i64::from(INNER_SIZE.1) - 4);
    click_in_flings(&mut stage, NESTED_CLICKS, at, INNER_ROWS, (id(&tile), &seen));
}
