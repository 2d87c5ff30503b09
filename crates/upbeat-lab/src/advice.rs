//! Advice on a load, as text: which pacing would help, its cost, the drops that would remain, and the code for it.

use std::fmt::Write;

use super::animation::FrameMiss;
use super::load::Load;
use super::policy::{BASELINE, NamedPolicy, PolicyKind};
use super::report::cells::{FEWEST_DROPS, fewer};
use super::result::RunResult;
use upbeat_timing::defaults::ESTIMATOR;
use upbeat_timing::frames::FrameTrigger;
use upbeat_timing::time::Span;

/// A longer frame is not only drawing: it compiles shaders or loads a level.
const NOT_DRAWING: Span = Span::from_millis(100);
/// More buffers are advised only if fewer buffers have this many times the drops…
const WORTH_A_BUFFER: f64 = 1.3;
/// …plus this many drops per second.
const WORTH_A_DROP: f64 = 0.02;
/// If frames take more than this part of a refresh on average, no pacing helps.
const FULL: f64 = 0.98;
/// For a load above that, drawing ahead is advised only if it makes this many times the frames.
const WORTH_A_RATE: f64 = 1.03;
/// Misses within this many refreshes form a cluster.
const TOGETHER: i64 = 6;
/// Misses are periodic if the standard deviation of their distances is at most this part of the mean, and if there are
/// at least as many as below.
const REGULAR: f64 = 0.15;
const FEWEST_PERIODS: usize = 6;

/// The advice for a load; `None` if no run draws ahead.
pub fn advise(load: &Load, policies: &[NamedPolicy], runs: &[RunResult]) -> Option<String> {
    let run = |name: &str| runs.iter().find(|run| run.policy == name);
    let baseline = run(BASELINE)?;
    let best = best(policies, runs)?;
    let mut text = String::new();
    let slower =
        load.frames.iter().map(|frame| frame.slower().as_millis_f64()).sum::<f64>() / load.frames.len().max(1) as f64;
    let interval = load.interval.as_millis_f64();
    // Writing to a String cannot fail.
    if slower > FULL * interval {
        add_overload_advice(&mut text, slower, interval, baseline, best);
    } else if baseline.drops == 0.0 {
        text.push_str("No refresh is missed with three buffers at the refresh: nothing would be smoother.");
    } else {
        drawing_ahead(&mut text, baseline, best);
        add_remaining_misses(&mut text, &best.misses);
        let _ = write!(text, " {}", pattern(&baseline.misses, load.interval));
        if best.drop_reduction > 0.0 {
            add_code(&mut text, best);
        }
    }
    let answers = run("legacy").zip(run(&format!("jitt-{ESTIMATOR}")));
    if let Some((pulse, just_in_time)) = answers.filter(|(pulse, ours)| ours.latency_ms.p50 < pulse.latency_ms.p50) {
        let _ = write!(
            text,
            " Where its frames answer input: just in time they are light {:.1} ms after it (p50), at the pulse {:.1}.",
            just_in_time.latency_ms.p50, pulse.latency_ms.p50
        );
    }
    Some(text)
}

/// Advice for a load above the refresh rate: the possible rate, and the rate of each pacing.
fn add_overload_advice(text: &mut String, slower: f64, interval: f64, baseline: &RunResult, best: &RunResult) {
    let _ = write!(
        text,
        "Its slower stage takes {slower:.1} ms on average and a refresh {interval:.1}: {:.1} fps are all that fit, whatever the \
         pacing.",
        1e3 / slower
    );
    if best.fps < WORTH_A_RATE * baseline.fps {
        text.push_str(" Only cheaper frames help, or a slower display.");
        return;
    }
    let _ = write!(
        text,
        " At the refresh it makes {:.1} of them, drawn ahead with {} buffers {:.1}; beyond that only cheaper frames help, or a \
         slower display.",
        baseline.fps, best.buffers, best.fps
    );
    add_code(text, best);
}

/// Adds the code that gives this pacing.
fn add_code(text: &mut String, best: &RunResult) {
    let _ = write!(
        text,
        " To get it: `upbeat_frame_pacing_v1` with `set_ahead_limit({0})` and {1} buffers; in Rust \
         `FramePacer::set_options(PacingOptions {{ ahead_limit: {0}, ..Default::default() }})`.",
        best.buffers.saturating_sub(1),
        best.buffers
    );
}

/// The run with the fewest buffers that is hardly worse than the best, among runs that draw ahead without extensions.
fn best<'a>(policies: &[NamedPolicy], runs: &'a [RunResult]) -> Option<&'a RunResult> {
    let ahead = policies.iter().filter_map(|policy| match policy.kind {
        PolicyKind::Animation(kind) if kind.trigger == FrameTrigger::Ahead && !kind.variable => Some((policy, kind)),
        _ => None,
    });
    let plain = ahead.filter(|(_, kind)| kind.settings.run_ahead == 0 && kind.settings.start_delay == 0);
    let mut found: Vec<_> = plain.filter_map(|(policy, _)| runs.iter().find(|run| run.policy == policy.name)).collect();
    found.sort_by_key(|run| run.buffers);
    let least = found.iter().map(|run| run.drops_per_s).min_by(f64::total_cmp)?;
    found.into_iter().find(|run| run.drops_per_s <= WORTH_A_BUFFER * least + WORTH_A_DROP)
}

