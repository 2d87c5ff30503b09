//! Scans out a part of a client's buffer in place, so that the client can write ahead of the beam
//! (`upbeat_late_latch_v1`).
//!
//! ```text
//!   commit with a wish ─► wholly visible, unobscured, unscaled, and supported by the display? ─► share ─► active
//!   each turn, and each latch before it draws: still so? ─ no ─► sharing ends, inactive, the screen is repainted
//! ```
//!
//! A shared part is not repainted, because the display reads it from the client's buffer. When sharing ends, the whole
//! screen is therefore repainted.

use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ObjectId;
use smithay::reexports::wayland_server::protocol::wl_buffer::WlBuffer;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use std::sync::Arc;

use crate::backend::PixelRect;
use crate::backend::front::{FrontScanReport, ReadAhead, SharedFront};
use crate::guard;
use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::in_place::{self, BufferOnScreen};
use crate::scene::Scene;
use crate::state::State;
use crate::surface::content::SurfaceContent;
use crate::surface::front_buffer::{FrontBuffer, FrontBufferReason, FrontBufferRequest, ScanTimes};
use crate::surface::shm_pixels::{self, ClientRows};
use upbeat_timing::id::OutputId;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::{Clock, Instant, Span};

/// Largest error of the beam times that a client was sent before it gets new times: a third of its distance to the
/// beam.
const MOST_OFF: Span = Span::from_micros(100);

/// An output counts as captured for this long after a client asked for a picture of it: longer than any recorder waits
/// between two.
const CAPTURED: Span = Span::from_seconds(1);

/// Surfaces that may have a part of their buffer scanned out in place.
#[derive(Debug, Default)]
pub struct SharedFrontBuffers {
    surfaces: Vec<WlSurface>,
    /// Whether the configuration allows it.
    is_on: bool,
    /// When to try again to share a buffer after the last attempt was too recent.
    pub(in crate::output) again: Option<Instant>,
}

/// The part of a client's buffer that an output scans out in place.
#[derive(Debug)]
pub struct FrontBufferShare {
    surface: WlSurface,
    buffer: ObjectId,
    /// In pixels of the screen.
    rect: PixelRect,
    /// In pixels of the buffer.
    from: PixelRect,
    read_ahead: ReadAhead,
}

/// Switches sharing on or off. The next turn ends existing shares if it is off.
pub fn set_enabled(state: &mut State, on: bool) {
    state.outputs.front_buffers.is_on = on;
}

/// The client of `surface` may request sharing from now on.
pub fn begin(state: &mut State, surface: &WlSurface) {
    let surfaces = &mut state.outputs.front_buffers.surfaces;
    surfaces.retain(Resource::is_alive);
    surfaces.push(surface.clone());
}

/// The client destroyed the protocol object, which states that it no longer writes.
pub fn end(state: &mut State, surface: &WlSurface) {
    let now = state.clock.now();
    state.outputs.front_buffers.surfaces.retain(|known| known != surface);
    if let Some(entry) = state.surfaces.get_mut(surface) {
        entry.set_front_buffer(None);
    }
    for output in &mut state.outputs.list {
        if output.front_share.as_ref().is_some_and(|shared| shared.surface == *surface) {
            output.stop_sharing(now);
        }
    }
}

/// The client of `surface` has stopped writing.
pub fn acknowledge(state: &mut State, surface: &WlSurface, serial: u32) {
    if let Some(front) = front_mut(state, surface) {
        front.acknowledge(serial);
    }
}

/// The client of `surface` has written into `rect` of its buffer.
pub fn written(state: &mut State, surface: &WlSurface, id: u32, rect: PixelRect) {
    let now = state.clock.now();
    let output = state.outputs.list.iter_mut().find(|output| output.shares(surface));
    let light = output.and_then(|output| output.light_time(rect, now));
    if let Some(front) = front_mut(state, surface) {
        front.write(id, light);
    }
}

/// The beam has passed the shared part of output number `index`.
pub(in crate::output) fn scanned(state: &mut State, index: usize, scanned: FrontScanReport) {
    let now = state.clock.now();
    let Some(output) = state.outputs.list.get_mut(index) else { return };
    output.sync_phase(now);
    let interval = output.conductor.output().vsync().interval();
    let Some((surface, times)) =
        output.front_share.as_ref().map(|shared| (shared.surface.clone(), output.scan_times(shared)))
    else {
        return;
    };
    if let Some(front) = front_mut(state, &surface) {
        front.scanned(scanned, interval);
        times.into_iter().for_each(|times| front.update_scan_times(times, MOST_OFF));
    }
}

