//! The runs of `upbeat bench animations`: the same windows with and without rendering ahead, each in its own session.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::figures::AnimationRun;
use super::windows::{CpuTimeUsed, WindowsOptions};
use crate::progress::Progress;
use crate::run::{BenchError, SessionFolder, output_records};
use crate::statistics::format_quantiles;

/// Runs to compare.
#[derive(Clone, Debug, clap::Args)]
pub struct AnimationOptions {
    /// Most frames that are rendered ahead: 0 is none, the baseline for the other values
    #[arg(long, value_name = "FRAMES", value_delimiter = ',', default_values_t = [0, 5])]
    pub frames_ahead: Vec<u8>,
    /// Renderer: `gles` is slow where Mesa has no GPU and draws with llvmpipe
    #[arg(long, default_value = "gles")]
    pub renderer: String,
    /// How often the blur halves the size of the background behind a window; 0: no blur
    #[arg(long, value_name = "PASSES", default_value_t = 3, value_parser = clap::value_parser!(u8).range(0..=6))]
    pub blur: u8,
    /// The display: its size decides the cost of a frame
    #[arg(long, value_name = "WIDTHxHEIGHT@HZ", default_value = "1280x720@60")]
    pub output: String,
    /// Windows and their animations
    #[command(flatten)]
    pub windows: WindowsOptions,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct AnimationReport {
    /// In the order of execution.
    pub runs: Vec<AnimationRun>,
}

impl AnimationOptions {
    /// The TOML configurations of all measured sessions, so that the compositor's tests can parse each.
    pub fn configurations(&self) -> Vec<String> {
        self.frames_ahead.iter().map(|frames| self.config(*frames)).collect()
    }

    /// Makes every run, one after another; `progress` is called before each.
    ///
    /// # Errors
    /// If a session cannot be started, or ends without figures.
    pub fn run(&self, upbeat: &Path, progress: impl FnMut(&str)) -> Result<AnimationReport, BenchError> {
        let folder = SessionFolder::create(upbeat)?;
        let mut report = AnimationReport::default();
        let mut progress = Progress::new(self.frames_ahead.len(), progress);
        for frames in &self.frames_ahead {
            let title = format!("{}, {frames} frames ahead", self.renderer);
            progress.begin(&title);
            let mut run = self.session(*frames, &title, &folder)?;
            if let Some(first) = report.runs.first() {
                run.drop_reduction = 1.0 - run.drops_per_frame / first.drops_per_frame.max(f64::MIN_POSITIVE);
            }
            report.runs.push(run);
        }
        Ok(report)
    }

    fn config(&self, frames_ahead: u8) -> String {
        format!(
            "[animations]\nframes-ahead = {frames_ahead}\n\
             [effects]\nblur = {}\nshadow = true\ncorner-radius = 12.0\n",
            self.blur
        )
    }

    fn session(&self, frames_ahead: u8, title: &str, folder: &SessionFolder) -> Result<AnimationRun, BenchError> {
        let log = folder.path("frames.jsonl");
        let session = folder.session(title, &self.output, &self.config(frames_ahead))?;
        let session = session.with_option("--renderer", &self.renderer).with_option("--frame-log", &log);
        let rounds = ["--rounds".to_owned(), self.windows.rounds.to_string()];
        let pause = ["--pause".to_owned(), self.windows.pause.to_string()];
        let used: CpuTimeUsed = session.run("windows", rounds.into_iter().chain(pause))?;
        let run = AnimationRun::count(&output_records(log)?);
        let frames = run.frames.max(1) as f64;
        Ok(AnimationRun {
            renderer: self.renderer.clone(),
            frames_ahead,
            compositor_cpu_ms_per_frame: used.compositor_cpu_ms / frames,
            client_cpu_ms_per_frame: used.client_cpu_ms / frames,
            ..run
        })
    }
}

/// A text table of the runs, one line each.
pub fn table(runs: &[AnimationRun]) -> String {
    let mut text = String::from(
        "renderer  ahead  frames  rendered ahead  drops  drops/frame   fewer  freeze ms  render p50/p99/max ms  cpu ms  \
         client cpu ms\n",
    );
    for run in runs {
        let _ = writeln!(
            text,
            "{:<9} {:>5} {:>7} {:>15} {:>6} {:>12.2} {:>6.1}% {:>10.1} {:>22} {:>7.2} {:>14.3}",
            run.renderer,
            run.frames_ahead,
            run.frames,
            run.rendered_ahead,
            run.drops,
            run.drops_per_frame,
            run.drop_reduction * 100.0,
            run.longest_freeze_ms,
            format_quantiles(run.compose_ms),
            run.compositor_cpu_ms_per_frame,
            run.client_cpu_ms_per_frame,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct AnimationsCommandLine {
        #[command(flatten)]
        options: AnimationOptions,
    }

    #[test]
    fn all_runs_are_compared_with_one_that_renders_nothing_ahead() {
        let options =
            AnimationsCommandLine::try_parse_from(["bench"]).map_err(|error| error.to_string()).unwrap().options;
        assert_eq!(options.frames_ahead.first(), Some(&0));
    }
}
