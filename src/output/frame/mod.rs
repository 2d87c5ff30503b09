//! Data that travels with a frame of an output, from the latch until all clients got their feedback. Only the
//! [`FrameQueue`](upbeat_timing::frames::FrameQueue) knows the frame's stage.

pub(super) mod compose;
pub(super) mod drawing;
pub(super) mod handing_over;
pub(super) mod latch;
pub(super) mod present;
pub(super) mod rendering_ahead;

use std::sync::Arc;

use crate::backend::Buffer;
use crate::backend::fence::Fence;
use crate::backend::plane::Planes;
use crate::output::OutputState;
use crate::output::scene::scrolling::Report;
use crate::render::{Drawn, JobId};
use crate::scene::{CursorLayer, Scene};
use crate::surface::{Feedback, Unshown};
use upbeat_timing::frames::Frame;
use upbeat_timing::id::FrameId;
use upbeat_timing::record::{ClientFrameRecord, FrameRecord, Need};
use upbeat_timing::target::{RefreshIndex, Target};
use upbeat_timing::time::{Instant, Span};

/// The content of a frame and the feedback that waits for it.
#[derive(Debug)]
pub struct Content {
    pub(in crate::output) scene: Arc<Scene>,
    pub(in crate::output) record: FrameRecord,
    /// Presentation feedback of clients.
    pub(in crate::output) feedback: Feedback,
    pub(in crate::output) clients: Vec<ClientFrameRecord>,
    /// Scroll reports of the views in this frame.
    pub(in crate::output) reports: Vec<Report>,
    /// Client buffers on planes.
    pub(in crate::output) planes: Planes,
    pub(in crate::output) pixels: Pixels,
    /// Only planes move: the picture on screen below them stays.
    pub(in crate::output) keeps_picture: bool,
    /// Time it took to choose the scene ahead; zero for a latched scene.
    pub(in crate::output) chosen_in: Span,
}

/// Where the pixels of a frame are.
#[derive(Debug, Default)]
pub(in crate::output) enum Pixels {
    /// Not drawn yet, or the frame changes only planes.
    #[default]
    None,
    Drawing(JobId),
    Drawn(Buffer, Drawn),
    /// The display has them. The fence signals when the GPU has finished; `None` if it had finished before the
    /// submission.
    Submitted(Option<Fence>),
}

impl Content {
    /// A scene that is not drawn yet.
    pub(in crate::output) fn new(scene: Scene, record: FrameRecord) -> Self {
        Content {
            scene: Arc::new(scene),
            record,
            feedback: Feedback::default(),
            clients: Vec::new(),
            reports: Vec::new(),
            planes: Planes::default(),
            pixels: Pixels::None,
            keeps_picture: false,
            chosen_in: Span::ZERO,
        }
    }

    /// Whether `job` draws this frame.
    pub(in crate::output) fn is_drawn_by(&self, job: JobId) -> bool {
        matches!(self.pixels, Pixels::Drawing(own) if own == job)
    }
}

impl OutputState {
    /// Releases a frame that will not be shown: its buffer returns to the display, and its feedback is discarded.
    pub(in crate::output) fn let_go(&mut self, frame: Frame<Content>) {
        let Content { scene, feedback, pixels, .. } = frame.content;
        if let Pixels::Drawn(buffer, _) = pixels {
            self.display.release(buffer);
        }
        if Arc::ptr_eq(&scene, &self.drawn) {
            self.drawn = Arc::default();
        }
        feedback.discard(Unshown::Unseen);
    }

    /// Releases all frames, because the output is going away.
    pub(in crate::output) fn forget_frames(&mut self) {
        let ids: Vec<FrameId> = self.conductor.output().frames().iter().map(|frame| frame.id).collect();
        for id in ids {
            if let Some(frame) = self.conductor.output_mut().frames_mut().take(id) {
                self.let_go(frame);
            }
        }
    }
}

/// The cursor when a frame drawn on the render thread is submitted; `None`: it is on another output.
pub(in crate::output) struct CursorNow(pub Option<CursorLayer>);

/// When and why a scene was latched.
pub(in crate::output) struct Moment {
    pub target: Target,
    pub scheduled: Instant,
    pub latched: Instant,
    pub need: Need,
}

impl OutputState {
    pub(in crate::output) fn open_record(&self, moment: &Moment) -> FrameRecord {
        let machine = self.conductor.output();
        FrameRecord {
            output: self.id,
            target: moment.target.id,
            present: moment.target.present,
            interval: moment.target.interval,
            need: moment.need,
            pacing: self.pacing(),
            latch_at: moment.scheduled,
            latched: moment.latched,
            submit_by: machine.submit_by(moment.target.id),
            due_sequence: self.due_sequence(moment.target.id),
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
