//! `client::ScrollView` with and without the protocol: the same program looks the same if it has to scroll by itself.

use upbeat_client::{
    ContentId, ContentPicture, ContentRole, DocumentExtent, DocumentRegion, RenderDemand, ScrollEvent, ScrollOptions,
    ScrollView, TileRing,
};
use wayland_client::protocol::wl_buffer::WlBuffer;

use super::client_connection::{SharedRecordedInput, connection, global_list, keep_events};
use super::*;

/// Rows of a tile.
const TILE: i32 = 50;
/// Rows of a long document.
const LONG: i32 = 1_000_000;
/// Interval at which the program checks for events.
const GLANCE: Span = Span::from_millis(1);

const fn rows(start: i32, length: i32) -> DocumentRegion {
    region((0, VIEW.0), (start, length))
}

pub const fn region(x: (i32, i32), y: (i32, i32)) -> DocumentRegion {
    DocumentRegion {
        x: DocumentExtent { start: x.0 as i64, length: x.1 as i64 },
        y: DocumentExtent { start: y.0 as i64, length: y.1 as i64 },
    }
}

/// A program that shows a long document in tiles.
pub struct ScrollProgram {
    pub world: TestWorld,
    pub client: ClientIndex,
    pub surface: WlSurface,
    kept: SharedRecordedInput,
    pub view: ScrollView,
    contents: Vec<ContentId>,
    ring: TileRing,
    /// Time to render, and the render in progress.
    render: Span,
    due: Option<(Instant, RenderDemand)>,
    renders: usize,
    blank: usize,
    /// Each new row at the top of the view, with its time.
    tops: Vec<(Instant, u32)>,
    events: Vec<ScrollEvent>,
}

impl ScrollProgram {
    pub fn new(served: bool) -> Self {
        Self::with(served, ScrollOptions { size: VIEW, document: rows(0, LONG), ..ScrollOptions::default() })
    }

    fn with(served: bool, options: ScrollOptions) -> Self {
        let mut world = TestWorld::simulated(&[60_000]);
        upbeat::protocol::scroll::offer(&mut world.state, served);
        let (client, window) = world.open_filled("view", VIEW, RED);
        let kept = keep_events(&mut world, client);
        let connection = connection(&window.surface);
        let globals = global_list(&mut world, client, &connection);
        let mut view = ScrollView::new(&connection, &globals, &window.surface).unwrap();
        assert_eq!(view.is_moved_by_compositor(), served);
        let slots = TileRing::slots_for(options.budget.min(20_000 * 4), (200, 100), (200, TILE.into()));
        let contents = (0..slots).map(|_| view.add_content().unwrap()).collect();
        view.set_options(options);
        view.commit();
        let ring = TileRing::new((200, TILE.into()), slots);
        let mut page = ScrollProgram {
            world,
            client,
            surface: window.surface,
            kept,
            view,
            contents,
            ring,
            render: Span::ZERO,
            due: None,
            renders: 0,
            blank: 0,
            tops: Vec::new(),
            events: Vec::new(),
        };
        page.run(Span::from_millis(400), &mut |_| None);
        assert_eq!((page.row_at(0), page.row_at(99)), (0, 99));
        (page.renders, page.blank) = (0, 0);
        page
    }

    /// Lets the program run, which renders the wanted rows and passes its input on, while `actor` acts.
    pub fn run(&mut self, span: Span, actor: &mut dyn FnMut(&mut TestWorld) -> Option<Instant>) {
        let ScrollProgram {
            world, client, kept, view, contents, ring, render, due, renders, blank, tops, events, ..
        } = self;
        let origin = world.window("view").origin();
        world.run_for(span, &mut |world| {
            let ends = [0, VIEW.1 - 1].map(|row| world.pixel(origin.x + 10, origin.y + row));
            *blank += ends.iter().filter(|pixel| **pixel == RED).count();
            if tops.last().is_none_or(|(_, top)| *top != ends[0]) {
                tops.push((world.now(), ends[0]));
            }
            let acts = actor(world);
            let events_of = std::mem::take(&mut *kept.lock().unwrap());
            events_of.pointer.iter().for_each(|event| _ = view.pointer_event(event));
            events_of.touch.iter().for_each(|event| _ = view.touch_event(event));
            view.update_at(world.now());
            if let Some(wanted) = view.take_wanted() {
                *due = Some((world.now() + *render, wanted));
            }
            if let Some((_, wanted)) = due.take_if(|(at, _)| *at <= world.now()) {
                for tile in ring.fill(wanted.region) {
                    let buffer = picture(world, *client, tile.region.y.start as i32);
                    view.place(contents[tile.slot], ContentPicture { buffer, region: tile.region, scale: 1 });
                }
                view.commit();
                *renders += 1;
            }
            events.extend(std::iter::from_fn(|| view.take_event()));
            [acts, Some(world.now() + GLANCE), due.map(|(at, _)| at)].into_iter().flatten().min()
        });
    }

