//! Front-buffer rendering near the newest input: small changes are written into the buffer that is being scanned out,
//! ahead of the beam. Clients need no support for it (Presto 3.2.1, position-aware rendering).
//!
//! ```text
//!   commit of nothing but content ─► waits for the end of its turn ─┬─ small, near the input, unscaled [candidate]
//!                                                                   │  the beam is not there           [timing]
//!                                                                   ▼
//!            all else: need ─► latch ─► frame          written ─► lit ─► feedback, with the time of its row
//! ```
//!
//! Older content must never follow newer content. Content written in place is newer than every frame that was shown.
//! If a frame in flight would replace it, the write waits until that frame is shown, or the content becomes a part of
//! the next frame. A later latch includes the written content, and finds no change in it.

mod candidate;
pub(super) mod follow;
mod lit;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use self::candidate::Candidate;
pub(super) use self::candidate::{Sight, sight};
use self::lit::Lighting;
pub(super) use self::lit::{Lit, Orphan};
use super::{OutputState, clients::pacing, needed};
use crate::backend::{Change, Plan};
use crate::scene::Layer;
use crate::state::State;
use crate::surface;
use upbeat_timing::frames::Stage;
use upbeat_timing::id::{OutputId, SurfaceId};
use upbeat_timing::record::Need;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Clock, Instant, Span};

/// The next write is expected this many lines above the last, so that a stroke that turns upwards is still in time.
const TURNS_UP: i32 = 4;
/// The vsync phase is read again when its error may exceed this, because a larger error would use up the margin of a
/// write.
const ASK_PHASE: Span = Span::from_micros(100);

/// Numbers of in-place writes on one output, by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rectangles that were lit whole.
    pub lit: u64,
    /// Rectangles that the beam crossed during the write.
    pub torn: u64,
    /// Content that came too late for its row and was composed.
    pub late: u64,
}

/// In-place writes on one output.
#[derive(Debug, Default)]
pub struct InPlace {
    /// Surfaces with new content and the time of their commit; `None` if they have waited for a frame.
    waiting: Vec<(WlSurface, Option<Instant>)>,
    /// Written, and not lit yet.
    lighting: Vec<Lighting>,
    /// Writes whose row a newer frame replaced before it was lit; that frame shows the same content.
    orphans: Vec<Orphan>,
    /// The surface written last, and the first line of the write.
    last: Option<(SurfaceId, i32)>,
    /// The refresh for which a follower was last moved.
    moved: Option<RefreshIndex>,
    pub(super) counts: Counts,
}

impl InPlace {
    /// Numbers of writes, by result.
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}

/// How new content of a surface reaches the screen.
enum Fate {
    /// It was written, or a latch took it.
    Done,
    /// It waits for a frame in flight, and may be written after that.
    Waits,
    /// It is composed. `near`: the client's next content may still be written in place if it is in time.
    Composed { near: bool },
}

/// The newest input was at `position` (global logical coordinates).
pub fn pointed_at(state: &mut State, position: Point<f64, Logical>) {
    state.outputs.hand = Some(position);
}

/// Queues `surface`, of which only the content changed, for a write in place. Returns whether it may be written; if
/// not, the caller schedules a repaint.
pub(super) fn defer(state: &mut State, surface: &WlSurface) -> bool {
    let Some(entry) = state.surfaces.get(surface).filter(|_| state.outputs.writes_in_place) else { return false };
    let (Some(id), plain, since) = (entry.output(), entry.is_plain(), entry.fresh_since()) else { return false };
    let is_elsewhere = |output: &OutputState| output.id != id && output.on && output.is_shown_by(surface);
    if !plain || state.outputs.list.iter().any(is_elsewhere) {
        return false;
    }
    let Some(output) = state.outputs.by_id_mut(id).filter(|output| output.writes_in_place()) else { return false };
    output.stage.changed(surface);
    if !output.in_place.waiting.iter().any(|(known, _)| known == surface) {
        output.in_place.waiting.push((surface.clone(), since));
    }
    true
}

