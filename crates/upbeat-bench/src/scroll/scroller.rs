//! Content of the window: a view with its tiles, or one full frame after another.

use wayland_client::globals::GlobalList;
use wayland_client::protocol::{wl_shm::WlShm, wl_surface::WlSurface};
use wayland_client::{Connection, QueueHandle};

use super::full_frames::FullFrames;
use super::options::{PageError, PageOptions, ScrollClient, ScrollMode};
use super::tiles::ScrollTiles;
use upbeat_client::{
    ContentId, ContentPicture, DocumentExtent, DocumentRegion, FramePacer, RenderDemand, ScrollEvent, ScrollOptions,
    ScrollView, TileRing,
};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Rows (or columns) of the document: each has a colour of its own.
const ROWS: i64 = 10_000_000;
/// First visible row, in the middle of the document.
pub(super) const FIRST: i64 = 5_000_000;
/// Tiles in one length of the window.
const TILES: i64 = 4;
/// Most pixels that may be rendered at once: more than four windows of any usual size.
const BUDGET: i64 = 40_000_000;
/// Buffers of a client that renders each frame.
const FRAMES: usize = 4;

/// A view and its tiles.
pub(super) struct TiledScroller {
    view: ScrollView,
    contents: Vec<ContentId>,
    ring: TileRing,
    tiles: ScrollTiles,
    /// Scrolls left and right.
    across: bool,
    /// The newest demand that is not yet rendered, and its arrival.
    due: Option<(RenderDemand, Instant)>,
    counts: ScrollCounts,
}

/// Counters since the start.
#[derive(Clone, Debug, Default)]
pub(super) struct ScrollCounts {
    pub renders: u64,
    pub commits: u64,
    pub stalls: u64,
    rests: u64,
    pub took: Vec<Span>,
}

/// Content of the window.
pub(super) enum ScrollerContent {
    Scroller(Box<TiledScroller>),
    Frames(Box<FullFrames>),
}

impl TiledScroller {
    fn update(&mut self) {
        if let Some(wanted) = self.view.next_wanted() {
            self.due = Some((wanted, MonotonicClock.now()));
        }
        if let Some((wanted, since)) = self.due
            && self.tiles.has(self.ring.clone().fill(wanted.region).len())
        {
            self.due = None;
            for tile in self.ring.fill(wanted.region) {
                let first = if self.across { tile.region.x.start } else { tile.region.y.start };
                let Some(buffer) = self.tiles.draw(first) else { break };
                self.view.place(self.contents[tile.slot], ContentPicture { buffer, region: tile.region, scale: 1 });
            }
            self.view.commit();
            self.counts.renders += 1;
            self.counts.commits += 1;
            self.counts.took.push(MonotonicClock.now() - since);
        }
        while let Some(event) = self.view.next_event() {
            match event {
                ScrollEvent::LowWater(_) => self.counts.stalls += 1,
                ScrollEvent::Rest { .. } => self.counts.rests += 1,
                ScrollEvent::Offset { .. } => self.counts.commits += 1,
                _ => {}
            }
        }
    }
}

impl ScrollerContent {
    pub fn update(&mut self, page: &mut ScrollClient) {
        let (released, pointer, touch) =
            (std::mem::take(&mut page.released), std::mem::take(&mut page.pointer), std::mem::take(&mut page.touch));
        match self {
            ScrollerContent::Scroller(scroller) => {
                released.into_iter().for_each(|index| scroller.tiles.handle_release(index));
                pointer.iter().for_each(|event| _ = scroller.view.pointer_event(event));
                touch.iter().for_each(|event| _ = scroller.view.touch_event(event));
                scroller.update();
            }
            ScrollerContent::Frames(frames) => {
                released.into_iter().for_each(|index| frames.tiles.handle_release(index));
                pointer.iter().for_each(|event| frames.pointer_event(event));
                touch.iter().for_each(|event| frames.touch_event(event));
                frames.draw_next();
            }
        }
    }

