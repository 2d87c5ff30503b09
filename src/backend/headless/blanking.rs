//! The vertical blanking of a mode, before which a frame must be complete.
//!
//! A virtual display has no blanking of its own. To be as strict as a real display it takes the timing of a monitor
//! with that mode: CTA-861 for the television modes, VESA CVT 1.2 with reduced blanking (version 1) otherwise.

use crate::backend::VideoMode;
use upbeat_timing::time::Span;

/// CVT 1.2, section 3.4.2: the shortest vertical blanking with reduced blanking, in nanoseconds (460 µs).
const CVT_RB_MIN_BLANK_NANOS: i64 = 460_000;
/// CVT 1.2: front porch (3 lines), the longest vertical sync (10 lines) and the shortest back porch (6 lines).
const CVT_RB_MIN_BLANK_LINES: i64 = 3 + 10 + 6;
/// 640x480: 45 of 525 lines, the largest share of the standard modes.
const VGA_BLANK_LINES: i64 = 45;
const VGA_LINES: i64 = 480;
/// `submit_lead` is never shorter: no driver reliably makes the vblank with less.
pub const SHORTEST_SUBMIT_LEAD: Span = Span::from_micros(500);

/// (width, height, total lines) of the progressive CTA-861 formats; the line count is the same at all their rates.
const CTA_TOTAL_LINES: [(i32, i32, i64); 4] =
    [(640, 480, 525), (1280, 720, 750), (1920, 1080, 1125), (3840, 2160, 2250)];
/// The rates of these formats, in whole hertz; each exists at 1000/1001 of its rate too.
const CTA_RATES: [u32; 7] = [24, 25, 30, 50, 60, 100, 120];

/// The length of the vertical blanking of `mode`: from the end of the last visible line to the start of line 0.
pub fn vertical_blanking(mode: VideoMode) -> Span {
    let interval = mode.interval();
    let visible = i64::from(mode.height.max(1));
    let total = cta_total_lines(mode).unwrap_or_else(|| visible + cvt_reduced_blank_lines(visible, interval));
    interval.scale(total - visible, total)
}

/// How long before a vblank a frame must be complete, unless the user configures another lead.
pub fn default_submit_lead(mode: VideoMode) -> Span {
    vertical_blanking(mode).max(SHORTEST_SUBMIT_LEAD)
}

fn cta_total_lines(mode: VideoMode) -> Option<i64> {
    let rate_known = CTA_RATES.iter().any(|&rate| {
        let exact = rate * 1_000;
        mode.refresh == exact || mode.refresh.abs_diff(exact - rate) <= 1
    });
    let &(_, _, total) = CTA_TOTAL_LINES.iter().find(|&&(w, h, _)| (w, h) == (mode.width, mode.height))?;
    rate_known.then_some(total)
}

fn cvt_reduced_blank_lines(visible: i64, interval: Span) -> i64 {
    // Above one frame per 460 µs there is no CVT timing; keep half of the interval for the picture.
    let blank = CVT_RB_MIN_BLANK_NANOS.min(interval.as_nanos() / 2).max(1);
    let active = (interval.as_nanos() - blank).max(1);
    // The lines that fit into the blanking at the estimated line period `active / visible`, plus one (equation 10).
    // For a tiny picture the standard's minimum of lines would take most of the interval, so it is limited to VGA's
    // share.
    let fewest = CVT_RB_MIN_BLANK_LINES.min(visible * VGA_BLANK_LINES / VGA_LINES);
    (blank * visible / active + 1).max(fewest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(width: i32, height: i32, refresh: u32) -> i64 {
        vertical_blanking(VideoMode { width, height, refresh }).as_nanos() / 1_000
    }

    #[test]
    fn known_modes_have_their_published_blanking() {
        // CTA-861 VIC 16: 45 of 1125 lines. VIC 97: 90 of 2250. VIC 4: 30 of 750. VIC 1: 45 of 525.
        assert_eq!(micros(1920, 1080, 60_000), 666);
        assert_eq!(micros(1920, 1080, 59_940), 667);
        assert_eq!(micros(3840, 2160, 60_000), 666);
        assert_eq!(micros(1280, 720, 60_000), 666);
        assert_eq!(micros(640, 480, 59_940), 1_430);
        // `cvt -r 1920 1200 60`: 35 of 1235 lines.
        assert_eq!(micros(1920, 1200, 60_000), 472);
        // A 2560x1440 monitor at 144 Hz: at least 460 µs, and less than one line above that.
        assert!((460..=465).contains(&micros(2560, 1440, 144_000)));
    }

    #[test]
    fn a_mode_of_any_shape_keeps_some_time_for_the_picture() {
        for (height, refresh) in [(1, 1_000), (1, 1_000_000), (100, 1_000_000), (16_384, 1_000_000)] {
            let mode = VideoMode { width: 10, height, refresh };
            let blank = vertical_blanking(mode);
            assert!(blank > Span::ZERO && blank < mode.interval(), "{mode:?}: {blank}");
        }
    }

    #[test]
    fn a_tiny_picture_is_not_mostly_blanking() {
        assert!(micros(64, 64, 60_000) < 1_600);
    }

    #[test]
    fn the_submit_lead_is_never_under_half_a_millisecond() {
        assert_eq!(default_submit_lead(VideoMode { width: 1920, height: 1200, refresh: 60_000 }), SHORTEST_SUBMIT_LEAD);
        assert!(default_submit_lead(VideoMode { width: 1920, height: 1080, refresh: 60_000 }) > SHORTEST_SUBMIT_LEAD);
    }
}
