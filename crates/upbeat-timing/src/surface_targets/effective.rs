//! Decides the pacing in force for a client's surface from its wishes, and the reason.

use super::MOST_AHEAD;
use crate::pacing::{Pacing, PacingWish};

/// The client's wishes for one surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FramePacingRequest {
    /// The wished pacing; `None` leaves the choice to the compositor.
    pub pacing: Option<Pacing>,
    /// How many frames may be under way at once; at least 1.
    pub limit: u32,
    /// Input does not end drawing ahead.
    pub stay_ahead: bool,
    /// A newer frame may be shown before its time.
    pub latest_ready: bool,
    /// With just-in-time pacing, the client accepts a second target for the same refresh.
    pub second_shot: bool,
}

impl Default for FramePacingRequest {
    fn default() -> Self {
        FramePacingRequest { pacing: None, limit: 1, stay_ahead: false, latest_ready: false, second_shot: false }
    }
}

impl FramePacingRequest {
    /// How many frames may be under way at once, within the compositor's own limit.
    pub(super) fn most(&self) -> u8 {
        self.limit.clamp(1, u32::from(MOST_AHEAD)) as u8
    }
}

/// The compositor's side of the decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacingContext {
    /// The user presses, touches or scrolls the surface, or did a moment ago.
    pub interactive: bool,
    /// No part of the surface is visible.
    pub hidden: bool,
    /// The pacing that the configuration sets.
    pub rule: PacingWish,
}

/// Why a pacing is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FramePacingReason {
    /// The client asked for it.
    Client,
    /// The user interacts with the surface.
    InteractiveInput,
    /// No part of the surface is visible.
    Hidden,
    /// The configuration sets it, or the compositor's limit applies.
    Policy,
    /// The client left the choice to the compositor.
    #[default]
    Automatic,
}

impl FramePacingReason {
    /// A short text for reports.
    pub const fn words(self) -> &'static str {
        match self {
            FramePacingReason::Client => "the client asked for it",
            FramePacingReason::InteractiveInput => "the user interacts with it",
            FramePacingReason::Hidden => "no part of it is visible",
            FramePacingReason::Policy => "configured",
            FramePacingReason::Automatic => "the client left the choice and receives targets",
        }
    }
}

/// The pacing in force for a surface, with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectivePacing {
    /// The pacing in force.
    pub pacing: Pacing,
    /// How many frames may be under way at once.
    pub ahead: u8,
    /// Why this pacing is in force.
    pub reason: FramePacingReason,
}

impl Default for EffectivePacing {
    fn default() -> Self {
        EffectivePacing { pacing: Pacing::JustInTime, ahead: 1, reason: FramePacingReason::Automatic }
    }
}

impl EffectivePacing {
    /// How many buffers the client needs for this pacing: `ahead`, and one on screen.
    pub const fn min_buffers(self) -> u32 {
        self.ahead as u32 + 1
    }

    /// Whether requests are answered at the slow rate of hidden surfaces.
    pub(super) fn is_hidden(self) -> bool {
        self.reason == FramePacingReason::Hidden
    }
}

pub(super) fn decide(wishes: FramePacingRequest, circumstances: PacingContext) -> EffectivePacing {
    let limit = wishes.most();
    let automatic = if limit > 1 { Pacing::Ahead } else { Pacing::JustInTime };
    let (pacing, reason) = match circumstances.rule {
        PacingWish::Vsync | PacingWish::VsyncLate => (Pacing::Vsync, FramePacingReason::Policy),
        PacingWish::JustInTime => (Pacing::JustInTime, FramePacingReason::Policy),
        PacingWish::Ahead => (Pacing::Ahead, FramePacingReason::Policy),
        PacingWish::Auto => match wishes.pacing {
            None => (automatic, FramePacingReason::Automatic),
            Some(Pacing::Ahead) if wishes.limit > u32::from(MOST_AHEAD) => (Pacing::Ahead, FramePacingReason::Policy),
            Some(pacing) => (pacing, FramePacingReason::Client),
        },
    };
    if circumstances.hidden {
        return EffectivePacing { pacing: Pacing::JustInTime, ahead: 1, reason: FramePacingReason::Hidden };
    }
    if pacing != Pacing::Ahead {
        return EffectivePacing { pacing, ahead: 1, reason };
    }
    if circumstances.interactive && !wishes.stay_ahead {
        return EffectivePacing { pacing: Pacing::JustInTime, ahead: 1, reason: FramePacingReason::InteractiveInput };
    }
    EffectivePacing { pacing, ahead: limit, reason }
}
