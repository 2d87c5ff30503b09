//! The pacing modes, and the classes of clients that they suit.

use std::fmt;

use serde::{Deserialize, Serialize};

/// When a client gets its frame callback, and when the compositor latches the client's content.
///
/// ```text
///                 vblank k                                       vblank k+1
///  vsync             ├callback, compose│······························┤  shown at k+1 or k+2
///  vsync-late        ├callback ···················· latch│compose│····┤
///  just-in-time      ├············· callback ······ latch│compose│····┤
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Callback and composition at the refresh, composition at once when the output is idle: the behaviour of
    /// wlroots, used as the baseline.
    #[default]
    Vsync,
    /// Callback at the refresh, content chosen as late as composition allows.
    VsyncLate,
    /// Callback as late as the miss budget allows, content chosen as late as composition allows (Presto 4).
    JustInTime,
    /// Several frames at once, each for its own refresh (D-VSync): only for clients that receive targets.
    Ahead,
}

/// The requested pacing: a fixed mode, or a choice for each client and moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PacingWish {
    /// Use [`Pacing::Vsync`] for every client.
    Vsync,
    /// Use [`Pacing::VsyncLate`] for every client.
    VsyncLate,
    /// Use [`Pacing::JustInTime`] for every client.
    JustInTime,
    /// [`Pacing::Ahead`] for clients that receive targets; otherwise like [`PacingWish::Auto`].
    Ahead,
    /// Chosen by the client's class and its present costs.
    #[default]
    Auto,
}

impl PacingWish {
    /// Every wish that affects frame callbacks, in the order of the documentation. [`PacingWish::Ahead`] does not.
    pub const ALL: [PacingWish; 4] =
        [PacingWish::Vsync, PacingWish::VsyncLate, PacingWish::JustInTime, PacingWish::Auto];

    /// The word used in the configuration and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            PacingWish::Vsync => "vsync",
            PacingWish::VsyncLate => "vsync-late",
            PacingWish::JustInTime => "just-in-time",
            PacingWish::Ahead => "ahead",
            PacingWish::Auto => "auto",
        }
    }

    /// The requested pacing of frame callbacks, unless the choice is automatic. `Ahead` counts as automatic, since
    /// a callback says nothing about refreshes further ahead.
    pub const fn fixed(self) -> Option<Pacing> {
        match self {
            PacingWish::Vsync => Some(Pacing::Vsync),
            PacingWish::VsyncLate => Some(Pacing::VsyncLate),
            PacingWish::JustInTime => Some(Pacing::JustInTime),
            PacingWish::Ahead | PacingWish::Auto => None,
        }
    }
}

impl Pacing {
    /// The word used in the configuration, on the command line and in the frame log.
    pub const fn word(self) -> &'static str {
        match self {
            Pacing::Vsync => "vsync",
            Pacing::VsyncLate => "vsync-late",
            Pacing::JustInTime => "just-in-time",
            Pacing::Ahead => "ahead",
        }
    }
}

impl From<Pacing> for PacingWish {
    fn from(pacing: Pacing) -> Self {
        match pacing {
            Pacing::Vsync => PacingWish::Vsync,
            Pacing::VsyncLate => PacingWish::VsyncLate,
            Pacing::JustInTime => PacingWish::JustInTime,
            Pacing::Ahead => PacingWish::Ahead,
        }
    }
}

impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl fmt::Display for PacingWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl std::str::FromStr for PacingWish {
    type Err = UnknownPacing;

    fn from_str(text: &str) -> Result<Self, UnknownPacing> {
        PacingWish::ALL.into_iter().chain([PacingWish::Ahead]).find(|wish| wish.word() == text).ok_or(UnknownPacing)
    }
}

/// The word is not the name of a pacing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such pacing; there are vsync, vsync-late, just-in-time, ahead and auto")]
pub struct UnknownPacing;

/// How a client uses its frame callbacks, derived from its behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientClass {
    /// Too few answers seen.
    #[default]
    Unknown,
    /// Draws after the callback: its answer comes one cost later (most toolkits on shm). Paced by cost.
    Draws,
    /// Has already drawn and waits for the callback to commit the frame (Mesa EGL, Chromium): it answers at once.
    Gated,
    /// Commits on its own clock, independent of callbacks (video players, games, nested compositors).
    OwnClock,
    /// Queues commits with fifo barriers or time stamps (Vulkan, mpv): paced by the queue.
    Queued,
}

impl ClientClass {
    /// The word shown to the user and written to the frame log.
    pub const fn word(self) -> &'static str {
        match self {
            ClientClass::Unknown => "unknown",
            ClientClass::Draws => "draws",
            ClientClass::Gated => "gated",
            ClientClass::OwnClock => "own-clock",
            ClientClass::Queued => "queued",
        }
    }
}

impl fmt::Display for ClientClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wish_is_read_back_from_its_own_word_here_and_in_json() {
        for wish in PacingWish::ALL.into_iter().chain([PacingWish::Ahead]) {
            assert_eq!(wish.word().parse(), Ok(wish));
            assert_eq!(serde_json::to_value(wish).unwrap(), wish.word());
        }
        assert_eq!("fast".parse::<PacingWish>(), Err(UnknownPacing));
    }
}
