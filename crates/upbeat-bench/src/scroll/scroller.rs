//! Content of the window: a view with its tiles, or one full frame after another.

use wayland_client::globals::GlobalList;
use wayland_client::protocol::{wl_shm::WlShm, wl_surface::WlSurface};
use wayland_client::{Connection, QueueHandle};
use wayland_protocols::wp::presentation_time::client::wp_presentation::WpPresentation;

use super::full_frames::FullFrames;
use super::held_content::{self, HeldContent, HeldPixels};
use super::options::{PageError, PageOptions, ScrollClient, ScrollMode};
use super::thread_cpu::own_cpu;
use super::tiles::ScrollTiles;
use super::view_path::ViewPath;
use upbeat_client::{
    ContentId, ContentPicture, DocumentExtent, DocumentRegion, FramePacer, RenderDemand, ScrollEvent, ScrollOptions,
    ScrollView, TileRing,
};
use upbeat_timing::scroll::{USUAL_DECELERATION, ViewTerms};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Rows (or columns) of the document: each has a colour of its own.
const ROWS: i64 = 10_000_000;
/// First visible row, in the middle of the document. It is a multiple of a tile's length in windows of any usual size, so
/// that the first screen has as many tiles as one at the document's beginning.
pub(super) const FIRST: i64 = 4_993_920;
/// Tiles in one length of the window.
pub(super) const TILES: i64 = 4;
/// Most pixels that may be rendered at once: more than four windows of any usual size.
const BUDGET: i64 = 40_000_000;
/// Buffers of a client that renders each frame.
const FRAMES: usize = 4;

