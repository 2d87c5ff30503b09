//! Tells whether a client draws only after frame callbacks, or also between them.
//!
//! A frame that is held back until its refresh also holds back every later frame. A client that draws without a
//! callback too (a browser whose page moves by a timer of its own) would lose those later frames:
//!
//! ```text
//!  callback ──► frame, held for k+2 ········ k+2
//!                     └─ 17 ms: another frame, meant for k+1 by the client's own clock, waits behind it
//! ```

/// Frames may still be held if at most this many of the last 32 came without a callback: so few come by chance.
const MOST_UNASKED: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CallbackHistory {
    /// One bit for each of the last 32 frames, set if the frame answered no callback; the newest is the lowest.
    unasked: u32,
}

impl CallbackHistory {
    /// A frame was committed. `asked`: it answers a callback.
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
    fn frames_are_held_unless_many_come_without_a_callback() {
        for (unasked_in, held) in [(4, false), (8, false), (12, true), (60, true)] {
            let mut asked = CallbackHistory::default();
            (1..200).for_each(|frame: u32| asked.note(!frame.is_multiple_of(unasked_in)));
            assert_eq!(asked.may_be_held(), held, "one in {unasked_in}");
        }
    }
}
