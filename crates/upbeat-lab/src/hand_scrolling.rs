//! A recorded hand scrolls a document: how often a program renders, and how late it is. Two ways are compared: the
//! program draws each frame, or the compositor moves its rendered content ([`ViewMachine`], as in a session).
//!
//! ```text
//!  recording ─► Drag · Release ─► ViewMachine ─ offset ─► beside where the hand wants it
//!                                │ wanted(region)  ▲ cover
//!                                ▼                 │
//!                          renders one by one, each as long as a frame of the load times the screens it fills
//! ```

use serde::Serialize;

use super::animation::{self, AnimationPolicy};
use super::load::{FrameCost, Load};
use super::strokes::StrokeRecording;
use upbeat_timing::frames::RecorderMode;
use upbeat_timing::scroll::{
    DocumentExtent, DocumentRegion, RenderedRegions, ScrollDistance, ScrollRequest, SupplySettings, USUAL_DECELERATION,
    ViewLatch, ViewMachine, ViewTerms,
};
use upbeat_timing::time::{Instant, Span};

/// Size of the view: a phone whose longer side has the 1000 pixels that recordings are scaled to.
const VIEW: (i64, i64) = (560, 1_000);
/// Length of the document on both sides of the start.
const FAR: i64 = 1_000_000;
/// Largest rendered area, in views (SCAR's N).
const FACTORS: [f64; 3] = [1.5, 2.0, 2.5];
/// Longest glide after the last sample.
const LONGEST_GLIDE: Span = Span::from_seconds(5);
/// Time from opening the view to the first hand, so that the first content is rendered.
const BEFORE: Span = Span::from_seconds(1);
const START: Instant = Instant::from_nanos(1_000_000_000);

/// Figures of one way of scrolling along one recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ScrollFigures {
    pub recording: String,
    /// `frames`, or `view` with the largest rendered area.
    pub way: String,
    /// Seconds in which the hand wanted a new position at each refresh.
    pub moving_s: f64,
    /// Rendered frames per second of motion.
    pub renders_per_s: f64,
    /// Rendered area, in screens, per second of motion.
    pub screens_per_s: f64,
    /// Refreshes without a change, per second of motion.
    pub drops_per_s: f64,
    /// Share of refreshes at which the view fell behind the hand, because the content was not rendered.
    pub held_up: f64,
    /// Largest distance behind the hand, in pixels.
    pub furthest_behind: f64,
}

/// All ways of scrolling along `recording`, with the frame costs of `load`.
pub fn run(recording: &StrokeRecording, load: &Load) -> Vec<ScrollFigures> {
    let hand = hand(recording);
    let wanted = wanted(&hand, load.interval);
    let moving = wanted.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let of = |way| ScrollFigures { recording: recording.name.clone(), ..way };
    let mut ways = vec![of(each_frame(load, moving))];
    ways.extend(FACTORS.map(|factor| of(view(&hand, load, &wanted, moving, factor))));
    ways
}

/// The program draws a frame for every refresh with a new position.
fn each_frame(load: &Load, moving: usize) -> ScrollFigures {
    let frames = load.frames.iter().copied().cycle().take(moving).collect();
    let load = Load { frames, animation: 0, ..load.clone() };
    let tally = animation::run(&load, &AnimationPolicy::vsync(3).with_recorder(RecorderMode::Decoupled));
    let seconds = tally.shown_for.as_seconds_f64().max(1e-9);
    ScrollFigures {
        way: "frames".to_owned(),
        moving_s: (load.interval * moving as i64).as_seconds_f64(),
        renders_per_s: tally.frames as f64 / seconds,
        screens_per_s: tally.frames as f64 / seconds,
        drops_per_s: tally.drops_per_second(),
        ..ScrollFigures::default()
    }
}

