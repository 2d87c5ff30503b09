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
use crate::backend::front::{Front, FrontMemory, ReadAhead, Scanned};
use crate::guard;
use crate::output::OutputState;
use crate::output::Outputs;
use crate::output::in_place::{self, Sight};
use crate::scene::Scene;
use crate::state::State;
use crate::surface::content::SurfaceContent;
use crate::surface::front_buffer::{FrontBuffer, FrontState, Reason, ScanTimes};
use crate::surface::pixels;
use upbeat_timing::id::OutputId;
use upbeat_timing::record::Need;
use upbeat_timing::time::{Clock, Instant, Span};

/// Largest error of the beam times that a client was sent before it gets new times: a third of its distance to the
/// beam.
const MOST_OFF: Span = Span::from_micros(100);

/// Surfaces that may have a part of their buffer scanned out in place.
#[derive(Debug, Default)]
pub struct Fronts {
    surfaces: Vec<WlSurface>,
    /// Whether the configuration allows it.
    is_on: bool,
    /// When to try again to share a buffer after the last attempt was too recent.
    pub(in crate::output) again: Option<Instant>,
}

/// The part of a client's buffer that an output scans out in place.
#[derive(Debug)]
pub struct Shared {
    surface: WlSurface,
    buffer: ObjectId,
    /// In pixels of the screen.
    rect: PixelRect,
    /// In pixels of the buffer.
    from: PixelRect,
    read_ahead: ReadAhead,
}

#[derive(Debug)]
struct Memory {
    buffer: WlBuffer,
    from: PixelRect,
}

impl FrontMemory for Memory {
    fn read(&self, first: i32, height: i32, into: &mut [u32]) -> bool {
        pixels::read_into(&self.buffer, PixelRect { y: self.from.y + first, height, ..self.from }, into)
    }
}

/// Switches sharing on or off. The next turn ends existing shares if it is off.
pub fn switch(state: &mut State, on: bool) {
    state.outputs.fronts.is_on = on;
}

/// The client of `surface` may request sharing from now on.
pub fn begin(state: &mut State, surface: &WlSurface) {
    let surfaces = &mut state.outputs.fronts.surfaces;
    surfaces.retain(Resource::is_alive);
    surfaces.push(surface.clone());
}