/// Writes the queued content that can be written in place, and schedules repaints for the rest.
pub(super) fn attend(state: &mut State) {
    for index in 0..state.outputs.list.len() {
        let output = &mut state.outputs.list[index];
        if output.in_place.waiting.is_empty() {
            continue;
        }
        let id = output.id;
        for (surface, since) in std::mem::take(&mut output.in_place.waiting) {
            let fate = place(state, id, &surface, since);
            match fate {
                Fate::Done => {}
                Fate::Waits => {
                    if let Some(output) = state.outputs.by_id_mut(id) {
                        output.in_place.waiting.push((surface, None));
                    }
                }
                Fate::Composed { near } => {
                    if !near {
                        expect_row(state, id, &surface, None);
                    }
                    needed::need(state, &surface);
                }
            }
        }
    }
}

fn place(state: &mut State, id: OutputId, surface: &WlSurface, since: Option<Instant>) -> Fate {
    let now = state.clock.now();
    let Some(entry) = state.surfaces.get(surface).filter(|entry| entry.is_fresh()) else { return Fate::Done };
    let client = entry.client();
    let is_alone = |other: &surface::Entry| other.id() == entry.id() || !other.is_fresh();
    if !state.surfaces.of_client(client).all(is_alone) {
        return Fate::Composed { near: false };
    }
    let Some(candidate) = candidate::find(state, id, surface) else { return Fate::Composed { near: false } };
    let Some(output) = state.outputs.by_id_mut(id) else { return Fate::Done };
    output.ask_phase(now);
    match output.hindrance() {
        None => {}
        Some(Hindrance::Replaced(refresh)) => {
            let line = output.conductor.output().scan().map(|scan| scan.first_line(&candidate.rect));
            let due = line.and_then(|line| output.conductor.output().row_deadline(refresh, line));
            return if due.is_some_and(|due| now < due) { Fate::Waits } else { Fate::Composed { near: true } };
        }
        Some(Hindrance::Ahead) => return Fate::Composed { near: true },
    }
    let Some(index) = output.conductor.output().seen_in_place(&candidate.rect, now) else {
        output.in_place.counts.late += 1;
        return Fate::Composed { near: true };
    };
    if !write(state, id, surface, candidate, (index, since.unwrap_or(now))) {
        return Fate::Composed { near: false };
    }
    pacing::latched(state, id, &[client]);
    Fate::Done
}

/// Writes the content for refresh `index`. Returns whether the display accepted it.
fn write(
    state: &mut State,
    id: OutputId,
    surface: &WlSurface,
    candidate: Candidate,
    (index, since): (RefreshIndex, Instant),
) -> bool {
    let latched = state.clock.now();
    let Candidate { place, layer, rect, pixels } = candidate;
    let State { surfaces, outputs, clock, .. } = state;
    let Some((output, entry)) = outputs.by_id_mut(id).zip(surfaces.get_mut(surface)) else { return false };
    let frame = output.conductor.output_mut().frames_mut().number();
    let present = output.conductor.output().vsync().present(index);
    let change = Change::FrontRectangle { rect, pixels };
    let plan = Plan { present, final_at: latched, ..Plan::plain(frame, change) };
    if let Err((error, _)) = output.display.submit(plan) {
        tracing::debug!(%error, "new content is composed: the display rejected the write into its front buffer");
        return false;
    }
    let written = clock.now();
    output.conductor.output_mut().wrote(written - since);
    output.show_instead(place, layer);
    let record =
        entry.take_record().map(|record| upbeat_timing::record::ClientFrameRecord { latched: Some(latched), ..record });
    let feedback = entry.latch();
    let lighting = Lighting { frame, surface: entry.id(), index, feedback, record };
    let replaced = output.in_place.written(lighting);
    outputs.objects_ended |= replaced;
    let line = outputs.by_id(id).and_then(|output| output.conductor.output().scan()).map(|scan| scan.first_line(&rect));
    expect_row(state, id, surface, line);
    true
}

