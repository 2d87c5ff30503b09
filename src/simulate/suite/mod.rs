//! `upbeat simulate --suite papers`: the published figures beside ours.
//!
//! Each figure says how it came about: *fitted* figures went into the load, *derived* ones follow from the model of the
//! pipeline, *predicted* ones had nothing fitted to them.

mod dvsync;
pub mod estimators;
mod marz;
mod presto;
mod scar;

use super::result::{Figure, FigureKind};

/// How much is simulated: more is slower and has smaller intervals.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Frames per load and seed.
    pub frames: usize,
    /// Seeds.
    pub seeds: u64,
}

impl Default for Effort {
    /// 100 000 frames and 5 seeds: reductions to about half a point.
    fn default() -> Self {
        Effort { frames: 100_000, seeds: 5 }
    }
}

/// Every figure of every paper. `done` is called after each of [`PARTS`].
pub fn papers(effort: Effort, done: &(dyn Fn() + Sync)) -> Vec<Figure> {
    let parts: [fn(Effort) -> Vec<Figure>; PARTS] = [
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

/// How many parts the suite has.
pub const PARTS: usize = 7;

/// The builder of a figure's row.
fn figure(id: impl Into<String>, unit: &'static str, kind: FigureKind, measured: f64) -> Figure {
    Figure { id: id.into(), published: None, measured, kind, unit, expected: None, note: "" }
}

impl Figure {
    fn published(self, value: f64) -> Figure {
        Figure { published: Some(value), ..self }
    }

    fn expected(self, value: f64) -> Figure {
        Figure { expected: Some(value), ..self }
    }

    fn note(self, note: &'static str) -> Figure {
        Figure { note, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_reproduces_what_the_independent_model_says() {
        let figures = papers(Effort { frames: 12_000, seeds: 1 }, &|| ());
        assert!(figures.len() > 40);
        for figure in &figures {
            // At a fortieth of the usual effort: shares within 8 points, times within 2 ms, drops within half a drop.
            if let Some(expected) = figure.expected {
                let tolerance = match figure.unit {
                    "/s" => 0.5,
                    "ms" => 2.0,
                    _ => 8.0,
                };
                let difference = (figure.measured - expected).abs();
                assert!(difference < tolerance || !figure.note.is_empty(), "{}: {}", figure.id, figure.measured);
            }
        }
    }
}
