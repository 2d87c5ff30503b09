//! The results as a text table.

use std::fmt::Write;

use super::cells::{self, INTERACTION, MOTION, TableColumn};
use crate::result::{FigureKind, LoadInfo, PaperFigure, RunResult, SimulationReport};

/// The whole report as text for a terminal of 120 columns.
pub fn render(report: &SimulationReport) -> String {
    let mut text = String::new();
    let mut loads: Vec<&str> = report.runs.iter().map(|run| run.load.as_str()).collect();
    loads.dedup();
    for load in loads {
        let runs: Vec<&RunResult> = report.runs.iter().filter(|run| run.load == load).collect();
        render_load(&mut text, load, report.loads.iter().find(|info| info.name == load), &runs);
    }
    if !report.figures.is_empty() {
        render_figures(&mut text, &report.figures);
    }
    text
}

fn render_load(text: &mut String, load: &str, info: Option<&LoadInfo>, runs: &[&RunResult]) {
    let rate = runs.first().map_or(0.0, |run| run.refresh_hz);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n{load} at {rate:.0} Hz");
    if let Some(info) = info {
        if !info.from.is_empty() {
            let _ = writeln!(text, "  {} frames of {}", info.frames, info.from);
        }
        let _ = writeln!(text, "  recorder: {}", info.recorder);
        for warning in &info.warnings {
            let _ = writeln!(text, "  note: {warning}");
        }
    }
    let baseline = cells::baseline(runs);
    let (answers, motion): (Vec<_>, Vec<_>) = runs.iter().copied().partition(|run| cells::is_interaction(run));
    rows(text, &MOTION, motion.iter().map(|run| cells::motion(run, baseline).to_vec()).collect());
    rows(text, &INTERACTION, answers.iter().map(|run| cells::interaction(run).to_vec()).collect());
    if let Some(answer) = info.map(|info| &info.answer).filter(|answer| !answer.is_empty()) {
        let _ = writeln!(text, "\n{}", wrapped(answer));
    }
}

/// Adds rows under their column names, the first column aligned to the left.
fn rows(text: &mut String, columns: &[TableColumn], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    let names = columns.iter().map(|column| column.name.to_owned()).collect();
    for row in std::iter::once(names).chain(rows) {
        text.push(' ');
        for (place, (cell, TableColumn { width, .. })) in row.iter().zip(columns).enumerate() {
            let _ = if place == 0 { write!(text, " {cell:<width$}") } else { write!(text, " {cell:>width$}") };
        }
        text.push('\n');
    }
}

/// Wraps text to the width of a terminal.
fn wrapped(words: &str) -> String {
    const WIDTH: usize = 118;
    let (mut text, mut length) = (String::new(), 0);
    for word in words.split(' ') {
        let width = word.chars().count() + 1;
        if length > 0 {
            let ends = length + width > WIDTH;
            text.push(if ends { '\n' } else { ' ' });
            length = if ends { 0 } else { length };
        }
        text.push_str(word);
        length += width;
    }
    text
}

/// The name of a figure's kind.
pub const fn kind_word(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Taken => "taken",
        FigureKind::Fitted => "fitted",
        FigureKind::Derived => "derived",
        FigureKind::Predicted => "predicted",
    }
}

/// A number with the digits that suit its unit.
pub fn number(value: f64, unit: &str) -> String {
    match unit {
        "/s" | "fps" if value.abs() < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

fn render_figures(text: &mut String, figures: &[PaperFigure]) {
    let _ = writeln!(
        text,
        "\n{:<58} {:>9} {:>9} {:>9} {:<4} {:<9} note",
        "published figures", "published", "model", "here", "unit", "kind"
    );
    for figure in figures {
        let optional = |value: Option<f64>| value.map_or_else(|| "-".into(), |value| number(value, figure.unit));
        let _ = writeln!(
            text,
            "{:<58} {:>9} {:>9} {:>9} {:<4} {:<9} {}",
            figure.id,
            optional(figure.published),
            optional(figure.expected),
            number(figure.measured, figure.unit),
            figure.unit,
            kind_word(figure.kind),
            figure.note
        );
    }
    let _ = writeln!(
        text,
        "published: the paper. model: an independent simulation, with the same loads unless the note says otherwise.\n\
         taken: a parameter of the load. fitted: the load was made to match it, or others that it follows from. derived:\n\
         follows from the model of the pipeline, whatever the load. predicted: nothing was fitted to it."
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::LatencySummary;
    use expect_test::expect;

    #[test]
    fn a_report_reads_as_a_table() {
        let run = RunResult {
            load: "A".into(),
            policy: "ahead-4".into(),
            buffers: 4,
            refresh_hz: 60.0,
            drops_per_s: 0.68,
            drops_per_s_interval: 0.02,
            drop_percent: 1.13,
            fps: 59.4,
            age_ms: 66.6,
            drop_reduction: 0.768,
            drop_reduction_interval: 0.004,
            hitches_per_s: 0.3,
            longest_freeze_ms: 380.0,
            latency_ms: LatencySummary { mean: 33.8, p50: 33.3, p95: 33.3, p99: 50.0, max: 400.0 },
            wrong_time: Some(0.011),
            interrupt_ms: Some(40.0),
            interrupt_unflushable_ms: Some(75.0),
            buffer_megabytes: 59.0,
            ..RunResult::default()
        };
        let figure = PaperFigure {
            id: "D-VSync fig 11: 4 buffers".into(),
            published: Some(71.6),
            measured: 73.9,
            kind: FigureKind::Fitted,
            unit: "%",
            expected: None,
            tolerance: 8.0,
            note: "",
        };
        let text = render(&SimulationReport { loads: Vec::new(), runs: vec![run], figures: vec![figure] });
        expect![[r#"

            A at 60 Hz
              motion                    drops/s            fewer    fps hitch/s freeze latency avg/p99    age  wrong  interrupt   MB
              ahead-4                0.68 ±0.02       76.8 ±0.4%   59.4    0.30    380     33.8 / 50.0   66.6   1.1%    40 (75)   59

            published figures                                          published     model      here unit kind      note
            D-VSync fig 11: 4 buffers                                       71.6         -      73.9 %    fitted    
            published: the paper. model: an independent simulation, with the same loads unless the note says otherwise.
            taken: a parameter of the load. fitted: the load was made to match it, or others that it follows from. derived:
            follows from the model of the pipeline, whatever the load. predicted: nothing was fitted to it.
        "#]]
        .assert_eq(&text);
    }
}
