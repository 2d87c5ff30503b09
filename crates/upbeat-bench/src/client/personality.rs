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
pub enum ProbeKind {
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
pub struct ProbeReadiness {
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
pub enum ProbeStep {
    Draw,
    Commit,
    /// Wait for an event or for the tick.
    Wait,
}

impl ProbeKind {
    /// Whether the client requests frame callbacks.
    pub const fn asks_for_callbacks(self) -> bool {
        matches!(self, ProbeKind::Draws | ProbeKind::Gated)
    }

    /// The next action of a client in this state.
    pub const fn next_step(self, readiness: ProbeReadiness) -> ProbeStep {
        let ProbeReadiness { awaits_callback, has_buffer, has_drawn, tick_due } = readiness;
        match self {
            ProbeKind::Gated if has_drawn && awaits_callback => ProbeStep::Wait,
            _ if has_drawn => ProbeStep::Commit,
            _ if !has_buffer => ProbeStep::Wait,
            ProbeKind::Draws if awaits_callback => ProbeStep::Wait,
            ProbeKind::OwnClock if !tick_due => ProbeStep::Wait,
            _ => ProbeStep::Draw,
        }
    }
}

impl fmt::Display for ProbeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ProbeKind::Draws => "draws",
            ProbeKind::Gated => "gated",
            ProbeKind::Fifo => "fifo",
            ProbeKind::OwnClock => "own-clock",
        })
    }
}

impl FromStr for ProbeKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        <ProbeKind as clap::ValueEnum>::from_str(text, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: ProbeReadiness =
        ProbeReadiness { awaits_callback: false, has_buffer: true, has_drawn: false, tick_due: false };

    #[test]
    fn a_client_that_draws_starts_at_the_callback_and_commits_when_done() {
        assert_eq!(ProbeKind::Draws.next_step(ProbeReadiness { awaits_callback: true, ..READY }), ProbeStep::Wait);
        assert_eq!(ProbeKind::Draws.next_step(READY), ProbeStep::Draw);
        assert_eq!(ProbeKind::Draws.next_step(ProbeReadiness { has_drawn: true, ..READY }), ProbeStep::Commit);
    }

    #[test]
    fn a_gated_client_draws_before_the_callback_and_commits_at_it() {
        assert_eq!(ProbeKind::Gated.next_step(ProbeReadiness { awaits_callback: true, ..READY }), ProbeStep::Draw);
        let drawn = ProbeReadiness { has_drawn: true, ..READY };
        assert_eq!(ProbeKind::Gated.next_step(ProbeReadiness { awaits_callback: true, ..drawn }), ProbeStep::Wait);
        assert_eq!(ProbeKind::Gated.next_step(drawn), ProbeStep::Commit);
    }

    #[test]
    fn a_fifo_client_waits_only_for_buffers() {
        assert_eq!(ProbeKind::Fifo.next_step(READY), ProbeStep::Draw);
        assert_eq!(ProbeKind::Fifo.next_step(ProbeReadiness { has_buffer: false, ..READY }), ProbeStep::Wait);
    }

    #[test]
    fn a_client_with_its_own_clock_waits_for_its_tick() {
        assert_eq!(ProbeKind::OwnClock.next_step(READY), ProbeStep::Wait);
        assert_eq!(ProbeKind::OwnClock.next_step(ProbeReadiness { tick_due: true, ..READY }), ProbeStep::Draw);
    }

    #[test]
    fn every_name_reads_back() {
        for kind in <ProbeKind as clap::ValueEnum>::value_variants() {
            assert_eq!(kind.to_string().parse(), Ok(*kind));
        }
    }
}
