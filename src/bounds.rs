//! Bounds for numbers that clients send. Smithay adds and multiplies them in `i32` (a debug build would panic on an
//! overflow) and asserts that sizes are not negative, so they are brought into range before it sees them. No screen or
//! window comes near the limits.

/// The largest coordinate, offset or size that is passed on, in pixels or logical pixels. Products of two of them fit
/// an `i64` with room to spare, and sums of thousands of them fit an `i32`.
pub const MAX_EXTENT: i32 = 1 << 18;

/// The largest integer buffer scale that makes sense.
pub const MAX_SCALE: i32 = 64;

/// How deeply subsurfaces (or popups) may be nested: Smithay walks the tree by recursion.
pub const MAX_NESTING: usize = 64;

/// How many subsurfaces may hang on a surface, at any depth. A frame that moves one subsurface walks the whole tree, at
/// some microseconds each. No known program has more than a few dozen subsurfaces in one window.
pub const MAX_PARTS: usize = 1_024;

/// How many of these subsurfaces may have another subsurface as their parent, at any depth, instead of the window
/// itself. With each commit of a synchronised subsurface, Smithay commits all its descendants too, changed or not, at
/// some 20 µs each: with a thousand, 4 KB of requests took 1.5 s. No known program has more than one. A scroll view has
/// 64 contents, so the limit allows three scroll views nested in each other.
pub const MAX_DEEP_PARTS: usize = 192;

/// The coordinate, clamped to `±MAX_EXTENT`.
pub fn coordinate(value: i32) -> i32 {
    value.clamp(-MAX_EXTENT, MAX_EXTENT)
}

/// The size, clamped to `0..=MAX_EXTENT`.
pub fn extent(value: i32) -> i32 {
    value.clamp(0, MAX_EXTENT)
}

/// The part of the interval `start .. start + length` that lies in range, as a start and a length. Keeps the meaning of
/// "everything" (`0, i32::MAX`, as clients damage) where clamping start and length apart would not.
pub fn interval(start: i32, length: i32) -> (i32, i32) {
    let end = coordinate_wide(i64::from(start) + i64::from(length.max(0)));
    let start = coordinate(start);
    (start, (end - start).max(0))
}

fn coordinate_wide(value: i64) -> i32 {
    value.clamp(i64::from(-MAX_EXTENT), i64::from(MAX_EXTENT)) as i32
}

/// The coordinate, clamped to `±MAX_EXTENT`; NaN becomes zero.
pub fn coordinate_f64(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(f64::from(-MAX_EXTENT), f64::from(MAX_EXTENT)) }
}

/// A position or a length in a scrolled document. Documents are longer than any window. The wire carries 32 bits, and
/// each result is clamped to that range again, so that the sum of two values never overflows the 64 bits used here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentUnit(i64);

impl DocumentUnit {
    pub const MAX: DocumentUnit = DocumentUnit(i32::MAX as i64);
    pub const MIN: DocumentUnit = DocumentUnit(i32::MIN as i64);

    /// From a request's argument: every `i32` is in range.
    pub const fn from_wire(value: i32) -> Self {
        DocumentUnit(value as i64)
    }

    /// The value, clamped to `MIN..=MAX`.
    pub const fn new(value: i64) -> Self {
        if value < Self::MIN.0 {
            Self::MIN
        } else if value > Self::MAX.0 {
            Self::MAX
        } else {
            DocumentUnit(value)
        }
    }

    /// Rounds down and clamps; NaN becomes zero.
    pub fn from_f64(value: f64) -> Self {
        // The cast saturates.
        Self::new(value.floor() as i64)
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// As the argument of an event.
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
        fn document_positions_keep_wire_values_and_stay_in_range(wire: i32, wide: i64, fraction: f64) {
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
        fn clamped_interval_is_in_range_and_inside_the_original(start: i32, length: i32) {
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
