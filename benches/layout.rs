//! Cost of a layout operation, including the resulting arrangement: a hundred windows on one workspace.

#![allow(missing_docs)]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use upbeat::shell::WindowId;
use upbeat::shell::layout::op::{Direction, HorizontalSide, LayoutRect, MinimumSize, WindowOpening};
use upbeat::shell::layout::{LayoutArea, LayoutOp, TilingLayout};
use upbeat::shell::workspaces::ScreenId;

const WINDOWS: u32 = 100;
const SCREEN: ScreenId = ScreenId(1);

/// Columns of one and two rows, and some windows above them; the focus is in the middle.
fn crowded() -> TilingLayout {
    let full = LayoutRect::from_size((2560, 1440).into());
    let mut layout = TilingLayout::new(ScreenId(0));
    layout.apply(&LayoutOp::Connect(SCREEN, LayoutArea { full, usable: full, scale: 180, gap: 8, titles: 28 }));
    for id in 0..WINDOWS {
        let floating =
            (id % 10 == 9).then(|| LayoutRect::new((id as i32 * 11, id as i32 * 7).into(), (800, 600).into()));
        let focused = floating.is_none();
        layout.apply(&LayoutOp::Open(
            WindowId(id),
            MinimumSize::default(),
            WindowOpening { place: None, floating, focused, back: None },
        ));
        if id % 3 == 2 && focused {
            layout.apply(&LayoutOp::Join(HorizontalSide::Left));
        }
    }
    layout.apply(&LayoutOp::Focus(WindowId(WINDOWS / 2)));
    layout
}

fn operations(criterion: &mut Criterion) {
    let ops = [
        ("focus", LayoutOp::FocusTo(Direction::Column(HorizontalSide::Right))),
        ("move a column", LayoutOp::MoveColumn(HorizontalSide::Left)),
        ("join a column", LayoutOp::Join(HorizontalSide::Left)),
        ("close", LayoutOp::Close(WindowId(WINDOWS / 2))),
        (
            "open",
            LayoutOp::Open(
                WindowId(WINDOWS),
                MinimumSize::default(),
                WindowOpening { place: None, floating: None, focused: true, back: None },
            ),
        ),
    ];
    let mut group = criterion.benchmark_group("layout of 100 windows: an operation and its arrangement");
    let before = crowded();
    let mut arranged = Vec::with_capacity(2 * WINDOWS as usize);
    for (name, op) in ops {
        group.bench_function(name, |bencher| {
            let done = |mut layout: TilingLayout| {
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
