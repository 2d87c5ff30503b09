//! Limits the cost of matching names by rules: all rules are matched whenever a client changes a window's title, which
//! it may do with each frame.
//!
//! A plain pattern takes one step for each byte of a name. A pattern with a `?` after a `*` takes as many steps as
//! there are letters between its stars; an expression takes up to as many as it has compiled states. A name has up to
//! 515 bytes here ([`TextMatcher`](super::TextMatcher)), and the worst expressions that fit take some 5 ms for it. The
//! effort of such patterns and expressions, and of compiling them, is taken from a budget that all rules of a kind
//! share.

use std::cell::Cell;

use serde::{Deserialize, Deserializer};

/// The budget that all rules of a kind share, in bytes of compiled expressions.
pub(super) const MOST: usize = 128 * 1024;
/// The effort of one letter in a pattern that takes several steps for each byte of a name: at worst, so many bytes of
/// an expression take as long.
pub(super) const OF_A_LETTER: usize = 128;

/// The error when too little is left of the budget.
pub(super) const TOO_MUCH: &str =
    "expected fewer or smaller expressions, or patterns with ? after *: together they cost too much";

thread_local! {
    /// The rest of the budget for the rules that are being read.
    static LEFT: Cell<usize> = const { Cell::new(MOST) };
}

/// Starts a new budget, for rules of another kind.
pub(super) fn reset_budget() {
    LEFT.set(MOST);
}

pub(super) fn remaining() -> usize {
    LEFT.get()
}

/// Takes `effort` from the budget. Returns whether there was enough.
#[must_use]
pub(super) fn spend(effort: usize) -> bool {
    let left = LEFT.get().checked_sub(effort);
    left.into_iter().for_each(|left| LEFT.set(left));
    left.is_some()
}

/// Reads the rules of a kind, with a budget of their own.
pub(super) fn rules<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    reset_budget();
    Vec::deserialize(deserializer)
}
