//! The command line of `upbeat simulate`.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::animation::{self, AnimationPolicy};
use super::clients;
use super::interaction::{AppCost, InteractionPolicy, JustInTime, Setup, run as respond};
use super::load::synthetic::MIXES;
use super::load::{Load, csv, frame_log};
use super::policy;
use super::replay;
use super::report::html::Charts;
use super::report::{html, table};
use super::result::{Figure, Report, RunResult};
use super::runner::{self, Device, Source};
use super::strokes;
use super::suite::{self, Effort, estimators};
use crate::time::Span;
use crate::timing::estimator::{EstimatorKind, MissBudget};
use crate::timing::frames::AheadSettings;

/// The miss budgets of the trade-off picture, per mille.
const TRADE_BUDGETS: [u32; 8] = [100, 70, 50, 30, 20, 10, 3, 1];
/// Refreshes per point of the trade-off picture.
const TRADE_REFRESHES: usize = 20_000;
/// Frames before and after the heaviest one in a timeline.
const TIMELINE_FRAMES: usize = 9;

/// What would each way of pacing do with these frames?
///
/// Runs recorded or made-up frame costs through a simulated display under every policy: vsync, running ahead with 3 to 7
/// buffers and its extensions, just-in-time with every estimator, variable refresh.
#[derive(Args, Clone, Debug)]
pub struct SimulateArgs {
    /// Frame-time traces: MangoHud or PresentMon logs, or CSV with `frame,cpu_ms,gpu_ms,frame_ms`
    traces: Vec<PathBuf>,
    /// Loads by seed: A, B, C, D, E, F (default: A and E when no trace is given)
    #[arg(long, value_name = "NAME")]
    load: Vec<String>,
    /// Only these policies (and the baseline); --list names them
    #[arg(long, value_name = "NAME")]
    policy: Vec<String>,
    /// Refresh rate of the display
    #[arg(long, value_name = "HZ", default_value_t = 60.0)]
    refresh: f64,
    /// Frames per seed of loads made by seed
    #[arg(long, default_value_t = 20_000)]
    frames: usize,
    /// Frames of one animation; 0 runs all frames as one
    #[arg(long, default_value_t = 0, value_name = "FRAMES")]
    animation: usize,
    /// Seeds, for intervals
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rate of input events
    #[arg(long, value_name = "HZ", default_value_t = 125.0)]
    input: f64,
    /// From the hand to the driver, in ms (a mouse 1, a phone's touch screen 28)
    #[arg(long, value_name = "MS", default_value_t = 1.0)]
    touch: f64,
    /// From the finished frame to the display, in ms: composition and the driver's margin
    #[arg(long, value_name = "MS", default_value_t = 2.0)]
    output: f64,
    /// So many clients with these costs on one display, paced by the compositor's own conductor
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64), conflicts_with_all = ["suite", "policy", "html"])]
    clients: Option<u8>,
    /// Cores that these clients share
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..), requires = "clients")]
    cores: u8,
    /// `papers` reproduces published figures; `estimators` prints the table that the defaults were chosen from
    #[arg(long, value_name = "NAME", value_parser = ["papers", "estimators"])]
    suite: Option<String>,
    /// A frame log of a session, run again under every policy
    #[arg(long, value_name = "FRAMELOG", conflicts_with_all = ["traces", "load", "suite"])]
    replay: Option<PathBuf>,
    /// Recorded strokes (`t_us,x,y,state`): how far predictions are off
    #[arg(long, value_name = "CSV", num_args = 1..)]
    strokes: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a page with pictures
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Name the policies and loads
    #[arg(long)]
    list: bool,
}

/// Runs `upbeat simulate`; what it finds goes to standard output.
pub fn run(args: &SimulateArgs) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    if args.list {
        let policies = policy::all().into_iter().map(|policy| policy.name);
        let loads = MIXES.into_iter().map(|mix| format!("load {}", mix.name));
        return Ok(out
            .write_all(policies.chain(loads).collect::<Vec<_>>().join("\n").as_bytes())
            .and_then(|()| writeln!(out))?);
    }
    if !args.strokes.is_empty() {
        return Ok(out.write_all(strokes_table(&args.strokes)?.as_bytes())?);
    }
    if let Some(path) = &args.replay {
        let recorded = frame_log::read(path)?;
        let runs = replay::run(&recorded);
        let text = if args.json { json(runs, Vec::new())? } else { replay::render(&recorded, &runs) };
        return Ok(out.write_all(text.as_bytes())?);
    }
    if args.suite.as_deref() == Some("estimators") {
        return Ok(out.write_all(args.estimators()?.as_bytes())?);
    }
    let interval = args.interval()?;
    let sources = args.sources(interval)?;
    if let Some(clients) = args.clients {
        return Ok(out.write_all(args.several(&sources, clients.into())?.as_bytes())?);
    }
    let report = args.simulate(&sources)?;
    if let Some(path) = &args.html {
        let page = html::render(&report, &charts(&sources, args));
        std::fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let text = if args.json { json(report.runs, report.figures)? } else { table::render(&report) };
    Ok(out.write_all(text.as_bytes())?)
}