/// Ends shares that no longer meet the conditions, and starts the shares that do.
pub(in crate::output) fn update(state: &mut State) {
    state.outputs.front_buffers.again = None;
    if state.outputs.front_buffers.surfaces.is_empty()
        && state.outputs.list.iter().all(|output| output.front_share.is_none())
    {
        return;
    }
    let now = state.clock.now();
    for index in 0..state.outputs.list.len() {
        let output = &state.outputs.list[index];
        let (id, scene) = (output.id, output.drawn_scene.clone());
        revoke_if_changed(state, id, &scene, now);
    }
    state.outputs.front_buffers.surfaces.retain(Resource::is_alive);
    for surface in state.outputs.front_buffers.surfaces.clone() {
        let wish = requested_state(&surface);
        if state.surfaces.get(&surface).and_then(|entry| entry.front_buffer()).is_some_and(|f| f.can_activate(wish)) {
            try_share(state, &surface, wish);
        }
    }
}

/// Called before output `id` shows `scene`, which was latched at `latched`: ends its share before drawing if `scene` no
/// longer meets the conditions.
pub(in crate::output) fn revoke_if_changed(state: &mut State, id: OutputId, scene: &Scene, latched: Instant) {
    let Some(shared) = state.outputs.by_id_mut(id).and_then(|output| output.front_share.take()) else { return };
    let wish = requested_state(&shared.surface);
    let sight = locate(state, id, &shared.surface, wish, scene);
    let ends = match &sight {
        _ if !shared.surface.is_alive() => Some((FrontBufferReason::Hidden, false)),
        Err(reason) => Some((*reason, *reason == FrontBufferReason::Buffer)),
        Ok((_, buffer)) if buffer.id() != shared.buffer => Some((FrontBufferReason::Buffer, true)),
        Ok((sight, _)) if (sight.rect, sight.from) != (shared.rect, shared.from) => {
            Some((FrontBufferReason::Changed, false))
        }
        Ok(_) => None,
    };
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let surface = shared.surface.clone();
    output.front_share = Some(shared);
    let Some((reason, is_over)) = ends else { return };
    output.stop_sharing(latched);
    if let Some(front) = front_mut(state, &surface) {
        front.revoke(reason);
        if is_over {
            front.end_request(wish.number);
        }
    }
}

fn try_share(state: &mut State, surface: &WlSurface, wish: FrontBufferRequest) {
    let now = state.clock.now();
    let Some(id) = state.surfaces.get(surface).and_then(|entry| entry.output()) else { return };
    let Some(output) = state.outputs.by_id(id) else { return };
    // The newest drawn scene must be on screen first. Sharing starts at most once a refresh even if a client
    // toggles it.
    if !Arc::ptr_eq(&output.drawn_scene, &output.on_screen) || output.front_share.is_some() {
        return;
    }
    let earliest = output.shared_at + output.conductor.output().vsync().interval();
    if now < earliest {
        let again = &mut state.outputs.front_buffers.again;
        *again = Some(again.map_or(earliest, |known| known.min(earliest)));
        return;
    }
    let scene = output.drawn_scene.clone();
    let shown = locate(state, id, surface, wish, &scene).and_then(|(BufferOnScreen { rect, from }, buffer)| {
        let output = state.outputs.by_id_mut(id).ok_or(FrontBufferReason::Hidden)?;
        let memory = Arc::new(ClientRows { buffer: buffer.clone(), from });
        output.sync_phase(now);
        output.shared_at = now;
        let read_ahead =
            output.display.share_front(Some(SharedFront { rect, memory })).ok_or(FrontBufferReason::Display)?;
        let shared = FrontBufferShare { surface: surface.clone(), buffer: buffer.id(), rect, from, read_ahead };
        let times = output.scan_times(&shared);
        output.front_share = Some(shared);
        let Some(times) = times else {
            output.stop_sharing(now);
            return Err(FrontBufferReason::Display);
        };
        Ok((from, times))
    });
    let Some(front) = front_mut(state, surface) else { return };
    match shown {
        Ok((from, times)) => front.activate(from, times),
        Err(reason) => front.refuse(reason),
    }
}

