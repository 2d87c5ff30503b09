//! The beam: which line of a display is being scanned out, and whether a write ends before the beam comes.
//!
//! Presto 3.2 (JEP, PAR). A display reads its buffer line by line, so that a small rectangle low on the screen may
//! still be written while the top is already being shown, without tearing:
//!
//! ```text
//!  present ─► line 0    ────────────────
//!             …          already shown
//!  now     ─► beam ═════════════════════
//!             …          not shown yet      deadline of the rectangle =
//!             top    ┌──────┐                 present + lines above it × line time − margin
//!                    │ rect │
//!                    └──────┘
//!             last line ─────────────────
//!             blanking (no line is shown)
//! ```
//!
//! The paper's 221 million pixels a second is just 2560 × 1440 × 60: it leaves out blanking. Here the lines of
//! blanking are part of the mode, or learned as the share of the interval in which nothing is shown.

use crate::time::{Instant, Span};

/// The direction in which lines follow each other, seen on the panel as it is mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanDirection {
    /// From the top to the bottom: nearly every panel.
    #[default]
    Down,
    /// From the bottom to the top.
    Up,
    /// From the left to the right: a portrait panel mounted in landscape.
    Right,
    /// From the right to the left.
    Left,
}

impl ScanDirection {
    /// The direction as seen in an output's logical space when its content is rotated by quarter turns clockwise, as
    /// `wl_output.transform` counts them.
    pub const fn rotated(self, quarter_turns: u8) -> Self {
        let mut direction = self;
        let mut turn = 0;
        while turn < quarter_turns % 4 {
            direction = match direction {
                ScanDirection::Down => ScanDirection::Right,
                ScanDirection::Right => ScanDirection::Up,
                ScanDirection::Up => ScanDirection::Left,
                ScanDirection::Left => ScanDirection::Down,
            };
            turn += 1;
        }
        direction
    }
}

/// A rectangle in pixels of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width, positive.
    pub width: i32,
    /// Height, positive.
    pub height: i32,
}

impl PixelRect {
    /// The square of `size` around a point, as PAR has it (200 × 200 around the finger).
    pub const fn around(x: i32, y: i32, size: i32) -> Self {
        PixelRect { x: x - size / 2, y: y - size / 2, width: size, height: size }
    }

    /// Whether `other` lies inside.
    pub const fn contains(&self, other: &PixelRect) -> bool {
        other.x >= self.x
            && other.y >= self.y
            && other.x + other.width <= self.x + self.width
            && other.y + other.height <= self.y + self.height
    }
}

/// How a mode scans out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beam {
    /// Width of the picture in pixels.
    pub width: i32,
    /// Height of the picture in pixels.
    pub height: i32,
    /// The lines of blanking after the last visible line.
    pub blanking_lines: i32,
    /// The direction of scan-out in the output's space.
    pub direction: ScanDirection,
    /// The interval of the mode; what a VRR display adds to it is blanking.
    pub interval: Span,
}

/// Whether a write may go to the buffer that is on screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteDecision {
    /// It ends before the beam comes; the spare time.
    Fits(Span),
    /// The beam would be there by this much before it ends.
    TooLate(Span),
    /// Something changed outside of the rectangle: the whole picture has to be replaced.
    OutsideDamage,
}

impl Beam {
    fn visible_lines(&self) -> i32 {
        match self.direction {
            ScanDirection::Down | ScanDirection::Up => self.height,
            ScanDirection::Left | ScanDirection::Right => self.width,
        }
    }

    fn all_lines(&self) -> i64 {
        i64::from(self.visible_lines().max(1)) + i64::from(self.blanking_lines.max(0))
    }

    /// The line that is scanned out at `now`, for a scan-out that began at `present`; `None` in blanking or before.
    pub fn line_at(&self, present: Instant, now: Instant) -> Option<i32> {
        let since = now - present;
        if since.is_negative() || since >= self.interval {
            return None;
        }
        let line = since.scale(self.all_lines(), self.interval.as_nanos().max(1)).as_nanos();
        (line < i64::from(self.visible_lines())).then_some(line as i32)
    }

    /// The first line that contains a pixel of `rect`, clipped to the picture.
    pub fn first_line(&self, rect: &PixelRect) -> i32 {
        let line = match self.direction {
            ScanDirection::Down => rect.y,
            ScanDirection::Up => self.height - (rect.y + rect.height),
            ScanDirection::Right => rect.x,
            ScanDirection::Left => self.width - (rect.x + rect.width),
        };
        line.clamp(0, self.visible_lines())
    }

