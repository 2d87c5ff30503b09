//! [`FramePacer`]: gives each frame of a surface the refresh that it is drawn for, on any compositor.
//!
//! | file | contents |
//! |---|---|
//! | `targets` | state of targets that the compositor sends: requested, taken, bound (pure) |
//! | `prediction` | the same on compositors without the protocol: predicts the next refresh (pure) |
//! | `listener` | passes events of Wayland objects to these two |
//! | `frame_pacer` | sends requests to Wayland objects |

mod frame_pacer;
#[cfg(test)]
mod guarantee_tests;
mod listener;
mod prediction;
mod targets;

pub use self::frame_pacer::FramePacer;
pub use super::protocol::frame_pacing::upbeat_frame_pacing_v1::{DiscardReason, Pacing, Path, Reason, RevokeReason};

use upbeat_timing::time::{Instant, Span};

/// Id of a target. It grows from each target to the next, and a pacer never uses it twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetId(pub u64);

/// A refresh to draw a frame for.
///
/// ```text
///        sent                        ready_by     present
///  ───────┼──────▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓▓──────┼────────────┼────────▶
///                draw                │ bind, commit        shown
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTarget {
    /// Id of the target, for [`FramePacer::bind`].
    pub id: TargetId,
    /// When the frame will be shown, on the clock of [`FramePacer::now`]. Use only this time for animations. It
    /// grows from each target to the next, except after [revoked](PacerEvent::Revoked) targets. Predicted targets
    /// may repeat a time to correct a wrong prediction.
    pub present: Instant,
    /// The deadline for this refresh: by then the frame must be committed, and its fences signalled.
    pub ready_by: Instant,
    /// The time between two refreshes.
    pub interval: Span,
}

/// The pacing that a program asks for. The default is one frame at a time, with the pacing that the compositor chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingOptions {
    /// When the compositor sends targets.
    pub pacing: Pacing,
    /// Largest number of frames under way when drawing ahead, at least 1. The program needs one buffer more.
    pub ahead_limit: u32,
    /// Keep drawing ahead during input: the program predicts input, or its content does not depend on input.
    pub stay_ahead: bool,
    /// Allow the compositor to show a newer frame before its time and discard older frames.
    pub latest_ready: bool,
}

impl Default for PacingOptions {
    fn default() -> Self {
        PacingOptions { pacing: Pacing::Automatic, ahead_limit: 1, stay_ahead: false, latest_ready: false }
    }
}

/// The pacing in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacingInForce {
    /// When the compositor sends targets.
    pub pacing: Pacing,
    /// The number of frames that may be under way at once.
    pub ahead: u32,
    /// The number of buffers that the program needs for this.
    pub min_buffers: u32,
    /// Why this pacing was chosen. `None`: the compositor does not have `upbeat_frame_pacing_v1`, and targets are
    /// predicted.
    pub reason: Option<Reason>,
}

/// The fate of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetOutcome {
    /// The frame was shown.
    Presented {
        /// Time at which it was first shown.
        at: Instant,
        /// How long before its deadline the frame was ready; negative if it was late. `None` if the compositor
        /// does not report it.
        margin: Option<Span>,
        /// Whether it was composited, or scanned out directly.
        path: Path,
    },
    /// The frame will never be shown.
    Discarded(DiscardReason),
}

/// An event of a pacer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacerEvent {
    /// The pacing in force has changed.
    Effective(PacingInForce),
    /// A bound frame was shown or discarded. Sent once for each bound frame.
    Ended {
        /// The target that it was drawn for.
        target: FrameTarget,
        /// Whether and when it was shown.
        outcome: TargetOutcome,
    },
    /// Targets from `first` on are no longer valid, and new targets replace those that were not bound. A frame that
    /// is being drawn for such a target may still be bound: then it is shown as soon as possible. Or it may be
    /// given up with [`FramePacer::cancel_from`].
    Revoked {
        /// The first revoked target.
        first: TargetId,
        /// The reason that the compositor gave.
        reason: RevokeReason,
    },
    /// The answer to [`FramePacer::cancel_from`]: frames bound to `first` or a later target will not be shown.
    Cancelled {
        /// The first cancelled target: the target that was given, or a later target if frames had to be kept.
        first: TargetId,
    },
}

impl TargetOutcome {
    /// How many refreshes after its own a frame was shown; `None` if it was not shown.
    pub fn refreshes_late(&self, target: &FrameTarget) -> Option<u64> {
        let TargetOutcome::Presented { at, .. } = *self else { return None };
        let interval = target.interval.as_nanos().max(1);
        Some(((at - target.present).as_nanos().max(0) as u64 + interval as u64 / 2) / interval as u64)
    }
}

/// The target cannot be bound: it was never taken from this pacer, or was bound before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("target {} is not held: it was never taken from this pacer, or was bound before", .0.0)]
pub struct NotHeld(pub TargetId);
