//! The per-frame decisions of the timing core allocate nothing.

#![allow(clippy::unwrap_used)]

mod allocations;

use allocations::allocations;
use upbeat_timing::beam::{Beam, PixelRect, ScanDirection};
use upbeat_timing::estimator::{Estimator, EstimatorKind, MissBudget, SelectedEstimator};
use upbeat_timing::frames::{AheadSettings, FrameOperation, FrameQueue, FrameTrigger, QueuePermissions};
use upbeat_timing::input_prediction::{ErrorTracked, Kalman, Linear, PositionSample, PredictionLimits, Quadratic};
use upbeat_timing::late_frame::LateFramePolicy;
use upbeat_timing::output::OutputMachine;
use upbeat_timing::refresh_rate::{RateGovernor, RateRange, RateScenario};
use upbeat_timing::scroll::{
    DocumentExtent, DocumentRegion, RenderLead, RenderSupply, RenderedRegions, ScrollDistance, ScrollRequest,
    SteadyCourse, SupplySettings, ViewLatch, ViewMachine, ViewTerms,
};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::virtualizer::{CatchUp, Virtualizer, VsyncGrid};
use upbeat_timing::vsync::VsyncModel;

const INTERVAL: Span = Span::from_micros(16_667);
const START: Instant = Instant::from_nanos(1_000_000_000);

