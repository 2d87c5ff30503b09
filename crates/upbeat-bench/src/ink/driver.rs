//! The runs of `upbeat bench ink`: the same hands and costs in every mode, each in its own session.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::figures::{InkRun, PixelQuantiles, RecordedScreen, count};
use super::hand::SentReport;
use super::hand_path::{HAND, HandDevice, HandPath};
use super::marker;
use super::recorded_images::{self, MarkerDistance, RecordedPart, RecordedView};
use super::sheet::{DrawnInkFrame, InkMethod, SheetReport};
use super::simulated;
use crate::load::ClientLoad;
use crate::pixels::PixelError;
use crate::run::{BenchError, SessionFolder};
use crate::statistics::format_quantiles;
use upbeat_lab::interaction::JustInTimePolicy;
use upbeat_record::ipc::message::OutputMode;
use upbeat_timing::estimator::TwoShot;
use upbeat_timing::time::Span;

/// Modes to compare, the baseline first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InkMode {
    /// Callback at the refresh, light at the next refresh
    Legacy,
    /// Callback as late as the client's cost allows
    JustInTime,
    /// Like just-in-time, with a second frame for the same refresh where it fits
    TwoShot,
    /// The compositor writes changes near the hand into the buffer on screen, ahead of the beam
    InPlace,
    /// The dot is a surface of its own that the compositor keeps at the pointer
    Follower,
    /// The client itself writes into the buffer on screen
    FrontBuffer,
}

impl InkMode {
    pub const ALL: [InkMode; 6] = [
        InkMode::Legacy,
        InkMode::JustInTime,
        InkMode::TwoShot,
        InkMode::InPlace,
        InkMode::Follower,
        InkMode::FrontBuffer,
    ];

    const fn name(self) -> &'static str {
        match self {
            InkMode::Legacy => "legacy",
            InkMode::JustInTime => "just-in-time",
            InkMode::TwoShot => "two-shot",
            InkMode::InPlace => "in-place",
            InkMode::Follower => "follower",
            InkMode::FrontBuffer => "front-buffer",
        }
    }

    /// The session's TOML configuration.
    const fn config(self) -> &'static str {
        match self {
            InkMode::Legacy => "pacing = \"vsync\"\nreduced-motion = true\n",
            InkMode::JustInTime | InkMode::TwoShot => "pacing = \"just-in-time\"\nreduced-motion = true\n",
            InkMode::InPlace => "pacing = \"just-in-time\"\nreduced-motion = true\n[timing]\nin-place = true\n",
            InkMode::Follower => {
                "pacing = \"just-in-time\"\nreduced-motion = true\n[late-latch]\nfollowers = true\n[timing]\nin-place = true\n"
            }
            InkMode::FrontBuffer => {
                "pacing = \"just-in-time\"\nreduced-motion = true\n[late-latch]\nfront-buffers = true\n"
            }
        }
    }
}

impl InkMode {
    /// The policy of the simulator that is this mode; `None` if it has none.
    fn simulated(self) -> Option<JustInTimePolicy> {
        let policy = simulated::just_in_time();
        match self {
            InkMode::JustInTime => Some(policy),
            InkMode::TwoShot => Some(JustInTimePolicy { two_shot: Some(TwoShot::default()), ..policy }),
            InkMode::InPlace => Some(policy.in_place()),
            InkMode::Legacy | InkMode::Follower | InkMode::FrontBuffer => None,
        }
    }

    /// How the client draws in this mode.
    const fn way(self) -> InkMethod {
        match self {
            InkMode::Follower => InkMethod::Follower,
            InkMode::TwoShot => InkMethod::TwoShot,
            InkMode::FrontBuffer => InkMethod::FrontBuffer,
            _ => InkMethod::Frames,
        }
    }
}

