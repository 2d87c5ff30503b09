//! Places of outputs without a configured position. Pure.
//!
//! ```text
//!   ┌───────┐┌───────┐┌─────┐
//!   │ first ││ wide  ││ new │   a new output lies right of all others
//!   └───────┘│       │└─────┘
//!            └───────┘
//! ```

use std::cmp::Reverse;

use smithay::utils::{Logical, Point, Rectangle};
use upbeat_timing::id::OutputId;

/// An output in the layout.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaidOutOutput {
    pub id: OutputId,
    /// Whether its position is configured.
    pub is_placed: bool,
    /// Position and size (global logical coordinates).
    pub area: Rectangle<i32, Logical>,
}

/// How far outputs without a configured position must move, for those that must.
pub(super) fn free_moves(mut outputs: Vec<LaidOutOutput>) -> Vec<(OutputId, Point<i32, Logical>)> {
    let before: Vec<_> = outputs.iter().map(|output| (output.id, output.area.loc)).collect();
    // An output may move away from one that was settled before. Each round settles at least one more.
    for _ in 0..outputs.len() {
        if !move_once(&mut outputs) {
            break;
        }
    }
    let now = |id| outputs.iter().find(|output| output.id == id).map(|output| output.area.loc);
    let moves = before.into_iter().filter_map(|(id, corner)| Some((id, now(id)? - corner)));
    moves.filter(|(_, by)| *by != Point::default()).collect()
}

/// Moves each output without a configured position once, if it must move. Returns whether one has moved.
fn move_once(outputs: &mut [LaidOutOutput]) -> bool {
    // Of two placed outputs at the same position the newer counts first, because it has come back.
    outputs.sort_by_key(|output| (output.area.loc.x, !output.is_placed, Reverse(output.id.0)));
    let areas = |outputs: &[LaidOutOutput], is_placed: bool| -> Vec<_> {
        outputs.iter().filter(|output| output.is_placed == is_placed).map(|output| output.area).collect()
    };
    let placed = areas(outputs, true);
    let (mut settled, mut has_moved) = (Vec::new(), false);
    for index in 0..outputs.len() {
        let following = areas(&outputs[index + 1..], false);
        let LaidOutOutput { is_placed, area, .. } = &mut outputs[index];
        if !*is_placed {
            let corner = beside(&settled, &placed, &following, *area);
            has_moved |= corner != area.loc;
            area.loc = corner;
        }
        settled.push(*area);
    }
    has_moved
}

/// The corner of an output without a configured position. `settled`: the outputs on its left; `placed`: those with a
/// configured position; `following`: those without, which are settled later. It stays where it is if it has a neighbour
/// there, overlaps none, and there is no gap on its left.
fn beside(
    settled: &[Rectangle<i32, Logical>],
    placed: &[Rectangle<i32, Logical>],
    following: &[Rectangle<i32, Logical>],
    area: Rectangle<i32, Logical>,
) -> Point<i32, Logical> {
    let others = || settled.iter().chain(placed);
    let right = |other: &Rectangle<i32, Logical>| other.loc.x + other.size.w;
    let mut end = settled.iter().map(right).max().unwrap_or(0);
    let furthest = others().map(right).max().unwrap_or(0);
    let is_beside =
        |area| others().next().is_none() || others().chain(following).any(|other| have_common_edge(*other, area));
    let is_apart = end < area.loc.x || !is_beside(area) || others().any(|other| other.overlaps(area));
    if !is_apart {
        return area.loc;
    }
    // It stays left of its neighbour on the right if there is room. X programs have trouble with negative coordinates.
    let neighbours = || placed.iter().chain(following);
    if settled.is_empty()
        && let Some(next) = neighbours().filter(|other| other.loc.x > area.loc.x).min_by_key(|other| other.loc.x)
    {
        let there = Rectangle::new(Point::from((next.loc.x - area.size.w, next.loc.y)), area.size);
        let is_within = there.loc.x >= area.loc.x.min(0);
        if is_within && !neighbours().any(|other| other.overlaps(there)) {
            return there.loc;
        }
    }
    loop {
        let left = others().filter(|other| right(other) == end).map(|other| other.loc.y).min();
        let there = Rectangle::new(Point::from((end, left.unwrap_or(area.loc.y))), area.size);
        match others().filter(|other| other.overlaps(there)).map(right).max() {
            // Each round goes past another output.
            Some(past) if past > end => end = past,
            // Right of a configured position that leaves a gap.
            _ if !is_beside(there) && end < furthest => end = furthest,
            _ => return there.loc,
        }
    }
}

