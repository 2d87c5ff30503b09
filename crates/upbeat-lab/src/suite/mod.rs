//! `upbeat simulate --suite papers`: the published figures beside ours.
//!
//! Each figure has a kind: *taken* is a parameter of the load, *fitted* is a figure that the load was made to match (or
//! that follows from such figures), *derived* follows from the model of the pipeline, *predicted* had nothing fitted to
//! it. `docs/FIGURES.md` has them all; a test compares the two.

mod dvsync;
pub mod estimators;
mod marz;
mod presto;
mod scar;

use super::result::{FigureKind, PaperFigure};

/// Amount of simulation: more is slower and has smaller confidence intervals.
#[derive(Clone, Copy, Debug)]
pub struct SuiteEffort {
    /// Frames per load and seed.
    pub frames: usize,
    pub seeds: u64,
}

impl Default for SuiteEffort {
    /// 100 000 frames and 5 seeds: an error of reductions of about half a point.
    fn default() -> Self {
        SuiteEffort { frames: 100_000, seeds: 5 }
    }
}

/// Every figure of every paper. Calls `done` after each of [`PARTS`].
pub fn papers(effort: SuiteEffort, done: &(dyn Fn() + Sync)) -> Vec<PaperFigure> {
    let parts: [fn(SuiteEffort) -> Vec<PaperFigure>; PARTS] = [
        dvsync::workloads,
        dvsync::applications,
        dvsync::devices,
        dvsync::extensions,
        presto::figures,
        scar::figures,
        marz::figures,
    ];
    use rayon::prelude::*;
    parts
        .par_iter()
        .flat_map(|part| {
            let figures = part(effort);
            done();
            figures
        })
        .collect()
}

/// Number of calls of `done`.
pub const PARTS: usize = 7;

/// Starts a figure's row; the unit sets its tolerance.
fn figure(id: impl Into<String>, unit: &'static str, kind: FigureKind, measured: f64) -> PaperFigure {
    let tolerance = match unit {
        "/s" => 0.5,
        "ms" => 2.0,
        _ => 8.0,
    };
    PaperFigure { id: id.into(), published: None, measured, kind, unit, expected: None, tolerance, note: "" }
}

impl PaperFigure {
    fn published(self, value: f64) -> PaperFigure {
        PaperFigure { published: Some(value), ..self }
    }

    fn expected(self, value: f64) -> PaperFigure {
        PaperFigure { expected: Some(value), ..self }
    }

    /// Sets a tolerance for a figure that differs from the model's for a reason; the note gives the reason.
    fn within(self, tolerance: f64) -> PaperFigure {
        PaperFigure { tolerance, ..self }
    }

    fn note(self, note: &'static str) -> PaperFigure {
        PaperFigure { note, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::table::kind_word;

    /// At a fortieth of the usual effort. Tolerances against the model and the documentation: shares 8 points, times 2
    /// ms, drops half a drop.
    #[test]
    fn the_suite_agrees_with_the_independent_model_and_the_documentation() {
        let figures = papers(SuiteEffort { frames: 12_000, seeds: 1 }, &|| ());
        assert!(figures.len() > 40);
        let documented = include_str!("../../../../docs/FIGURES.md");
        let mut wrong = Vec::new();
        for figure in &figures {
            let PaperFigure { id, measured, tolerance, .. } = figure;
            if figure.expected.is_some_and(|expected| (measured - expected).abs() > *tolerance) {
                wrong.push(format!("{id}: {measured:.2}, the model {:?}", figure.expected));
            }
            let line = documented
                .lines()
                .find(|line| line.strip_prefix(id.as_str()).is_some_and(|rest| rest.starts_with("  ")));
            let columns: Vec<&str> =
                line.map_or(Vec::new(), |line| line[id.len()..].split_whitespace().take(5).collect());
            let [_, _, here, _, kind] = columns[..] else {
                wrong.push(format!("{id} is not documented"));
                continue;
            };
            let here: f64 = here.parse().unwrap();
            if kind != kind_word(figure.kind) || (here - measured).abs() > *tolerance {
                wrong.push(format!("{id}: {measured:.2} and {}, documented {here} and {kind}", kind_word(figure.kind)));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
