//! The record of each frame: one per output frame and one per client frame.
//!
//! Records are plain data of fixed size. They are filled in as a frame progresses, kept in a [`Ring`] per output and
//! per window, and read by the statistics, by `why-late` and by the frame log. No frame is late silently: a record
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
pub use miss::{Blame, LostReason, MissReason};
pub use ring::Ring;
pub use statistics::{
    BlameCounts, DistributionSummary, EventRate, HITCH_PER_MILLE, OutputStatistics, RecentDistribution,
    SmoothnessCounters, WindowStatistics,
};

use super::id::{ClientId, OutputId, SurfaceId, WindowId};
use super::pacing::{ClientClass, Pacing};
use super::target::RefreshIndex;
use crate::time::{Instant, Span};

/// How many records an output and a window keep: four seconds at 60 Hz, two at 120 Hz.
pub const RECORDS_KEPT: usize = 256;

/// Why an output composed a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepaintReason {
    /// A client's content changed.
    #[default]
    Content,
    /// A client requested a callback without new content.
    Callback,
    /// The pointer moved or changed its image.
    Cursor,
    /// Windows were moved, resized, restacked, mapped or closed.
    Shell,
    /// An animation of the compositor's own.
    Animation,
    /// A view that is scrolled moved.
    Scroll,
    /// A scrolled view moves on by itself, so its offset in each later frame is known.
    Fling,
    /// A client captures the output.
    Capture,
    /// The output appeared, changed its mode or was switched on.
    Output,
}

impl RepaintReason {
    /// Whether time alone decides what the next frames show, so that they can be rendered ahead.
    pub const fn is_foreseen(self) -> bool {
        matches!(self, RepaintReason::Animation | RepaintReason::Fling)
    }
}

/// The outcome of an output's frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameOutcome {
    /// The frame is under way.
    #[default]
    Pending,
    /// The frame was shown.
    Presented,
    /// The frame will never be shown.
    Lost(LostReason),
    /// Nothing had changed, so nothing was submitted.
    Empty,
}

/// The record of one frame of one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrameRecord {
    /// The output of the frame.
    pub output: OutputId,
    /// The frame's number on its output, in the order of composition.
    pub frame: u64,
    /// The refresh that the frame was made for.
    pub target: RefreshIndex,
    /// When that refresh was expected.
    pub present: Instant,
    /// The distance from the previous refresh.
    pub interval: Span,
    /// Why the frame was composed.
    pub need: RepaintReason,
    /// How the output was paced.
    pub pacing: Pacing,
    /// The planned time of the latch.
    pub latch_at: Instant,
    /// When content was really chosen.
    pub latched: Instant,
    /// When the CPU had finished drawing.
    pub composed: Option<Instant>,
    /// When the GPU had finished, if that is later.
    pub rendered: Option<Instant>,
    /// When the display had the frame.
    pub submitted: Option<Instant>,
    /// The earlier frame that was late and took the refresh of this frame.
    pub busy_with: Option<u64>,
    /// The display's deadline for the frame.
    pub submit_by: Instant,
    /// When the frame was on screen.
    pub presented: Option<Instant>,
    /// The display's count of refreshes at that moment.
    pub sequence: Option<u64>,
    /// The display's count of refreshes at the target.
    pub due_sequence: Option<u64>,
    /// The expected duration of composing.
    pub compose_budget: Span,
    /// The duration of composing, from `latched` to `composed` (or `rendered`, if that is later).
    pub compose_cost: Span,
    /// The number of pixels that were drawn anew.
    pub damage: u64,
    /// The outcome of the frame.
    pub outcome: FrameOutcome,
    /// Why the frame was not shown at its target, if it was not.
    pub miss: Option<MissReason>,
    /// Interference by the machine meanwhile, if the frame was missed.
    pub interference: Option<Interference>,
}

