//! From what a client wishes to the pacing in force, and why.

use super::MOST_AHEAD;
use crate::pacing::{Pacing, PacingWish};

/// What a client wishes for one surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// The pacing; `None` leaves the choice to the compositor.
    pub pacing: Option<Pacing>,
    /// How many frames may be under way at once; at least 1.
    pub limit: u32,
    /// Input does not end drawing ahead.
    pub stay_ahead: bool,
    /// A newer frame may be shown before its time.
    pub latest_ready: bool,
    /// Just in time, a second target for the same refresh is welcome.
    pub second_shot: bool,
}

impl Default for Wishes {
    fn default() -> Self {
        Wishes { pacing: None, limit: 1, stay_ahead: false, latest_ready: false, second_shot: false }
    }
}

impl Wishes {
    /// How many frames may be under way at once, within the compositor's own limit.
    pub(super) fn most(&self) -> u8 {
        self.limit.clamp(1, u32::from(MOST_AHEAD)) as u8
    }
}

/// What else bears on the choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Circumstances {
    /// The user presses, touches or scrolls it, or did a moment ago.
    pub interactive: bool,
    /// Nothing of it can be seen.
    pub hidden: bool,
    /// What the configuration asks for.
    pub rule: PacingWish,
}

/// Why a pacing is in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reason {
    /// It is what the client asked for.
    Client,
    /// The user is at it.
    InteractiveInput,
    /// Nothing of it can be seen.
    Hidden,
    /// The configuration says so, or the limit of the compositor.
    Policy,
    /// The client left the choice to the compositor.
    #[default]
    Automatic,
}

impl Reason {
    /// A few words for reports.
    pub const fn words(self) -> &'static str {
        match self {
            Reason::Client => "it asked for that",
            Reason::InteractiveInput => "the user is at it",
            Reason::Hidden => "nothing of it can be seen",
            Reason::Policy => "configured",
            Reason::Automatic => "it left the choice, and knows what it draws for",
        }
    }
}

/// The pacing in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The pacing.
    pub pacing: Pacing,
    /// How many frames may be under way at once.
    pub ahead: u8,
    /// Why.
    pub reason: Reason,
}

impl Default for Effective {
    fn default() -> Self {
        Effective { pacing: Pacing::JustInTime, ahead: 1, reason: Reason::Automatic }
    }
}

impl Effective {
    /// How many buffers a client needs to make use of it: one more is on screen.
    pub const fn min_buffers(self) -> u32 {
        self.ahead as u32 + 1
    }

    /// Whether requests are answered with the tick of those whom nobody sees.
    pub(super) fn is_hidden(self) -> bool {
        self.reason == Reason::Hidden
    }
}

pub(super) fn decide(wishes: Wishes, circumstances: Circumstances) -> Effective {
    let limit = wishes.most();
    let automatic = if limit > 1 { Pacing::Ahead } else { Pacing::JustInTime };
    let (pacing, reason) = match circumstances.rule {
        PacingWish::Vsync | PacingWish::VsyncLate => (Pacing::Vsync, Reason::Policy),
        PacingWish::JustInTime => (Pacing::JustInTime, Reason::Policy),
        PacingWish::Ahead => (Pacing::Ahead, Reason::Policy),
        PacingWish::Auto => match wishes.pacing {
            None => (automatic, Reason::Automatic),
            Some(Pacing::Ahead) if wishes.limit > u32::from(MOST_AHEAD) => (Pacing::Ahead, Reason::Policy),
            Some(pacing) => (pacing, Reason::Client),
        },
    };
    if circumstances.hidden {
        return Effective { pacing: Pacing::JustInTime, ahead: 1, reason: Reason::Hidden };
    }
    if pacing != Pacing::Ahead {
        return Effective { pacing, ahead: 1, reason };
    }
    if circumstances.interactive && !wishes.stay_ahead {
        return Effective { pacing: Pacing::JustInTime, ahead: 1, reason: Reason::InteractiveInput };
    }
    Effective { pacing, ahead: limit, reason }
}
