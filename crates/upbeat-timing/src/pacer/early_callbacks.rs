//! Early callbacks: calls a client back a period before its cost requires it.
//!
//! A rule of the user enables this; [`CallbackTimeProof`] finds out whether the client's pictures stay correct.

use super::Pacer;
use super::callback_time_proof::{CallbackTimeProof, EarlyCallbackVerdict};
use crate::time::{Instant, Span};

/// The user's rule for early callbacks of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EarlyCallbackRule {
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
    rule: EarlyCallbackRule,
    proof: CallbackTimeProof,
}

impl Pacer {
    /// Sets the rule for callbacks a period before the client's cost requires it. They are never early while the
    /// user interacts with the window, nor before it is proven that the client draws for the time that its
    /// callbacks carry.
    pub fn set_early_callbacks(&mut self, rule: EarlyCallbackRule) {
        if self.early.rule != rule {
            self.early = EarlyCallbacks { rule, proof: CallbackTimeProof::default() };
            self.planned = None;
        }
    }

    /// Whether early callbacks are safe, if a rule enables them.
    pub const fn early_verdict(&self) -> Option<EarlyCallbackVerdict> {
        match self.early.rule {
            EarlyCallbackRule::Off => None,
            EarlyCallbackRule::OnProof => Some(self.early.proof.verdict()),
            EarlyCallbackRule::Xwayland => Some(EarlyCallbackVerdict::Xwayland),
        }
    }

    /// The time argument of the callback that is being sent. `time`: the refresh before its target, which is the
    /// usual argument.
    pub fn callback_time(&mut self, time: Instant, interval: Span, now: Instant) -> Instant {
        let disturbed = self.is_interactive(now);
        let is_tried = self.early.rule == EarlyCallbackRule::OnProof;
        if is_tried { self.early.proof.callback_time(time, interval, disturbed) } else { time }
    }

    /// Whether [`observe_picture`](Self::observe_picture) needs the picture of the next commit.
    pub const fn wants_fingerprint(&self) -> bool {
        self.early.proof.wants_fingerprint()
    }

    /// The picture of the client's last commit, as a hash of its pixels; `None` if the pixels cannot be read.
    pub fn observe_picture(&mut self, picture: Option<u64>) {
        self.early.proof.observe_picture(picture);
    }

    pub(super) fn is_early(&self) -> bool {
        self.early_verdict() == Some(EarlyCallbackVerdict::Proven)
    }
}