    fn row_at(&self, y: i32) -> i32 {
        let origin = self.world.window("view").origin();
        self.world.pixel(origin.x + 10, origin.y + y) as i32
    }

    fn point(&mut self) {
        let origin = self.world.window("view").origin();
        self.world.point(f64::from(origin.x + 100), f64::from(origin.y + 50));
    }

    fn swipe(&mut self, times: i64, pixels: f64) {
        let start = self.world.now();
        let mut sent = 0;
        self.run(TOUCHPAD * (times + 1) + Span::from_millis(1), &mut |world| {
            let due = start + TOUCHPAD * (sent + 1);
            if world.now() < due {
                return Some(due);
            }
            sent += 1;
            let stop = sent > times;
            fingers(world, due, if stop { 0.0 } else { pixels }, stop);
            Some(due + TOUCHPAD)
        });
    }

    fn rests(&self) -> Vec<(f64, u32)> {
        let rest = |event: &ScrollEvent| match event {
            ScrollEvent::Rest { y, serial, .. } => Some((*y, *serial)),
            _ => None,
        };
        self.events.iter().filter_map(rest).collect()
    }
}

/// A buffer in which the colour of each row is its number.
fn picture(world: &mut TestWorld, client: ClientIndex, first: i32) -> WlBuffer {
    let pixels: Vec<u32> = (first..first + TILE).flat_map(|row| [row as u32; VIEW.0 as usize]).collect();
    world.client(client).buffer_of_pixels(10, wl_shm::Format::Xrgb8888, VIEW.0, TILE, &pixels)
}

#[test]
fn program_that_renders_the_wanted_rows_has_no_blank_rows() {
    for served in [true, false] {
        let mut page = ScrollProgram::new(served);
        page.render = Span::from_millis(20);
        page.view.report_offsets(true);
        page.point();
        page.tops.clear();
        page.swipe(250, 8.0);
        assert_eq!(page.blank, 0, "served: {served}");
        // The first row was there before the swipe.
        let moves = page.tops.len() - 1;
        let offset = |event: &ScrollEvent| match event {
            ScrollEvent::Offset { y, present, .. } => Some((*present, *y)),
            _ => None,
        };
        let shown: Vec<(Instant, f64)> = page.events.iter().filter_map(offset).collect();
        assert!(shown.len() > 115, "served: {served}, {} refreshes of 120", shown.len());
        let is_next = |pair: &&[(Instant, f64)]| {
            (pair[1].0 - pair[0].0 - REFRESH).abs() < Span::from_millis(1) && pair[1].1 > pair[0].1
        };
        // Without the protocol, the program learns its latency from its first frames.
        let first = if served { 0 } else { 4 };
        let odd: Vec<_> = shown[first..].windows(2).filter(|pair| !is_next(pair)).collect();
        assert!(odd.is_empty(), "served: {served}, {odd:?}");
        assert!(moves > 115, "served: {served}, {moves} refreshes of 120");
        // The visible rows match the offset.
        let top = page.row_at(0);
        assert!(top > 1_900 && page.row_at(99) == top + 99, "served: {served}, {top}");
        assert!(page.renders <= 26, "served: {served}, {} renders of 2000 rows", page.renders);
        page.run(Span::from_seconds(4), &mut |_| None);
        assert_eq!((page.rests().len(), page.blank), (1, 0), "served: {served}, {:?}", page.events);
        assert_eq!(page.rests()[0].0, f64::from(page.row_at(0)));
    }
}