/// A view and its tiles.
pub(super) struct TiledScroller {
    view: ScrollView,
    contents: Vec<ContentId>,
    ring: TileRing,
    slots: usize,
    tiles: ScrollTiles,
    /// Scrolls left and right.
    across: bool,
    /// The newest demand that is not yet rendered, and its arrival.
    due: Option<(RenderDemand, Instant)>,
    counts: ScrollCounts,
    /// CPU time to draw the first screen.
    screen_cost: Span,
    /// CPU time of each later render.
    costs: Vec<Span>,
    /// The tiles after each commit.
    held: Vec<HeldContent>,
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
    /// `is_first_over`: the first screen was presented. Until then, content around it would only delay it.
    fn update(&mut self, is_first_over: bool) {
        if let Some(wanted) = self.view.next_wanted() {
            self.due = Some((wanted, MonotonicClock.now()));
        }
        if let Some((wanted, since)) = self.due
            && is_first_over
            && self.tiles.has(self.ring.clone().fill(wanted.region).len())
        {
            self.due = None;
            self.make_contents();
            let cost = self.render(wanted.region);
            self.costs.push(cost);
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

impl TiledScroller {
    /// The content of a slot. Until the first screen is rendered, it is created when it is first used, so that the window
    /// opens as soon as one with few.
    fn content(&mut self, slot: usize) -> Option<ContentId> {
        while self.contents.len() <= slot {
            self.contents.push(self.view.add_content().ok()?);
        }
        self.contents.get(slot).copied()
    }

    /// Creates the contents of all slots, before the view moves.
    fn make_contents(&mut self) {
        let _ = self.content(self.slots.saturating_sub(1));
    }

    /// Renders the missing tiles of a region and commits them. Returns its CPU time.
    fn render(&mut self, region: DocumentRegion) -> Span {
        let before = own_cpu();
        for tile in self.ring.fill(region) {
            let first = if self.across { tile.region.x.start } else { tile.region.y.start };
            let (Some(content), Some(buffer)) = (self.content(tile.slot), self.tiles.draw(first)) else { break };
            self.view.place(content, ContentPicture { buffer, region: tile.region, scale: 1 });
        }
        self.view.commit();
        let cost = own_cpu() - before;
        self.counts.renders += 1;
        self.counts.commits += 1;
        let shown = (0..self.contents.len()).filter_map(|slot| self.ring.region(slot));
        let tiles: Vec<_> = shown.map(|region| if self.across { region.x } else { region.y }).collect();
        let spare = self.tiles.drawn().saturating_sub(tiles.len());
        self.held.push(HeldContent { at: MonotonicClock.now(), tiles, spare });
        cost
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
                scroller.update(page.is_first_over);
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
            // The first screen, and the content around it, which is wanted next.
            ScrollerContent::Scroller(scroller) => scroller.counts.rests > 0 && scroller.counts.renders > 1,
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

    /// CPU times to draw the first screen, and of each later render; `None` for a client that renders each frame.
    pub fn render_costs(&self) -> Option<(Span, &[Span])> {
        match self {
            ScrollerContent::Scroller(scroller) => Some((scroller.screen_cost, &scroller.costs)),
            ScrollerContent::Frames(_) => None,
        }
    }

    /// The memory of each kind at its largest, in pixels along the scroll axis. `path` is the view's path from `began`
    /// on, `length` the view's length.
    pub fn held_pixels(&self, path: &ViewPath, began: Instant, length: i64) -> HeldPixels {
        match self {
            ScrollerContent::Scroller(scroller) => {
                held_content::peak(&scroller.held, path, began, length, length / TILES)
            }
            // One buffer is on screen.
            ScrollerContent::Frames(frames) => {
                HeldPixels { spare: (frames.tiles.drawn() as i64 - 1).max(0) * length, ..HeldPixels::default() }
            }
        }
    }
}

/// The document of a window of this size.
fn document((width, height): (i64, i64), across: bool) -> DocumentRegion {
    let all = |length| DocumentExtent { start: 0, length };
    if across {
        DocumentRegion { x: all(ROWS), y: all(height) }
    } else {
        DocumentRegion { x: all(width), y: all(ROWS) }
    }
}

/// The physics of every client, without prediction.
pub(super) fn view_terms(size: (i64, i64), across: bool) -> ViewTerms<'static> {
    ViewTerms {
        size,
        document: document(size, across),
        axes: (across, !across),
        keeps: USUAL_DECELERATION,
        band: 0.0,
        snaps: (&[], &[]),
        predicts: false,
        stretches: false,
    }
}

/// The first visible offset.
pub(super) const fn first_offset(across: bool) -> (i64, i64) {
    if across { (FIRST, 0) } else { (0, FIRST) }
}

/// The region of the document that is visible first.
fn first_screen((width, height): (i64, i64), across: bool) -> DocumentRegion {
    let ((x, y), extent) = (first_offset(across), |start, length| DocumentExtent { start, length });
    DocumentRegion { x: extent(x, width), y: extent(y, height) }
}

/// The window of a scroll client, and its connection.
pub(super) struct PageWindow<'a> {
    pub connection: &'a Connection,
    pub globals: &'a GlobalList,
    pub surface: &'a WlSurface,
    pub shm: &'a WlShm,
    /// Width and height in pixels.
    pub size: (i32, i32),
    pub handle: &'a QueueHandle<ScrollClient>,
}

impl PageWindow<'_> {
    /// Width and height in pixels.
    pub fn pixels(&self) -> (i64, i64) {
        (self.size.0.into(), self.size.1.into())
    }

    /// Asks for the light of the next commit of `surface`.
    fn request_light(&self, presentation: &WpPresentation, surface: &WlSurface) {
        presentation.feedback(surface, self.handle, ());
    }
}

impl ScrollerContent {
    /// The content of a window. A view renders its first screen at once, and more when it is asked for and the first screen
    /// was presented.
    /// The light of the first screen is reported to [`ScrollClient::first_light`].
    pub fn new(options: &PageOptions, window: &PageWindow<'_>) -> Result<Self, PageError> {
        let presentation: WpPresentation = window.globals.bind(window.handle, 1..=2, ())?;
        if options.mode == ScrollMode::Frames {
            window.request_light(&presentation, window.surface);
            return Ok(ScrollerContent::Frames(Box::new(frames(options, window)?)));
        }
        let mut scroller = scroller(options, window)?;
        let first = first_offset(options.across);
        scroller.view.scroll_to(first.0 as i32, first.1 as i32, false, 1);
        // The window's own buffer is covered by the tiles, and is not presented. The ring is empty, so the first tile
        // gets the first slot.
        let tile = scroller.content(0).and_then(|first| scroller.view.content_surface(first)).cloned();
        let request_light = || tile.iter().for_each(|tile| window.request_light(&presentation, tile));
        if options.mode == ScrollMode::View {
            request_light();
        }
        scroller.screen_cost = scroller.render(first_screen(window.pixels(), options.across));
        if options.mode == ScrollMode::Viewport {
            // A view that the client moves gets to its first offset in the next frame.
            request_light();
        }
        Ok(ScrollerContent::Scroller(Box::new(scroller)))
    }
}

/// Time to render this part of a window.
fn cost(options: &PageOptions, part: f64) -> Span {
    Span::from_nanos((options.cost * 1e6 * part) as i64)
}

fn frames(options: &PageOptions, window: &PageWindow<'_>) -> Result<FullFrames, PageError> {
    let (size, across) = (window.pixels(), options.across);
    let pixels = (size.0 as usize, size.1 as usize);
    let tiles = ScrollTiles::new(window.shm, pixels, FRAMES, cost(options, 1.0), window.handle)?.across(across);
    let pacer = FramePacer::predicting(window.connection, window.globals, window.surface);
    let terms = ViewTerms { predicts: options.predicts, ..view_terms(size, across) };
    Ok(FullFrames::new(window.surface, pacer, tiles, terms, first_offset(across)))
}

fn scroller(options: &PageOptions, window: &PageWindow<'_>) -> Result<TiledScroller, PageError> {
    let PageWindow { connection, globals, surface, .. } = *window;
    let mut view = match options.mode {
        ScrollMode::View => ScrollView::new(connection, globals, surface)?,
        _ => ScrollView::client_side(connection, globals, surface)?,
    };
    if options.mode == ScrollMode::View && !view.is_moved_by_compositor() {
        return Err(PageError::NoViews);
    }
    let ((width, height), across) = (window.pixels(), options.across);
    let tile = if across { (width / TILES, height) } else { (width, height / TILES) };
    let (along, beside) = if across { (width, height) } else { (height, width) };
    // The view, the content ahead and a third of it behind, with twice as much ahead at high speed.
    let most = (along as f64 * (1.0 + (options.n - 1.0).max(3.0) * 4.0 / 3.0)) as i64 * beside;
    let slots = TileRing::slots_for(most.min(BUDGET), (width, height), tile);
    view.set_options(ScrollOptions {
        size: window.size,
        document: document((width, height), across),
        horizontal: across,
        vertical: !across,
        ahead: options.n - 1.0,
        predicts: options.predicts,
        budget: BUDGET,
        ..ScrollOptions::default()
    });
    view.report_offsets(!view.is_moved_by_compositor());
    let pixels = (tile.0 as usize, tile.1 as usize);
    // Twice as many tiles as slots: a replaced tile is released only after the new picture in its slot was shown.
    let part = cost(options, 1.0 / TILES as f64);
    let tiles = ScrollTiles::new(window.shm, pixels, slots * 2, part, window.handle)?.across(across);
    Ok(TiledScroller {
        view,
        contents: Vec::new(),
        ring: TileRing::new(tile, slots),
        slots,
        tiles,
        across,
        due: None,
        counts: ScrollCounts::default(),
        screen_cost: Span::ZERO,
        costs: Vec::new(),
        held: Vec::new(),
    })
}
