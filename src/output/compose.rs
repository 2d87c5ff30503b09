//! From the scene that a latch chose to the frame that the display has: planes, drawing, submitting.
//!
//! ```text
//!   Pixman:  latch ─► drawn ─► submitted                                        in one turn
//!   GLES:    latch ─► handed over ┊ drawn on the render thread ┊ ─► submitted   in another turn: the loop goes on meanwhile
//! ```
//!
//! What must travel with the scene waits in a [`Frame`]. Until it is submitted nothing else is latched on its output.

use std::sync::Arc;

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;

use super::drawing::Begun;
use super::latch::Moment;
use super::{Flight, OutputState};
use crate::backend::plane::Planes;
use crate::backend::{Change, FrameId, Plan, SubmitError};
use crate::render::Finished;
use crate::scene::{CursorLayer, Scene};
use crate::state::State;
use crate::surface::{Feedback, Unshown};
use crate::time::{Clock, Instant};
use crate::timing::id::OutputId;
use crate::timing::output::Composed;
use crate::timing::record::{ClientFrameRecord, FrameRecord, Need};

/// Chosen content on its way to the display.
#[derive(Debug)]
pub(super) struct Frame {
    scene: Arc<Scene>,
    feedback: Feedback,
    record: FrameRecord,
    clients: Vec<ClientFrameRecord>,
    planes: Planes,
}

/// Has the scene drawn and submitted, if it looks different from what was drawn last or somebody waits to hear of it.
pub(super) fn compose(state: &mut State, id: OutputId, mut scene: Scene, moment: Moment) {
    let State { surfaces, outputs, clock, protocols, .. } = state;
    let super::Outputs { list, renderer, drawn, .. } = outputs;
    let Some(output) = list.iter_mut().find(|output| output.id == id) else { return };
    let number = output.scenes;
    let mut waiting: Vec<(WlSurface, Feedback)> = Vec::new();
    let mut clients = Vec::new();
    for entry in surfaces.iter_mut().filter(|entry| entry.output == Some(id) && entry.seen() == number) {
        if entry.is_fresh()
            && let Some(mut record) = entry.take_record()
        {
            record.latched = Some(moment.latched);
            clients.push(record);
        }
        let feedback = entry.latch();
        if !feedback.is_empty() {
            waiting.push((entry.surface.clone(), feedback));
        }
    }
    let cursor_moved = std::mem::take(&mut output.ahead.cursor_moved);
    let unchanged = scene.looks_like(&output.drawn) && scene.cursor == output.drawn.cursor && !cursor_moved;
    let record = output.open_record(&moment);
    if unchanged && waiting.is_empty() && moment.need != Need::Output {
        output.conductor.composed(moment.target.id, moment.scheduled, clock.now(), Composed::Nothing);
        output.reclaim(Arc::new(scene));
        return;
    }
    let planes = output.choose_planes(&mut scene, &protocols.dmabuf.memories);
    let feedback = gather(&scene, waiting);
    output.frames += 1;
    let record = FrameRecord { frame: output.frames, ..record };
    let frame = Frame { scene: Arc::new(scene), feedback, record, clients, planes };
    if output.needs_no_drawing(&frame) {
        return output.submit(frame, Change::Planes, None, clock);
    }
    match output.begin(renderer.as_mut(), &frame.scene, true, drawn.as_ref()) {
        None => output.failed(frame, clock),
        Some(Begun::Finished(finished)) => output.composed(frame, finished, clock),
        Some(Begun::UnderWay(job)) => {
            output.conductor.output_mut().composing(frame.record.target);
            output.drawn = frame.scene.clone();
            output.drawing.frame = Some((job, frame));
        }
    }
}

/// Everybody who waits for something in this frame.
fn gather(scene: &Scene, waiting: Vec<(WlSurface, Feedback)>) -> Feedback {
    let mut all = Feedback::default();
    for (surface, feedback) in waiting {
        let on_plane = scene.layers.iter().any(|layer| layer.surface == surface && layer.plane.is_some());
        all.extend(if on_plane { feedback.uncopied() } else { feedback });
    }
    all
}

impl OutputState {
    /// Takes back the storage of a scene that nobody looks at any more.
    pub(super) fn reclaim(&mut self, scene: Arc<Scene>) {
        if let Ok(mut scene) = Arc::try_unwrap(scene) {
            scene.layers.clear();
            self.spare = scene.layers;
        }
    }

