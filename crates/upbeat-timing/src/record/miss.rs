//! Why a frame was not shown at its target, with the figures that prove it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Span;

/// Why a display never showed a frame that it had taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostReason {
    /// A newer frame replaced it.
    Superseded,
    /// The output was switched off or unplugged.
    Gone,
    /// The mode changed before it was shown.
    ModeChange,
    /// The device dropped it.
    Device,
}

/// The party that could have prevented a miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Blame {
    /// The client took longer than its budget.
    Client,
    /// The compositor woke, called back, composed or submitted too late.
    Compositor,
    /// The display did not show a frame that it had in time.
    Display,
    /// A policy decided it.
    Policy,
}

/// Why a frame was not shown at its target.
///
/// Its [`Display`](fmt::Display) form is the second half of a sentence about the frame: `why_late` of upbeat-record
/// puts the name of the window or output and the refresh in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum MissReason {
    /// The client drew for longer than its budget.
    ClientLate {
        /// From the scheduled callback to the commit (or to its fence).
        took: Span,
        /// The client's budget for it.
        budget: Span,
        /// CPU time of the client within `took`, if known: the rest is waiting.
        cpu: Option<Span>,
        /// How long after the latch the frame was ready.
        late_by: Span,
    },
    /// The client had not answered its callback when its refresh came.
    StillDrawing {
        /// Time since the callback was sent.
        waited: Span,
        /// The client's budget for it.
        budget: Span,
    },
    /// The compositor sent the callback late, and the remaining time was too short for the client.
    CallbackLate {
        /// How late the callback was sent.
        by: Span,
        /// How long the client then took.
        took: Span,
    },
    /// The commit came in time, its fence did not.
    FenceLate {
        /// How long after the latch the fence signalled.
        by: Span,
    },
    /// Earlier updates of the same surface had to be shown first.
    Queued {
        /// The number of earlier updates.
        ahead: u8,
    },
    /// The frame was ready in time, but the output composed nothing for that refresh.
    NotComposed {
        /// How long before `ready_by` the frame was ready.
        early_by: Span,
    },
    /// No part of the window was visible, so nothing was shown.
    NotVisible,
    /// The compositor woke late for the latch.
    WokeLate {
        /// Delay of the wake-up.
        by: Span,
    },
    /// Composing took longer than expected.
    ComposeLate {
        /// The duration of composing.
        took: Span,
        /// The expected duration (budget).
        budget: Span,
    },
    /// The frame was submitted in time, but its rendering finished too late.
    RenderLate {
        /// How long after `submit_by`.
        by: Span,
    },
    /// Waking and composing were in time, but the submission was late.
    SubmitLate {
        /// How long after `submit_by`.
        by: Span,
    },
    /// The display refused the frame because an earlier frame still waited for its flip.
    FlipPending {
        /// The number of the earlier frame.
        frame: u64,
    },
    /// The display had the frame in time but showed it late.
    DisplayFault {
        /// How many refreshes late the frame was shown.
        refreshes: u64,
        /// How long before `submit_by` the display had the frame.
        early_by: Span,
    },
    /// The display took the frame and never showed it.
    DisplayLost {
        /// Why the display lost it.
        reason: LostReason,
    },
    /// The frame was dropped for a newer frame.
    PolicyDrop,
}

impl MissReason {
    /// The party that could have prevented the miss.
    pub const fn blame(&self) -> Blame {
        match self {
            MissReason::ClientLate { .. } | MissReason::StillDrawing { .. } | MissReason::FenceLate { .. } => {
                Blame::Client
            }
            MissReason::CallbackLate { .. }
            | MissReason::NotComposed { .. }
            | MissReason::WokeLate { .. }
            | MissReason::ComposeLate { .. }
            | MissReason::RenderLate { .. }
            | MissReason::SubmitLate { .. } => Blame::Compositor,
            MissReason::FlipPending { .. } | MissReason::DisplayFault { .. } | MissReason::DisplayLost { .. } => {
                Blame::Display
            }
            MissReason::Queued { .. } | MissReason::NotVisible | MissReason::PolicyDrop => Blame::Policy,
        }
    }
}

