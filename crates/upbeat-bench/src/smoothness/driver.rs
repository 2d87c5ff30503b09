//! The runs of `upbeat bench smoothness`: the same costs by vsync and ahead, each in a fresh session, beside the
//! simulator's figures.

use std::fmt::{self, Write as _};
use std::num::ParseFloatError;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Serialize;

use super::costs::CostOptions;
use super::figures::SmoothRun;
use super::game::{GameError, GameOptions};
use crate::progress::Progress;
use crate::run::{BenchError, SessionBackend, SessionFolder};
use crate::statistics::format_quantiles;
use upbeat_lab::animation::{AnimationPolicy, run as simulate};
use upbeat_timing::frames::{AheadSettings, RecorderMode};

/// Dimensions to compare: every combination is a run.
#[derive(Clone, Debug, clap::Args)]
pub struct SmoothnessOptions {
    /// Loads: letters of the simulator's (A to F) or traces (CSV)
    #[arg(long, value_name = "LOAD", value_delimiter = ',', default_values = ["A"])]
    pub load: Vec<String>,
    /// Also every trace of a folder
    #[arg(long, value_name = "FOLDER")]
    pub traces: Option<PathBuf>,
    /// Buffers to draw ahead with
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [3, 4, 5, 7])]
    pub buffers: Vec<u8>,
    /// Frames that are recorded further ahead, in one more run with four buffers; 0: no such run
    #[arg(long, value_name = "FRAMES", default_value_t = 2)]
    pub run_ahead: u8,
    /// Frames to draw in each run; with the default the baseline has 900 drops on load A
    #[arg(long, default_value_t = 20_000)]
    pub frames: usize,
    /// Backend of the sessions
    #[arg(long, value_enum, default_value_t)]
    pub backend: SessionBackend,
    /// The display; 48-144 has a variable rate, and costs are a share of its shortest interval. Each run is made on
    /// each given rate. A nested window has the rate of its parent, and a display of this machine that of its mode
    #[arg(long, value_name = "HZ", value_delimiter = ',', default_values = ["60"])]
    pub refresh: Vec<DisplayRate>,
    /// The rate whose interval costs are a share of; default: the display's
    #[arg(long, value_name = "HZ")]
    pub costs_of: Option<f64>,
    /// Seed of the costs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The rate of a display, or its range of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisplayRate {
    slowest: Option<f64>,
    fastest: f64,
}

impl FromStr for DisplayRate {
    type Err = ParseFloatError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('-') {
            Some((slowest, fastest)) => Ok(DisplayRate { slowest: Some(slowest.parse()?), fastest: fastest.parse()? }),
            None => Ok(DisplayRate { slowest: None, fastest: text.parse()? }),
        }
    }
}

impl fmt::Display for DisplayRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.slowest.map_or(Ok(()), |slowest| write!(f, "{slowest}-"))?;
        write!(f, "{}", self.fastest)
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct SmoothnessReport {
    /// In the order of execution.
    pub runs: Vec<SmoothRun>,
}

impl SmoothnessOptions {
    /// Makes every run, one after another; `progress` is called before each.
    pub fn run(&self, upbeat: &Path, progress: impl FnMut(&str)) -> Result<SmoothnessReport, BenchError> {
        let folder = SessionFolder::create(upbeat)?;
        let mut report = SmoothnessReport::default();
        let loads = self.loads()?;
        let games = |load: &String| self.refresh.iter().map(|rate| self.games(load, *rate).len()).sum::<usize>();
        let mut progress = Progress::new(loads.iter().map(games).sum(), progress);
        for (load, rate) in loads.iter().flat_map(|load| self.refresh.iter().map(move |rate| (load, *rate))) {
            let mut baseline: Option<SmoothRun> = None;
            for game in self.games(load, rate) {
                let title = format!("{load}, {rate} Hz, {}", game.policy());
                progress.begin(&title);
                let mut run = self.session(&game, rate, &title, &folder)?;
                run.display = rate.to_string();
                let simulated = self.simulated(&game, rate.slowest.is_some());
                run.simulated_drop_reduction = simulated.map_err(|error| game_error(&title, error))?;
                if let Some(baseline) = &baseline {
                    run.drop_reduction = 1.0 - run.drops_per_s / baseline.drops_per_s.max(f64::MIN_POSITIVE);
                }
                baseline.get_or_insert_with(|| run.clone());
                report.runs.push(run);
            }
        }
        Ok(report)
    }

