//! Calling a client back a period before its cost asks for that.
//!
//! A rule of the user asks for it; [`Proof`] says whether what the client draws can stand it.

use super::Pacer;
use super::proof::{Proof, Verdict};
use crate::time::{Instant, Span};

/// Whether a client may be called back early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyRule {
    /// Nobody asked for it.
    #[default]
    Off,
    /// A rule asks for it: once it is proven that the client draws for the time of its callbacks.
    OnProof,
    /// A rule asks for it, of Xwayland: it answers for programs that never hear of callbacks.
    Xwayland,
}

/// What a pacer keeps for it.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyCallbacks {
    rule: EarlyRule,
    proof: Proof,
}

impl Pacer {
    /// Whether it may be called back a period before its cost asks for that. Not while the user is at it, and not before
    /// it is proven that it draws for the time of its callbacks and not for the moment at which they come.
    pub fn set_early(&mut self, rule: EarlyRule) {
        if self.early.rule != rule {
            self.early = EarlyCallbacks { rule, proof: Proof::default() };
            self.planned = None;
        }
    }

    /// What is known of whether it may be called back early, if a rule asks for that.
    pub const fn early_verdict(&self) -> Option<Verdict> {
        match self.early.rule {
            EarlyRule::Off => None,
            EarlyRule::OnProof => Some(self.early.proof.verdict()),
            EarlyRule::Xwayland => Some(Verdict::Xwayland),
        }
    }

    /// The time that the callback which is being sent is to carry, where `time` is the refresh before its target.
    pub fn tell_time(&mut self, time: Instant, interval: Span, now: Instant) -> Instant {
        let disturbed = self.is_interactive(now);
        let is_tried = self.early.rule == EarlyRule::OnProof;
        if is_tried { self.early.proof.tell(time, interval, disturbed) } else { time }
    }

    /// Whether [`drawn`](Self::drawn) wants to know what the client draws for the callback that it was sent.
    pub const fn wants_fingerprint(&self) -> bool {
        self.early.proof.wants_fingerprint()
    }

    /// The client's picture as of its last commit, by a number that differs where the pixels do; `None` if it cannot be
    /// read.
    pub fn drawn(&mut self, picture: Option<u64>) {
        self.early.proof.drawn(picture);
    }

    pub(super) fn is_early(&self) -> bool {
        self.early_verdict() == Some(Verdict::Proven)
    }
}
