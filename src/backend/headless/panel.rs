//! The panel: scan-out row by row, and the watches that observe it.
//!
//! A refresh takes time. A rectangle that is written into the buffer on screen changes this refresh only in the rows
//! that the beam has not read yet; the rows above keep their old pixels until the next refresh:
//! ```text
//!   refresh n        beam            refresh n + 1
//!   row 0  old        │              row 0  new
//!   row 1  old  ◄─────┘ write        row 1  new
//!   row 2  new                       row 2  new
//! ```

use std::sync::Arc;

use super::grid::RecordedRefresh;
use super::image::{PanelImage, ReadRows, row_of};
use super::overlay_planes::PanelOverlays;
use super::panel_watch::{PanelWatch, ScreenTime, WatchId};
use super::pixels::PanelBuffer;
use crate::backend::plane::PlaneContents;
use crate::backend::{Beam, Buffer, CursorPlane, FrameId, PixelBuffer, PixelRect, ScreenSnapshot};
use upbeat_timing::time::Instant;

/// The content on screen.
struct PanelContent {
    buffer: PanelBuffer,
    cursor: Option<CursorPlane>,
    frame: FrameId,
    /// The first refresh with this image.
    first: RecordedRefresh,
    /// It was rewritten, and the watches were not told yet that it stays.
    is_unsettled: bool,
    /// Rows that the beam had passed in this refresh when they were rewritten.
    read_rows: Vec<ReadRows>,
}

pub struct Panel {
    beam: Beam,
    content: Option<PanelContent>,
    /// Clients' buffers above the content.
    overlays: PanelOverlays,
    watches: Vec<(WatchId, Box<dyn PanelWatch>)>,
    next_watch: u64,
}

/// The planes of a new frame.
#[derive(Debug)]
pub struct PanelPlanes {
    pub cursor: Option<CursorPlane>,
    pub clients: PlaneContents,
}

#[derive(Debug)]
pub struct FrontWrite {
    pub frame: FrameId,
    /// A rectangle within the panel.
    pub rect: PixelRect,
    pub pixels: Vec<u32>,
}

/// The position of the beam when a rectangle was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeamPosition {
    /// Above the rectangle: this refresh shows all of it.
    Ahead,
    Torn,
    /// Below the rectangle: the next refresh shows all of it.
    Behind,
}

impl Panel {
    pub fn new(beam: Beam) -> Self {
        Panel { beam, content: None, overlays: PanelOverlays::default(), watches: Vec::new(), next_watch: 0 }
    }

    /// Changes the scan. The panel must be dark.
    pub fn set_beam(&mut self, beam: Beam) {
        self.beam = beam;
    }

    pub fn beam(&self) -> Beam {
        self.beam
    }

    /// The slot of the buffer on screen.
    pub fn slot(&self) -> Option<usize> {
        self.content.as_ref().map(|content| content.buffer.slot)
    }

    /// Whether the next refresh will look different without a new frame.
    pub fn is_torn(&self) -> bool {
        self.content.as_ref().is_some_and(|content| !content.read_rows.is_empty())
    }

    pub fn is_watched(&self) -> bool {
        !self.watches.is_empty()
    }

