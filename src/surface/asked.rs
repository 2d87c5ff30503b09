//! Which of a surface's last frames answered a callback, and which came between.
//!
//! What is held for its refresh holds up all that follows it. A client that also draws when nobody asks it (a browser whose
//! page moves by a timer of its own) would lose those frames:
//!
//! ```text
//!  called ──► frame, held for k+2 ·········· k+2
//!                     └─ 17 ms: another frame, for k+1 by its own clock, waits behind it
//! ```

/// Of the last 32 frames so many may have come unasked, by chance, for the others to be held.
const MOST_UNASKED: u32 = 3;

/// The last 32 frames of a surface.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// A bit for each, set if nobody had asked for it; the newest is the lowest.
    unasked: u32,
}

impl Asked {
    /// A frame was committed; `asked`: it answers a callback.
    pub const fn note(&mut self, asked: bool) {
        self.unasked = self.unasked << 1 | !asked as u32;
    }

    /// Whether its frames may wait for the refresh that they were drawn for.
    pub const fn may_be_held(self) -> bool {
        self.unasked.count_ones() <= MOST_UNASKED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_draws_between_its_answers_is_not_held_and_who_does_so_seldom_is() {
        for (unasked_in, held) in [(4, false), (8, false), (12, true), (60, true)] {
            let mut asked = Asked::default();
            (1..200).for_each(|frame: u32| asked.note(!frame.is_multiple_of(unasked_in)));
            assert_eq!(asked.may_be_held(), held, "one in {unasked_in}");
        }
    }
}
