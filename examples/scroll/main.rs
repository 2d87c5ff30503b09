//! A feed that is longer than its window: a ring of tiles, a video, a caret and a strip that scrolls across. Each of
//! them is a content of its own.
//!
//! ```text
//! cargo run --release --example scroll       fingers, a wheel, the arrows, Page Down, Home; Q ends it
//! ```
//!
//! A compositor with `upbeat_scroll_v1` moves the feed while this program sleeps. On any other compositor the program
//! moves it itself, with the same physics. The video changes thirty times a second and the caret twice. As they are
//! contents of their own, nothing else is drawn for them.

#[path = "../common/mod.rs"]
mod common;
mod drawing;
mod pixels;
mod window;

use clap::Parser;
use pixels::PicturePool;
use upbeat_client::{
    ContentId, ContentPicture, ContentRole, DocumentExtent, DocumentRegion, RenderDemand, ScrollEvent, ScrollOptions,
    ScrollView, TileRing,
};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};
use window::{ScrollKey, ScrollWindow};

const SIZE: (i32, i32) = (480, 640);
/// Rows of the feed, and of one of its tiles.
const FEED: i64 = 40_000;
const TILE: i64 = 160;
/// Places of the video, the caret and the strip in the feed.
const VIDEO: DocumentRegion = region((80, 320), (420, 180));
const CARET: DocumentRegion = region((200, 3), (262, 20));
const STRIP: DocumentRegion = region((20, 440), (760, 120));
/// Width of the strip's content, and of one of its tiles.
const STRIP_LENGTH: i64 = 12_000;
const STRIP_TILE: i64 = 150;
const THUMB: DocumentRegion = region((470, 6), (34, 60));
const HEADER: DocumentRegion = region((0, 480), (0, 30));
/// Time between two frames of the video, and between two changes of the caret.
const VIDEO_FRAME: Span = Span::from_micros(33_333);
const BLINK: Span = Span::from_millis(500);
/// Pixels that an arrow key scrolls, and time between two steps of `--demo`.
const LINE: i32 = 60;
const DEMO_STEP: Span = Span::from_millis(1_500);

const fn region(x: (i64, i64), y: (i64, i64)) -> DocumentRegion {
    DocumentRegion { x: DocumentExtent { start: x.0, length: x.1 }, y: DocumentExtent { start: y.0, length: y.1 } }
}

/// A feed that the compositor scrolls, or this program if the compositor cannot.
#[derive(Parser)]
struct ScrollArgs {
    /// Always move the feed in this program, even if the compositor could
    #[arg(long)]
    own: bool,
    /// Stop the video and the caret
    #[arg(long)]
    still: bool,
    /// Scroll without input
    #[arg(long)]
    demo: bool,
    /// End after this number of seconds
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<f64>,
}

/// Draws a content that never changes.
type DrawFixed = fn(&mut common::picture::Picture);

/// A view with tiles.
struct TiledView {
    view: ScrollView,
    contents: Vec<ContentId>,
    ring: TileRing,
    pool: PicturePool,
    draw: fn(&mut common::picture::Picture, DocumentRegion),
    /// A demand that waits for free buffers.
    due: Option<RenderDemand>,
    renders: u32,
}

impl TiledView {
    fn new(
        window: &ScrollWindow,
        mut view: ScrollView,
        options: ScrollOptions,
        tile: (i64, i64),
        draw: fn(&mut common::picture::Picture, DocumentRegion),
    ) -> anyhow::Result<Self> {
        let size = (i64::from(options.size.0), i64::from(options.size.1));
        // Four times the visible size is more than is demanded at once.
        let slots = TileRing::slots_for(size.0 * size.1 * 4, size, tile).max((size.0 * 4 / tile.0) as usize).min(48);
        let contents = (0..slots).map(|_| view.add_content()).collect::<Result<Vec<_>, _>>()?;
        let pool = window.pool((tile.0 as usize, tile.1 as usize), slots * 2)?;
        view.set_options(options);
        Ok(TiledView { view, contents, ring: TileRing::new(tile, slots), pool, draw, due: None, renders: 0 })
    }