    /// The image on screen; `None` if the panel is dark.
    pub fn image(&self) -> Option<PanelImage<'_>> {
        self.content.as_ref().map(|content| content.image(self.beam, &self.overlays))
    }

    /// A snapshot of the screen, with or without the cursor plane.
    pub fn snapshot(&mut self, with_cursor: bool) -> Option<ScreenSnapshot> {
        let beam = self.beam;
        let content = self.content.as_mut()?;
        let kept = content.buffer.pixels.kept().cloned();
        // Kept pixels have no rows here: the picture is read instead.
        let pixels = if kept.is_some() { Arc::default() } else { content.buffer.pixels.share() };
        let (width, height) = (content.pixels().width, content.pixels().height);
        let (refresh, read_rows) = (content.first, content.read_rows.clone());
        let (cursor, overlays) = (content.cursor.clone().filter(|_| with_cursor), self.overlays.list().to_vec());
        Some(ScreenSnapshot::new(width, height, move |rect, into| {
            let (buffer, cursor) = (&*pixels, cursor.as_ref());
            let (read_rows, overlays) = (&read_rows[..], &overlays[..]);
            let image = PanelImage { refresh, beam, buffer, read_rows, overlays, cursor };
            match &kept {
                None => image.read(rect, into).width > 0,
                Some(picture) => {
                    let is_read = picture.read(rect, into);
                    if is_read {
                        image.put_planes(rect, into);
                    }
                    is_read
                }
            }
        }))
    }

    /// Shows a frame from `refresh` on and returns the buffer that it replaced. Without a buffer the buffer on
    /// screen stays; a dark panel then stays dark.
    pub fn flip(
        &mut self,
        frame: FrameId,
        buffer: Option<Buffer>,
        planes: PanelPlanes,
        refresh: RecordedRefresh,
    ) -> Option<PanelBuffer> {
        self.finish(refresh.time);
        let old = self.content.take();
        let (buffer, replaced) = match (buffer.map(PanelBuffer::from), old) {
            (Some(new), old) => (Some(new), old.map(|content| content.buffer)),
            (None, old) => (old.map(|content| content.buffer), None),
        };
        let PanelPlanes { cursor, clients } = planes;
        match buffer {
            Some(_) => self.overlays.show(clients),
            None => self.overlays.clear(),
        }
        self.content = buffer.map(|buffer| PanelContent {
            buffer,
            cursor,
            frame,
            first: refresh,
            is_unsettled: false,
            read_rows: Vec::new(),
        });
        self.fetch_for_watches();
        self.notify_change();
        replaced
    }

    /// Writes into the buffer on screen at `now`, in the refresh `current`. Returns how much of it this refresh
    /// shows; the rest is shown after [`settle`](Self::settle). `None` on a dark panel.
    pub fn write(&mut self, write: FrontWrite, current: RecordedRefresh, now: Instant) -> Option<BeamPosition> {
        let content = self.content.as_ref()?;
        if content.first.sequence < current.sequence {
            self.finish(current.time);
        }
        let read = self.beam.lines_read(current.time, now);
        let content = self.content.as_mut()?;
        // A frame that came in after the write was allowed.
        content.buffer.pixels.fetch();
        content.first = current;
        content.frame = write.frame;
        content.is_unsettled = true;
        content.keep_rows_read(write.rect, read);
        content.overwrite(write.rect, &write.pixels);
        self.notify_change();
        Some(match read - write.rect.y {
            ..=0 => BeamPosition::Ahead,
            rows if rows < write.rect.height => BeamPosition::Torn,
            _ => BeamPosition::Behind,
        })
    }

    /// Records the pixels that the beam read in `rect` in `refresh`, which is the current refresh or has just ended.
    pub fn scanned(&mut self, rect: PixelRect, pixels: &[u32], refresh: RecordedRefresh) {
        let Some(content) = &mut self.content else { return };
        content.buffer.pixels.fetch();
        if content.first.sequence > refresh.sequence || content.shows(rect, pixels) {
            return;
        }
        if content.first.sequence < refresh.sequence {
            self.finish(refresh.time);
        }
        let Some(content) = &mut self.content else { return };
        if content.first.sequence < refresh.sequence {
            content.first = refresh;
            content.read_rows.clear();
        }
        content.is_unsettled = true;
        content.overwrite(rect, pixels);
        self.notify_change();
    }

    /// The refresh in which the image was rewritten, if there are watches to be told that it stays.
    pub fn unsettled(&self) -> Option<RecordedRefresh> {
        let content = self.content.as_ref().filter(|content| content.is_unsettled && self.is_watched())?;
        Some(content.first)
    }

    /// The refresh in which the image was rewritten is over: tells the watches that it stays.
    pub fn notify_image_stays(&mut self) {
        let Some(content) = &mut self.content else { return };
        content.is_unsettled = false;
        let image = content.image(self.beam, &self.overlays);
        for (_, watch) in &mut self.watches {
            watch.image_stays(&image);
        }
    }

    /// Tells the watches that the content of a refresh is unknown.
    pub fn notify_image_unproven(&mut self) {
        for (_, watch) in &mut self.watches {
            watch.image_unproven();
        }
    }

    /// Starts the refresh after a torn one: all rows are read again.
    pub fn settle(&mut self, refresh: RecordedRefresh) {
        self.finish(refresh.time);
        if let Some(content) = &mut self.content {
            content.first = refresh;
            content.read_rows.clear();
        }
        self.notify_change();
    }

    /// Goes dark at `now` and returns the buffer.
    pub fn darken(&mut self, now: Instant) -> Option<PanelBuffer> {
        self.finish(now);
        self.overlays.clear();
        self.content.take().map(|content| content.buffer)
    }

    /// Copies the pixels on screen if the renderer keeps them and there are watches.
    fn fetch_for_watches(&mut self) {
        if let Some(content) = self.content.as_mut().filter(|_| !self.watches.is_empty()) {
            content.buffer.pixels.fetch();
        }
    }

    /// The picture on screen, without planes, if the renderer keeps its pixels.
    pub fn kept(&self) -> Option<&ScreenSnapshot> {
        self.content.as_ref()?.buffer.pixels.kept()
    }

    /// Adds a watch, which gets the image on screen at once. If the renderer keeps its pixels, this blocks until they are
    /// copied.
    pub fn add_watch(&mut self, mut watch: Box<dyn PanelWatch>) -> WatchId {
        if let Some(content) = &mut self.content {
            content.buffer.pixels.fetch();
        }
        if let Some(image) = self.image() {
            watch.image_changed(&image);
        }
        let id = WatchId(self.next_watch);
        self.next_watch += 1;
        self.watches.push((id, watch));
        id
    }

    /// Ends a watch at `now`, which counts as the end of the image on screen. Returns false if there is no such watch.
    pub fn remove_watch(&mut self, id: WatchId, now: Instant) -> bool {
        let Some(index) = self.watches.iter().position(|(other, _)| *other == id) else { return false };
        let (_, mut watch) = self.watches.remove(index);
        if let Some(content) = &self.content {
            watch.image_done(&content.image(self.beam, &self.overlays), content.shown_until(now));
        }
        true
    }

    fn notify_change(&mut self) {
        let Some(content) = &self.content else { return };
        let image = content.image(self.beam, &self.overlays);
        for (_, watch) in &mut self.watches {
            watch.image_changed(&image);
        }
    }

    /// Tells the watches that the image on screen ends at `until`.
    fn finish(&mut self, until: Instant) {
        let Some(content) = &self.content else { return };
        let image = content.image(self.beam, &self.overlays);
        for (_, watch) in &mut self.watches {
            watch.image_done(&image, content.shown_until(until));
        }
    }
}

