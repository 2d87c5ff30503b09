//! Records each frame and each input of a run, and computes the figures. Pure.

use crate::pixels::{InjectedInput, ProbeJournal, ReportedFrame};
use crate::report::RunReport;
use crate::statistics::Quantiles;
use upbeat_timing::time::{Instant, Span};

/// A gap between presented frames that a person sees: longer than this share of the refresh interval (in percent).
const HITCH_PERCENT: i64 = 126;

/// Presentation feedback of a shown frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameLight {
    /// Start of scan-out.
    pub at: Instant,
    /// The display's refresh counter; zero where the compositor has none.
    pub sequence: u64,
    /// The refresh interval that the compositor reports; zero if unknown.
    pub refresh: Span,
}

/// Result of a committed frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ProbeOutcome {
    /// No feedback has arrived.
    #[default]
    Pending,
    Presented(FrameLight),
    /// A newer frame was shown instead.
    Discarded,
}

/// A committed frame of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProbeFrame {
    /// When the frame's callback was done; `None` for a client that requests no callbacks.
    pub callback: Option<Instant>,
    /// When drawing began: the age of the content counts from here.
    pub start: Instant,
    pub commit: Instant,
    /// As set by the load.
    pub cost: Span,
    /// The newest input event in it.
    pub event: u32,
    pub outcome: ProbeOutcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SentInput {
    pub number: u32,
    pub at: Instant,
}

/// All frames of the client, in the order of their commits.
#[derive(Debug, Default)]
pub(super) struct FrameJournal {
    frames: Vec<ProbeFrame>,
}

/// Drops and hitches of a run, between its first and its last light.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cadence {
    seconds: f64,
    drops: u64,
    hitches: u64,
    by_sequence: bool,
}

impl FrameJournal {
    /// Reserves memory for `frames` frames, so that recording a frame allocates nothing.
    pub(super) fn with_capacity(frames: usize) -> Self {
        FrameJournal { frames: Vec::with_capacity(frames) }
    }

    /// Records a committed frame; its index is the handle for [`FrameJournal::set_outcome`].
    pub(super) fn committed(&mut self, frame: ProbeFrame) -> usize {
        self.frames.push(frame);
        self.frames.len() - 1
    }

    /// Records the result of frame `index`.
    pub(super) fn set_outcome(&mut self, index: usize, outcome: ProbeOutcome) {
        if let Some(frame) = self.frames.get_mut(index) {
            frame.outcome = outcome;
        }
    }

    /// Number of committed frames.
    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Number of shown frames.
    pub(super) fn presented(&self) -> usize {
        self.frames.iter().filter(|frame| matches!(frame.outcome, ProbeOutcome::Presented(_))).count()
    }

    /// Whether every frame has a result.
    pub(super) fn is_settled(&self) -> bool {
        self.frames.iter().all(|frame| frame.outcome != ProbeOutcome::Pending)
    }

