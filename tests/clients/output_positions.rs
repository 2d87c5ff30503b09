//! Positions in configurations of outputs. wlr-randr sends the positions of all outputs with each change: a position that
//! an output has already does not place it.

use upbeat::output::hotplug;
use upbeat_timing::time::Span;
use wayland_client::protocol::wl_output::Transform;
use wayland_protocols_wlr::output_management::v1::client::zwlr_output_manager_v1::ZwlrOutputManagerV1;

use crate::fixture::simulated::nothing;
use crate::fixture::{ClientIndex, OUTPUT, TestWorld};
use crate::output_management::{HeadRequest, HeadWithSettings, area, configure, manager, output_manager_events};

const NAMES: [&str; 3] = ["TEST-1", "TEST-2", "TEST-3"];
/// Longer than the pause between two configurations that are applied.
const PAUSE: Span = Span::from_millis(1_500);

/// A change of the first output, and the width that it has then.
type FirstOutputChange<'a> = (&'a dyn Fn(&HeadWithSettings), i32);

/// Outputs beside each other without configured positions, and a client that arranges them.
struct OutputRow {
    world: TestWorld,
    client: ClientIndex,
    manager: ZwlrOutputManagerV1,
}

impl OutputRow {
    fn new() -> Self {
        let mut world = TestWorld::rendered();
        world.unplug(NAMES[0]);
        NAMES.iter().for_each(|name| world.plug_in_unplaced(name, 60_000));
        world.run_until_idle();
        let (client, manager) = manager(&mut world);
        output_manager_events(&mut world, client);
        OutputRow { world, client, manager }
    }

    /// Moves outputs (numbers from 1) and changes the first output. As wlr-randr does, it sends the present positions of
    /// all other outputs in the layout.
    fn arrange(&mut self, moved: &[(usize, (i32, i32))], change: impl Fn(&HeadWithSettings)) -> Vec<String> {
        let is_there = |name: &&str| self.world.state.outputs.iter().any(|output| output.name() == **name);
        let positions: Vec<_> = (1..).zip(NAMES).filter(|(_, name)| is_there(name)).collect();
        let position = |(number, name): (usize, &str)| {
            let (x, y, ..) = area(&self.world, name);
            moved.iter().find(|(moved, _)| *moved == number).map_or((x, y), |(_, to)| *to)
        };
        let positions: Vec<_> = positions.into_iter().map(|output| (output.0, position(output))).collect();
        let change = &change;
        let settings = positions.into_iter().map(|(number, (x, y))| {
            let describe = move |head: &HeadWithSettings| {
                head.set_position(x, y);
                if number == 1 {
                    change(head);
                }
            };
            (number, describe)
        });
        let settings: Vec<_> = settings.collect();
        let requests: Vec<HeadRequest<'_>> =
            settings.iter().map(|(number, describe)| (*number, Some(describe as &dyn Fn(&HeadWithSettings)))).collect();
        self.apply(&requests)
    }

