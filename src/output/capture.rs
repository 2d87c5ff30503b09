//! Screen capture: pictures of what an output *presented*, of a single window, and of the cursor.
//!
//! ```text
//!   output   asked ─► waits for light ─► a [`Shot`] of the screen ─────────┐
//!   window   asked ─► waits for a change ─► its scene ─┬─ Pixman ──────────┤ `writer`, a thread of its own:
//!                                                      └─ GLES: render ────┤ drawn, copied ─► answered
//!   cursor   asked ─► waits for another ─► its image ──────────────────────┘ thread, read back
//! ```
//!
//! The main thread copies as few pixels as possible, because copying a frame of a large output takes as long as drawing
//! it. Damage since the client's last picture ([`DamageSinceCapture`]) is found by comparing scenes.

mod capture_buffer;
mod captured_windows;
mod compare_budget;
mod damage_since_capture;
mod excluded_windows;
mod subject;
mod window_pictures;
mod writer;

use std::collections::VecDeque;
use std::sync::Arc;

use calloop::LoopHandle;
use smithay::output::Output;
use smithay::reexports::wayland_server::Resource;
use smithay::reexports::wayland_server::backend::ClientId;

use super::OutputState;
use crate::backend::{Buffer, BufferStorage, PixelBuffer, PixelRect, ScreenSnapshot};
use crate::descriptors;
use crate::render::{Canvas, FinishedJob, RenderJob as Drawing, RenderJobId};
use crate::scene::Scene;
use crate::shell::Shell;
use crate::state::State;
pub use capture_buffer::{CapturePixelFormat, CaptureTarget};
pub use captured_windows::CaptureGuard;
pub(super) use captured_windows::call_back;
use compare_budget::CompareBudget;
pub use damage_since_capture::DamageSinceCapture;
pub use subject::{CaptureSubject, CursorArea, CursorOverArea, WindowUnderPointer};
use upbeat_timing::time::{Clock, Instant, Span};
pub use window_pictures::{WindowPicture, picture_of_window};
use writer::{CaptureDone, CaptureJob, CaptureSource, CaptureWriter};

/// Pictures that the writer thread may have at once: the one being written, and the next, so that the writer need not
/// wait for another turn of the loop. Further requests wait: their pictures are then as recent as possible, and fewer
/// display buffers stay locked.
const MOST_WRITTEN: usize = 2;

/// Refreshes within which the screen is drawn anew after a client's buffer was shared with the display.
const SHARE_REDRAWN: i64 = 3;

/// Longest refresh interval of any output.
const LONGEST_INTERVAL: Span = Span::from_seconds(1);

/// A client's request for a picture.
#[derive(Debug)]
pub struct CaptureRequest {
    pub subject: CaptureSubject,
    /// Destination of the pixels; its size was checked against the subject when the request was made.
    pub buffer: CaptureTarget,
    /// Whether the picture includes the cursor.
    pub with_cursor: bool,
    /// Wait until the subject has changed since the last picture taken with this `damage_tracker`; the first picture
    /// never waits.
    pub waits: bool,
    /// Damage since this client's last picture.
    pub damage_tracker: Arc<DamageSinceCapture>,
    /// Sends the result to the client.
    pub reply: Box<dyn CaptureReply>,
}

impl CaptureRequest {
    fn client(&self) -> Option<ClientId> {
        self.buffer.buffer.client().map(|client| client.id())
    }
}

/// Answers one request, once. Dropping it unanswered means that the request failed.
pub trait CaptureReply: std::fmt::Debug {
    /// Whether the client still waits for the picture.
    fn is_wanted(&self) -> bool;
    /// The buffer now has the pixels.
    fn ready(self: Box<Self>, captured: &CaptureMetadata);
    /// The subject no longer exists, so no picture can be taken.
    fn gone(self: Box<Self>);
    /// Whether the request waits while the output is off; if not, it fails.
    fn waits_for_power(&self) -> bool;
}