/// Dimensions to compare: every combination is a run.
#[derive(Clone, Debug, clap::Args)]
pub struct InkOptions {
    /// Hand movements: `hand` (1 kHz), `column` (the same up and down, which needs only a narrow recording), `comb` (a
    /// column whose x counts the reports, so that a follower's pixel tells the report), or recordings with the columns t_us,x,y,state. A recording named pen_… or touch_… is played with such a device
    #[arg(long, value_name = "INPUT", value_delimiter = ',', default_values = [HAND])]
    pub input: Vec<HandPath>,
    /// How the client is paced, and how its pixels come to the screen; the first is the baseline for the other modes
    #[arg(long, value_enum, value_name = "MODE", value_delimiter = ',', default_values_t = InkMode::ALL)]
    pub mode: Vec<InkMode>,
    /// Cost of a frame: `flat[:MS]` or `heavy[:MEDIAN_MS:P95_MS]` (lognormal)
    #[arg(long, value_name = "LOAD", value_delimiter = ',', default_values = ["flat:2", "heavy:6:9", "heavy:11:15"])]
    pub cost: Vec<ClientLoad>,
    /// How far ahead of its last report the hand is drawn, in milliseconds, 0 to 32
    #[arg(long, value_name = "MS", value_delimiter = ',', default_values_t = [0.0, 16.0])]
    pub prediction: Vec<f64>,
    /// The virtual display
    #[arg(long, value_name = "WIDTHxHEIGHT@HZ", default_value = "1280x720@60")]
    pub output: OutputMode,
    /// How long to measure each run, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub duration: f64,
    /// Seed of the costs, the same for all runs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InkReport {
    /// In the order of execution.
    pub runs: Vec<InkRun>,
    /// Why some runs are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
}

/// The user pressed Ctrl+C: stop, and print the finished runs.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

extern "C" fn interrupt(_signal: libc::c_int) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

struct InkRunSpec<'a> {
    input: &'a HandPath,
    mode: InkMode,
    cost: &'a ClientLoad,
    prediction: f64,
}

impl InkOptions {
    /// The TOML configurations of all measured sessions, so that the compositor's tests can parse each.
    pub fn configurations() -> Vec<String> {
        InkMode::ALL.into_iter().map(|mode| mode.config().to_owned()).collect()
    }

    /// Makes every run, one after another; `progress` is called before each and after an error. A run without figures
    /// ends the bench; the report keeps the runs before it.
    ///
    /// # Errors
    /// If the folder for the sessions cannot be created.
    pub fn run(&self, upbeat: &Path, mut progress: impl FnMut(&str)) -> Result<InkReport, BenchError> {
        let folder = SessionFolder::create(upbeat)?;
        // SAFETY: the handler only stores to an atomic. The running session has its own handler, and ends by the
        // signal.
        unsafe { libc::signal(libc::SIGINT, interrupt as extern "C" fn(libc::c_int) as libc::sighandler_t) };
        let mut report = InkReport::default();
        let runs = self.runs();
        for (index, run) in runs.iter().enumerate() {
            progress(&format!("{} ({} of {})", run.title(), index + 1, runs.len()));
            match self.session(run, &folder) {
                Ok(figures) => report.push(figures),
                Err(error) => {
                    report.ended_early = Some(error.to_string());
                    break;
                }
            }
            if INTERRUPTED.load(Ordering::Relaxed) {
                report.ended_early = Some("interrupted".to_owned());
                break;
            }
        }
        Ok(report)
    }

