//! The headless backend on the real clock, as an event loop sees it.

use std::os::fd::AsFd;
use std::rc::Rc;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::stage::plan;
use crate::backend::headless::{HeadlessBackend, HeadlessError, HotplugEvent, OutputOptions};
use crate::backend::{Display, DisplayEvent, FrameId, FramePlan, PlanChange, SubmitError, VideoMode};
use calloop::generic::Generic;
use calloop::{EventLoop, Interest, Mode as Trigger, PostAction};
use upbeat_timing::time::{Instant, SimulatedClock, Span};

const MODE: VideoMode = VideoMode { width: 8, height: 8, refresh: 200_000 };

/// Waits for the backend's descriptor; false if it was not readable for `millis`.
fn readable(backend: &HeadlessBackend, millis: i64) -> bool {
    let timeout = Timespec { tv_sec: millis / 1_000, tv_nsec: millis % 1_000 * 1_000_000 };
    poll(&mut [PollFd::new(backend, PollFlags::IN)], Some(&timeout)).expect("poll") > 0
}

fn compose(output: &mut impl Display, frame: u64) -> FramePlan {
    let buffer = output.acquire().expect("a free buffer");
    plan(frame, PlanChange::Compose { buffer, damage: Vec::new() })
}

/// Far longer than any refresh, so only a hang takes this long.
const HANG_MILLIS: i64 = 20_000;

#[test]
fn an_idle_backend_is_silent_and_a_waiting_frame_wakes_once() {
    let mut backend = HeadlessBackend::new().expect("a backend");
    let mut output = backend.add_output("HEADLESS-1", MODE, OutputOptions::default()).expect("an output");
    assert!(!readable(&backend, 30), "an idle display made a wake-up");
    let plan = compose(&mut output, 1);
    output.submit(plan).expect("taken");
    assert!(readable(&backend, HANG_MILLIS), "no wake-up at the vblank");
    backend.dispatch();
    let Some(DisplayEvent::Presented { frame: FrameId(1), time, sequence: Some(sequence) }) = output.poll_event()
    else {
        panic!("not presented")
    };
    let (last, _) = output.last_vblank(time).expect("it has refreshed");
    assert_eq!((last, true), (time, sequence >= 1));
    assert!(!readable(&backend, 30), "the expired timer still wakes");
}

#[test]
fn a_fence_wakes_the_loop_when_it_signals_and_the_frame_goes_out_after() {
    let mut backend = HeadlessBackend::new().expect("a backend");
    let mut output = backend.add_output("HEADLESS-1", MODE, OutputOptions::default()).expect("an output");
    let fence = eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd");
    let signal = fence.as_fd().try_clone_to_owned().expect("a duplicate");
    let plan = FramePlan { in_fence: Some(fence), ..compose(&mut output, 1) };
    output.submit(plan).expect("taken");
    assert!(!readable(&backend, 30), "a pending fence made a wake-up");
    rustix::io::write(&signal, &1u64.to_ne_bytes()).expect("signalled");
    assert!(readable(&backend, HANG_MILLIS), "the fence caused no wake-up");
    backend.dispatch();
    let event = loop {
        if let Some(event) = output.poll_event() {
            break event;
        }
        assert!(readable(&backend, HANG_MILLIS), "no wake-up at the vblank");
        backend.dispatch();
    };
    assert!(matches!(event, DisplayEvent::Presented { frame: FrameId(1), .. }), "{event:?}");
    assert!(!readable(&backend, 30), "the signalled fence still wakes");
}

#[test]
fn event_during_another_call_wakes_the_loop() {
    let mut backend = HeadlessBackend::new().expect("a backend");
    let mut output = backend.add_output("HEADLESS-1", MODE, OutputOptions::default()).expect("an output");
    let plan = compose(&mut output, 1);
    output.submit(plan).expect("taken");
    // No dispatch until after the vblank: it is then too late to withdraw.
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(output.supersede(FrameId(1)), None, "it is on screen");
    assert!(readable(&backend, HANG_MILLIS), "no event reports it");
    backend.dispatch();
    assert!(matches!(output.poll_event(), Some(DisplayEvent::Presented { frame: FrameId(1), .. })));
    // An event that is polled at once causes no wake-up.
    let plan = compose(&mut output, 2);
    output.submit(plan).expect("taken");
    std::thread::sleep(Duration::from_millis(20));
    output.set_cursor(None);
    assert!(matches!(output.poll_event(), Some(DisplayEvent::Presented { frame: FrameId(2), .. })));
    assert_eq!(output.poll_event(), None);
    assert!(!readable(&backend, 30), "a polled event still wakes");
}

