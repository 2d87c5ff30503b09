//! Cost of a layout operation, including the resulting arrangement: a hundred windows on one workspace.

#![allow(missing_docs)]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use upbeat::shell::WindowId;
use upbeat::shell::layout::op::{Direction, Limits, Opening, Rect, Side};
use upbeat::shell::layout::{Area, Layout, Op};
use upbeat::shell::workspaces::Screen;

const WINDOWS: u32 = 100;
const SCREEN: Screen = Screen(1);

/// Columns of one and two rows, and some windows above them; the focus is in the middle.
fn crowded() -> Layout {
    let full = Rect::from_size((2560, 1440).into());
    let mut layout = Layout::new(Screen(0));
    layout.apply(&Op::Connect(SCREEN, Area { full, usable: full, scale: 180, gap: 8, titles: 28 }));
    for id in 0..WINDOWS {
        let floating = (id % 10 == 9).then(|| Rect::new((id as i32 * 11, id as i32 * 7).into(), (800, 600).into()));
        let focused = floating.is_none();
        layout.apply(&Op::Open(
            WindowId(id),
            Limits::default(),
            Opening { place: None, floating, focused, back: None },
        ));
        if id % 3 == 2 && focused {
            layout.apply(&Op::Join(Side::Left));
        }
    }
    layout.apply(&Op::Focus(WindowId(WINDOWS / 2)));
    layout
}

fn operations(criterion: &mut Criterion) {
    let ops = [
        ("focus", Op::FocusTo(Direction::Column(Side::Right))),
        ("move a column", Op::MoveColumn(Side::Left)),
        ("join a column", Op::Join(Side::Left)),
        ("close", Op::Close(WindowId(WINDOWS / 2))),
        (
            "open",
            Op::Open(
                WindowId(WINDOWS),
                Limits::default(),
                Opening { place: None, floating: None, focused: true, back: None },
            ),
        ),
    ];
    let mut group = criterion.benchmark_group("layout of 100 windows: an operation and its arrangement");
    let before = crowded();
    let mut arranged = Vec::with_capacity(2 * WINDOWS as usize);
    for (name, op) in ops {
        group.bench_function(name, |bencher| {
            let done = |mut layout: Layout| {
                layout.apply(&op);
                layout.arrange(layout.focused_place(), &mut arranged);
                layout
            };
            bencher.iter_batched(|| before.clone(), done, BatchSize::SmallInput);
        });
    }
    group.finish();
}

criterion_group!(benches, operations);
criterion_main!(benches);
