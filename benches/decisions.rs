//! Cost of each per-frame decision. The paper's frame queue and virtualizer take 102.6 µs a frame (D-VSync 6.4); every
//! decision here must stay under 1 µs.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use upbeat_timing::beam::{Beam, PixelRect, ScanDirection};
use upbeat_timing::estimator::{Estimator, EstimatorKind, MissBudget, SelectedEstimator, TwoShot, WindowQuantile};
use upbeat_timing::frames::{AheadSettings, FrameOperation, FrameQueue, FrameTrigger, QueuePermissions};
use upbeat_timing::input_prediction::{
    ErrorTracked, Kalman, Linear, PositionSample, PredictionLimits, Predictor, Quadratic,
};
use upbeat_timing::late_frame::LateFramePolicy;
use upbeat_timing::refresh_rate::{RateGovernor, RateRange, RateScenario};
use upbeat_timing::scroll::{
    DocumentExtent, DocumentRegion, RenderLead, RenderSupply, RenderedRegions, ScarDecider, ScrollDistance,
    ScrollRequest, SteadyCourse, SupplySettings, ViewLatch, ViewMachine, ViewTerms,
};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::virtualizer::{CatchUp, Virtualizer, VsyncGrid};

const INTERVAL: Span = Span::from_micros(16_667);
const START: Instant = Instant::from_nanos(1_000_000_000);

/// A cost that varies without repeating soon.
fn cost(index: u64) -> Span {
    Span::from_micros(3_000 + (index * 7_919 % 4_001) as i64)
}

fn estimators(criterion: &mut Criterion) {
    for kind in EstimatorKind::ALL {
        criterion.bench_function(&format!("estimator/{kind}: observe and budget"), |bencher| {
            let mut estimator = SelectedEstimator::new(kind, MissBudget::FREE_RUNNING);
            let mut index = 0;
            bencher.iter(|| {
                index += 1;
                estimator.observe(cost(index));
                black_box(estimator.budget(MissBudget::INTERACTIVE))
            });
        });
    }
    criterion.bench_function("two-shot: both starts", |bencher| {
        let mut costs = WindowQuantile::<128>::new();
        (0..128).for_each(|index| costs.observe(cost(index)));
        let shots = TwoShot::default();
        bencher.iter(|| {
            let ready_by = black_box(START + INTERVAL);
            let first = shots.first_start(&costs, ready_by).unwrap();
            black_box(shots.second_start(&costs, first, ready_by, first, Span::from_millis(1)))
        });
    });
}

fn ahead(criterion: &mut Criterion) {
    criterion.bench_function("ahead: one frame through frame queue and virtualizer", |bencher| {
        let grid = VsyncGrid { refresh: RefreshIndex(0), present: START, interval: INTERVAL };
        let mut frames = FrameQueue::new(AheadSettings::buffers(5).with_run_ahead(4), FrameTrigger::Ahead);
        let mut virtualizer = Virtualizer::new(grid, CatchUp::Gentle);
        frames.begin(RefreshIndex(1));
        let mut refresh = RefreshIndex(1);
        bencher.iter(|| {
            while let Some(step) = frames.poll(QueuePermissions::WORK) {
                match step {
                    FrameOperation::Record => {
                        let target = virtualizer.issue(refresh, frames.depth() as u64 + 1);
                        let id = frames.record(target.refresh, black_box(target));
                        frames.mark_recorded(id);
                    }
                    FrameOperation::Draw(id) => {
                        frames.mark_drawing(id);
                        frames.mark_drawn(id, Span::ZERO);
                    }
                    FrameOperation::Release(_) | FrameOperation::Withdraw(_) | FrameOperation::HandOver(_) => {}
                }
            }
            refresh = refresh.next();
            virtualizer.calibrate(VsyncGrid {
                refresh,
                present: START + INTERVAL * refresh.0 as i64,
                interval: INTERVAL,
            });
            let shown = frames.frame_for_refresh(refresh);
            black_box(shown.frame.map(|id| frames.take(id)))
        });
    });
    criterion.bench_function("late frame: choice", |bencher| {
        let mut policy = LateFramePolicy::default();
        let mut ready = 0;
        bencher.iter(|| {
            ready = (ready + 1) % 3;
            black_box(policy.choose(ready))
        });
    });
    criterion.bench_function("refresh rate: interval and switch", |bencher| {
        let slowest = INTERVAL * 2;
        let mut governor = RateGovernor::new(RateRange { fastest: INTERVAL / 2, slowest, variable: true });
        let mut speed = 0.0;
        bencher.iter(|| {
            speed = (speed + 137.0) % 3_000.0;
            let interval = governor.interval_for(RateScenario::Motion(speed));
            black_box(governor.latching(interval));
            black_box(governor.scan_out(START, START))
        });
    });
}

