//! Refreshes are counted by the clock: `tests/clients/refreshes` with the binary, in real time, by its frame log.
//!
//! A machine with other things to do is late now and then. Plans are not: what is held against the bound is for which refresh
//! content was chosen, and how many refreshes passed without any, of which there were thousands.

use serde_json::Value;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::message::{Request, Response};
use upbeat_timing::time::{Clock, Instant, MonotonicClock};

use crate::client::UNKNOWN;
use crate::session::{Session, wait};

/// So fast that an output at rest soon does not know when it refreshes.
const OUTPUT: [&str; 2] = ["--output", "320x200@480"];
const WIDTH: f64 = 320.0;
/// How often the pointer moves on the other output, as fast as it is told to.
const MOVES: u32 = 8_000;
/// Nothing is planned so many refreshes ahead: two, and what composing takes at this rate.
const AHEAD: i64 = 5;
/// So many refreshes without a frame are two seconds: nobody's machine, but a plan far ahead.
const FORGOTTEN: i64 = 960;
const SUPER: u32 = 125;
const O: u32 = 24;

/// A session with a frame log.
fn logged(outputs: usize) -> Session {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("frames.jsonl").to_str().unwrap().to_owned();
    let arguments: Vec<&str> = OUTPUT.repeat(outputs).into_iter().chain(["--frame-log", &log]).collect();
    Session::start_in(directory, &arguments)
}

fn point(session: &mut Session, x: f64, y: f64) {
    session.ask(Request::Input { events: vec![InputEvent::PointerMove { x, y }] });
}

/// The frame log of a session, which ends.
struct Log(Vec<Value>);

impl Log {
    fn of(session: Session) -> Self {
        let (status, directory) = session.quit();
        assert!(status.success());
        let text = std::fs::read_to_string(directory.path().join("frames.jsonl")).unwrap();
        Log(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    fn lines(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |line| line["type"] == kind)
    }

    /// No content was ever chosen for a refresh far ahead.
    #[track_caller]
    fn nothing_lies_far_ahead(&self) {
        assert!(self.lines("output").count() > 0);
        for frame in self.lines("output") {
            let ahead = refreshes(frame, "latched", "present");
            assert!(ahead <= AHEAD, "content was chosen for {ahead} refreshes ahead: {frame}");
        }
    }

    /// The first frame of the window called `name` did not wait for a refresh far ahead.
    #[track_caller]
    fn is_shown_soon(&self, name: &str) {
        let window = &self.lines("window-name").find(|line| line["app_id"] == name).expect("its name")["window"];
        let first = self.lines("client").find(|line| line["window"] == *window && line["presented"].is_u64());
        let first = first.expect("a frame of it");
        let waited = refreshes(first, "committed", "presented");
        assert!(waited <= FORGOTTEN, "it waited for {waited} refreshes: {first}");
    }

    /// So did no frame after `asked`.
    #[track_caller]
    fn answers(&self, asked: Instant) {
        let after = |frame: &&Value| frame["latched"].as_u64() >= Some(asked.as_nanos());
        let first = self.lines("output").find(after).expect("a frame");
        let interval = first["interval"].as_i64().unwrap();
        let waited = (first["latched"].as_u64().unwrap() - asked.as_nanos()) as i64 / interval;
        assert!(waited <= FORGOTTEN, "nothing changed for {waited} refreshes: {first}");
    }
}

/// How many refreshes lie between two moments of a frame.
fn refreshes(frame: &Value, from: &str, to: &str) -> i64 {
    let at = |name: &str| frame[name].as_i64().unwrap_or_else(|| panic!("{name} is missing: {frame}"));
    (at(to) - at(from)) / at("interval")
}

#[test]
fn an_output_at_rest_answers_while_the_cursor_moves_on_another() {
    let mut session = logged(2);
    point(&mut session, WIDTH * 1.5, 100.0);
    std::thread::sleep(UNKNOWN);
    for step in 0..MOVES {
        point(&mut session, WIDTH * 1.5 + f64::from(step % 100), 100.0);
    }
    // Windows open where the pointer is.
    point(&mut session, WIDTH * 0.5, 100.0);
    let _program = session.shown("draw");
    session.goes_on("draw");
    assert_eq!(session.window("draw").output.as_deref(), Some("HEADLESS-1"));
    let log = Log::of(session);
    log.nothing_lies_far_ahead();
    log.is_shown_soon("draw");
}

/// Who shows nothing new for so long is at rest.
const SEVERAL_REFRESHES: std::time::Duration = std::time::Duration::from_millis(100);

#[test]
fn a_window_opens_and_keys_are_answered_after_thousands_of_commits_that_nobody_sees() {
    let mut session = logged(1);
    let mut roleless = session.shown("roleless");
    roleless.wait_for("done");
    let program = session.shown("draw");
    session.goes_on("draw");
    // A window that draws would make frames of its own.
    drop(program);
    wait("its end", || session.windows().is_empty().then_some(()));
    let keys = [(SUPER, true), (O, true), (O, false), (SUPER, false)];
    let events = keys.map(|(key, pressed)| InputEvent::Key { key, pressed }).to_vec();
    let frames = |session: &mut Session| {
        let Response::Stats { outputs, .. } = session.ask(Request::Stats) else { panic!() };
        outputs[0].cadence.frames.total
    };
    // The frame without the window is no answer.
    let mut before = 0;
    wait("rest", || {
        std::thread::sleep(SEVERAL_REFRESHES);
        let last = std::mem::replace(&mut before, frames(&mut session));
        (before == last).then_some(())
    });
    let asked = MonotonicClock.now();
    session.ask(Request::Input { events });
    wait("the overview", || (frames(&mut session) > before).then_some(()));
    let log = Log::of(session);
    log.nothing_lies_far_ahead();
    log.is_shown_soon("draw");
    log.answers(asked);
}
