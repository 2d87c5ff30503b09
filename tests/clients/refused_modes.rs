//! Displays whose drivers settle a mode change later. The requests are answered only then; all modes are restored if a
//! driver refuses or does not answer.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use wayland_protocols_wlr::output_management::v1::client::zwlr_output_head_v1::AdaptiveSyncState;

use upbeat::backend::headless::HeadlessOutput;
use upbeat::backend::{
    Buffer, Capabilities, Display, DisplayEvent, FrameId, FramePlan, ModeId, PixelBuffer, RateLimit, SubmitError,
    VideoMode,
};
use upbeat::output::hotplug;
use upbeat::output::mode_switch::{self, OutputModeWish};
use upbeat_timing::id::OutputId;
use upbeat_timing::time::{Instant, Span};

use crate::fixture::simulated::nothing;
use crate::fixture::{OUTPUT, TestWorld};
use crate::output_management::{HeadWithSettings, area, configure, manager, output_manager_events};

/// Modes that the driver was asked for, and its events.
#[derive(Default)]
struct SlowDriverState {
    last: u32,
    /// Modes to switch to, and modes that are only tested.
    asked: VecDeque<(ModeId, VideoMode, Purpose)>,
    /// It refuses all frames.
    is_broken: bool,
    said: VecDeque<DisplayEvent>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Switch,
    Test,
}

/// A display with a slow driver.
struct SlowDisplay {
    output: HeadlessOutput,
    driver: Rc<RefCell<SlowDriverState>>,
}

/// The test's control of a slow driver.
#[derive(Clone)]
struct SlowDriver {
    output: HeadlessOutput,
    driver: Rc<RefCell<SlowDriverState>>,
}

impl SlowDriverState {
    fn ask(&mut self, mode: VideoMode, purpose: Purpose) -> ModeId {
        self.last += 1;
        let asked = ModeId(self.last);
        self.asked.push_back((asked, mode, purpose));
        asked
    }
}

impl SlowDriver {
    /// Sizes of the modes that wait for an answer.
    fn pending_sizes(&self) -> Vec<(i32, i32)> {
        self.driver.borrow().asked.iter().map(|(_, mode, _)| (mode.width, mode.height)).collect()
    }

    fn answer(&self, result: Result<(), String>) {
        let mut driver = self.driver.borrow_mut();
        let (asked, mode, purpose) = driver.asked.pop_front().expect("a mode was asked for");
        if result.is_ok() && purpose == Purpose::Switch {
            self.output.set_mode(mode).unwrap();
        }
        driver.said.push_back(DisplayEvent::ModeSettled { request: asked, result });
    }

    fn accept(&self) {
        self.answer(Ok(()));
    }

    fn refuse(&self) {
        self.answer(Err("the link cannot be trained".to_owned()));
    }
}

impl Display for SlowDisplay {
    fn name(&self) -> &str {
        self.output.name()
    }

    fn mode(&self) -> VideoMode {
        self.output.mode()
    }

    fn check_mode(&self, mode: VideoMode) -> Result<(), String> {
        self.output.check_mode(mode)
    }

    fn check_variable_rate(&self, mode: VideoMode, slowest: u32) -> Result<(), String> {
        self.output.check_variable_rate(mode, slowest)
    }

    fn slowest_rate(&self) -> Option<u32> {
        self.output.slowest_rate()
    }

    fn set_mode(&mut self, mode: VideoMode, _slowest: RateLimit) -> Result<Option<ModeId>, String> {
        Ok(Some(self.driver.borrow_mut().ask(mode, Purpose::Switch)))
    }

    fn test_mode(&mut self, mode: VideoMode) -> Result<Option<ModeId>, String> {
        Ok(Some(self.driver.borrow_mut().ask(mode, Purpose::Test)))
    }

    fn capabilities(&self) -> Capabilities {
        self.output.capabilities()
    }

    fn last_vblank(&mut self, now: Instant) -> Option<(Instant, u64)> {
        self.output.last_vblank(now)
    }

    fn acquire(&mut self) -> Option<Buffer> {
        self.output.acquire()
    }

    fn release(&mut self, buffer: Buffer) {
        self.output.release(buffer);
    }

    fn submit(&mut self, plan: FramePlan) -> Result<(), (SubmitError, FramePlan)> {
        if self.driver.borrow().is_broken {
            return Err((SubmitError::Device("the link is down".to_owned()), plan));
        }
        self.output.submit(plan)
    }