#[test]
fn outputs_come_and_go_and_say_so() {
    let clock = Rc::new(SimulatedClock::starting_at(Instant::from_nanos(1_000_000_000)));
    let mut backend = HeadlessBackend::with_clock(clock.clone()).expect("a backend");
    let mut first = backend.add_output("A", MODE, OutputOptions::default()).expect("an output");
    let slow = VideoMode { refresh: 50_000, ..MODE };
    let mut second = backend.add_output("B", slow, OutputOptions::default()).expect("an output");
    assert!(matches!(backend.add_output("A", MODE, OutputOptions::default()), Err(HeadlessError::NameTaken(_))));
    let wrong =
        backend.add_output("C", VideoMode { width: 0, ..MODE }, OutputOptions::default()).err().expect("refused");
    assert_eq!(wrong.to_string(), "output C: size 0x8: width and height must lie in 1..=16384");

    for output in [&mut first, &mut second] {
        let plan = compose(output, 7);
        output.submit(plan).expect("taken");
    }
    assert_eq!(backend.next_event(), Some(Instant::from_nanos(1_005_000_000)));
    clock.advance(Span::from_millis(5));
    backend.dispatch();
    assert!(matches!(first.poll_event(), Some(DisplayEvent::Presented { frame: FrameId(7), sequence: Some(1), .. })));
    assert_eq!(second.poll_event(), None);
    assert!(backend.remove_output("B") && !backend.remove_output("B"));
    assert!(matches!(second.poll_event(), Some(DisplayEvent::Lost { frame: FrameId(7), .. })));
    assert_eq!((second.poll_event(), second.poll_event()), (Some(DisplayEvent::Gone), None));
    assert!(second.acquire().is_none());
    assert_eq!(second.submit(plan(8, PlanChange::Planes)).map_err(|(error, _)| error), Err(SubmitError::Off));
    let hotplug: Vec<_> = std::iter::from_fn(|| backend.poll_hotplug()).collect();
    let [a, b] = ["A", "B"].map(str::to_owned);
    assert_eq!(hotplug, [HotplugEvent::Added(a), HotplugEvent::Added(b.clone()), HotplugEvent::Removed(b)]);
}

#[test]
fn scripted_unplug_of_an_idle_output_wakes_the_event_loop() {
    let mut backend = HeadlessBackend::new().expect("a backend");
    let faults = "at 20ms unplug".parse().expect("a script");
    let options = OutputOptions { faults, ..OutputOptions::default() };
    let mut output = backend.add_output("HEADLESS-1", MODE, options).expect("an output");
    let mut event_loop = EventLoop::<HeadlessBackend>::try_new().expect("an event loop");
    let descriptor = backend.as_fd().try_clone_to_owned().expect("a duplicate");
    let source = Generic::new(descriptor, Interest::READ, Trigger::Level);
    let dispatch = |_, _: &mut _, backend: &mut HeadlessBackend| {
        backend.dispatch();
        Ok(PostAction::Continue)
    };
    event_loop.handle().insert_source(source, dispatch).expect("inserted");
    let hang = Duration::from_millis(HANG_MILLIS as u64);
    event_loop.dispatch(Some(hang), &mut backend).expect("dispatched");
    assert!(output.is_gone(), "nothing woke the loop");
    assert_eq!(output.poll_event(), Some(DisplayEvent::Gone));
    assert!(backend.outputs().is_empty());
    let hotplug: Vec<_> = std::iter::from_fn(|| backend.poll_hotplug()).collect();
    let name = || "HEADLESS-1".to_owned();
    assert_eq!(hotplug, [HotplugEvent::Added(name()), HotplugEvent::Removed(name())]);
    assert!(!readable(&backend, 30), "an output that is gone made a wake-up");
}