fn drawing_ahead(text: &mut String, baseline: &RunResult, best: &RunResult) {
    if baseline.drops < FEWEST_DROPS {
        let _ = write!(text, "Only {:.0} refreshes are missed: a longer log would say more. ", baseline.drops);
    }
    if best.drop_reduction <= 0.0 {
        text.push_str("Drawing ahead would not miss fewer.");
        return;
    }
    if baseline.drops < FEWEST_DROPS && best.drop_reduction_bounds.is_some_and(|[least, _]| least < 0.0) {
        text.push_str("Whether drawing ahead misses fewer cannot be told from so few.");
        return;
    }
    let older = best.age_ms - baseline.age_ms;
    let _ = write!(
        text,
        "Drawn ahead with {} buffers: {} fewer missed refreshes, {}.",
        best.buffers,
        fewer(best, baseline.drops),
        if older >= 0.5 {
            format!("for content that is {older:.0} ms older when it is seen")
        } else {
            "at no latency".into()
        }
    );
}

/// Adds the causes of the remaining misses.
fn add_remaining_misses(text: &mut String, misses: &[FrameMiss]) {
    let all: u64 = misses.iter().map(|miss| miss.drops).sum();
    let hopeless: u64 = misses.iter().filter(|miss| miss.cost.slower() > NOT_DRAWING).map(|miss| miss.drops).sum();
    if all == 0 {
        return;
    }
    let share = 100.0 * hopeless as f64 / all as f64;
    let longest = misses.iter().map(|miss| miss.cost.slower().as_millis_f64()).fold(0.0, f64::max);
    let _ = if share >= 1.0 {
        write!(
            text,
            " {share:.0} % of the remaining misses are frames over {:.0} ms (shaders that are compiled, levels that are loaded), \
             which no queue hides.",
            NOT_DRAWING.as_millis_f64()
        )
    } else {
        write!(text, " The remaining misses are frames of up to {longest:.0} ms.")
    };
}

/// Distribution of the misses over time, as a sentence.
fn pattern(misses: &[FrameMiss], interval: Span) -> String {
    let distances: Vec<f64> = misses.windows(2).map(|pair| (pair[1].at - pair[0].at).as_seconds_f64()).collect();
    let together = (interval * TOGETHER).as_seconds_f64();
    let near = distances.iter().filter(|distance| **distance <= together).count();
    if distances.is_empty() {
        return "It is a single miss.".to_owned();
    }
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let spread =
        (distances.iter().map(|distance| (distance - mean).powi(2)).sum::<f64>() / distances.len() as f64).sqrt();
    if 2 * near >= distances.len() {
        let clusters = misses.len() - near;
        format!(
            "The misses come in clusters: {clusters} of {:.1} each on average.",
            misses.len() as f64 / clusters as f64
        )
    } else if distances.len() >= FEWEST_PERIODS && spread < REGULAR * mean {
        format!("The misses are periodic, one every {mean:.2} s: something else happens at that rhythm.")
    } else {
        format!("The misses are single ones, {mean:.1} s apart on average.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::FrameCost;

    const INTERVAL: Span = Span::from_nanos(16_666_667);

    fn miss(millis: i64) -> FrameMiss {
        FrameMiss { at: Span::from_millis(millis), drops: 1, cost: FrameCost::default() }
    }

    #[test]
    fn misses_are_single_clustered_or_periodic() {
        let of = |times: &[i64]| pattern(&times.iter().map(|time| miss(*time)).collect::<Vec<_>>(), INTERVAL);
        assert_eq!(of(&[5]), "It is a single miss.");
        assert!(of(&[0, 1_000, 2_010, 2_990, 4_000, 5_000, 6_000, 7_005]).contains("periodic, one every 1.00 s"));
        assert!(of(&[0, 17, 34, 5_000, 5_050, 9_000, 9_020]).contains("clusters: 3 of 2.3 each"));
        assert!(of(&[0, 400, 2_900, 3_300, 7_700]).contains("single ones, 1.9 s apart"));
    }

    #[test]
    fn advice_for_an_overload_names_the_reachable_rate() {
        let told = |ahead: f64| {
            let (baseline, best) = (
                RunResult { fps: 88.9, ..RunResult::default() },
                RunResult { fps: ahead, buffers: 4, ..RunResult::default() },
            );
            let mut text = String::new();
            add_overload_advice(&mut text, 8.54, 8.33, &baseline, &best);
            text
        };
        assert!(told(90.0).ends_with(
            "117.1 fps are all that fit, whatever the pacing. Only cheaper frames help, or a slower display."
        ));
        assert!(
            told(117.0).contains("At the refresh it makes 88.9 of them, drawn ahead with 4 buffers 117.0; beyond that")
        );
        assert!(told(117.0).contains("set_ahead_limit(3)"));
    }

    #[test]
    fn remaining_misses_are_described_by_their_cost() {
        let told = |millis: &[i64]| {
            let miss = |ms: &i64| FrameMiss {
                cost: FrameCost { record: Span::ZERO, render: Span::from_millis(*ms) },
                ..miss(0)
            };
            let mut text = String::new();
            add_remaining_misses(&mut text, &millis.iter().map(miss).collect::<Vec<_>>());
            text
        };
        assert_eq!(told(&[]), "");
        assert_eq!(told(&[40, 60]), " The remaining misses are frames of up to 60 ms.");
        assert!(told(&[40, 160]).starts_with(" 50 % of the remaining misses are frames over 100 ms"));
    }
}
