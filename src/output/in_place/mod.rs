//! Front-buffer rendering near the newest input: small changes are written into the buffer that is being scanned out,
//! ahead of the beam. Clients need no support for it (Presto 3.2.1, position-aware rendering).
//!
//! ```text
//!   commit of nothing but content ─► waits for the end of its turn ─┬─ small, near the input, unscaled [candidate]
//!                                                                   │  the beam is not there           [timing]
//!                                                                   ▼
//!            all else: repaint ─► latch ─► frame       written ─► lit ─► feedback, with the time of its row
//! ```
//!
//! Older content must never follow newer content. Content written in place is newer than every frame that was shown.
//! If a frame in flight would replace it, the write waits until that frame is shown, or the content becomes a part of
//! the next frame. A later latch includes the written content, and finds no change in it.

mod candidate;
mod input_area;
pub(super) mod move_follower;
mod pending_light;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::utils::{Logical, Point};

use self::candidate::InPlaceCandidate;
pub(super) use self::candidate::{BufferOnScreen, locate_buffer};
use self::pending_light::PendingWrite;
pub(super) use self::pending_light::{LitWrite, ReplacedWrite};
use super::{OutputState, clients::pacing, repaint};
use crate::backend::{FramePlan, PlanChange};
use crate::config::{FrontBufferOption, InPlaceSize};
use crate::scene::Layer;
use crate::state::State;
use crate::surface;
use upbeat_timing::frames::FrameStage;
use upbeat_timing::id::{ClientId, OutputId, SurfaceId};
use upbeat_timing::pacer::Pacer;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Clock, Instant, Span};

/// The next write is expected this many lines above the last, so that a stroke that turns upwards is still in time.
const TURNS_UP: i32 = 4;
/// The vsync phase is read again when its error may exceed this, because a larger error would use up the margin of a
/// write.
const ASK_PHASE: Span = Span::from_micros(100);

/// Numbers of in-place writes on one output, by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPlaceCounts {
    /// Rectangles that were lit whole.
    pub lit: u64,
    /// Rectangles that the beam crossed during the write.
    pub torn: u64,
    /// Content that came too late for its row and was composed.
    pub late: u64,
}

/// In-place writes on one output.
#[derive(Debug, Default)]
pub struct InPlaceWrites {
    /// Surfaces with new content and the time of their commit; `None` if they have waited for a frame.
    waiting: Vec<(WlSurface, Option<Instant>)>,
    /// Written, and not lit yet.
    pending: Vec<PendingWrite>,
    /// Writes whose row a newer frame replaced before it was lit; that frame shows the same content.
    replaced: Vec<ReplacedWrite>,
    /// The surface written last, and the first line of the write.
    last: Option<(SurfaceId, i32)>,
    /// The refresh for which a follower was last moved.
    moved: Option<RefreshIndex>,
    pub(super) counts: InPlaceCounts,
}

impl InPlaceWrites {
    /// Numbers of writes, by result.
    pub const fn counts(&self) -> InPlaceCounts {
        self.counts
    }
}

/// How new content of a surface reaches the screen.
enum InPlaceResult {
    /// It was written, or a latch took it.
    Done,
    /// It waits for a frame in flight, and may be written after that.
    Waits,
    /// It is composed. `near`: the client's next content may still be written in place if it is in time.
    Composed { near: bool },
    /// It is composed, because a panel with variable refresh waits for a frame. The client's next content may be written.
    ComposedSooner,
}

/// The newest input was at `position` (global logical coordinates).
pub fn set_input_position(state: &mut State, position: Point<f64, Logical>) {
    state.outputs.input_position = Some(position);
}