impl fmt::Display for MissReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            MissReason::ClientLate { took, budget, cpu, late_by } => {
                if budget == Span::ZERO {
                    write!(f, "it took {}, before its cost was known", Readable(took))?;
                } else if took > budget {
                    write!(f, "it took {} of the {} budgeted", Readable(took), Readable(budget))?;
                } else {
                    write!(f, "it was ready {} after the latch, having taken {}", Readable(late_by), Readable(took))?;
                }
                match cpu {
                    Some(cpu) => write!(f, ", {} of it CPU", Readable(cpu)),
                    None => Ok(()),
                }
            }
            MissReason::StillDrawing { waited, budget } => {
                write!(f, "it has not answered for {} ({} were budgeted)", Readable(waited), Readable(budget))
            }
            MissReason::CallbackLate { by, took } => {
                write!(
                    f,
                    "its callback was sent {} late, after which its {} no longer fitted",
                    Readable(by),
                    Readable(took)
                )
            }
            MissReason::FenceLate { by } => {
                write!(f, "its commit came in time, but its rendering finished {} after the latch", Readable(by))
            }
            MissReason::Queued { ahead } => {
                write!(f, "{ahead} earlier {} had to be shown first", if ahead == 1 { "update" } else { "updates" })
            }
            MissReason::NotComposed { early_by } => {
                write!(f, "it was ready {} before its deadline, but the output composed nothing", Readable(early_by))
            }
            MissReason::NotVisible => f.write_str("no part of it was visible"),
            MissReason::WokeLate { by } => write!(f, "the compositor woke {} late", Readable(by)),
            MissReason::ComposeLate { took, budget } => {
                write!(f, "composing took {} of the {} budgeted", Readable(took), Readable(budget))
            }
            MissReason::RenderLate { by } => {
                write!(f, "the GPU finished the frame {} too late", Readable(by))
            }
            MissReason::SubmitLate { by } => {
                write!(f, "the frame reached the display {} too late", Readable(by))
            }
            MissReason::FlipPending { frame } => write!(f, "the display was still busy with frame {frame}"),
            MissReason::DisplayFault { refreshes, early_by } => write!(
                f,
                "the display showed it {refreshes} {} late although it had it {} in time",
                if refreshes == 1 { "refresh" } else { "refreshes" },
                Readable(early_by)
            ),
            MissReason::DisplayLost { reason } => f.write_str(match reason {
                LostReason::Superseded => "a newer frame took its place",
                LostReason::Gone => "the output was switched off or unplugged",
                LostReason::ModeChange => "the mode of the output changed",
                LostReason::Device => "the display dropped it",
            }),
            MissReason::PolicyDrop => f.write_str("it was dropped for a newer frame"),
        }
    }
}

/// A span for people to read: `9.1 ms`, `0.34 ms`, `45 µs`.
pub(super) struct Readable(pub Span);

impl fmt::Display for Readable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_millis_f64();
        match millis.abs() {
            ..0.1 => write!(f, "{:.0} µs", millis * 1e3),
            ..1.0 => write!(f, "{millis:.2} ms"),
            _ => write!(f, "{millis:.1} ms"),
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn every_reason_reads_as_the_end_of_a_sentence_with_its_figures() {
        let ms = Span::from_millis_f64;
        let reasons = [
            MissReason::ClientLate { took: ms(9.1), budget: ms(6.2), cpu: Some(ms(8.9)), late_by: ms(2.7) },
            MissReason::ClientLate { took: ms(5.0), budget: ms(6.2), cpu: None, late_by: ms(0.34) },
            MissReason::ClientLate { took: ms(144.0), budget: Span::ZERO, cpu: None, late_by: ms(120.0) },
            MissReason::StillDrawing { waited: ms(21.0), budget: ms(6.2) },
            MissReason::CallbackLate { by: ms(1.4), took: ms(4.0) },
            MissReason::FenceLate { by: ms(2.1) },
            MissReason::Queued { ahead: 1 },
            MissReason::Queued { ahead: 2 },
            MissReason::NotComposed { early_by: ms(0.045) },
            MissReason::NotVisible,
            MissReason::WokeLate { by: ms(2.3) },
            MissReason::ComposeLate { took: ms(3.0), budget: ms(1.2) },
            MissReason::RenderLate { by: ms(0.4) },
            MissReason::SubmitLate { by: ms(0.3) },
            MissReason::FlipPending { frame: 41 },
            MissReason::DisplayFault { refreshes: 1, early_by: ms(0.8) },
            MissReason::DisplayLost { reason: LostReason::Device },
            MissReason::PolicyDrop,
        ];
        let text: String = reasons.iter().map(|reason| format!("{:?}: {reason}\n", reason.blame())).collect();
        expect![[r#"
            Client: it took 9.1 ms of the 6.2 ms budgeted, 8.9 ms of it CPU
            Client: it was ready 0.34 ms after the latch, having taken 5.0 ms
            Client: it took 144.0 ms, before its cost was known
            Client: it has not answered for 21.0 ms (6.2 ms were budgeted)
            Compositor: its callback was sent 1.4 ms late, after which its 4.0 ms no longer fitted
            Client: its commit came in time, but its rendering finished 2.1 ms after the latch
            Policy: 1 earlier update had to be shown first
            Policy: 2 earlier updates had to be shown first
            Compositor: it was ready 45 µs before its deadline, but the output composed nothing
            Policy: no part of it was visible
            Compositor: the compositor woke 2.3 ms late
            Compositor: composing took 3.0 ms of the 1.2 ms budgeted
            Compositor: the GPU finished the frame 0.40 ms too late
            Compositor: the frame reached the display 0.30 ms too late
            Display: the display was still busy with frame 41
            Display: the display showed it 1 refresh late although it had it 0.80 ms in time
            Display: the display dropped it
            Policy: it was dropped for a newer frame
        "#]]
        .assert_eq(&text);
    }
}
