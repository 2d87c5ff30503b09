//! The same run in the simulator, from the costs in the frame log, to compare with the recorded pixels.
//!
//! ```text
//!   frame log ── time of each frame, time from `ready_by` to light ──┐
//!   hand      ── times of the reports ───────────────────────────────┴─► interaction (upbeat-lab) ─► latency, missed
//! ```
//!
//! Only for generated hands, because the simulator's hand moves up and down as theirs does.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::hand::SentReport;
use crate::run::{BenchError, client_records};
use upbeat_lab::interaction::{AppCost, InteractionPolicy, InteractionSetup, JustInTimePolicy, run};
use upbeat_lab::load::FrameCost;
use upbeat_timing::defaults::{ESTIMATOR, INTERACTIVE_MISS};
use upbeat_timing::record::ClientFrameRecord;
use upbeat_timing::time::Span;

/// Refreshes of the simulation: an error of the mean below 0.1 ms.
const REFRESHES: usize = 20_000;

/// Figures of the simulated run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedInk {
    /// Median of event→line 0, or of event→row for ink that is written in place, in milliseconds.
    pub p50_ms: f64,
    /// Share of the refreshes that showed nothing new.
    pub missed: f64,
    /// Median time of a frame, from the callback to the commit, in milliseconds: T_app.
    pub app_ms: f64,
    /// Median time from the deadline of a commit to its light (of its row, if written in place), in milliseconds: T_out.
    pub output_ms: f64,
}

/// Just-in-time pacing as in a session: frames do not begin with events.
pub(super) const fn just_in_time() -> JustInTimePolicy {
    JustInTimePolicy { snap: false, ..JustInTimePolicy::new(ESTIMATOR, INTERACTIVE_MISS) }
}

/// Simulates the run whose frame log is `log`; `None` without frames.
///
/// # Errors
/// If the log cannot be read.
pub(super) fn simulate(
    policy: JustInTimePolicy,
    log: PathBuf,
    sent: &[SentReport],
    (interval, active): (Span, Span),
) -> Result<Option<SimulatedInk>, BenchError> {
    let (Some(first), Some(last)) = (sent.first(), sent.last()) else { return Ok(None) };
    let records = client_records(log)?;
    let during = |record: &&ClientFrameRecord| record.committed.is_some_and(|at| at >= first.at && at <= last.at);
    let during: Vec<&ClientFrameRecord> = records.iter().filter(during).collect();
    let mut costs: Vec<Span> = during.iter().filter_map(|record| record.cost_wall).collect();
    let light = |record: &&ClientFrameRecord| record.presented.filter(|_| record.refreshes_late() == Some(0));
    let mut outputs: Vec<Span> = during
        .iter()
        .filter_map(|record| Some(light(record)? - record.ready_by))
        .filter(|span| !span.is_negative())
        .collect();
    let frames: Vec<FrameCost> = costs.iter().map(|cost| FrameCost { record: *cost, render: Span::ZERO }).collect();
    let (Some(app), Some(output)) = (median(&mut costs), median(&mut outputs)) else { return Ok(None) };
    let recorded: Vec<Span> = sent.iter().map(|report| report.at - first.at).collect();
    let setup = InteractionSetup {
        interval,
        // The pixels' figure of a whole picture is that of line 0.
        active: if policy.in_place { active } else { Span::ZERO },
        input_interval: (last.at - first.at) / (sent.len() as i64 - 1).max(1),
        recorded: &recorded,
        touch: Span::ZERO,
        output,
        output_in_place: output,
        ..InteractionSetup::presto(AppCost::Frames(&frames), REFRESHES, 1)
    };
    let response = run(&setup, &InteractionPolicy::JustInTime(policy));
    Ok(Some(SimulatedInk {
        p50_ms: response.latency.p50,
        missed: response.repeated,
        app_ms: app.as_millis_f64(),
        output_ms: output.as_millis_f64(),
    }))
}

/// The figures for a line of the table.
pub(super) fn text(of: SimulatedInk) -> String {
    let SimulatedInk { p50_ms, missed, app_ms, output_ms } = of;
    format!(", simulated {p50_ms:.1} with {:.2} missed (T_app {app_ms:.2}, T_out {output_ms:.2})", 100.0 * missed)
}

fn median(spans: &mut [Span]) -> Option<Span> {
    spans.sort_unstable();
    spans.get(spans.len() / 2).copied()
}