    fn loads(&self) -> Result<Vec<String>, BenchError> {
        let mut loads = self.load.clone();
        if let Some(folder) = &self.traces {
            let unreadable = |source| BenchError::Folder { path: folder.clone(), source };
            let files = std::fs::read_dir(folder).map_err(unreadable)?;
            let mut traces = Vec::new();
            for file in files {
                let path = file.map_err(unreadable)?.path();
                if path.extension().is_some_and(|extension| extension == "csv") {
                    traces.push(path.to_string_lossy().into_owned());
                }
            }
            traces.sort();
            loads.extend(traces);
        }
        Ok(loads)
    }

    /// The runs of a load, the baseline first.
    fn games(&self, load: &str, rate: DisplayRate) -> Vec<GameOptions> {
        let refresh = self.costs_of.unwrap_or(rate.fastest);
        let game = |buffers, run_ahead, vsync| GameOptions {
            costs: CostOptions { load: load.to_owned(), frames: self.frames, seed: self.seed, refresh },
            buffers,
            run_ahead,
            vsync,
        };
        let mut games = vec![game(3, 0, true)];
        games.extend(self.buffers.iter().map(|buffers| game(*buffers, 0, false)));
        if self.run_ahead > 0 {
            games.push(game(4, self.run_ahead, false));
        }
        games
    }

    /// The share of drops that the game's policy avoids in the simulator, with the same costs.
    fn simulated(&self, game: &GameOptions, variable: bool) -> Result<f64, GameError> {
        let load = game.costs.costs().map_err(GameError::from)?;
        let policy = if game.vsync {
            AnimationPolicy::vsync(game.buffers)
        } else {
            // The game's recorder does not wait for the renderer, as in a queue of GL or Vulkan.
            AnimationPolicy::ahead(AheadSettings::buffers(game.buffers).with_run_ahead(game.run_ahead))
                .with_recorder(RecorderMode::Decoupled)
        };
        let policy = if variable && !game.vsync { policy.on_variable_refresh() } else { policy };
        Ok(simulate(&load, &policy).reduction(&simulate(&load, &AnimationPolicy::vsync(3))))
    }

    fn session(
        &self,
        game: &GameOptions,
        rate: DisplayRate,
        title: &str,
        folder: &SessionFolder,
    ) -> Result<SmoothRun, BenchError> {
        let pacing = if game.vsync { "vsync" } else { "auto" };
        let config = format!("pacing = \"{pacing}\"\nreduced-motion = true\n");
        let session = folder.session(title, &format!("1280x720@{rate}"), &config)?.with_backend(self.backend);
        let pairs = [
            ("--load", game.costs.load.clone()),
            ("--frames", game.costs.frames.to_string()),
            ("--seed", game.costs.seed.to_string()),
            ("--refresh", game.costs.refresh.to_string()),
            ("--buffers", game.buffers.to_string()),
            ("--run-ahead", game.run_ahead.to_string()),
        ];
        let pairs = pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]);
        session.run("game", pairs.chain(game.vsync.then(|| "--vsync".to_owned())))
    }
}

fn game_error(run: &str, error: GameError) -> BenchError {
    BenchError::Game { run: run.to_owned(), source: Box::new(error) }
}

/// A text table of the runs, one line each.
pub fn table(runs: &[SmoothRun]) -> String {
    let mut text = String::from(
        "load        display  policy               frames  drops/s  fewer  simulated  hitches/s   fps  freeze  age p50/p99/max ms      \
         error p50/p99/max ms   cpu ms  wake-ups  MB\n",
    );
    for run in runs {
        let _ = writeln!(
            text,
            "{:<11} {:<8} {:<20} {:>6} {:>8.2} {:>5.1}% {:>9.1}% {:>10.2} {:>5.1} {:>7.1}  {:<21}  {:<21} {:>6.2} {:>8.1} {:>4.1}",
            run.load,
            run.display,
            run.policy,
            run.frames,
            run.drops_per_s,
            run.drop_reduction * 100.0,
            run.simulated_drop_reduction * 100.0,
            run.hitches_per_s,
            run.fps,
            run.longest_freeze_ms,
            format_quantiles(run.latency_ms),
            format_quantiles(run.content_error_ms),
            run.compositor_cpu_ms_per_frame.unwrap_or_default(),
            run.wake_ups_per_refresh.unwrap_or_default(),
            run.buffer_megabytes,
        );
    }
    text
}