    /// Renders the demanded tiles. Returns whether there were any.
    fn render(&mut self) -> bool {
        self.due = self.view.next_wanted().or(self.due.take());
        let Some(wanted) = self.due else { return false };
        if self.pool.free() < self.ring.clone().fill(wanted.region).len() {
            return false;
        }
        self.due = None;
        for tile in self.ring.fill(wanted.region) {
            let Some(buffer) = self.pool.draw(|picture| (self.draw)(picture, tile.region)) else { break };
            self.view.place(self.contents[tile.slot], ContentPicture { buffer, region: tile.region, scale: 1 });
        }
        self.renders += 1;
        true
    }
}

struct Feed {
    feed: TiledView,
    strip: TiledView,
    strip_content: ContentId,
    video: (ContentId, PicturePool, Instant, u32),
    caret: (ContentId, PicturePool, Instant, bool),
}

fn main() -> anyhow::Result<()> {
    let options = ScrollArgs::parse();
    let mut window = ScrollWindow::open("scroll", SIZE)?;
    let mut feed = Feed::new(&window, options.own)?;
    let by = if feed.feed.view.is_moved_by_compositor() { "the compositor" } else { "this program" };
    let begun = MonotonicClock.now();
    let end = options.seconds.map(|seconds| begun + Span::from_nanos((seconds * 1e9) as i64));
    let (mut wakes, mut demo) = (0, options.demo.then_some((begun + DEMO_STEP, 0)));
    while window.is_open() && end.is_none_or(|end| MonotonicClock.now() < end) {
        let now = MonotonicClock.now();
        feed.handle_events(&mut window);
        if let Some((at, step)) = demo.filter(|(at, _)| *at <= now) {
            let way = [700, -300, 1_400, 200][step % 4];
            feed.feed.view.scroll_by(0, way, true, step as u32);
            feed.strip.view.scroll_by(way / 2, 0, true, step as u32);
            demo = Some((at + DEMO_STEP, step + 1));
        }
        let due = if options.still { None } else { feed.play(now) };
        feed.render();
        window.wait(due.into_iter().chain(end).chain(demo.map(|(at, _)| at)).min())?;
        wakes += 1;
    }
    println!(
        "scroll: moved by {by}, {} renders of the feed, {} of the strip, {} pictures of the video, woken {wakes} times in {:.1} s",
        feed.feed.renders,
        feed.strip.renders,
        feed.video.3,
        (MonotonicClock.now() - begun).as_seconds_f64(),
    );
    Ok(())
}

impl Feed {
    fn new(window: &ScrollWindow, own: bool) -> anyhow::Result<Self> {
        let (connection, globals, surface) = (&window.connection, &window.globals, &window.surface);
        let make = if own { ScrollView::client_side } else { ScrollView::new };
        let document = region((0, SIZE.0.into()), (0, FEED));
        let options = ScrollOptions { size: SIZE, document, rubber_band: 120, ..ScrollOptions::default() };
        let view = make(connection, globals, surface)?;
        let tile = (i64::from(SIZE.0), TILE);
        let mut feed = TiledView::new(window, view, options, tile, drawing::feed)?;
        let (strip_content, video, caret) =
            (feed.view.add_content()?, feed.view.add_content()?, feed.view.add_content()?);
        let (header, thumb) = (feed.view.add_content()?, feed.view.add_content()?);
        let fixed: [(ContentId, DocumentRegion, ContentRole, DrawFixed); 3] = [
            (header, HEADER, ContentRole::Fixed, drawing::header),
            (thumb, THUMB, ContentRole::ThumbDown { length: 540 }, drawing::thumb),
            (strip_content, STRIP, ContentRole::Document, drawing::shelf),
        ];
        for (content, region, role, draw) in fixed {
            let mut pool = window.pool((region.x.length as usize, region.y.length as usize), 1)?;
            if let Some(buffer) = pool.draw(draw) {
                feed.view.set_role(content, role);
                feed.view.place(content, ContentPicture { buffer, region, scale: 1 });
            }
        }
        let strip = ScrollView::nested(connection, globals, &mut feed.view, strip_content)?;
        let options = ScrollOptions {
            size: (STRIP.x.length as i32, STRIP.y.length as i32),
            document: region((0, STRIP_LENGTH), (0, STRIP.y.length)),
            horizontal: true,
            vertical: false,
            ..ScrollOptions::default()
        };
        let strip = TiledView::new(window, strip, options, (STRIP_TILE, STRIP.y.length), drawing::strip)?;
        let now = MonotonicClock.now();
        let pool =
            |region: DocumentRegion, count| window.pool((region.x.length as usize, region.y.length as usize), count);
        let mut made = Feed {
            feed,
            strip,
            strip_content,
            video: (video, pool(VIDEO, 3)?, now, 0),
            caret: (caret, pool(CARET, 2)?, now, false),
        };
        made.play(now);
        made.strip.view.commit();
        made.feed.view.commit();
        Ok(made)
    }