    fn apply(&mut self, requests: &[HeadRequest<'_>]) -> Vec<String> {
        self.world.run_for(PAUSE, &mut nothing);
        output_manager_events(&mut self.world, self.client);
        configure(&mut self.world, self.client, &self.manager, requests).apply();
        self.world.run_until_idle();
        output_manager_events(&mut self.world, self.client)
    }

    fn corners(&self) -> [(i32, i32); 3] {
        NAMES.map(|name| {
            let (x, y, ..) = area(&self.world, name);
            (x, y)
        })
    }

    fn are_placed(&self) -> [bool; 3] {
        NAMES.map(|name| self.world.state.outputs.states().any(|it| it.output().name() == name && it.is_placed()))
    }
}

#[test]
fn repeated_positions_place_no_output() {
    let mut row = OutputRow::new();
    let (width, height) = OUTPUT;
    assert_eq!(row.corners(), [(0, 0), (width, 0), (2 * width, 0)]);
    // The first output becomes narrower, then wider again: the others follow.
    let changes: [FirstOutputChange<'_>; 4] = [
        (&|head| head.set_scale(2.0), width / 2),
        (&|head| head.set_transform(Transform::_90), height / 2),
        (&|head| head.set_custom_mode(1600, 800, 60_000), 400),
        (
            &|head| {
                head.set_scale(1.0);
                head.set_transform(Transform::Normal);
            },
            1600,
        ),
    ];
    for (change, first) in changes {
        let heard = row.arrange(&[], change);
        assert!(heard.contains(&"succeeded".to_owned()), "{heard:?}");
        assert_eq!(row.corners(), [(0, 0), (first, 0), (first + width, 0)]);
        assert_eq!(row.are_placed(), [false; 3]);
    }
}

#[test]
fn all_outputs_of_a_layout_are_placed() {
    let mut row = OutputRow::new();
    let width = OUTPUT.0;
    let layout = [(0, 0), (0, OUTPUT.1), (2 * width, 0)];
    row.arrange(&[(2, (0, OUTPUT.1))], |_| {});
    assert_eq!((row.corners(), row.are_placed()), (layout, [true; 3]), "as the client sent them");
    // The positions are sent unchanged, and hold.
    for scale in [2.0, 0.5, 1.0] {
        row.arrange(&[], |head| head.set_scale(scale));
        assert_eq!((row.corners(), row.are_placed()), (layout, [true; 3]));
    }
}

#[test]
fn swapped_outputs_hold() {
    let mut row = OutputRow::new();
    let width = OUTPUT.0;
    row.arrange(&[(1, (width, 0)), (2, (0, 0))], |_| {});
    assert_eq!((row.corners(), row.are_placed()), ([(width, 0), (0, 0), (2 * width, 0)], [true; 3]));
}

#[test]
fn disabled_output_does_not_push_the_others_of_its_configuration() {
    let mut row = OutputRow::new();
    let width = OUTPUT.0;
    let second = |head: &HeadWithSettings| head.set_position(width, 0);
    let third = |head: &HeadWithSettings| head.set_position(2 * width, 300);
    row.apply(&[(1, None), (2, Some(&second)), (3, Some(&third))]);
    let corner = |row: &OutputRow, name| {
        let (x, y, ..) = area(&row.world, name);
        (x, y)
    };
    assert_eq!((corner(&row, NAMES[1]), corner(&row, NAMES[2])), ((width, 0), (2 * width, 300)));
    row.apply(&[(1, Some(&|_: &HeadWithSettings| {}))]);
    assert_eq!(row.corners(), [(0, 0), (width, 0), (2 * width, 300)], "it returns to its place");
}

#[test]
fn layout_with_overlaps_or_changed_scales_is_taken_as_sent() {
    // A profile of kanshi: some positions equal the present ones.
    let mut row = OutputRow::new();
    let width = OUTPUT.0;
    row.arrange(&[(2, (0, 0))], |_| {});
    assert_eq!(row.corners(), [(0, 0), (0, 0), (2 * width, 0)], "the second shows the same as the first");
    let mut row = OutputRow::new();
    row.arrange(&[(2, (width / 2, 0))], |head| head.set_scale(2.0));
    assert_eq!(row.corners(), [(0, 0), (width / 2, 0), (2 * width, 0)]);
    // The same profile once more.
    row.arrange(&[], |head| head.set_scale(2.0));
    assert_eq!(row.corners(), [(0, 0), (width / 2, 0), (2 * width, 0)]);
}

#[test]
fn output_left_of_a_moved_one_stays_beside_it() {
    let mut row = OutputRow::new();
    let width = OUTPUT.0;
    row.world.unplug(NAMES[2]);
    let second = row.world.state.outputs.states().find(|it| it.output().name() == NAMES[1]).unwrap().id();
    hotplug::arrange(&mut row.world.state, second, Some((width, 100)), 1.0);
    row.world.settle();
    let corner = |row: &OutputRow, name| {
        let (x, y, ..) = area(&row.world, name);
        (x, y)
    };
    row.arrange(&[], |head| head.set_scale(2.0));
    assert_eq!((corner(&row, NAMES[0]), corner(&row, NAMES[1])), ((width / 2, 100), (width, 100)));
    row.arrange(&[], |head| head.set_scale(1.0));
    assert_eq!((corner(&row, NAMES[0]), corner(&row, NAMES[1])), ((0, 100), (width, 100)));
}

#[test]
fn re_enabled_output_with_its_former_position_is_not_placed() {
    let mut row = OutputRow::new();
    let width = OUTPUT.0;
    row.apply(&[(3, None)]);
    let former = |head: &HeadWithSettings| head.set_position(2 * width, 0);
    let heard = row.apply(&[(3, Some(&former))]);
    assert!(heard.contains(&"succeeded".to_owned()), "{heard:?}");
    assert_eq!((row.corners()[2], row.are_placed()), ((2 * width, 0), [false; 3]));
    row.arrange(&[], |head| head.set_scale(2.0));
    assert_eq!(row.corners(), [(0, 0), (width / 2, 0), (width / 2 + width, 0)]);
}

#[test]
fn position_out_of_range_is_refused() {
    let mut row = OutputRow::new();
    let before = row.corners();
    for (x, y) in [(100_000_000, 0), (0, -100_000_000), (i32::MAX, i32::MIN)] {
        let heard = row.arrange(&[(2, (x, y))], |head| head.set_scale(2.0));
        assert_eq!((heard, row.corners()), (vec!["failed".to_owned()], before), "nothing of it was done");
    }
    row.apply(&[(3, None)]);
    let far = |head: &HeadWithSettings| head.set_position(i32::MAX, i32::MAX);
    assert_eq!(row.apply(&[(3, Some(&far))]), ["failed"]);
}
