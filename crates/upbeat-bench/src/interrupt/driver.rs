//! The runs of `upbeat bench interrupt`: the same presses and costs with every policy, each in its own session.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::device::PressKind;
use super::figures::InterruptRun;
use super::player::PressPolicy;
use crate::progress::Progress;
use crate::run::{BenchError, SessionBackend, SessionFolder};
use crate::statistics::format_quantiles;

/// Default size of the display.
pub(super) const SIZE: &str = "1280x720";

/// Runs to compare.
#[derive(Clone, Debug, clap::Args)]
pub struct InterruptOptions {
    /// Policies to compare; just-in-time first, as the baseline for the other policies
    #[arg(long, value_enum, value_name = "ANSWER", value_delimiter = ',', default_values_t = PressPolicy::ALL)]
    pub answer: Vec<PressPolicy>,
    /// Frames that may be in flight when drawn ahead
    #[arg(long, value_name = "FRAMES", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub ahead: u8,
    /// Time to draw a frame, in milliseconds; several for several comparisons
    #[arg(long, value_name = "MS", value_delimiter = ',', default_values_t = [4.0])]
    pub cost: Vec<f64>,
    /// Time to draw the first frame after a press, in milliseconds: longer than an interval for a slow renderer, or for
    /// a client that has to compute everything anew. Default: as every frame
    #[arg(long, value_name = "MS")]
    pub answer_cost: Option<f64>,
    /// Kind of press: key, button or touch
    #[arg(long, value_enum, default_value_t)]
    pub press: PressKind,
    /// Number of presses in each run
    #[arg(long, default_value_t = 100)]
    pub presses: usize,
    /// Measure the compositor's own animation instead of a client's: the overview. The key opens and closes it, or a
    /// key opens it and the button or the finger closes it. Its cost is measured; see --renderer and --blur
    #[arg(long)]
    pub own: bool,
    /// With --own: the renderer. `gles` is slow where Mesa has no GPU and draws with llvmpipe
    #[arg(long, value_name = "NAME", default_value = "pixman")]
    pub renderer: String,
    /// With --own: how often the blur halves the size of the background behind a window; 0: no blur
    #[arg(long, value_name = "PASSES", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=6))]
    pub blur: u8,
    /// Backend of the sessions
    #[arg(long, value_enum, default_value_t)]
    pub backend: SessionBackend,
    /// With --own: the size of the display, which decides the cost of a frame. Default: 1280x720, or a monitor's own
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    pub size: Option<String>,
    /// Refresh rate of the display; a nested window has the rate of its parent, and a display of this machine that of
    /// its mode
    #[arg(long, value_name = "HZ", default_value_t = 60.0)]
    pub refresh: f64,
    /// Seed of the times of the presses, the same for all runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct InterruptReport {
    /// In the order of execution.
    pub runs: Vec<InterruptRun>,
}

impl InterruptReport {
    /// Adds a run and compares it with the run at index `first`.
    fn push(&mut self, mut run: InterruptRun, first: usize) {
        let with = self.runs.get(first).and_then(|run| run.input_to_light_ms);
        if let Some((with, of)) = with.zip(run.input_to_light_ms) {
            (run.p50_more_ms, run.max_more_ms) = (of.p50 - with.p50, of.max - with.max);
        }
        self.runs.push(run);
    }
}

impl InterruptOptions {
    /// Makes every run, one after another; `progress` is called before each.
    ///
    /// # Errors
    /// If a session cannot be started, or ends without figures.
    pub fn run(&self, upbeat: &Path, progress: impl FnMut(&str)) -> Result<InterruptReport, BenchError> {
        let folder = SessionFolder::create(upbeat)?;
        let mut report = InterruptReport::default();
        if self.own {
            // The compositor has no mode that flushes all frames of its own animation.
            let answers = || self.answer.iter().filter(|answer| **answer != PressPolicy::Flushed);
            let mut progress = Progress::new(answers().count(), progress);
            for answer in answers() {
                let title = format!("our own, {}", answer.name());
                progress.begin(&title);
                let run = self.own_session(*answer, &title, &folder)?;
                report.push(run, 0);
            }
            return Ok(report);
        }
        let mut progress = Progress::new(self.cost.len() * self.answer.len(), progress);
        for cost in &self.cost {
            let first = report.runs.len();
            for answer in &self.answer {
                let title = format!("{}, {cost} ms a frame", answer.name());
                progress.begin(&title);
                let run = self.session(*answer, *cost, &title, &folder)?;
                report.push(run, first);
            }
        }
        Ok(report)
    }

    fn session(
        &self,
        answer: PressPolicy,
        cost: f64,
        title: &str,
        folder: &SessionFolder,
    ) -> Result<InterruptRun, BenchError> {
        let output = format!("{SIZE}@{}", self.refresh);
        let session = folder.session(title, &output, "pacing = \"auto\"\nreduced-motion = true\n")?;
        let pairs = [
            ("--answer", answer.name().to_owned()),
            ("--press", self.press.name().to_owned()),
            ("--ahead", self.ahead.to_string()),
            ("--cost", cost.to_string()),
            ("--presses", self.presses.to_string()),
            ("--seed", self.seed.to_string()),
        ];
        let pairs = pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        let session = session.with_backend(self.backend);
        session.run("player", pairs.chain(self.answer_cost.map(|cost| format!("--answer-cost={cost}"))))
    }
}

/// A text table of the runs, one line each.
pub fn table(runs: &[InterruptRun]) -> String {
    let mut text = String::from(
        "policy        press   ahead  cost/answer ms  presses  under way  input→light p50/p99/max ms  p50 more  max more  stale/press  \
         drops/press  cpu ms  client cpu ms\n",
    );
    for run in runs {
        let _ = writeln!(
            text,
            "{:<12} {:>6} {:>6} {:>15} {:>8} {:>10} {:>27} {:>+9.1} {:>+9.1} {:>12.2} {:>12.2} {:>7.2} {:>14.2}",
            run.policy,
            run.press.name(),
            run.ahead,
            format!("{:.1} / {:.1}", run.cost_ms, run.answer_cost_ms),
            run.presses,
            run.under_way,
            format_quantiles(run.input_to_light_ms),
            run.p50_more_ms,
            run.max_more_ms,
            run.stale_per_press,
            run.drops_per_press,
            run.compositor_cpu_ms_per_frame.unwrap_or_default(),
            run.client_cpu_ms_per_frame.unwrap_or_default(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::player::PlayerOptions;
    use super::*;

    #[derive(clap::Parser)]
    struct InterruptCommandLine {
        #[command(flatten)]
        options: InterruptOptions,
    }

    #[derive(clap::Parser)]
    struct PlayerArgs {
        #[command(flatten)]
        options: PlayerOptions,
    }

    #[test]
    fn just_in_time_is_the_baseline_and_the_client_accepts_every_policy() {
        let options =
            InterruptCommandLine::try_parse_from(["bench"]).map_err(|error| error.to_string()).unwrap().options;
        assert_eq!(options.answer.first(), Some(&PressPolicy::JustInTime));
        for answer in options.answer {
            let player = PlayerArgs::try_parse_from(["player", "--answer", answer.name()]);
            assert_eq!(player.map_err(|error| error.to_string()).unwrap().options.answer, answer);
        }
    }
}
