//! The frame pacing object: sends events of [`surface`](crate::surface) to its client.

use std::sync::{Mutex, MutexGuard, PoisonError};

use smithay::reexports::wayland_server::protocol::wl_surface::WlSurface;
use smithay::reexports::wayland_server::{Resource, Weak};

use super::generated::upbeat_frame_pacing_v1::{self as wire, UpbeatFramePacingV1};
use crate::surface::{
    CommitFault, FrameDiscardReason, FrameLedger, FrameListener, FrameResult, PresentPath, TargetRevokeReason,
};
use upbeat_timing::pacing::Pacing;
use upbeat_timing::surface_targets::{EffectivePacing, FramePacingReason, IssuedTarget, SurfaceTargetId};
use upbeat_timing::time::{Instant, NANOS_PER_SECOND, Span};

/// User data of a frame pacing object.
#[derive(Debug)]
pub(super) struct FramePacing {
    pub(in crate::protocol) surface: Weak<WlSurface>,
    ledger: Mutex<FrameLedger>,
}

impl FramePacing {
    pub(super) fn new(surface: &WlSurface) -> Self {
        FramePacing { surface: surface.downgrade(), ledger: Mutex::default() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, FrameLedger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FrameListener for UpbeatFramePacingV1 {
    fn ledger(&self) -> Option<MutexGuard<'_, FrameLedger>> {
        self.data::<FramePacing>().map(FramePacing::lock)
    }

    fn is_alive(&self) -> bool {
        Resource::is_alive(self)
    }

    fn send_target(&self, target: IssuedTarget, ready_by: Span, frames_ahead: u64) {
        let (high, low) = split(target.id.0);
        let (seconds_high, seconds_low, nanos) = time(target.present);
        let word = |span: Span| span.as_nanos().clamp(0, i64::from(u32::MAX)) as u32;
        let frames_ahead = u32::try_from(frames_ahead).unwrap_or(u32::MAX);
        self.target(high, low, seconds_high, seconds_low, nanos, word(ready_by), word(target.interval), frames_ahead);
    }

    fn send_revoked(&self, first: SurfaceTargetId, reason: TargetRevokeReason) {
        let (high, low) = split(first.0);
        let reason = match reason {
            TargetRevokeReason::Output => wire::RevokeReason::Output,
            TargetRevokeReason::Pacing => wire::RevokeReason::Pacing,
            TargetRevokeReason::Rebased => wire::RevokeReason::Rebased,
            TargetRevokeReason::Cancelled => wire::RevokeReason::Cancelled,
        };
        self.revoked(high, low, reason);
    }

    fn send_cancelled(&self, first: SurfaceTargetId) {
        let (high, low) = split(first.0);
        self.cancelled(high, low);
    }

    fn tell_effective(&self, effective: EffectivePacing) {
        let pacing = match effective.pacing {
            Pacing::Vsync | Pacing::VsyncLate => wire::Pacing::Vsync,
            Pacing::JustInTime => wire::Pacing::JustInTime,
            Pacing::Ahead => wire::Pacing::Ahead,
        };
        let reason = match effective.reason {
            FramePacingReason::Client => wire::Reason::Client,
            FramePacingReason::InteractiveInput => wire::Reason::InteractiveInput,
            FramePacingReason::Hidden => wire::Reason::Hidden,
            FramePacingReason::Policy => wire::Reason::Policy,
            FramePacingReason::Automatic => wire::Reason::Automatic,
        };
        self.effective(pacing, u32::from(effective.ahead), effective.min_buffers(), reason);
    }

    fn send_result(&self, id: SurfaceTargetId, fate: FrameResult) {
        let (high, low) = split(id.0);
        match fate {
            FrameResult::Presented { at, margin, path } => {
                let path = match path {
                    PresentPath::Composited => wire::Path::Composited,
                    PresentPath::Overlay => wire::Path::Overlay,
                    PresentPath::Direct => wire::Path::Direct,
                };
                let (seconds_high, seconds_low, nanos) = time(at);
                let margin = margin.as_nanos().clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
                self.presented(high, low, seconds_high, seconds_low, nanos, margin, path);
            }
            FrameResult::Discarded(why) => {
                let reason = match why {
                    FrameDiscardReason::Cancelled => wire::DiscardReason::Cancelled,
                    FrameDiscardReason::Newer => wire::DiscardReason::Newer,
                    FrameDiscardReason::Unseen => wire::DiscardReason::Unseen,
                };
                self.discarded(high, low, reason);
            }
        }
    }

    fn refuse(&self, surface: &WlSurface, fault: CommitFault) {
        let number = surface.id().protocol_id();
        match fault {
            CommitFault::NoBuffer => {
                self.post_error(wire::Error::NoBuffer, format!("the commit of wl_surface#{number} attaches no buffer"))
            }
            CommitFault::Stamped => self.post_error(
                wire::Error::TimestampConflict,
                format!("the commit of wl_surface#{number} has a timestamp, too"),
            ),
        }
    }
}

/// High and low 32 bits.
const fn split(value: u64) -> (u32, u32) {
    ((value >> 32) as u32, value as u32)
}

/// Joins high and low 32 bits.
pub(super) const fn join(high: u32, low: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// High and low 32 bits of the seconds, and nanoseconds.
const fn time(at: Instant) -> (u32, u32, u32) {
    let (seconds, nanos) = (at.as_nanos() / NANOS_PER_SECOND as u64, at.as_nanos() % NANOS_PER_SECOND as u64);
    let (high, low) = split(seconds);
    (high, low, nanos as u32)
}
