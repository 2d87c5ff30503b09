//! Plans by the clock: the checks of `tests/clients/refreshes` for the binary, in real time, from its frame log.
//!
//! A busy machine is late now and then, but its plans are not affected. So the bounds hold for the refresh that content
//! was chosen for, and for the number of refreshes without a frame, which was in the thousands when this failed.

use serde_json::Value;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::{Request, Response};
use upbeat_timing::time::{Clock, Instant, MonotonicClock};

use crate::client::UNKNOWN;
use crate::session::{TestSession, wait};

/// So fast that the timing of an output at rest is soon unknown.
const OUTPUT: [&str; 2] = ["--output", "320x200@480"];
const WIDTH: f64 = 320.0;
/// Pointer motions on the other output, as fast as possible.
const MOVES: u32 = 8_000;
/// Most refreshes between a latch and its refresh: two, and the time for composing at this rate.
const AHEAD: i64 = 5;
/// This many refreshes without a frame take two seconds: not a slow machine, but a plan too far ahead.
const FORGOTTEN: i64 = 960;
const SUPER: u32 = 125;
const O: u32 = 24;

/// A session that writes a frame log.
fn logged(outputs: usize) -> TestSession {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("frames.jsonl").to_str().unwrap().to_owned();
    let arguments: Vec<&str> = OUTPUT.repeat(outputs).into_iter().chain(["--frame-log", &log]).collect();
    TestSession::start_in(directory, &arguments)
}

fn point(session: &mut TestSession, x: f64, y: f64) {
    session.ask(Request::Input { events: vec![InputEvent::PointerMove { x, y }] });
}

/// The lines of the frame log.
struct FrameLogLines(Vec<Value>);

impl FrameLogLines {
    fn of(session: TestSession) -> Self {
        let (status, directory) = session.quit();
        assert!(status.success());
        let text = std::fs::read_to_string(directory.path().join("frames.jsonl")).unwrap();
        FrameLogLines(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn lines(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |line| line["type"] == kind)
    }

    /// Asserts that no content was chosen for a refresh far ahead.
    #[track_caller]
    fn assert_no_latch_far_ahead(&self) {
        assert!(self.lines("output").count() > 0);
        for frame in self.lines("output") {
            let ahead = refreshes(frame, "latched", "present");
            assert!(ahead <= AHEAD, "content was chosen for {ahead} refreshes ahead: {frame}");
        }
    }

    /// Asserts that the first frame of the window called `name` did not wait for a refresh far ahead.
    #[track_caller]
    fn assert_shown_soon(&self, name: &str) {
        let window = &self.lines("window-name").find(|line| line["app_id"] == name).expect("the window name")["window"];
        let first = self.lines("client").find(|line| line["window"] == *window && line["presented"].is_u64());
        let first = first.expect("a presented frame of the window");
        let waited = refreshes(first, "committed", "presented");
        assert!(waited <= FORGOTTEN, "the window waited for {waited} refreshes: {first}");
    }

    /// Asserts the same of the first frame after `asked`.
    #[track_caller]
    fn assert_answered_soon(&self, asked: Instant) {
        let after = |frame: &&Value| frame["latched"].as_u64() >= Some(asked.as_nanos());
        let first = self.lines("output").find(after).expect("a frame");
        let interval = first["interval"].as_i64().unwrap();
        let waited = (first["latched"].as_u64().unwrap() - asked.as_nanos()) as i64 / interval;
        assert!(waited <= FORGOTTEN, "nothing changed for {waited} refreshes: {first}");
    }
}

/// Number of refreshes between two times of a frame.
fn refreshes(frame: &Value, from: &str, to: &str) -> i64 {
    let at = |name: &str| frame[name].as_i64().unwrap_or_else(|| panic!("{name} is missing: {frame}"));
    (at(to) - at(from)) / at("interval")
}

#[test]
fn idle_output_shows_a_new_window_while_the_cursor_moves_on_another_output() {
    let mut session = logged(2);
    point(&mut session, WIDTH * 1.5, 100.0);
    std::thread::sleep(UNKNOWN);
    for step in 0..MOVES {
        point(&mut session, WIDTH * 1.5 + f64::from(step % 100), 100.0);
    }
    // Windows open on the output with the pointer.
    point(&mut session, WIDTH * 0.5, 100.0);
    let _program = session.shown("draw");
    session.wait_for_new_frames("draw");
    assert_eq!(session.window("draw").output.as_deref(), Some("HEADLESS-1"));
    let log = FrameLogLines::of(session);
    log.assert_no_latch_far_ahead();
    log.assert_shown_soon("draw");
}

/// An output without a new frame for this long is at rest.
const SEVERAL_REFRESHES: std::time::Duration = std::time::Duration::from_millis(100);

#[test]
fn window_opens_and_keys_work_after_thousands_of_invisible_commits() {
    let mut session = logged(1);
    let mut roleless = session.shown("roleless");
    roleless.wait_for("done");
    let program = session.shown("draw");
    session.wait_for_new_frames("draw");
    // End the client, because its window would cause frames of its own.
    drop(program);
    wait("its end", || session.windows().is_empty().then_some(()));
    let keys = [(SUPER, true), (O, true), (O, false), (SUPER, false)];
    let events = keys.map(|(key, pressed)| InputEvent::Key { key, pressed }).to_vec();
    let frames = |session: &mut TestSession| {
        let Response::Stats { outputs, .. } = session.ask(Request::Stats) else { panic!() };
        outputs[0].cadence.frames.total
    };
    // The frame that removes the window must not count as an answer.
    let mut before = 0;
    wait("rest", || {
        std::thread::sleep(SEVERAL_REFRESHES);
        let last = std::mem::replace(&mut before, frames(&mut session));
        (before == last).then_some(())
    });
    let asked = MonotonicClock.now();
    session.ask(Request::Input { events });
    wait("the overview", || (frames(&mut session) > before).then_some(()));
    let log = FrameLogLines::of(session);
    log.assert_no_latch_far_ahead();
    log.assert_shown_soon("draw");
    log.assert_answered_soon(asked);
}
