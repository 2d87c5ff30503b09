//! `upbeat bench latency`: runs every pacing with the same costs and inputs, each in a fresh session, headless by
//! default.
//!
//! ```text
//! this process ── starts ──▶ upbeat --backend … -- COMMAND              the compositor, a process of its own
//!                                 └── starts ──▶ upbeat bench probe …   the client, another one, over the socket
//!                                                     └── prints the report, which comes back through the pipe
//! ```
//!
//! The bench itself only waits meanwhile. Sessions run one after another, never side by side: they would be each
//! other's noise.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::client::DEVICE;
use crate::load::ClientLoad;
use crate::pixels::check_files;
use crate::progress::Progress;
use crate::report::{BenchReport, RunReport};
use crate::run::{BenchError, SessionBackend, SessionFolder};
use crate::shape::ClientShape;
use upbeat_timing::pacing::PacingWish;

/// How the measured window is interacted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum LatencyInput {
    /// No pointer input at all
    None,
    /// The pointer moves over the window: it runs freely.
    Free,
    /// The pointer moves over the window with a button held down: it is interacted with.
    Held,
}

impl LatencyInput {
    const fn arguments(self) -> &'static [&'static str] {
        match self {
            LatencyInput::None => &["--no-input"],
            LatencyInput::Free => &[],
            LatencyInput::Held => &["--hold"],
        }
    }
}

/// Dimensions to compare: every combination is a run.
#[derive(Clone, Debug, clap::Args)]
pub struct LatencyOptions {
    /// Pacings to compare
    #[arg(long, value_name = "PACING", value_delimiter = ',', default_values_t = PacingWish::ALL)]
    pub pacing: Vec<PacingWish>,
    /// Cost of a frame: `flat[:MS[:NOISE]]`, `heavy[:MEDIAN_MS:P95_MS]`, or a CSV trace; may be given several times
    #[arg(long, value_name = "LOAD", default_values = ["flat", "heavy"])]
    pub load: Vec<ClientLoad>,
    /// Windows, each in its own process; the first is measured, the other windows draw 0.5 ms a frame
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [1, 4, 10])]
    pub windows: Vec<u32>,
    /// Kinds of client: how it allocates buffers, which process or GPU works for it, which windows are beside it
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [ClientShape::default()])]
    pub shape: Vec<ClientShape>,
    /// The display device whose memory and timelines stand for the client's GPU
    #[arg(long, value_name = "NODE", default_value = DEVICE)]
    pub device: PathBuf,
    /// Input during the run
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = [LatencyInput::Free])]
    pub input: Vec<LatencyInput>,
    /// Share of frames that may be late, in percent, for the free-running and the interactive budget alike; default:
    /// the built-in budgets
    #[arg(long, value_name = "PERCENT", value_delimiter = ',')]
    pub miss_budget: Vec<f64>,
    /// Backend of the sessions
    #[arg(long, value_enum, default_value_t)]
    pub backend: SessionBackend,
    /// The output: large enough that no window covers another; 1920x1080@48-144 has a variable rate. Each run is made
    /// on each given output. A nested window has the rate of its parent
    #[arg(long, value_name = "WIDTHxHEIGHT@HZ", value_delimiter = ',', default_values = ["1920x1080@60"])]
    pub output: Vec<String>,
    /// How long to measure each run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub duration: f64,
    /// How long to draw before that, in seconds: the budget of a client that began slowly shrinks for some seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    pub warm_up: f64,
    /// Seconds of a verifying run, one for each load: the display is recorded, and input→light is found in its pixels
    /// and compared with the reported times. Recording copies every image, so it runs apart from the other figures. 0:
    /// none
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    pub verify: f64,
    /// Repeats each run beside this many clients that send requests as fast as the compositor reads them
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub flood: u32,
    /// Further windows that do nothing, each of a client of its own
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [0])]
    pub idle_windows: Vec<u32>,
    /// Seed of the costs and of the inputs' times, the same for all runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// One combination of the options.
#[derive(Clone, Debug)]
struct LatencyRun<'a> {
    output: &'a str,
    /// There are several outputs, so labels name the output.
    names_output: bool,
    pacing: PacingWish,
    miss_budget: Option<f64>,
    load: &'a ClientLoad,
    windows: u32,
    shape: ClientShape,
    /// Number of windows that do nothing.
    idle: u32,
    input: LatencyInput,
    /// Number of flooding clients.
    flood: u32,
    /// The run is repeated with a recording.
    verified: bool,
}

/// Files that a recorded run writes.
struct RecordingFiles {
    recording: PathBuf,
    journal: PathBuf,
}

impl LatencyOptions {
    /// The TOML configurations of all measured sessions, so that the compositor's tests can parse each.
    pub fn configurations(&self) -> Vec<String> {
        self.runs().iter().map(LatencyRun::config).collect()
    }

