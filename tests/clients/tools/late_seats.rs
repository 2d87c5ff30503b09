//! Clients that create their tablet seat while a pen is on their window already.

use super::*;

/// A button on the pen (Linux event code).
pub(super) const BTN_STYLUS: u32 = 0x14b;

/// A client without a tablet seat yet; a pen touches its window "a" at (10, 20).
fn touched() -> (TestWorld, ClientIndex, TestToplevel, ZwpTabletManagerV2) {
    let mut world = TestWorld::new();
    world.plug_tablet(true);
    let (a, window) = world.open("a", 200, 100);
    let manager = world.client(a).bind::<ZwpTabletManagerV2>();
    world.settle();
    for action in [ToolAction::Enter, ToolAction::Tip(true)] {
        pen_at(&mut world, (10, 20), action);
    }
    told_to(&mut world, a);
    (world, a, window, manager)
}

/// A pen event at a point of the window "a".
pub(super) fn pen_at(world: &mut TestWorld, (x, y): (i32, i32), action: ToolAction) {
    let corner = world.window("a").rect().loc;
    world.pen((f64::from(corner.x + x), f64::from(corner.y + y)), action, ToolAxes::default());
}

fn make_seat(world: &mut TestWorld, a: ClientIndex, manager: &ZwpTabletManagerV2) -> Vec<String> {
    let client = world.client(a);
    manager.get_tablet_seat(&client.globals().seat.clone(), &client.handle(), ());
    world.settle();
    told_to(world, a)
}

#[test]
fn late_tablet_seat_receives_proximity_in() {
    let (mut world, a, _window, manager) = touched();
    assert_eq!(make_seat(&mut world, a, &manager), ["tablet Slate", "tool Pen", "near", "at 10 20", "down"]);
    pen_at(&mut world, (11, 20), ToolAction::Move);
    pen_at(&mut world, (11, 20), ToolAction::Tip(false));
    assert_eq!(told_to(&mut world, a), ["at 11 20", "at 11 20", "up"]);
}

#[test]
fn late_tablet_seat_receives_held_buttons() {
    let (mut world, a, _window, manager) = touched();
    pen_at(&mut world, (10, 20), ToolAction::Button(BTN_STYLUS, true));
    told_to(&mut world, a);
    let told = make_seat(&mut world, a, &manager);
    assert_eq!(told[2..], ["near", "at 10 20", "down", "button 331"]);
    pen_at(&mut world, (10, 20), ToolAction::Button(BTN_STYLUS, false));
    assert_eq!(told_to(&mut world, a), ["at 10 20", "button 331"]);
}

#[test]
fn replayed_press_of_a_late_tablet_seat_can_move_the_window() {
    let (mut world, a, window, manager) = touched();
    make_seat(&mut world, a, &manager);
    let serial = world.client(a).data.tool_press;
    let corner = world.window("a").rect().loc;
    window.toplevel._move(&world.client(a).globals().seat, serial);
    world.settle();
    assert_eq!(told_to(&mut world, a), ["up", "away"], "a client gets no motion of the pen that drags its window");
    pen_at(&mut world, (13, 24), ToolAction::Move);
    world.latch();
    assert_eq!(world.window("a").rect().loc, corner + Point::from((3, 4)), "it follows from the press");
}