/// The compositor moves rendered content.
fn view(hand: &[HandMovement], load: &Load, wanted: &[(f64, f64)], moving: usize, factor: f64) -> ScrollFigures {
    let views = (VIEW.0 * VIEW.1) as f64;
    let mut view = PlayedView::new(SupplySettings::with_budget((views * factor) as i64), load.interval);
    let mut client = RenderingClient { costs: &load.frames, next: 0, rendering: None, requested: None, screens: 0.0 };
    let (mut cover, mut drops, mut held_up, mut furthest) = (RenderedRegions::default(), 0_u64, 0_u64, 0.0_f64);
    let mut before = *wanted.first().unwrap_or(&(0.0, 0.0));
    let (mut seen_before, mut behind_before) = (before, 0.0);
    for (refresh, goal) in wanted.iter().enumerate() {
        view.apply_movements(hand);
        client.work_until(view.now, &mut cover);
        let (at, ask) = view.step(cover.clone());
        if let Some(region) = ask {
            client.requested = Some((view.now, region));
        }
        // Count only after the view is open and the hand begins.
        if refresh as i64 * load.interval.as_nanos() > BEFORE.as_nanos() {
            let behind = (goal.0 - at.0).hypot(goal.1 - at.1);
            held_up += u64::from(behind >= behind_before + 1.0);
            furthest = furthest.max(behind);
            behind_before = behind;
            drops += u64::from(*goal != before && at == seen_before);
        } else {
            (client.next, client.screens) = (0, 0.0);
        }
        (before, seen_before) = (*goal, at);
    }
    let seconds = (load.interval * moving as i64).as_seconds_f64().max(1e-9);
    ScrollFigures {
        way: format!("view, {factor} screens"),
        moving_s: seconds,
        renders_per_s: client.next as f64 / seconds,
        screens_per_s: client.screens / seconds,
        drops_per_s: drops as f64 / seconds,
        held_up: held_up as f64 / moving.max(1) as f64,
        furthest_behind: furthest,
        ..ScrollFigures::default()
    }
}

/// A movement of the hand.
#[derive(Clone, Copy, Debug)]
struct HandMovement {
    at: Instant,
    by: ScrollRequest,
}

/// The movements of the hand, from [`BEFORE`] on. A recording may be several recordings in a row: time then goes back.
fn hand(recording: &StrokeRecording) -> Vec<HandMovement> {
    let mut moves = Vec::new();
    let mut begins = START + BEFORE;
    let mut before: Option<Instant> = None;
    for stroke in &recording.strokes {
        let [first, .., last] = &stroke[..] else { continue };
        begins += before.map_or(Span::ZERO, |before| first.at - before).max(Span::ZERO);
        for (index, sample) in stroke.iter().enumerate() {
            // Pulling down shows the content above.
            let from = stroke[index.saturating_sub(1)];
            let by = ScrollRequest::Drag(ScrollDistance { x: from.x - sample.x, y: from.y - sample.y });
            moves.push(HandMovement { at: begins + (sample.at - first.at), by });
        }
        begins += last.at - first.at;
        moves.push(HandMovement { at: begins, by: ScrollRequest::Release });
        before = Some(last.at);
    }
    moves
}

/// The position that the hand wants at each refresh: the position with all content rendered.
fn wanted(hand: &[HandMovement], interval: Span) -> Vec<(f64, f64)> {
    let all = RenderedRegions::of([document()]);
    let mut view = PlayedView::new(SupplySettings::default(), interval);
    let end = hand.last().map_or(START, |moved| moved.at) + LONGEST_GLIDE;
    let mut offsets = Vec::new();
    loop {
        view.apply_movements(hand);
        offsets.push(view.step(all.clone()).0);
        if view.now > end || (view.applied == hand.len() && !view.machine.is_active()) {
            return offsets;
        }
    }
}

/// A document so long that its ends are never reached.
const fn document() -> DocumentRegion {
    DocumentRegion {
        x: DocumentExtent { start: 0, length: VIEW.0 },
        y: DocumentExtent { start: -FAR, length: 2 * FAR },
    }
}

const fn terms() -> ViewTerms<'static> {
    ViewTerms {
        size: VIEW,
        document: document(),
        axes: (false, true),
        keeps: USUAL_DECELERATION,
        band: 0.0,
        snaps: (&[], &[]),
        predicts: true,
        stretches: false,
    }
}

/// A view that is latched at each refresh, and its progress along the hand's movements.
struct PlayedView {
    machine: ViewMachine,
    now: Instant,
    interval: Span,
    shown: (f64, f64),
    /// Number of movements applied.
    applied: usize,
}

impl PlayedView {
    fn new(settings: SupplySettings, interval: Span) -> Self {
        let mut machine = ViewMachine::new(settings);
        machine.begin(ScrollRequest::To { offset: (0, 0), smoothly: false, serial: 0 });
        PlayedView { machine, now: START, interval, shown: (0.0, 0.0), applied: 0 }
    }

    /// Applies all movements up to now.
    fn apply_movements(&mut self, hand: &[HandMovement]) {
        while let Some(moved) = hand.get(self.applied).filter(|moved| moved.at <= self.now) {
            self.machine.handle_request(moved.at, moved.by, &terms(), self.shown);
            self.applied += 1;
        }
    }

    /// Latches the next refresh: the view's position, and the region to render.
    fn step(&mut self, cover: RenderedRegions) -> ((f64, f64), Option<DocumentRegion>) {
        let latch = ViewLatch { now: self.now, present: self.now + self.interval, interval: self.interval, scale: 1.0 };
        let step = self.machine.latch(latch, &terms(), cover, self.shown);
        self.now += self.interval;
        self.shown = step.at.offset;
        (self.shown, step.wanted.map(|wanted| wanted.region))
    }
}