    /// Makes every run in order; `progress` is called before each. `upbeat` is the path of the compositor's program.
    pub fn run(&self, upbeat: &Path, progress: impl FnMut(&str)) -> Result<BenchReport, BenchError> {
        let folder = SessionFolder::create(upbeat)?;
        let mut report = BenchReport::default();
        let runs = self.runs();
        let sessions = runs.iter().map(|run| 1 + usize::from(run.verified)).sum();
        let mut progress = Progress::new(sessions, progress);
        for run in runs {
            progress.begin(&run.title());
            let first = report.runs.len();
            report.runs.extend(self.session(&run, &folder, None)?);
            if run.verified {
                progress.begin(&format!("{}, from pixels", run.title()));
                self.verify(&run, &folder, &mut report.runs[first..])?;
            }
        }
        Ok(report)
    }

    /// Repeats a run, shorter and recorded, and adds the figures from its pixels to the reports.
    fn verify(
        &self,
        run: &LatencyRun<'_>,
        folder: &SessionFolder,
        reports: &mut [RunReport],
    ) -> Result<(), BenchError> {
        let witness = RecordingFiles { recording: folder.path("film.rec"), journal: folder.path("journal.json") };
        self.session(run, folder, Some(&witness))?;
        let check = check_files(&witness.recording, &witness.journal);
        let check = check.map_err(|source| BenchError::Pixels { run: run.title(), source })?;
        for report in reports {
            report.input_to_light_pixels_ms = check.input_to_light_ms;
            report.pixels = Some(check);
        }
        Ok(())
    }

    fn runs(&self) -> Vec<LatencyRun<'_>> {
        let budgets: Vec<Option<f64>> =
            if self.miss_budget.is_empty() { vec![None] } else { self.miss_budget.iter().copied().map(Some).collect() };
        let floods: &[u32] = if self.flood > 0 { &[0, self.flood] } else { &[0] };
        let mut runs = Vec::new();
        for load in &self.load {
            for &windows in &self.windows {
                for (&input, &shape) in
                    self.input.iter().flat_map(|input| self.shape.iter().map(move |shape| (input, shape)))
                {
                    for &pacing in &self.pacing {
                        for &miss_budget in &budgets {
                            let run = LatencyRun {
                                output: "",
                                names_output: self.output.len() > 1,
                                pacing,
                                miss_budget,
                                load,
                                windows,
                                shape,
                                input,
                                idle: 0,
                                flood: 0,
                                verified: false,
                            };
                            let beside = self
                                .idle_windows
                                .iter()
                                .flat_map(|&idle| floods.iter().map(move |&flood| (idle, flood)));
                            for (idle, flood) in beside {
                                runs.extend(self.output.iter().map(|output| LatencyRun {
                                    output,
                                    idle,
                                    flood,
                                    ..run.clone()
                                }));
                            }
                        }
                    }
                }
            }
        }
        if self.verify > 0.0 && self.backend == SessionBackend::Headless {
            self.choose_verified(&mut runs);
        }
        runs
    }

    /// Marks one run for each load as verified: the last pacing with the fewest windows, and with input if there is
    /// any.
    fn choose_verified(&self, runs: &mut [LatencyRun<'_>]) {
        let per_load = runs.len() / self.load.len().max(1);
        for runs in runs.chunks_mut(per_load.max(1)) {
            let best = runs.iter_mut().min_by_key(|run| {
                (run.input == LatencyInput::None, run.flood, run.idle, run.windows, !run.is_default())
            });
            if let Some(run) = best {
                run.verified = true;
            }
        }
    }

    /// Runs one session with its client from start to end.
    fn session(
        &self,
        run: &LatencyRun<'_>,
        folder: &SessionFolder,
        witness: Option<&RecordingFiles>,
    ) -> Result<Vec<RunReport>, BenchError> {
        let mut session = folder.session(&run.title(), run.output, &run.config())?.with_backend(self.backend);
        let seconds = if witness.is_some() { self.verify } else { self.duration };
        let mut arguments = self.probe_arguments(run, seconds);
        arguments.push("--json".into());
        if run.shape == ClientShape::Gpu {
            session = session.with_option("--lend-device", &self.device);
            arguments.extend(["--device".into(), self.device.clone().into()]);
        }
        if let Some(witness) = witness {
            session = session.with_option("--record-stream", &witness.recording);
            arguments.extend(["--journal".into(), witness.journal.clone().into()]);
        }
        session.run::<BenchReport>("probe", arguments).map(|report| report.runs)
    }

    fn probe_arguments(&self, run: &LatencyRun<'_>, seconds: f64) -> Vec<OsString> {
        let pairs = [
            ("--label", run.label()),
            ("--load", run.load.to_string()),
            ("--windows", run.windows.to_string()),
            ("--duration", seconds.to_string()),
            ("--warm-up", self.warm_up.to_string()),
            ("--seed", self.seed.to_string()),
            ("--flood", run.flood.to_string()),
            ("--idle-windows", run.idle.to_string()),
        ];
        let pairs = pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).chain(run.shape.arguments());
        pairs.chain(run.input.arguments().iter().map(|&word| word.to_owned())).map(OsString::from).collect()
    }
}