    fn runs(&self) -> Vec<InkRunSpec<'_>> {
        let mut runs = Vec::new();
        for input in &self.input {
            for cost in &self.cost {
                for &mode in &self.mode {
                    // A mode that is unavailable needs one run only.
                    let first = InkRunSpec { input, mode, cost, prediction: 0.0 };
                    // Without callbacks or targets the client receives no predictions; followers are predicted by the
                    // compositor.
                    let is_predicted = first.config().is_ok() && !matches!(mode.way(), InkMethod::FrontBuffer);
                    let predictions = if is_predicted { &self.prediction[..] } else { &[0.0] };
                    runs.extend(predictions.iter().map(|&prediction| InkRunSpec { input, mode, cost, prediction }));
                }
            }
        }
        runs
    }

    fn session(&self, run: &InkRunSpec<'_>, folder: &SessionFolder) -> Result<InkRun, BenchError> {
        let figures = match run.config() {
            Err(why) => InkRun { unavailable: Some(why.to_owned()), ..InkRun::default() },
            Ok(config) => {
                let recording = folder.path("film.rec");
                let session = folder.session(&run.title(), &self.output.to_string(), config)?;
                let log = folder.path("ink.jsonl");
                let mut session = session.with_option("--record-stream", &recording).with_option("--frame-log", &log);
                if let Some((first, columns)) = self.columns(run) {
                    let part = format!("{first},0,{columns}x{}", self.screen().size.1);
                    session = session.with_option("--record-only", part);
                }
                let report: SheetReport = session.run("sheet", self.arguments(run))?;
                let sent = report.sent.clone();
                let (figures, active) = self
                    .figures(run, report, &recording)
                    .map_err(|source| BenchError::Pixels { run: run.title(), source })?;
                let refresh = (self.screen().interval, active);
                let policy = run.mode.simulated().filter(|_| run.input.is_generated());
                let simulated = match policy {
                    Some(policy) => simulated::simulate(policy, log, &sent, refresh)?,
                    None => None,
                };
                InkRun { simulated, ..figures }
            }
        };
        Ok(InkRun {
            input: run.input.name(),
            mode: run.mode.name().to_owned(),
            cost: run.cost.name(),
            prediction_ms: run.prediction,
            ..figures
        })
    }

    /// The figures of a run, and the time in which its screen scans out all rows.
    fn figures(
        &self,
        run: &InkRunSpec<'_>,
        report: SheetReport,
        recording: &Path,
    ) -> Result<(InkRun, Span), PixelError> {
        let active = |views: &[RecordedView]| views.first().map_or(Span::ZERO, |view| view.rows.active);
        let sight = RecordedPart { size: self.screen().size, left: self.columns(run).map_or(0, |(first, _)| first) };
        if run.mode.way() != InkMethod::Follower {
            let views = recorded_images::read(recording, sight, &report.frames)?;
            return Ok((count(&report, &views, self.screen()), active(&views)));
        }
        // Each report counts as a frame, because the compositor moves the dot and the client draws none.
        let distance = if run.prediction > 0.0 { MarkerDistance::HalfBlock } else { MarkerDistance::Exact };
        let views = recorded_images::read_follower(recording, sight, (&report.sent, distance))?;
        let place = |(index, sent): (usize, &SentReport)| {
            let number = index as u32 + 1;
            DrawnInkFrame { frame: number, event: number, x: sent.x, y: sent.y, predicted: false }
        };
        let frames = report.sent.iter().enumerate().map(place).collect();
        let run = count(&SheetReport { frames, ..report }, &views, self.screen());
        Ok((InkRun { dropped: 0.0, renders_per_shown: 0.0, ..run }, active(&views)))
    }

    /// The first recorded column and the number of columns, if only a part of the screen is recorded.
    fn columns(&self, run: &InkRunSpec<'_>) -> Option<(usize, usize)> {
        run.input.columns(self.screen().size.0, marker::SIZE.0)
    }

    fn screen(&self) -> RecordedScreen {
        let size = (self.output.width.max(1) as usize, self.output.height.max(1) as usize);
        RecordedScreen { size, interval: Span::from_millihertz(self.output.refresh.fastest()) }
    }

    fn arguments(&self, run: &InkRunSpec<'_>) -> Vec<OsString> {
        let pairs = [
            ("--input", run.input.spec.clone()),
            ("--cost", run.cost.to_string()),
            ("--prediction", run.prediction.to_string()),
            ("--duration", self.duration.to_string()),
            ("--seed", self.seed.to_string()),
            ("--way", run.mode.way().option_value().to_owned()),
        ];
        let size = ["--size".to_owned(), self.output.width.to_string(), self.output.height.to_string()];
        pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).chain(size).map(OsString::from).collect()
    }
}

impl InkRunSpec<'_> {
    /// The session's configuration, or why this mode cannot be measured.
    fn config(&self) -> Result<&'static str, &'static str> {
        if self.mode == InkMode::Follower && self.input.device() != HandDevice::Pointer {
            return Err("pointers alone are followed");
        }
        Ok(self.mode.config())
    }

    fn title(&self) -> String {
        let (input, cost) = (self.input.name(), self.cost.name());
        format!("{}, {input}, {cost}, predicted by {} ms", self.mode.name(), self.prediction)
    }
}

impl InkReport {
    /// Adds a run and compares it with the first run of the same input and cost.
    fn push(&mut self, mut run: InkRun) {
        let first = self.runs.iter().find(|first| (&first.input, &first.cost) == (&run.input, &run.cost));
        let with = first.and_then(|first| first.event_to_row_ms);
        run.p50_more_ms = with.zip(run.event_to_row_ms).map(|(with, of)| of.p50 - with.p50);
        self.runs.push(run);
    }
}