/// Queues `surface`, of which only the content changed, for a write in place. Returns whether it may be written; if
/// not, the caller schedules a repaint.
pub(super) fn queue_write(state: &mut State, surface: &WlSurface) -> bool {
    let Some(entry) = state.surfaces.get(surface).filter(|_| state.outputs.writes_in_place) else { return false };
    let (Some(id), plain, since) = (entry.output(), entry.is_untimed(), entry.unlatched_since()) else { return false };
    let client = entry.client();
    let is_elsewhere = |output: &OutputState| output.id != id && output.on && output.is_shown_by(surface);
    if !plain || state.outputs.list.iter().any(is_elsewhere) {
        return false;
    }
    let is_possible = |output: &&mut OutputState| output.writes_in_place() && output.may_write(client);
    let Some(output) = state.outputs.by_id_mut(id).filter(is_possible) else { return false };
    output.scene_cache.changed(surface);
    if !output.in_place.waiting.iter().any(|(known, _)| known == surface) {
        output.in_place.waiting.push((surface.clone(), since));
    }
    true
}

/// Writes the queued content that can be written in place, and schedules repaints for the rest.
pub(super) fn run_writes(state: &mut State) {
    for index in 0..state.outputs.list.len() {
        let output = &mut state.outputs.list[index];
        if output.in_place.waiting.is_empty() {
            continue;
        }
        let id = output.id;
        for (surface, since) in std::mem::take(&mut output.in_place.waiting) {
            let fate = try_write(state, id, &surface, since);
            match fate {
                InPlaceResult::Done => {}
                InPlaceResult::Waits => {
                    if let Some(output) = state.outputs.by_id_mut(id) {
                        output.in_place.waiting.push((surface, None));
                    }
                }
                InPlaceResult::ComposedSooner => repaint::surface_changed(state, &surface),
                InPlaceResult::Composed { near } => {
                    if near {
                        note_missed_row(state, id, &surface);
                    } else {
                        expect_row(state, id, &surface, None);
                    }
                    repaint::surface_changed(state, &surface);
                }
            }
        }
    }
}

/// The content of `surface` is composed: its next content is not expected at a row, if its last was.
pub(super) fn forget_row(state: &mut State, surface: &WlSurface) {
    let Some(entry) = state.surfaces.get(surface) else { return };
    let Some(id) = entry.output() else { return };
    let is_last = |output: &OutputState| output.in_place.last.is_some_and(|(known, _)| known == entry.id());
    if state.outputs.by_id(id).is_some_and(is_last) {
        expect_row(state, id, surface, None);
    }
}

fn try_write(state: &mut State, id: OutputId, surface: &WlSurface, since: Option<Instant>) -> InPlaceResult {
    let now = state.clock.now();
    let Some(entry) = state.surfaces.get(surface).filter(|entry| entry.has_unlatched_content()) else {
        return InPlaceResult::Done;
    };
    let client = entry.client();
    let is_alone = |other: &surface::SurfaceEntry| other.id() == entry.id() || !other.has_unlatched_content();
    if !state.surfaces.of_client(client).all(is_alone) {
        return InPlaceResult::Composed { near: false };
    }
    let Some(candidate) = candidate::find(state, id, surface) else { return InPlaceResult::Composed { near: false } };
    let Some(output) = state.outputs.by_id_mut(id) else { return InPlaceResult::Done };
    output.sync_phase(now);
    match output.write_obstacle() {
        None => {}
        Some(WriteObstacle::Replaced(refresh)) => {
            let line = output.conductor.output().scan().map(|scan| scan.first_line(&candidate.rect));
            let due = line.and_then(|line| output.conductor.output().row_deadline(refresh, line));
            return if due.is_some_and(|due| now < due) {
                InPlaceResult::Waits
            } else {
                InPlaceResult::Composed { near: true }
            };
        }
        Some(WriteObstacle::Ahead) => return InPlaceResult::Composed { near: false },
    }
    let Some(index) = output.conductor.output().seen_in_place(&candidate.rect, now) else {
        if output.conductor.output().waits_to_scan(&candidate.rect, now) {
            // A whole picture is lit soonest, because no refresh was begun for the row. One is for the next content.
            let line = output.conductor.output().scan().map(|scan| scan.first_line(&candidate.rect));
            expect_row(state, id, surface, line);
            return InPlaceResult::ComposedSooner;
        }
        output.in_place.counts.late += 1;
        return InPlaceResult::Composed { near: true };
    };
    if !write(state, id, surface, candidate, (index, since.unwrap_or(now))) {
        return InPlaceResult::Composed { near: false };
    }
    pacing::latched(state, id, &[client]);
    InPlaceResult::Done
}

