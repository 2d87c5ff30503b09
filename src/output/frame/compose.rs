//! Composes the scene of a latch into a frame: assigns planes, draws, submits.
//!
//! ```text
//!   Pixman:  latch ─► drawn ─► submitted                                        in one turn
//!   GLES:    latch ─► handed over ┊ drawn on the render thread ┊ ─► submitted   in a later turn
//! ```
//!
//! The scene travels with its frame's [`FrameContent`]. Until the frame is submitted, its output latches nothing else.
//!
//! Layers on planes of their own are not drawn. The cursor plane and planes that the user moves get their places when
//! the frame is submitted, not when its scene was latched.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use crate::backend::{FramePlan, PlanChange, SubmitError};
use crate::output::OutputState;
use crate::output::frame::drawing::{self, RenderStart};
use crate::output::frame::submit_ahead;
use crate::output::frame::{FrameContent, FramePixels, LatchContext, PlanesAtSubmit};
use crate::output::scene::hud;
use crate::output::scene::overlays;
use crate::output::scene::scrolling;
use crate::render::FinishedJob;
use crate::scene::{OnPlane, Scene};
use crate::shell::ShellSeat as _;
use crate::state::State;
use crate::surface::{Feedback, PresentPath};
use upbeat_timing::id::{FrameId, OutputId};
use upbeat_timing::output::ComposeCostKind;
use upbeat_timing::record::RepaintReason;
use upbeat_timing::time::{Clock, Span};

/// A frame that must be submitted within this time reads no more input: the few events that arrive while a frame is drawn
/// are handled in less.
const LONGEST_READ: Span = Span::from_micros(100);

/// Result of composing a latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::output) enum ComposeResult {
    /// The scene had not changed.
    Unchanged {
        /// A client had committed nevertheless, and its commit was latched.
        fresh: bool,
    },
    /// There is a frame: submitted, being drawn, or failed.
    Frame,
}

/// Draws and submits the scene if it differs from the last drawn scene, or if a client waits for feedback on it.
pub(in crate::output) fn compose(
    state: &mut State,
    id: OutputId,
    mut scene: Scene,
    context: LatchContext,
) -> ComposeResult {
    let State { surfaces, outputs, clock, shell, .. } = state;
    let crate::output::Outputs { list, renderer, render_ping: drawn, overlays: kept, statistics, .. } = outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id) else {
        return ComposeResult::Unchanged { fresh: false };
    };
    let arrangement = output.scene_cache.arrangement();
    let mut waiting: Vec<(WlSurface, Feedback)> = Vec::new();
    let mut clients = Vec::new();
    let mut fresh = false;
    surfaces.for_each_awake(|entry| {
        if entry.output() != Some(id) || entry.visible_in() != arrangement {
            return;
        }
        fresh |= entry.has_unlatched_content();
        if entry.has_unlatched_content()
            && let Some(mut record) = entry.take_record()
        {
            record.latched = Some(context.latched);
            clients.push(record);
        }
        let feedback = entry.latch();
        if !feedback.is_empty() {
            waiting.push((entry.surface().clone(), feedback));
        }
    });
    let cursor_moved = std::mem::take(&mut output.cursor_moved);
    let unchanged = scene.looks_like(&output.drawn_scene) && scene.cursor == output.drawn_scene.cursor && !cursor_moved;
    if unchanged && waiting.is_empty() && context.need != RepaintReason::Output {
        scrolling::report_modes(output, surfaces, &output.drawn_scene, None);
        output.reclaim(Arc::new(scene));
        return ComposeResult::Unchanged { fresh };
    }
    if shell.overlays().shows_statistics() && !scene.composes_like(&output.drawn_scene) {
        let (begun, cost) = (clock.now(), kept.hud_cost);
        let figures = || hud::figures(output, (shell, surfaces), statistics, cost);
        overlays::renew_hud(kept, &mut scene, (id, &output.output), figures);
        kept.hud_cost = clock.now() - begun;
    }
    let choice = output.choose_planes(&mut scene, surfaces.device_buffers());
    scrolling::report_modes(output, surfaces, &scene, Some(&choice));
    let planes = choice.planes;
    let feedback = gather_feedback(&scene, waiting);
    let record = output.open_record(&context);
    let reports = std::mem::take(&mut output.reports);
    let mut content = FrameContent { feedback, clients, planes, reports, ..FrameContent::new(scene, record) };
    let needs_no_drawing = output.needs_no_drawing(&content);
    content.keeps_picture = needs_no_drawing;
    let scene = content.scene.clone();
    let frame = output.conductor.output_mut().choose(context.target.id, content);
    if needs_no_drawing {
        drop(scene);
        submit_planes(state, id, frame);
        return ComposeResult::Frame;
    }
    let begun = output.begin(renderer.as_mut(), &scene, true, drawn.as_ref());
    match begun {
        None => output.failed(frame),
        Some(RenderStart::Finished(finished)) => {
            drop(scene);
            read_newest_input(state, id, frame);
            drawing::submit_finished_job(state, id, frame, finished);
        }
        Some(RenderStart::UnderWay(job)) => {
            output.drawn_scene = scene;
            if let Some(frame) = output.conductor.output_mut().frames_mut().get_mut(frame) {
                frame.content.pixels = FramePixels::Drawing(job);
            }
        }
    }
    ComposeResult::Frame
}

