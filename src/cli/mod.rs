//! The command line.
//!
//! Without a subcommand `upbeat` runs a session. Every subcommand has a file of its own here: its arguments and what
//! it does with them.

mod bench;
mod msg;
mod session;
mod simulate;
mod trace;
mod validate;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A Wayland compositor that keeps time.
///
/// Runs a session and, in it, COMMAND; the session ends with the command and with its exit status. Without a command
/// it stays up until it is told to end (SIGTERM, Ctrl+C or `upbeat msg quit`).
#[derive(Debug, Parser)]
#[command(name = "upbeat", version, args_conflicts_with_subcommands = true, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    session: session::Arguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Ask a running session, or tell it something.
    Msg(msg::Arguments),
    /// Check a configuration file.
    Validate(validate::Arguments),
    /// Run traces and synthetic loads through the timing core.
    Simulate(simulate::Arguments),
    /// Turn a frame log into a trace for Perfetto.
    Trace(trace::Arguments),
    /// Measure latency and drops.
    Bench(bench::Arguments),
}

impl Cli {
    /// Does what the command line says.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            None => self.session.run(),
            Some(Command::Msg(arguments)) => arguments.run(),
            Some(Command::Validate(arguments)) => arguments.run(),
            Some(Command::Simulate(arguments)) => arguments.run(),
            Some(Command::Trace(arguments)) => arguments.run(),
            Some(Command::Bench(arguments)) => arguments.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_command_after_two_dashes_may_look_like_an_option_or_a_subcommand() {
        let cli = Cli::try_parse_from(["upbeat", "--output", "800x600@75", "--", "msg", "--help"]).unwrap();
        assert!(cli.command.is_none());
        assert_eq!(cli.session.command, ["msg", "--help"]);
    }

    #[test]
    fn a_bad_option_is_refused_with_what_was_expected() {
        let error = |arguments: &[&str]| Cli::try_parse_from(arguments).unwrap_err().to_string();
        let mode = error(&["upbeat", "--output", "big"]);
        assert!(mode.contains("'big'") && mode.contains("WIDTHxHEIGHT@HZ"), "{mode}");
        let backend = error(&["upbeat", "--backend", "x11"]);
        assert!(backend.contains("auto, drm, nested, headless"), "{backend}");
        assert!(error(&["upbeat", "--frame-log", "log", "msg", "outputs"]).contains("msg"));
    }
}
