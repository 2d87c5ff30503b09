//! A view whose content is rendered, arrives late, or disappears.

use super::super::DocumentExtent;
use super::*;

const REFRESH: Span = Span::from_micros(16_667);
const START: Instant = Instant::from_nanos(1_000_000_000);
const DOCUMENT: DocumentRegion =
    DocumentRegion { x: DocumentExtent { start: 0, length: 100 }, y: DocumentExtent { start: 0, length: 10_000 } };

fn terms() -> ViewTerms<'static> {
    ViewTerms {
        size: (100, 100),
        document: DOCUMENT,
        axes: (false, true),
        keeps: 0.998,
        band: 0.0,
        snaps: (&[], &[]),
        predicts: true,
        stretches: false,
    }
}

fn rows(start: i64, length: i64) -> RenderedRegions {
    RenderedRegions::of([DocumentRegion { x: DOCUMENT.x, y: DocumentExtent { start, length } }])
}

/// A view that is latched refresh by refresh.
struct LatchedView {
    machine: ViewMachine,
    now: Instant,
    shown: (f64, f64),
    cover: RenderedRegions,
}

impl LatchedView {
    fn new(cover: RenderedRegions) -> Self {
        let machine = ViewMachine::new(SupplySettings::default());
        LatchedView { machine, now: START, shown: (0.0, 0.0), cover }
    }

    fn ask(&mut self, movement: ScrollRequest) {
        self.machine.handle_request(self.now, movement, &terms(), self.shown);
    }

    fn step(&mut self) -> ViewUpdate {
        let latch = ViewLatch { now: self.now, present: self.now + REFRESH, interval: REFRESH, scale: 1.0 };
        let step = self.machine.latch(latch, &terms(), self.cover.clone(), self.shown);
        self.now += REFRESH;
        self.shown = step.at.offset;
        step
    }
}

#[test]
fn a_glide_ends_where_it_was_sent_and_is_answered_once() {
    let mut view = LatchedView::new(rows(0, 1_000));
    view.ask(ScrollRequest::To { offset: (0, 500), smoothly: true, serial: 7 });
    let steps: Vec<ViewUpdate> = (0..120).map(|_| view.step()).collect();
    assert_eq!(view.shown, (0.0, 500.0));
    let rests: Vec<&ViewUpdate> = steps.iter().filter(|step| step.has_come_to_rest).collect();
    assert_eq!((rests.len(), rests[0].at.serial), (1, 7));
    assert!(steps.iter().all(|step| step.covered));
}

#[test]
fn what_is_missing_holds_it_up_and_it_goes_on_with_all_of_its_way_when_that_comes() {
    let mut view = LatchedView::new(rows(0, 300));
    view.ask(ScrollRequest::To { offset: (0, 500), smoothly: true, serial: 1 });
    let steps: Vec<ViewUpdate> = (0..60).map(|_| view.step()).collect();
    assert_eq!(view.shown, (0.0, 200.0));
    assert!(steps.iter().all(|step| step.covered && !step.has_come_to_rest));
    assert!(view.machine.is_held_up() && !view.machine.is_active());
    assert_eq!(steps.iter().filter(|step| step.wanted.is_some()).count(), 1);
    view.cover = rows(100, 1_000);
    let resting = (0..120).map(|_| view.step()).find(|step| step.has_come_to_rest).unwrap();
    assert_eq!((resting.at.offset, resting.at.serial), ((0.0, 500.0), 1));
}

#[test]
fn a_view_that_is_suspended_loses_no_way() {
    let mut view = LatchedView::new(rows(0, 2_000));
    view.ask(ScrollRequest::To { offset: (0, 1_000), smoothly: true, serial: 1 });
    (0..4).for_each(|_| _ = view.step());
    let before = view.shown;
    view.machine.suspend();
    view.now += Span::from_seconds(5);
    let after = view.step().at.offset;
    assert!(after.1 - before.1 < 120.0, "{before:?} {after:?}");
    (0..120).for_each(|_| _ = view.step());
    assert_eq!(view.shown, (0.0, 1_000.0));
}