/// Whether the pointer can cross from one rectangle to the other.
fn have_common_edge(a: Rectangle<i32, Logical>, b: Rectangle<i32, Logical>) -> bool {
    let meet = |a: (i32, i32), b: (i32, i32)| a.0 + a.1 == b.0 || b.0 + b.1 == a.0;
    let overlap = |a: (i32, i32), b: (i32, i32)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
    let across = ((a.loc.x, a.size.w), (b.loc.x, b.size.w));
    let down = ((a.loc.y, a.size.h), (b.loc.y, b.size.h));
    (meet(across.0, across.1) && overlap(down.0, down.1)) || (meet(down.0, down.1) && overlap(across.0, across.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rect(x: i32, y: i32, w: i32, h: i32) -> Rectangle<i32, Logical> {
        Rectangle::new((x, y).into(), (w, h).into())
    }

    #[test]
    fn outputs_settle_at_once() {
        let output = |id, is_placed, area| LaidOutOutput { id: OutputId(id), is_placed, area };
        let moved = |outputs: &[LaidOutOutput]| {
            let moves = free_moves(outputs.to_vec());
            let by = |id| moves.iter().find(|(moved, _)| *moved == id).map_or(Point::default(), |(_, by)| *by);
            let now = outputs
                .iter()
                .map(|it| LaidOutOutput { area: Rectangle::new(it.area.loc + by(it.id), it.area.size), ..*it });
            let now: Vec<_> = now.collect();
            assert!(free_moves(now.clone()).is_empty(), "they move again: {now:?}");
            now.iter().map(|output| (output.area.loc.x, output.area.loc.y)).collect::<Vec<_>>()
        };
        let third = output(3, true, rect(3840, 200, 1920, 1080));
        let row = [output(1, false, rect(0, 0, 1920, 1080)), output(2, false, rect(1920, 0, 1920, 1080)), third];
        assert_eq!(moved(&row), [(0, 0), (1920, 0), (3840, 200)], "two outputs left of a configured one");
        let grown = [output(1, false, rect(0, 0, 2560, 1440)), row[1], third];
        assert_eq!(moved(&grown), [(5760, 200), (1920, 200), (3840, 200)], "no room on the left");
        let shrunk = [output(1, false, rect(0, 0, 1280, 720)), row[1], third];
        assert_eq!(moved(&shrunk), [(640, 0), (1920, 0), (3840, 200)], "it stays beside its neighbour");
    }

    #[test]
    fn output_goes_past_configured_outputs_and_to_the_height_of_its_neighbour() {
        let here = rect(0, 0, 1280, 720);
        let corner = |settled: &[Rectangle<i32, Logical>], placed: &[Rectangle<i32, Logical>]| {
            let corner = beside(settled, placed, &[], here);
            (corner.x, corner.y)
        };
        assert_eq!(corner(&[], &[]), (0, 0));
        assert_eq!(corner(&[], &[rect(1280, 0, 640, 480)]), (0, 0), "it has a neighbour");
        assert_eq!(corner(&[], &[rect(0, 720, 640, 480)]), (0, 0), "it has a neighbour below");
        assert_eq!(corner(&[], &[rect(640, 100, 640, 480)]), (1280, 100), "it overlaps none");
        assert_eq!(corner(&[], &[rect(2560, 100, 640, 480)]), (1280, 100), "the pointer can cross");
        let two = [rect(1480, 0, 1280, 720), rect(0, 200, 640, 480)];
        assert_eq!(corner(&two[1..], &two), (2760, 0), "there is no room between them");
        let right = rect(2560, 100, 640, 480);
        let between = rect(1280, 0, 1280, 720);
        assert_eq!(beside(&[], &[right], &[between], here), (0, 0).into(), "another one lies between");
        let wide = rect(0, 0, 1920, 720);
        assert_eq!(beside(&[], &[rect(1280, 100, 640, 480)], &[], wide), (1920, 100).into(), "no room on the left");
        let settled = rect(0, 0, 640, 480);
        assert_eq!(corner(&[settled], &[settled, rect(640, 0, 640, 480)]), (1280, 0));
    }
}
