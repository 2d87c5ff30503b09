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
//! The paper's 221 million pixels a second is just 2560 × 1440 × 60: it leaves out blanking. Here blanking is part of
//! the mode. A write that begins when the beam has [left](Beam::leaves) the rectangle is for the next scan-out.

use serde::{Deserialize, Serialize};

use crate::time::{Instant, Span};

/// The direction in which lines follow each other, seen on the panel as it is mounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
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
    /// The word shown to the user: `down`, `up`, `right` or `left`.
    pub const fn word(self) -> &'static str {
        match self {
            ScanDirection::Down => "down",
            ScanDirection::Up => "up",
            ScanDirection::Right => "right",
            ScanDirection::Left => "left",
        }
    }

    /// The direction after the content was mirrored (or not) and then turned anticlockwise by quarters onto the
    /// panel, as in `wl_output.transform`.
    pub const fn turned(self, is_mirrored: bool, quarter_turns: u8) -> Self {
        let direction = self.rotated(quarter_turns);
        match direction {
            ScanDirection::Right if is_mirrored => ScanDirection::Left,
            ScanDirection::Left if is_mirrored => ScanDirection::Right,
            _ => direction,
        }
    }

    /// The panel's direction in a space that is turned onto the panel anticlockwise by quarters: the direction
    /// turns clockwise.
    const fn rotated(self, quarter_turns: u8) -> Self {
        let mut direction = self;
        let mut turn = 0;
        while turn < quarter_turns % 4 {
            direction = match direction {
                ScanDirection::Down => ScanDirection::Left,
                ScanDirection::Left => ScanDirection::Up,
                ScanDirection::Up => ScanDirection::Right,
                ScanDirection::Right => ScanDirection::Down,
            };
            turn += 1;
        }
        direction
    }
}

/// A rectangle in the physical pixels of an output or of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PixelRect {
    /// Left edge, in pixels.
    pub x: i32,
    /// Top edge, in pixels.
    pub y: i32,
    /// Width in pixels, never negative.
    pub width: i32,
    /// Height in pixels, never negative.
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

/// How a mode is scanned: lines at equal distances from `present` on, then blanking until the next refresh.
///
/// A panel with variable refresh waits in the blanking; it does not scan more slowly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beam {
    /// Width of the picture in pixels.
    pub width: i32,
    /// Height of the picture in pixels.
    pub height: i32,
    /// The direction of scan-out in the picture's space.
    pub direction: ScanDirection,
    /// From the start of line 0, which is `present`, to the end of the last visible line.
    pub active: Span,
}

/// Whether a write may go to the buffer that is being scanned out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteDecision {
    /// The write ends before the beam arrives, with this much time to spare.
    Fits(Span),
    /// The beam would arrive this long before the write ends.
    TooLate(Span),
    /// Pixels outside the rectangle changed too: the whole picture has to be replaced.
    OutsideDamage,
}

impl Beam {
    /// The scan of a picture of `width` × `height` pixels: one `interval` covers all visible lines and
    /// `blanking_lines`.
    pub fn with_blanking(
        (width, height): (i32, i32),
        blanking_lines: i32,
        direction: ScanDirection,
        interval: Span,
    ) -> Self {
        let scan = Beam { width, height, direction, active: interval };
        let visible = i64::from(scan.lines());
        Beam { active: interval.scale(visible, visible + i64::from(blanking_lines.max(0))), ..scan }
    }

    /// The number of visible lines (rows or columns), at least one.
    pub fn lines(&self) -> i32 {
        let lines = match self.direction {
            ScanDirection::Down | ScanDirection::Up => self.height,
            ScanDirection::Left | ScanDirection::Right => self.width,
        };
        lines.max(1)
    }

    /// The duration of one line, rounded down. For display only: rounding errors add up.
    pub fn line_time(&self) -> Span {
        self.active / i64::from(self.lines())
    }

    /// When line `line` is read in the scan-out that begins at `present`.
    pub fn line_start(&self, present: Instant, line: i32) -> Instant {
        present + self.active.scale(i64::from(line), i64::from(self.lines()))
    }

