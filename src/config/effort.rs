//! How much matching names may cost: rules are gone through whenever a client calls a window something else, which it may do with
//! each frame.
//!
//! A plain pattern takes a step for each byte of a name, whatever it says. One with a `?` behind a `*` takes as many as there are
//! letters between its stars, and an expression up to as many as it has states once it is compiled. A name has up to
//! 515 bytes here ([`Matcher`](super::Matcher)): the worst expressions that fit take some 5 ms for it. Those are paid for out of what
//! all rules of a kind have together; so is compiling them.

use std::cell::Cell;

use serde::{Deserialize, Deserializer};

/// The effort that all rules of a kind have together, in bytes of compiled expressions.
pub(super) const MOST: usize = 128 * 1024;
/// The effort of a letter of a pattern that takes steps for each byte of a name: as long as that much of an expression takes, at
/// worst.
pub(super) const OF_A_LETTER: usize = 128;

/// There is too little left.
pub(super) const TOO_MUCH: &str =
    "expected fewer or smaller expressions, or patterns with ? after *: together they cost too much";

thread_local! {
    /// What the rules that are being read have left.
    static LEFT: Cell<usize> = const { Cell::new(MOST) };
}

/// Rules of another kind are read from now on.
pub(super) fn begin() {
    LEFT.set(MOST);
}

/// What is left.
pub(super) fn left() -> usize {
    LEFT.get()
}

/// Takes some of it. Whether there was enough.
#[must_use]
pub(super) fn take(effort: usize) -> bool {
    let left = LEFT.get().checked_sub(effort);
    left.into_iter().for_each(|left| LEFT.set(left));
    left.is_some()
}

/// Reads the rules of a kind.
pub(super) fn rules<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    begin();
    Vec::deserialize(deserializer)
}
