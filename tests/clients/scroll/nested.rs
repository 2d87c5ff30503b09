//! Nested scroll views, a horizontal strip in a vertical feed: the innermost view that can move takes the scroll, and
//! it is clipped to the view around it. The same with and without the compositor's help.

use upbeat_client::{ContentId, ContentPicture, ScrollOptions, ScrollView};

use super::client_connection::{connection, global_list};
use super::library::{ScrollProgram, region};
use super::*;

/// Vertical extent of the strip in the feed, and width of its document.
const STRIP: (i32, i32) = (20, 40);
const WIDTH: i32 = 600;
/// Colour bit that distinguishes a column of the strip from a row of the feed.
const COLUMN: u32 = 0x0080_0000;

struct NestedScroll {
    page: ScrollProgram,
    strip: ScrollView,
}

impl NestedScroll {
    fn new(served: bool) -> Self {
        let mut page = ScrollProgram::new(served);
        let surface = page.surface.clone();
        let connection = connection(&surface);
        let globals = global_list(&mut page.world, page.client, &connection);
        let shelf = page.view.add_content().unwrap();
        let buffer = page.world.client(page.client).solid(20, VIEW.0, STRIP.1, RED);
        let place = region((0, VIEW.0), STRIP);
        page.view.place(shelf, ContentPicture { buffer, region: place, scale: 1 });
        let mut strip = ScrollView::nested(&connection, &globals, &mut page.view, shelf).unwrap();
        strip.set_options(ScrollOptions {
            size: (VIEW.0, STRIP.1),
            document: region((0, WIDTH), (0, STRIP.1)),
            horizontal: true,
            vertical: false,
            ..ScrollOptions::default()
        });
        let content: ContentId = strip.add_content().unwrap();
        let row = (0..WIDTH as u32).map(|column| COLUMN | column);
        let pixels: Vec<u32> = std::iter::repeat_n(row, STRIP.1 as usize).flatten().collect();
        let client = page.world.client(page.client);
        let buffer = client.buffer_of_pixels(21, wl_shm::Format::Xrgb8888, WIDTH, STRIP.1, &pixels);
        let whole = region((0, WIDTH), (0, STRIP.1));
        strip.place(content, ContentPicture { buffer, region: whole, scale: 1 });
        strip.commit();
        page.view.commit();
        let mut nested = NestedScroll { page, strip };
        nested.run(Span::from_millis(300));
        nested
    }

    fn run(&mut self, span: Span) {
        let end = self.page.world.now() + span;
        while self.page.world.now() < end {
            self.strip.update_at(self.page.world.now());
            self.page.run(Span::from_millis(1), &mut |_| None);
        }
    }

    /// Scrolls with fingers over the strip, by one of these distances (pixels) each 8 ms.
    fn fingers(&mut self, ways: &[(f64, f64)], lifts: bool) {
        let origin = self.page.world.window("view").origin();
        self.page.world.point(f64::from(origin.x + 100), f64::from(origin.y + STRIP.0 + 5));
        for (x, y) in ways {
            self.run(TOUCHPAD);
            let axis = |distance| ScrollAxis { distance, ..ScrollAxis::default() };
            let (time, source) = (self.page.world.now(), ScrollSource::Finger);
            let (horizontal, vertical) = (axis(*x), axis(*y));
            self.page.world.input(InputEvent::Axis { time, source, horizontal, vertical });
        }
        if lifts {
            self.run(Span::from_millis(150));
            let time = self.page.world.now();
            fingers(&mut self.page.world, time, 0.0, true);
        }
        self.run(Span::from_millis(300));
    }

    /// Visible content at a point: `Ok` is a column of the strip, `Err` a row of the feed.
    fn at(&self, x: i32, y: i32) -> Result<u32, u32> {
        let origin = self.page.world.window("view").origin();
        match self.page.world.pixel(origin.x + x, origin.y + y) {
            column if column & COLUMN != 0 => Ok(column & !COLUMN),
            row => Err(row),
        }
    }
}

#[test]
fn innermost_movable_view_takes_and_keeps_the_gesture() {
    for served in [true, false] {
        let mut nested = NestedScroll::new(served);
        assert_eq!(
            (nested.at(0, 30), nested.at(0, 10), nested.at(0, 60)),
            (Ok(0), Err(10), Err(60)),
            "served: {served}"
        );
        nested.fingers(&[(8.0, 0.0); 10], true);
        assert_eq!((nested.at(0, 30), nested.at(0, 10)), (Ok(80), Err(10)), "served: {served}: it goes across");
        nested.fingers(&[(8.0, 0.0), (0.0, 8.0), (0.0, 8.0)], true);
        assert_eq!((nested.at(0, 30), nested.at(0, 10)), (Ok(88), Err(10)), "served: {served}: the view is kept");
        nested.fingers(&[(0.0, 2.0); 5], true);
        assert_eq!((nested.at(0, 30), nested.at(0, 5)), (Ok(88), Err(15)), "served: {served}: it cannot go down");
    }
}

#[test]
fn nested_content_is_clipped_with_its_outer_view() {
    for served in [true, false] {
        let mut nested = NestedScroll::new(served);
        nested.fingers(&[(8.0, 0.0); 4], true);
        for (to, first, last) in [(30, Ok(32), Ok(32)), (50, Ok(32), Err(60 + 50)), (70, Err(70), Err(130))] {
            nested.page.view.scroll_to(0, to, false, 1);
            nested.run(Span::from_millis(300));
            let found = (nested.at(0, 0), nested.at(0, if to == 30 { 29 } else { 60 }));
            assert_eq!(found, (first, last), "served: {served}, at {to}");
        }
        // No part of the strip is visible outside the window.
        let origin = nested.page.world.window("view").origin();
        let above = |x: i32, y: i32| nested.page.world.pixel(origin.x + x, origin.y + y) & COLUMN;
        assert_eq!((above(10, -5), above(-5, 30)), (0, 0), "served: {served}");
        nested.page.view.scroll_to(0, 0, false, 2);
        nested.run(Span::from_millis(300));
        assert_eq!((nested.at(0, 30), nested.at(199, 59)), (Ok(32), Ok(32 + 199)), "served: {served}");
    }
}
