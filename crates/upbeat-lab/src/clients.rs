//! `upbeat simulate --clients N`: several clients with the same costs on one output, under every pacing.
//!
//! The first has the focus. Each starts at another frame of the load, so that their heavy frames do not coincide.

use std::fmt::Write;

use rayon::prelude::*;

use super::compositor::{self, ClientOutcome, ClientSetup, SimulatedMachine};
use super::load::{FrameCost, Load};
use super::result::{LatencySummary, RunResult};
use upbeat_timing::pacer::PacerMissBudgets;
use upbeat_timing::pacing::PacingWish;

/// Runs `load` for `clients` clients on `cores` cores. Returns two results for every pacing: the focused client, and
/// the worst of the other clients.
pub fn run(load: &Load, clients: usize, cores: usize) -> Vec<RunResult> {
    let machine = SimulatedMachine { cores, ..SimulatedMachine::headless(load.interval) };
    let frames: Vec<Vec<FrameCost>> = (0..clients)
        .map(|client| {
            let mut frames = load.frames.clone();
            frames.rotate_left(client * load.frames.len() / clients.max(1));
            frames
        })
        .collect();
    let mut runs: Vec<RunResult> = PacingWish::ALL
        .into_par_iter()
        .flat_map_iter(|pacing| {
            let setups: Vec<ClientSetup<'_>> = frames
                .iter()
                .enumerate()
                .map(|(client, frames)| ClientSetup { frames, pacing, focused: client == 0, held: false })
                .collect();
            let mut outcomes =
                compositor::run(&machine, &setups, load.frames.len(), PacerMissBudgets::default()).into_iter();
            let focused = outcomes.next().map(|outcome| result(load, format!("{pacing}, focused"), outcome));
            let worst = outcomes.max_by(|a, b| a.callback_to_light.p50.total_cmp(&b.callback_to_light.p50));
            let others =
                worst.map(|outcome| result(load, format!("{pacing}, worst of {} others", clients - 1), outcome));
            focused.into_iter().chain(others).collect::<Vec<_>>()
        })
        .collect();
    let base = runs.iter().find(|run| run.policy == "vsync, focused").map_or(0.0, |run| run.drops_per_s);
    for run in &mut runs {
        run.drop_reduction = if base > 0.0 { 1.0 - run.drops_per_s / base } else { 0.0 };
    }
    runs
}

/// The outcome of a client as a row of a report.
pub(super) fn result(load: &Load, policy: String, outcome: ClientOutcome) -> RunResult {
    // A client draws at its callback, so its content is as old as the callback.
    let age_ms = outcome.callback_to_light.mean;
    RunResult {
        load: load.name.clone(),
        policy,
        buffers: 3,
        refresh_hz: 1.0 / load.interval.as_seconds_f64(),
        drops_per_s: outcome.drops_per_second(),
        drops: outcome.drops as f64,
        drop_percent: 100.0 * outcome.drops_per_second() * load.interval.as_seconds_f64(),
        hitches_per_s: outcome.hitches as f64 / outcome.duration.as_seconds_f64().max(1e-9),
        fps: outcome.frames_per_second(),
        longest_freeze_ms: outcome.longest_gap.as_millis_f64(),
        latency_ms: LatencySummary::from(outcome.callback_to_light),
        latencies: outcome.latencies.into_iter().map(f64::from).collect(),
        age_ms,
        ..RunResult::default()
    }
}

/// The results of a load as text.
pub fn render(load: &Load, clients: usize, cores: usize, runs: &[RunResult]) -> String {
    let mut text = String::new();
    let hertz = 1.0 / load.interval.as_seconds_f64();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\n{} at {hertz:.0} Hz, {clients} clients on {cores} cores", load.name);
    let _ = writeln!(
        text,
        "  {:<34} {:>8} {:>6} {:>8} {:>8} {:>28}",
        "", "drops/s", "fps", "hitch/s", "freeze", "callback to light 50/99/max"
    );
    for run in runs {
        let latency = run.latency_ms;
        let _ = writeln!(
            text,
            "  {:<34} {:>8.2} {:>6.1} {:>8.2} {:>5.0} ms {:>28}",
            run.policy,
            run.drops_per_s,
            run.fps,
            run.hitches_per_s,
            run.longest_freeze_ms,
            format!("{:.1} / {:.1} / {:.1} ms", latency.p50, latency.p99, latency.max)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use upbeat_timing::time::Span;

    #[test]
    fn the_focused_client_is_as_fresh_as_if_it_were_alone_and_the_others_keep_their_rate() {
        let cost = FrameCost { record: Span::from_micros(300), render: Span::from_micros(500) };
        let load =
            Load { name: "flat".into(), interval: Span::from_nanos(16_666_667), animation: 0, frames: vec![cost; 600] };
        let of = |runs: &[RunResult], name: &str| runs.iter().find(|run| run.policy == name).unwrap().clone();
        let alone = of(&run(&load, 1, 2), "auto, focused");
        let among = run(&load, 10, 2);
        let focused = of(&among, "auto, focused");
        assert!(
            focused.latency_ms.p50 < alone.latency_ms.p50 + 0.5,
            "{} {}",
            focused.latency_ms.p50,
            alone.latency_ms.p50
        );
        assert_eq!(of(&among, "auto, worst of 9 others").drops_per_s, 0.0);
        assert!(of(&among, "vsync, focused").latency_ms.p50 > 30.0);
    }
}