/// The record of one frame of one client's surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientFrameRecord {
    /// The client of the frame.
    pub client: ClientId,
    /// The surface of the frame.
    pub surface: SurfaceId,
    /// The window that the surface belongs to, if any.
    pub window: Option<WindowId>,
    /// The output that paces the surface.
    pub output: OutputId,
    /// The refresh that the frame was made for.
    pub target: RefreshIndex,
    /// When that refresh was expected.
    pub present: Instant,
    /// The deadline for the content.
    pub ready_by: Instant,
    /// The distance from the refresh before the target.
    pub interval: Span,
    /// The newest input event that was sent to the client before it drew, by its own timestamp.
    pub input: Option<Instant>,
    /// The planned time of its callback.
    pub callback_scheduled: Option<Instant>,
    /// When its callback was sent.
    pub callback_sent: Option<Instant>,
    /// When its commit was read.
    pub committed: Option<Instant>,
    /// When the last fence of its buffer had signalled.
    pub ready: Option<Instant>,
    /// `ready` is an upper bound, because the real time is unknown: the compositor was notified then.
    #[serde(default)]
    pub ready_at_most: bool,
    /// When a latch took the frame.
    pub latched: Option<Instant>,
    /// The number of the output's frame that contains it.
    pub frame: Option<u64>,
    /// When the frame was on screen.
    pub presented: Option<Instant>,
    /// The display's count of refreshes at that moment.
    pub sequence: Option<u64>,
    /// The display's count of refreshes at the target.
    pub due_sequence: Option<u64>,
    /// The expected duration of drawing.
    pub budget: Span,
    /// The duration from `callback_scheduled` (waking late counts) to `ready`.
    pub cost_wall: Option<Span>,
    /// CPU time of the client within `cost_wall`, where the system can tell.
    pub cost_cpu: Option<Span>,
    /// How the client uses its callbacks.
    pub class: ClientClass,
    /// The pacing of the client.
    pub pacing: Pacing,
    /// The number of whole periods of slack beyond the first.
    pub slack_periods: u8,
    /// The number of waiting updates of the surface when it was committed, this one included.
    pub depth: u8,
    /// Why the frame was not shown at its target, if it was not.
    pub miss: Option<MissReason>,
    /// Interference by the machine meanwhile, if the frame was missed.
    pub interference: Option<Interference>,
}

impl FrameRecord {
    /// How many refreshes after its target the frame was shown; `None` while unknown. By the display's counts where
    /// it has them, otherwise by time.
    pub fn refreshes_late(&self) -> Option<u64> {
        refreshes_late(self.present, self.interval, self.presented?, self.due_sequence, self.sequence)
    }
}

impl ClientFrameRecord {
    /// How many refreshes after its target the frame was shown; `None` while unknown.
    pub fn refreshes_late(&self) -> Option<u64> {
        refreshes_late(self.present, self.interval, self.presented?, self.due_sequence, self.sequence)
    }

    /// The time from the callback to light.
    pub fn callback_to_light(&self) -> Option<Span> {
        Some(self.presented? - self.callback_sent?)
    }

    /// The time from the commit to light.
    pub fn commit_to_light(&self) -> Option<Span> {
        Some(self.presented? - self.committed?)
    }

    /// The time from the newest input that the frame can show to light.
    pub fn input_to_light(&self) -> Option<Span> {
        Some(self.presented? - self.input?)
    }
}

/// Refreshes between target and light, by the display's counts. A count that ran backwards means nothing (a display
/// restarts or stops its count during a mode set). Then, and without counts, the result is by time, and half a period
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
        // The clock says ten periods, the display's count says one, because of a suspend in between.
        (record.due_sequence, record.sequence) = (Some(7), Some(8));
        assert_eq!(record.refreshes_late(), Some(1));
        // A count that ran backwards is ignored.
        record.due_sequence = Some(12);
        assert_eq!(record.refreshes_late(), Some(10));
        (record.due_sequence, record.interval) = (None, Span::ZERO);
        assert_eq!(record.refreshes_late(), None);
    }
}
