//! A shortcut that moves a column, and a finger that stops a glide, are seen as soon as any other input.

use upbeat::backend::headless::OutputOptions;
use upbeat::input::session_swipes::EnabledSwipes;
use upbeat::input::{InputEvent, TouchpadGesture};
use upbeat::shell::animation::AnimationStyles;
use upbeat::shell::tiling::{self, TilingMode};
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::spring::SpringShape;
use upbeat_timing::time::Span;

use crate::fixture::content::{BLUE, GREEN, RED};
use crate::fixture::simulated::nothing;
use crate::fixture::{KEY_2, KEY_LEFT, KEY_LEFT_SHIFT, KEY_LEFT_SUPER, OUTPUT, TestWorld};

/// Moments of an input, over a whole refresh of 16.7 ms.
const PHASES: std::ops::Range<i64> = 0..17;

fn spring() -> Option<MotionStyle> {
    Some(MotionStyle::Spring(SpringShape::new(2.0, 1.0).unwrap()))
}

/// Three fingers push the columns towards the first, and let go.
fn flick(world: &mut TestWorld) {
    let push = TouchpadGesture::SwipeUpdate { delta: (20.0, 0.0).into() };
    let end = TouchpadGesture::SwipeEnd { cancelled: false };
    let begin = TouchpadGesture::SwipeBegin { fingers: 3 };
    for gesture in std::iter::once(begin).chain(std::iter::repeat_n(push, 8)).chain([end]) {
        world.input(InputEvent::Gesture { time: world.now(), gesture });
        world.run_for(Span::from_millis(8), &mut nothing);
    }
}

/// Three columns, of which two are visible. Columns move by a spring, and workspaces switch at once.
fn columns() -> TestWorld {
    let mut world = TestWorld::rendered_on(OutputOptions::default());
    world.state.outputs.set_background([0.0; 3]);
    world.state.shell.set_animations(AnimationStyles { place: spring(), ..AnimationStyles::default() });
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    for (title, colour) in [("a", RED), ("b", GREEN), ("c", BLUE)] {
        world.open_filled_at_configured_size(title, colour);
    }
    world.run_until_idle();
    world
}

/// When the picture changed, relative to `input`, which comes at a phase of a refresh: negative before it.
fn changes(phase: i64, mut world: TestWorld, input: impl FnOnce(&mut TestWorld)) -> Vec<Span> {
    let log = world.probe((0, OUTPUT.1 / 2, OUTPUT.0, 1));
    world.run_for(Span::from_millis(100), &mut nothing);
    let vsync = world.output(0).conductor().output().vsync();
    let refresh = vsync.present(vsync.at_or_after(world.now()));
    world.run_for(refresh + Span::from_millis(phase) - world.now(), &mut nothing);
    let at = world.now();
    input(&mut world);
    world.run_for(Span::from_seconds(3), &mut nothing);
    let mut before: Option<Vec<u32>> = None;
    let mut seen = Vec::new();
    while let Some(sample) = log.pop() {
        if before.as_ref().is_some_and(|before| *before != sample.pixels) {
            seen.push(sample.refresh.time - at);
        }
        before = Some(sample.pixels);
    }
    seen
}

/// How soon the first change after an input is seen.
fn first_change(phase: i64, world: TestWorld, input: impl FnOnce(&mut TestWorld)) -> Span {
    let seen = changes(phase, world, input);
    assert!(seen.first().is_some_and(|first| *first > Span::ZERO), "{seen:?}");
    seen[0]
}

/// How soon a shortcut is seen that shows an empty workspace at once.
fn switch_is_seen_after(phase: i64) -> Span {
    first_change(phase, columns(), |world| world.chord(&[KEY_LEFT_SUPER], KEY_2))
}

#[test]
fn column_begins_to_move_as_soon_as_any_other_key_is_seen() {
    for phase in PHASES {
        let keys = [KEY_LEFT_SUPER, KEY_LEFT_SHIFT];
        let moved = first_change(phase, columns(), |world| world.chord(&keys, KEY_LEFT));
        assert_eq!(moved, switch_is_seen_after(phase), "{phase} ms after a refresh");
    }
}

#[test]
fn finger_stops_a_glide_as_soon_as_any_other_input_is_seen() {
    for phase in PHASES {
        let mut world = columns();
        let animations = AnimationStyles { place: spring(), workspace: spring(), ..AnimationStyles::default() };
        world.state.shell.set_animations(animations);
        *world.state.input.gestures_mut() = EnabledSwipes { touchpad: true, edges: true };
        flick(&mut world);
        let seen = changes(phase, world, |world| {
            let gesture = TouchpadGesture::HoldBegin { fingers: 3 };
            world.input(InputEvent::Gesture { time: world.now(), gesture });
        });
        assert!(seen.iter().any(|change| *change < Span::ZERO), "it glides before the finger touches");
        let last = seen.last().copied().unwrap_or_default();
        assert!(last <= switch_is_seen_after(phase), "{phase} ms after a refresh it stops after {last:?}");
    }
}