/// The client destroyed the protocol object, which states that it no longer writes.
pub fn end(state: &mut State, surface: &WlSurface) {
    state.outputs.fronts.surfaces.retain(|known| known != surface);
    if let Some(entry) = state.surfaces.get_mut(surface) {
        entry.set_front_buffer(None);
    }
    for output in &mut state.outputs.list {
        if output.front.as_ref().is_some_and(|shared| shared.surface == *surface) {
            output.stop_sharing();
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
    let light = output.and_then(|output| output.light_of(rect, now));
    if let Some(front) = front_mut(state, surface) {
        front.write(id, light);
    }
}

/// The beam has passed the shared part of output number `index`.
pub(in crate::output) fn scanned(state: &mut State, index: usize, scanned: Scanned) {
    let now = state.clock.now();
    let Some(output) = state.outputs.list.get_mut(index) else { return };
    output.ask_phase(now);
    let interval = output.conductor.output().vsync().interval();
    let Some((surface, times)) = output.front.as_ref().map(|shared| (shared.surface.clone(), output.times(shared)))
    else {
        return;
    };
    if let Some(front) = front_mut(state, &surface) {
        front.scanned(scanned, interval);
        times.into_iter().for_each(|times| front.correct(times, MOST_OFF));
    }
}

/// Ends shares that no longer meet the conditions, and starts the shares that do.
pub(in crate::output) fn attend(state: &mut State) {
    if state.outputs.fronts.surfaces.is_empty() && state.outputs.list.iter().all(|output| output.front.is_none()) {
        return;
    }
    state.outputs.fronts.again = None;
    for index in 0..state.outputs.list.len() {
        let output = &state.outputs.list[index];
        let (id, scene) = (output.id, output.drawn.clone());
        check(state, id, &scene);
    }
    state.outputs.fronts.surfaces.retain(Resource::is_alive);
    for surface in state.outputs.fronts.surfaces.clone() {
        let wish = wish_of(&surface);
        if state.surfaces.get(&surface).and_then(|entry| entry.front_buffer()).is_some_and(|f| f.waits_for(wish)) {
            fulfil(state, &surface, wish);
        }
    }
}

/// Called before output `id` shows `scene`: ends its share before drawing if `scene` no longer meets the conditions.
pub(in crate::output) fn check(state: &mut State, id: OutputId, scene: &Scene) {
    let Some(shared) = state.outputs.by_id_mut(id).and_then(|output| output.front.take()) else { return };
    let wish = wish_of(&shared.surface);
    let sight = sight(state, id, &shared.surface, wish, scene);
    let ends = match &sight {
        _ if !shared.surface.is_alive() => Some((Reason::Hidden, false)),
        Err(reason) => Some((*reason, *reason == Reason::Buffer)),
        Ok((_, buffer)) if buffer.id() != shared.buffer => Some((Reason::Buffer, true)),
        Ok((sight, _)) if (sight.rect, sight.from) != (shared.rect, shared.from) => Some((Reason::Changed, false)),
        Ok(_) => None,
    };
    let Some(output) = state.outputs.by_id_mut(id) else { return };
    let surface = shared.surface.clone();
    output.front = Some(shared);
    let Some((reason, is_over)) = ends else { return };
    output.stop_sharing();
    if let Some(front) = front_mut(state, &surface) {
        front.revoke(reason);
        if is_over {
            front.end_wish(wish.number);
        }
    }
}

fn fulfil(state: &mut State, surface: &WlSurface, wish: FrontState) {
    let now = state.clock.now();
    let Some(id) = state.surfaces.get(surface).and_then(|entry| entry.output()) else { return };
    let Some(output) = state.outputs.by_id(id) else { return };
    // The newest drawn scene must be on screen first. Sharing starts at most once a refresh even if a client
    // toggles it.
    if !Arc::ptr_eq(&output.drawn, &output.on_screen) || output.front.is_some() {
        return;
    }
    let earliest = output.shared_at + output.conductor.output().vsync().interval();
    if now < earliest {
        let again = &mut state.outputs.fronts.again;
        *again = Some(again.map_or(earliest, |known| known.min(earliest)));
        return;
    }
    let scene = output.drawn.clone();
    let shown = sight(state, id, surface, wish, &scene).and_then(|(Sight { rect, from }, buffer)| {
        let output = state.outputs.by_id_mut(id).ok_or(Reason::Hidden)?;
        let memory = Arc::new(Memory { buffer: buffer.clone(), from });
        output.ask_phase(now);
        output.shared_at = now;
        let read_ahead = output.display.share(Some(Front { rect, memory })).ok_or(Reason::Display)?;
        let shared = Shared { surface: surface.clone(), buffer: buffer.id(), rect, from, read_ahead };
        let times = output.times(&shared);
        output.front = Some(shared);
        let Some(times) = times else {
            output.stop_sharing();
            return Err(Reason::Display);
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
fn sight(
    state: &mut State,
    id: OutputId,
    surface: &WlSurface,
    wish: FrontState,
    scene: &Scene,
) -> Result<(Sight, WlBuffer), Reason> {
    let rect = wish.rect.ok_or(Reason::Buffer)?;
    let content = surface.is_alive().then(|| guard::with_states(surface, |states| SurfaceContent::of(surface, states)));
    let content = content.flatten().ok_or(Reason::Hidden)?;
    let size = content.buffer_size;
    let whole = PixelRect { x: 0, y: 0, width: size.w, height: size.h };
    if !lies_within(rect, whole) {
        if let Some(front) = front_mut(state, surface) {
            front.refuse_rectangle(rect);
        }
        return Err(Reason::Buffer);
    }
    let buffer: WlBuffer = (*content.buffer).clone();
    if !pixels::can_read(&buffer, rect) {
        return Err(Reason::Buffer);
    }
    let output = state.outputs.by_id(id).ok_or(Reason::Hidden)?;
    if !output.on || scene.locked || state.shell.lock().covers() {
        return Err(Reason::Hidden);
    }
    if !state.shell.is_still() {
        return Err(Reason::Changed);
    }
    let is_on = state.outputs.fronts.is_on;
    if !is_on || output.display.capabilities().scan.is_none() || output.conductor.output().vsync().is_variable() {
        return Err(Reason::Display);
    }
    in_place::sight(output, surface, rect, scene).map(|sight| (sight, buffer))
}

fn lies_within(rect: PixelRect, whole: PixelRect) -> bool {
    let end = |start: i32, length: i32| i64::from(start) + i64::from(length);
    rect.x >= 0
        && rect.y >= 0
        && end(rect.x, rect.width) <= i64::from(whole.width)
        && end(rect.y, rect.height) <= i64::from(whole.height)
}

fn wish_of(surface: &WlSurface) -> FrontState {
    match surface.is_alive() {
        true => guard::with_states(surface, |states| *states.cached_state.get::<FrontState>().current()),
        false => FrontState::default(),
    }
}

fn front_mut<'a>(state: &'a mut State, surface: &WlSurface) -> Option<&'a mut FrontBuffer> {
    state.surfaces.get_mut(surface)?.front_buffer_mut()
}

impl Outputs {
    /// How many outputs scan out a client's buffer in place. For tests.
    pub fn shared(&self) -> usize {
        self.list.iter().filter(|output| output.front.is_some()).count()
    }
}

impl OutputState {
    fn shares(&self, surface: &WlSurface) -> bool {
        self.front.as_ref().is_some_and(|shared| shared.surface == *surface)
    }

    /// Ends sharing and repaints the screen.
    fn stop_sharing(&mut self) {
        if self.front.take().is_some() {
            self.display.share(None);
            self.canvas.forget();
            self.drawn = Arc::default();
            self.need(Need::Content);
        }
    }

    /// When the beam reads the shared lines.
    fn times(&self, shared: &Shared) -> Option<ScanTimes> {
        let scan = self.display.capabilities().scan?;
        let vsync = self.conductor.output().vsync();
        let anchor = vsync.present(vsync.at_or_after(self.shared_at)) - shared.read_ahead.0;
        let first_line = scan.first_line(&shared.rect);
        Some(ScanTimes { anchor, interval: vsync.interval(), line_time: scan.line_time(), first_line })
    }

    /// When a write into `rect` of the shared buffer reaches light if it was finished at `now`.
    fn light_of(&mut self, rect: PixelRect, now: Instant) -> Option<Instant> {
        self.ask_phase(now);
        let shared = self.front.as_ref()?;
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
