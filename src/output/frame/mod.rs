//! Data that travels with a frame of an output, from the latch until all clients got their feedback. Only the
//! [`FrameQueue`](upbeat_timing::frames::FrameQueue) knows the frame's stage.

pub(super) mod compose;
pub(super) mod drawing;
pub(super) mod latch;
pub(super) mod presentation;
pub(super) mod rendering_ahead;
pub(super) mod submit_ahead;

use std::sync::Arc;

use crate::backend::Buffer;
use crate::backend::fence::Fence;
use crate::backend::plane::PlaneContents;
use crate::output::OutputState;
use crate::output::scene::moved_planes::MovedPlanes;
use crate::output::scene::scrolling::ViewReport;
use crate::render::{DrawnFrame, RenderJobId};
use crate::scene::{CursorLayer, Scene};
use crate::surface::{Feedback, FrameDiscardReason};
use upbeat_timing::frames::QueuedFrame;
use upbeat_timing::id::FrameId;
use upbeat_timing::record::{ClientFrameRecord, FrameRecord, RepaintReason};
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::{Instant, Span};

/// The content of a frame and the feedback that waits for it.
#[derive(Debug)]
pub struct FrameContent {
    pub(in crate::output) scene: Arc<Scene>,
    pub(in crate::output) record: FrameRecord,
    /// Presentation feedback of clients.
    pub(in crate::output) feedback: Feedback,
    pub(in crate::output) clients: Vec<ClientFrameRecord>,
    /// Scroll reports of the views in this frame.
    pub(in crate::output) reports: Vec<ViewReport>,
    /// Client buffers on planes.
    pub(in crate::output) planes: PlaneContents,
    pub(in crate::output) pixels: FramePixels,
    /// Only planes move: the picture on screen below them stays.
    pub(in crate::output) keeps_picture: bool,
    /// Time it took to choose the scene ahead; zero for a latched scene.
    pub(in crate::output) chosen_in: Span,
}

/// Where the pixels of a frame are.
#[derive(Debug, Default)]
pub(in crate::output) enum FramePixels {
    /// Not drawn yet, or the frame changes only planes.
    #[default]
    None,
    Drawing(RenderJobId),
    Drawn(Buffer, DrawnFrame),
    /// The display has them. The fence signals when the GPU has finished; `None` if it had finished before the
    /// submission.
    Submitted(Option<Fence>),
}

impl FrameContent {
    /// A scene that is not drawn yet.
    pub(in crate::output) fn new(scene: Scene, record: FrameRecord) -> Self {
        FrameContent {
            scene: Arc::new(scene),
            record,
            feedback: Feedback::default(),
            clients: Vec::new(),
            reports: Vec::new(),
            planes: PlaneContents::default(),
            pixels: FramePixels::None,
            keeps_picture: false,
            chosen_in: Span::ZERO,
        }
    }

    /// Whether `job` draws this frame.
    pub(in crate::output) fn is_drawn_by(&self, job: RenderJobId) -> bool {
        matches!(self.pixels, FramePixels::Drawing(own) if own == job)
    }
}

impl OutputState {
    /// Releases a frame that will not be shown: its buffer returns to the display, and its feedback is discarded.
    pub(in crate::output) fn release_frame(&mut self, frame: QueuedFrame<FrameContent>) {
        let FrameContent { scene, feedback, pixels, .. } = frame.content;
        if let FramePixels::Drawn(buffer, _) = pixels {
            self.display.release(buffer);
        }
        if Arc::ptr_eq(&scene, &self.drawn_scene) {
            self.drawn_scene = Arc::default();
        }
        feedback.discard(FrameDiscardReason::Unseen);
    }

    /// Releases all frames, because the output is going away.
    pub(in crate::output) fn forget_frames(&mut self) {
        let ids: Vec<FrameId> = self.conductor.output().frames().iter().map(|frame| frame.id).collect();
        for id in ids {
            if let Some(frame) = self.conductor.output_mut().frames_mut().take(id) {
                self.release_frame(frame);
            }
        }
    }
}

/// The places of planes when a latched frame is submitted.
pub(in crate::output) struct PlanesAtSubmit {
    /// `None`: the cursor is hidden or on another output.
    pub cursor: Option<CursorLayer>,
    /// `None`: the overlay planes have not moved since the latch.
    pub overlays: Option<MovedPlanes>,
}

/// When and why a scene was latched.
pub(in crate::output) struct LatchContext {
    pub target: Target,
    pub scheduled: Instant,
    pub latched: Instant,
    pub need: RepaintReason,
}

impl OutputState {
    pub(in crate::output) fn open_record(&self, context: &LatchContext) -> FrameRecord {
        let machine = self.conductor.output();
        FrameRecord {
            output: self.id,
            target: context.target.id,
            present: context.target.present,
            interval: context.target.interval,
            need: context.need,
            pacing: self.pacing(),
            latch_at: context.scheduled,
            latched: context.latched,
            submit_by: machine.submit_by(context.target.id),
            due_sequence: self.due_sequence(context.target.id),
            compose_budget: machine.compose_budget(),
            ..FrameRecord::default()
        }
    }

    /// The display's sequence number for a refresh of the model's grid. `None` with a variable refresh rate: there
    /// the display counts the refreshes that it makes, and their number cannot be predicted.
    pub(crate) fn due_sequence(&self, index: RefreshIndex) -> Option<u64> {
        let (_, last) = self.last_light.filter(|_| !self.conductor.output().vsync().is_variable())?;
        Some(self.last_sequence? + index.since(last))
    }

    pub(crate) fn pacing(&self) -> upbeat_timing::pacing::Pacing {
        use upbeat_timing::output::LatchPolicy;
        use upbeat_timing::pacing::Pacing;
        match self.conductor.output().policy() {
            LatchPolicy::AtRefresh => Pacing::Vsync,
            LatchPolicy::Late => self.wish.and_then(|wish| wish.fixed()).unwrap_or(Pacing::JustInTime),
        }
    }
}
