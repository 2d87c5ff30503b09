//! A recorded hand scrolls a document: how often a program would have to render, and what it is late with, if it drew each frame
//! and if the compositor moved what it has drawn ([`ViewMachine`], as in a session).
//!
//! ```text
//!  recording ─► Pull · LetGo ─► ViewMachine ─ offset ─► beside where the hand wants it
//!                                │ wanted(region)  ▲ cover
//!                                ▼                 │
//!                          renders one after the other, each as long as a frame of the load times the screens that it fills
//! ```

use serde::Serialize;

use super::animation::{self, AnimationPolicy};
use super::load::{FrameCost, Load};
use super::strokes::Recording;
use upbeat_timing::frames::Recorder;
use upbeat_timing::scroll::{
    Cover, Extent, Latch, Movement, Region, SupplySettings, Terms, USUAL_DECELERATION, ViewMachine, Way,
};
use upbeat_timing::time::{Instant, Span};

/// The view: as wide and high as a phone whose longer side has the 1000 pixels that recordings are scaled to.
const VIEW: (i64, i64) = (560, 1_000);
/// The document goes on so far on both sides of where it begins to be seen.
const FAR: i64 = 1_000_000;
/// What may be rendered at once, in views (SCAR's N).
const FACTORS: [f64; 3] = [1.5, 2.0, 2.5];
/// After the last sample it glides no longer than that.
const LONGEST_GLIDE: Span = Span::from_seconds(5);
/// The first hand begins so long after the view was opened: it has rendered by then.
const BEFORE: Span = Span::from_seconds(1);
const START: Instant = Instant::from_nanos(1_000_000_000);

/// One way of scrolling along one recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scrolled {
    /// The recording.
    pub recording: String,
    /// `frames`, or `view` with what may be rendered at once.
    pub way: String,
    /// Seconds in which the hand wanted something else to be seen at each refresh.
    pub moving_s: f64,
    /// Frames that the program rendered in a second of them.
    pub renders_per_s: f64,
    /// What it rendered, in screens, in a second of them.
    pub screens_per_s: f64,
    /// Refreshes of them in which nothing new was seen, in a second.
    pub drops_per_s: f64,
    /// The share of refreshes at which a view fell behind the hand, since what it would have shown was not rendered.
    pub held_up: f64,
    /// By how much at most, in pixels.
    pub furthest_behind: f64,
}

/// All ways along `recording`, with what frames of `load` cost.
pub fn run(recording: &Recording, load: &Load) -> Vec<Scrolled> {
    let hand = hand(recording);
    let wanted = wanted(&hand, load.interval);
    let moving = wanted.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let of = |way| Scrolled { recording: recording.name.clone(), ..way };
    let mut ways = vec![of(each_frame(load, moving))];
    ways.extend(FACTORS.map(|factor| of(view(&hand, load, &wanted, moving, factor))));
    ways
}

/// Every refresh that shows something else is a frame of its own.
fn each_frame(load: &Load, moving: usize) -> Scrolled {
    let frames = load.frames.iter().copied().cycle().take(moving).collect();
    let load = Load { frames, animation: 0, ..load.clone() };
    let tally = animation::run(&load, &AnimationPolicy::vsync(3).with_recorder(Recorder::Decoupled));
    let seconds = tally.shown_for.as_seconds_f64().max(1e-9);
    Scrolled {
        way: "frames".to_owned(),
        moving_s: (load.interval * moving as i64).as_seconds_f64(),
        renders_per_s: tally.frames as f64 / seconds,
        screens_per_s: tally.frames as f64 / seconds,
        drops_per_s: tally.drops_per_second(),
        ..Scrolled::default()
    }
}

