//! Cost of each per-frame decision. The paper's frame queue and virtualizer take 102.6 µs a frame (D-VSync 6.4); every
//! decision here must stay under 1 µs.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use upbeat_timing::beam::{Beam, PixelRect, ScanDirection};
use upbeat_timing::estimator::{Estimator, EstimatorKind, MissBudget, SelectedEstimator, TwoShot, WindowQuantile};
use upbeat_timing::frames::{AheadSettings, FrameQueue, May, Step, Trigger};
use upbeat_timing::input_prediction::{Kalman, Linear, PredictionLimits, Predictor, Quadratic, Sample, Tracked};
use upbeat_timing::late_frame::LateFramePolicy;
use upbeat_timing::refresh_rate::{RateGovernor, RateRange, Scenario};
use upbeat_timing::scroll::{
    Cover, Extent, Latch, Lead, Movement, Region, ScarDecider, Steady, Supply, SupplySettings, Terms, ViewMachine, Way,
};
use upbeat_timing::target::RefreshIndex;
use upbeat_timing::time::{Instant, Span};
use upbeat_timing::virtualizer::{CatchUp, Grid, Virtualizer};

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
        let grid = Grid { refresh: RefreshIndex(0), present: START, interval: INTERVAL };
        let mut frames = FrameQueue::new(AheadSettings::buffers(5).with_run_ahead(4), Trigger::Ahead);
        let mut virtualizer = Virtualizer::new(grid, CatchUp::Gentle);
        frames.begin(RefreshIndex(1));
        let mut refresh = RefreshIndex(1);
        bencher.iter(|| {
            while let Some(step) = frames.poll(May::WORK) {
                match step {
                    Step::Record => {
                        let target = virtualizer.issue(refresh, frames.depth() as u64 + 1);
                        let id = frames.record(target.refresh, black_box(target));
                        frames.recorded(id);
                    }
                    Step::Draw(id) => {
                        frames.draw(id);
                        frames.drawn(id, Span::ZERO);
                    }
                    Step::Release(_) | Step::Withdraw(_) | Step::HandOver(_) => {}
                }
            }
            refresh = refresh.next();
            virtualizer.calibrate(Grid { refresh, present: START + INTERVAL * refresh.0 as i64, interval: INTERVAL });
            let shown = frames.shows(refresh);
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
            let interval = governor.interval_for(Scenario::Motion(speed));
            black_box(governor.latching(interval));
            black_box(governor.scan_out(START, START))
        });
    });
}

fn input(criterion: &mut Criterion) {
    fn bench(criterion: &mut Criterion, name: &str, predictor: impl Predictor) {
        let mut tracked = Tracked::new(predictor, PredictionLimits::default());
        let mut index = 0_u64;
        criterion.bench_function(&format!("prediction/{name}: observe and predict"), |bencher| {
            bencher.iter(|| {
                index += 1;
                let at = START + Span::from_millis(8) * index as i64;
                tracked.observe(Sample { at, x: (index % 500) as f64, y: (index % 300) as f64 });
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
        let document = Region { x: Extent { start: 0, length: 4_000 }, y: Extent { start: 0, length: i64::MAX / 4 } };
        let mut supply = Supply::new(document, SupplySettings::with_budget(8_000_000));
        let course = Steady(Way { x: 0.0, y: 1_000.0 });
        let mut y = 0;
        bencher.iter(|| {
            y += 17;
            let shown = Region { x: Extent { start: 100, length: 1_440 }, y: Extent { start: y, length: 2_960 } };
            let look = supply.look(shown, &course, Lead { render: INTERVAL, way: INTERVAL });
            if let Some(wanted) = look.wanted {
                supply.set_rendered(Cover::of([wanted.region]));
            }
            black_box(look)
        });
    });
    criterion.bench_function("scroll: a latch of a view that was thrown", |bencher| {
        let mut view = ViewMachine::new(SupplySettings::default());
        let document = Region { x: Extent { start: 0, length: 1_440 }, y: Extent { start: 0, length: 1_000_000 } };
        let terms = Terms {
            size: (1_440, 2_960),
            document,
            axes: (false, true),
            keeps: 0.998,
            band: 0.0,
            snaps: (&[], &[]),
            predicts: true,
            stretches: false,
        };
        let tiles = |first: i64| (first..first + 16).map(|row| Extent { start: row * 512, length: 512 });
        let (mut now, mut shown) = (START, (0.0, 103_000.0));
        view.ask(now, Movement::To { offset: (0, 103_000), smoothly: false, serial: 1 }, &terms, shown);
        bencher.iter(|| {
            now += INTERVAL;
            if !view.is_active() {
                // Start another movement, so that the view never rests.
                let offset = if shown.1 > 104_500.0 { (0, 103_000) } else { (0, 106_000) };
                view.ask(now, Movement::To { offset, smoothly: true, serial: 1 }, &terms, shown);
            }
            let latch = Latch { now, present: now + INTERVAL, interval: INTERVAL, scale: 1.0 };
            let cover = Cover::of(tiles(200).map(|y| Region { x: document.x, y }));
            let step = view.latch(latch, &terms, black_box(cover), shown);
            shown = step.at.offset;
            black_box(step)
        });
    });
}

criterion_group!(benches, estimators, ahead, input, space);
criterion_main!(benches);