    /// The figures of the frames from index `first` to before `end`, and of the inputs injected while they were drawn.
    ///
    /// `mode_refresh` is used where the compositor reports no refresh interval. `owes` is true for a client that owes a
    /// frame to every refresh (it requests callbacks or queues frames), false for a client that owes one only after a
    /// commit.
    pub(super) fn figures(
        &self,
        first: usize,
        end: usize,
        injected: &[SentInput],
        mode_refresh: Option<Span>,
        owes: bool,
    ) -> RunReport {
        let frames = &self.frames[first.min(self.frames.len())..end.min(self.frames.len())];
        let shown: Vec<(&ProbeFrame, FrameLight)> = frames
            .iter()
            .filter_map(
                |frame| if let ProbeOutcome::Presented(light) = frame.outcome { Some((frame, light)) } else { None },
            )
            .collect();
        let refresh = refresh_of(&shown, mode_refresh);
        let cadence = refresh.and_then(|refresh| cadence(&shown, refresh, owes));
        let per_second = |count: u64| cadence.map_or(0.0, |cadence| count as f64 / cadence.seconds);
        let inputs = input_to_light(&shown, injected_during(frames, injected));
        RunReport {
            refresh_hz: refresh.map(|refresh| 1.0 / refresh.as_seconds_f64()),
            drops_from: if cadence.is_some_and(|cadence| cadence.by_sequence) { "sequence" } else { "time" }.to_owned(),
            seconds: cadence.map_or(0.0, |cadence| cadence.seconds),
            frames: shown.len() as u64,
            discarded: frames.iter().filter(|frame| frame.outcome == ProbeOutcome::Discarded).count() as u64,
            inputs: inputs.len() as u64,
            fps: per_second(shown.len().saturating_sub(1) as u64),
            drops_per_s: per_second(cadence.map_or(0, |cadence| cadence.drops)),
            hitches_per_s: per_second(cadence.map_or(0, |cadence| cadence.hitches)),
            input_to_light_ms: Quantiles::of(inputs),
            callback_to_light_ms: Quantiles::of(
                shown.iter().filter_map(|(frame, light)| Some(light.at - frame.callback?)),
            ),
            content_to_light_ms: Quantiles::of(shown.iter().map(|(frame, light)| light.at - frame.start)),
            commit_to_light_ms: Quantiles::of(shown.iter().map(|(frame, light)| light.at - frame.commit)),
            callback_to_commit_ms: Quantiles::of(
                frames.iter().filter_map(|frame| Some(frame.commit - frame.callback?)),
            ),
            cost_ms: Quantiles::of(frames.iter().map(|frame| frame.cost)),
            ..RunReport::default()
        }
    }

    /// The same frames and inputs as plain data, for the comparison with recorded pixels.
    pub(super) fn export(&self, first: usize, end: usize, injected: &[SentInput]) -> ProbeJournal {
        let end = end.min(self.frames.len());
        let frames = &self.frames[first.min(end)..end];
        // The number drawn in a frame's code is its index here, counted from one.
        let numbered = || (first as u32 + 1..).zip(frames);
        let presented = |(number, frame): (u32, &ProbeFrame)| match frame.outcome {
            ProbeOutcome::Presented(light) => {
                Some(ReportedFrame { frame: number, at: light.at, sequence: light.sequence })
            }
            ProbeOutcome::Pending | ProbeOutcome::Discarded => None,
        };
        let discarded = numbered().filter(|(_, frame)| frame.outcome == ProbeOutcome::Discarded);
        let inputs = injected_during(frames, injected).map(|input| InjectedInput { event: input.number, at: input.at });
        ProbeJournal {
            inputs: inputs.collect(),
            frames: numbered().filter_map(presented).collect(),
            discarded: discarded.map(|(number, _)| number).collect(),
        }
    }
}

/// The inputs injected while these frames were drawn.
fn injected_during<'a>(frames: &[ProbeFrame], injected: &'a [SentInput]) -> impl Iterator<Item = &'a SentInput> {
    let span = frames.first().zip(frames.last()).map(|(first, last)| first.start..last.start);
    injected.iter().filter(move |input| span.as_ref().is_some_and(|span| span.contains(&input.at)))
}

/// The refresh interval: as reported with the frames, else the output mode's, else the shortest gap.
fn refresh_of(shown: &[(&ProbeFrame, FrameLight)], mode_refresh: Option<Span>) -> Option<Span> {
    let reported = shown.last().map(|(_, light)| light.refresh).filter(|refresh| *refresh > Span::ZERO);
    let shortest = || shown.windows(2).map(|pair| pair[1].1.at - pair[0].1.at).filter(|gap| *gap > Span::ZERO).min();
    reported.or(mode_refresh).or_else(shortest)
}

