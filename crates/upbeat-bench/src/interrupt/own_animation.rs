//! Runs with the compositor's own animation. A frame answers to a press if its content was latched after the press,
//! which the frame log tells.

use super::driver::{InterruptOptions, SIZE};
use super::figures::{AnsweringFrame, InterruptRun};
use super::overview::PressReport;
use super::player::{PressPolicy, WARM_UP};
use crate::run::{BenchError, SessionBackend, SessionFolder, output_records};
use crate::statistics::Quantiles;
use upbeat_timing::record::{FrameOutcome, FrameRecord};
use upbeat_timing::time::{Instant, Span};

impl InterruptOptions {
    /// The TOML configurations of all sessions measured with `--own`, so that the compositor's tests can parse each.
    pub fn configurations(&self) -> Vec<String> {
        PressPolicy::ALL.into_iter().map(|answer| self.own_config(self.ahead, answer)).collect()
    }

    /// The configuration for a policy. The overview's animation lasts longer than the time between two presses.
    fn own_config(&self, frames_ahead: u8, answer: PressPolicy) -> String {
        let mode =
            self.size.as_ref().map(|size| format!("[[output]]\nname = \"*\"\nmode = \"{size}@{}\"\n", self.refresh));
        format!(
            "pacing = \"auto\"\n[animations]\nframes-ahead = {frames_ahead}\nsupersede = {}\n\
             [animations.overview]\nstyle = \"spring\"\nfrequency = 0.5\ndamping = 1.0\n\
             [effects]\nblur = {}\n[keys]\n\"A\" = \"overview\"\n{}",
            answer != PressPolicy::Queued,
            self.blur,
            mode.filter(|_| self.backend == SessionBackend::Drm).unwrap_or_default(),
        )
    }

    pub(super) fn own_session(
        &self,
        answer: PressPolicy,
        title: &str,
        folder: &SessionFolder,
    ) -> Result<InterruptRun, BenchError> {
        let log = folder.path("frames.jsonl");
        let ahead = if answer == PressPolicy::JustInTime { 0 } else { self.ahead };
        let output = format!("{}@{}", self.size.as_deref().unwrap_or(SIZE), self.refresh);
        let session = folder.session(title, &output, &self.own_config(ahead, answer))?;
        let session = session
            .with_backend(self.backend)
            .with_option("--renderer", &self.renderer)
            .with_option("--frame-log", &log);
        let pairs = [
            ("--press", self.press.name().to_owned()),
            ("--presses", self.presses.to_string()),
            ("--refresh", self.refresh.to_string()),
            ("--seed", self.seed.to_string()),
        ];
        let pressed: PressReport =
            session.run("overview", pairs.into_iter().flat_map(|(name, value)| [name.to_owned(), value]))?;
        let interval = Span::from_millihertz((self.refresh * 1_000.0).round() as u32);
        let run = count(&output_records(log)?, &pressed, interval);
        Ok(InterruptRun { policy: answer.name().to_owned(), ahead: ahead.into(), press: self.press, ..run })
    }
}

/// The figures of these frames.
fn count(records: &[FrameRecord], pressed: &PressReport, interval: Span) -> InterruptRun {
    let presses = &pressed.presses;
    let answers = |record: &FrameRecord| presses.partition_point(|press| *press < record.latched);
    let mut shown: Vec<(AnsweringFrame, &FrameRecord)> = records
        .iter()
        .filter(|record| record.outcome == FrameOutcome::Presented)
        .filter_map(|record| Some((AnsweringFrame { at: record.presented?, answers: answers(record) }, record)))
        .collect();
    shown.sort_by_key(|(shown, _)| shown.at);
    let first = presses.first().copied().unwrap_or(Instant::ZERO);
    let (mut costs, mut of_answers, mut known) = (Vec::new(), Vec::new(), 0);
    for (frame, record) in shown.iter().filter(|(frame, _)| frame.at > first) {
        costs.push(record.compose_cost);
        if frame.answers > known {
            known = frame.answers;
            of_answers.push(record.compose_cost);
        }
    }
    let waited = |press: &Instant| {
        let stale = shown.iter().filter(|(frame, record)| frame.at > *press && record.latched < *press);
        stale.count()
    };
    let mut under_way: Vec<usize> = presses.iter().skip(WARM_UP).map(waited).collect();
    under_way.sort_unstable();
    let frames = costs.len().max(1) as f64;
    let median = |costs| Quantiles::of(costs).map_or(0.0, |costs| costs.p50);
    let shown: Vec<AnsweringFrame> = shown.into_iter().map(|(shown, _)| shown).collect();
    InterruptRun {
        cost_ms: median(costs),
        answer_cost_ms: median(of_answers),
        under_way: under_way.get(under_way.len() / 2).copied().unwrap_or_default(),
        compositor_cpu_ms_per_frame: Some(pressed.used.compositor_cpu_ms / frames),
        client_cpu_ms_per_frame: Some(pressed.used.client_cpu_ms / frames),
        ..InterruptRun::count(presses, WARM_UP, &shown, interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::animations::CpuTimeUsed;

    fn record(latched: u64, presented: u64) -> FrameRecord {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        FrameRecord {
            latched: at(latched),
            presented: Some(at(presented)),
            outcome: FrameOutcome::Presented,
            compose_cost: Span::from_millis(latched as i64 % 7),
            ..FrameRecord::default()
        }
    }

    #[test]
    fn a_frame_answers_to_presses_before_its_latch() {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        // Three presses warm up. The fourth comes while two finished frames wait that do not answer to it.
        let presses = vec![at(1), at(2), at(3), at(105)];
        let pressed = PressReport { presses, used: CpuTimeUsed { compositor_cpu_ms: 0.0, client_cpu_ms: 0.0 } };
        let frames = [record(4, 100), record(98, 110), record(101, 120), record(107, 130)];
        let run = count(&frames, &pressed, Span::from_millis(10));
        assert_eq!((run.presses, run.under_way, run.stale_per_press, run.drops_per_press), (1, 2, 2.0, 0.0));
        assert_eq!(run.input_to_light_ms.map(|of| of.p50), Some(25.0));
    }
}
