//! The HTML page with the charts that readers know from the papers; it loads no other file.

use std::fmt::Write;

use super::cells::{self, INTERACTION, MOTION, TableColumn};
use super::chart::{COLOURS, Chart, ChartAxis, escape};
use super::table::{kind_word, number};
use super::timeline;
use crate::animation::FrameTrace;
use crate::load::Load;
use crate::result::{RunResult, SimulationReport};

/// Data for charts beside the results.
pub struct Charts {
    /// The loads, for their distributions of cost.
    pub loads: Vec<Load>,
    /// Name of a policy, and its frames around the heaviest frame of the first load.
    pub timelines: Vec<(String, Vec<FrameTrace>)>,
    /// For each estimator: input→light p50 in ms against drops per second, by miss budget.
    pub trade: Vec<(String, Vec<(f64, f64)>)>,
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;color:#222;background:#fff;max-width:66rem;margin:2rem \
auto;padding:0 1rem}h1{font-size:1.6rem}h2{font-size:1.15rem;margin:2.2rem 0 .3rem}p{margin:.3rem 0 .6rem}svg{width:\
100%;height:auto;display:block}svg text{font:11px system-ui,sans-serif;fill:#444}.n{text-anchor:middle}.y{text-anchor:\
end}.s{text-anchor:start}.g{stroke:#e4e4e4;fill:none}.a{stroke:#777;fill:none}.d{stroke:#999;stroke-dasharray:4 3;fill:\
none}table{border-collapse:collapse;font-size:13px;width:100%}th,td{padding:.15rem .5rem;text-align:right;border-bottom:\
1px solid #e8e8e8}th:first-child,td:first-child,.l{text-align:left}td:first-child{min-width:13rem}tr:hover td{background:#f5f8fa}.w{overflow-x:auto;margin:.6rem 0}.k{background:#eef4f9;padding:.6rem .8rem;border-left:4px solid #0072b2}.m{font-size:13px;color:#555}td,th{white-space:nowrap}";

/// The page as HTML text.
pub fn render(report: &SimulationReport, charts: &Charts) -> String {
    let mut page = format!(
        "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>upbeat simulate</title><style>{STYLE}</style></head>\
         <body><h1>What each way of pacing does with these frames</h1>"
    );
    loads(&mut page, report);
    section(&mut page, "How much frames cost", COSTS, &cost_distribution(&charts.loads));
    for (policy, frames) in &charts.timelines {
        section(&mut page, &format!("Frames on their way: {policy}"), TIMELINE, &timeline::render(frames));
    }
    section(&mut page, "Drops by policy", DROPS, &drops(report));
    section(
        &mut page,
        "Latency of motion: frame start (or its display time) to light",
        LATENCY,
        &histogram(report, false),
    );
    section(&mut page, "Latency of interaction: input to light", ANSWERS, &histogram(report, true));
    section(&mut page, "Latency against drops, by miss budget", TRADE, &trade(&charts.trade));
    figures_table(&mut page, report);
    page.push_str("</body></html>");
    page
}

const COSTS: &str = "Share of frames that cost more than so many refresh intervals, both stages together. What a claim \
of fewer drops is worth depends on this tail.";
const TIMELINE: &str = "A row for each frame around a heavy one. A vertical line is a refresh.";
const DROPS: &str = "Refreshes per second in which content was due and nothing new was shown.";
const LATENCY: &str = "Share of frames by latency. Whole intervals apart: direct, stuffed, after a drop.";
const ANSWERS: &str = "Share of input events by latency, the device and scan-out included.";
const TRADE: &str = "Each point is one miss budget from 10 % (left) to 0.1 %. Lower and further left is better.";

/// Converts code between backticks to HTML, as in the table on a terminal.
fn with_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(place, part)| if place % 2 == 1 { format!("<code>{part}</code>") } else { part.to_owned() }).collect()
}

fn section(page: &mut String, title: &str, text: &str, picture: &str) {
    if !picture.is_empty() {
        let _ = write!(page, "<h2>{}</h2><p>{}</p>{picture}", escape(title), escape(text));
    }
}

