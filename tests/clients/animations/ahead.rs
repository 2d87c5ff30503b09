//! Frames of motion that are rendered ahead of their refreshes: right for their own time, and gone when something makes them
//! wrong.

use super::*;

pub(super) fn records(world: &World) -> impl Iterator<Item = &FrameRecord> {
    world.state.outputs.states().next().unwrap().records.iter()
}

/// The frames that were rendered ahead of their refreshes, and were shown.
pub(super) fn ahead(world: &World) -> Vec<FrameRecord> {
    records(world).filter(|record| record.pacing == Pacing::Ahead && record.presented.is_some()).copied().collect()
}

#[test]
fn frames_that_are_rendered_ahead_represent_their_own_display_time_too() {
    for world in [animated_ahead(fades()), presented_ahead(fades())] {
        runs_ahead(&opens_rightly(world));
    }
}

fn runs_ahead(world: &World) {
    let ahead = ahead(world);
    assert!(ahead.len() > 5, "only {} frames", ahead.len());
    let runs_ahead = |pair: &[FrameRecord]| pair[1].composed < pair[0].presented;
    assert!(ahead.windows(2).any(runs_ahead), "each was made after the one before was shown");
    for pair in ahead.windows(2) {
        assert!(pair[1].target > pair[0].target && pair[1].sequence > pair[0].sequence, "{pair:?}");
    }
    // None is shown before its time.
    assert!(ahead.iter().all(|record| record.sequence >= record.due_sequence));
}

/// Lets a window be maximised until frames of that are rendered ahead.
fn maximise(world: &mut World) -> (ClientIndex, Toplevel) {
    let (client, window) = open(world, RED);
    world.rest();
    window.toplevel.set_maximized();
    world.settle();
    let size = world.client(client).answer_newest().unwrap();
    draw(world, client, &window, 2, size, RED);
    world.until("frames ahead", |world| ahead(world).len() > 4);
    (client, window)
}

fn moves() -> Animations {
    Animations { place: Some(spring(1.0)), ..Animations::default() }
}

#[test]
fn input_supersedes_what_was_rendered_ahead() {
    supersedes(animated_ahead(moves()));
}

#[test]
fn input_supersedes_what_the_display_holds() {
    supersedes(presented_ahead(moves()));
}

fn supersedes(mut world: World) {
    let _window = maximise(&mut world);
    world.key(KEY_A, true);
    let pressed = now();
    world.until("the end", |world| world.state.outputs.states().all(|output| !output.conductor.output().is_needed()));
    world.rest();
    // The one on its way to light, and the one that stays in case a fresh one is late.
    let before =
        ahead(&world).iter().filter(|record| record.latched < pressed && record.presented > Some(pressed)).count();
    assert!(before <= 2, "{before} frames that did not know of the key were shown after it");
    let fresh = records(&world).find(|record| record.latched > pressed).unwrap();
    assert_ne!(fresh.pacing, Pacing::Ahead, "the first one after it is made just in time");
    assert!(world.picture().pixels.iter().all(|pixel| pixel & 0x00ff_ffff == RED), "something stale is left");
    assert!(ahead(&world).last().unwrap().latched > pressed, "and when all is calm, frames are rendered ahead again");
}

#[test]
fn what_a_client_shows_while_its_window_moves_is_not_late() {
    for mut world in [animated_ahead(moves()), presented_ahead(moves())] {
        let (client, window) = maximise(&mut world);
        draw(&mut world, client, &window, 3, OUTPUT, GREEN);
        let committed = now();
        world.until("light", |world| world.client(client).light(3).is_some());
        let is_stale = |record: &&FrameRecord| record.latched < committed && record.presented > Some(committed);
        let stale = ahead(&world).iter().filter(is_stale).count();
        assert!(stale <= 2, "{stale} frames without it came first");
        world.rest();
        let picture = world.picture();
        assert!(picture.pixels.iter().all(|pixel| pixel & 0x00ff_ffff == GREEN), "something stale is left");
    }
}

#[test]
fn what_the_display_holds_is_shown_however_long_we_are_held_up() {
    // Long enough for a busy machine, and fast enough that every frame is another.
    let style = Style::Easing { duration: Span::from_seconds(8), curve: CubicBezier::LINEAR };
    let mut world = presented_ahead(Animations { place: Some(style), ..Animations::default() });
    let _window = maximise(&mut world);
    world.until("frames in the display", |world| {
        let newest = records(world).last().copied().unwrap();
        newest.pacing == Pacing::Ahead && newest.present - newest.composed.unwrap() > newest.interval * 4
    });
    let held_up = now();
    std::thread::sleep(Duration::from_millis(45));
    let over = now();
    world.until("what came of it", |world| records(world).any(|record| record.presented > Some(over)));
    let meanwhile: Vec<_> =
        ahead(&world).into_iter().filter(|it| it.presented > Some(held_up) && it.presented < Some(over)).collect();
    // As many as it held, however long it was.
    assert!(meanwhile.len() >= 2, "{meanwhile:?}");
    for pair in meanwhile[..meanwhile.len().min(3)].windows(2) {
        assert_eq!(pair[1].sequence.unwrap(), pair[0].sequence.unwrap() + 1, "a refresh had no frame");
        assert_eq!(pair[1].sequence, pair[1].due_sequence, "each in its own refresh");
    }
}

#[test]
fn the_cursor_moves_on_frames_that_the_display_holds() {
    let mut world = presented_ahead(moves());
    let _window = maximise(&mut world);
    world.point(200.0, 100.0);
    let moved = now();
    world.rest();
    let picture = world.state.outputs.states().next().unwrap().display.screenshot(true).unwrap();
    let at = |x: i32, y: i32| picture.pixels[(y * OUTPUT.0 + x) as usize] & 0x00ff_ffff;
    assert!((0..12).any(|y| at(201, 100 + y) != RED), "the cursor is where the pointer is");
    assert_eq!(at(900, 500), RED);
    assert!(ahead(&world).iter().any(|record| record.presented > Some(moved)));
}
