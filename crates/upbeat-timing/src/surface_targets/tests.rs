//! Timelines and properties of the targets of one surface.

use std::fmt::Write as _;

use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::pacing::PacingWish;

const INTERVAL: Span = Span::from_millis(10);

fn present(refresh: u64) -> Instant {
    Instant::ZERO + INTERVAL * refresh as i64
}

fn grid() -> VsyncGrid {
    VsyncGrid { refresh: RefreshIndex(0), present: present(0), interval: INTERVAL }
}

/// A client and a display, and the targets between them.
struct TargetScenario {
    machine: SurfaceTargets,
    /// The refresh that is latched next.
    next: u64,
    story: String,
    sent: Vec<IssuedTarget>,
    waiting: Vec<IssuedTarget>,
    asked: u64,
    owed: u64,
}

impl TargetScenario {
    fn new(limit: u32) -> Self {
        let mut machine = SurfaceTargets::default();
        machine.set_wishes(FramePacingRequest { pacing: Some(Pacing::Ahead), limit, ..FramePacingRequest::default() });
        machine.decide(PacingContext::default());
        TargetScenario {
            machine,
            next: 10,
            story: String::new(),
            sent: Vec::new(),
            waiting: Vec::new(),
            asked: 0,
            owed: 0,
        }
    }

    fn now(&self) -> Instant {
        present(self.next) - INTERVAL
    }

    fn request(&mut self, count: u64) {
        (0..count).for_each(|_| self.machine.request());
        self.asked += count;
    }

    fn owe(&mut self, what: &str, requests_before: u64, first: Option<SurfaceTargetId>) {
        let owed = self.machine.requests() - requests_before;
        self.owed += owed;
        if let Some(first) = first {
            writeln!(self.story, "{} {what} from {}: {owed} owed", self.next, first.0).unwrap();
            self.sent.retain(|target| target.id < first);
        }
    }

    /// Sends the targets that may be sent, and checks them.
    fn poll(&mut self) {
        let before = self.machine.requests();
        let first = self.machine.revoke_passed(RefreshIndex(self.next));
        self.owe("rebased", before, first);
        let grid = VsyncGrid { refresh: RefreshIndex(self.next), present: present(self.next), ..grid() };
        while let Some(target) = self.machine.poll(grid, RefreshIndex(self.next), self.now()) {
            writeln!(self.story, "{} target {} for {}", self.next, target.id.0, target.refresh.0).unwrap();
            self.check(target);
            self.sent.push(target);
        }
    }

    fn check(&self, target: IssuedTarget) {
        let EffectivePacing { pacing, ahead, .. } = self.machine.effective();
        let drawn = self.machine.live.iter().filter(|frame| frame.stage == super::TargetStage::Sent).count();
        // With just-in-time pacing, frames that a cancel kept may still wait.
        let (count, most) = if pacing == Pacing::Ahead { (self.machine.under_way(), ahead) } else { (drawn, 1) };
        assert!(count <= usize::from(most), "{}", self.story);
        assert!(self.machine.under_way() <= usize::from(self.machine.wishes.most()), "{}", self.story);
        assert!(target.refresh >= RefreshIndex(self.next), "in the past: {}", self.story);
        assert_eq!(target.present, present(target.refresh.0), "off the grid");
        for earlier in &self.sent {
            assert!(target.id > earlier.id && target.present > earlier.present, "{}", self.story);
        }
    }

    fn commit(&mut self, id: SurfaceTargetId) {
        if self.machine.check(id).is_ok() {
            let bound = self.machine.bind(id, self.now());
            assert_eq!(self.machine.check(id).is_err(), !bound.revoked || id > self.machine.forgotten);
            self.waiting.push(bound.target);
        }
    }

    /// The oldest target without a bound commit.
    fn drawing(&self) -> Option<SurfaceTargetId> {
        self.sent.iter().map(|target| target.id).find(|id| self.machine.check(*id).is_ok())
    }

