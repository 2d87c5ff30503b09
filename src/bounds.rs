//! Bounds for numbers that clients send. Smithay adds and multiplies them in `i32` (a debug build would panic on an
//! overflow) and asserts that sizes are not negative, so they are brought into range before it sees them. No screen
//! or window comes near the limits.

/// The largest coordinate, offset or size that is passed on, in pixels or logical pixels. Products of two of them fit
/// an `i64` with room to spare, and sums of thousands of them fit an `i32`.
pub const MAX_EXTENT: i32 = 1 << 18;

/// The largest integer buffer scale that makes sense.
pub const MAX_SCALE: i32 = 64;

/// How deeply subsurfaces (or popups) may be nested: Smithay walks the tree by recursion.
pub const MAX_NESTING: usize = 64;

/// How many subsurfaces may hang on a surface, at any depth: all of a tree are looked at in a frame in which one of them is
/// moved, some microseconds each. Of known programs none has more than a few dozen in one window.
pub const MAX_PARTS: usize = 1_024;

/// How many of them may hang on another part, at any depth, instead of on the window itself. Smithay takes all that hangs on a
/// synchronised part along with each commit of it, whether or not that has anything new, some 20 µs each: with a thousand, 4 KB
/// of requests took 1.5 s. Of known programs none has more than one; a view that is scrolled has 64 contents, and this is three of
/// them in each other.
pub const MAX_DEEP_PARTS: usize = 192;

/// A coordinate brought into range.
pub fn coordinate(value: i32) -> i32 {
    value.clamp(-MAX_EXTENT, MAX_EXTENT)
}

/// A size brought into range; negative sizes become zero.
pub fn extent(value: i32) -> i32 {
    value.clamp(0, MAX_EXTENT)
}

/// The part of the interval `start .. start + length` that lies in range, as a start and a length. Keeps the
/// meaning of "everything" (`0, i32::MAX`, as clients damage) where clamping start and length apart would not.
pub fn interval(start: i32, length: i32) -> (i32, i32) {
    let end = coordinate_wide(i64::from(start) + i64::from(length.max(0)));
    let start = coordinate(start);
    (start, (end - start).max(0))
}

fn coordinate_wide(value: i64) -> i32 {
    value.clamp(i64::from(-MAX_EXTENT), i64::from(MAX_EXTENT)) as i32
}

/// A floating-point coordinate brought into range; what is not a number becomes zero.
pub fn coordinate_f64(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(f64::from(-MAX_EXTENT), f64::from(MAX_EXTENT)) }
}

/// A position in a document that is scrolled over, or a length of it. Documents are longer than any window: positions have
/// the 32 bits that the wire has for them, and what is made of them stays in that range, too, so that no sum of two ever
/// overflows the 64 bits in which they are reckoned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentUnit(i64);

impl DocumentUnit {
    /// The largest.
    pub const MAX: DocumentUnit = DocumentUnit(i32::MAX as i64);
    /// The smallest.
    pub const MIN: DocumentUnit = DocumentUnit(i32::MIN as i64);

    /// As a client says it: every value is in range.
    pub const fn from_wire(value: i32) -> Self {
        DocumentUnit(value as i64)
    }

    /// Brought into range.
    pub const fn new(value: i64) -> Self {
        if value < Self::MIN.0 {
            Self::MIN
        } else if value > Self::MAX.0 {
            Self::MAX
        } else {
            DocumentUnit(value)
        }
    }

    /// A fraction, rounded down, brought into range; what is not a number becomes zero.
    pub fn from_f64(value: f64) -> Self {
        // The cast saturates.
        Self::new(value.floor() as i64)
    }

    /// As a number.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// As an event carries it.
    pub const fn to_wire(self) -> i32 {
        self.0 as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn positions_in_documents_keep_what_the_wire_says_and_stay_in_its_range(wire: i32, wide: i64, fraction: f64) {
            prop_assert_eq!(DocumentUnit::from_wire(wire).to_wire(), wire);
            prop_assert_eq!(DocumentUnit::from_wire(wire).get(), i64::from(wire));
            for unit in [DocumentUnit::new(wide), DocumentUnit::from_f64(fraction)] {
                prop_assert!(unit >= DocumentUnit::MIN && unit <= DocumentUnit::MAX);
                prop_assert_eq!(i64::from(unit.to_wire()), unit.get());
            }
        }
    }

    #[test]
    fn fractions_of_documents_are_rounded_down_on_both_sides_of_their_origin() {
        let round = |value| DocumentUnit::from_f64(value).get();
        assert_eq!((round(-0.5), round(0.5), round(f64::NAN), round(1e300)), (-1, 0, 0, i64::from(i32::MAX)));
    }

    proptest! {
        #[test]
        fn any_interval_comes_out_in_range_and_inside_what_was_asked(start: i32, length: i32) {
            let (clamped_start, clamped_length) = interval(start, length);
            prop_assert!(clamped_length >= 0);
            prop_assert!(clamped_start.abs() <= MAX_EXTENT && clamped_start + clamped_length <= MAX_EXTENT);
            if start.abs() <= MAX_EXTENT && (0..=MAX_EXTENT).contains(&length) && start + length <= MAX_EXTENT {
                prop_assert_eq!((clamped_start, clamped_length), (start, length), "what is in range stays as it is");
            }
        }
    }

    #[test]
    fn damaging_everything_still_covers_the_surface() {
        assert_eq!(interval(0, i32::MAX), (0, MAX_EXTENT));
    }
}
