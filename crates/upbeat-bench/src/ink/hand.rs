//! Plays a path: a thread that moves the pointer, a finger or a pen.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wayland_client::protocol::wl_pointer::ButtonState;

use super::hand_path::{HandDevice, HandReport};
use crate::client::VirtualPointerClient;
use upbeat_record::ipc;
use upbeat_record::ipc::message::Request;
use upbeat_record::ipc::message::input::InputEvent;
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Reports further apart than this belong to two strokes: the hand's position between them is unknown.
const STROKE_GAP: Span = Span::from_millis(100);
/// Pressure of the pen, 0 to 1.
const PRESSURE: f64 = 0.5;
/// Time after the last report, so that compositor and client can process it.
const REST: Span = Span::from_millis(100);

/// A report that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentReport {
    /// When it was sent.
    pub at: Instant,
    pub x: f64,
    pub y: f64,
    /// It began a stroke.
    pub begins: bool,
}

/// All reports that were sent; report number n is the nth.
pub(super) type ReportLog = Arc<Mutex<Vec<SentReport>>>;

/// Handle of the thread.
#[derive(Debug)]
pub(super) struct HandThread {
    pub(super) log: ReportLog,
    thread: JoinHandle<()>,
}

/// The device that is played.
enum HandInjector {
    Pointer(Box<VirtualPointerClient>),
    Injector(HandDevice, ipc::IpcClient),
}

impl HandThread {
    /// Starts to play; `None` if the compositor has no such device.
    pub(super) fn start(device: HandDevice, reports: Vec<HandReport>) -> Option<HandThread> {
        let mut mover = match device {
            HandDevice::Pointer => HandInjector::Pointer(Box::new(VirtualPointerClient::connect()?)),
            HandDevice::Finger | HandDevice::Pen => {
                let path = ipc::find_socket(|name| std::env::var_os(name)).ok()?;
                HandInjector::Injector(device, ipc::IpcClient::connect(&path).ok()?)
            }
        };
        let log = ReportLog::default();
        let sent = Arc::clone(&log);
        let play = move || {
            let began = MonotonicClock.now();
            for report in reports {
                sleep_until(began + report.at);
                let at = MonotonicClock.now();
                let HandReport { x, y, begins, .. } = report;
                sent.lock().unwrap_or_else(PoisonError::into_inner).push(SentReport { at, x, y, begins });
                if mover.send_report(report).is_none() {
                    return;
                }
            }
            sleep_until(MonotonicClock.now() + REST);
        };
        let thread = std::thread::Builder::new().name("hand".into()).spawn(play).ok()?;
        Some(HandThread { log, thread })
    }

    /// Whether all reports were sent.
    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }
}

impl HandInjector {
    /// Sends a report; `None` if the connection is lost.
    fn send_report(&mut self, report: HandReport) -> Option<()> {
        let HandReport { x, y, begins, ends, .. } = report;
        match self {
            HandInjector::Pointer(pointer) => {
                let button = |pointer: &mut VirtualPointerClient, state| pointer.button(state).then_some(());
                pointer.move_to(x, y).then_some(())?;
                if begins {
                    button(pointer, ButtonState::Pressed)?;
                }
                if ends {
                    button(pointer, ButtonState::Released)?;
                }
                Some(())
            }
            HandInjector::Injector(device, client) => {
                let events = events(*device, (x, y), begins, ends);
                client.request(Request::Input { events }).ok().map(|_| ())
            }
        }
    }
}

fn events(device: HandDevice, (x, y): (f64, f64), begins: bool, ends: bool) -> Vec<InputEvent> {
    let pen = device == HandDevice::Pen;
    let mut events = Vec::new();
    match (begins, pen) {
        (true, true) => {
            events.push(InputEvent::PenNear { x, y });
            events.push(InputEvent::PenDown { x, y, pressure: PRESSURE });
        }
        (true, false) => events.push(InputEvent::TouchDown { finger: 0, x, y }),
        (false, true) => events.push(InputEvent::PenMove { x, y, pressure: None }),
        (false, false) => events.push(InputEvent::TouchMove { finger: 0, x, y }),
    }
    match (ends, pen) {
        (true, true) => events.extend([InputEvent::PenUp { x, y }, InputEvent::PenAway]),
        (true, false) => events.push(InputEvent::TouchUp { finger: 0 }),
        (false, _) => {}
    }
    events
}

fn sleep_until(until: Instant) {
    let left = (until - MonotonicClock.now()).max(Span::ZERO);
    std::thread::sleep(Duration::from_nanos(left.as_nanos() as u64));
}

/// The hand's position at `at`, between two reports of a stroke.
pub(super) fn position(sent: &[SentReport], at: Instant) -> Option<(f64, f64)> {
    let next = sent.partition_point(|sent| sent.at < at);
    let (before, after) = (sent.get(next.checked_sub(1)?)?, sent.get(next)?);
    let length = after.at - before.at;
    if after.begins || length > STROKE_GAP {
        return None;
    }
    let way = if length > Span::ZERO { (at - before.at).as_seconds_f64() / length.as_seconds_f64() } else { 1.0 };
    Some((before.x + way * (after.x - before.x), before.y + way * (after.y - before.y)))
}
