//! A session in which nothing happens does nothing, and a busy one no more than it must.

use std::time::{Duration, Instant};

use upbeat::bench::process::Usage;
use upbeat::ipc::Client;

use crate::session::Session;

/// Wake-ups of the compositor at each refresh, besides one for each client: the latch, the flip, and one to spare.
const OURS: u64 = 3;

#[test]
fn an_idle_session_makes_no_wake_up() {
    let session = Session::start(&["--output", "640x480", "--output", "640x480"]);
    let _clients = [session.shown("idle"), session.shown("idle")];
    // Its configuration is watched, and somebody follows what happens.
    assert!(session.path("upbeat/config.toml").exists());
    let follower = Client::connect(&session.path("test.upbeat.sock")).unwrap();
    let _follower = follower.follow().unwrap();
    // What was begun has come to its end: the first frames, the cursor theme, the tick of hidden surfaces.
    std::thread::sleep(Duration::from_secs(3));
    let before = Usage::of(session.pid()).unwrap();
    std::thread::sleep(Duration::from_secs(10));
    let used = Usage::of(session.pid()).unwrap().since(before);
    assert_eq!(used.wake_ups, 0, "{used:?}");
}

#[test]
fn a_busy_session_wakes_once_for_each_client_and_three_times_for_itself() {
    let mut session = Session::start(&["--output", "640x480"]);
    let _clients = [session.shown("draw"), session.shown("draw")];
    session.goes_on("draw");
    let (start, before) = (Instant::now(), Usage::of(session.pid()).unwrap());
    std::thread::sleep(Duration::from_secs(5));
    let used = Usage::of(session.pid()).unwrap().since(before);
    let refreshes = (start.elapsed().as_secs_f64() * 60.0).ceil() as u64;
    assert!(used.wake_ups <= (2 + OURS) * refreshes, "{used:?} in {refreshes} refreshes");
    assert!(used.wake_ups > 0, "it is busy");
}
