//! `upbeat simulate --replay`: runs a recorded session under every policy; the result fits on one screen.

use std::fmt::Write;

use rayon::prelude::*;

use super::animation::{self, AnimationPolicy};
use super::clients;
use super::compositor::{self, ClientSetup, SimulatedMachine};
use super::load::Load;
use super::load::frame_log::RecordedSurface;
use super::result::{LatencySummary, RunResult};
use upbeat_timing::frames::AheadSettings;
use upbeat_timing::pacer::PacerMissBudgets;
use upbeat_timing::pacing::PacingWish;

/// Weight of drops against latency when the best policy is chosen: a drop per second is worth this many milliseconds.
/// So two drops a second equal one period at 60 Hz.
const MILLISECONDS_PER_DROP: f64 = 8.0;

/// Replays the recorded frames: paced by the conductor, and ahead.
pub fn run(recorded: &RecordedSurface) -> Vec<RunResult> {
    let load = &recorded.load;
    let usual = SimulatedMachine::headless(load.interval);
    let machine = SimulatedMachine {
        lead: recorded.lead.unwrap_or(usual.lead),
        compose: if recorded.compose.is_empty() { usual.compose } else { &recorded.compose },
        ..usual
    };
    let paced = PacingWish::ALL.into_par_iter().flat_map_iter(|pacing| {
        [(false, ""), (true, ", touched")]
            .into_iter()
            .filter(move |(held, _)| pacing == PacingWish::Auto || !held)
            .map(move |(held, suffix)| composited(load, machine, pacing, held, format!("{pacing}{suffix}")))
    });
    let mut runs: Vec<RunResult> = paced.collect();
    for slots in [4, 5] {
        let policy = AnimationPolicy::ahead(AheadSettings::buffers(slots));
        runs.push(ahead(load, format!("ahead, {slots} buffers"), slots, &policy));
    }
    let base = runs.iter().find(|run| run.policy == "vsync").map_or(0.0, |run| run.drops_per_s);
    for run in &mut runs {
        run.drop_reduction = if base > 0.0 { 1.0 - run.drops_per_s / base } else { 0.0 };
    }
    runs
}

/// Runs one client with these costs under the conductor.
fn composited(load: &Load, machine: SimulatedMachine<'_>, pacing: PacingWish, held: bool, name: String) -> RunResult {
    let setup = ClientSetup { frames: &load.frames, pacing, focused: true, held };
    let outcomes = compositor::run(&machine, &[setup], load.frames.len(), PacerMissBudgets::default());
    clients::result(load, name, outcomes.into_iter().next().unwrap_or_default())
}

fn ahead(load: &Load, name: String, slots: u8, policy: &AnimationPolicy) -> RunResult {
    let tally = animation::run(load, policy);
    RunResult {
        load: load.name.clone(),
        policy: name,
        buffers: slots,
        refresh_hz: 1.0 / load.interval.as_seconds_f64(),
        drops_per_s: tally.drops_per_second(),
        drop_percent: 100.0 * tally.drop_share(),
        hitches_per_s: tally.hitches_per_second(),
        fps: tally.frames_per_second(),
        longest_freeze_ms: tally.longest_gap.as_millis_f64(),
        latency_ms: LatencySummary::from(tally.latency()),
        age_ms: tally.content_age(),
        drops: tally.drops as f64,
        latencies: tally.latencies().clone(),
        ..RunResult::default()
    }
}

/// The report on one screen: the recorded figures, the figures of each policy, and advice.
pub fn render(recorded: &RecordedSurface, runs: &[RunResult]) -> String {
    let mut text = String::new();
    let light = recorded.callback_to_light;
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}: {} frames at {:.1} Hz, paced {}",
        recorded.load.name,
        recorded.load.frames.len(),
        1.0 / recorded.load.interval.as_seconds_f64(),
        recorded.pacing
    );
    if recorded.cut_off {
        let _ = writeln!(text, "note: its last line is cut off and was left out");
    }
    if recorded.gated {
        let _ = writeln!(
            text,
            "note: it draws before it is called back, so the log lacks the cost of that part: rows with another callback time \
             may be too good"
        );
    }
    let _ = writeln!(
        text,
        "\n  {:<20} {:>9} {:>9} {:>8} {:>24}",
        "", "drops/s", "hitches/s", "freeze", "callback to light 50/99"
    );
    let _ = writeln!(
        text,
        "  {:<20} {:>9.2} {:>9} {:>8} {:>24}",
        "as recorded",
        recorded.drops_per_second(),
        "-",
        "-",
        format!("{:.1} / {:.1} ms", light.p50, light.p99)
    );
    for run in runs {
        let _ = writeln!(
            text,
            "  {:<20} {:>9.2} {:>9.2} {:>5.0} ms {:>24}",
            run.policy,
            run.drops_per_s,
            run.hitches_per_s,
            run.longest_freeze_ms,
            format!("{:.1} / {:.1} ms", run.latency_ms.p50, run.latency_ms.p99)
        );
    }
    let _ = writeln!(text, "\n{}", advice(recorded, runs));
    text
}

