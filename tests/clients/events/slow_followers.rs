//! Followers that do not read, and the number of events during an animation.

use upbeat::shell::animation::AnimationStyles;
use upbeat::shell::tiling::{self, TilingMode};
use upbeat_record::ipc::message::Request;
use upbeat_timing::motion::MotionStyle;
use upbeat_timing::motion::spring::SpringShape;
use upbeat_timing::time::Span;

use super::{EventStreamSession, SocketConnection};
use crate::fixture::simulated::nothing;

/// Length of a title in bytes: a few hundred changes of it are more than a socket and the session keep.
const LONG_TITLE: usize = 3_000;
/// Number of changes: 3 MB of events, where a socket keeps some 200 KiB and the session 1 MiB.
const CHANGES: usize = 1_000;

#[test]
fn follower_that_does_not_read_is_let_go_and_another_follower_still_agrees() {
    let mut scene = EventStreamSession::new(0);
    let (_, window) = scene.world.open("title", 100, 100);
    let mut deaf = SocketConnection::connect(&scene.folder.path().join("socket"));
    deaf.send(Request::Events);
    scene.world.turn();
    for number in 0..CHANGES {
        window.toplevel.set_title(format!("{number} {}", "x".repeat(LONG_TITLE)));
        scene.world.run_for(Span::from_millis(1), &mut nothing);
        scene.apply_events();
    }
    scene.assert_agrees("many titles");
    // It gets the events that were on their way and the reason. Then the connection ends.
    for _ in 0..100 {
        deaf.read();
        scene.world.turn();
    }
    let last = deaf.lines.back().unwrap();
    assert!(last.contains("\"error\"") && last.contains("1 MiB of events were not read"), "{last}");
    assert!(deaf.lines.len() < CHANGES, "{} lines", deaf.lines.len());
    let mut again = SocketConnection::connect(&scene.folder.path().join("socket"));
    again.send(Request::Events);
    for _ in 0..10 {
        scene.world.turn();
        again.read();
    }
    assert!(again.lines.iter().any(|line| line.contains("\"state\"")), "{:?}", again.lines);
}

#[test]
fn animation_sends_no_event_for_each_frame() {
    let mut scene = EventStreamSession::new(0);
    let style = Some(MotionStyle::Spring(SpringShape::new(2.0, 1.0).unwrap()));
    scene.world.state.shell.set_animations(AnimationStyles { place: style, ..AnimationStyles::default() });
    tiling::set_mode(&mut scene.world.state, TilingMode::Strip);
    let windows = ["a", "b", "c"].map(|title| scene.world.open(title, 100, 100));
    scene.world.run_for(Span::from_millis(2_000), &mut nothing);
    scene.assert_agrees("three windows");
    scene.ask(Request::Act { action: "focus left".to_owned() }).unwrap();
    let before = scene.world.turns();
    scene.world.run_for(Span::from_millis(500), &mut nothing);
    assert!(scene.world.turns() - before > 20, "nothing was animated");
    scene.listener.read();
    let events = scene.listener.lines.len();
    assert!((1..=2 * windows.len() + 2).contains(&events), "{:#?}", scene.listener.lines);
}