    fn supersede(&mut self, from: FrameId) -> Option<FrameId> {
        self.output.supersede(from)
    }

    fn set_power(&mut self, on: bool) {
        self.output.set_power(on);
    }

    fn screenshot(&self, with_cursor: bool) -> Option<PixelBuffer> {
        self.output.screenshot(with_cursor)
    }

    fn poll_event(&mut self) -> Option<DisplayEvent> {
        self.output.poll_event().or_else(|| self.driver.borrow_mut().said.pop_front())
    }
}

/// Plugs in a display with a slow driver.
fn plug(world: &mut TestWorld, name: &str, x: i32) -> SlowDriver {
    let mut remote = None;
    world.plug_in_as(name, 60_000, (x, 0), |output| {
        let driver = Rc::<RefCell<SlowDriverState>>::default();
        remote = Some(SlowDriver { output: output.clone(), driver: driver.clone() });
        Box::new(SlowDisplay { output, driver })
    });
    remote.expect("it was plugged in")
}

fn wish(output: OutputId, mode: VideoMode) -> OutputModeWish {
    OutputModeWish { output, mode, slowest: RateLimit::Keep }
}

fn small(head: &HeadWithSettings) {
    head.set_custom_mode(800, 600, 60_000);
    head.set_scale(2.0);
}

#[test]
fn mode_request_succeeds_when_the_driver_took_the_mode() {
    let mut world = TestWorld::rendered();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small))]).apply();
    assert_eq!(output_manager_events(&mut world, client), [""; 0], "the driver has not answered yet");
    assert_eq!(driver.pending_sizes(), [(800, 600)]);
    driver.accept();
    world.run_until_idle();
    let heard = output_manager_events(&mut world, client);
    assert_eq!(heard.first().map(String::as_str), Some("succeeded"), "{heard:?}");
    assert!(heard.contains(&"has 800x600".to_owned()) && heard.contains(&"2 scale 2".to_owned()), "{heard:?}");
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, 400, 300));
}

#[test]
fn refused_mode_restores_all_outputs() {
    let mut world = TestWorld::rendered();
    let (left, right) = (plug(&mut world, "TEST-2", OUTPUT.0), plug(&mut world, "TEST-3", 2 * OUTPUT.0));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let elsewhere = |head: &HeadWithSettings| head.set_position(0, 2_000);
    type ModeRequest<'a> = (usize, Option<&'a dyn Fn(&HeadWithSettings)>);
    let wishes: [ModeRequest<'_>; 3] = [(1, Some(&elsewhere)), (2, Some(&small)), (3, Some(&small))];
    configure(&mut world, client, &manager, &wishes).apply();
    output_manager_events(&mut world, client);
    left.accept();
    assert_eq!(output_manager_events(&mut world, client), [""; 0], "the other has not answered");
    right.refuse();
    assert_eq!(output_manager_events(&mut world, client), [""; 0], "not all is as it was");
    assert_eq!(left.pending_sizes(), [(OUTPUT.0, OUTPUT.1)], "it is asked for its former mode");
    left.accept();
    assert_eq!(output_manager_events(&mut world, client), ["failed"], "a mode that did not last was announced");
    world.run_until_idle();
    let before = [("TEST-1", 0), ("TEST-2", OUTPUT.0), ("TEST-3", 2 * OUTPUT.0)];
    for (name, x) in before {
        assert_eq!(area(&world, name), (x, 0, OUTPUT.0, OUTPUT.1), "{name}");
    }
    // The configuration can be tried again.
    configure(&mut world, client, &manager, &[(1, Some(&elsewhere))]).apply();
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
}

#[test]
fn output_enabled_with_a_refused_mode_is_disabled_again() {
    let mut world = TestWorld::rendered();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, None)]).apply();
    assert!(output_manager_events(&mut world, client).contains(&"2 disabled".to_owned()));
    configure(&mut world, client, &manager, &[(2, Some(&small))]).apply();
    output_manager_events(&mut world, client);
    driver.refuse();
    assert_eq!(output_manager_events(&mut world, client), ["failed"]);
    assert_eq!(world.state.outputs.iter().count(), 1);
}