fn input(criterion: &mut Criterion) {
    fn bench(criterion: &mut Criterion, name: &str, predictor: impl Predictor) {
        let mut tracked = ErrorTracked::new(predictor, PredictionLimits::default());
        let mut index = 0_u64;
        criterion.bench_function(&format!("prediction/{name}: observe and predict"), |bencher| {
            bencher.iter(|| {
                index += 1;
                let at = START + Span::from_millis(8) * index as i64;
                tracked.observe(PositionSample { at, x: (index % 500) as f64, y: (index % 300) as f64 });
                black_box(tracked.predict(at + INTERVAL))
            });
        });
    }
    bench(criterion, "linear", Linear::new());
    bench(criterion, "quadratic", Quadratic::new());
    bench(criterion, "kalman", Kalman::new());
}

fn space(criterion: &mut Criterion) {
    criterion.bench_function("beam: position-aware decision", |bencher| {
        let direction = ScanDirection::Down;
        let beam = Beam::with_blanking((2_560, 1_440), 41, direction, INTERVAL);
        let rect = PixelRect::around(900, 1_100, 200);
        bencher.iter(|| {
            let now = black_box(START);
            black_box(beam.decide(START, now, Span::from_millis(3), &rect, Some(&rect), Span::from_millis(1)))
        });
    });
    criterion.bench_function("scroll: Algorithm 1", |bencher| {
        let mut scar = ScarDecider::new(2_960, 3, 2);
        bencher.iter(|| black_box(scar.step(black_box(17), true)));
    });
    criterion.bench_function("scroll: what is wanted of a document", |bencher| {
        let document = DocumentRegion {
            x: DocumentExtent { start: 0, length: 4_000 },
            y: DocumentExtent { start: 0, length: i64::MAX / 4 },
        };
        let mut supply = RenderSupply::new(document, SupplySettings::with_budget(8_000_000));
        let course = SteadyCourse(ScrollDistance { x: 0.0, y: 1_000.0 });
        let mut y = 0;
        bencher.iter(|| {
            y += 17;
            let shown = DocumentRegion {
                x: DocumentExtent { start: 100, length: 1_440 },
                y: DocumentExtent { start: y, length: 2_960 },
            };
            let look = supply.update(shown, &course, RenderLead { render: INTERVAL, way: INTERVAL });
            if let Some(wanted) = look.wanted {
                supply.set_rendered(RenderedRegions::of([wanted.region]));
            }
            black_box(look)
        });
    });
    criterion.bench_function("scroll: a latch of a view that was thrown", |bencher| {
        let mut view = ViewMachine::new(SupplySettings::default());
        let document = DocumentRegion {
            x: DocumentExtent { start: 0, length: 1_440 },
            y: DocumentExtent { start: 0, length: 1_000_000 },
        };
        let terms = ViewTerms {
            size: (1_440, 2_960),
            document,
            axes: (false, true),
            keeps: 0.998,
            band: 0.0,
            snaps: (&[], &[]),
            predicts: true,
            stretches: false,
        };
        let tiles = |first: i64| (first..first + 16).map(|row| DocumentExtent { start: row * 512, length: 512 });
        let (mut now, mut shown) = (START, (0.0, 103_000.0));
        view.handle_request(now, ScrollRequest::To { offset: (0, 103_000), smoothly: false, serial: 1 }, &terms, shown);
        bencher.iter(|| {
            now += INTERVAL;
            if !view.is_active() {
                // Start another movement, so that the view never rests.
                let offset = if shown.1 > 104_500.0 { (0, 103_000) } else { (0, 106_000) };
                view.handle_request(now, ScrollRequest::To { offset, smoothly: true, serial: 1 }, &terms, shown);
            }
            let latch = ViewLatch { now, present: now + INTERVAL, interval: INTERVAL, scale: 1.0 };
            let cover = RenderedRegions::of(tiles(200).map(|y| DocumentRegion { x: document.x, y }));
            let step = view.latch(latch, &terms, black_box(cover), shown);
            shown = step.at.offset;
            black_box(step)
        });
    });
}

criterion_group!(benches, estimators, ahead, input, space);
criterion_main!(benches);
