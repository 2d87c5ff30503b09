//! The command line.
//!
//! Without a subcommand `upbeat` runs a session. Each subcommand has a file of its own here, with its arguments and its
//! implementation.

mod bench;
mod hint;
mod manual;
mod msg;
mod pages;
mod session;
mod simulate;
mod trace;
mod validate;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use hint::UnknownWord;

/// A Wayland compositor that keeps time.
///
/// Runs a session and, in it, COMMAND; the session ends with the command and with its exit status. Without a command it
/// runs until it is told to end (SIGTERM, Ctrl+C or `upbeat msg quit`). The dashes before COMMAND may be left out if it
/// is not the name of a subcommand.
#[derive(Debug, Parser)]
#[command(
    name = "upbeat",
    version,
    args_conflicts_with_subcommands = true,
    args_override_self = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<CliCommand>,
    #[command(flatten)]
    session: session::SessionArguments,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Query or control a running session.
    Msg(msg::MsgArguments),
    /// Check a configuration file.
    Validate(validate::ValidateArguments),
    /// Run traces and synthetic loads through the timing core.
    Simulate(simulate::SimulateArguments),
    /// Turn a frame log into a trace for Perfetto.
    Trace(trace::TraceArguments),
    /// Measure latency and drops.
    Bench(bench::BenchArguments),
    /// Print a completion script for a shell.
    Completions(pages::CompletionsArguments),
    /// Write the manual pages.
    #[command(hide = true)]
    Man(pages::ManArguments),
}

impl Cli {
    /// Parses the command line. An invalid command line ends the program, with a suggestion.
    pub fn from_arguments() -> Self {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        Self::read(&arguments).unwrap_or_else(|error| error.exit())
    }

    fn read(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let rest = arguments.get(1..).unwrap_or_default();
        let words = || Self::command().get_subcommands().map(|word| word.get_name().to_owned()).collect::<Vec<_>>();
        let error = match Self::try_parse_from(arguments) {
            Ok(cli) => return Ok(cli),
            Err(error) => error,
        };
        let parse = |rest: &[OsString]| Self::try_parse_from(arguments.iter().take(1).chain(rest));
        match hint::interpret(error, rest, &words(), &|rest| parse(rest).is_ok()) {
            UnknownWord::Program(rest) => parse(&rest),
            UnknownWord::Mistake(error) => Err(error),
        }
    }

    /// Runs the subcommand, or a session.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            None => self.session.run(),
            Some(CliCommand::Msg(arguments)) => arguments.run(),
            Some(CliCommand::Validate(arguments)) => arguments.run(),
            Some(CliCommand::Simulate(arguments)) => arguments.run(),
            Some(CliCommand::Trace(arguments)) => arguments.run(),
            Some(CliCommand::Bench(arguments)) => arguments.run(),
            Some(CliCommand::Completions(arguments)) => arguments.run(Cli::command()),
            Some(CliCommand::Man(arguments)) => arguments.run(Cli::command()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::BackendKind;

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
    fn last_value_of_a_repeated_option_counts() {
        // `upbeat-session` puts some options before the user's. Only `--output` may be given several times; of any
        // other option the last value counts.
        let words = ["upbeat", "--backend", "drm", "--output", "1x1", "--backend", "headless", "--output", "2x2"];
        let cli = Cli::try_parse_from(words).unwrap();
        assert!(matches!(cli.session.backend, BackendKind::Headless), "{:?}", cli.session.backend);
        assert_eq!(cli.session.outputs.iter().map(ToString::to_string).collect::<Vec<_>>(), ["1x1@60", "2x2@60"]);
    }

    fn read(words: &[&str]) -> Result<Cli, String> {
        let arguments: Vec<OsString> = ["upbeat"].iter().chain(words).map(OsString::from).collect();
        Cli::read(&arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn program_needs_no_dashes_before_it() {
        let command = |words: &[&str]| {
            let cli = read(words).unwrap();
            assert!(cli.command.is_none());
            cli.session.command
        };
        assert_eq!(command(&["sh"]), ["sh"]);
        assert_eq!(command(&["--backend", "headless", "sh", "-c", "exit"]), ["sh", "-c", "exit"]);
        assert_eq!(command(&["/bin/sh", "msg"]), ["/bin/sh", "msg"]);
        let cli = read(&["--socket", "sh", "sh", "-c", "exit"]).unwrap();
        assert_eq!((cli.session.socket.as_deref(), cli.session.command.len()), (Some("sh"), 3));
    }

    #[test]
    fn typo_is_never_run() {
        let error = |words: &[&str]| read(words).unwrap_err();
        let ours = error(&["validat", "file"]);
        assert!(ours.contains("did you mean `upbeat validate file`?"), "{ours}");
        let nothing = error(&["no-such-program", "-e", "vi"]);
        assert!(nothing.contains("neither a subcommand nor a program called `no-such-program`"), "{nothing}");
        for other in [&["--nonsense"][..], &["msg", "windwos"], &["msg", "sh"]] {
            assert!(!error(other).contains("did you mean `upbeat"), "{}", error(other));
        }
    }

    #[test]
    fn program_that_is_called_nearly_like_a_subcommand_is_a_typo() {
        let arguments: Vec<OsString> = vec!["validat".into()];
        let error = Cli::try_parse_from(["upbeat", "validat"]).unwrap_err();
        let words = ["validate".to_owned()];
        assert!(matches!(
            hint::interpret_with(error, &arguments, &words, &|_| true, &|_| true),
            UnknownWord::Mistake(_)
        ));
    }

    #[test]
    fn a_bad_option_is_refused_with_what_was_expected() {
        let error = |arguments: &[&str]| Cli::try_parse_from(arguments).unwrap_err().to_string();
        let mode = error(&["upbeat", "--output", "big"]);
        assert!(mode.contains("'big'") && mode.contains("WIDTHxHEIGHT@HZ"), "{mode}");
        let backend = error(&["upbeat", "--backend", "x11"]);
        assert!(backend.contains("auto, drm, nested, headless"), "{backend}");
        assert!(error(&["upbeat", "--frame-log", "log", "msg", "outputs"]).contains("msg"));
        for scale in ["nan", "inf", "big"] {
            let scale = error(&["upbeat", "msg", "output", "scale", "HEADLESS-1", scale]);
            assert!(scale.contains("expected a number, such as 1.25"), "{scale}");
        }
    }
}