#[test]
fn configuration_during_a_mode_change_is_cancelled_and_its_client_gets_the_state() {
    let mut world = TestWorld::rendered();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let ((client, one), (other, two)) = (manager(&mut world), manager(&mut world));
    output_manager_events(&mut world, client);
    output_manager_events(&mut world, other);
    configure(&mut world, client, &one, &[(2, Some(&small))]).apply();
    output_manager_events(&mut world, client);
    let large = |head: &HeadWithSettings| head.set_scale(2.0);
    configure(&mut world, other, &two, &[(1, Some(&large))]).apply();
    assert_eq!(output_manager_events(&mut world, other), ["cancelled"]);
    driver.refuse();
    assert_eq!(output_manager_events(&mut world, client), ["failed", "done"]);
    assert_eq!(output_manager_events(&mut world, other), ["done"], "its turn to try again");
    configure(&mut world, other, &two, &[(1, Some(&large))]).apply();
    assert!(output_manager_events(&mut world, other).contains(&"succeeded".to_owned()));
}

#[test]
fn rollback_keeps_later_mode_requests() {
    let mut world = TestWorld::rendered();
    let (left, right) = (plug(&mut world, "TEST-2", OUTPUT.0), plug(&mut world, "TEST-3", 2 * OUTPUT.0));
    let before = left.output.mode();
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small)), (3, Some(&small))]).apply();
    output_manager_events(&mut world, client);
    left.accept();
    world.run_until_idle();
    assert_eq!((left.output.mode().width, left.output.mode().height), (800, 600));
    // A request as from the configuration file or the private socket, which does not wait for other requests.
    let heard = Rc::<RefCell<Option<Result<(), String>>>>::default();
    let id = hotplug::by_name(&world.state, "TEST-2").unwrap();
    let smaller = VideoMode { width: 640, height: 480, ..before };
    let asked = mode_switch::request_modes(&mut world.state, &[wish(id, smaller)]).unwrap();
    let said = heard.clone();
    mode_switch::wait(&mut world.state, asked, Box::new(move |_, result| *said.borrow_mut() = Some(result)));
    right.refuse();
    assert_eq!(output_manager_events(&mut world, client).first().map(String::as_str), Some("failed"));
    assert_eq!(left.pending_sizes(), [(640, 480)], "the later request replaces the former mode");
    left.refuse();
    world.run_until_idle();
    assert_eq!(
        left.pending_sizes(),
        [(before.width, before.height)],
        "the driver goes back to the former mode by itself"
    );
    assert!(heard.borrow().is_none());
    left.accept();
    world.run_until_idle();
    assert!(heard.borrow().as_ref().is_some_and(Result::is_err));
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, OUTPUT.0, OUTPUT.1));
}

#[test]
fn current_mode_can_be_requested_during_a_mode_change() {
    let mut world = TestWorld::rendered();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let id = hotplug::by_name(&world.state, "TEST-2").unwrap();
    let other = VideoMode { width: 640, height: 480, ..driver.output.mode() };
    let asked = mode_switch::request_modes(&mut world.state, &[wish(id, other)]).unwrap();
    mode_switch::wait(&mut world.state, asked, Box::new(|_, _| {}));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let as_it_is = |head: &HeadWithSettings| head.set_custom_mode(OUTPUT.0, OUTPUT.1, 60_000);
    configure(&mut world, client, &manager, &[(2, Some(&as_it_is))]).apply();
    assert_eq!(output_manager_events(&mut world, client), [""; 0], "it will not be in force for long");
    assert_eq!(driver.pending_sizes(), [(640, 480), OUTPUT]);
    driver.accept();
    world.run_until_idle();
    driver.accept();
    world.run_until_idle();
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, OUTPUT.0, OUTPUT.1));
}

#[test]
fn adaptive_sync_keeps_a_mode_that_is_pending() {
    let mut world = TestWorld::rendered();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let id = hotplug::by_name(&world.state, "TEST-2").unwrap();
    let other = VideoMode { width: 640, height: 480, ..driver.output.mode() };
    let asked = mode_switch::request_modes(&mut world.state, &[wish(id, other)]).unwrap();
    mode_switch::wait(&mut world.state, asked, Box::new(|_, _| {}));
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    let varies = |head: &HeadWithSettings| head.set_adaptive_sync(AdaptiveSyncState::Enabled);
    configure(&mut world, client, &manager, &[(2, Some(&varies))]).apply();
    assert_eq!(output_manager_events(&mut world, client), [""; 0], "its driver has not answered");
    assert_eq!(driver.pending_sizes(), [(640, 480), (640, 480)]);
    driver.accept();
    driver.accept();
    world.run_until_idle();
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
}

