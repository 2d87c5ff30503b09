//! Cost of a scheduling decision: each must stay below a microsecond.

#![allow(missing_docs, clippy::unwrap_used)]

mod steady;

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use upbeat_timing::time::Span;

fn decisions(criterion: &mut Criterion) {
    for clients in [1, 10] {
        let mut session = steady::SteadySession::new(clients);
        (0..300).for_each(|_| session.refresh());
        let mut group = criterion.benchmark_group(format!("{clients} clients"));
        group.bench_function("nothing to do: poll", |bench| {
            bench.iter(|| black_box(session.conductor.poll_action(black_box(session.now))));
        });
        group.bench_function("plan anew after an event, and the next wake-up", |bench| {
            bench.iter(|| {
                session.conductor.output_mut();
                black_box(session.conductor.next_wake(black_box(session.now)))
            });
        });
        group.bench_function("learn from a commit", |bench| {
            let pacer = session.pacers[0];
            bench.iter_batched_ref(
                || session.conductor.clone(),
                |conductor| black_box(conductor.committed(pacer, session.now, Some(Span::ZERO), false)),
                BatchSize::SmallInput,
            );
        });
        group.bench_function("a whole refresh", |bench| bench.iter(|| session.refresh()));
        group.finish();
    }
}

criterion_group!(benches, decisions);
criterion_main!(benches);
