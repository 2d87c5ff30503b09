//! How far ahead frames may run, and the event that starts a frame.

use super::MOST_AHEAD;
use crate::defaults::INSURANCE;
pub use crate::settings::AheadSettings;

impl AheadSettings {
    /// A lead without a limit: only buffers limit.
    pub const UNLIMITED_LEAD: u8 = u8::MAX;

    /// `slots` buffers without further limits: the plain D-VSync of the paper.
    pub const fn buffers(slots: u8) -> Self {
        AheadSettings { slots, lead: Self::UNLIMITED_LEAD, run_ahead: 0, start_delay: 0, insurance: INSURANCE }
    }

    /// The same settings with `run_ahead` more recorded frames.
    pub const fn with_run_ahead(self, run_ahead: u8) -> Self {
        AheadSettings { run_ahead, ..self }
    }

    /// The same settings with the first frame shown `start_delay` refreshes later.
    pub const fn with_start_delay(self, start_delay: u8) -> Self {
        AheadSettings { start_delay, ..self }
    }

    /// How many frames may have pixels without being on screen.
    pub(super) fn pixel_frames(self) -> usize {
        let back_buffers = usize::from(self.slots.max(2)) - 1;
        back_buffers.min(usize::from(self.lead.max(1))).min(MOST_AHEAD)
    }

    /// How many frames may be under way, recorded ones included.
    pub(super) fn frames(self) -> usize {
        (self.pixel_frames() + usize::from(self.run_ahead)).min(MOST_AHEAD)
    }
}

/// The event that starts a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameTrigger {
    /// The refresh: at most one frame per tick.
    Refresh,
    /// The end of the previous stage, while there is room.
    Ahead,
}

/// Whether recording waits for rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecorderMode {
    /// A frame is recorded only when the renderer has taken the previous frame, as on Android. Run-ahead allows
    /// that many recorded frames to wait in between.
    Coupled,
    /// Recorded frames wait in a queue, as with GL and Vulkan: only buffers limit them.
    #[default]
    Decoupled,
}

/// The stage of the pre-executor (D-VSync 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreExecutorStage {
    /// There is room: frames start back to back.
    Accumulation,
    /// There is no room: each latch starts one frame.
    Sync,
}
