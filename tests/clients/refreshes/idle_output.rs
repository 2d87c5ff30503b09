//! One output is idle for ten minutes while another output is busy, and then the idle output has something to show.

use upbeat::output::{hotplug, power};

use super::*;
use crate::fixture::simulated::name;

/// How long an output is idle.
const REST: Span = Span::from_seconds(600);
/// Idle time in the tests of other refresh rates: long enough that the vblank phase is unknown again.
const BRIEF: Span = Span::from_seconds(40);
/// Idle time between two changes of another output.
const SHORTLY: Span = Span::from_seconds(1);
/// A frame or two may be left from the activity before the idle time.
const LEFT_OVER: f64 = 2.0;
/// Latches a second for changes that concern all outputs, such as a workspace switch.
const SWITCHES: f64 = 1.0;

/// `TEST-1` is idle for `rest` while `stir` goes on on the last output. Then its window draws, the last output is
/// changed in several ways, and a new window opens on `TEST-1`.
#[track_caller]
fn assert_idle_output_responds(
    rates: &[u32],
    rest: Span,
    stir: impl FnOnce(&mut TestWorld, i32) -> BackgroundActivity,
) {
    let mut world = TestWorld::simulated(rates);
    let last = rates.len() as i32 - 1;
    let (x, y) = middle(0);
    world.point(x, y);
    let mut still = IdleWindow::open(&mut world, "still");
    world.run_until_idle();
    let mut stir = stir(&mut world, last);
    world.run_for(SHORTLY, &mut stir);

    let (latches, others) = (world.output(0).latches(), world.output(last).latches());
    world.run_for(rest, &mut stir);
    let went_on = world.output(last).latches() - others;
    let seconds = rest.as_seconds_f64();
    assert!(went_on as f64 > seconds * 15.0, "only {went_on} frames were wanted on the other output");
    let latched = world.output(0).latches() - latches;
    assert!(
        latched as f64 <= LEFT_OVER + seconds * SWITCHES,
        "an output with nothing to show was latched {latched} times"
    );
    still.commit(&mut world);
    still.assert_update_within_two_refreshes(&mut world, 0, "after the rest", &mut stir);
    still.commit(&mut world);
    still.assert_update_within_two_refreshes(&mut world, 0, "right after that", &mut stir);

    disturb_output(&mut world, &mut still, last, &mut stir);

    // Windows open on the output of the pointer.
    let (x, y) = middle(0);
    world.point(x, y);
    let new = IdleWindow::open(&mut world, "new");
    new.assert_update_within_two_refreshes(&mut world, 0, "a new window", &mut nothing);
}

/// Suspend and resume, mode changes and unplugging of another output, none of which affects the first output.
#[track_caller]
fn disturb_output(world: &mut TestWorld, still: &mut IdleWindow, place: i32, stir: &mut BackgroundActivity) {
    let name = name(place);
    let rate = world.output(place).display().mode().refresh;
    let id = |world: &TestWorld| hotplug::by_name(&world.state, &name).unwrap();
    let mut after = |world: &mut TestWorld, what: &str, stir: &mut BackgroundActivity| {
        world.run_for(SHORTLY, stir);
        still.commit(world);
        still.assert_update_within_two_refreshes(world, 0, what, stir);
    };
    let other = id(world);
    power::set(&mut world.state, other, false);
    after(world, "the other is off", stir);
    power::set(&mut world.state, other, true);
    after(world, "the other is on again", stir);
    world.set_refresh(&name, 75_000);
    after(world, "the other has another rate", stir);
    world.set_refresh(&name, rate);
    after(world, "the other has its rate again", stir);
    world.skip_time(REST);
    after(world, "all slept", stir);
    let position = world.output(place).output().current_location();
    world.unplug(&name);
    // Without `stir`, because its activity would move to an output that is left.
    after(world, "the other is unplugged", &mut (Box::new(nothing) as BackgroundActivity));
    world.plug_in_at(&name, rate, (position.x, position.y));
    let (x, y) = middle(place);
    world.point(x, y);
    after(world, "the other is plugged in again", stir);
}

#[test]
fn idle_output_responds_while_the_cursor_moves_on_another() {
    assert_idle_output_responds(&[60_000, 60_000], REST, |world, last| moving_cursor(world, last, last));
}

#[test]
fn idle_output_responds_while_a_client_draws_on_another() {
    assert_idle_output_responds(&[60_000, 20_000], REST, drawing_client);
    assert_idle_output_responds(&[60_000, 60_000], BRIEF, drawing_client);
}

#[test]
fn idle_output_responds_while_another_switches_workspaces() {
    assert_idle_output_responds(&[60_000, 60_000], REST, switching_workspaces);
}

#[test]
fn idle_output_responds_beside_a_faster_output() {
    assert_idle_output_responds(&[60_000, 144_000], BRIEF, |world, last| moving_cursor(world, last, last));
    assert_idle_output_responds(&[60_000, 144_000], BRIEF, drawing_client);
    assert_idle_output_responds(&[144_000, 60_000], BRIEF, switching_workspaces);
}

#[test]
fn idle_output_responds_while_two_other_outputs_are_busy() {
    assert_idle_output_responds(&[60_000, 75_000, 144_000], BRIEF, |world, last| moving_cursor(world, 1, last));
    assert_idle_output_responds(&[60_000, 75_000, 144_000], BRIEF, drawing_client);
}

#[test]
fn delayed_session_composes_for_the_new_display_time() {
    let mut world = TestWorld::simulated(&[60_000]);
    let mut still = IdleWindow::open(&mut world, "still");
    for held_up in [Span::from_millis(40), Span::from_seconds(2), REST] {
        world.run_for(Span::from_millis(100), &mut nothing);
        still.commit(&mut world);
        // The next latch is scheduled by now.
        world.run_for(Span::from_micros(100), &mut nothing);
        world.skip_time(held_up);
        still.assert_update_within_two_refreshes(&mut world, 0, "after it was held up", &mut nothing);
        let record = world.output(0).records().last().unwrap();
        assert!(record.present >= record.latched, "{record:#?}");
    }
}