/// Counts refreshes, drops and hitches from one light to the next.
///
/// ```text
/// refresh   1     2     3     4     5     6
/// light     A     ·     B     ·     ·     C      drops: 2, 4 and 5; hitches: two gaps
/// ```
fn cadence(shown: &[(&ProbeFrame, FrameLight)], refresh: Span, owes: bool) -> Option<Cadence> {
    let (first, last) = (shown.first()?.1, shown.last()?.1);
    let seconds = (last.at - first.at).as_seconds_f64();
    if seconds <= 0.0 {
        return None;
    }
    let by_sequence = shown.iter().all(|(_, light)| light.sequence != 0);
    let mut cadence = Cadence { seconds, drops: 0, hitches: 0, by_sequence };
    for pair in shown.windows(2) {
        let ((_, before), (frame, after)) = (pair[0], pair[1]);
        let gap = after.at - before.at;
        let refreshes =
            if by_sequence { after.sequence.saturating_sub(before.sequence) } else { rounded_ratio(gap, refresh) };
        // A client with its own clock owes nothing until it has committed. The first refresh after the commit may be
        // too early for the compositor's latch, so it is not yet a drop.
        let waited = ((after.at - frame.commit).as_nanos() / refresh.as_nanos().max(1)).max(0) as u64;
        let missed = refreshes.saturating_sub(1);
        cadence.drops += if owes { missed } else { missed.min(waited) };
        cadence.hitches += u64::from(gap > refresh.scale(HITCH_PERCENT, 100));
    }
    Some(cadence)
}

fn rounded_ratio(gap: Span, refresh: Span) -> u64 {
    let (gap, refresh) = (gap.as_nanos().max(0), refresh.as_nanos().max(1));
    ((gap + refresh / 2) / refresh) as u64
}