fn json(runs: Vec<RunResult>, figures: Vec<Figure>) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&Report { runs, figures })? + "\n")
}

impl SimulateArgs {
    fn interval(&self) -> anyhow::Result<Span> {
        if !(1.0..=2_000.0).contains(&self.refresh) {
            bail!("--refresh {}: a display refreshes 1 to 2000 times a second", self.refresh);
        }
        Ok(Span::from_millis_f64(1_000.0 / self.refresh))
    }

    fn device(&self) -> anyhow::Result<Device> {
        if !(1.0..=20_000.0).contains(&self.input) {
            bail!("--input {}: devices report 1 to 20000 times a second", self.input);
        }
        Ok(Device {
            input_interval: Span::from_millis_f64(1_000.0 / self.input),
            touch: Span::from_millis_f64(self.touch.max(0.0)),
            output: Span::from_millis_f64(self.output.max(0.0)),
        })
    }

    fn sources(&self, interval: Span) -> anyhow::Result<Vec<Source>> {
        let mut sources = Vec::new();
        for path in &self.traces {
            sources.push(Source::Trace(csv::read(path, interval)?));
        }
        let default = self.traces.is_empty() && self.suite.is_none() && self.load.is_empty();
        let names = if default { vec!["A".to_owned(), "E".to_owned()] } else { self.load.clone() };
        for name in names {
            let Some(mix) = MIXES.into_iter().find(|mix| mix.name.starts_with(&name.to_uppercase())) else {
                bail!("no load is called `{name}`; there are A, B, C, D, E and F");
            };
            sources.push(Source::Mix { mix, interval, frames: self.frames.max(1), animation: self.animation });
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

    /// Every load for several clients at once.
    fn several(&self, sources: &[Source], clients: usize) -> anyhow::Result<String> {
        let cores = usize::from(self.cores);
        let of = |source: &Source| {
            let load = source.load(self.seed);
            let runs = clients::run(&load, clients, cores);
            (load, runs)
        };
        let results: Vec<(Load, Vec<RunResult>)> = sources.iter().map(of).collect();
        if self.json {
            return json(results.into_iter().flat_map(|(_, runs)| runs).collect(), Vec::new());
        }
        Ok(results.iter().map(|(load, runs)| clients::render(load, clients, cores, runs)).collect())
    }

    fn simulate(&self, sources: &[Source]) -> anyhow::Result<Report> {
        let policies = policy::named(&self.policy)?;
        let parts = if self.suite.is_some() { suite::PARTS as u64 } else { 0 };
        let bar = progress(runner::steps(sources, &policies, self.seeds) + parts);
        let runs = runner::run(sources, &policies, self.seeds, self.seed, self.device()?, &|| bar.inc(1));
        let figures = if self.suite.is_some() { suite::papers(Effort::default(), &|| bar.inc(1)) } else { Vec::new() };
        bar.finish_and_clear();
        Ok(Report { runs, figures })
    }
}

/// A bar on a terminal, nothing elsewhere.
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

fn charts(sources: &[Source], args: &SimulateArgs) -> Charts {
    let load = |source: &Source| match source {
        Source::Trace(load) => load.clone(),
        Source::Mix { mix, interval, frames, .. } => mix.generate(*interval, *frames, args.seed),
    };
    let mut loads: Vec<Load> = sources.iter().map(load).collect();
    if loads.is_empty() {
        // The suite alone: the loads that its figures rest on.
        let interval = Span::from_nanos(16_666_667);
        loads = MIXES.into_iter().map(|mix| mix.generate(interval, 20_000, args.seed)).collect();
    }
    let timelines = loads.first().map(around_the_heaviest).unwrap_or_default();
    let trade = loads.first().map(|load| trade(load, args)).unwrap_or_default();
    Charts { loads, timelines, trade }
}

/// The frames around a heavy one (the heaviest of at most three intervals, if there is one: a freeze of half a second
/// makes a dull picture) under vsync and ahead.
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
    let Ok(device) = args.device() else { return Vec::new() };
    let setup = Setup {
        interval: load.interval,
        input_interval: device.input_interval,
        touch: device.touch,
        output: device.output,
        ..Setup::presto(AppCost::Frames(&load.frames), TRADE_REFRESHES.min(load.frames.len()), args.seed)
    };
    EstimatorKind::ALL
        .into_par_iter()
        .map(|kind| {
            let point = |share: &u32| {
                let policy = JustInTime::new(kind, MissBudget::per_mille(*share));
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
    let mut text = format!("{:<26} {:<10}", "mean error (p95) in px", "predictor");
    for horizon in strokes::HORIZONS {
        let _ = write!(text, " {:>15}", format!("{horizon:.0} ms"));
    }
    text.push('\n');
    for path in paths {
        let recording = strokes::read(path)?;
        for predictor in strokes::PREDICTORS {
            let _ = write!(text, "{:<26} {predictor:<10}", recording.name);
            for error in strokes::evaluate(&recording, predictor) {
                let _ = write!(text, " {:>15}", format!("{:.2} ({:.1})", error.mean, error.p95));
            }
            text.push('\n');
        }
    }
    Ok(text)
}
