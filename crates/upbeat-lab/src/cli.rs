//! The command line of `upbeat simulate`.

mod device;
mod modes;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::device::InputSource;
use self::modes::SimulateMode;
use super::animation::{self, AnimationPolicy};
use super::clients;
use super::hand_scrolling;
use super::interaction::{InteractionPolicy, JustInTimePolicy, run as respond};
use super::load::synthetic::MIXES;
use super::load::{self, Load, LogRequest, csv, frame_log};
use super::policy;
use super::replay;
use super::report::html::Charts;
use super::report::{html, table};
use super::result::{PaperFigure, RunResult, SimulationReport};
use super::runner::{self, LoadSource, RunConditions};
use super::strokes;
use super::suite::{self, SuiteEffort, estimators};
use upbeat_timing::estimator::{EstimatorKind, MissBudget};
use upbeat_timing::frames::{AheadSettings, RecorderMode};
use upbeat_timing::time::Span;

/// The miss budgets of the trade-off picture, per mille.
const TRADE_BUDGETS: [u32; 8] = [100, 70, 50, 30, 20, 10, 3, 1];
/// Refreshes per point of the trade-off picture.
const TRADE_REFRESHES: usize = 20_000;
/// Frames before and after the heaviest one in a timeline.
const TIMELINE_FRAMES: usize = 9;

/// Compare all ways of pacing for given frame costs
///
/// Runs recorded or generated frame costs through a simulated display under every policy: vsync, running ahead with 3
/// to 7 buffers and its extensions, just-in-time with every estimator, variable refresh.
#[derive(Args, Clone, Debug)]
pub struct SimulateArgs {
    /// Logs of frame times: MangoHud, PresentMon, CapFrameX (CSV or JSON), FrameView, CSV with
    /// `frame,cpu_ms,gpu_ms,frame_ms`, or the marks in a trace (ftrace as text, Sysprof)
    #[arg(value_name = "LOG")]
    traces: Vec<PathBuf>,
    /// The program in these logs, by name or number, if they contain several
    #[arg(long, value_name = "NAME", requires = "traces")]
    process: Option<String>,
    /// Loads by seed: A, B, C, D, E, F (default: A and E when no trace is given)
    #[arg(long, value_name = "NAME")]
    load: Vec<String>,
    /// Only these policies (and the baseline); --list names them
    #[arg(long, value_name = "NAME")]
    policy: Vec<String>,
    /// Refresh rate of the display [default: 60]
    #[arg(long, value_name = "HZ")]
    refresh: Option<f64>,
    /// Frames per seed of loads made by seed [default: 20000]
    #[arg(long)]
    frames: Option<usize>,
    /// Frames of one animation; 0 runs all frames as one [default: 0]
    #[arg(long, value_name = "FRAMES")]
    animation: Option<usize>,
    /// Number of seeds, for confidence intervals [default: 5]
    #[arg(long)]
    seeds: Option<u64>,
    /// The first seed [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Input events: their rate, or a recording of them (`t_us,x,y,state`), which repeats [default: 125]
    #[arg(long, value_name = "HZ|CSV")]
    input: Option<InputSource>,
    /// From the hand to the driver, in ms (a mouse 1, a phone's touch screen 28) [default: 1]
    #[arg(long, value_name = "MS")]
    touch: Option<f64>,
    /// From the finished frame to the display, in ms: composition and the driver's margin [default: 2]
    #[arg(long, value_name = "MS")]
    output: Option<f64>,
    /// Whether recording waits for rendering (`coupled`, as on Android) or not (`decoupled`, as with GL and Vulkan);
    /// default: coupled for loads by seed, decoupled for logs
    #[arg(long, value_name = "HOW", value_parser = ["coupled", "decoupled"])]
    recorder: Option<String>,
    /// Number of clients with these costs on one display, paced by the compositor's own conductor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    clients: Option<u8>,
    /// Cores that these clients share [default: 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..), requires = "clients")]
    cores: Option<u8>,
    /// `papers` reproduces published figures; `estimators` prints the table from which the defaults were chosen
    #[arg(long, value_name = "NAME", value_parser = ["papers", "estimators"])]
    suite: Option<String>,
    /// Replay the frame log of a session under every policy
    #[arg(long, value_name = "FRAMELOG")]
    replay: Option<PathBuf>,
    /// Recorded strokes (`t_us,x,y,state`): print the errors of predictions
    #[arg(long, value_name = "CSV", num_args = 1..)]
    strokes: Vec<PathBuf>,
    /// Recordings of hands (`t_us,x,y,state`) that scroll: print the cost for a program whose screens cost as much as
    /// these frames
    #[arg(long, value_name = "CSV", num_args = 1..)]
    scroll: Vec<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    /// Write an HTML page with charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the frames of the load to FILE, as CSV in the format of a log, and run nothing
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Name the policies and loads
    #[arg(long)]
    list: bool,
}