#[test]
fn unanswered_mode_change_fails_after_a_timeout() {
    let mut world = TestWorld::simulated(&[60_000]);
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let before = (driver.output.mode().width, driver.output.mode().height);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small))]).apply();
    world.run_for(Span::from_millis(4_900), &mut nothing);
    assert_eq!(output_manager_events(&mut world, client), [""; 0]);
    world.run_for(Span::from_millis(200), &mut nothing);
    assert_eq!(output_manager_events(&mut world, client), ["failed"]);
    assert_eq!(driver.pending_sizes(), [(800, 600), before], "the first mode is undone if the driver takes it");
    // The driver wakes up: its answers come too late and are ignored.
    driver.accept();
    driver.accept();
    world.run_for(Span::from_millis(100), &mut nothing);
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, before.0, before.1));
}

#[test]
fn test_of_a_configuration_asks_the_driver_and_changes_nothing() {
    let mut world = TestWorld::rendered();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    for (answer, expected) in [(SlowDriver::accept as fn(&SlowDriver), "succeeded"), (SlowDriver::refuse, "failed")] {
        configure(&mut world, client, &manager, &[(2, Some(&small))]).test();
        assert_eq!(output_manager_events(&mut world, client), [""; 0], "the driver has not answered yet");
        assert_eq!(driver.pending_sizes(), [(800, 600)]);
        // A test does not hold up other configurations.
        let larger = |head: &HeadWithSettings| head.set_scale(if expected == "failed" { 1.0 } else { 2.0 });
        configure(&mut world, client, &manager, &[(1, Some(&larger))]).apply();
        assert_eq!(output_manager_events(&mut world, client).first().map(String::as_str), Some("succeeded"));
        answer(&driver);
        world.run_until_idle();
        assert_eq!(output_manager_events(&mut world, client), [expected]);
        assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, OUTPUT.0, OUTPUT.1));
    }
    assert!(driver.pending_sizes().is_empty(), "a refused test has no mode to return to");
    let as_it_is = |head: &HeadWithSettings| head.set_custom_mode(OUTPUT.0, OUTPUT.1, 60_000);
    configure(&mut world, client, &manager, &[(2, Some(&as_it_is))]).test();
    assert_eq!(output_manager_events(&mut world, client), ["succeeded"], "the mode is in force");
}

#[test]
fn mode_test_of_an_output_without_answer_fails() {
    let mut world = TestWorld::simulated(&[60_000]);
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small))]).test();
    world.run_for(Span::from_millis(4_900), &mut nothing);
    assert_eq!(output_manager_events(&mut world, client), [""; 0]);
    world.run_for(Span::from_millis(200), &mut nothing);
    assert_eq!(output_manager_events(&mut world, client), ["failed"]);
    assert_eq!(driver.pending_sizes(), [(800, 600)], "nothing is to be undone");
}

#[test]
fn enabled_output_that_shows_no_frame_is_disabled_again() {
    let mut world = TestWorld::simulated(&[60_000]);
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, None)]).apply();
    assert!(output_manager_events(&mut world, client).contains(&"2 disabled".to_owned()));
    let unchanged = |_: &HeadWithSettings| {};
    driver.driver.borrow_mut().is_broken = true;
    configure(&mut world, client, &manager, &[(2, Some(&unchanged))]).apply();
    world.run_for(Span::from_millis(4_900), &mut nothing);
    assert_eq!(output_manager_events(&mut world, client), [""; 0]);
    world.run_for(Span::from_millis(200), &mut nothing);
    assert_eq!(output_manager_events(&mut world, client), ["failed"]);
    assert_eq!(world.state.outputs.iter().count(), 1);
    driver.driver.borrow_mut().is_broken = false;
    configure(&mut world, client, &manager, &[(2, Some(&unchanged))]).apply();
    world.run_for(Span::from_millis(100), &mut nothing);
    assert!(output_manager_events(&mut world, client).contains(&"succeeded".to_owned()));
}

#[test]
fn output_unplugged_during_a_mode_change_fails_the_request() {
    let mut world = TestWorld::rendered();
    let _driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    output_manager_events(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small))]).apply();
    output_manager_events(&mut world, client);
    world.unplug("TEST-2");
    assert!(output_manager_events(&mut world, client).contains(&"failed".to_owned()));
}
