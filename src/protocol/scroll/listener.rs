//! Sends events to the client of a scroll view.

use smithay::reexports::wayland_server::Resource as _;

use super::generated::upbeat_scroll_view_v1::{self as wire, UpbeatScrollViewV1};
use crate::bounds::DocumentUnit;
use crate::surface::scroll::{ScrollListener, ScrollModeReason, ViewScrollMode};
use upbeat_timing::scroll::{DocumentRegion, ScrollSide, ViewPosition};
use upbeat_timing::time::{Instant, NANOS_PER_SECOND};

/// The protocol version since which clients know the modes and reasons of planes.
const PLANES_SINCE: u32 = 3;

impl ScrollListener for UpbeatScrollViewV1 {
    fn send_budget(&self, pixels: i64) {
        self.budget(u32::try_from(pixels / 1_000).unwrap_or(u32::MAX));
    }

    fn knows_planes(&self) -> bool {
        self.version() >= PLANES_SINCE
    }

    fn send_effective(&self, mode: ViewScrollMode, reason: ScrollModeReason) {
        let mode = match mode {
            ViewScrollMode::Still => wire::Mode::Still,
            ViewScrollMode::Composited => wire::Mode::Composited,
            ViewScrollMode::Overlay => wire::Mode::Overlay,
        };
        let reason = match reason {
            ScrollModeReason::NoPlane => wire::Reason::NoPlane,
            ScrollModeReason::Buffer => wire::Reason::Buffer,
            ScrollModeReason::Appearance => wire::Reason::Appearance,
            ScrollModeReason::Covered => wire::Reason::Covered,
            ScrollModeReason::Refused => wire::Reason::Refused,
            ScrollModeReason::Policy => wire::Reason::Policy,
            ScrollModeReason::NoContent => wire::Reason::NoContent,
            ScrollModeReason::Nesting => wire::Reason::Nesting,
            ScrollModeReason::Changing => wire::Reason::Changing,
        };
        self.effective(mode, reason);
    }

    fn send_wanted(&self, region: DocumentRegion, by: Instant) {
        let unit = |value: i64| DocumentUnit::new(value).to_wire();
        let (seconds_high, seconds_low, nanos) = time(by);
        let (x, y) = (region.x, region.y);
        self.wanted(unit(x.start), unit(y.start), unit(x.length), unit(y.length), seconds_high, seconds_low, nanos);
    }

    fn send_low_water(&self, side: ScrollSide, left: i64, until: Instant) {
        let side = match side {
            ScrollSide::Left => wire::Side::Left,
            ScrollSide::Right => wire::Side::Right,
            ScrollSide::Up => wire::Side::Up,
            ScrollSide::Down => wire::Side::Down,
        };
        let (seconds_high, seconds_low, nanos) = time(until);
        self.low_water(side, u32::try_from(left).unwrap_or(0), seconds_high, seconds_low, nanos);
    }

    fn send_rest(&self, at: ViewPosition) {
        let ((x, x_fraction), (y, y_fraction)) = (parts(at.offset.0), parts(at.offset.1));
        self.rest(x, y, x_fraction, y_fraction, at.serial);
    }

    fn send_offset(&self, at: ViewPosition, present: Instant) {
        let ((x, x_fraction), (y, y_fraction)) = (parts(at.offset.0), parts(at.offset.1));
        let (seconds_high, seconds_low, nanos) = time(present);
        let (vx, vy) = (fixed(at.velocity.x), fixed(at.velocity.y));
        self.offset(x, y, x_fraction, y_fraction, vx, vy, at.serial, seconds_high, seconds_low, nanos);
    }
}

/// The largest integer in `wl_fixed`, which has 24 bits before the point.
const MOST_FIXED: f64 = 8_388_607.0;

fn fixed(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(-MOST_FIXED, MOST_FIXED) }
}

/// The integer part (rounded down) and the fraction.
fn parts(offset: f64) -> (i32, f64) {
    let whole = DocumentUnit::from_f64(offset);
    (whole.to_wire(), (offset - whole.get() as f64).clamp(0.0, 1.0))
}

/// High and low 32 bits of the seconds, and nanoseconds.
const fn time(at: Instant) -> (u32, u32, u32) {
    let (seconds, nanos) = (at.as_nanos() / NANOS_PER_SECOND as u64, at.as_nanos() % NANOS_PER_SECOND as u64);
    ((seconds >> 32) as u32, seconds as u32, nanos as u32)
}