/// Sets the deadline of the next callback for `surface`: the scan-out of a row, if its last content began at `line` and
/// was written in place; otherwise the refresh.
fn expect_row(state: &mut State, id: OutputId, surface: &WlSurface, line: Option<i32>) {
    let State { surfaces, outputs, .. } = state;
    let Some((entry, output)) = surfaces.get(surface).zip(outputs.by_id_mut(id)) else { return };
    let before = output.in_place.last.filter(|(known, _)| *known == entry.id());
    output.in_place.last = line.map(|line| (entry.id(), line));
    // Extrapolate an upward move by its last distance.
    let expected = line.map(|line| {
        let way = before.map_or(0, |(_, before)| (line - before).min(0));
        (line + way - TURNS_UP).max(0)
    });
    let Some(pacing) = output.clients.get(&entry.client()) else { return };
    if output.conductor.pacer(pacing.pacer).is_some_and(|pacer| pacer.row() != expected)
        && let Some(pacer) = output.conductor.pacer_mut(pacing.pacer)
    {
        pacer.set_row(expected);
    }
}

/// Why a write in place is not possible now.
enum Hindrance {
    /// A frame latched before replaces the picture in this refresh.
    Replaced(RefreshIndex),
    /// Frames finished ahead are waiting.
    Ahead,
}

impl OutputState {
    /// Whether the output supports writes in place.
    fn writes_in_place(&self) -> bool {
        self.on && self.conductor.output().scan().is_some() && !self.drawn.locked && !self.drawn.is_direct()
    }

    fn hindrance(&self) -> Option<Hindrance> {
        let mut replaced = None;
        for frame in self.conductor.output().frames().iter() {
            match frame.stage() {
                Stage::InFlight if frame.content.keeps_picture => {}
                Stage::InFlight => replaced = replaced.max(Some(frame.target)),
                Stage::Drawing if !frame.is_ahead() => replaced = replaced.max(Some(frame.target)),
                _ => return Some(Hindrance::Ahead),
            }
        }
        replaced.map(Hindrance::Replaced)
    }

    /// Reads the time of the last vblank from the display, because without flips no event reports it.
    pub(super) fn ask_phase(&mut self, now: Instant) {
        let vsync = self.conductor.output().vsync();
        if vsync.is_variable() || vsync.error(now) < ASK_PHASE && vsync.is_trusted(now) {
            return;
        }
        if let Some((vblank, _)) = self.display.last_vblank(now) {
            self.conductor.output_mut().vsync_mut().synchronise(vblank);
        }
    }

    /// Replaces the layer at index `place` of the scene on screen.
    fn show_instead(&mut self, place: usize, layer: Layer) {
        let is_on_screen = std::sync::Arc::ptr_eq(&self.drawn, &self.on_screen);
        if is_on_screen {
            self.on_screen = std::sync::Arc::default();
        }
        if let Some(shown) = std::sync::Arc::make_mut(&mut self.drawn).layers.get_mut(place) {
            *shown = layer;
        }
        if is_on_screen {
            self.on_screen = self.drawn.clone();
        }
    }
}

/// Switches writes in place on or off. Waiting content is composed.
pub fn switch(state: &mut State, on: bool) {
    state.outputs.writes_in_place = on;
    for output in &mut state.outputs.list {
        output.note_scan(on);
        output.need(Need::Content);
    }
}

impl OutputState {
    /// Sets the machine's scan-out model for the current mode, if writes in place are on and supported.
    pub(super) fn note_scan(&mut self, on: bool) {
        let capabilities = self.display.capabilities();
        let scan = capabilities.scan.filter(|_| on && capabilities.front_buffer);
        self.conductor.output_mut().set_scan(scan);
    }
}