/// Runs `upbeat simulate` and prints its results.
pub fn run(args: &SimulateArgs) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match args.mode()? {
        SimulateMode::List => {
            let policies = policy::all().into_iter().map(|policy| policy.name);
            let loads = MIXES.into_iter().map(|mix| format!("load {}", mix.name));
            let names = policies.chain(loads).collect::<Vec<_>>().join("\n") + "\n";
            return Ok(out.write_all(names.as_bytes())?);
        }
        SimulateMode::Strokes => return Ok(out.write_all(strokes_table(&args.strokes)?.as_bytes())?),
        SimulateMode::Estimators => return Ok(out.write_all(args.estimators()?.as_bytes())?),
        SimulateMode::Scroll
        | SimulateMode::Replay
        | SimulateMode::Papers
        | SimulateMode::Clients
        | SimulateMode::Save
        | SimulateMode::Logs
        | SimulateMode::Loads => {}
    }
    if let Some(path) = &args.replay {
        let recorded = frame_log::read(path)?;
        let runs = replay::run(&recorded);
        let text = if args.json { json(runs, Vec::new())? } else { replay::render(&recorded, &runs) };
        return Ok(out.write_all(text.as_bytes())?);
    }
    let interval = args.interval()?;
    let sources = args.sources(interval)?;
    if let Some(path) = &args.save {
        let [source] = &sources[..] else { bail!("--save writes one load: choose it with --load NAME") };
        let text = csv::render(&source.load(args.seed()));
        return std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()));
    }
    if !args.scroll.is_empty() {
        return Ok(out.write_all(args.scrolled(&sources)?.as_bytes())?);
    }
    if let Some(clients) = args.clients {
        return Ok(out.write_all(args.several(&sources, clients.into())?.as_bytes())?);
    }
    let report = args.simulate(&sources)?;
    if let Some(path) = &args.html {
        let page = html::render(&report, &charts(&sources, args));
        std::fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let text = if args.json { to_json(&report)? } else { table::render(&report) };
    Ok(out.write_all(text.as_bytes())?)
}

fn json(runs: Vec<RunResult>, figures: Vec<PaperFigure>) -> anyhow::Result<String> {
    to_json(&SimulationReport { runs, figures, ..SimulationReport::default() })
}

fn to_json(report: &SimulationReport) -> anyhow::Result<String> {
    Ok(serde_json::to_string(report)? + "\n")
}