    /// Draws for every target.
    fn commit_all(&mut self) {
        while let Some(id) = self.drawing() {
            self.commit(id);
            if self.machine.check(id).is_ok() {
                // Revoked so long ago that it is forgotten, so it could be bound for ever.
                self.sent.retain(|target| target.id != id);
            }
        }
    }

    /// The display latches and shows the oldest frame that is due, unless it is late enough to be dropped for the next.
    fn refresh(&mut self) {
        let at = RefreshIndex(self.next);
        let due = self.waiting.iter().take_while(|target| target.refresh <= at).count();
        let late =
            self.waiting.iter().take_while(|target| late_frame::is_dropped_for_next(at.since(target.refresh))).count();
        let taken: Vec<IssuedTarget> = self.waiting.drain(..due.min(late + 1)).collect();
        for target in &taken {
            self.machine.latched(target.id);
            self.machine.ended(target.id);
        }
        if let Some(shown) = taken.last() {
            writeln!(self.story, "{} shows {}", self.next, shown.id.0).unwrap();
        } else {
            writeln!(self.story, "{} shows nothing new", self.next).unwrap();
        }
        self.next += 1;
    }
}

#[test]
fn a_slow_frame_is_hidden_by_those_that_wait() {
    let mut stage = TargetScenario::new(3);
    stage.request(8);
    for step in 0..7 {
        stage.poll();
        // All three at once, and then none for two refreshes.
        if !(1..=2).contains(&step) {
            stage.commit_all();
        }
        stage.refresh();
    }
    expect![[r#"
        10 target 1 for 10
        10 target 2 for 11
        10 target 3 for 12
        10 shows 1
        11 target 4 for 13
        11 shows 2
        12 target 5 for 14
        12 shows 3
        13 target 6 for 15
        13 shows 4
        14 target 7 for 16
        14 shows 5
        15 target 8 for 17
        15 shows 6
        16 shows 7
    "#]]
    .assert_eq(&stage.story);
}

#[test]
fn refreshes_without_a_frame_make_content_late_by_one_at_most() {
    let mut stage = TargetScenario::new(3);
    stage.request(9);
    stage.poll();
    stage.commit_all();
    for held_up in [0, 1, 1, 0, 0, 0] {
        // No frame is latched for this many refreshes.
        stage.next += held_up;
        stage.refresh();
        stage.poll();
        stage.commit_all();
    }
    expect![[r#"
        10 target 1 for 10
        10 target 2 for 11
        10 target 3 for 12
        10 shows 1
        11 target 4 for 13
        12 shows 2
        13 target 5 for 15
        14 shows 4
        15 target 6 for 16
        15 target 7 for 17
        15 shows 5
        16 target 8 for 18
        16 shows 6
        17 target 9 for 19
        17 shows 7
    "#]]
    .assert_eq(&stage.story);
}

#[test]
fn after_a_stall_targets_that_went_by_are_owed_anew() {
    let mut stage = TargetScenario::new(3);
    stage.request(6);
    for step in 0..9 {
        stage.poll();
        if step == 0 || step > 5 {
            stage.commit_all();
        }
        stage.refresh();
    }
    expect![[r#"
        10 target 1 for 10
        10 target 2 for 11
        10 target 3 for 12
        10 shows 1
        11 target 4 for 13
        11 shows 2
        12 target 5 for 14
        12 shows 3
        13 target 6 for 15
        13 shows nothing new
        14 shows nothing new
        15 rebased from 5: 2 owed
        15 shows nothing new
        16 shows 4
        17 target 7 for 17
        17 target 8 for 18
        17 shows 7
        18 shows 8
    "#]]
    .assert_eq(&stage.story);
}

#[test]
fn effective_pacing_follows_from_wishes_and_context() {
    let wishes = |pacing, limit| FramePacingRequest { pacing, limit, ..FramePacingRequest::default() };
    let none = PacingContext::default();
    let touched = PacingContext { interactive: true, ..none };
    let decide = |wishes, circumstances| {
        let EffectivePacing { pacing, ahead, reason } = effective::decide(wishes, circumstances);
        (pacing, ahead, reason)
    };
    let ahead = Some(Pacing::Ahead);
    assert_eq!(decide(wishes(None, 1), none), (Pacing::JustInTime, 1, FramePacingReason::Automatic));
    assert_eq!(decide(wishes(None, 3), none), (Pacing::Ahead, 3, FramePacingReason::Automatic));
    assert_eq!(decide(wishes(ahead, 3), none), (Pacing::Ahead, 3, FramePacingReason::Client));
    assert_eq!(decide(wishes(ahead, 99), none), (Pacing::Ahead, MOST_AHEAD, FramePacingReason::Policy));
    assert_eq!(decide(wishes(ahead, 3), touched), (Pacing::JustInTime, 1, FramePacingReason::InteractiveInput));
    assert_eq!(
        decide(FramePacingRequest { stay_ahead: true, ..wishes(ahead, 3) }, touched),
        (Pacing::Ahead, 3, FramePacingReason::Client)
    );
    assert_eq!(decide(wishes(Some(Pacing::Vsync), 3), touched), (Pacing::Vsync, 1, FramePacingReason::Client));
    let hidden = PacingContext { hidden: true, ..none };
    assert_eq!(decide(wishes(ahead, 3), hidden).2, FramePacingReason::Hidden);
    let ruled = |rule| PacingContext { rule, ..none };
    assert_eq!(decide(wishes(ahead, 3), ruled(PacingWish::Vsync)), (Pacing::Vsync, 1, FramePacingReason::Policy));
    assert_eq!(
        decide(wishes(Some(Pacing::Vsync), 3), ruled(PacingWish::Ahead)),
        (Pacing::Ahead, 3, FramePacingReason::Policy)
    );
}

#[derive(Clone, Debug)]
enum TargetEvent {
    Request(u64),
    Commit,
    CommitNewest,
    Refresh(u64),
    Cancel(u64),
    Touch(bool),
    Hide(bool),
    Move,
}

fn event() -> impl Strategy<Value = TargetEvent> {
    prop_oneof![
        4 => (1u64..4).prop_map(TargetEvent::Request),
        8 => Just(TargetEvent::Commit),
        1 => Just(TargetEvent::CommitNewest),
        6 => (1u64..3).prop_map(TargetEvent::Refresh),
        1 => (0u64..6).prop_map(TargetEvent::Cancel),
        1 => any::<bool>().prop_map(TargetEvent::Touch),
        1 => any::<bool>().prop_map(TargetEvent::Hide),
        1 => Just(TargetEvent::Move),
    ]
}

impl TargetScenario {
    fn happen(&mut self, event: &TargetEvent, circumstances: &mut PacingContext) {
        let before = self.machine.requests();
        match event {
            TargetEvent::Request(count) => self.request(*count),
            TargetEvent::Commit => self.drawing().into_iter().for_each(|id| self.commit(id)),
            TargetEvent::CommitNewest => {
                let newest = self.sent.last().map(|target| target.id);
                newest.into_iter().for_each(|id| self.commit(id));
            }
            TargetEvent::Refresh(count) => (0..*count).for_each(|_| self.refresh()),
            TargetEvent::Cancel(back) => {
                let first = SurfaceTargetId(self.machine.last_id.0.saturating_sub(*back));
                let ids: Vec<_> = self.waiting.iter().map(|target| target.id).filter(|id| *id >= first).collect();
                self.waiting.retain(|target| target.id < first);
                self.sent.retain(|target| !ids.contains(&target.id));
                self.machine.cancelled(&ids);
                let revoked = self.machine.revoke_from(first);
                self.owe("cancelled", before, revoked);
            }
            TargetEvent::Touch(touched) => circumstances.interactive = *touched,
            TargetEvent::Hide(hidden) => circumstances.hidden = *hidden,
            TargetEvent::Move => {
                let first = self.machine.output_changed();
                self.owe("moved", before, first);
                self.sent.clear();
            }
        }
        let before = self.machine.requests();
        let first = self.machine.decide(*circumstances);
        self.owe("decided", before, first);
        self.poll();
    }
}

proptest! {
    /// In every sequence of events, targets are on the grid, in order, not in the past and within the limit. Each
    /// request and each revoked target is answered once.
    #[test]
    fn targets_keep_their_promises(
        limit in 1u32..8,
        events in prop::collection::vec(event(), 1..120),
    ) {
        let mut stage = TargetScenario::new(limit);
        let mut circumstances = PacingContext::default();
        let mut ids = std::collections::HashSet::new();
        for event in &events {
            stage.happen(event, &mut circumstances);
            ids.extend(stage.sent.iter().map(|target| target.id));
            prop_assert!(stage.machine.under_way() <= MOST_LIVE);
            let answered = stage.machine.last_id.0;
            prop_assert_eq!(stage.asked + stage.owed, answered + stage.machine.requests(), "{}", stage.story);
        }
    }

    /// After any faults, a client that draws in time is back on the grid within as many frames as were under way.
    #[test]
    fn drawing_in_time_leads_back_to_one_frame_a_refresh(
        limit in 2u32..8,
        events in prop::collection::vec(event(), 1..60),
    ) {
        let mut stage = TargetScenario::new(limit);
        let mut circumstances = PacingContext::default();
        for event in &events {
            stage.happen(event, &mut circumstances);
        }
        circumstances = PacingContext::default();
        let shown = |stage: &TargetScenario| stage.story.lines().filter(|line| line.contains("shows")).map(str::to_owned).collect::<Vec<_>>();
        for _ in 0..40 {
            stage.happen(&TargetEvent::Request(1), &mut circumstances);
            stage.commit_all();
            stage.refresh();
        }
        let shown = shown(&stage);
        let last = &shown[shown.len() - 40 + 2 * MOST_LIVE..];
        prop_assert!(last.iter().all(|line| !line.contains("nothing")), "{}", stage.story);
    }
}

#[test]
fn frame_after_a_cancel_is_drawn_while_kept_frames_are_shown() {
    for kept in 0..4 {
        let mut stage = TargetScenario::new(4);
        let (now, next) = (present(10) - Span::from_millis(5), RefreshIndex(10));
        for _ in 0..4 {
            stage.machine.request();
            let issued = stage.machine.poll(grid(), next, now).unwrap();
            stage.machine.bind(issued.id, now);
            stage.sent.push(issued);
        }
        stage.machine.request();
        let pressed = PacingContext { interactive: true, ..PacingContext::default() };
        stage.machine.decide(pressed);
        assert_eq!(stage.machine.poll(grid(), next, now), None, "one at a time, from now on");
        let cancelled: Vec<SurfaceTargetId> = stage.sent[kept..].iter().map(|issued| issued.id).collect();
        stage.machine.cancelled(&cancelled);
        let target = stage.machine.poll(grid(), next, now);
        assert_eq!(target.map(|target| target.refresh.0), (kept > 0).then(|| 10 + kept as u64), "{kept} kept");
        assert_eq!(stage.machine.waits_for_callback(), kept == 0);
        stage.machine.request();
        assert_eq!(stage.machine.poll(grid(), next, now), None, "it is alone");
    }
}

#[test]
fn the_frame_after_late_ones_that_a_cancel_kept_is_for_the_refresh_after_theirs() {
    let mut stage = TargetScenario::new(4);
    for _ in 0..2 {
        stage.machine.request();
        let issued = stage.machine.poll(grid(), RefreshIndex(10), present(9)).unwrap();
        stage.machine.bind(issued.id, present(9));
    }
    stage.machine.request();
    stage.machine.decide(PacingContext { interactive: true, ..PacingContext::default() });
    stage.machine.cancelled(&[]);
    // The frames for 10 and 11 missed their refreshes: at 12 the first is dropped for the second.
    let grid = VsyncGrid { refresh: RefreshIndex(12), present: present(12), ..grid() };
    let target = stage.machine.poll(grid, RefreshIndex(12), present(11)).unwrap();
    assert_eq!((target.refresh, target.present), (RefreshIndex(13), present(13)));
}