/// Metadata of a finished picture.
#[derive(Clone, Debug)]
pub struct CaptureMetadata {
    /// When the captured content was presented.
    pub presented: Instant,
    /// Damage since the client's last picture, relative to the region.
    pub damage: Vec<PixelRect>,
}

#[derive(Debug)]
struct QueuedCapture {
    number: u64,
    answer: CaptureAnswer,
}

/// The answer to send when a picture that is under way is finished.
#[derive(Debug)]
struct CaptureAnswer {
    reply: Box<dyn CaptureReply>,
    damage_tracker: Arc<DamageSinceCapture>,
    captured: CaptureMetadata,
}

impl CaptureAnswer {
    fn give(self, succeeded: bool) {
        if succeeded {
            self.reply.ready(&self.captured);
        } else {
            self.damage_tracker.forget();
        }
    }
}

/// A window that the renderer is drawing for a picture.
#[derive(Debug)]
struct RenderingCapture {
    job: RenderJobId,
    region: PixelRect,
    target: CaptureTarget,
    answer: CaptureAnswer,
}

/// All unanswered capture requests.
#[derive(Debug, Default)]
pub struct Captures {
    waiting: Vec<CaptureRequest>,
    painting: Vec<RenderingCapture>,
    /// Pictures that the compositor itself wants.
    own: Vec<window_pictures::PendingWindowPicture>,
    /// In the order in which the writer thread writes them.
    writing: VecDeque<QueuedCapture>,
    last: u64,
    /// Started with the first picture.
    writer: Option<CaptureWriter>,
    /// Number of the last picture handed to an earlier writer thread.
    writes_after: u64,
    /// When each client last got a picture of each subject; entries older than [`LONGEST_INTERVAL`] are dropped.
    given: Vec<(ClientId, CaptureSubject, Instant)>,
    /// How many layers were compared for waiting requests.
    compare_budget: CompareBudget,
    /// Windows that count as visible because they are captured.
    watched: captured_windows::CapturedWindows,
    /// When the next throttled request may be served.
    wake: Option<Instant>,
}

/// Queues a capture request until it can be served.
pub fn capture(state: &mut State, request: CaptureRequest) {
    if descriptors::are_scarce() {
        // Dropping the request reports its failure.
        tracing::debug!("a capture was refused: nine of ten file descriptors are in use");
        return;
    }
    note_captured(state, &request.subject);
    state.outputs.captures.waiting.push(request);
}

/// Notes the time of a request on each output whose content it shows: meanwhile no client may write into a buffer on
/// screen, because a capture has to know of each change.
fn note_captured(state: &mut State, subject: &CaptureSubject) {
    let now = state.clock.now();
    let shown = state.outputs.list.iter_mut().filter(|output| shows(subject, &output.output));
    shown.for_each(|output| output.captured_at = Some(now));
}

/// Whether a picture of `subject` may show content of this output.
fn shows(subject: &CaptureSubject, output: &Output) -> bool {
    match subject {
        CaptureSubject::Output(captured, _) => output == captured,
        CaptureSubject::Window(_) => true,
        CaptureSubject::Cursor(_) => false,
    }
}

impl Captures {
    /// Whether a request waits for a picture that may show content of this output.
    pub(super) fn waits_for(&self, output: &Output) -> bool {
        self.waiting.iter().any(|request| shows(&request.subject, output))
    }
}

/// State of a request's subject now.
enum CaptureReadiness {
    /// The subject no longer exists.
    Gone,
    /// There is no content, or no new content.
    Unchanged,
    Picture {
        picture: CaptureSource,
        region: PixelRect,
        presented: Instant,
    },
}

