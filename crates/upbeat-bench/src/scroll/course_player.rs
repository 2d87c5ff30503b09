//! Plays a course: a thread that sends input events to the session by its private socket.

use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::course::ScrollCourse;
use upbeat_record::ipc::message::Request;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_record::ipc::{IpcClient, find_socket};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Higher priority than every program without a real-time class.
const NICENESS: i32 = -15;

/// A connection for input, with the pointer in place.
#[derive(Debug)]
pub(super) struct ScrollInjector(IpcClient);

impl ScrollInjector {
    /// Moves the pointer to `middle` of the output; `None` if the session has no private socket.
    pub fn connect_over(middle: (f64, f64)) -> Option<ScrollInjector> {
        let mut session = IpcClient::connect(&find_socket(|name| std::env::var_os(name)).ok()?).ok()?;
        let event = InputEvent::PointerMove { x: middle.0, y: middle.1 };
        session.request(Request::Input { events: vec![event] }).ok()?;
        Some(ScrollInjector(session))
    }
}

/// Handle of the playing thread.
#[derive(Debug)]
pub(super) struct CoursePlayer {
    thread: JoinHandle<Option<Instant>>,
    to_thread: Sender<(ScrollInjector, ScrollCourse)>,
}

impl CoursePlayer {
    /// Starts the thread, which waits for [`Self::start`]. It keeps the priority that the calling thread has now if it
    /// may not have a higher one.
    pub fn spawn() -> Option<CoursePlayer> {
        let (to_thread, courses) = channel::<(ScrollInjector, ScrollCourse)>();
        let play = move || {
            let (ScrollInjector(mut session), course) = courses.recv().ok()?;
            let mut send = move |event: InputEvent| session.request(Request::Input { events: vec![event] }).is_ok();
            // A rendering client must not delay the input, because a real hand does not wait for a CPU. Without the
            // permission it may.
            let _ = rustix::process::setpriority_process(None, NICENESS);
            let began = MonotonicClock.now();
            let mut last = Span::ZERO;
            for (after, event) in &course.events {
                sleep_until(began + *after);
                last = *after;
                if !send(*event) {
                    return None;
                }
            }
            sleep_until(began + last + course.end);
            Some(began)
        };
        let thread = std::thread::Builder::new().name("finger".into()).spawn(play).ok()?;
        Some(CoursePlayer { thread, to_thread })
    }

    /// Plays a course; `None` if the thread has ended.
    pub fn start(&self, hand: ScrollInjector, course: ScrollCourse) -> Option<()> {
        self.to_thread.send((hand, course)).ok()
    }

    /// Whether the course has ended.
    pub fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// Start of the course; `None` if the session was lost.
    pub fn start_time(self) -> Option<Instant> {
        self.thread.join().ok().flatten()
    }
}

fn sleep_until(until: Instant) {
    let left = (until - MonotonicClock.now()).max(Span::ZERO);
    std::thread::sleep(Duration::from_nanos(left.as_nanos() as u64));
}