/// The compositor moves what is rendered.
fn view(hand: &[Moved], load: &Load, wanted: &[(f64, f64)], moving: usize, factor: f64) -> Scrolled {
    let views = (VIEW.0 * VIEW.1) as f64;
    let mut view = Played::new(SupplySettings::with_budget((views * factor) as i64), load.interval);
    let mut client = Client { costs: &load.frames, next: 0, under_way: None, asked: None, screens: 0.0 };
    let (mut cover, mut drops, mut held_up, mut furthest) = (Cover::default(), 0_u64, 0_u64, 0.0_f64);
    let mut before = *wanted.first().unwrap_or(&(0.0, 0.0));
    let (mut seen_before, mut behind_before) = (before, 0.0);
    for (refresh, goal) in wanted.iter().enumerate() {
        view.hear(hand);
        client.work_until(view.now, &mut cover);
        let (at, ask) = view.step(cover.clone());
        if let Some(region) = ask {
            client.asked = Some((view.now, region));
        }
        // What was opened before the hand came is no part of it.
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
    Scrolled {
        way: format!("view, {factor} screens"),
        moving_s: seconds,
        renders_per_s: client.next as f64 / seconds,
        screens_per_s: client.screens / seconds,
        drops_per_s: drops as f64 / seconds,
        held_up: held_up as f64 / moving.max(1) as f64,
        furthest_behind: furthest,
        ..Scrolled::default()
    }
}

/// A hand did that.
#[derive(Clone, Copy, Debug)]
struct Moved {
    at: Instant,
    by: Movement,
}

/// What the hand does, from [`BEFORE`] on. Where time goes back in a recording, another was put behind it.
fn hand(recording: &Recording) -> Vec<Moved> {
    let mut moves = Vec::new();
    let mut begins = START + BEFORE;
    let mut before: Option<Instant> = None;
    for stroke in &recording.strokes {
        let [first, .., last] = &stroke[..] else { continue };
        begins += before.map_or(Span::ZERO, |before| first.at - before).max(Span::ZERO);
        for (index, sample) in stroke.iter().enumerate() {
            // What is pulled down shows what lies above.
            let from = stroke[index.saturating_sub(1)];
            let by = Movement::Pull(Way { x: from.x - sample.x, y: from.y - sample.y });
            moves.push(Moved { at: begins + (sample.at - first.at), by });
        }
        begins += last.at - first.at;
        moves.push(Moved { at: begins, by: Movement::LetGo });
        before = Some(last.at);
    }
    moves
}

/// Where the hand wants the document at each refresh: where it is if all of it is there.
fn wanted(hand: &[Moved], interval: Span) -> Vec<(f64, f64)> {
    let all = Cover::of([document()]);
    let mut view = Played::new(SupplySettings::default(), interval);
    let end = hand.last().map_or(START, |moved| moved.at) + LONGEST_GLIDE;
    let mut offsets = Vec::new();
    loop {
        view.hear(hand);
        offsets.push(view.step(all.clone()).0);
        if view.now > end || (view.heard == hand.len() && !view.machine.is_active()) {
            return offsets;
        }
    }
}

/// A document without an end in sight.
const fn document() -> Region {
    Region { x: Extent { start: 0, length: VIEW.0 }, y: Extent { start: -FAR, length: 2 * FAR } }
}

const fn terms() -> Terms<'static> {
    Terms {
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

/// A view, latched refresh by refresh, and the hand that moves it.
struct Played {
    machine: ViewMachine,
    now: Instant,
    interval: Span,
    shown: (f64, f64),
    /// What of the hand was heard.
    heard: usize,
}

impl Played {
    fn new(settings: SupplySettings, interval: Span) -> Self {
        let mut machine = ViewMachine::new(settings);
        machine.begin(Movement::To { offset: (0, 0), smoothly: false, serial: 0 });
        Played { machine, now: START, interval, shown: (0.0, 0.0), heard: 0 }
    }

    /// All that the hand has done by now.
    fn hear(&mut self, hand: &[Moved]) {
        while let Some(moved) = hand.get(self.heard).filter(|moved| moved.at <= self.now) {
            self.machine.ask(moved.at, moved.by, &terms(), self.shown);
            self.heard += 1;
        }
    }

    /// The next refresh: where the view is, and what is to be rendered.
    fn step(&mut self, cover: Cover) -> ((f64, f64), Option<Region>) {
        let latch = Latch { now: self.now, present: self.now + self.interval, interval: self.interval, scale: 1.0 };
        let step = self.machine.latch(latch, &terms(), cover, self.shown);
        self.now += self.interval;
        self.shown = step.at.offset;
        (self.shown, step.wanted.map(|wanted| wanted.region))
    }
}

/// A program that renders what it is asked for, one after the other; the newest question counts.
struct Client<'a> {
    costs: &'a [FrameCost],
    /// Renders so far.
    next: usize,
    /// When what it renders is there.
    under_way: Option<(Instant, Region)>,
    asked: Option<(Instant, Region)>,
    screens: f64,
}

impl Client<'_> {
    fn work_until(&mut self, now: Instant, cover: &mut Cover) {
        loop {
            let free = match self.under_way {
                Some((done, _)) if done > now => return,
                Some((done, region)) => {
                    *cover = Cover::of([region]);
                    self.under_way = None;
                    done
                }
                None => START,
            };
            let Some((since, region)) = self.asked.take() else { return };
            let cost = self.costs.get(self.next % self.costs.len().max(1)).copied().unwrap_or_default().total();
            let pixels = region.pixels();
            let cost = cost.scale(pixels, VIEW.0 * VIEW.1);
            self.under_way = Some((free.max(since) + cost, region));
            self.screens += pixels as f64 / (VIEW.0 * VIEW.1) as f64;
            self.next += 1;
        }
    }
}

/// The table of `ways`, which scroll with the costs of `load`.
pub fn render(load: &Load, ways: &[Scrolled]) -> String {
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
    use upbeat_timing::input_prediction::Sample;

    const INTERVAL: Span = Span::from_millis(16);

    fn load(millis: i64) -> Load {
        let frames = vec![FrameCost { record: Span::from_millis(millis), render: Span::ZERO }; 60];
        Load { name: "test".into(), interval: INTERVAL, animation: 0, frames }
    }

    /// A finger that goes up by `speed` pixels a second for two seconds, and stays before it is lifted.
    fn pull(speed: f64) -> Recording {
        let sample = |index: i64| Sample {
            at: START + Span::from_millis(10) * index,
            x: 100.0,
            y: 900.0 - speed * 0.01 * index.min(200) as f64,
        };
        Recording { name: "pull".into(), strokes: vec![(0..260).map(sample).collect()], scale: 1.0 }
    }

    #[test]
    fn a_view_is_moved_as_far_as_the_hand_went_and_rendered_seldom() {
        let offsets = wanted(&hand(&pull(1_000.0)), INTERVAL);
        assert!((offsets.last().unwrap().1 - 2_000.0).abs() <= 1.0, "{offsets:?}");
        let ways = run(&pull(1_000.0), &load(5));
        let [frames, view, ..] = &ways[..] else { panic!("{ways:?}") };
        assert!((frames.moving_s - 2.0).abs() < 0.3, "{frames:?}");
        assert!((frames.renders_per_s - 62.5).abs() < 2.0 && frames.drops_per_s == 0.0, "{frames:?}");
        // Half a screen beyond the view, three quarters of it ahead: 375 px of 1000 a second.
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
    fn a_hand_that_is_too_fast_for_what_is_rendered_is_said_to_be_held_up() {
        let ways = run(&pull(6_000.0), &load(200));
        assert!(ways[1].held_up > 0.2 && ways[1].furthest_behind > 100.0, "{ways:?}");
    }
}