impl PanelContent {
    fn pixels(&self) -> &PixelBuffer {
        self.buffer.pixels.get()
    }

    fn image<'a>(&'a self, beam: Beam, overlays: &'a PanelOverlays) -> PanelImage<'a> {
        let (buffer, read_rows) = (self.pixels(), &self.read_rows[..]);
        let (overlays, cursor) = (overlays.list(), self.cursor.as_ref());
        PanelImage { refresh: self.first, beam, buffer, read_rows, overlays, cursor }
    }

    fn shown_until(&self, until: Instant) -> ScreenTime {
        ScreenTime { first: self.first, until, frame: self.frame }
    }

    /// Saves the old pixels of the rows of `rect` that are among the first `read` rows of the panel.
    fn keep_rows_read(&mut self, rect: PixelRect, read: i32) {
        let height = (read - rect.y).clamp(0, rect.height);
        if height > 0 {
            let rect = PixelRect { height, ..rect };
            let rows = rect.y..rect.y + height;
            let pixels = rows.flat_map(|row| row_of(self.pixels(), rect.x, rect.width, row)).copied().collect();
            self.read_rows.push(ReadRows { rect, pixels });
        }
    }

    fn shows(&self, rect: PixelRect, pixels: &[u32]) -> bool {
        let rows = (rect.y..rect.y + rect.height).zip(pixels.chunks_exact(rect.width.max(1) as usize));
        rows.into_iter().all(|(row, found)| row_of(self.pixels(), rect.x, rect.width, row) == found)
    }

    fn overwrite(&mut self, rect: PixelRect, pixels: &[u32]) {
        let buffer = self.buffer.pixels.get_mut();
        let (stride, width) = (buffer.width as usize, rect.width as usize);
        for (row, source) in (rect.y as usize..).zip(pixels.chunks_exact(width.max(1))) {
            let start = row * stride + rect.x as usize;
            buffer.pixels[start..start + width].copy_from_slice(source);
        }
    }
}
