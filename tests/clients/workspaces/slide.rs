//! Animated workspace switches: each frame fits its display time, and input goes to the new workspace at once.

use upbeat::backend::headless::OutputOptions;
use upbeat::shell::animation::{AnimationStyles, GAP};
use upbeat::shell::tiling::{self, TilingMode};
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::easing::CubicBezier;
use upbeat_timing::pacing::Pacing;
use upbeat_timing::record::FrameRecord;
use upbeat_timing::time::Span;

use super::{BLACK, LEFT, MIDDLE, lit_world, open, send, switch};
use crate::fixture::content::{GREEN, RED};
use crate::fixture::{KEY_1, KEY_2, OUTPUT, TestWorld};

/// Long enough for several frames.
const DURATION: Span = Span::from_millis(1_000);

fn slides(ahead: u8) -> TestWorld {
    slides_for(ahead, DURATION)
}

fn slides_for(ahead: u8, duration: Span) -> TestWorld {
    let buffers = 3 + usize::from(ahead);
    let mut world =
        TestWorld::rendered_on(OutputOptions { buffers, cursor_plane: Some((64, 64)), ..OutputOptions::default() });
    world.state.outputs.set_background([0.0; 3]);
    world.state.outputs.set_frames_ahead(ahead);
    let style = MotionStyle::Easing { duration, curve: CubicBezier::LINEAR };
    world.state.shell.set_animations(AnimationStyles { workspace: Some(style), ..AnimationStyles::default() });
    world.run_until_idle();
    world
}

/// Switches from a red window to a green window, and compares each frame with its display time. With `vertical`,
/// workspaces lie below each other.
fn assert_slide_frames(world: &mut TestWorld, vertical: bool) {
    open(world, "red", RED);
    send(world, KEY_2);
    open(world, "green", GREEN);
    world.run_until_idle();
    let rect = world.window("green").rect();
    let (start, length, room) = match vertical {
        false => (rect.loc.x, rect.size.w, OUTPUT.0),
        true => (rect.loc.y, rect.size.h, OUTPUT.1),
    };
    let line = (rect.loc.x + rect.size.w / 2, rect.loc.y + rect.size.h / 2);
    let log = world.probe(if vertical { (line.0, 0, 1, OUTPUT.1) } else { (0, line.1, OUTPUT.0, 1) });
    switch(world, KEY_2);
    world.run_until_idle();
    let output = world.state.outputs.states().next().unwrap();
    let frames: Vec<_> = std::iter::from_fn(|| log.pop())
        .filter_map(|sample| {
            let of = |record: &&FrameRecord| record.sequence == Some(sample.refresh.sequence);
            output.records().iter().find(of).map(|record| (*record, sample.pixels))
        })
        .collect();
    let edge_of = |pixels: &[u32], colour: u32| pixels.iter().position(|pixel| pixel & 0x00ff_ffff == colour);
    let moved = |(_, pixels): &(_, Vec<u32>)| edge_of(pixels, GREEN) != Some(start as usize);
    let first = frames.iter().position(moved).unwrap();
    let begun = frames[first].0.present - frames[first].0.interval;
    assert!(frames.len() - first > 5, "only {} frames", frames.len() - first);
    let row = f64::from(room) * (1.0 + GAP);
    for (record, pixels) in &frames[first..] {
        let share = (record.present.since(begun).as_seconds_f64() / DURATION.as_seconds_f64()).clamp(0.0, 1.0);
        for (colour, at) in [(GREEN, -share), (RED, 1.0 - share)] {
            let edge = f64::from(start) + row * at;
            let seen = edge_of(pixels, colour).map_or(f64::INFINITY, |edge| edge as f64);
            let expected = if edge + f64::from(length) <= 0.5 || edge >= f64::from(room) - 0.5 {
                f64::INFINITY
            } else {
                edge.max(0.0)
            };
            let right = seen == expected || (seen - expected).abs() <= 1.0;
            assert!(right, "{colour:06x} at {seen}, not {expected}, after {share}");
        }
    }
    assert_eq!(edge_of(&frames.last().unwrap().1, RED), Some(start as usize), "it ends where it belongs");
}