/// Serves requests: at once where the client takes the current content, otherwise after the next presentation or
/// change.
pub(super) fn serve(state: &mut State) {
    state.outputs.captures.wake = None;
    if state.outputs.captures.waiting.is_empty() {
        return;
    }
    let now = state.clock.now();
    let mut requests = std::mem::take(&mut state.outputs.captures.waiting);
    let budget = &state.outputs.captures.compare_budget;
    requests.sort_by_cached_key(|request| request.client().map(|client| budget.recent_layers(&client, now)));
    let mut pointed = WindowUnderPointer::default();
    for request in requests.into_iter().filter(|request| request.reply.is_wanted()) {
        let interval = interval(state, &request.subject);
        let captures = &mut state.outputs.captures;
        if captures.painting.len() + captures.writing.len() >= MOST_WRITTEN {
            captures.waiting.push(request);
            continue;
        }
        if let Some(next) = captures.next_allowed(interval, &request, now) {
            captures.wake = captures.wake.into_iter().chain([next]).min();
            captures.waiting.push(request);
            continue;
        }
        match check_subject(state, &request, &mut pointed, now) {
            CaptureReadiness::Gone => request.reply.gone(),
            CaptureReadiness::Unchanged => state.outputs.captures.waiting.push(request),
            CaptureReadiness::Picture { picture, region, presented } => {
                state.outputs.captures.note_given(&request, now);
                begin(state, request, picture, region, presented);
            }
        }
    }
}

/// Shortest time between two pictures of the same subject for one client.
fn interval(state: &State, subject: &CaptureSubject) -> Span {
    let outputs = &state.outputs.list;
    let own = |output: &Output| outputs.iter().find(|known| known.output == *output);
    let output = match subject {
        CaptureSubject::Output(output, _) | CaptureSubject::Cursor(CursorArea::Output(output)) => own(output),
        CaptureSubject::Window(_) | CaptureSubject::Cursor(CursorArea::Window(_)) => {
            outputs.iter().find(|output| output.on)
        }
    };
    output.map_or(captured_windows::INTERVAL, |output| output.conductor.output().vsync().interval())
}

fn check_subject(
    state: &mut State,
    request: &CaptureRequest,
    pointed: &mut WindowUnderPointer,
    now: Instant,
) -> CaptureReadiness {
    match &request.subject {
        CaptureSubject::Output(output, region) => {
            let place = state.outputs.list.iter().position(|known| known.output == *output);
            // A removed output never presents again.
            let Some(place) = place else { return CaptureReadiness::Gone };
            let output = &state.outputs.list[place];
            if !output.on {
                return if request.reply.waits_for_power() {
                    CaptureReadiness::Unchanged
                } else {
                    CaptureReadiness::Gone
                };
            }
            // If the frame drawn anew does not come, the picture on screen is the best there is.
            if let Some(known) =
                output.share_ended.map(|ended| ended + interval(state, &request.subject) * SHARE_REDRAWN)
                && now < known
            {
                let wake = &mut state.outputs.captures.wake;
                *wake = Some(wake.map_or(known, |wake| wake.min(known)));
                return CaptureReadiness::Unchanged;
            }
            let output = &state.outputs.list[place];
            if !output.shows_anything() || !output.may_be_captured(state.shell.lock().covers()) {
                return CaptureReadiness::Unchanged;
            }
            let layers =
                request.damage_tracker.compare_scene(&output.on_screen, Some((output.lights, output.cursor_moves)));
            if layers > 0 {
                state.outputs.captures.compare_budget.charge(request.client(), layers, now);
            }
            let output = &state.outputs.list[place];
            if request.waits && !request.damage_tracker.has_damage(*region) {
                return CaptureReadiness::Unchanged;
            }
            let Some(shot) = output.picture(&state.shell, request.with_cursor) else { return CaptureReadiness::Gone };
            CaptureReadiness::Picture {
                picture: CaptureSource::Shot(shot),
                region: *region,
                presented: output.presented,
            }
        }
        CaptureSubject::Window(id) => {
            let Some(scene) = subject::window_scene(state, *id, request.with_cursor) else {
                return CaptureReadiness::Gone;
            };
            let region = PixelRect { x: 0, y: 0, width: scene.size.w, height: scene.size.h };
            let layers = request.damage_tracker.compare_scene(&scene, None);
            state.outputs.captures.compare_budget.charge(request.client(), layers, now);
            if request.waits && !request.damage_tracker.has_damage(region) {
                return CaptureReadiness::Unchanged;
            }
            CaptureReadiness::Picture { picture: CaptureSource::Scene(Box::new(scene)), region, presented: now }
        }
        CaptureSubject::Cursor(area) => {
            let area = area.clone();
            if area.size(state).is_none() {
                return CaptureReadiness::Gone;
            }
            // The cursor may come back to this area.
            let Some(CursorOverArea { image, .. }) = area.cursor(state, pointed) else {
                return CaptureReadiness::Unchanged;
            };
            if request.waits && !request.damage_tracker.is_other_cursor(&image) {
                return CaptureReadiness::Unchanged;
            }
            let region = PixelRect { x: 0, y: 0, width: image.width, height: image.height };
            request.damage_tracker.set_cursor(&image);
            CaptureReadiness::Picture { picture: CaptureSource::Cursor(image), region, presented: now }
        }
    }
}