impl SimulateArgs {
    fn interval(&self) -> anyhow::Result<Span> {
        let refresh = self.refresh.unwrap_or(60.0);
        if !(1.0..=2_000.0).contains(&refresh) {
            bail!("--refresh {refresh}: a display refreshes 1 to 2000 times a second");
        }
        Ok(Span::from_millis_f64(1_000.0 / refresh))
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    fn conditions<'a>(&self, recorded: &'a [Span]) -> anyhow::Result<RunConditions<'a>> {
        let recorder = self.recorder.as_deref().map(|recorder| match recorder {
            "coupled" => RecorderMode::Coupled,
            _ => RecorderMode::Decoupled,
        });
        let device = self.device(recorded)?;
        Ok(RunConditions { seeds: self.seeds.unwrap_or(5), first_seed: self.seed(), device, recorder })
    }

    fn sources(&self, interval: Span) -> anyhow::Result<Vec<LoadSource>> {
        let mut sources = Vec::new();
        for path in &self.traces {
            let wanted = LogRequest { interval, process: self.process.as_deref() };
            let mut log = load::read(path, &wanted)?;
            log.load.animation = self.animation.unwrap_or(0);
            sources.push(LoadSource::Log(Arc::new(log)));
        }
        let default = self.traces.is_empty() && self.suite.is_none() && self.load.is_empty();
        let names = if default { vec!["A".to_owned(), "E".to_owned()] } else { self.load.clone() };
        let frames = self.frames.unwrap_or(20_000);
        for name in names {
            let Some(mix) = MIXES.into_iter().find(|mix| mix.name.starts_with(&name.to_uppercase())) else {
                bail!("no load is called `{name}`; there are A, B, C, D, E and F");
            };
            sources.push(LoadSource::Mix {
                mix,
                interval,
                frames: frames.max(1),
                animation: self.animation.unwrap_or(0),
            });
        }
        Ok(sources)
    }

    /// The table of estimators.
    fn estimators(&self) -> anyhow::Result<String> {
        let bar = progress(estimators::parts() as u64);
        let done = || bar.inc(1);
        let text = if self.json { json(Vec::new(), estimators::figures(&done))? } else { estimators::table(&done) };
        bar.finish_and_clear();
        Ok(text)
    }

    /// Results of every load scrolled by every recorded hand, as text.
    fn scrolled(&self, sources: &[LoadSource]) -> anyhow::Result<String> {
        let hands = self.scroll.iter().map(|path| strokes::read(path)).collect::<Result<Vec<_>, _>>()?;
        let of = |source: &LoadSource| {
            let load = source.load(self.seed()).into_owned();
            let ways: Vec<_> = hands.iter().flat_map(|hand| hand_scrolling::run(hand, &load)).collect();
            (load, ways)
        };
        let results: Vec<_> = sources.iter().map(of).collect();
        if self.json {
            let of = |(load, ways): &(Load, Vec<_>)| serde_json::json!({ "load": load.name, "ways": ways });
            let scrolled: Vec<_> = results.iter().map(of).collect();
            return Ok(serde_json::json!({ "scrolled": scrolled }).to_string() + "\n");
        }
        let texts: Vec<_> = results.iter().map(|(load, ways)| hand_scrolling::render(load, ways)).collect();
        Ok(texts.join("\n"))
    }

    /// Results of every load for several clients at once, as text.
    fn several(&self, sources: &[LoadSource], clients: usize) -> anyhow::Result<String> {
        let cores = usize::from(self.cores.unwrap_or(2));
        let of = |source: &LoadSource| {
            let load = source.load(self.seed()).into_owned();
            let runs = clients::run(&load, clients, cores);
            (load, runs)
        };
        let results: Vec<(Load, Vec<RunResult>)> = sources.iter().map(of).collect();
        if self.json {
            return json(results.into_iter().flat_map(|(_, runs)| runs).collect(), Vec::new());
        }
        Ok(results.iter().map(|(load, runs)| clients::render(load, clients, cores, runs)).collect())
    }

    fn simulate(&self, sources: &[LoadSource]) -> anyhow::Result<SimulationReport> {
        let policies = policy::named(&self.policy)?;
        let parts = if self.suite.is_some() { suite::PARTS as u64 } else { 0 };
        let bar = progress(runner::steps(sources, &policies, self.seeds.unwrap_or(5)) + parts);
        let recorded = self.recorded()?;
        let conditions = self.conditions(&recorded)?;
        let runs = runner::run(sources, &policies, &conditions, &|| bar.inc(1));
        let figures =
            if self.suite.is_some() { suite::papers(SuiteEffort::default(), &|| bar.inc(1)) } else { Vec::new() };
        bar.finish_and_clear();
        let loads = runner::infos(sources, &policies, &conditions, &runs);
        Ok(SimulationReport { loads, runs, figures })
    }
}