    /// Lets the clients' buffers of a scene go that was drawn.
    pub(super) fn release_buffers(&mut self, scene: &mut Arc<Scene>) {
        let is_drawn = Arc::ptr_eq(scene, &self.drawn);
        if is_drawn {
            self.drawn = Arc::default();
        }
        if let Some(scene) = Arc::get_mut(scene) {
            scene.release_buffers();
        }
        if is_drawn {
            self.drawn = scene.clone();
        }
    }

    /// Whether all that changed is on planes.
    fn needs_no_drawing(&self, frame: &Frame) -> bool {
        let Frame { scene, planes, .. } = frame;
        let has_plane = self.display.capabilities().cursor_plane.is_some();
        let same_picture = scene.composes_like(&self.drawn) && !self.drawn.is_direct();
        let undrawn_cursor = has_plane || (!planes.is_empty() && scene.cursor == self.drawn.cursor);
        planes.direct.is_some() || (same_picture && undrawn_cursor && self.frames > 1)
    }

    /// A frame was drawn, or could not be.
    pub(super) fn composed(&mut self, mut frame: Frame, finished: Finished, clock: &impl Clock) {
        let Some((buffer, drawn)) = self.take_drawn(finished) else { return self.failed(frame, clock) };
        frame.record.damage = drawn.area();
        self.submit(frame, Change::Compose { buffer, damage: drawn.damage }, drawn.fence, clock);
    }

    fn submit(&mut self, frame: Frame, change: Change, in_fence: Option<std::os::fd::OwnedFd>, clock: &impl Clock) {
        let Frame { mut scene, feedback, mut record, mut clients, planes } = frame;
        self.release_buffers(&mut scene);
        let composed = clock.now();
        record.composed = Some(composed);
        record.compose_cost = composed - record.latched;
        let has_plane = self.display.capabilities().cursor_plane.is_some();
        let fence = in_fence.as_ref().and_then(super::drawn_by);
        let usual = matches!(&change, Change::Compose { buffer, .. } if buffer.age > 0);
        let plan = Plan {
            frame: FrameId(record.frame),
            target: record.target,
            present: record.present,
            final_at: composed,
            change,
            cursor: scene.cursor.as_ref().filter(|_| has_plane).map(CursorLayer::plane),
            planes,
            in_fence,
        };
        let result = self.display.submit(plan);
        let done = clock.now();
        record.submitted = Some(done);
        let composed = match (&result, usual) {
            (Err(_), _) => Composed::Nothing,
            (Ok(()), false) => Composed::Odd,
            (Ok(()), true) if fence.is_some() => Composed::Unfinished,
            (Ok(()), true) => Composed::Usual,
        };
        self.conductor.composed(record.target, record.latch_at, done, composed);
        match result {
            Ok(()) => {
                for client in &mut clients {
                    client.frame = Some(record.frame);
                }
                self.drawn = scene.clone();
                let frame = FrameId(record.frame);
                self.flights.push_back(Flight { frame, scene, feedback, record, clients, fence });
            }
            Err((error, plan)) => self.refused(error, plan, feedback),
        }
    }

    /// There was nothing to draw into, or drawing failed: the next refresh has another try.
    fn failed(&mut self, frame: Frame, clock: &impl Clock) {
        self.drop_frame(frame, clock.now());
        self.conductor.output_mut().need();
    }

    /// Chosen content will not be shown.
    pub(super) fn drop_frame(&mut self, frame: Frame, now: Instant) {
        let Frame { scene, feedback, record, .. } = frame;
        if Arc::ptr_eq(&scene, &self.drawn) {
            self.drawn = Arc::default();
        }
        self.conductor.composed(record.target, record.latch_at, now, Composed::Nothing);
        feedback.discard(Unshown::Unseen);
    }

    /// The display did not take a frame.
    pub(super) fn refused(&mut self, error: SubmitError, plan: Plan, feedback: Feedback) {
        if let Change::Compose { buffer, .. } = plan.change {
            self.display.release(buffer);
        }
        // What was drawn never reached the screen: the next frame starts from nothing.
        self.drawn = Arc::default();
        self.canvas.forget();
        feedback.discard(Unshown::Unseen);
        match &error {
            SubmitError::Busy | SubmitError::Off => tracing::debug!(output = self.output.name(), %error),
            _ => tracing::error!(output = self.output.name(), %error, "a frame was refused"),
        }
        if error != SubmitError::Off {
            self.conductor.output_mut().need();
        }
    }
}