#[test]
fn where_it_begins_can_be_said_before_anything_is_there() {
    let mut view = LatchedView::new(RenderedRegions::default());
    view.machine.begin(ScrollRequest::To { offset: (0, 3_000), smoothly: true, serial: 1 });
    let wanted = view.step().wanted.unwrap().region;
    assert!(wanted.y.start <= 3_000 && wanted.y.end() >= 3_100, "{wanted:?}");
    view.cover = RenderedRegions::of([wanted]);
    assert_eq!(view.step().at.offset, (0.0, 3_000.0));
}

#[test]
fn content_that_comes_too_late_is_told_of_once_with_what_is_left() {
    let mut view = LatchedView::new(rows(0, 400));
    let low: Vec<LowWater> = (0..24)
        .filter_map(|_| {
            view.ask(ScrollRequest::Drag(ScrollDistance { x: 0.0, y: 40.0 }));
            view.step().low_water
        })
        .collect();
    assert_eq!(low.len(), 1, "{low:?}");
    assert!(low[0].side == ScrollSide::Down && low[0].left > 0 && low[0].left <= 300, "{low:?}");
}

/// The result of three seconds of a drag, in pixels per second, with a client that takes a while to render.
#[derive(Debug)]
struct DragResult {
    renders: usize,
    /// Refreshes that showed the view at the same offset as before.
    missed: usize,
    is_covered: bool,
}

const RENDER: Span = Span::from_millis(20);
const SECONDS: i64 = 3;

fn supplied((x, y): (f64, f64)) -> DragResult {
    let far = DocumentExtent { start: -100_000, length: 200_000 };
    let terms = ViewTerms { document: DocumentRegion { x: far, y: far }, axes: (true, true), ..terms() };
    let around = DocumentExtent { start: -75, length: 250 };
    let (mut machine, mut cover) =
        (ViewMachine::new(SupplySettings::default()), DocumentRegion { x: around, y: around });
    let (mut shown, mut due) = ((0.0, 0.0), None);
    let mut found = DragResult { renders: 0, missed: 0, is_covered: true };
    let way = ScrollDistance { x: x * REFRESH.as_seconds_f64(), y: y * REFRESH.as_seconds_f64() };
    for refresh in 0..60 * SECONDS {
        let now = START + REFRESH * refresh;
        if let Some((_, region)) = due.take_if(|(at, _)| *at <= now) {
            (cover, found.renders) = (region, found.renders + 1);
        }
        machine.handle_request(now, ScrollRequest::Drag(way), &terms, shown);
        let latch = ViewLatch { now, present: now + REFRESH, interval: REFRESH, scale: 1.0 };
        let step = machine.latch(latch, &terms, RenderedRegions::of([cover]), shown);
        shown = step.at.offset;
        found.missed += usize::from(!step.moved);
        found.is_covered &= step.covered;
        due = step.wanted.map(|wanted| (now + RENDER, wanted.region)).or(due);
    }
    found
}

#[test]
fn in_all_four_directions_as_little_is_rendered_and_nothing_is_missed() {
    use crate::defaults::{EXTENSION_AHEAD, MOST_EXTENSION};
    for way in [(1_000.0, 0.0), (-1_000.0, 0.0), (0.0, 1_000.0), (0.0, -1_000.0)] {
        let found = supplied(way);
        let formula = 1_000.0 / (100.0 * MOST_EXTENSION * EXTENSION_AHEAD - 1_000.0 * RENDER.as_seconds_f64());
        let most = 1.1 * formula * SECONDS as f64 + 1.0;
        assert!(found.renders > 10 && found.renders as f64 <= most, "{way:?}: {found:?}, at most {most}");
        assert!(found.missed == 0 && found.is_covered, "{way:?}: {found:?}");
    }
}