/// Writes the content for refresh `index`. Returns whether the display accepted it.
fn write(
    state: &mut State,
    id: OutputId,
    surface: &WlSurface,
    candidate: InPlaceCandidate,
    (index, since): (RefreshIndex, Instant),
) -> bool {
    let latched = state.clock.now();
    let InPlaceCandidate { place, layer, rect, pixels } = candidate;
    let State { surfaces, outputs, clock, .. } = state;
    let Some((output, entry)) = outputs.by_id_mut(id).zip(surfaces.get_mut(surface)) else { return false };
    let frame = output.conductor.output_mut().frames_mut().take_frame_number();
    let present = output.conductor.output().vsync().present(index);
    let change = PlanChange::FrontRectangle { rect, pixels };
    let plan = FramePlan { present, final_at: latched, ..FramePlan::plain(frame, change) };
    if let Err((error, _)) = output.display.submit(plan) {
        tracing::debug!(%error, "new content is composed: the display rejected the write into its front buffer");
        return false;
    }
    let written = clock.now();
    output.conductor.output_mut().wrote(written - since);
    output.replace_layer(place, layer);
    let record =
        entry.take_record().map(|record| upbeat_timing::record::ClientFrameRecord { latched: Some(latched), ..record });
    let feedback = entry.latch();
    let lighting = PendingWrite { frame, surface: entry.id(), index, feedback, record };
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
    if output.conductor.pacer(pacing.pacer).is_some_and(|pacer| pacer.in_place_row() != expected)
        && let Some(pacer) = output.conductor.pacer_mut(pacing.pacer)
    {
        pacer.set_in_place_row(expected);
    }
}

/// Tells the pacer of the client of `surface` if its content, which is composed now, is seen later than in the refresh
/// that the client drew it for. The client may have been in time: a frame of another client was in the way.
fn note_missed_row(state: &mut State, id: OutputId, surface: &WlSurface) {
    let now = state.clock.now();
    let State { surfaces, outputs, .. } = state;
    let Some((entry, output)) = surfaces.get(surface).zip(outputs.by_id_mut(id)) else { return };
    let Some(pacing) = output.clients.get(&entry.client()) else { return };
    if output.conductor.output().next_index(now) > entry.record().target
        && let Some(pacer) = output.conductor.pacer_mut(pacing.pacer)
    {
        pacer.note_missed_row();
    }
}

/// Why a write in place is not possible now.
enum WriteObstacle {
    /// A frame latched before replaces the picture in this refresh.
    Replaced(RefreshIndex),
    /// Frames finished ahead are waiting.
    Ahead,
}

impl OutputState {
    /// Whether the output supports writes in place.
    fn writes_in_place(&self) -> bool {
        self.on && self.conductor.output().scan().is_some() && !self.drawn_scene.locked && !self.drawn_scene.is_direct()
    }

    /// Whether a rule of the client forbids writes in place.
    fn forbids_writes(&self, client: ClientId) -> bool {
        let pacing = self.clients.get(&client);
        let pacer = pacing.and_then(|pacing| self.conductor.pacer(pacing.pacer));
        pacer.is_some_and(|pacer| !pacer.is_in_place_allowed())
    }

    /// Whether content of `client` may be written in place, by its rules.
    fn may_write(&self, client: ClientId) -> bool {
        let pacing = self.clients.get(&client);
        pacing.and_then(|pacing| self.conductor.pacer(pacing.pacer)).is_some_and(Pacer::may_be_in_place)
    }