    /// How many lines were read before `now` in the scan-out that began at `present`: 0 to all. A line that is read
    /// at `now` itself still shows a write made at `now`.
    pub fn lines_read(&self, present: Instant, now: Instant) -> i32 {
        let (elapsed, lines) = (now - present, self.lines());
        if elapsed >= self.active {
            return lines;
        }
        let nanos = self.active.as_nanos().max(1);
        let line = elapsed.max(Span::ZERO).scale(i64::from(lines), nanos).as_nanos() as i32;
        // Rounded down: the next line may have been read already. Rounding never errs by more than one line.
        let first_unread = (line..).find(|&line| line >= lines || self.line_start(present, line) >= now);
        first_unread.unwrap_or(lines).min(lines)
    }

    /// The line that is scanned out at `now`, for a scan-out that began at `present`; `None` in blanking or before.
    pub fn line_at(&self, present: Instant, now: Instant) -> Option<i32> {
        let since = now - present;
        if since.is_negative() || since >= self.active {
            return None;
        }
        Some(since.scale(i64::from(self.lines()), self.active.as_nanos().max(1)).as_nanos() as i32)
    }

    /// The first line that contains a pixel of `rect`, clipped to the picture.
    pub fn first_line(&self, rect: &PixelRect) -> i32 {
        let line = match self.direction {
            ScanDirection::Down => rect.y,
            ScanDirection::Up => self.height - (rect.y + rect.height),
            ScanDirection::Right => rect.x,
            ScanDirection::Left => self.width - (rect.x + rect.width),
        };
        line.clamp(0, self.lines())
    }

    /// The line after the last one that contains a pixel of `rect`, clipped to the picture.
    pub fn end_line(&self, rect: &PixelRect) -> i32 {
        let line = match self.direction {
            ScanDirection::Down => rect.y + rect.height,
            ScanDirection::Up => self.height - rect.y,
            ScanDirection::Right => rect.x + rect.width,
            ScanDirection::Left => self.width - rect.x,
        };
        line.clamp(0, self.lines())
    }

    /// When the beam enters `rect` in the scan-out that begins at `present`.
    pub fn enters(&self, present: Instant, rect: &PixelRect) -> Instant {
        self.line_start(present, self.first_line(rect))
    }

    /// When the beam has read all of `rect` in the scan-out that begins at `present`. Later writes are seen in the
    /// next scan-out.
    pub fn leaves(&self, present: Instant, rect: &PixelRect) -> Instant {
        self.line_start(present, self.end_line(rect))
    }

    /// The position-aware decision (PAR): may a write into `rect` that starts at `now` and takes at most `cost` go
    /// to the buffer whose scan-out begins or began at `present`?
    ///
    /// `damage` is the region that the write changes, if known; `margin` is kept free before the beam. A rectangle
    /// that the beam has passed is too late: a write there would be seen a refresh later than a new buffer.
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
        Beam::with_blanking((1000, 1000), 250, direction, Span::from_micros(12_500))
    }

    #[test]
    fn lines_follow_the_interval_and_blanking_shows_none() {
        let beam = beam(ScanDirection::Down);
        let line = |micros| beam.line_at(PRESENT, PRESENT + Span::from_micros(micros));
        assert_eq!(
            [-1, 0, 9, 10, 9_999, 10_000, 12_499].map(line),
            [None, Some(0), Some(0), Some(1), Some(999), None, None]
        );
        assert_eq!(beam.line_time(), Span::from_micros(10));
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
            assert_eq!(
                beam(direction).leaves(PRESENT, &rect),
                PRESENT + Span::from_micros(10 * (lines + 200)),
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
                    prop_assert!(beam.first_line(&rect) >= beam.lines());
                }
            }
        }

        #[test]
        fn lines_read_is_the_count_of_lines_whose_time_has_passed(
            height in 1i32..3_000, interval in 1_000_000i64..1_000_000_000, elapsed in -10i64..1_100_000_000,
        ) {
            let beam = Beam::with_blanking((1, height), height / 20, ScanDirection::Down, Span::from_nanos(interval));
            let now = PRESENT + Span::from_nanos(elapsed);
            let counted = (0..height).filter(|&line| beam.line_start(PRESENT, line) < now).count();
            prop_assert_eq!(beam.lines_read(PRESENT, now), counted as i32);
        }
    }
}