#[test]
fn every_frame_of_a_slide_represents_its_own_display_time() {
    assert_slide_frames(&mut slides(0), false);
    let mut world = slides(4);
    assert_slide_frames(&mut world, false);
    let output = world.state.outputs.states().next().unwrap();
    let ahead = output.records().iter().filter(|record| record.pacing == Pacing::Ahead && record.presented.is_some());
    assert!(ahead.count() > 5, "they were not rendered ahead");
}

#[test]
fn workspaces_slide_vertically_in_the_column_layout() {
    let mut world = slides(0);
    tiling::set_mode(&mut world.state, TilingMode::Strip);
    // Without the border, because the border of the focused window has another colour.
    world.state.shell.effects_mut().border = None;
    assert_slide_frames(&mut world, true);
}

#[test]
fn shortcut_during_a_slide_reverses_it_without_a_jump() {
    // Long, so that there is time to turn back.
    let duration = Span::from_seconds(3);
    let mut world = slides_for(4, duration);
    open(&mut world, "red", RED);
    world.run_until_idle();
    let log = world.probe((0, MIDDLE.1, OUTPUT.0, 1));
    switch(&mut world, KEY_2);
    world.run_until("frames ahead", |world| {
        let output = world.state.outputs.states().next().unwrap();
        let ahead = |it: &&FrameRecord| it.pacing == Pacing::Ahead && it.presented.is_some();
        output.records().iter().filter(ahead).count() > 4
    });
    switch(&mut world, KEY_1);
    let pressed = world.now();
    world.run_until_idle();
    let output = world.state.outputs.states().next().unwrap();
    let stale = |record: &&FrameRecord| {
        record.pacing == Pacing::Ahead && record.latched < pressed && record.presented > Some(pressed)
    };
    assert!(output.records().iter().filter(stale).count() <= 2, "frames that did not know of the key were shown");
    let lefts: Vec<(upbeat_timing::time::Instant, f64)> = std::iter::from_fn(|| log.pop())
        .filter_map(|sample| {
            let left = sample.pixels.iter().position(|pixel| pixel & 0x00ff_ffff == RED)?;
            Some((sample.light, left as f64))
        })
        .collect();
    assert!(lefts.iter().filter(|(_, left)| *left < f64::from(LEFT)).count() > 5, "{lefts:?}");
    // The usual velocity is one workspace in the duration; when it turns back it may be faster by as much.
    let pace = 2.5 * f64::from(OUTPUT.0) * (1.0 + GAP) / duration.as_seconds_f64();
    for pair in lefts.windows(2) {
        let (time, way) = (pair[1].0.since(pair[0].0).as_seconds_f64(), (pair[1].1 - pair[0].1).abs());
        assert!(way <= pace * (time + 0.017) + 2.0, "a jump of {way} in {time} s");
    }
    assert_eq!(world.pixel(LEFT, MIDDLE.1), RED);
    assert_eq!(world.pixel(LEFT - 1, MIDDLE.1), BLACK, "it ends where it was");
}

#[test]
fn workspace_switch_without_animation_is_immediate() {
    let mut world = lit_world();
    open(&mut world, "red", RED);
    world.run_until_idle();
    let log = world.probe((0, MIDDLE.1, OUTPUT.0, 1));
    switch(&mut world, KEY_2);
    world.run_until_idle();
    let middles: Vec<u32> =
        std::iter::from_fn(|| log.pop()).map(|sample| sample.pixels[MIDDLE.0 as usize] & 0x00ff_ffff).collect();
    assert!(middles.iter().all(|pixel| [RED, BLACK].contains(pixel)), "{middles:x?}");
    assert_eq!(middles.last(), Some(&BLACK));
}
