//! [`FramePacer`]: which moment each frame of a surface is drawn for, on any compositor.
//!
//! | file | what it knows |
//! |---|---|
//! | `targets` | which targets are asked for, held, drawn for and on their way (pure) |
//! | `prediction` | the same on compositors without the protocol: the next refresh is predicted (pure) |
//! | `listener` | events of Wayland objects, for the two above |
//! | `frame_pacer` | requests of Wayland objects |

mod frame_pacer;
mod listener;
mod prediction;
#[cfg(test)]
mod promises;
mod targets;

pub use self::frame_pacer::FramePacer;
pub use super::protocol::frame_pacing::upbeat_frame_pacing_v1::{DiscardReason, Pacing, Path, Reason, RevokeReason};

use upbeat_timing::time::{Instant, Span};

/// A target's name: grows from one to the next, and is never used twice by a pacer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u64);

/// A refresh to draw a frame for.
///
/// ```text
///        told                        ready_by     present
///  ───────┼──────▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓──────┼────────────┼────────▶
///                draw                │ bind, commit        seen
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTarget {
    /// Its name.
    pub id: TargetId,
    /// When the frame will be seen, on the clock of [`FramePacer::now`]. The only time to animate with. It grows from
    /// each target to the next, but for those after [revoked](PacerEvent::Revoked) ones; where it is predicted, a wrong
    /// prediction is made up for by naming a moment twice.
    pub present: Instant,
    /// When its content has to be ready to be seen then: committed, and its fences signalled.
    pub ready_by: Instant,
    /// The time between two refreshes.
    pub interval: Span,
}

/// What a program wishes of the compositor. The initial value is one frame at a time, paced as the compositor likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingOptions {
    /// When targets come.
    pub pacing: Pacing,
    /// How many frames may be under way at once when drawn ahead. A program needs one buffer more. From 1.
    pub ahead_limit: u32,
    /// Input does not end drawing ahead: the program predicts it, or shows what does not depend on it.
    pub stay_ahead: bool,
    /// A newer frame may be shown before its time, and older ones discarded.
    pub latest_ready: bool,
}

impl Default for PacingOptions {
    fn default() -> Self {
        PacingOptions { pacing: Pacing::Automatic, ahead_limit: 1, stay_ahead: false, latest_ready: false }
    }
}

/// What is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effective {
    /// When targets come.
    pub pacing: Pacing,
    /// How many frames may be under way at once.
    pub ahead: u32,
    /// How many buffers make use of that.
    pub min_buffers: u32,
    /// Why; `None`: the compositor does not have `upbeat_frame_pacing_v1`, and targets are predicted.
    pub reason: Option<Reason>,
}

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was seen.
    Presented {
        /// Since when.
        at: Instant,
        /// How long it was ready before it had to be; negative if it was late. `None` if the compositor does not say.
        margin: Option<Span>,
        /// How it came to the screen.
        path: Path,
    },
    /// It will never be seen.
    Discarded(DiscardReason),
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacerEvent {
    /// Another pacing is in force.
    Effective(Effective),
    /// A frame that was bound is over. Told once for each.
    Ended {
        /// What it was drawn for.
        target: FrameTarget,
        /// What became of it.
        outcome: Outcome,
    },
    /// Targets from `first` on do not hold any more, and others will come for those that were not bound. A frame that
    /// is being drawn for one may be bound all the same, and is then shown as soon as it can be; or it may be given up,
    /// by [`FramePacer::cancel_from`].
    Revoked {
        /// The first of them.
        first: TargetId,
        /// Why.
        reason: RevokeReason,
    },
    /// Answers [`FramePacer::cancel_from`]: frames that were bound to this target or a later one will not be seen.
    Cancelled {
        /// The first of them: the one that was named, or a later one if frames had to be kept.
        first: TargetId,
    },
}

impl Outcome {
    /// How many refreshes after its own a frame was seen; `None` if it was not.
    pub fn refreshes_late(&self, target: &FrameTarget) -> Option<u64> {
        let Outcome::Presented { at, .. } = *self else { return None };
        let interval = target.interval.as_nanos().max(1);
        Some(((at - target.present).as_nanos().max(0) as u64 + interval as u64 / 2) / interval as u64)
    }
}

/// A target was bound that is not held: it was never taken, or bound before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("target {} is not held: it was never taken from this pacer, or was bound before", .0.0)]
pub struct NotHeld(pub TargetId);