fn cost_distribution(loads: &[Load]) -> String {
    let x = ChartAxis { low: 0.1, high: 30.0, log: true, label: "cost in refresh intervals" };
    let mut chart = Chart::new(x, ChartAxis { low: 0.01, high: 100.0, log: true, label: "% of frames above" });
    for load in loads.iter().take(COLOURS.len()) {
        let mut costs: Vec<f64> = load
            .frames
            .iter()
            .map(|frame| frame.total().as_nanos() as f64 / load.interval.as_nanos().max(1) as f64)
            .collect();
        costs.sort_unstable_by(f64::total_cmp);
        // Evenly spaced on the logarithmic axis of shares, for loads of any length.
        let share = |step: usize| 10_f64.powf(-4.0 * step as f64 / 160.0);
        let above = |share: f64| costs[((costs.len() - 1) as f64 * (1.0 - share)) as usize];
        let seen = |step: &usize| share(*step) * costs.len() as f64 >= 1.0;
        let points: Vec<_> = (0..=160).filter(seen).map(|step| (above(share(step)), 100.0 * share(step))).collect();
        chart.line(&load.name, &points, false);
    }
    chart.marker(1.0, "one interval");
    if loads.is_empty() { String::new() } else { chart.finish(false) }
}

fn drops(report: &SimulationReport) -> String {
    let motion: Vec<&RunResult> = report.runs.iter().filter(|run| !cells::is_interaction(run)).collect();
    let mut loads: Vec<&str> = motion.iter().map(|run| run.load.as_str()).collect();
    loads.dedup();
    let shown = ["vsync-3", "ahead-3", "ahead-4", "ahead-5", "ahead-7", "ahead-4+run-ahead-2", "ahead-4+vrr"];
    let high = motion.iter().filter(|run| shown.contains(&run.policy.as_str())).map(|run| run.drops_per_s);
    let high = high.fold(0.1, f64::max) * 1.12;
    let x = ChartAxis { low: 0.0, high: loads.len().max(1) as f64, log: false, label: "load" };
    let mut chart = Chart::new(x, ChartAxis { low: 0.0, high, log: false, label: "drops per second" });
    for (index, load) in loads.iter().enumerate() {
        chart.category(index as f64 + 0.5, load);
        for (place, policy) in shown.iter().enumerate() {
            let Some(run) = motion.iter().find(|run| run.load == *load && run.policy == *policy) else { continue };
            let from = index as f64 + 0.08 + 0.84 * place as f64 / shown.len() as f64;
            let label = if loads.len() <= 3 { format!("{:.2}", run.drops_per_s) } else { String::new() };
            chart.bar(policy, from, from + 0.72 / shown.len() as f64, run.drops_per_s, &label);
        }
    }
    if loads.is_empty() { String::new() } else { chart.finish(true) }
}

fn histogram(report: &SimulationReport, interaction: bool) -> String {
    let shown = if interaction {
        ["legacy", "jitt-mean-32", "jitt-regression", "jitt-two-shot", "jitt+par-regression", "jitt-vrr"].as_slice()
    } else {
        ["vsync-3", "ahead-3", "ahead-4", "ahead-5+all"].as_slice()
    };
    let first = report.runs.iter().find(|run| cells::is_interaction(run) == interaction);
    let Some(load) = first.map(|run| run.load.as_str()) else { return String::new() };
    let runs: Vec<&RunResult> =
        report.runs.iter().filter(|run| run.load == load && shown.contains(&run.policy.as_str())).collect();
    let high = runs.iter().map(|run| run.latency_ms.p99 * 1.25).fold(20.0, f64::max);
    const BINS: usize = 60;
    let curve = |run: &RunResult| {
        let mut bins = [0_u64; BINS + 1];
        for (latency, count) in run.latencies.iter() {
            bins[((latency / high * BINS as f64) as usize).min(BINS)] += count;
        }
        let total = run.latencies.count().max(1) as f64;
        let share = bins.map(|count| 100.0 * count as f64 / total);
        let at = |bin: usize| bin as f64 / BINS as f64 * high;
        (0..BINS).flat_map(|bin| [(at(bin), share[bin]), (at(bin + 1), share[bin])]).collect::<Vec<_>>()
    };
    let curves: Vec<_> = runs.iter().map(|run| (&run.policy, curve(run))).collect();
    let most = curves.iter().flat_map(|(_, points)| points.iter().map(|(_, y)| *y)).fold(1.0, f64::max);
    let label = format!("latency in milliseconds, {load}");
    let x = ChartAxis { low: 0.0, high, log: false, label: &label };
    let mut chart = Chart::new(x, ChartAxis { low: 0.0, high: most * 1.05, log: false, label: "% of frames" });
    for (policy, points) in &curves {
        chart.line(policy, points, false);
    }
    if curves.is_empty() { String::new() } else { chart.finish(false) }
}