/// A program that renders one region after another; a newer request replaces the waiting one.
struct RenderingClient<'a> {
    costs: &'a [FrameCost],
    /// Number of renders so far.
    next: usize,
    /// When the current render is done, and its region.
    rendering: Option<(Instant, DocumentRegion)>,
    requested: Option<(Instant, DocumentRegion)>,
    screens: f64,
}

impl RenderingClient<'_> {
    fn work_until(&mut self, now: Instant, cover: &mut RenderedRegions) {
        loop {
            let free = match self.rendering {
                Some((done, _)) if done > now => return,
                Some((done, region)) => {
                    *cover = RenderedRegions::of([region]);
                    self.rendering = None;
                    done
                }
                None => START,
            };
            let Some((since, region)) = self.requested.take() else { return };
            let cost = self.costs.get(self.next % self.costs.len().max(1)).copied().unwrap_or_default().total();
            let pixels = region.pixels();
            let cost = cost.scale(pixels, VIEW.0 * VIEW.1);
            self.rendering = Some((free.max(since) + cost, region));
            self.screens += pixels as f64 / (VIEW.0 * VIEW.1) as f64;
            self.next += 1;
        }
    }
}

/// The results as a text table.
pub fn render(load: &Load, ways: &[ScrollFigures]) -> String {
    use std::fmt::Write;
    let mut text = format!("scrolled by hand, each screen as costly as a frame of {}\n", load.name);
    let _ = writeln!(
        text,
        "{:<28} {:<18} {:>8} {:>10} {:>10} {:>8} {:>8} {:>10}",
        "recording", "way", "moving", "renders/s", "screens/s", "drops/s", "held up", "behind by"
    );
    for way in ways {
        let _ = writeln!(
            text,
            "{:<28} {:<18} {:>6.1} s {:>10.2} {:>10.2} {:>8.2} {:>6.1} % {:>7.0} px",
            way.recording,
            way.way,
            way.moving_s,
            way.renders_per_s,
            way.screens_per_s,
            way.drops_per_s,
            100.0 * way.held_up,
            way.furthest_behind
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::FrameCost;
    use upbeat_timing::input_prediction::PositionSample;

    const INTERVAL: Span = Span::from_millis(16);

    fn load(millis: i64) -> Load {
        let frames = vec![FrameCost { record: Span::from_millis(millis), render: Span::ZERO }; 60];
        Load { name: "test".into(), interval: INTERVAL, animation: 0, frames }
    }

    /// A finger that moves up by `speed` pixels a second for two seconds, and rests before it is lifted.
    fn pull(speed: f64) -> StrokeRecording {
        let sample = |index: i64| PositionSample {
            at: START + Span::from_millis(10) * index,
            x: 100.0,
            y: 900.0 - speed * 0.01 * index.min(200) as f64,
        };
        StrokeRecording { name: "pull".into(), strokes: vec![(0..260).map(sample).collect()], scale: 1.0 }
    }

    #[test]
    fn a_view_is_moved_as_far_as_the_hand_went_and_rendered_seldom() {
        let offsets = wanted(&hand(&pull(1_000.0)), INTERVAL);
        assert!((offsets.last().unwrap().1 - 2_000.0).abs() <= 1.0, "{offsets:?}");
        let ways = run(&pull(1_000.0), &load(5));
        let [frames, view, ..] = &ways[..] else { panic!("{ways:?}") };
        assert!((frames.moving_s - 2.0).abs() < 0.3, "{frames:?}");
        assert!((frames.renders_per_s - 62.5).abs() < 2.0 && frames.drops_per_s == 0.0, "{frames:?}");
        // Half a screen beyond the view, three quarters of it ahead: 375 px at 1000 px a second.
        assert!(view.renders_per_s > 1.0 && view.renders_per_s < 6.0, "{view:?}");
        assert!(view.held_up == 0.0 && view.furthest_behind == 0.0, "{view:?}");
        assert!(ways[3].renders_per_s < view.renders_per_s, "more memory, fewer renders: {ways:?}");
    }

    #[test]
    fn costs_that_do_not_fit_drop_frames_and_hardly_hold_up_a_view() {
        let ways = run(&pull(500.0), &load(24));
        assert!(ways[0].drops_per_s > 10.0, "{ways:?}");
        assert!(ways[2].drops_per_s < 0.1 * ways[0].drops_per_s, "{ways:?}");
    }

    #[test]
    fn a_hand_faster_than_rendering_counts_as_held_up() {
        let ways = run(&pull(6_000.0), &load(200));
        assert!(ways[1].held_up > 0.2 && ways[1].furthest_behind > 100.0, "{ways:?}");
    }
}