#[test]
fn jumps_glides_and_wheel_steps_match_with_and_without_the_protocol() {
    for served in [true, false] {
        let mut page = ScrollProgram::new(served);
        page.view.scroll_to(0, 5_000, false, 1);
        page.run(Span::from_millis(400), &mut |_| None);
        assert_eq!((page.row_at(0), page.row_at(99)), (5_000, 5_099), "served: {served}");
        page.view.scroll_by(0, -120, true, 2);
        page.run(Span::from_seconds(2), &mut |_| None);
        assert_eq!((page.row_at(0), page.rests()), (4_880, vec![(5_000.0, 1), (4_880.0, 2)]), "served: {served}");
        page.point();
        for _ in 0..3 {
            wheel(&mut page.world, 1);
            page.run(Span::from_millis(40), &mut |_| None);
        }
        page.run(Span::from_seconds(2), &mut |_| None);
        assert_eq!((page.row_at(0), page.blank), (5_030, 0), "served: {served}");
        page.view.scroll_to(0, 9_000, true, 3);
        page.run(REFRESH * 8, &mut |_| None);
        page.view.stop();
        page.run(Span::from_seconds(1), &mut |_| None);
        let stopped = page.row_at(0);
        assert!(stopped > 5_030 && stopped < 9_000, "served: {served}, {stopped}");
        assert_eq!(page.rests().last(), Some(&(f64::from(stopped), 3)), "served: {served}");
    }
}

#[test]
fn touch_drags_a_scroll_view_after_the_slop_and_flings_it() {
    for served in [true, false] {
        let mut page = ScrollProgram::new(served);
        let origin = page.world.window("view").origin();
        let (x, mut y) = (f64::from(origin.x + 100), f64::from(origin.y + 90));
        let time = page.world.now();
        page.world.input(InputEvent::TouchDown { time, slot: 0, position: (x, y).into() });
        for _ in 0..16 {
            page.run(TOUCHPAD, &mut |_| None);
            y -= 5.0;
            let time = page.world.now();
            page.world.input(InputEvent::TouchMotion { time, slot: 0, position: (x, y).into() });
        }
        page.run(Span::from_millis(1), &mut |_| None);
        let time = page.world.now();
        page.world.input(InputEvent::TouchUp { time, slot: 0 });
        page.run(Span::from_seconds(4), &mut |_| None);
        let rests = page.rests();
        assert!(rests.len() == 1 && rests[0].0 > 250.0 && rests[0].0 < 450.0, "served: {served}, {rests:?}");
        assert_eq!((f64::from(page.row_at(0)), page.blank), (rests[0].0, 0), "served: {served}");
    }
}

#[test]
fn scroll_view_overscrolls_and_returns() {
    for served in [true, false] {
        let options = ScrollOptions { rubber_band: 80, predicts: false, size: VIEW, ..ScrollOptions::default() };
        let mut page = ScrollProgram::with(served, ScrollOptions { document: rows(0, LONG), ..options });
        page.point();
        let start = page.world.now();
        for sample in 1..20 {
            page.run(TOUCHPAD, &mut |_| None);
            fingers(&mut page.world, start + TOUCHPAD * sample, -8.0, false);
        }
        page.run(REFRESH * 8, &mut |_| None);
        assert_eq!((page.row_at(51) as u32, page.row_at(52), page.row_at(99)), (RED, 0, 47), "served: {served}");
        let time = page.world.now();
        fingers(&mut page.world, time, 0.0, true);
        page.run(Span::from_seconds(1), &mut |_| None);
        assert_eq!(page.row_at(0), 0, "served: {served}");
    }
}

#[test]
fn fixed_contents_stay_and_thumbs_follow_the_scroll_view() {
    for served in [true, false] {
        let mut page = ScrollProgram::new(served);
        let solid = |page: &mut ScrollProgram, colour: u32| {
            let client = page.world.client(page.client);
            client.buffer_of_pixels(11, wl_shm::Format::Xrgb8888, 20, 10, &[colour; 200])
        };
        let (header, thumb) = (page.view.add_content().unwrap(), page.view.add_content().unwrap());
        for (content, role, x, colour) in [
            (header, ContentRole::Fixed, 0, 0x00aa_0000),
            (thumb, ContentRole::ThumbDown { length: 90 }, 180, 0x0000_aa00),
        ] {
            let buffer = solid(&mut page, colour);
            page.view.set_role(content, role);
            page.view.place(content, ContentPicture { buffer, region: region((x, 20), (0, 10)), scale: 1 });
        }
        page.view.commit();
        page.view.scroll_to(0, (LONG - VIEW.1) / 2, false, 1);
        page.run(Span::from_millis(600), &mut |_| None);
        let origin = page.world.window("view").origin();
        let at = |x: i32, y: i32| page.world.pixel(origin.x + x, origin.y + y);
        assert_eq!(
            (at(10, 5), at(190, 5) & 0xff_0000, at(190, 50)),
            (0x00aa_0000, 0x07_0000, 0x0000_aa00),
            "served: {served}"
        );
    }
}