/// A progress bar on a terminal, nothing elsewhere.
fn progress(steps: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn charts(sources: &[LoadSource], args: &SimulateArgs) -> Charts {
    let mut loads: Vec<Load> = sources.iter().map(|source| source.load(args.seed()).into_owned()).collect();
    if loads.is_empty() {
        // Without loads, the suite uses the loads of its own figures.
        let interval = Span::from_nanos(16_666_667);
        loads = MIXES.into_iter().map(|mix| mix.generate(interval, 20_000, args.seed())).collect();
    }
    let timelines = loads.first().map(around_the_heaviest).unwrap_or_default();
    let trade = loads.first().map(|load| trade(load, args)).unwrap_or_default();
    Charts { loads, timelines, trade }
}

/// Timelines under vsync and ahead, of the frames around a heavy frame. This is the heaviest of at most three
/// intervals, if there is one, because a freeze of half a second makes a dull picture.
fn around_the_heaviest(load: &Load) -> Vec<(String, Vec<animation::FrameTrace>)> {
    let intervals =
        |index: &usize| load.frames[*index].total().as_nanos() as f64 / load.interval.as_nanos().max(1) as f64;
    let inner = TIMELINE_FRAMES..load.frames.len().saturating_sub(TIMELINE_FRAMES).max(TIMELINE_FRAMES);
    let heaviest = inner.filter(|index| intervals(index) <= 3.0).max_by(|a, b| intervals(a).total_cmp(&intervals(b)));
    let Some(heaviest) = heaviest else { return Vec::new() };
    let first = heaviest - TIMELINE_FRAMES;
    let last = (heaviest + TIMELINE_FRAMES).min(load.frames.len());
    let piece = Load { frames: load.frames[first..last].to_vec(), ..load.clone() };
    [
        ("vsync, 3 buffers", AnimationPolicy::vsync(3)),
        ("ahead, 4 buffers", AnimationPolicy::ahead(AheadSettings::buffers(4))),
        ("ahead, 4 buffers, run-ahead 2", AnimationPolicy::ahead(AheadSettings::buffers(4).with_run_ahead(2))),
    ]
    .map(|(name, policy)| (name.to_owned(), animation::trace(&piece, &policy)))
    .into()
}

fn trade(load: &Load, args: &SimulateArgs) -> Vec<(String, Vec<(f64, f64)>)> {
    use rayon::prelude::*;
    let Ok(recorded) = args.recorded() else { return Vec::new() };
    let Ok(device) = args.device(&recorded) else { return Vec::new() };
    let setup = device.setup(load, TRADE_REFRESHES.min(load.frames.len()), args.seed());
    EstimatorKind::ALL
        .into_par_iter()
        .map(|kind| {
            let point = |share: &u32| {
                let policy = JustInTimePolicy::new(kind, MissBudget::per_mille(*share));
                let response = respond(&setup, &InteractionPolicy::JustInTime(policy));
                (response.latency.p50, response.drops_per_second)
            };
            (kind.name().to_owned(), TRADE_BUDGETS.iter().map(point).collect())
        })
        .collect()
}

/// The error of every predictor over every recording, as text.
fn strokes_table(paths: &[PathBuf]) -> anyhow::Result<String> {
    use std::fmt::Write;
    let mut text = format!("{:<34} {:<10}", "mean error (p95) in px", "predictor");
    for horizon in strokes::HORIZONS {
        let _ = write!(text, " {:>15}", format!("{horizon:.0} ms"));
    }
    text.push('\n');
    for path in paths {
        let recording = strokes::read(path)?;
        let name = match recording.scale {
            1.0 => recording.name.clone(),
            scale => format!("{} (× {scale:.3})", recording.name),
        };
        for predictor in strokes::PREDICTORS {
            let _ = write!(text, "{name:<34} {predictor:<10}");
            for error in strokes::evaluate(&recording, predictor) {
                let error = match error.count {
                    0 => "-".to_owned(),
                    _ => format!("{:.2} ({:.1})", error.mean, error.p95),
                };
                let _ = write!(text, " {error:>15}");
            }
            text.push('\n');
        }
    }
    Ok(text)
}
