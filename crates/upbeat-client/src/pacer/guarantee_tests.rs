//! Tests of the guarantees of the pure parts, against compositors that do anything that the protocol allows.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::prediction::PredictedTargets;
use super::targets::SentTargets;
use super::{DiscardReason, FrameTarget, NotHeld, Path, TargetId, TargetOutcome};
use upbeat_timing::time::{Instant, Span};

const INTERVAL: Span = Span::from_millis(10);

fn at(millis: i64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

fn target(id: u64) -> FrameTarget {
    let present = Instant::ZERO + INTERVAL * id as i64;
    FrameTarget { id: TargetId(id), present, ready_by: present - INTERVAL / 2, interval: INTERVAL }
}

const SHOWN: TargetOutcome = TargetOutcome::Presented { at: Instant::ZERO, margin: None, path: Path::Composited };

#[test]
fn one_target_is_asked_for_at_a_time_and_one_while_a_frame_is_drawn() {
    let mut targets = SentTargets::default();
    assert!(targets.request());
    assert!(!targets.request(), "asked for already");
    targets.add_target(target(1));
    assert!(!targets.request(), "not taken yet");
    assert_eq!(targets.take_target(3), Some(target(1)));
    assert!(targets.request(), "the next may come while this is drawn");
}

#[test]
fn a_frame_is_bound_once_and_ends_once() {
    let mut targets = SentTargets::default();
    assert_eq!(targets.bind(TargetId(1)), Err(NotHeld(TargetId(1))));
    targets.request();
    targets.add_target(target(1));
    assert_eq!(targets.bind(TargetId(1)), Err(NotHeld(TargetId(1))), "not taken");
    targets.take_target(3);
    assert_eq!(targets.bind(TargetId(1)), Ok(()));
    assert_eq!(targets.bind(TargetId(1)), Err(NotHeld(TargetId(1))));
    assert_eq!(targets.ended(TargetId(1), SHOWN), Some((target(1), SHOWN)));
    assert_eq!(targets.ended(TargetId(1), SHOWN), None);
    assert!(targets.is_idle());
}

#[test]
fn revoked_target_is_replaced_once() {
    let mut targets = SentTargets::default();
    targets.request();
    targets.add_target(target(1));
    targets.take_target(3);
    targets.request();
    targets.add_target(target(2));
    // One target is being drawn for, one waits: both are replaced without a request.
    targets.revoked(TargetId(1));
    assert_eq!(targets.take_target(3), None);
    targets.revoked(TargetId(1));
    assert!(!targets.request());
    assert_eq!(targets.bind(TargetId(1)), Ok(()), "finished all the same");
    for id in [3, 4] {
        targets.add_target(target(id));
        assert_eq!(targets.take_target(3), Some(target(id)));
    }
    assert!(targets.request(), "those were all that were owed");
}

#[test]
fn no_more_frames_are_begun_than_may_be_under_way_however_often_targets_are_replaced() {
    let mut targets = SentTargets::default();
    for id in 1..=3 {
        targets.request();
        targets.add_target(target(id));
    }
    assert!(targets.take_target(2).is_some() && targets.take_target(2).is_some());
    targets.revoked(TargetId(2));
    targets.add_target(target(4));
    assert_eq!(targets.take_target(2), None, "two are being drawn, one for a target that does not hold");
    targets.bind(TargetId(1)).unwrap();
    assert_eq!(targets.take_target(2), Some(target(4)));
    targets.give_up(TargetId(2));
    targets.add_target(target(5));
    assert_eq!(targets.take_target(1), Some(target(5)), "nothing is drawn any more");
}

/// A step of a client or of a compositor with the protocol.
#[derive(Clone, Copy, Debug)]
enum PacingStep {
    Request,
    Take,
    Bind,
    /// The client gives up a frame in favour of the next.
    Skip,
    CompositorReads,
    CompositorSends,
    CompositorRevokes(u64),
    CompositorShows,
    ClientReads,
}

#[derive(Clone, Copy, Debug)]
enum ToCompositor {
    Request,
    Bind(u64),
}

#[derive(Clone, Copy, Debug)]
enum ToClient {
    Target(u64),
    Revoked(u64),
    Ended(u64),
}

/// A client and a compositor that follows the protocol, with messages in flight between them.
#[derive(Default)]
struct ClientAndCompositor {
    targets: SentTargets,
    drawing: VecDeque<FrameTarget>,
    most_drawing: usize,
    up: VecDeque<ToCompositor>,
    down: VecDeque<ToClient>,
    limit: usize,
    requests: usize,
    last: u64,
    /// Targets that were sent and not bound, as far as the compositor knows.
    unbound: Vec<u64>,
    bound: VecDeque<u64>,
    committed: usize,
    ends: BTreeMap<u64, usize>,
    taken: Vec<u64>,
}

impl ClientAndCompositor {
    fn step(&mut self, step: PacingStep) {
        match step {
            PacingStep::Request => {
                if self.targets.request() {
                    self.up.push_back(ToCompositor::Request);
                }
            }
            PacingStep::Take => {
                if let Some(target) = self.targets.take_target(self.limit) {
                    self.taken.push(target.id.0);
                    self.drawing.push_back(target);
                    self.most_drawing = self.most_drawing.max(self.drawing.len());
                }
            }
            PacingStep::Bind => {
                if let Some(target) = self.drawing.pop_front() {
                    self.targets.bind(target.id).unwrap();
                    self.committed += 1;
                    self.up.push_back(ToCompositor::Bind(target.id.0));
                }
            }
            PacingStep::Skip if self.drawing.len() > 1 => drop(self.drawing.pop_front()),
            PacingStep::Skip => {}
            PacingStep::CompositorReads => match self.up.pop_front() {
                Some(ToCompositor::Request) => self.requests += 1,
                Some(ToCompositor::Bind(id)) => {
                    self.unbound.retain(|unbound| *unbound > id);
                    self.bound.push_back(id);
                }
                None => {}
            },
            PacingStep::CompositorSends => {
                if self.requests > 0 && self.unbound.len() + self.bound.len() < self.limit {
                    self.requests -= 1;
                    self.last += 1;
                    self.unbound.push(self.last);
                    self.down.push_back(ToClient::Target(self.last));
                }
            }
            PacingStep::CompositorRevokes(back) => {
                // From any target that was sent, including targets of bound frames.
                let first = self.last.saturating_sub(back);
                let before = self.unbound.len();
                self.unbound.retain(|id| *id < first);
                self.requests += before - self.unbound.len();
                self.down.push_back(ToClient::Revoked(first));
            }
            PacingStep::CompositorShows => {
                if let Some(id) = self.bound.pop_front() {
                    self.down.push_back(ToClient::Ended(id));
                }
            }
            PacingStep::ClientReads => match self.down.pop_front() {
                Some(ToClient::Target(id)) => self.targets.add_target(target(id)),
                Some(ToClient::Revoked(first)) => self.targets.revoked(TargetId(first)),
                Some(ToClient::Ended(id)) => {
                    let ended = self.targets.ended(TargetId(id), SHOWN).expect("a frame that was committed");
                    *self.ends.entry(ended.0.id.0).or_default() += 1;
                }
                None => {}
            },
        }
    }
}

fn step() -> impl Strategy<Value = PacingStep> {
    prop_oneof![
        Just(PacingStep::Request),
        Just(PacingStep::Take),
        Just(PacingStep::Bind),
        Just(PacingStep::Skip),
        Just(PacingStep::CompositorReads),
        Just(PacingStep::CompositorReads),
        Just(PacingStep::CompositorSends),
        (0..6u64).prop_map(PacingStep::CompositorRevokes),
        Just(PacingStep::CompositorShows),
        Just(PacingStep::ClientReads),
        Just(PacingStep::ClientReads),
    ]
}

proptest! {
    #[test]
    fn whatever_is_revoked_the_animation_goes_on_and_each_frame_ends_once(
        steps in proptest::collection::vec(step(), 0..200), limit in 1..6usize,
    ) {
        use PacingStep::*;
        let mut pair = ClientAndCompositor { limit, ..ClientAndCompositor::default() };
        steps.into_iter().for_each(|step| pair.step(step));
        let before = pair.taken.len();
        for _ in 0..100 {
            let round = [Request, Take, Bind, CompositorReads, CompositorReads, CompositorSends, CompositorShows];
            round.into_iter().chain([ClientReads; 4]).for_each(|step| pair.step(step));
        }
        prop_assert!(pair.most_drawing <= limit, "{} frames drawn at once", pair.most_drawing);
        prop_assert!(pair.taken.len() >= before + 20, "stuck: {:?}", pair.targets);
        prop_assert!(pair.taken.is_sorted_by(|before, after| before < after));
        prop_assert!(pair.ends.values().all(|times| *times == 1));
        prop_assert!(pair.ends.len() + 2 * limit + 8 >= pair.committed, "frames without an end");
    }
}

/// A common compositor: frames committed before a latch are shown at its refresh, and callbacks are sent at the latch.
struct CommonCompositor {
    interval: Span,
    phase: Span,
    /// Time from the latch to its refresh.
    latch: Span,
}

impl CommonCompositor {
    /// The latch that takes a frame committed at `commit`, and the time when the frame is shown.
    fn shows(&self, commit: Instant) -> (Instant, Instant) {
        let origin = Instant::ZERO + self.phase;
        let refreshes = (commit + self.latch - origin).as_nanos().div_euclid(self.interval.as_nanos()) + 1;
        let seen = origin + self.interval * refreshes;
        (seen - self.latch, seen)
    }

    /// Runs a program whose frames cost `costs`. Returns the error of each target.
    fn play(&self, costs: &[Span]) -> Vec<Span> {
        let mut prediction = PredictedTargets::default();
        let mut now = at(1_000);
        costs
            .iter()
            .map(|cost| {
                prediction.request();
                let target = prediction.take_target(now).expect("a target");
                assert_eq!(prediction.take_target(now), None, "one at a time");
                prediction.request();
                prediction.bind(target.id).unwrap();
                assert_eq!(prediction.take_target(now), None, "not before its callback");
                let (latch, seen) = self.shows(now + *cost);
                prediction.presented(target.id, seen, Some(self.interval)).expect("a frame");
                prediction.note_callback();
                now = latch;
                target.present - seen
            })
            .collect()
    }
}

proptest! {
    #[test]
    fn refresh_is_predicted_on_a_common_compositor(
        interval in 2_000_000..40_000_000i64, phase in 0.0..1.0, latch in 0.0..1.0, cost in 0.01..3.0,
        odd in 20..40usize,
    ) {
        let interval = Span::from_nanos(interval);
        let part = |share: f64| Span::from_nanos((interval.as_nanos() as f64 * share) as i64);
        let usual = CommonCompositor { interval, phase: part(phase), latch: part(latch) };
        let mut costs = vec![part(cost); 60];
        costs[odd] = part(cost + 2.5);
        let errors = usual.play(&costs);
        for (frame, error) in errors.iter().enumerate().skip(10).filter(|(frame, _)| *frame != odd) {
            prop_assert_eq!(*error, Span::ZERO, "frame {}", frame);
        }
    }
}

#[test]
fn predicted_moments_never_run_back() {
    let mut prediction = PredictedTargets::default();
    let mut last = Instant::ZERO;
    for frame in 0..50 {
        // Three callbacks in one interval, as some compositors send for hidden windows.
        let now = at(1_000 + frame * 5);
        prediction.request();
        let target = prediction.take_target(now).unwrap();
        assert!(target.present >= last && target.present > now && target.ready_by < target.present);
        last = target.present;
        prediction.bind(target.id).unwrap();
        prediction.note_callback();
    }
}

#[test]
fn predicted_targets_do_not_cancel_committed_frames() {
    let mut prediction = PredictedTargets::default();
    let draw = |prediction: &mut PredictedTargets| {
        prediction.request();
        prediction.take_target(at(5)).unwrap().id
    };
    let first = draw(&mut prediction);
    assert_eq!(prediction.cancel_from(first), first, "it was not committed");
    let second = prediction.take_target(at(6)).expect("one in its place").id;
    prediction.bind(second).unwrap();
    assert_eq!(prediction.cancel_from(first), TargetId(second.0 + 1));
    let (target, outcome) = prediction.discarded(second).unwrap();
    assert_eq!((target.id, outcome), (second, TargetOutcome::Discarded(DiscardReason::Newer)));
}

#[test]
fn lateness_is_counted_in_refreshes() {
    let target = target(4);
    let late = |millis: i64| {
        let at = target.present + Span::from_millis(millis);
        TargetOutcome::Presented { at, margin: None, path: Path::Direct }.refreshes_late(&target)
    };
    assert_eq!([late(-1), late(0), late(4), late(6), late(21)], [Some(0), Some(0), Some(0), Some(1), Some(2)]);
    assert_eq!(TargetOutcome::Discarded(DiscardReason::Unseen).refreshes_late(&target), None);
}
