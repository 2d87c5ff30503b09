//! What travels with a frame of an output, from the moment at which its content is chosen until everybody has heard what
//! became of it. Where it is on its way is known to its [`FrameQueue`](upbeat_timing::frames::FrameQueue) alone.

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

/// What a frame shows, and who waits for it.
#[derive(Debug)]
pub struct Content {
    /// What it shows.
    pub(in crate::output) scene: Arc<Scene>,
    pub(in crate::output) record: FrameRecord,
    /// The clients that wait to hear of it.
    pub(in crate::output) feedback: Feedback,
    pub(in crate::output) clients: Vec<ClientFrameRecord>,
    /// Where it shows views whose clients want to hear of it.
    pub(in crate::output) reports: Vec<Report>,
    /// Clients' buffers on planes.
    pub(in crate::output) planes: Planes,
    pub(in crate::output) pixels: Pixels,
    /// It moves planes, and the picture below them stays the one on screen.
    pub(in crate::output) keeps_picture: bool,
    /// What choosing it ahead took; zero for what a latch chose.
    pub(in crate::output) chosen_in: Span,
}

/// Where the pixels of a frame are.
#[derive(Debug, Default)]
pub(in crate::output) enum Pixels {
    /// Nowhere yet, or it has none of its own.
    #[default]
    None,
    /// Being made.
    Drawing(JobId),
    /// Here.
    Drawn(Buffer, Drawn),
    /// The display has them. The fence tells when a GPU has drawn them; `None` where that was known when they were given to
    /// it.
    Submitted(Option<Fence>),
}

impl Content {
    /// What was chosen and not drawn.
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

    /// Whether `job` makes its pixels.
    pub(in crate::output) fn is_drawn_by(&self, job: JobId) -> bool {
        matches!(self.pixels, Pixels::Drawing(own) if own == job)
    }
}

impl OutputState {
    /// A frame will not be shown, and nobody has anything of it any more: its buffer goes back, and its clients hear of it.
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

    /// Forgets all frames: the output is going away.
    pub(in crate::output) fn forget_frames(&mut self) {
        let ids: Vec<FrameId> = self.conductor.output().frames().iter().map(|frame| frame.id).collect();
        for id in ids {
            if let Some(frame) = self.conductor.output_mut().frames_mut().take(id) {
                self.let_go(frame);
            }
        }
    }
}

/// Where the cursor of an output is when a frame that was drawn meanwhile is submitted; nowhere if it is on another.
pub(in crate::output) struct CursorNow(pub Option<CursorLayer>);

/// When and why a scene was chosen.
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

    /// The display's own number for a refresh of the model's grid. Where refreshes have none, the display counts those that
    /// it makes by itself, and nobody knows how many that will be.
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