    /// Handles input, and takes back released buffers.
    fn handle_events(&mut self, window: &mut ScrollWindow) {
        let heard = window.heard();
        let pools = [&mut self.feed.pool, &mut self.strip.pool, &mut self.video.1, &mut self.caret.1];
        for pool in pools {
            pool.take_back(&heard.released);
        }
        heard.pointer.iter().for_each(|event| _ = self.feed.view.pointer_event(event));
        heard.touch.iter().for_each(|event| _ = self.feed.view.touch_event(event));
        for key in heard.keys {
            let page = SIZE.1 - LINE;
            match key {
                ScrollKey::Up => self.feed.view.scroll_by(0, -LINE, true, 1),
                ScrollKey::Down => self.feed.view.scroll_by(0, LINE, true, 1),
                ScrollKey::PageUp => self.feed.view.scroll_by(0, -page, true, 1),
                ScrollKey::PageDown => self.feed.view.scroll_by(0, page, true, 1),
                ScrollKey::Home => self.feed.view.scroll_to(0, 0, true, 1),
                ScrollKey::Left => self.strip.view.scroll_by(-LINE, 0, true, 1),
                ScrollKey::Right => self.strip.view.scroll_by(LINE, 0, true, 1),
            }
        }
    }

    /// Draws the next frame of the video and of the caret when they are due. Returns when the next is due.
    fn play(&mut self, now: Instant) -> Option<Instant> {
        let mut changed = false;
        let (content, pool, due, number) = &mut self.video;
        if *due <= now {
            *due = now + VIDEO_FRAME;
            let next = *number;
            if let Some(buffer) = pool.draw(|picture| drawing::video(picture, next)) {
                self.feed.view.place(*content, ContentPicture { buffer, region: VIDEO, scale: 1 });
                (*number, changed) = (next + 1, true);
            }
        }
        let (content, pool, due, is_on) = &mut self.caret;
        if *due <= now {
            *due = now + BLINK;
            let on = !*is_on;
            if let Some(buffer) = pool.draw(|picture| drawing::caret(picture, on)) {
                self.feed.view.place(*content, ContentPicture { buffer, region: CARET, scale: 1 });
                (*is_on, changed) = (on, true);
            }
        }
        if changed {
            self.feed.view.commit();
        }
        Some(self.video.2.min(self.caret.2))
    }

    fn render(&mut self) {
        // The nested view must be committed before the view around it.
        if self.strip.render() {
            self.strip.view.commit();
        }
        if self.feed.render() {
            self.feed.view.commit();
        }
        for view in [&mut self.feed.view, &mut self.strip.view] {
            while let Some(event) = view.next_event() {
                if let ScrollEvent::Effective(mode, reason) = event {
                    eprintln!("scroll: {mode:?}, {reason:?}");
                }
            }
        }
        debug_assert!(self.feed.view.content_surface(self.strip_content).is_some());
    }
}
