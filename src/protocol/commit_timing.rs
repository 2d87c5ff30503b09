//! `wp_commit_timing_manager_v1` 1, unmanaged: Smithay stores the time stamp
//! ([`CommitTimerStateUserData`](smithay::wayland::commit_timing::CommitTimerStateUserData)), and the content-update
//! queue holds the update back until then.
//!
//! Stamps are checked here first: Smithay 0.7 accepts any, and a stamp with too many nanoseconds panics a debug build
//! when it is converted.

use smithay::reexports::wayland_protocols::wp::commit_timing::v1::server::wp_commit_timer_v1::{self, WpCommitTimerV1};
use smithay::reexports::wayland_protocols::wp::commit_timing::v1::server::wp_commit_timing_manager_v1::WpCommitTimingManagerV1;
use smithay::reexports::wayland_server::backend::ClientId;
use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Client, DataInit, Dispatch, DisplayHandle, Resource, Weak};
use smithay::wayland::commit_timing::CommitTimingManagerState;

use super::dispatch_guard::delegate;
use crate::guard::Handlers;
use crate::state::State;
use upbeat_timing::time::NANOS_PER_SECOND;

delegate!(global WpCommitTimingManagerV1: bool => CommitTimingManagerState);
delegate!(WpCommitTimingManagerV1: bool => CommitTimingManagerState);

/// The last second that nanoseconds in an `i64` can express: 292 years of uptime.
const LAST_SECOND: u64 = (i64::MAX / NANOS_PER_SECOND) as u64 - 1;

/// The stamp in a range that the queue can convert; `None` when the nanoseconds are no fraction of a second.
fn bounded_stamp(seconds_high: u32, seconds_low: u32, nanos: u32) -> Option<(u32, u32)> {
    if i64::from(nanos) >= NANOS_PER_SECOND {
        return None;
    }
    let seconds = (u64::from(seconds_high) << 32 | u64::from(seconds_low)).min(LAST_SECOND);
    Some(((seconds >> 32) as u32, seconds as u32))
}

impl Dispatch<WpCommitTimerV1, Weak<WlSurface>, State> for Handlers {
    fn request(
        state: &mut State,
        client: &Client,
        timer: &WpCommitTimerV1,
        request: wp_commit_timer_v1::Request,
        data: &Weak<WlSurface>,
        display: &DisplayHandle,
        init: &mut DataInit<'_, State>,
    ) {
        let request = match request {
            wp_commit_timer_v1::Request::SetTimestamp { tv_sec_hi, tv_sec_lo, tv_nsec } => {
                let Some((tv_sec_hi, tv_sec_lo)) = bounded_stamp(tv_sec_hi, tv_sec_lo, tv_nsec) else {
                    timer.post_error(
                        wp_commit_timer_v1::Error::InvalidTimestamp,
                        format!("tv_nsec is {tv_nsec}, which is a second or more"),
                    );
                    return;
                };
                wp_commit_timer_v1::Request::SetTimestamp { tv_sec_hi, tv_sec_lo, tv_nsec }
            }
            other => other,
        };
        <CommitTimingManagerState as Dispatch<WpCommitTimerV1, Weak<WlSurface>, State>>::request(
            state, client, timer, request, data, display, init,
        );
    }

    fn destroyed(state: &mut State, client: ClientId, timer: &WpCommitTimerV1, data: &Weak<WlSurface>) {
        <CommitTimingManagerState as Dispatch<WpCommitTimerV1, Weak<WlSurface>, State>>::destroyed(
            state, client, timer, data,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_are_fractions_of_a_second_and_lie_within_the_clock() {
        assert_eq!(bounded_stamp(0, 5, 999_999_999), Some((0, 5)));
        assert_eq!(bounded_stamp(0, 5, 1_000_000_000), None);
        let (high, low) = bounded_stamp(u32::MAX, u32::MAX, 999_999_999).unwrap();
        assert_eq!(u64::from(high) << 32 | u64::from(low), LAST_SECOND);
    }
}