/// Handles the input that arrived while the frame was chosen and drawn, if planes can show its effect: their positions
/// are taken when the frame is submitted. The frame may be discarded afterwards, because input may change anything.
fn read_newest_input(state: &mut State, id: OutputId, frame: FrameId) {
    let now = state.clock.now();
    let reads = state.outputs.by_id(id).is_some_and(|output| {
        let machine = output.conductor.output();
        machine.frames().get(frame).is_some_and(|frame| {
            let FrameContent { planes, record, .. } = &frame.content;
            let has_planes = !planes.overlays.is_empty() || output.display.capabilities().cursor_plane.is_some();
            let is_in_time = machine.vsync().is_variable() || record.submit_by > now + LONGEST_READ;
            has_planes && is_in_time
        })
    });
    if reads {
        state.read_waiting_input();
    }
}

/// Submits a frame that changes only planes, with their newest places.
fn submit_planes(state: &mut State, id: OutputId, frame: FrameId) {
    read_newest_input(state, id, frame);
    let at_submit = submit_ahead::planes_at_submit(state, id, frame);
    let State { outputs, clock, .. } = state;
    let Some(output) = outputs.by_id_mut(id) else { return };
    let frames = output.conductor.output_mut().frames_mut();
    if frames.get(frame).is_some_and(|frame| !frame.is_discarded()) {
        output.submit(frame, PlanChange::Planes, (None, at_submit), clock);
    } else if let Some(frame) = frames.take(frame) {
        output.release_frame(frame);
    }
}

/// Collects the feedback that waits for this frame.
fn gather_feedback(scene: &Scene, waiting: Vec<(WlSurface, Feedback)>) -> Feedback {
    let mut all = Feedback::default();
    for (surface, feedback) in waiting {
        let plane = scene.layers.iter().find_map(|layer| layer.plane.filter(|_| layer.surface == surface));
        all.extend(match plane {
            Some(OnPlane::Overlay) => feedback.mark_zero_copy(PresentPath::Overlay),
            Some(OnPlane::Primary) => feedback.mark_zero_copy(PresentPath::Direct),
            None => feedback,
        });
    }
    all
}

impl OutputState {
    /// Keeps the storage of a scene that has no other owner, for reuse.
    pub(in crate::output) fn reclaim(&mut self, scene: Arc<Scene>) {
        if let Ok(mut scene) = Arc::try_unwrap(scene) {
            scene.layers.clear();
            self.spare_layers = scene.layers;
        }
    }

    /// Releases the client buffers of a drawn frame, and moves its planes.
    fn release_drawn(&mut self, id: FrameId, at_submit: PlanesAtSubmit) {
        let has_plane = self.display.capabilities().cursor_plane.is_some();
        let Some(frame) = self.conductor.output_mut().frames_mut().get_mut(id) else { return };
        let FrameContent { scene, planes, .. } = &mut frame.content;
        let is_drawn = Arc::ptr_eq(scene, &self.drawn_scene);
        if is_drawn {
            self.drawn_scene = Arc::default();
        }
        if let Some(scene) = Arc::get_mut(scene) {
            scene.release_buffers();
            if has_plane {
                scene.cursor = at_submit.cursor;
            }
            if let Some(moved) = at_submit.overlays {
                moved.apply(scene, planes);
            }
        }
        if is_drawn {
            self.drawn_scene = scene.clone();
        }
    }

    /// Whether only planes changed, so that no drawing is needed.
    fn needs_no_drawing(&self, content: &FrameContent) -> bool {
        let FrameContent { scene, planes, .. } = content;
        let has_plane = self.display.capabilities().cursor_plane.is_some();
        let same_picture = scene.composes_like(&self.drawn_scene) && !self.drawn_scene.is_direct();
        let undrawn_cursor = has_plane || (!planes.is_empty() && scene.cursor == self.drawn_scene.cursor);
        let is_first = self.conductor.output().frames().next_frame() == FrameId(0);
        planes.direct.is_some() || (same_picture && undrawn_cursor && !is_first)
    }