    fn write_obstacle(&self) -> Option<WriteObstacle> {
        let mut replaced = None;
        for frame in self.conductor.output().frames().iter() {
            match frame.stage() {
                FrameStage::InFlight if frame.content.keeps_picture => {}
                FrameStage::InFlight => replaced = replaced.max(Some(frame.target)),
                FrameStage::Drawing if !frame.is_ahead() => replaced = replaced.max(Some(frame.target)),
                _ => return Some(WriteObstacle::Ahead),
            }
        }
        replaced.map(WriteObstacle::Replaced)
    }

    /// Reads the time of the last vblank from the display, because without flips no event reports it.
    pub(super) fn sync_phase(&mut self, now: Instant) {
        let vsync = self.conductor.output().vsync();
        if vsync.is_variable() || vsync.error(now) < ASK_PHASE && vsync.is_trusted(now) {
            return;
        }
        if let Some((vblank, _)) = self.display.last_vblank(now) {
            self.conductor.output_mut().vsync_mut().synchronise(vblank);
        }
    }

    /// Replaces the layer at index `place` of the scene on screen.
    fn replace_layer(&mut self, place: usize, layer: Layer) {
        let is_on_screen = std::sync::Arc::ptr_eq(&self.drawn_scene, &self.on_screen);
        if is_on_screen {
            self.on_screen = std::sync::Arc::default();
        }
        if let Some(shown) = std::sync::Arc::make_mut(&mut self.drawn_scene).layers.get_mut(place) {
            *shown = layer;
        }
        if is_on_screen {
            self.on_screen = self.drawn_scene.clone();
        }
    }
}

/// Sets the side of the area around the newest input that must contain a write.
pub const fn set_area_size(state: &mut State, size: InPlaceSize) {
    state.outputs.in_place_size = size;
}

/// Switches writes in place on or off for clients without an application rule.
pub fn set_enabled(state: &mut State, on: bool) {
    state.outputs.rules.in_place = on;
    state.outputs.rules.mark_all_stale();
    update_rules(state);
}

/// Sets whether the buffer on the screen of output `id` may be written. The next turn ends a share that is not permitted.
pub fn set_front_buffer_option(state: &mut State, id: OutputId, option: FrontBufferOption) {
    let is_any = state.outputs.writes_in_place;
    if let Some(output) = state.outputs.by_id_mut(id) {
        output.apply_front_buffer_option(option);
        output.update_scan(is_any);
        output.schedule_repaint(RepaintReason::Content);
    }
}

/// The rules for writes in place changed. Waiting content is composed where it may not be written any more.
pub fn update_rules(state: &mut State) {
    let is_any = state.outputs.rules.any_writes_in_place();
    state.outputs.writes_in_place = is_any;
    for output in &mut state.outputs.list {
        output.update_scan(is_any);
        output.schedule_repaint(RepaintReason::Content);
    }
}

impl OutputState {
    /// Whether the buffer on screen may be written: the display can, and the configuration permits it.
    pub(super) fn has_front_buffer(&self) -> bool {
        self.front_buffer != FrontBufferOption::Off && self.display.capabilities().front_buffer
    }

    /// Takes the configured option. If the display cannot do it, the log says why.
    pub(super) fn apply_front_buffer_option(&mut self, option: FrontBufferOption) {
        self.front_buffer = option;
        if let Err(reason) = self.display.force_front_buffer(option == FrontBufferOption::On) {
            let output = self.display.name();
            tracing::warn!(output, reason, "front-buffer = \"on\" has no effect: the picture on screen is not written");
        }
    }

    /// Sets the machine's scan-out model for the current mode, if writes in place are on and supported.
    pub(super) fn update_scan(&mut self, on: bool) {
        let scan = self.display.capabilities().scan.filter(|_| on && self.has_front_buffer());
        self.conductor.output_mut().set_scan(scan);
    }
}