/// For each input the time to the light of the first frame with it or with a later input. Inputs that are in no frame
/// of the run are left out.
fn input_to_light<'a>(shown: &[(&ProbeFrame, FrameLight)], injected: impl Iterator<Item = &'a SentInput>) -> Vec<Span> {
    let mut frames = shown.iter().peekable();
    let mut latencies = Vec::new();
    for input in injected {
        while frames.next_if(|(frame, _)| frame.event < input.number).is_some() {}
        let Some((_, light)) = frames.peek() else { break };
        latencies.push(light.at - input.at);
    }
    latencies
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFRESH: Span = Span::from_millis(10);

    fn at(millis: i64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// A frame whose callback, drawing and commit lie 9, 9 and 5 ms before its light.
    fn frame(light: i64, sequence: u64, event: u32) -> ProbeFrame {
        ProbeFrame {
            callback: Some(at(light - 9)),
            start: at(light - 9),
            commit: at(light - 5),
            cost: Span::from_millis(4),
            event,
            outcome: ProbeOutcome::Presented(FrameLight { at: at(light), sequence, refresh: REFRESH }),
        }
    }

    fn journal(frames: &[ProbeFrame]) -> FrameJournal {
        FrameJournal { frames: frames.to_vec() }
    }

    fn figures(frames: &[ProbeFrame]) -> RunReport {
        journal(frames).figures(0, frames.len(), &[], None, true)
    }

    #[test]
    fn a_frame_at_every_refresh_has_no_drops() {
        let report = figures(&[frame(10, 1, 0), frame(20, 2, 0), frame(30, 3, 0)]);
        assert_eq!((report.frames, report.fps, report.drops_per_s, report.hitches_per_s), (3, 100.0, 0.0, 0.0));
        assert_eq!(report.refresh_hz, Some(100.0));
        assert_eq!(report.callback_to_light_ms, Some(Quantiles { p50: 9.0, p99: 9.0, max: 9.0 }));
        assert_eq!(report.commit_to_light_ms, Some(Quantiles { p50: 5.0, p99: 5.0, max: 5.0 }));
        assert_eq!(report.callback_to_commit_ms, Some(Quantiles { p50: 4.0, p99: 4.0, max: 4.0 }));
    }

    #[test]
    fn drops_are_refreshes_without_a_new_frame() {
        let report = figures(&[frame(10, 1, 0), frame(30, 3, 0), frame(60, 6, 0)]);
        assert_eq!(report.drops_per_s * report.seconds, 3.0);
        assert_eq!(report.hitches_per_s * report.seconds, 2.0);
        assert_eq!(report.drops_from, "sequence");
    }

    #[test]
    fn without_sequences_drops_are_counted_on_time() {
        let report = figures(&[frame(10, 0, 0), frame(31, 0, 0), frame(60, 0, 0)]);
        assert_eq!((report.drops_per_s * report.seconds).round(), 3.0);
        assert_eq!(report.drops_from, "time");
    }

    #[test]
    fn a_client_with_its_own_clock_drops_only_what_it_committed() {
        let late = ProbeFrame { commit: at(35), ..frame(60, 6, 0) };
        let frames = [frame(10, 1, 0), frame(30, 3, 0), late];
        let report = journal(&frames).figures(0, 3, &[], None, false);
        // The frame of 30 was committed at 25, so nothing was owed at 20. The frame of 60 waited through 40 and 50.
        assert_eq!(report.drops_per_s * report.seconds, 2.0);
    }

    #[test]
    fn an_input_counts_for_the_first_frame_that_has_it_or_a_later_one() {
        let frames = [frame(10, 1, 0), frame(20, 2, 1), frame(30, 3, 3), frame(50, 5, 3)];
        let injected = [(1, 3), (2, 12), (3, 14), (4, 22)].map(|(number, ms)| SentInput { number, at: at(ms) });
        let report = journal(&frames).figures(0, 4, &injected, None, true);
        // Input 1 is in the frame of 20 (17 ms), 2 and 3 are in the frame of 30 (18 and 16 ms), 4 is in none.
        assert_eq!(report.inputs, 3);
        assert_eq!(report.input_to_light_ms, Some(Quantiles { p50: 17.0, p99: 18.0, max: 18.0 }));
    }

    #[test]
    fn discarded_and_unsettled_frames_are_no_light() {
        let discarded = ProbeFrame { outcome: ProbeOutcome::Discarded, ..frame(20, 2, 0) };
        let pending = ProbeFrame { outcome: ProbeOutcome::Pending, ..frame(40, 4, 0) };
        let frames = [frame(10, 1, 0), discarded, frame(30, 3, 0), pending];
        let report = figures(&frames);
        assert_eq!((report.frames, report.discarded), (2, 1));
        assert!(!journal(&frames).is_settled());
        assert_eq!(journal(&frames).presented(), 2);
    }

    #[test]
    fn an_empty_run_has_no_figures_and_does_not_divide_by_zero() {
        for frames in [&[][..], &[frame(10, 1, 0)][..]] {
            let report = figures(frames);
            assert_eq!((report.fps, report.drops_per_s), (0.0, 0.0));
        }
    }

    #[test]
    fn the_exported_frames_have_the_numbers_they_were_drawn_with() {
        let discarded = ProbeFrame { outcome: ProbeOutcome::Discarded, ..frame(30, 3, 0) };
        let frames = [frame(10, 1, 0), frame(20, 2, 0), discarded, frame(40, 4, 1)];
        let injected = [(1, 5), (2, 15), (3, 60)].map(|(number, ms)| SentInput { number, at: at(ms) });
        let export = journal(&frames).export(1, 4, &injected);
        assert_eq!(export.frames[1], ReportedFrame { frame: 4, at: at(40), sequence: 4 });
        assert_eq!((export.frames[0].frame, export.discarded), (2, vec![3]));
        // Only the input while the frames were drawn: from 11 to before 31.
        assert_eq!(export.inputs, [InjectedInput { event: 2, at: at(15) }]);
    }

    #[test]
    fn only_frames_in_the_range_count() {
        let frames = [frame(10, 1, 0), frame(50, 5, 0), frame(60, 6, 0), frame(90, 9, 0)];
        let report = journal(&frames).figures(1, 3, &[], None, true);
        assert_eq!((report.frames, report.drops_per_s), (2, 0.0));
    }
}