fn trade(curves: &[(String, Vec<(f64, f64)>)]) -> String {
    let all = || curves.iter().flat_map(|(_, points)| points.iter().copied());
    if all().next().is_none() {
        return String::new();
    }
    let (low, high) = all().fold((f64::MAX, 0.0_f64), |(low, high), (x, _)| (low.min(x), high.max(x)));
    let most = all().map(|(_, y)| y).fold(0.1, f64::max);
    let margin = (high - low).max(1.0) * 0.08;
    let x = ChartAxis { low: low - margin, high: high + margin, log: false, label: "input to light, p50 in ms" };
    let mut chart = Chart::new(x, ChartAxis { low: 0.0, high: most * 1.08, log: false, label: "drops per second" });
    for (name, points) in curves {
        chart.line(name, points, true);
    }
    chart.finish(false)
}

/// Adds origin, advice and table of each load.
fn loads(page: &mut String, report: &SimulationReport) {
    let mut names: Vec<&str> = report.runs.iter().map(|run| run.load.as_str()).collect();
    names.dedup();
    for name in names {
        let runs: Vec<&RunResult> = report.runs.iter().filter(|run| run.load == name).collect();
        let hertz = runs.first().map_or(0.0, |run| run.refresh_hz);
        let _ = write!(page, "<h2>{} at {hertz:.0} Hz</h2>", escape(name));
        if let Some(info) = report.loads.iter().find(|info| info.name == name) {
            if !info.answer.is_empty() {
                let _ = write!(page, "<p class=\"k\">{}</p>", with_code(&escape(&info.answer)));
            }
            if !info.from.is_empty() {
                let _ = write!(page, "<p>{} frames of {}</p>", info.frames, escape(&info.from));
            }
            for warning in &info.warnings {
                let _ = write!(page, "<p>Note: {}</p>", escape(warning));
            }
            let _ = write!(page, "<p>Recorder: {}.</p>", escape(info.recorder));
        }
        let baseline = cells::baseline(&runs);
        let (answers, motion): (Vec<_>, Vec<_>) = runs.iter().copied().partition(|run| cells::is_interaction(run));
        table(page, &MOTION, motion.iter().map(|run| cells::motion(run, baseline).to_vec()).collect());
        table(page, &INTERACTION, answers.iter().map(|run| cells::interaction(run).to_vec()).collect());
    }
    if !report.runs.is_empty() {
        page.push_str("<p class=\"m\">");
        for (place, TableColumn { name, meaning, .. }) in MOTION.iter().chain(&INTERACTION).enumerate() {
            // Explain a column of both tables only once.
            if place < MOTION.len() || MOTION.iter().all(|column| column.name != *name) {
                let _ = write!(page, "<b>{}</b>: {}. ", escape(name), escape(meaning));
            }
        }
        page.push_str("</p>");
    }
}

fn table(page: &mut String, columns: &[TableColumn], rows: Vec<Vec<String>>) {
    if rows.is_empty() {
        return;
    }
    page.push_str("<div class=\"w\"><table><tr>");
    for TableColumn { name, meaning, .. } in columns {
        let _ = write!(page, "<th title=\"{}\">{}</th>", escape(meaning), escape(name));
    }
    for row in rows {
        page.push_str("</tr><tr>");
        for cell in row {
            let _ = write!(page, "<td>{}</td>", escape(&cell));
        }
    }
    page.push_str("</tr></table></div>");
}

fn figures_table(page: &mut String, report: &SimulationReport) {
    if report.figures.is_empty() {
        return;
    }
    page.push_str(
        "<h2>Published figures</h2><div class=\"w\"><table><tr><th>figure</th><th>published</th><th>independent model</th>\
         <th>here</th><th class=\"l\">unit</th><th class=\"l\">kind</th><th class=\"l\">note</th></tr>",
    );
    for figure in &report.figures {
        let optional = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| number(value, figure.unit));
        let _ = write!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"l\">{}</td><td class=\"l\">{}</td>\
             <td class=\"l\">{}</td></tr>",
            escape(&figure.id),
            optional(figure.published),
            optional(figure.expected),
            number(figure.measured, figure.unit),
            figure.unit,
            kind_word(figure.kind),
            escape(figure.note)
        );
    }
    page.push_str("</table></div>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_an_answer_is_set_as_code() {
        assert_eq!(with_code(&escape("use `a < b` or `c`")), "use <code>a &lt; b</code> or <code>c</code>");
        assert_eq!(with_code("one ` alone"), "one <code> alone</code>");
    }
}