impl LatencyRun<'_> {
    /// The pacing's name, with the miss budget if one is set, and the flooding clients.
    fn label(&self) -> String {
        let pacing = self.miss_budget.map_or(self.pacing.to_string(), |percent| format!("{} {percent}%", self.pacing));
        let shaped = if self.shape == ClientShape::Plain { pacing } else { format!("{pacing}, {}", self.shape) };
        let flooded = if self.flood == 0 { shaped } else { format!("{shaped}, {} flooding", self.flood) };
        if self.names_output { format!("{flooded}, {}", self.output) } else { flooded }
    }

    /// The pacing of a user that has configured nothing.
    fn is_default(&self) -> bool {
        self.pacing == PacingWish::default() && self.miss_budget.is_none() && self.shape == ClientShape::Plain
    }

    fn title(&self) -> String {
        let idle = if self.idle == 0 { String::new() } else { format!(" and {} idle", self.idle) };
        let windows = format!("{} window(s){idle}", self.windows);
        format!("{}, {}, {windows}, input {:?}", self.label(), self.load.name(), self.input).to_lowercase()
    }

    fn config(&self) -> String {
        // Only clients are measured, so windows appear without an animation.
        let pacing = format!("pacing = \"{}\"\nreduced-motion = true\n", self.pacing);
        let budget = self
            .miss_budget
            .map(|percent| format!("[miss-budget]\nfree-running = {percent:?}\ninteractive = {percent:?}\n"));
        pacing + &budget.unwrap_or_default() + self.shape.config()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct LatencyCommandLine {
        #[command(flatten)]
        options: LatencyOptions,
    }

    fn options(arguments: &[&str]) -> LatencyOptions {
        LatencyCommandLine::try_parse_from([&["bench"], arguments].concat())
            .unwrap_or_else(|error| panic!("{error}"))
            .options
    }

    #[test]
    fn every_combination_is_a_run_and_pacings_follow_one_another() {
        let options = options(&["--windows", "1,4", "--input", "free,held", "--load", "flat"]);
        let titles: Vec<String> = options.runs().iter().map(LatencyRun::title).collect();
        assert_eq!(titles.len(), 4 * 2 * 2);
        assert_eq!(titles[0], "vsync, flat, 1 window(s), input free");
        assert_eq!(titles[3], "auto, flat, 1 window(s), input free");
        assert_eq!(titles[4], "vsync, flat, 1 window(s), input held");
    }

    #[test]
    fn every_run_is_made_on_every_output_and_says_on_which() {
        let options = options(&["--output", "640x480@48-144,640x480@60", "--pacing", "vsync,auto", "--load", "flat"]);
        let titles: Vec<String> = options.runs().iter().filter(|run| run.windows == 1).map(LatencyRun::title).collect();
        assert_eq!(titles.len(), 4);
        assert_eq!(titles[0], "vsync, 640x480@48-144, flat, 1 window(s), input free");
        assert_eq!(titles[3], "auto, 640x480@60, flat, 1 window(s), input free");
    }

    #[test]
    fn one_run_of_each_load_is_verified_from_pixels() {
        let verified = |arguments: &[&str]| {
            let options = options(arguments);
            options.runs().iter().filter(|run| run.verified).map(LatencyRun::title).collect::<Vec<_>>()
        };
        let expected = ["auto, flat, 1 window(s), input free", "auto, heavy, 1 window(s), input free"];
        assert_eq!(
            verified(&["--windows", "4,1", "--input", "none,free", "--load", "flat", "--load", "heavy"]),
            expected
        );
        assert_eq!(verified(&["--pacing", "vsync", "--load", "flat"]), ["vsync, flat, 1 window(s), input free"]);
        assert_eq!(verified(&["--verify", "0"]), [""; 0]);
        assert_eq!(verified(&["--backend", "nested"]), [""; 0], "a parent's pixels are its own");
        assert_eq!(verified(&["--backend", "drm"]), [""; 0], "a display keeps none");
    }

    #[test]
    fn the_client_understands_its_arguments() {
        #[derive(clap::Parser)]
        struct LatencyProbeArgs {
            #[command(flatten)]
            options: crate::client::ClientOptions,
        }
        let options = options(&["--seed", "9", "--load", "heavy:5:9", "--input", "held"]);
        let arguments = std::iter::once("probe".into()).chain(options.probe_arguments(&options.runs()[3], 2.5));
        let probe = LatencyProbeArgs::try_parse_from(arguments).unwrap_or_else(|error| panic!("{error}")).options;
        assert_eq!(probe.duration, 2.5);
        assert_eq!((probe.seed, probe.hold, probe.label.as_deref()), (9, true, Some("auto")));
        assert_eq!(probe.load, options.load[0]);
    }

    #[test]
    fn a_run_with_a_miss_budget_says_so_in_its_title() {
        let options = options(&["--miss-budget", "0.1,5", "--pacing", "auto"]);
        assert_eq!(options.runs()[1].label(), "auto 5%");
    }
}
