//! The frames of one output on their way from the scene to the refresh: recorded, being drawn, finished, in the display.
//!
//! ```text
//!   recorded ─► drawing ─► frames ─► submitted ─► in flight
//!                                        ├──────► withdrawn ─► lost
//!                                        └──────► gave way, behind a late one ─► lost
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use super::Flight;
use super::recorded::Recorded;
use crate::backend::{Buffer, FrameId};
use crate::render::{Drawn, JobId};
use crate::scene::Scene;
use crate::timing::pre_executor::{self, AheadSettings, PreExecutor, Trigger};
use crate::timing::record::FrameRecord;
use crate::timing::target::RefreshIndex;

/// The frames of one output that were chosen before their refreshes were at hand.
#[derive(Debug)]
pub(super) struct Ahead {
    pub executor: PreExecutor,
    /// Chosen and not drawn yet, in the order of their refreshes, all later than those of the others.
    pub recorded: VecDeque<Recorded>,
    /// The one that is being drawn.
    pub drawing: Option<(JobId, Recorded)>,
    /// In the order of their refreshes.
    pub frames: VecDeque<Waiting>,
    /// Those that the display holds already, behind the one in flight; see [`presenter`](super::presenter).
    pub submitted: VecDeque<Flight>,
    /// Those that it was told to let go, and has not said yet that it did.
    pub withdrawn: VecDeque<Flight>,
    /// What it holds is wrong, and is to be withdrawn before anything is latched.
    pub withdraws: bool,
    /// The cursor of frames that the display holds was moved: what is on screen is not what was drawn.
    pub cursor_moved: bool,
    /// Latches in a row that nothing but our own motion asked for.
    pub calm: u32,
    /// Something else has asked for the next one.
    pub disturbed: bool,
    /// Motion starts somewhere that waits for its first frames.
    pub starts: bool,
    /// What waits is shown whatever happens.
    pub insists: bool,
}

/// A finished frame.
#[derive(Debug)]
pub(super) struct Waiting {
    pub id: pre_executor::FrameId,
    pub frame: FrameId,
    /// What it shows is not what is wanted any more.
    pub stale: bool,
    pub scene: Arc<Scene>,
    pub buffer: Buffer,
    pub drawn: Drawn,
    pub record: FrameRecord,
}

impl Default for Ahead {
    fn default() -> Self {
        Ahead {
            executor: PreExecutor::new(AheadSettings::buffers(2), Trigger::Ahead),
            recorded: VecDeque::new(),
            drawing: None,
            frames: VecDeque::new(),
            submitted: VecDeque::new(),
            withdrawn: VecDeque::new(),
            withdraws: false,
            cursor_moved: false,
            calm: 0,
            disturbed: false,
            starts: false,
            insists: false,
        }
    }
}

impl Ahead {
    /// Whether nothing is under way or waits.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.submitted.is_empty() && !self.is_under_way()
    }

    /// How many frames are finished and wait, here or in the display.
    pub fn finished(&self) -> usize {
        self.frames.len() + self.submitted.len()
    }

    /// Whether something was recorded or is being drawn.
    pub fn is_under_way(&self) -> bool {
        self.drawing.is_some() || !self.recorded.is_empty()
    }

    /// The newest scene, and the refresh that it was made for.
    pub fn newest(&self) -> Option<(&Arc<Scene>, RefreshIndex)> {
        let recorded = self.recorded.back().or(self.drawing.as_ref().map(|(_, recorded)| recorded));
        let waiting = || self.frames.back().map(|waiting| (&waiting.scene, waiting.record.target));
        recorded.map(|recorded| (&recorded.scene, recorded.record.target)).or_else(waiting)
    }
}
