//! Results as a table of text.

use std::fmt::Write;

use crate::simulate::result::{Figure, FigureKind, Report, RunResult};

/// The whole report as text that fits a terminal of 120 columns.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    let mut loads: Vec<&str> = report.runs.iter().map(|run| run.load.as_str()).collect();
    loads.dedup();
    for load in loads {
        let runs: Vec<&RunResult> = report.runs.iter().filter(|run| run.load == load).collect();
        render_load(&mut text, load, &runs);
    }
    if !report.figures.is_empty() {
        render_figures(&mut text, &report.figures);
    }
    text
}

fn render_load(text: &mut String, load: &str, runs: &[&RunResult]) {
    let (animations, interactions): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run.missed.is_none());
    let rate = runs.first().map_or(0.0, |run| run.refresh_hz);
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n{load} at {rate:.0} Hz");
    if !animations.is_empty() {
        let _ = writeln!(
            text,
            "  {:<24} {:>13} {:>6} {:>11} {:>7} {:>7} {:>17} {:>6} {:>14} {:>4}",
            "motion", "drops/s", "%", "fewer", "hitch/s", "freeze", "latency mean/p99", "wrong", "interrupt", "MB"
        );
    }
    for run in animations {
        let _ = writeln!(text, "  {}", animation_row(run));
    }
    if !interactions.is_empty() {
        let _ = writeln!(
            text,
            "  {:<24} {:>13} {:>6} {:>7} {:>7} {:>29} {:>6} {:>7}",
            "interaction", "drops/s", "fps", "hitch/s", "freeze", "input to light 50/95/99/max", "missed", "wasted"
        );
    }
    for run in interactions {
        let _ = writeln!(text, "  {}", interaction_row(run));
    }
}

fn with_interval(value: f64, interval: f64) -> String {
    if interval > 0.0 { format!("{value:.2} ±{interval:.2}") } else { format!("{value:.2}") }
}

fn animation_row(run: &RunResult) -> String {
    let fewer = match run.drop_reduction_interval {
        interval if interval > 0.0 => format!("{:.1} ±{:.1}%", 100.0 * run.drop_reduction, 100.0 * interval),
        _ => format!("{:.1}%", 100.0 * run.drop_reduction),
    };
    let wrong = run.wrong_time.map_or_else(|| "-".into(), |share| format!("{:.1}%", 100.0 * share));
    let interrupt = run.interrupt_ms.zip(run.interrupt_unflushable_ms);
    let interrupt = interrupt.map_or_else(|| "-".into(), |(flushed, queued)| format!("{flushed:.0} ({queued:.0})"));
    format!(
        "{:<24} {:>13} {:>6.2} {:>11} {:>7.2} {:>7.0} {:>17} {:>6} {:>14} {:>4.0}",
        run.policy,
        with_interval(run.drops_per_s, run.drops_per_s_interval),
        run.drop_percent,
        fewer,
        run.hitches_per_s,
        run.longest_freeze_ms,
        format!("{:.1} / {:.1}", run.latency_ms.mean, run.latency_ms.p99),
        wrong,
        interrupt,
        run.buffer_megabytes,
    )
}

fn interaction_row(run: &RunResult) -> String {
    let latency = run.latency_ms;
    format!(
        "{:<24} {:>13} {:>6.1} {:>7.2} {:>7.0} {:>29} {:>5.1}% {:>6.0}%",
        run.policy,
        with_interval(run.drops_per_s, run.drops_per_s_interval),
        run.fps,
        run.hitches_per_s,
        run.longest_freeze_ms,
        format!("{:.1} / {:.1} / {:.1} / {:.1}", latency.p50, latency.p95, latency.p99, latency.max),
        100.0 * run.missed.unwrap_or(0.0),
        100.0 * run.wasted_renders,
    )
}

/// The word for the kind of a figure.
pub const fn kind_word(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Fitted => "fitted",
        FigureKind::Derived => "derived",
        FigureKind::Predicted => "predicted",
    }
}

/// A number in the precision that its unit deserves.
pub fn number(value: f64, unit: &str) -> String {
    match unit {
        "/s" | "fps" if value.abs() < 10.0 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

fn render_figures(text: &mut String, figures: &[Figure]) {
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
        "published: the paper. model: an independent simulation of the same loads. fitted: the load was made to match it;\n\
         derived: follows from the model of the pipeline; predicted: nothing was fitted to it."
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::result::Latency;
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
            drop_reduction: 0.768,
            drop_reduction_interval: 0.004,
            hitches_per_s: 0.3,
            longest_freeze_ms: 380.0,
            latency_ms: Latency { mean: 33.8, p50: 33.3, p95: 33.3, p99: 50.0, max: 400.0 },
            wrong_time: Some(0.011),
            interrupt_ms: Some(40.0),
            interrupt_unflushable_ms: Some(75.0),
            buffer_megabytes: 59.0,
            ..RunResult::default()
        };
        let figure = Figure {
            id: "D-VSync fig 11: 4 buffers".into(),
            published: Some(71.6),
            measured: 73.9,
            kind: FigureKind::Fitted,
            unit: "%",
            expected: None,
            note: "",
        };
        let text = render(&Report { runs: vec![run], figures: vec![figure] });
        expect![[r#"

            A at 60 Hz
              motion                         drops/s      %       fewer hitch/s  freeze  latency mean/p99  wrong      interrupt   MB
              ahead-4                     0.68 ±0.02   1.13  76.8 ±0.4%    0.30     380       33.8 / 50.0   1.1%        40 (75)   59

            published figures                                          published     model      here unit kind      note
            D-VSync fig 11: 4 buffers                                       71.6         -      73.9 %    fitted    
            published: the paper. model: an independent simulation of the same loads. fitted: the load was made to match it;
            derived: follows from the model of the pipeline; predicted: nothing was fitted to it.
        "#]]
        .assert_eq(&text);
    }
}