/// The pacing that would have helped, in a sentence.
fn advice(recorded: &RecordedSurface, runs: &[RunResult]) -> String {
    let cost = |drops: f64, latency: f64| drops * MILLISECONDS_PER_DROP + latency;
    let paced = runs.iter().filter(|run| !run.policy.starts_with("ahead"));
    let best =
        paced.min_by(|a, b| cost(a.drops_per_s, a.latency_ms.p50).total_cmp(&cost(b.drops_per_s, b.latency_ms.p50)));
    let ahead = runs
        .iter()
        .filter(|run| run.policy.starts_with("ahead"))
        .min_by(|a, b| a.drops_per_s.total_cmp(&b.drops_per_s));
    let before = cost(recorded.drops_per_second(), recorded.callback_to_light.p50);
    let mut text = match best {
        // A real session has more delays than a simulation, so the recorded pacing itself is no advice.
        Some(best) if best.policy != recorded.pacing && cost(best.drops_per_s, best.latency_ms.p50) < 0.9 * before => {
            let is_smoother = best.drops_per_s <= recorded.drops_per_second();
            format!(
                "`{}` would have {}: {:.2} drops/s at {:.1} ms instead of {:.2} at {:.1}.",
                best.policy,
                if is_smoother { "helped" } else { "been seen sooner, and missed more" },
                best.drops_per_s,
                best.latency_ms.p50,
                recorded.drops_per_second(),
                recorded.callback_to_light.p50
            )
        }
        _ => "No other pacing would have been clearly better.".to_owned(),
    };
    if let Some(ahead) = ahead.filter(|ahead| ahead.drops_per_s < 0.5 * recorded.drops_per_second()) {
        let _ = write!(
            text,
            " If its frames do not answer input, running ahead ({} buffers) would have left {:.2} drops/s.",
            ahead.buffers, ahead.drops_per_s
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::FrameCost;
    use crate::tally::Summary;
    use upbeat_timing::time::Span;

    #[test]
    fn the_report_of_a_stutter_names_a_better_pacing() {
        let heavy = |index: usize| if index % 40 == 39 { 30_000 } else { 3_000 };
        let frames =
            (0..1_200).map(|index| FrameCost { record: Span::from_micros(heavy(index)), render: Span::ZERO }).collect();
        let interval = Span::from_nanos(16_666_667);
        let recorded = RecordedSurface {
            load: Load { name: "log".into(), interval, animation: 0, frames },
            callback_to_light: Summary { p50: 33.3, p99: 50.0, ..Summary::default() },
            drops: 45,
            duration: Span::from_seconds(30),
            pacing: "vsync".into(),
            gated: false,
            compose: Vec::new(),
            lead: None,
            cut_off: false,
        };
        let runs = run(&recorded);
        let ahead = runs.iter().find(|run| run.policy == "ahead, 4 buffers").unwrap();
        assert!(ahead.drops_per_s < 0.1, "{ahead:?}");
        let text = render(&recorded, &runs);
        assert!(text.contains("running ahead"), "{text}");
        assert!(text.lines().count() < 24 && !text.contains("note:"), "one screen");
        // A pacing with less latency but more drops is not called a help.
        let smooth = RecordedSurface { drops: 1, gated: true, ..recorded };
        let text = render(&smooth, &run(&smooth));
        assert!(!text.contains("would have helped") && text.contains("and missed more: "), "{text}");
        assert!(text.contains("note: it draws before it is called back"), "{text}");
    }

    /// A simulated run is written as a frame log and replayed: drops and latency stay the same.
    #[test]
    fn a_replayed_log_gives_the_figures_of_its_run() {
        let interval = Span::from_nanos(16_666_667);
        let frames: Vec<FrameCost> = (0..1_500)
            .map(|index: u64| {
                let micros = 3_000 + (index * 7_919 % 5_000) as i64 + if index % 60 == 59 { 14_000 } else { 0 };
                FrameCost { record: Span::from_micros(micros), render: Span::ZERO }
            })
            .collect();
        let setup = ClientSetup { frames: &frames, pacing: PacingWish::JustInTime, focused: true, held: false };
        let machine = SimulatedMachine::headless(interval);
        let measured = compositor::run(&machine, &[setup], frames.len(), PacerMissBudgets::default()).remove(0);
        let text: String = frames
            .iter()
            .map(|frame| {
                let cost = frame.total().as_nanos();
                format!("{{\"type\":\"client\",\"surface\":1,\"interval\":16666667,\"cost_wall\":{cost}}}\n")
            })
            .collect();
        let recorded = crate::load::frame_log::parse(&text, "log").unwrap();
        let runs = run(&recorded);
        let replayed = runs.iter().find(|run| run.policy == "just-in-time").unwrap();
        assert!((replayed.drops_per_s - measured.drops_per_second()).abs() < 0.2, "{replayed:?}");
        assert!((replayed.latency_ms.p50 - measured.callback_to_light.p50).abs() < 0.5, "{replayed:?}");
    }
}
