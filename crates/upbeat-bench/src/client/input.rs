//! Encodes an event number in a pointer position. Pure.
//!
//! Wayland reports the pointer's position, not the event that put it there. So the injector moves the pointer to a
//! position inside the window that *is* the number, one pixel for each, and the window decodes it from its
//! surface-local coordinates. The newest number is known even if the compositor merges or drops motion events.

use crate::block_code;

/// Size of the probe's window in pixels.
pub(crate) const WINDOW: (usize, usize) = (block_code::WIDTH, 3 * block_code::HEIGHT);
/// Pixels kept free at every edge, where a compositor may grab the pointer to resize the window.
const MARGIN: u32 = 24;
/// Numbers in a row of pixels.
const ROW: u32 = WINDOW.0 as u32 - 2 * MARGIN;
/// Distinct numbers before the positions repeat: half an hour at 30 events a second.
const POSITIONS: u32 = ROW * (WINDOW.1 as u32 - 2 * MARGIN);

/// The surface-local position of event `number`: the centre of its pixel.
pub(super) fn position_of(number: u32) -> (f64, f64) {
    let index = number % POSITIONS;
    (f64::from(MARGIN + index % ROW) + 0.5, f64::from(MARGIN + index / ROW) + 0.5)
}

/// The event number at a surface-local position. Several numbers share a position: the result is the first at or above
/// `last`. `None` for a position outside the grid.
pub(super) fn number_at(x: f64, y: f64, last: u32) -> Option<u32> {
    let offset = |value: f64, limit: u32| {
        let index = value.floor() - f64::from(MARGIN);
        (index >= 0.0 && index < f64::from(limit)).then_some(index as u32)
    };
    let index = offset(y, POSITIONS / ROW)? * ROW + offset(x, ROW)?;
    let ahead = (index + POSITIONS - last % POSITIONS) % POSITIONS;
    last.checked_add(ahead)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_number_reads_back_from_its_position(last in 0..u32::MAX / 2, ahead in 0..POSITIONS) {
            let (x, y) = position_of(last + ahead);
            prop_assert_eq!(number_at(x, y, last), Some(last + ahead));
        }

        #[test]
        fn wayland_rounding_does_not_change_the_number(number in 0..POSITIONS, dx in -0.4..0.4, dy in -0.4..0.4) {
            let (x, y) = position_of(number);
            prop_assert_eq!(number_at(x + dx, y + dy, 0), Some(number));
        }
    }

    #[test]
    fn a_position_at_the_edge_stands_for_nothing() {
        assert_eq!(number_at(3.0, 100.0, 0), None);
        assert_eq!(number_at(319.0, 100.0, 0), None);
        assert_eq!(number_at(100.0, 239.0, 0), None);
        assert_eq!(number_at(-5.0, 100.0, 0), None);
    }
}
