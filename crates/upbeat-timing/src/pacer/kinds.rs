//! What a pacer plans, what it waits for, what it learns, and the words for it.

use crate::defaults::{FREE_RUNNING_MISS, INTERACTIVE_MISS};
use crate::estimator::MissBudget;
use crate::id::UpdateId;
use crate::target::RefreshIndex;
use crate::time::{Instant, Span};

/// Why a client is paced as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Too few frames are known.
    #[default]
    New,
    /// Asked for by the configuration or a message.
    Configured,
    /// Its cost at the miss budget fits into a period.
    Fits,
    /// It is being touched and does not fit: started right after the latch.
    Interactive,
    /// It is not being touched and does not fit: as much of a second period of slack as its miss budget asks for.
    FreeRunning,
    /// A rule asks for it, and it is proven that it draws for the time of its callbacks: they come a period earlier.
    Early,
    /// It runs on its own clock.
    OwnClock,
    /// It queues its commits.
    Queued,
    /// It does not fit, and cannot use a second period: too few buffers.
    FewBuffers,
    /// It makes few frames: for half a second it is called back at the refresh, to see whether it makes more then.
    Tried,
    /// It was seen to make more frames when it is called back at the refresh.
    Faster,
}

impl Reason {
    /// A few words for reports.
    pub const fn words(self) -> &'static str {
        match self {
            Reason::New => "too few frames seen",
            Reason::Configured => "configured",
            Reason::Fits => "its cost fits into a refresh",
            Reason::Interactive => "touched, and its cost does not fit: called back right after the latch",
            Reason::FreeRunning => {
                "not touched, and its cost does not fit: as much of two periods as its miss budget asks for"
            }
            Reason::Early => {
                "a rule asks for it, and it is proven to draw for the time of its callbacks: called back early"
            }
            Reason::OwnClock => "it runs on its own clock",
            Reason::Queued => "it queues its commits",
            Reason::Tried => "it makes few frames: tried whether it makes more when it is called back at the refresh",
            Reason::Faster => "it makes more frames when it is called back at the refresh",
            Reason::FewBuffers => "its cost does not fit, and it has too few buffers for a second period",
        }
    }
}

/// The shares of frames that may be late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissBudgets {
    /// While nobody is touching the window.
    pub free_running: MissBudget,
    /// While somebody is.
    pub interactive: MissBudget,
}

impl Default for MissBudgets {
    fn default() -> Self {
        MissBudgets { free_running: FREE_RUNNING_MISS, interactive: INTERACTIVE_MISS }
    }
}

/// The callback that is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The refresh that the client is to draw for.
    pub target: RefreshIndex,
    /// When to call back.
    pub start: Instant,
    /// Whether the start may be moved by packing: only just-in-time starts are.
    pub packed: bool,
}

/// A callback that was sent and not answered yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenCallback {
    /// The refresh that it draws for.
    pub target: RefreshIndex,
    /// When the callback was to be sent.
    pub scheduled: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// From then on nobody expects an answer: there was nothing to draw.
    pub expected_until: Instant,
    /// The one before was not answered yet: whoever asks for the next callback before it draws may answer that one. What
    /// it takes is not known then.
    pub overlaps: bool,
    /// A frame waits for that refresh already: this one is fresher, if it makes it.
    pub is_second: bool,
    /// CPU time of the client then.
    pub(super) cpu: Option<Span>,
    pub(super) cpu_outside: Option<Span>,
    pub(super) offset: Span,
}

/// New content of a client.
#[derive(Clone, Copy, Debug)]
pub struct Content {
    /// When it came.
    pub at: Instant,
    /// The next refresh by then.
    pub reaches: RefreshIndex,
    /// CPU time of the client by then.
    pub cpu: Option<Span>,
    /// It carries a fifo barrier or a time stamp.
    pub queued: bool,
    /// Other clients were drawing meanwhile.
    pub contended: bool,
    /// A device is still drawing it; [`Pacer::finished`](super::Pacer::finished) says when it was done.
    pub unfinished: Option<UpdateId>,
}

/// A commit that answered a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The callback.
    pub drawing: OpenCallback,
    /// From the scheduled callback to the commit.
    pub wall: Span,
    /// CPU time of the client meanwhile.
    pub cpu: Option<Span>,
    /// The budget that it had been given.
    pub budget: Span,
    /// The client had nothing to draw for a while: this took long, and says nothing about what its frames take.
    pub pause: bool,
    /// Show it at this refresh, not before: the one that it was drawn for, which a later latch will reach.
    pub hold: Option<RefreshIndex>,
    /// All of it was drawn; else a device still draws some.
    pub is_done: bool,
}