    /// Submits a latched frame that was drawn, or fails it if drawing failed. `at_submit`: the current places of
    /// its planes.
    pub(in crate::output) fn composed(
        &mut self,
        id: FrameId,
        finished: FinishedJob,
        at_submit: PlanesAtSubmit,
        clock: &impl Clock,
    ) {
        let Some((buffer, drawn)) = self.take_drawn(finished) else { return self.failed(id) };
        if let Some(frame) = self.conductor.output_mut().frames_mut().get_mut(id) {
            frame.content.record.damage = drawn.area();
        }
        self.submit(id, PlanChange::Compose { buffer, damage: drawn.damage }, (drawn.fence, at_submit), clock);
    }

    fn submit(
        &mut self,
        id: FrameId,
        change: PlanChange,
        (in_fence, at_submit): (Option<OwnedFd>, PlanesAtSubmit),
        clock: &impl Clock,
    ) {
        let has_plane = self.display.capabilities().cursor_plane.is_some();
        self.release_drawn(id, at_submit);
        let composed = clock.now();
        let fence = in_fence.as_ref().and_then(crate::output::fence_copy);
        let cost = match &change {
            PlanChange::Planes => ComposeCostKind::Planes,
            PlanChange::Compose { buffer, .. } if buffer.age == 0 => ComposeCostKind::Odd,
            PlanChange::Compose { .. } if fence.is_some() => ComposeCostKind::Unfinished,
            PlanChange::Compose { .. } => ComposeCostKind::Usual,
            PlanChange::FrontRectangle { .. } => ComposeCostKind::Odd,
        };
        let Some(frame) = self.conductor.output_mut().frames_mut().get_mut(id) else { return };
        let FrameContent { scene, record, planes, pixels, .. } = &mut frame.content;
        record.frame = id.0;
        record.composed = Some(composed);
        record.compose_cost = composed - record.latched;
        *pixels = FramePixels::Submitted(fence);
        let plan = FramePlan {
            frame: id,
            present: record.present,
            final_at: composed,
            change,
            cursor: scene.cursor_plane().filter(|_| has_plane),
            planes: std::mem::take(planes),
            in_fence,
        };
        let scheduled = record.latch_at;
        if let Err((error, plan)) = self.display.submit(plan) {
            return self.refused(id, error, plan);
        }
        let done = clock.now();
        self.conductor.output_mut().submitted(id, scheduled, done, cost);
        let Some(frame) = self.conductor.output_mut().frames_mut().get_mut(id) else { return };
        let FrameContent { record, clients, .. } = &mut frame.content;
        record.submitted = Some(done);
        clients.iter_mut().for_each(|client| client.frame = Some(id.0));
        self.note_drawn(id);
    }

    /// Remembers the frame's scene: damage of the next frame is relative to it.
    pub(in crate::output) fn note_drawn(&mut self, id: FrameId) {
        if let Some(frame) = self.conductor.output().frames().get(id) {
            self.drawn_scene = frame.content.scene.clone();
        }
    }

    /// No buffer was free, or drawing failed: the next refresh tries again.
    fn failed(&mut self, id: FrameId) {
        let machine = self.conductor.output_mut();
        if let Some(frame) = machine.fail(id) {
            machine.retry_repaint();
            self.release_frame(frame);
        }
    }

    /// The display rejected a plan.
    pub(in crate::output) fn refused(&mut self, id: FrameId, error: SubmitError, plan: FramePlan) {
        if let PlanChange::Compose { buffer, .. } = plan.change {
            self.display.release(buffer);
        }
        self.forget_refused(id, &error);
    }

    /// The display will not show a frame that was submitted to it.
    pub(in crate::output) fn forget_refused(&mut self, id: FrameId, error: &SubmitError) {
        let frame = self.conductor.output_mut().fail(id);
        // The drawn scene never reached the screen, so the next frame needs full damage.
        self.drawn_scene = Arc::default();
        self.canvas.forget();
        if let Some(frame) = frame {
            self.release_frame(frame);
        }
        match error {
            SubmitError::Busy | SubmitError::Off => tracing::debug!(output = self.output.name(), %error),
            _ => tracing::error!(output = self.output.name(), %error, "a frame was refused"),
        }
        if *error != SubmitError::Off {
            self.conductor.output_mut().retry_repaint();
        }
    }
}
