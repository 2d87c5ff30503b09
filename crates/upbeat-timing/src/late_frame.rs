//! The policy for a frame that missed its refresh.
//!
//! Presto 3.1. A late frame waits beside the frame that was made for this refresh. Showing both in order keeps every
//! frame but adds a refresh of latency for good (buffer stuffing). Showing only the newer frame loses a frame but is in
//! time again. The policy shows the newer frame, but never loses two frames in a row: a client that is late every time
//! still shows every other frame.
//!
//! Frames that were drawn ahead are not late one by one. A refresh without a frame makes all waiting frames late, until
//! the frames that were requested afterwards are shown. The first such refresh loses no frame (D-VSync 5.1: elastic to
//! drops), but content stays within [`MOST_LATE`] of the moment at which it is seen. A second such refresh therefore
//! costs a frame.
//!
//! ```text
//!  refresh      10    11    12    13    14    15    16
//!  waiting      bcd   bcd   cd    cde   e     fg    gh        drawn for b=11, c=12, d=13; sent when b was shown: e=15
//!  on screen    a     –     b     –     d     e     f         c would be two refreshes late
//!  late         0           1           1     0     0
//! ```

/// Refreshes by which a frame that was drawn ahead may be late and still be shown in a refresh of its own.
pub const MOST_LATE: u64 = 1;

/// Whether a frame that was drawn ahead and is `late` by this many refreshes is dropped in favour of the next frame
/// that is due.
pub const fn is_dropped_for_next(late: u64) -> bool {
    late > MOST_LATE
}

/// The frame that the latch shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LateChoice {
    /// No frame is ready: the last frame stays.
    Repeat,
    /// The oldest ready frame, in its order.
    Oldest,
    /// The frame after the oldest, which is dropped.
    SkipOldest,
}

/// The policy of one surface. Its only state: whether the last latch dropped a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateFramePolicy {
    dropped_last: bool,
}

impl LateFramePolicy {
    /// Chooses among `ready` frames that wait for this latch. A queue that grew by one frame through a miss shrinks
    /// again.
    pub fn choose(&mut self, ready: usize) -> LateChoice {
        match ready {
            0 => LateChoice::Repeat,
            1 => {
                self.dropped_last = false;
                LateChoice::Oldest
            }
            _ if self.dropped_last => {
                self.dropped_last = false;
                LateChoice::Oldest
            }
            _ => {
                self.dropped_last = true;
                LateChoice::SkipOldest
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_late_frame_gives_way_to_the_newer_one() {
        let mut policy = LateFramePolicy::default();
        let choices = [1, 0, 2, 1].map(|ready| policy.choose(ready));
        assert_eq!(choices, [LateChoice::Oldest, LateChoice::Repeat, LateChoice::SkipOldest, LateChoice::Oldest]);
    }

    proptest! {
        #[test]
        fn never_two_drops_in_a_row(ready in prop::collection::vec(0_usize..5, 1..100)) {
            let mut policy = LateFramePolicy::default();
            let shown = ready.iter().map(|ready| policy.choose(*ready)).filter(|choice| *choice != LateChoice::Repeat);
            let shown: Vec<_> = shown.collect();
            prop_assert!(shown.windows(2).all(|pair| pair != [LateChoice::SkipOldest; 2]));
        }
    }
}
