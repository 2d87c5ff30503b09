//! Early callbacks: calls a client back a period before its cost requires it.
//!
//! A rule of the user enables this; [`Proof`] finds out whether the client's pictures stay correct.

use super::Pacer;
use super::proof::{Proof, Verdict};
use crate::time::{Instant, Span};

/// The user's rule for early callbacks of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyRule {
    /// No rule: never early.
    #[default]
    Off,
    /// Early, once it is proven that the client draws for the time of its callbacks.
    OnProof,
    /// A rule exists, but for Xwayland, which answers for X11 programs that do not see callbacks: never early.
    Xwayland,
}

/// The rule and the proof for early callbacks.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyCallbacks {
    rule: EarlyRule,
    proof: Proof,
}

impl Pacer {
    /// Sets the rule for callbacks a period before the client's cost requires it. They are never early while the
    /// user interacts with the window, nor before it is proven that the client draws for the time that its
    /// callbacks carry.
    pub fn set_early(&mut self, rule: EarlyRule) {
        if self.early.rule != rule {
            self.early = EarlyCallbacks { rule, proof: Proof::default() };
            self.planned = None;
        }
    }

    /// Whether early callbacks are safe, if a rule enables them.
    pub const fn early_verdict(&self) -> Option<Verdict> {
        match self.early.rule {
            EarlyRule::Off => None,
            EarlyRule::OnProof => Some(self.early.proof.verdict()),
            EarlyRule::Xwayland => Some(Verdict::Xwayland),
        }
    }

    /// The time argument of the callback that is being sent. `time`: the refresh before its target, which is the
    /// usual argument.
    pub fn tell_time(&mut self, time: Instant, interval: Span, now: Instant) -> Instant {
        let disturbed = self.is_interactive(now);
        let is_tried = self.early.rule == EarlyRule::OnProof;
        if is_tried { self.early.proof.tell(time, interval, disturbed) } else { time }
    }

    /// Whether [`drawn`](Self::drawn) needs the picture of the next commit.
    pub const fn wants_fingerprint(&self) -> bool {
        self.early.proof.wants_fingerprint()
    }

    /// The picture of the client's last commit, as a hash of its pixels; `None` if the pixels cannot be read.
    pub fn drawn(&mut self, picture: Option<u64>) {
        self.early.proof.drawn(picture);
    }

    pub(super) fn is_early(&self) -> bool {
        self.early_verdict() == Some(Verdict::Proven)
    }
}
