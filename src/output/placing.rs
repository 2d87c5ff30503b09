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
    // Of two placed outputs at the same position the newer counts first, because it has come back.
    outputs.sort_by_key(|output| (output.area.loc.x, !output.is_placed, Reverse(output.id.0)));
    let areas = |outputs: &[LaidOutOutput], is_placed: bool| -> Vec<_> {
        outputs.iter().filter(|output| output.is_placed == is_placed).map(|output| output.area).collect()
    };
    let placed = areas(&outputs, true);
    let (mut settled, mut moves) = (Vec::new(), Vec::new());
    for (index, LaidOutOutput { id, is_placed, mut area }) in outputs.iter().copied().enumerate() {
        if !is_placed {
            let corner = beside(&settled, &placed, &areas(&outputs[index + 1..], false), area);
            if corner != area.loc {
                moves.push((id, corner - area.loc));
                area.loc = corner;
            }
        }
        settled.push(area);
    }
    moves
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
    let is_beside = |area| others().next().is_none() || others().any(|other| have_common_edge(*other, area));
    let is_apart = end < area.loc.x || !is_beside(area) || others().any(|other| other.overlaps(area));
    if !is_apart {
        return area.loc;
    }
    // It stays left of a configured position if there is room.
    if settled.is_empty()
        && let Some(next) = placed.iter().filter(|other| other.loc.x >= right(&area)).min_by_key(|other| other.loc.x)
    {
        let there = Rectangle::new(Point::from((next.loc.x - area.size.w, next.loc.y)), area.size);
        if !placed.iter().chain(following).any(|other| other.overlaps(there)) {
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
        assert_eq!(beside(&[], &[right], &[rect(1280, 0, 1280, 720)], here), (3200, 100).into(), "no room beside it");
        let settled = rect(0, 0, 640, 480);
        assert_eq!(corner(&[settled], &[settled, rect(640, 0, 640, 480)]), (1280, 0));
    }
}