#[test]
fn estimators_do_not_allocate() {
    let mut estimators = EstimatorKind::ALL.map(|kind| SelectedEstimator::new(kind, MissBudget::FREE_RUNNING));
    let count = allocations(|| {
        for index in 0..1_000 {
            let cost = Span::from_micros(1_000 + index * 37 % 9_000);
            for estimator in &mut estimators {
                estimator.observe(cost);
                std::hint::black_box(estimator.budget(MissBudget::INTERACTIVE));
            }
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn running_ahead_does_not_allocate() {
    let grid = VsyncGrid { refresh: RefreshIndex(0), present: START, interval: INTERVAL };
    let mut frames = FrameQueue::new(AheadSettings::buffers(5).with_run_ahead(4), FrameTrigger::Ahead);
    let mut virtualizer = Virtualizer::new(grid, CatchUp::Gentle);
    let mut governor = RateGovernor::new(RateRange { fastest: INTERVAL, slowest: INTERVAL * 2, variable: true });
    let mut late = LateFramePolicy::default();
    let count = allocations(|| {
        frames.begin(RefreshIndex(1));
        for refresh in 1..1_000 {
            while let Some(step) = frames.poll(QueuePermissions::WORK) {
                match step {
                    FrameOperation::Record => {
                        let target = virtualizer.issue(RefreshIndex(refresh), frames.depth() as u64 + 1);
                        let id = frames.record(target.refresh, target);
                        frames.mark_recorded(id);
                    }
                    FrameOperation::Draw(id) => {
                        frames.mark_drawing(id);
                        frames.mark_drawn(id, Span::ZERO);
                    }
                    FrameOperation::Release(_) | FrameOperation::Withdraw(_) | FrameOperation::HandOver(_) => {}
                }
            }
            if refresh % 50 == 0 {
                std::hint::black_box(frames.supersede());
            }
            let interval = governor.interval_for(RateScenario::Motion(refresh as f64));
            std::hint::black_box((governor.latching(interval), late.choose(frames.ready())));
            let shown = frames.frame_for_refresh(RefreshIndex(refresh));
            std::hint::black_box(shown.frame.map(|id| frames.take(id)));
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn geometry_and_prediction_do_not_allocate() {
    let direction = ScanDirection::Down;
    let beam = Beam::with_blanking((2_560, 1_440), 41, direction, INTERVAL);
    let limits = PredictionLimits::default();
    let mut line = ErrorTracked::new(Linear::new(), limits);
    let mut parabola = ErrorTracked::new(Quadratic::new(), limits);
    let mut kalman = ErrorTracked::new(Kalman::new(), limits);
    let document = DocumentRegion {
        x: DocumentExtent { start: 0, length: 1_440 },
        y: DocumentExtent { start: 0, length: 1_000_000 },
    };
    let mut supply = RenderSupply::new(document, SupplySettings::with_budget(8_000_000));
    let count = allocations(|| {
        for index in 0..1_000_i64 {
            let at = START + Span::from_millis(8) * index;
            let sample = PositionSample { at, x: index as f64, y: (index * index % 977) as f64 };
            line.observe(sample);
            parabola.observe(sample);
            kalman.observe(sample);
            let target = at + INTERVAL;
            std::hint::black_box((line.predict(target), parabola.predict(target), kalman.predict(target)));
            let rect = PixelRect::around(500, index as i32, 200);
            std::hint::black_box(beam.decide(at, at, INTERVAL / 4, &rect, Some(&rect), INTERVAL / 16));
            let view = DocumentRegion { x: document.x, y: DocumentExtent { start: index * 40, length: 2_960 } };
            let look = supply.update(
                view,
                &SteadyCourse(ScrollDistance { x: 0.0, y: 2_400.0 }),
                RenderLead { render: INTERVAL, way: INTERVAL },
            );
            if let Some(wanted) = look.wanted {
                supply.set_rendered(RenderedRegions::of([wanted.region]));
            }
            std::hint::black_box(look);
        }
    });
    assert_eq!(count, 0);
}

#[test]
fn beam_racing_decision_does_not_allocate() {
    let mut vsync = VsyncModel::new(INTERVAL, START);
    vsync.synchronise(START);
    let mut machine = OutputMachine::<()>::new(vsync, Span::from_millis(1), START);
    let scan = Beam::with_blanking((1_280, 720), 30, ScanDirection::Down, INTERVAL);
    machine.set_scan(Some(scan));
    let mut fits = 0;
    let count = allocations(|| {
        for index in 0..1_000_i64 {
            let now = START + Span::from_micros(977) * (index % 900);
            let rect = PixelRect { x: 5, y: (index * 7 % 600) as i32, width: 100, height: 60 };
            fits += u32::from(machine.seen_in_place(&rect, now).is_some());
            let row = machine.next_row(rect.y, now);
            std::hint::black_box(row.and_then(|row| machine.row_deadline(row, rect.y)));
            std::hint::black_box(machine.lit_from(scan, &rect, now));
            machine.wrote(Span::from_micros(100 + index % 50));
        }
    });
    assert!(fits > 100, "{fits}");
    assert_eq!(count, 0);
}

#[test]
fn dragged_and_flung_view_does_not_allocate() {
    let document = DocumentRegion {
        x: DocumentExtent { start: 0, length: 1_440 },
        y: DocumentExtent { start: 0, length: 1_000_000 },
    };
    let snaps: Vec<i32> = (0..1_000).map(|page| page * 1_000).collect();
    let terms = ViewTerms {
        size: (1_440, 900),
        document,
        axes: (false, true),
        keeps: 0.998,
        band: 60.0,
        snaps: (&[], &snaps),
        predicts: true,
        stretches: false,
    };
    let mut view = ViewMachine::new(SupplySettings::default());
    let mut rendered = DocumentRegion { x: document.x, y: DocumentExtent { start: 0, length: 2_000 } };
    let (mut shown, mut renders) = ((0.0, 0.0), 0);
    let count = allocations(|| {
        for refresh in 0..2_000_i64 {
            let now = START + INTERVAL * refresh;
            match refresh % 200 {
                150 => view.handle_request(now, ScrollRequest::Release, &terms, shown),
                pulled if pulled < 150 => {
                    view.handle_request(now, ScrollRequest::Drag(ScrollDistance { x: 0.0, y: 30.0 }), &terms, shown)
                }
                _ => {}
            }
            let latch = ViewLatch { now, present: now + INTERVAL, interval: INTERVAL, scale: 1.0 };
            let step = view.latch(latch, &terms, RenderedRegions::of([rendered]), shown);
            shown = step.at.offset;
            if let Some(wanted) = step.wanted {
                (rendered, renders) = (wanted.region, renders + 1);
            }
            std::hint::black_box(step);
        }
    });
    assert!(renders > 5 && shown.1 > 10_000.0, "{renders} {shown:?}");
    assert_eq!(count, 0);
}