    /// When the beam enters `rect` in the scan-out that begins at `present`.
    pub fn enters(&self, present: Instant, rect: &PixelRect) -> Instant {
        present + self.interval.scale(i64::from(self.first_line(rect)), self.all_lines())
    }

    /// The position-aware decision (PAR): may a write into `rect` that starts at `now` and takes at most `cost` go to
    /// the buffer whose scan-out begins or began at `present`?
    ///
    /// `damage` is what the write changes, if that is known; `margin` is kept free before the beam. A rectangle that the
    /// beam has passed already is too late: what is written there is seen a refresh later than a new buffer would be.
    pub fn decide(
        &self,
        present: Instant,
        now: Instant,
        cost: Span,
        rect: &PixelRect,
        damage: Option<&PixelRect>,
        margin: Span,
    ) -> WriteDecision {
        if damage.is_some_and(|damage| !rect.contains(damage)) {
            return WriteDecision::OutsideDamage;
        }
        let spare = self.enters(present, rect) - (now + cost + margin);
        if spare.is_negative() { WriteDecision::TooLate(-spare) } else { WriteDecision::Fits(spare) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PRESENT: Instant = Instant::from_nanos(100_000_000);

    /// 1000 visible lines and 250 of blanking in 12.5 ms: 10 µs a line.
    fn beam(direction: ScanDirection) -> Beam {
        Beam { width: 1000, height: 1000, blanking_lines: 250, direction, interval: Span::from_micros(12_500) }
    }

    #[test]
    fn lines_follow_the_interval_and_blanking_shows_none() {
        let beam = beam(ScanDirection::Down);
        let line = |micros| beam.line_at(PRESENT, PRESENT + Span::from_micros(micros));
        assert_eq!(
            [-1, 0, 9, 10, 9_999, 10_000, 12_499].map(line),
            [None, Some(0), Some(0), Some(1), Some(999), None, None]
        );
    }

    #[test]
    fn the_deadline_depends_on_the_direction() {
        let rect = PixelRect { x: 100, y: 700, width: 200, height: 200 };
        for (direction, lines) in [
            (ScanDirection::Down, 700),
            (ScanDirection::Up, 100),
            (ScanDirection::Right, 100),
            (ScanDirection::Left, 700),
        ] {
            assert_eq!(
                beam(direction).enters(PRESENT, &rect),
                PRESENT + Span::from_micros(10 * lines),
                "{direction:?}"
            );
        }
        assert_eq!(ScanDirection::Down.rotated(4), ScanDirection::Down);
        assert_eq!(ScanDirection::Down.rotated(2), ScanDirection::Up);
    }

    #[test]
    fn a_write_fits_if_it_ends_before_the_beam_with_the_margin() {
        let beam = beam(ScanDirection::Down);
        let rect = PixelRect::around(500, 800, 200);
        let decide = |cost, damage: Option<&PixelRect>| {
            beam.decide(PRESENT, PRESENT, Span::from_micros(cost), &rect, damage, Span::from_micros(500))
        };
        assert_eq!(decide(6_000, None), WriteDecision::Fits(Span::from_micros(500)));
        assert_eq!(decide(6_600, None), WriteDecision::TooLate(Span::from_micros(100)));
        assert_eq!(decide(1, Some(&PixelRect { x: 0, y: 0, width: 1, height: 1 })), WriteDecision::OutsideDamage);
    }

    proptest! {
        #[test]
        fn a_write_that_fits_never_meets_the_beam(
            now in 0_i64..13_000, cost in 1_i64..13_000, x in -50_i32..1_050, y in -50_i32..1_050, turns in 0_u8..4
        ) {
            let beam = beam(ScanDirection::Down.rotated(turns));
            let rect = PixelRect::around(x, y, 100);
            let start = PRESENT + Span::from_micros(now);
            let decision = beam.decide(PRESENT, start, Span::from_micros(cost), &rect, None, Span::ZERO);
            if let WriteDecision::Fits(_) = decision {
                let end = start + Span::from_micros(cost);
                if let Some(line) = beam.line_at(PRESENT, end - Span::from_nanos(1)) {
                    prop_assert!(line < beam.first_line(&rect));
                } else {
                    prop_assert!(beam.first_line(&rect) >= beam.visible_lines());
                }
            }
        }
    }
}
