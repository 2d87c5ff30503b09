//! The types of a pacer: reasons, plans, open callbacks, commits and answers.

use crate::defaults::{FREE_RUNNING_MISS, INTERACTIVE_MISS};
use crate::estimator::MissBudget;
use crate::id::UpdateId;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// Why a client has its present pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallbackPacingReason {
    /// Too few frames were observed.
    #[default]
    New,
    /// The configuration or a message sets it.
    Configured,
    /// The client's cost at the miss budget fits into a period.
    Fits,
    /// The user interacts with it, and its cost does not fit: started right after the latch.
    Interactive,
    /// No interaction, and its cost does not fit: as much of a second period of slack as its miss budget requires.
    FreeRunning,
    /// A rule enables it, and the client is proven to draw for the time of its callbacks: they come a period earlier.
    Early,
    /// The client runs on its own clock.
    OwnClock,
    /// The client queues its commits.
    Queued,
    /// The cost does not fit, and the client has too few buffers for a second period.
    FewBuffers,
    /// The client makes few frames: half a second of callbacks at the refresh, to see whether it then makes more.
    Tried,
    /// On a panel with variable refresh, its costs vary: called back sooner than is best for its latency, because it
    /// would make fewer frames otherwise.
    Varying,
    /// A trial has shown that the client makes more frames with callbacks at the refresh.
    Faster,
}

impl CallbackPacingReason {
    /// Whether the client is called back sooner than is best for its latency, because it then makes more frames.
    pub const fn is_for_more_frames(self) -> bool {
        matches!(self, CallbackPacingReason::Faster | CallbackPacingReason::Varying)
    }

    /// A short text for reports.
    pub const fn words(self) -> &'static str {
        match self {
            CallbackPacingReason::New => "too few frames seen",
            CallbackPacingReason::Configured => "configured",
            CallbackPacingReason::Fits => "its cost fits into a refresh",
            CallbackPacingReason::Interactive => {
                "the user interacts with it, and its cost does not fit: called back right after the latch"
            }
            CallbackPacingReason::FreeRunning => {
                "no interaction, and its cost does not fit: as much of two periods as its miss budget requires"
            }
            CallbackPacingReason::Early => {
                "a rule enables it, and it is proven to draw for the time of its callbacks: called back early"
            }
            CallbackPacingReason::OwnClock => "it runs on its own clock",
            CallbackPacingReason::Queued => "it queues its commits",
            CallbackPacingReason::Tried => {
                "it makes few frames: a trial whether it makes more when it is called back at the refresh"
            }
            CallbackPacingReason::Varying => {
                "its costs vary, and it makes more frames when it is called back sooner than is best for its latency"
            }
            CallbackPacingReason::Faster => "it makes more frames when it is called back at the refresh",
            CallbackPacingReason::FewBuffers => "its cost does not fit, and it has too few buffers for a second period",
        }
    }
}

/// The shares of a client's frames that may be late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacerMissBudgets {
    /// The share while the user does not interact with the window.
    pub free_running: MissBudget,
    /// The share during interaction.
    pub interactive: MissBudget,
}

impl Default for PacerMissBudgets {
    fn default() -> Self {
        PacerMissBudgets { free_running: FREE_RUNNING_MISS, interactive: INTERACTIVE_MISS }
    }
}

/// A planned frame callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCallback {
    /// The refresh that the client is to draw for.
    pub target: RefreshIndex,
    /// When to send the callback.
    pub start: Instant,
    /// Whether packing may move the start: only just-in-time starts may move.
    pub packed: bool,
}

/// A callback that was sent and not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCallback {
    /// The refresh that the client draws for.
    pub target: RefreshIndex,
    /// When the callback was planned to be sent.
    pub scheduled: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// After this moment no answer is expected, because the client has nothing to draw.
    pub expected_until: Instant,
    /// The previous callback was not answered yet. A client that requests the next callback before it draws may
    /// answer either, so its cost is unknown.
    pub overlaps: bool,
    /// A frame already waits for that refresh: this one is fresher, and replaces it if it is in time.
    pub is_second: bool,
    /// CPU time of the client when the callback was sent.
    pub(super) cpu: Option<Span>,
    pub(super) cpu_outside: Option<Span>,
    pub(super) offset: Span,
}

/// A commit with new content of a client.
#[derive(Clone, Copy, Debug)]
pub struct CommittedContent {
    /// When the commit was read.
    pub at: Instant,
    /// The first refresh that the content could reach then.
    pub reaches: RefreshIndex,
    /// CPU time of the client until then.
    pub cpu: Option<Span>,
    /// The commit carries a fifo barrier or a time stamp.
    pub queued: bool,
    /// The longest time that it may have waited for a processor because other clients were drawing.
    pub held_up: Span,
    /// A GPU still draws the content; [`Pacer::finished`](super::Pacer::finished) reports when it is done.
    pub unfinished: Option<UpdateId>,
}

/// A commit that answered a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackAnswer {
    /// The callback that was answered.
    pub drawing: OpenCallback,
    /// From the scheduled callback to the commit.
    pub wall: Span,
    /// CPU time of the client in between.
    pub cpu: Option<Span>,
    /// The client's budget when it was called back.
    pub budget: Span,
    /// The client paused because it had nothing to draw, so the time says nothing about its costs.
    pub pause: bool,
    /// Show the content not before this refresh: its target, although an earlier latch could take it.
    pub hold: Option<RefreshIndex>,
    /// Whether the content is finished; otherwise a GPU still draws it.
    pub is_done: bool,
}