/// The rectangle in `scene` that shows the part requested by `surface`, and the buffer that holds it.
fn locate(
    state: &mut State,
    id: OutputId,
    surface: &WlSurface,
    wish: FrontBufferRequest,
    scene: &Scene,
) -> Result<(BufferOnScreen, WlBuffer), FrontBufferReason> {
    let rect = wish.rect.ok_or(FrontBufferReason::Buffer)?;
    let content = surface.is_alive().then(|| guard::with_states(surface, |states| SurfaceContent::of(surface, states)));
    let content = content.flatten().ok_or(FrontBufferReason::Hidden)?;
    let size = content.buffer_size;
    let whole = PixelRect { x: 0, y: 0, width: size.w, height: size.h };
    if !lies_within(rect, whole) {
        if let Some(front) = front_mut(state, surface) {
            front.refuse_rectangle(rect);
        }
        return Err(FrontBufferReason::Buffer);
    }
    let buffer: WlBuffer = (*content.buffer).clone();
    if !shm_pixels::can_read(&buffer, rect) {
        return Err(FrontBufferReason::Buffer);
    }
    let output = state.outputs.by_id(id).ok_or(FrontBufferReason::Hidden)?;
    if !output.on || scene.locked || state.shell.lock().covers() {
        return Err(FrontBufferReason::Hidden);
    }
    if !state.shell.is_at_rest() {
        return Err(FrontBufferReason::Changed);
    }
    if let Some(over) = output.captured_at.map(|at| at + CAPTURED).filter(|over| state.clock.now() < *over) {
        let again = &mut state.outputs.front_buffers.again;
        *again = Some(again.map_or(over, |known| known.min(over)));
        return Err(FrontBufferReason::Captured);
    }
    if state.outputs.captures.waits_for(&output.output) {
        return Err(FrontBufferReason::Captured);
    }
    let is_on = state.outputs.front_buffers.is_on;
    if !is_on
        || !output.has_front_buffer()
        || output.display.capabilities().scan.is_none()
        || output.conductor.output().vsync().is_variable()
    {
        return Err(FrontBufferReason::Display);
    }
    in_place::locate_buffer(output, surface, rect, scene).map(|sight| (sight, buffer))
}

fn lies_within(rect: PixelRect, whole: PixelRect) -> bool {
    let end = |start: i32, length: i32| i64::from(start) + i64::from(length);
    rect.x >= 0
        && rect.y >= 0
        && end(rect.x, rect.width) <= i64::from(whole.width)
        && end(rect.y, rect.height) <= i64::from(whole.height)
}

fn requested_state(surface: &WlSurface) -> FrontBufferRequest {
    match surface.is_alive() {
        true => guard::with_states(surface, |states| *states.cached_state.get::<FrontBufferRequest>().current()),
        false => FrontBufferRequest::default(),
    }
}

fn front_mut<'a>(state: &'a mut State, surface: &WlSurface) -> Option<&'a mut FrontBuffer> {
    state.surfaces.get_mut(surface)?.front_buffer_mut()
}

impl Outputs {
    /// How many outputs scan out a client's buffer in place. For tests.
    pub fn shared(&self) -> usize {
        self.list.iter().filter(|output| output.front_share.is_some()).count()
    }
}

impl OutputState {
    fn shares(&self, surface: &WlSurface) -> bool {
        self.front_share.as_ref().is_some_and(|shared| shared.surface == *surface)
    }

    /// Ends sharing and repaints the screen. Until a frame latched at `ended` or later is seen no capture takes the
    /// picture on screen: it lacks the pixels that the client wrote.
    fn stop_sharing(&mut self, ended: Instant) {
        if self.front_share.take().is_some() {
            self.display.share_front(None);
            self.canvas.forget();
            self.drawn_scene = Arc::default();
            self.share_ended = Some(ended);
            self.schedule_repaint(RepaintReason::Content);
        }
    }

    /// When the beam reads the shared lines.
    fn scan_times(&self, shared: &FrontBufferShare) -> Option<ScanTimes> {
        let scan = self.display.capabilities().scan?;
        let vsync = self.conductor.output().vsync();
        let anchor = vsync.present(vsync.at_or_after(self.shared_at)) - shared.read_ahead.0;
        let first_line = scan.first_line(&shared.rect);
        Some(ScanTimes { anchor, interval: vsync.interval(), line_time: scan.line_time(), first_line })
    }

    /// When a write into `rect` of the shared buffer reaches light if it was finished at `now`.
    fn light_time(&mut self, rect: PixelRect, now: Instant) -> Option<Instant> {
        self.sync_phase(now);
        let shared = self.front_share.as_ref()?;
        let scan = self.display.capabilities().scan?;
        let rect = crate::backend::overlay::intersection(rect, shared.from);
        if rect.width <= 0 || rect.height <= 0 {
            return None;
        }
        let moved = (shared.rect.x - shared.from.x, shared.rect.y - shared.from.y);
        let rect = PixelRect { x: rect.x + moved.0, y: rect.y + moved.1, ..rect };
        self.conductor.output().lit_from(scan, &rect, now + shared.read_ahead.0)
    }
}
