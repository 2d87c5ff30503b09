//! Wake-ups of a session: none at rest, and a bounded number while clients draw.

use std::time::{Duration, Instant};

use upbeat_bench::process::ProcessUsage;
use upbeat_record::ipc::IpcClient;

use crate::session::TestSession;
use crate::timed_figure::Noise;

/// The compositor's wake-ups per refresh, besides one for each client: the latch, the flip, and one to spare.
const OURS: u64 = 3;
/// Time until the first frames, the loading of the cursor theme and the callbacks of hidden surfaces are over.
const SETTLES: Duration = Duration::from_secs(3);
const AT_REST: Duration = Duration::from_secs(10);
const BUSY: Duration = Duration::from_secs(5);

#[test]
#[ignore = "timed: ./up measure"]
fn idle_session_makes_no_wake_up() {
    let session = TestSession::start(&["--output", "640x480", "--output", "640x480"]);
    let _clients = [session.shown("idle"), session.shown("idle")];
    // A watch of the configuration and a subscriber to events must not cause wake-ups.
    assert!(session.path("upbeat/config.toml").exists());
    let follower = IpcClient::connect(&session.path("test.upbeat.sock")).unwrap();
    let _follower = follower.subscribe().unwrap();
    std::thread::sleep(SETTLES);
    let (noise, before) = (Noise::begin(), ProcessUsage::of(session.pid()).unwrap());
    std::thread::sleep(AT_REST);
    let used = ProcessUsage::of(session.pid()).unwrap().since(before);
    noise.judge(used.wake_ups == 0, format_args!("{} wake-ups of an idle session in {AT_REST:?}", used.wake_ups));
}

#[test]
#[ignore = "timed: ./up measure"]
fn busy_session_wakes_once_for_each_client_and_three_times_for_itself() {
    let mut session = TestSession::start(&["--output", "640x480"]);
    let _clients = [session.shown("draw"), session.shown("draw")];
    session.wait_for_new_frames("draw");
    let (noise, start, before) = (Noise::begin(), Instant::now(), ProcessUsage::of(session.pid()).unwrap());
    std::thread::sleep(BUSY);
    let used = ProcessUsage::of(session.pid()).unwrap().since(before);
    let refreshes = (start.elapsed().as_secs_f64() * 60.0).ceil() as u64;
    assert!(used.wake_ups > 0, "it is busy");
    let keeps = used.wake_ups <= (2 + OURS) * refreshes;
    noise.judge(keeps, format_args!("{} wake-ups in {refreshes} refreshes beside two clients", used.wake_ups));
}