impl super::Outputs {
    /// How many layers were compared so far for waiting capture requests. For tests.
    pub const fn looked_at_for_pictures(&self) -> u64 {
        self.captures.compare_budget.total
    }
}

impl OutputState {
    /// Whether a frame was presented since the output was switched on.
    fn shows_anything(&self) -> bool {
        self.lights > 0 && !self.on_screen.size.is_empty()
    }

    /// Whether the screen is fit for a screenshot: no region selection and no composited cursor is on it.
    pub fn is_ready_for_screenshot(&self) -> bool {
        let has_cursor = self.on_screen.cursor.is_some() && self.display.capabilities().cursor_plane.is_none();
        !self.on_screen.picks_region && !has_cursor
    }

    /// The content on screen, with windows blackened that a rule keeps out of captures.
    pub fn picture(&self, shell: &Shell, with_cursor: bool) -> Option<ScreenSnapshot> {
        Some(self.display.snapshot(with_cursor)?.blackened(excluded_windows::areas(&self.on_screen, shell)))
    }
}

fn begin(state: &mut State, request: CaptureRequest, picture: CaptureSource, region: PixelRect, presented: Instant) {
    let CaptureRequest { buffer: target, damage_tracker, reply, .. } = request;
    let captured = CaptureMetadata { presented, damage: damage_tracker.take_damage(region) };
    let answer = CaptureAnswer { reply, damage_tracker, captured };
    let is_threaded = state.outputs.renderer.as_ref().is_some_and(crate::render::Renderer::is_threaded);
    match picture {
        CaptureSource::Scene(scene) if is_threaded => render_window(state, *scene, region, target, answer),
        picture => {
            let State { outputs, loop_handle, .. } = state;
            outputs.captures.write(CaptureJob { number: 0, picture, region, target }, answer, loop_handle);
        }
    }
}

/// Has the renderer draw a window: only the GPU can read GPU buffers.
fn render_window(state: &mut State, scene: Scene, region: PixelRect, target: CaptureTarget, answer: CaptureAnswer) {
    let super::Outputs { renderer, render_ping: drawn, captures, .. } = &mut state.outputs;
    let Some(renderer) = renderer else { return answer.give(false) };
    let storage = BufferStorage::Memory(PixelBuffer::new(scene.size.w, scene.size.h));
    let canvas = Canvas::new(scene.size, scene.turn);
    let buffer = Buffer { storage, age: 0, slot: 0 };
    let job = Drawing { scene: Arc::new(scene), with_cursor: true, buffer, canvas, may_keep: false };
    // Frames of outputs go first.
    match renderer.start(job, false, drawn.clone()) {
        Err(job) => captures.painting.push(RenderingCapture { job, region, target, answer }),
        Ok(finished) => window_rendered(state, finished, region, target, answer),
    }
}

/// Handles a finished render job that is no frame of an output.
pub(super) fn handle_finished_job(state: &mut State, finished: FinishedJob) {
    let Some(finished) = window_pictures::handle_finished_job(state, finished) else { return };
    let painting = &mut state.outputs.captures.painting;
    let Some(place) = painting.iter().position(|painting| painting.job == finished.id) else { return };
    let RenderingCapture { region, target, answer, .. } = painting.remove(place);
    window_rendered(state, finished, region, target, answer);
}