/// A text table of the runs, one line each.
pub fn table(runs: &[InkRun]) -> String {
    let mut text = String::from(
        "event→row, age: p50/p99/max in ms, by thirds of the screen; row by row, from recorded pixels. The recording says \
         when each row is lit\n\
         error, beyond: p50/p95/p99 in px; missed: % of refreshes; dropped: % of frames\n",
    );
    for run in runs {
        let ahead = if run.prediction_ms > 0.0 { format!(" +{} ms", run.prediction_ms) } else { String::new() };
        let title = format!("{}, {}, {}{ahead}", run.input, run.cost, run.mode);
        if let Some(why) = &run.unavailable {
            let _ = writeln!(text, "{title}: unavailable ({why})");
            continue;
        }
        let more = run.p50_more_ms.filter(|more| *more != 0.0).map(|more| format!(" ({more:+.1})")).unwrap_or_default();
        let _ = writeln!(
            text,
            "{title}: event→row {}{more}, direct {}, age {}{}; missed {:.2}, dropped {:.2}, torn {}, backwards {}, unproven {}, error {}, beyond {}, \
             {:.2} renders a frame, cpu {:.2} ms, client {:.2} ms, noise {:.2} ms, {} reports",
            format_quantiles(run.event_to_row_ms),
            format_quantiles(run.direct_ms),
            format_quantiles(run.age_ms),
            run.simulated.map(simulated::text).unwrap_or_default(),
            run.missed * 100.0,
            run.dropped * 100.0,
            run.torn,
            run.backwards,
            run.unproven,
            pixels(run.position_error_px),
            pixels(run.overshoot_px),
            run.renders_per_shown,
            run.compositor_cpu_ms_per_frame.unwrap_or_default(),
            run.client_cpu_ms_per_frame.unwrap_or_default(),
            run.sentinel_wake_p99_ms.unwrap_or_default(),
            run.events,
        );
        for row in &run.rows {
            let (events, ages) = (format_quantiles(row.event_to_row_ms), format_quantiles(row.age_ms));
            let _ = writeln!(text, "    {:<6} event→row {events:<16} age {ages}", row.rows);
        }
    }
    text
}

fn pixels(pixels: Option<PixelQuantiles>) -> String {
    pixels.map_or_else(|| "-".to_owned(), |of| format!("{:.1}/{:.1}/{:.1}", of.p50, of.p95, of.p99))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::sheet::SheetOptions;
    use super::*;
    use crate::statistics::Quantiles;

    #[derive(clap::Parser)]
    struct InkCommandLine {
        #[command(flatten)]
        options: InkOptions,
    }

    #[derive(clap::Parser)]
    struct InkSheetArgs {
        #[command(flatten)]
        options: SheetOptions,
    }

    #[test]
    fn the_baseline_runs_first_and_unavailable_modes_are_listed_once() {
        let options = InkCommandLine::try_parse_from(["bench", "--cost", "flat:2"])
            .map_err(|error| error.to_string())
            .unwrap()
            .options;
        let titles: Vec<String> = options.runs().iter().map(InkRunSpec::title).collect();
        assert_eq!(titles[0], "legacy, hand, flat:2, predicted by 0 ms");
        assert_eq!(titles[3], "just-in-time, hand, flat:2, predicted by 16 ms");
        assert_eq!(titles.len(), 5 * 2 + 1);
        assert_eq!(titles.iter().filter(|title| title.starts_with("front-buffer")).count(), 1);
    }

    #[test]
    fn the_client_understands_its_arguments() {
        let line = ["bench", "--prediction", "8.5", "--duration", "3", "--output", "800x600@75"];
        let options = InkCommandLine::try_parse_from(line).map_err(|error| error.to_string()).unwrap().options;
        let arguments = std::iter::once("sheet".into()).chain(options.arguments(&options.runs()[0]));
        let sheet = InkSheetArgs::try_parse_from(arguments).map_err(|error| error.to_string()).unwrap().options;
        assert_eq!(sheet.way, InkMethod::Frames);
        assert_eq!((sheet.prediction, sheet.duration, &sheet.size[..]), (8.5, 3.0, &[800, 600][..]));
        assert_eq!(options.screen().interval, Span::from_millihertz(75_000));
    }

    #[test]
    fn the_json_has_the_documented_keys_and_the_table_names_unavailable_modes() {
        let mut report = InkReport::default();
        let event_to_row_ms = Some(Quantiles { p50: 20.5, p99: 30.0, max: 31.0 });
        let run = InkRun { input: HAND.into(), cost: "flat:2".into(), event_to_row_ms, ..InkRun::default() };
        report.push(InkRun { mode: "legacy".into(), ..run.clone() });
        report.push(InkRun { event_to_row_ms: Some(Quantiles { p50: 14.5, p99: 18.0, max: 20.0 }), ..run.clone() });
        report.push(InkRun { event_to_row_ms: None, unavailable: Some("not there".into()), ..run });
        assert_eq!(report.runs[1].p50_more_ms, Some(-6.0));
        let json = serde_json::to_string(&report).unwrap();
        let keys = ["runs", "input", "mode", "cost", "event_to_row_ms", "age_ms", "missed", "torn", "unproven"];
        assert!(keys.iter().all(|key| json.contains(&format!("\"{key}\":"))), "{json}");
        assert!(json.contains(r#""event_to_row_ms":{"p50":20.5,"p99":30.0,"max":31.0}"#));
        assert!(table(&report.runs).contains("unavailable (not there)"));
    }
}
