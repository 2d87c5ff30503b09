//! Sends frames to the server: through memory that it reads (MIT-SHM 1.2), or through the connection.
//!
//! ```text
//!   submit   damage ─► segment ─► ShmPutImage ···············► server reads ─► ShmCompletion
//!   meanwhile: damage ─────────────────────────► PutImage, after it in the same stream
//! ```
//!
//! The segment holds no state between two frames, since the canvas has the picture. If it is still busy, the next frame
//! goes through the connection, so that neither side waits. A server on another machine, or one without MIT-SHM 1.2,
//! gets all frames through the connection.

use std::cell::Cell;
use std::os::fd::AsFd as _;
use std::rc::Rc;

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::cookie::VoidCookie;
use x11rb::errors::ConnectionError;
use x11rb::protocol::shm::{ConnectionExt as _, Seg};
use x11rb::protocol::xproto::{ConnectionExt as _, Gcontext, ImageFormat, Window};
use x11rb::rust_connection::RustConnection;

use crate::backend::overlay::intersection;
use crate::backend::{PixelBuffer, PixelRect};
use upbeat_client::memory::SharedMemory;

/// The size of a request without its pixels, rounded up.
const HEADER_BYTES: usize = 64;
/// The first version of MIT-SHM that takes memory by a descriptor.
const BY_DESCRIPTOR: (u16, u16) = (1, 2);

/// Whether the server reads our memory: tested once, and given up for all windows after an error.
#[derive(Clone, Debug)]
pub(super) struct ShmSupport(Rc<Cell<bool>>);

impl ShmSupport {
    /// Tests it with one pixel, and blocks for the answers.
    pub fn ask(connection: &Rc<RustConnection>) -> Self {
        let shared = is_new_enough(connection).and_then(|()| {
            let (_segment, attached) = ShmSegment::attach(connection, (1, 1))?;
            attached.check().map_err(|error| error.to_string())
        });
        match &shared {
            Ok(()) => tracing::info!("the X server reads frames from shared memory"),
            Err(reason) => tracing::warn!(%reason, "frames are sent through the connection to the X server"),
        }
        ShmSupport(Rc::new(Cell::new(shared.is_ok())))
    }

    pub fn is_enabled(&self) -> bool {
        self.0.get()
    }

    /// Stops sharing after an error of the server. Returns whether memory was shared until now.
    pub fn disable(&self) -> bool {
        self.0.replace(false)
    }
}

fn is_new_enough(connection: &RustConnection) -> Result<(), String> {
    let answer = connection.shm_query_version().map_err(|error| error.to_string())?;
    let version = answer.reply().map_err(|error| error.to_string())?;
    match (version.major_version, version.minor_version) {
        known if known >= BY_DESCRIPTOR => Ok(()),
        (major, minor) => Err(format!("its MIT-SHM is {major}.{minor}, which takes no memory by a descriptor")),
    }
}

/// Memory that the server reads, as large as a canvas.
struct ShmSegment {
    connection: Rc<RustConnection>,
    name: Seg,
    memory: SharedMemory,
    size: (i32, i32),
    /// The server has not sent the completion event of the last request yet.
    is_busy: bool,
}

impl ShmSegment {
    /// Shares memory for `size` pixels. The cookie's reply shows whether the server accepts it.
    fn attach(
        connection: &Rc<RustConnection>,
        size: (i32, i32),
    ) -> Result<(Self, VoidCookie<'_, RustConnection>), String> {
        let memory = SharedMemory::new("upbeat-window", size.0 as usize * size.1 as usize);
        let memory = memory.map_err(|error| format!("there is no memory to share: {error}"))?;
        let name = connection.generate_id().map_err(|error| error.to_string())?;
        let file = memory.file().as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
        let server: &RustConnection = connection;
        let attached = server.shm_attach_fd(name, file, true).map_err(|error| error.to_string())?;
        Ok((ShmSegment { connection: connection.clone(), name, memory, size, is_busy: false }, attached))
    }

    /// Copies a rectangle of the canvas, which has the same size, to the same position.
    fn copy(&mut self, canvas: &PixelBuffer, rect: PixelRect) {
        let (left, width, stride) = (rect.x as usize, rect.width as usize, canvas.width as usize);
        let memory = self.memory.pixels_mut();
        for row in rect.y as usize..(rect.y + rect.height) as usize {
            let part = row * stride + left..row * stride + left + width;
            memory[part.clone()].copy_from_slice(&canvas.pixels[part]);
        }
    }
}

impl Drop for ShmSegment {
    fn drop(&mut self) {
        // All requests with this segment precede this request, so the server has read it by then.
        let _ = self.connection.shm_detach(self.name).map(drop);
    }
}

/// The X ids of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct X11WindowIds {
    pub window: Window,
    pub context: Gcontext,
    pub depth: u8,
}