    pub fn has_content(&self) -> bool {
        match self {
            ScrollerContent::Scroller(scroller) => scroller.counts.rests > 0 && scroller.counts.renders > 0,
            ScrollerContent::Frames(frames) => frames.frames > 0,
        }
    }

    pub fn counts(&self) -> ScrollCounts {
        match self {
            ScrollerContent::Scroller(scroller) => scroller.counts.clone(),
            ScrollerContent::Frames(frames) => {
                ScrollCounts { renders: frames.frames, commits: frames.frames, ..ScrollCounts::default() }
            }
        }
    }

    pub fn megabytes(&self) -> f64 {
        match self {
            ScrollerContent::Scroller(scroller) => scroller.tiles.megabytes(),
            ScrollerContent::Frames(frames) => frames.tiles.megabytes(),
        }
    }
}

impl ScrollerContent {
    pub fn new(
        options: &PageOptions,
        connection: &Connection,
        globals: &GlobalList,
        (surface, shm): (&WlSurface, &WlShm),
        size: (i32, i32),
        handle: &QueueHandle<ScrollClient>,
    ) -> Result<Self, PageError> {
        let (width, height) = (i64::from(size.0), i64::from(size.1));
        let (all, across) = (|length| DocumentExtent { start: 0, length }, options.across);
        let document = match across {
            false => DocumentRegion { x: all(width), y: all(ROWS) },
            true => DocumentRegion { x: all(ROWS), y: all(height) },
        };
        let cost = |part: f64| Span::from_nanos((options.cost * 1e6 * part) as i64);
        if options.mode == ScrollMode::Frames {
            let pixels = (width as usize, height as usize);
            let tiles = ScrollTiles::new(shm, pixels, FRAMES, cost(1.0), handle)?;
            let pacer = FramePacer::predicting(connection, globals, surface);
            let frames = FullFrames::new(surface, pacer, tiles, document, (width, height), (FIRST, across))
                .predicting(options.predicts);
            return Ok(ScrollerContent::Frames(Box::new(frames)));
        }
        let mut view = match options.mode {
            ScrollMode::View => ScrollView::new(connection, globals, surface)?,
            _ => ScrollView::client_side(connection, globals, surface)?,
        };
        if options.mode == ScrollMode::View && !view.is_moved_by_compositor() {
            return Err(PageError::NoViews);
        }
        let tile = if across { (width / TILES, height) } else { (width, height / TILES) };
        let (along, beside) = if across { (width, height) } else { (height, width) };
        // The view, the content ahead and a third of it behind, with twice as much ahead at high speed.
        let most = (along as f64 * (1.0 + (options.n - 1.0).max(3.0) * 4.0 / 3.0)) as i64 * beside;
        let slots = TileRing::slots_for(most.min(BUDGET), (width, height), tile);
        let contents = (0..slots).map(|_| view.add_content()).collect::<Result<Vec<_>, _>>()?;
        let ahead = options.n - 1.0;
        let predicts = options.predicts;
        let (horizontal, vertical) = (across, !across);
        view.set_options(ScrollOptions {
            size,
            document,
            horizontal,
            vertical,
            ahead,
            predicts,
            budget: BUDGET,
            ..ScrollOptions::default()
        });
        view.report_offsets(!view.is_moved_by_compositor());
        view.commit();
        let (x, y) = if across { (FIRST, 0) } else { (0, FIRST) };
        view.scroll_to(x as i32, y as i32, false, 1);
        let pixels = (tile.0 as usize, tile.1 as usize);
        // Twice as many tiles as slots: a replaced tile is released only after the new picture in its slot was shown.
        let tiles = ScrollTiles::new(shm, pixels, slots * 2, cost(1.0 / TILES as f64), handle)?.across(across);
        let (due, counts, ring) = (None, ScrollCounts::default(), TileRing::new(tile, slots));
        Ok(ScrollerContent::Scroller(Box::new(TiledScroller { view, contents, ring, tiles, across, due, counts })))
    }
}
