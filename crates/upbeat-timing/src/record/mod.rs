//! What happened to each frame: one record per output frame and one per client frame.
//!
//! Records are plain data of fixed size. They are filled in as a frame makes its way, kept in a [`Ring`] per output
//! and per window, and read by the statistics, by `why-late` and by the frame log. No frame is late silently: a record
//! whose content was not shown at its target names a [`MissReason`] with the figures that prove it.
//!
//! ```text
//!  client  │ input   callback(scheduled, sent)   committed   ready │
//!          │   ·           ▼ ······cost·············▼···········▼  │
//!  output  │                                                latch_at/latched  composed  submitted ≤ submit_by  presented
//!          │                                                    └──compose_cost──┘                              (sequence)
//! ```
//!
//! All instants are `CLOCK_MONOTONIC`; all costs are spans.

mod diagnose;
mod interference;
mod miss;
mod ring;
mod statistics;

use serde::{Deserialize, Serialize};

pub use diagnose::NEGLIGIBLE;
pub use interference::{Interference, InterferenceMeter, KernelTimes};
pub use miss::{Blame, Lost, MissReason};
pub use ring::Ring;
pub use statistics::{
    Cadence, Distribution, HITCH_PER_MILLE, Misses, OutputStatistics, Rate, Summary, WindowStatistics,
};

use super::id::{ClientId, OutputId, SurfaceId, WindowId};
use super::pacing::{Class, Pacing};
use super::target::RefreshIndex;
use crate::time::{Instant, Span};

/// How many records an output and a window keep: four seconds at 60 Hz, two at 120 Hz.
pub const RECORDS_KEPT: usize = 256;

/// Why an output composed a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Need {
    /// A client's content changed.
    #[default]
    Content,
    /// A client asked for a callback, with nothing new to show.
    Callback,
    /// The pointer moved or changed its image.
    Cursor,
    /// Windows were moved, resized, restacked, mapped or closed.
    Shell,
    /// An animation of the compositor's own.
    Animation,
    /// A view that is scrolled moved.
    Scroll,
    /// Someone takes a picture of the output.
    Capture,
    /// The output appeared, changed its mode or was switched on.
    Output,
}

/// What became of an output's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// On its way.
    #[default]
    Pending,
    /// It was on screen.
    Presented,
    /// It never will be.
    Lost(Lost),
    /// Nothing had changed, so nothing was submitted.
    Empty,
}

/// One frame of one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameRecord {
    /// Which output.
    pub output: OutputId,
    /// The frame's number on its output, in the order of composition.
    pub frame: u64,
    /// The refresh it was made for.
    pub target: RefreshIndex,
    /// When that refresh was expected.
    pub present: Instant,
    /// The distance to the refresh before it.
    pub interval: Span,
    /// Why it was made.
    pub need: Need,
    /// How the output was paced.
    pub pacing: Pacing,
    /// When content was to be chosen.
    pub latch_at: Instant,
    /// When content was chosen.
    pub latched: Instant,
    /// When drawing was done, as far as the CPU is concerned.
    pub composed: Option<Instant>,
    /// When the GPU was done, where that is later.
    pub rendered: Option<Instant>,
    /// When the display had the frame.
    pub submitted: Option<Instant>,
    /// The earlier frame that was late, and was shown in the refresh that this one was for.
    pub busy_with: Option<u64>,
    /// By when the display had to have it.
    pub submit_by: Instant,
    /// When it was on screen.
    pub presented: Option<Instant>,
    /// The display's count of refreshes at that moment.
    pub sequence: Option<u64>,
    /// The count at which it was due: that of its target.
    pub due_sequence: Option<u64>,
    /// What composing was expected to take.
    pub compose_budget: Span,
    /// What it took, from `latched` to `composed` (or `rendered`, where that is later).
    pub compose_cost: Span,
    /// How many pixels were drawn anew.
    pub damage: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// Why it was not shown at its target, if it was not.
    pub miss: Option<MissReason>,
    /// What the machine did meanwhile, if it was missed and was to be shown.
    pub interference: Option<Interference>,
}