/// Sends the frames of one window.
pub(super) struct Transport {
    connection: Rc<RustConnection>,
    names: X11WindowIds,
    sharing: ShmSupport,
    /// `None` before the first frame of this size, and where memory is not shared.
    segment: Option<ShmSegment>,
    /// The pixels of the next request; kept to reuse its memory.
    bytes: Vec<u8>,
}

impl Transport {
    pub fn new(connection: Rc<RustConnection>, names: X11WindowIds, sharing: ShmSupport) -> Self {
        Transport { connection, names, sharing, segment: None, bytes: Vec::new() }
    }

    /// Sends these rectangles of the canvas. A lost connection is noticed by the next read.
    pub fn send(&mut self, canvas: &PixelBuffer, damage: &[PixelRect]) {
        let whole = PixelRect { x: 0, y: 0, width: canvas.width, height: canvas.height };
        let parts = damage.iter().map(|rect| intersection(*rect, whole));
        let mut parts = parts.filter(|rect| rect.width > 0 && rect.height > 0).peekable();
        let shares = self.has_free_segment(canvas);
        let mut sent = Ok(());
        while let (Ok(()), Some(rect)) = (&sent, parts.next()) {
            sent = if shares { self.share(canvas, rect, parts.peek().is_none()) } else { self.put(canvas, rect) };
        }
        if let Err(error) = sent.and_then(|()| self.connection.flush()) {
            tracing::debug!(%error, "a frame was not sent to the X server");
        }
    }

    /// Whether a free segment for this canvas exists; attaches one if needed.
    fn has_free_segment(&mut self, canvas: &PixelBuffer) -> bool {
        if !self.sharing.is_enabled() {
            self.segment = None;
            return false;
        }
        let size = (canvas.width, canvas.height);
        if self.segment.as_ref().is_none_or(|segment| segment.size != size) {
            match ShmSegment::attach(&self.connection, size) {
                // An error of the request arrives as an event.
                Ok((segment, _)) => self.segment = Some(segment),
                Err(reason) => {
                    tracing::warn!(%reason, "a window's frames are sent through the connection");
                    self.sharing.disable();
                    self.segment = None;
                }
            }
        }
        self.segment.as_ref().is_some_and(|segment| !segment.is_busy)
    }

    /// Sends a rectangle of the canvas through shared memory. The server sends a completion event for the `last` one.
    fn share(&mut self, canvas: &PixelBuffer, rect: PixelRect, last: bool) -> Result<(), ConnectionError> {
        let Some(segment) = &mut self.segment else { return Ok(()) };
        segment.copy(canvas, rect);
        segment.is_busy = last;
        let (whole, X11WindowIds { window, context, depth }) =
            ((canvas.width as u16, canvas.height as u16), self.names);
        let (width, height) = (rect.width as u16, rect.height as u16);
        let (source, place) = ((rect.x as u16, rect.y as u16), (rect.x as i16, rect.y as i16));
        let put = self.connection.shm_put_image(
            window,
            context,
            whole.0,
            whole.1,
            source.0,
            source.1,
            width,
            height,
            place.0,
            place.1,
            depth,
            ImageFormat::Z_PIXMAP.into(),
            last,
            segment.name,
            0,
        );
        put.map(drop)
    }

    /// Sends a rectangle of the canvas through the connection, in as many requests as it needs.
    fn put(&mut self, canvas: &PixelBuffer, rect: PixelRect) -> Result<(), ConnectionError> {
        let (width, stride) = (rect.width as usize, canvas.width as usize);
        let room = self.connection.maximum_request_bytes().saturating_sub(HEADER_BYTES);
        let rows = (room / (width * 4)).max(1) as i32;
        let mut top = rect.y;
        while top < rect.y + rect.height {
            let bottom = (top + rows).min(rect.y + rect.height);
            self.bytes.clear();
            for row in top as usize..bottom as usize {
                let start = row * stride + rect.x as usize;
                self.bytes.extend(canvas.pixels[start..start + width].iter().flat_map(|pixel| pixel.to_ne_bytes()));
            }
            let (x, y, height) = (rect.x as i16, top as i16, (bottom - top) as u16);
            let X11WindowIds { window, context, depth } = self.names;
            let format = ImageFormat::Z_PIXMAP;
            let bytes = &self.bytes;
            self.connection.put_image(format, window, context, width as u16, height, x, y, 0, depth, bytes)?;
            top = bottom;
        }
        Ok(())
    }

    /// Whether the server may still be reading shared memory.
    #[cfg(test)]
    pub fn is_busy(&self) -> bool {
        self.segment.as_ref().is_some_and(|segment| segment.is_busy)
    }

    /// The server has read the memory of `segment`.
    pub fn completed(&mut self, segment: Seg) {
        if let Some(known) = self.segment.as_mut().filter(|known| known.name == segment) {
            known.is_busy = false;
        }
    }
}
