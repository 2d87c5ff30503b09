//! The direct method: how far the ink lies behind the hand, divided by the hand's speed, as a camera sees it (Presto
//! 5.1.1). It needs no number of a report in the picture, so it is a check of event→row.
//!
//! ```text
//!   hand      ───────────●──►  v         at a camera's moment t
//!   ink       ─────■─────┤
//!                  └ L_p − L_s           latency = (L_p − L_s) / v
//! ```
//!
//! A camera's moments have no fixed phase, so the ink is looked at once a millisecond for as long as it is lit. Then the
//! mean is comparable with the mean of event→row: each picture is seen from its first light to the light of the next.

use super::hand::{SentReport, position};
use upbeat_timing::time::{Instant, Span};

/// Time between two looks.
const LOOK: Span = Span::from_millis(1);
/// The hand's speed is taken over this time before and after a look: reports come at 125 Hz or more.
const AROUND_LOOK: Span = Span::from_millis(10);
/// The slowest hand that is looked at, in pixels a second. Below it, rounding to pixels decides the result.
const SLOWEST: f64 = 100.0;
/// The latest look after the light of a picture: a hand that rests leaves its ink on screen.
const LATEST_LOOK: Span = Span::from_millis(50);
/// How far the speed may change between the look and the ink's moment, as a share of it: where the hand brakes or
/// turns, distance over speed is no time.
const MOST_CHANGE: f64 = 0.1;

/// Ink on screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct LitInk {
    /// Its position in pixels.
    pub at: (f64, f64),
    /// The light of its row, and the light of the ink that follows it.
    pub light: Instant,
    pub until: Instant,
}

/// Latencies by the direct method, one for each look at steadily moving ink.
pub(super) fn latencies(sent: &[SentReport], seen: &[LitInk]) -> Vec<Span> {
    let mut latencies = Vec::new();
    for ink in seen {
        let end = ink.until.min(ink.light + LATEST_LOOK);
        let mut at = ink.light;
        while at < end {
            latencies.extend(latency_at(sent, ink.at, at));
            at += LOOK;
        }
    }
    latencies
}

/// The latency of ink at `ink` at the moment `at`; `None` where the hand does not move steadily.
fn latency_at(sent: &[SentReport], ink: (f64, f64), at: Instant) -> Option<Span> {
    let hand = position(sent, at)?;
    let (vx, vy) = velocity(sent, at)?;
    let speed = vx.hypot(vy);
    if speed < SLOWEST {
        return None;
    }
    let behind = ((hand.0 - ink.0) * vx + (hand.1 - ink.1) * vy) / speed;
    let latency = Span::from_millis_f64(1e3 * behind / speed);
    let (before_x, before_y) = velocity(sent, at - latency)?;
    let is_steady = (before_x - vx).hypot(before_y - vy) <= MOST_CHANGE * speed;
    is_steady.then_some(latency)
}

/// The hand's velocity around `at`, in pixels a second.
fn velocity(sent: &[SentReport], at: Instant) -> Option<(f64, f64)> {
    let before = position(sent, at - AROUND_LOOK)?;
    let after = position(sent, at + AROUND_LOOK)?;
    let seconds = (AROUND_LOOK * 2).as_seconds_f64();
    Some(((after.0 - before.0) / seconds, (after.1 - before.1) / seconds))
}
