//! Columns and cells of reports: the same words and numbers on the terminal and on the HTML page.

use crate::policy::BASELINE;
use crate::result::RunResult;

/// Least drops in the baseline for a percentage to mean anything.
pub const FEWEST_DROPS: f64 = 10.0;

/// A column of a table.
pub struct TableColumn {
    pub name: &'static str,
    pub meaning: &'static str,
    /// In characters, on a terminal.
    pub width: usize,
}

const fn column(name: &'static str, width: usize, meaning: &'static str) -> TableColumn {
    TableColumn { name, meaning, width }
}

const DROPS: TableColumn = column("drops/s", 11, "refreshes without the new frame that was due");
const FPS: TableColumn = column("fps", 6, "new frames shown per second");
const HITCHES: TableColumn = column("hitch/s", 7, "gaps of more than 1.26 refreshes");
const FREEZE: TableColumn = column("freeze", 6, "the longest gap in ms");
const AGE: TableColumn = column("age", 6, "from the start of a frame to its light in ms");

/// The columns for animation policies.
pub const MOTION: [TableColumn; 11] = [
    column("motion", 21, "how it is paced, and with how many buffers"),
    DROPS,
    column("fewer", 16, "drops avoided against vsync-3, with the 95 % interval"),
    FPS,
    HITCHES,
    FREEZE,
    column(
        "latency avg/p99",
        15,
        "from the start of a frame, or the time it was drawn for if that is later, to its light in ms",
    ),
    AGE,
    column("wrong", 6, "frames shown at another time than they were drawn for"),
    column("interrupt", 10, "from a press to its light in ms; in brackets if queued frames cannot be cancelled"),
    column("MB", 4, "buffers at 2560 × 1440"),
];

/// The columns for interaction policies.
pub const INTERACTION: [TableColumn; 9] = [
    column("interaction", 21, "how it is paced, and how its cost is estimated"),
    DROPS,
    FPS,
    HITCHES,
    FREEZE,
    column("input to light 50/95/99/max", 29, "in ms, the device and scan-out included"),
    AGE,
    column("missed", 6, "frames that took longer than predicted"),
    column("wasted", 7, "frames drawn and not shown, per frame shown"),
];

/// Whether the run is of an interaction policy.
pub const fn is_interaction(run: &RunResult) -> bool {
    run.missed.is_some()
}

/// Number of drops of the baseline among these runs.
pub fn baseline(runs: &[&RunResult]) -> f64 {
    runs.iter().find(|run| run.policy == BASELINE).map_or(0.0, |run| run.drops)
}

fn with_interval(value: f64, interval: f64) -> String {
    if interval > 0.0 { format!("{value:.2} ±{interval:.2}") } else { format!("{value:.2}") }
}

/// Share of drops avoided against the baseline, which has `baseline` drops, with its uncertainty.
pub fn fewer(run: &RunResult, baseline: f64) -> String {
    /// Lower limit of the display, in percent.
    const MOST_MORE: f64 = -999.0;
    let percent = 100.0 * run.drop_reduction;
    if run.policy == BASELINE {
        return String::new();
    }
    match run.drop_reduction_bounds.map(|bounds| bounds.map(|bound| (100.0 * bound).max(MOST_MORE))) {
        _ if run.drop_reduction_interval > 0.0 => format!("{percent:.1} ±{:.1}%", 100.0 * run.drop_reduction_interval),
        Some([low, high]) if baseline < FEWEST_DROPS => format!("{low:.0} to {high:.0}%"),
        Some(_) if percent < MOST_MORE => "many more".into(),
        Some([low, high]) => format!("{percent:.1}% [{low:.0}, {high:.0}]"),
        None if baseline > 0.0 => format!("{percent:.1}%"),
        None => "-".into(),
    }
}

/// The cells of [`MOTION`]. `baseline` is the baseline's number of drops.
pub fn motion(run: &RunResult, baseline: f64) -> [String; MOTION.len()] {
    let interrupt = run.interrupt_ms.zip(run.interrupt_unflushable_ms);
    [
        run.policy.clone(),
        with_interval(run.drops_per_s, run.drops_per_s_interval),
        fewer(run, baseline),
        format!("{:.1}", run.fps),
        format!("{:.2}", run.hitches_per_s),
        format!("{:.0}", run.longest_freeze_ms),
        format!("{:.1} / {:.1}", run.latency_ms.mean, run.latency_ms.p99),
        format!("{:.1}", run.age_ms),
        run.wrong_time.map_or_else(|| "-".into(), |share| format!("{:.1}%", 100.0 * share)),
        interrupt.map_or_else(|| "-".into(), |(flushed, queued)| format!("{flushed:.0} ({queued:.0})")),
        format!("{:.0}", run.buffer_megabytes),
    ]
}

/// The cells of [`INTERACTION`].
pub fn interaction(run: &RunResult) -> [String; INTERACTION.len()] {
    let latency = run.latency_ms;
    [
        run.policy.clone(),
        with_interval(run.drops_per_s, run.drops_per_s_interval),
        format!("{:.1}", run.fps),
        format!("{:.2}", run.hitches_per_s),
        format!("{:.0}", run.longest_freeze_ms),
        format!("{:.1} / {:.1} / {:.1} / {:.1}", latency.p50, latency.p95, latency.p99, latency.max),
        format!("{:.1}", run.age_ms),
        format!("{:.1}%", 100.0 * run.missed.unwrap_or(0.0)),
        format!("{:.0}%", 100.0 * run.wasted_renders),
    ]
}