fn window_rendered(
    state: &mut State,
    finished: FinishedJob,
    region: PixelRect,
    target: CaptureTarget,
    answer: CaptureAnswer,
) {
    let FinishedJob { job, result, .. } = finished;
    match (result, job.buffer.storage) {
        (Ok(_), BufferStorage::Memory(pixels)) => {
            let picture = CaptureSource::Shot(ScreenSnapshot::copied(pixels));
            let State { outputs, loop_handle, .. } = state;
            outputs.captures.write(CaptureJob { number: 0, picture, region, target }, answer, loop_handle);
        }
        (result, _) => {
            tracing::warn!(error = ?result.err(), "a window cannot be drawn for a capture");
            answer.give(false);
        }
    }
}

impl Captures {
    /// When a request or a captured window is due even if no event arrives.
    pub(super) fn next_wake(&self) -> Option<Instant> {
        self.wake.into_iter().chain(self.watched.tick).min()
    }

    /// When the request may be served next; `None`: now. A client gets at most one picture of a subject a refresh.
    /// Otherwise a client that captures as fast as it can would keep a core busy with identical pictures.
    fn next_allowed(&mut self, interval: Span, request: &CaptureRequest, now: Instant) -> Option<Instant> {
        self.given.retain(|(_, _, given)| now - *given < LONGEST_INTERVAL);
        let given = request.client().and_then(|client| self.given_to(&client, &request.subject).copied());
        let next = given.map(|given| given + interval).filter(|next| now < *next);
        next.or_else(|| self.compare_budget.next_allowed(now).filter(|_| request.waits))
    }

    fn given_to(&mut self, client: &ClientId, subject: &CaptureSubject) -> Option<&mut Instant> {
        let given = self.given.iter_mut().find(|(known, of, _)| known == client && of.is_of_the_same(subject));
        given.map(|(_, _, given)| given)
    }

    fn note_given(&mut self, request: &CaptureRequest, now: Instant) {
        let Some(client) = request.client() else { return };
        match self.given_to(&client, &request.subject) {
            Some(given) => *given = now,
            None => self.given.push((client, request.subject.clone(), now)),
        }
    }

    fn write(&mut self, job: CaptureJob, answer: CaptureAnswer, handle: &LoopHandle<'static, State>) {
        if self.writer.is_none() {
            let last = self.last;
            self.writer = CaptureWriter::start(handle, written, move |state| state.outputs.captures.writer_ended(last))
                .inspect_err(|error| tracing::error!(%error, "captures fail: their thread cannot be started"))
                .ok();
            self.writes_after = last;
        }
        let Some(writer) = &self.writer else { return answer.give(false) };
        self.last += 1;
        let number = self.last;
        if writer.write(CaptureJob { number, ..job }) {
            self.writing.push_back(QueuedCapture { number, answer });
        } else {
            // The writer thread has ended; the next picture starts another.
            self.writer = None;
            answer.give(false);
        }
    }

    /// The writer thread started after picture `last` has ended: its unfinished pictures failed.
    fn writer_ended(&mut self, last: u64) {
        let is_newest = self.writes_after == last;
        if is_newest {
            self.writer = None;
        }
        let (failed, kept): (Vec<QueuedCapture>, Vec<QueuedCapture>) =
            self.writing.drain(..).partition(|writing| is_newest || writing.number <= self.writes_after);
        self.writing = kept.into();
        failed.into_iter().for_each(|writing| writing.answer.give(false));
    }
}

/// The writer has finished a picture.
fn written(state: &mut State, done: CaptureDone) {
    let writing = &mut state.outputs.captures.writing;
    // Pictures finish in order. An earlier one still in the queue belonged to a lost thread and failed.
    while writing.front().is_some_and(|first| first.number <= done.number)
        && let Some(first) = writing.pop_front()
    {
        let succeeded = first.number == done.number && done.succeeded;
        first.answer.give(succeeded);
    }
}
