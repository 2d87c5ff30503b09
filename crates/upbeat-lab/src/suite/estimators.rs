//! `upbeat simulate --suite estimators`: latency and misses of each estimator.
//!
//! The defaults of just-in-time pacing were chosen from this table. `docs/DEFAULTS.md` contains it, and a test compares
//! the two.

use std::fmt::Write;

use rayon::prelude::*;

use super::super::interaction::{AppCost, InteractionPolicy, InteractionSetup, JustInTimePolicy, run};
use super::super::result::{FigureKind, PaperFigure};
use super::figure;
use upbeat_timing::defaults::TWO_SHOT;
use upbeat_timing::estimator::{EstimatorKind, MissBudget};
use upbeat_timing::time::Span;

/// Refreshes per cell: a share of 1 % is known to ±0.08 points.
const REFRESHES: usize = 60_000;
/// A single seed: the same costs and events for every row.
const SEED: u64 = 1;
/// A mouse with a thousand reports a second leaves no slack to snap to. The interval is slightly off, so that its phase
/// moves over the refresh.
const MOUSE: Span = Span::from_micros(997);

/// Costs of an application in milliseconds.
const PROFILES: [(&str, AppCost<'static>); 4] = [
    ("native 6 ms", AppCost::Lognormal(6.0, 0.25)),
    ("heavy 11 ms", AppCost::Lognormal(11.0, 0.15)),
    ("bursty 5/10 ms", AppCost::Bursty(5.0, 10.0, 40.0)),
    ("power law 5 ms", AppCost::PowerLaw(5.0, 0.05, 1.8)),
];
/// Input devices and their event intervals; the touch screen has the interval of [`InteractionSetup::presto`].
const DEVICES: [(&str, Option<Span>); 2] = [("touch", None), ("1 kHz", Some(MOUSE))];

/// The rows: names and policies.
fn rows() -> Vec<(String, JustInTimePolicy)> {
    let asked = |kind: EstimatorKind, thousandths| {
        let name = format!("{kind}, {} %", f64::from(thousandths) / 10.0);
        (name, JustInTimePolicy::new(kind, MissBudget::per_mille(thousandths)))
    };
    let mut rows =
        vec![("mean-32 (Presto)".to_owned(), JustInTimePolicy::new(EstimatorKind::Mean32, MissBudget::NONE))];
    for kind in [EstimatorKind::Ewma, EstimatorKind::Maximum, EstimatorKind::Window] {
        rows.push(asked(kind, 10));
    }
    for kind in [EstimatorKind::WindowTail, EstimatorKind::Regression] {
        rows.extend([1, 10, 30, 100].map(|thousandths| asked(kind, thousandths)));
    }
    let insured = JustInTimePolicy::new(EstimatorKind::Regression, TWO_SHOT.insurance);
    rows.push(("two-shot 1 % / 50 %".to_owned(), JustInTimePolicy { two_shot: Some(TWO_SHOT), ..insured }));
    rows.push(("cost known (bound)".to_owned(), JustInTimePolicy::oracle()));
    rows
}

/// Figures of one estimator on one load.
struct EstimatorCell {
    /// Mean input→light in milliseconds.
    latency: f64,
    /// Share of refreshes whose first frame was late, in percent.
    missed: f64,
}

fn cell(app: AppCost<'static>, events: Option<Span>, policy: JustInTimePolicy) -> EstimatorCell {
    let presto = InteractionSetup::presto(app, REFRESHES, SEED);
    let setup = InteractionSetup { input_interval: events.unwrap_or(presto.input_interval), ..presto };
    let response = run(&setup, &InteractionPolicy::JustInTime(policy));
    EstimatorCell { latency: response.latency.mean, missed: 100.0 * response.missed }
}

fn row(policy: JustInTimePolicy) -> Vec<EstimatorCell> {
    columns().map(|(_, app, events)| cell(app, events, policy)).collect()
}

/// The table, row by row. Calls `done` after each of [`parts`].
fn cells(done: &(dyn Fn() + Sync)) -> Vec<(String, Vec<EstimatorCell>)> {
    let one = |(name, policy)| {
        let row = row(policy);
        done();
        (name, row)
    };
    rows().into_par_iter().map(one).collect()
}

fn columns() -> impl Iterator<Item = (String, AppCost<'static>, Option<Span>)> {
    PROFILES.into_iter().flat_map(|(profile, app)| {
        DEVICES.into_iter().map(move |(device, events)| (format!("{profile}, {device}"), app, events))
    })
}

/// Number of calls of `done`.
pub fn parts() -> usize {
    rows().len()
}

/// The table in Markdown: mean input→light in ms / share of first frames that were late.
pub fn table(done: &(dyn Fn() + Sync)) -> String {
    let heads: Vec<String> = columns().map(|(name, ..)| name).collect();
    let mut text = format!("| estimator, budget | {} |\n|---{}|\n", heads.join(" | "), "|---".repeat(heads.len()));
    for (name, row) in cells(done) {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", line(&name, &row));
    }
    text
}

fn line(name: &str, row: &[EstimatorCell]) -> String {
    let row: Vec<String> = row.iter().map(|cell| format!("{:.1} / {:.2} %", cell.latency, cell.missed)).collect();
    format!("| {name} | {} |", row.join(" | "))
}

/// The table as figures, for `--json`.
pub fn figures(done: &(dyn Fn() + Sync)) -> Vec<PaperFigure> {
    let rows = cells(done).into_iter().flat_map(|(name, row)| {
        columns().zip(row).flat_map(move |((column, ..), cell)| {
            let latency = figure(format!("{name}: {column}"), "ms", FigureKind::Predicted, cell.latency);
            [latency, figure(format!("{name}: {column}: late"), "%", FigureKind::Predicted, cell.missed)]
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests only two rows, since all take half a minute without optimisation: the paper's baseline, and a default.
    #[test]
    fn the_documented_table_is_current() {
        let documented = include_str!("../../../../docs/DEFAULTS.md");
        for (name, policy) in rows() {
            assert!(documented.contains(&format!("| {name} |")), "{name}");
            if name.starts_with("mean-32") || name == "window-tail, 1 %" {
                let line = line(&name, &row(policy));
                assert!(documented.lines().any(|documented| documented == line), "now {line}");
            }
        }
    }
}
