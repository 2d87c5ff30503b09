//! The modes of `upbeat simulate` and the options that apply to each. Any other option is refused: ignored silently, it
//! would seem to have an effect.

use anyhow::bail;

use super::SimulateArgs;

/// Each mode with its name in messages and the options that apply to it.
const MODES: [(SimulateMode, &str, &[&str]); 9] = [
    (SimulateMode::List, "--list", &[]),
    (SimulateMode::Strokes, "--strokes", &[]),
    (SimulateMode::Scroll, "--scroll", &["LOG", "--process", "--load", "--refresh", "--frames", "--seed", "--json"]),
    (SimulateMode::Replay, "--replay", &["--json"]),
    (SimulateMode::Estimators, "--suite estimators", &["--json"]),
    (SimulateMode::Papers, "--suite papers without a load", &["--json", "--html"]),
    (
        SimulateMode::Clients,
        "--clients",
        &["LOG", "--process", "--load", "--refresh", "--frames", "--seed", "--cores", "--json"],
    ),
    (SimulateMode::Save, "--save", &["LOG", "--process", "--load", "--refresh", "--frames", "--seed"]),
    (
        SimulateMode::Logs,
        "logs alone",
        &[
            "LOG",
            "--process",
            "--policy",
            "--refresh",
            "--animation",
            "--seed",
            "--input",
            "--touch",
            "--output",
            "--recorder",
            "--json",
            "--html",
        ],
    ),
];

/// The mode that the command line selects. `Loads` is not in [`MODES`], because it takes every option except the
/// options that select another mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SimulateMode {
    /// List the names of policies and loads.
    List,
    /// Evaluate predictions of recorded strokes.
    Strokes,
    /// Scroll loads by recorded hands.
    Scroll,
    /// Replay a frame log.
    Replay,
    /// Print the table of estimators.
    Estimators,
    /// Reproduce the published figures, without a load.
    Papers,
    /// Run several clients.
    Clients,
    /// Write a load as a log.
    Save,
    /// Run logs under every policy.
    Logs,
    /// Run generated loads, and logs if any are given, under every policy.
    Loads,
}

impl SimulateArgs {
    /// The mode of this command line.
    ///
    /// # Errors
    /// If an option does not apply to the mode.
    pub(super) fn mode(&self) -> anyhow::Result<SimulateMode> {
        let suite = self.suite.as_deref();
        let has_loads = !self.load.is_empty() || !self.traces.is_empty();
        let mode = match suite {
            _ if self.list => SimulateMode::List,
            _ if !self.strokes.is_empty() => SimulateMode::Strokes,
            _ if !self.scroll.is_empty() => SimulateMode::Scroll,
            _ if self.replay.is_some() => SimulateMode::Replay,
            Some("estimators") => SimulateMode::Estimators,
            _ if self.save.is_some() => SimulateMode::Save,
            _ if self.clients.is_some() => SimulateMode::Clients,
            Some(_) if !has_loads => SimulateMode::Papers,
            _ if !self.traces.is_empty() && self.load.is_empty() => SimulateMode::Logs,
            _ => SimulateMode::Loads,
        };
        let Some((_, name, applies)) = MODES.into_iter().find(|(listed, ..)| *listed == mode) else { return Ok(mode) };
        let own = |option: &str| name.starts_with(option) || (option == "--suite" && mode == SimulateMode::Logs);
        match self.given_options().into_iter().find(|option| !own(option) && !applies.contains(option)) {
            Some(option) => bail!("{option} does not apply to {name}"),
            None => Ok(mode),
        }
    }

    /// Names of the options on the command line.
    fn given_options(&self) -> Vec<&'static str> {
        let given = [
            ("LOG", !self.traces.is_empty()),
            ("--process", self.process.is_some()),
            ("--load", !self.load.is_empty()),
            ("--policy", !self.policy.is_empty()),
            ("--refresh", self.refresh.is_some()),
            ("--frames", self.frames.is_some()),
            ("--animation", self.animation.is_some()),
            ("--seeds", self.seeds.is_some()),
            ("--seed", self.seed.is_some()),
            ("--input", self.input.is_some()),
            ("--touch", self.touch.is_some()),
            ("--output", self.output.is_some()),
            ("--recorder", self.recorder.is_some()),
            ("--clients", self.clients.is_some()),
            ("--cores", self.cores.is_some()),
            ("--suite", self.suite.is_some()),
            ("--replay", self.replay.is_some()),
            ("--strokes", !self.strokes.is_empty()),
            ("--scroll", !self.scroll.is_empty()),
            ("--json", self.json),
            ("--html", self.html.is_some()),
            ("--save", self.save.is_some()),
            ("--list", self.list),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct SimulateCommandLine {
        #[command(flatten)]
        simulate: SimulateArgs,
    }

    #[test]
    fn an_option_that_does_not_apply_is_refused_by_name() {
        let mode = |line: &str| {
            let words = std::iter::once("simulate").chain(line.split_whitespace());
            SimulateCommandLine::try_parse_from(words).unwrap().simulate.mode().map_err(|error| error.to_string())
        };
        for (line, expected) in [
            ("", Ok(SimulateMode::Loads)),
            ("log.csv --policy ahead-4 --refresh 90 --json", Ok(SimulateMode::Logs)),
            ("log.csv --suite papers", Ok(SimulateMode::Logs)),
            ("log.csv --load A --seeds 3", Ok(SimulateMode::Loads)),
            ("--suite papers --html p.html", Ok(SimulateMode::Papers)),
            ("--load A --clients 3 --cores 8 --json", Ok(SimulateMode::Clients)),
            ("--replay f.jsonl --json", Ok(SimulateMode::Replay)),
            ("--strokes a.csv b.csv", Ok(SimulateMode::Strokes)),
            ("log.csv --scroll a.csv --json", Ok(SimulateMode::Scroll)),
            ("log.csv --input touch.csv", Ok(SimulateMode::Logs)),
            ("log.csv --seeds 3", Err("--seeds does not apply to logs alone")),
            ("log.csv --frames 30", Err("--frames does not apply to logs alone")),
            ("--strokes a.csv --json", Err("--json does not apply to --strokes")),
            ("--scroll a.csv --policy ahead-4", Err("--policy does not apply to --scroll")),
            ("--replay f.jsonl --refresh 90", Err("--refresh does not apply to --replay")),
            ("--suite papers --refresh 90", Err("--refresh does not apply to --suite papers without a load")),
            ("--suite estimators --policy ahead-4", Err("--policy does not apply to --suite estimators")),
            ("--clients 3 --animation 30", Err("--animation does not apply to --clients")),
            ("--load A --frames 9 --save a.csv", Ok(SimulateMode::Save)),
            ("--load A --save a.csv --html p.html", Err("--html does not apply to --save")),
            ("--list --json", Err("--json does not apply to --list")),
        ] {
            assert_eq!(mode(line), expected.map_err(str::to_owned), "{line}");
        }
    }
}
