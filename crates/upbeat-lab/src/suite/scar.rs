//! SCAR: table 2, computed by the algorithm and as printed.

use super::{FigureKind, PaperFigure, SuiteEffort, figure};
use crate::scrolling::{FACTORS, SPEEDS, both_directions, scar, scar_both_directions, scar_formula};

/// Nothing in these figures is random.
pub fn figures(_effort: SuiteEffort) -> Vec<PaperFigure> {
    let mut figures = Vec::new();
    for (speed, printed) in SPEEDS.into_iter().zip([0.05, 0.36]) {
        for factor in FACTORS {
            let n = factor.0 as f64 / factor.1 as f64;
            let id = format!("table 2: N = {n}, {speed:.0} px/s, rendered");
            figures.push(
                figure(id, "fps", FigureKind::Derived, scar(factor, speed))
                    .published(printed)
                    .expected(scar_formula(factor, speed))
                    .note("the table has one value for all N; Algorithm 1 gives v / ((N−1) H), the model's column"),
            );
        }
    }
    let id = "up and down, 1000 px/s, N = 1.5: Algorithm 1";
    figures.push(
        figure(id, "fps", FigureKind::Predicted, scar_both_directions((3, 2), 1_000.0))
            .note("it renders every frame towards the top (5.6: no saving)"),
    );
    let id = "up and down, 1000 px/s, memory of N = 1.5: extended view";
    figures.push(figure(id, "fps", FigureKind::Predicted, both_directions(1.5, 1_000.0)));
    figures
}