/// One frame of one client's surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientFrameRecord {
    /// Whose.
    pub client: ClientId,
    /// Which surface.
    pub surface: SurfaceId,
    /// The window that the surface belongs to, if any.
    pub window: Option<WindowId>,
    /// The output that paces it.
    pub output: OutputId,
    /// The refresh it was made for.
    pub target: RefreshIndex,
    /// When that refresh was expected.
    pub present: Instant,
    /// By when content had to be there.
    pub ready_by: Instant,
    /// The distance to the refresh before the target.
    pub interval: Span,
    /// The newest input event that was sent to the client before it drew, by its own timestamp.
    pub input: Option<Instant>,
    /// When its callback was to be sent.
    pub callback_scheduled: Option<Instant>,
    /// When its callback was sent.
    pub callback_sent: Option<Instant>,
    /// When its commit was read.
    pub committed: Option<Instant>,
    /// When the last fence of its buffer had signalled.
    pub ready: Option<Instant>,
    /// Nobody could say when that was: it was heard of then, and not later.
    #[serde(default)]
    pub ready_at_most: bool,
    /// When a latch took it.
    pub latched: Option<Instant>,
    /// The output's frame that took it.
    pub frame: Option<u64>,
    /// When it was on screen.
    pub presented: Option<Instant>,
    /// The display's count of refreshes at that moment.
    pub sequence: Option<u64>,
    /// The count at which it was due.
    pub due_sequence: Option<u64>,
    /// How long it was expected to take.
    pub budget: Span,
    /// How long it took: from `callback_scheduled` (waking late counts) to `ready`.
    pub cost_wall: Option<Span>,
    /// How much of that its process was running, where the system tells.
    pub cost_cpu: Option<Span>,
    /// How the client uses its callbacks.
    pub class: Class,
    /// How it was paced.
    pub pacing: Pacing,
    /// How many whole periods it was given beyond the first.
    pub slack_periods: u8,
    /// How many of its updates waited when it was committed, itself included.
    pub depth: u8,
    /// Why it was not shown at its target, if it was not.
    pub miss: Option<MissReason>,
    /// What the machine did meanwhile, if it was missed and was to be shown.
    pub interference: Option<Interference>,
}

impl FrameRecord {
    /// How many refreshes after its target it was shown; `None` while unknown. By the display's counts where it has
    /// them, else by time.
    pub fn refreshes_late(&self) -> Option<u64> {
        refreshes_late(self.present, self.interval, self.presented?, self.due_sequence, self.sequence)
    }
}

impl ClientFrameRecord {
    /// How many refreshes after its target it was shown; `None` while unknown.
    pub fn refreshes_late(&self) -> Option<u64> {
        refreshes_late(self.present, self.interval, self.presented?, self.due_sequence, self.sequence)
    }

    /// From the callback to light.
    pub fn callback_to_light(&self) -> Option<Span> {
        Some(self.presented? - self.callback_sent?)
    }

    /// From the commit to light.
    pub fn commit_to_light(&self) -> Option<Span> {
        Some(self.presented? - self.committed?)
    }

    /// From the newest input that the frame can show to light.
    pub fn input_to_light(&self) -> Option<Span> {
        Some(self.presented? - self.input?)
    }
}

/// Refreshes between target and light, by the display's counts. A count that ran backwards says nothing (a display starts
/// to count anew, or stands still, while its mode is set): then, and without counts, by time, of which half a period
/// early or late is still on time.
fn refreshes_late(
    present: Instant,
    interval: Span,
    presented: Instant,
    due_sequence: Option<u64>,
    sequence: Option<u64>,
) -> Option<u64> {
    if let Some(late) = sequence.zip(due_sequence).and_then(|(sequence, due)| sequence.checked_sub(due)) {
        return Some(late);
    }
    if interval <= Span::ZERO {
        return None;
    }
    let late = (presented - present) + interval / 2;
    Some(late.as_nanos().max(0) as u64 / interval.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_counted_on_sequences_and_only_without_them_on_time() {
        let interval = Span::from_millis(10);
        let at = |millis| Instant::ZERO + Span::from_millis(millis);
        let mut record = FrameRecord { present: at(100), interval, presented: Some(at(100)), ..Default::default() };
        for (presented, late) in [(90, 0), (96, 0), (104, 0), (106, 1), (114, 1), (116, 2), (196, 10)] {
            record.presented = Some(at(presented));
            assert_eq!(record.refreshes_late(), Some(late), "at {presented} ms");
        }
        // The clock says ten periods, the display's count says one: a suspend lay between.
        (record.due_sequence, record.sequence) = (Some(7), Some(8));
        assert_eq!(record.refreshes_late(), Some(1));
        // A count that ran backwards is none.
        record.due_sequence = Some(12);
        assert_eq!(record.refreshes_late(), Some(10));
        (record.due_sequence, record.interval) = (None, Span::ZERO);
        assert_eq!(record.refreshes_late(), None);
    }
}
