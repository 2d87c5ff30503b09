//! When each kind of client draws, and when it commits. Pure.
//!
//! ```text
//! draws       callback ─▓▓▓ commit                 callback ─▓▓▓ commit         most toolkits
//! gated       callback commit ─▓▓▓ · · · · · · · · callback commit ─▓▓▓         EGL swap interval 1, Chromium
//! fifo        ▓▓▓ commit(wait, barrier) ▓▓▓ commit · · · a buffer comes back ─▓▓▓    Vulkan FIFO
//! own-clock   tick ─▓▓▓ commit              tick ─▓▓▓ commit                    frame limiters, video
//! ```

use std::fmt;
use std::str::FromStr;

/// Kind of program that the client imitates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Draws after the frame callback, then commits
    #[default]
    Draws,
    /// Draws at once, then waits for the frame callback before it commits: its content is a period older
    Gated,
    /// Requests no callbacks: queues every frame behind the last with `wp_fifo_v1`, as far ahead as it has buffers
    Fifo,
    /// Draws and commits on a timer of its own and requests no callbacks
    OwnClock,
}

/// State of the client at the time of a decision.
#[derive(Clone, Copy, Debug, Default)]
pub struct Readiness {
    /// A frame callback is requested and not done.
    pub awaits_callback: bool,
    /// The compositor has released a buffer.
    pub has_buffer: bool,
    /// A frame is drawn and not committed.
    pub has_drawn: bool,
    /// The client's own timer has fired.
    pub tick_due: bool,
}

/// Next action of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Draw,
    Commit,
    /// Wait for an event or for the tick.
    Wait,
}

impl Kind {
    /// Whether the client requests frame callbacks.
    pub const fn asks_for_callbacks(self) -> bool {
        matches!(self, Kind::Draws | Kind::Gated)
    }

    /// The next action of a client in this state.
    pub const fn next_step(self, readiness: Readiness) -> Step {
        let Readiness { awaits_callback, has_buffer, has_drawn, tick_due } = readiness;
        match self {
            Kind::Gated if has_drawn && awaits_callback => Step::Wait,
            _ if has_drawn => Step::Commit,
            _ if !has_buffer => Step::Wait,
            Kind::Draws if awaits_callback => Step::Wait,
            Kind::OwnClock if !tick_due => Step::Wait,
            _ => Step::Draw,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Draws => "draws",
            Kind::Gated => "gated",
            Kind::Fifo => "fifo",
            Kind::OwnClock => "own-clock",
        })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        <Kind as clap::ValueEnum>::from_str(text, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: Readiness = Readiness { awaits_callback: false, has_buffer: true, has_drawn: false, tick_due: false };

    #[test]
    fn a_client_that_draws_starts_at_the_callback_and_commits_when_done() {
        assert_eq!(Kind::Draws.next_step(Readiness { awaits_callback: true, ..READY }), Step::Wait);
        assert_eq!(Kind::Draws.next_step(READY), Step::Draw);
        assert_eq!(Kind::Draws.next_step(Readiness { has_drawn: true, ..READY }), Step::Commit);
    }

    #[test]
    fn a_gated_client_draws_before_the_callback_and_commits_at_it() {
        assert_eq!(Kind::Gated.next_step(Readiness { awaits_callback: true, ..READY }), Step::Draw);
        let drawn = Readiness { has_drawn: true, ..READY };
        assert_eq!(Kind::Gated.next_step(Readiness { awaits_callback: true, ..drawn }), Step::Wait);
        assert_eq!(Kind::Gated.next_step(drawn), Step::Commit);
    }

    #[test]
    fn a_fifo_client_waits_only_for_buffers() {
        assert_eq!(Kind::Fifo.next_step(READY), Step::Draw);
        assert_eq!(Kind::Fifo.next_step(Readiness { has_buffer: false, ..READY }), Step::Wait);
    }

    #[test]
    fn a_client_with_its_own_clock_waits_for_its_tick() {
        assert_eq!(Kind::OwnClock.next_step(READY), Step::Wait);
        assert_eq!(Kind::OwnClock.next_step(Readiness { tick_due: true, ..READY }), Step::Draw);
    }

    #[test]
    fn every_name_reads_back() {
        for kind in <Kind as clap::ValueEnum>::value_variants() {
            assert_eq!(kind.to_string().parse(), Ok(*kind));
        }
    }
}
