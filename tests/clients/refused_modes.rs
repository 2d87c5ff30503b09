//! Displays whose drivers settle a mode change later. The requests are answered only then; all modes are restored if a
//! driver refuses or does not answer.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use upbeat::backend::headless::HeadlessOutput;
use upbeat::backend::{
    Buffer, Capabilities, Display, DisplayEvent, FrameId, Mode, ModeId, PixelBuffer, Plan, Slowest, SubmitError,
};
use upbeat::output::{hotplug, mode_switch};
use upbeat_timing::time::{Instant, Span};

use crate::fixture::simulated::nothing;
use crate::fixture::{OUTPUT, World};
use crate::output_management::{Head, area, configure, manager, told};

/// Modes that the driver was asked for, and its events.
#[derive(Default)]
struct Driver {
    last: u32,
    asked: VecDeque<(ModeId, Mode)>,
    said: VecDeque<DisplayEvent>,
}

/// A display with a slow driver.
struct Slow {
    output: HeadlessOutput,
    driver: Rc<RefCell<Driver>>,
}

/// The test's control of a slow driver.
#[derive(Clone)]
struct Remote {
    output: HeadlessOutput,
    driver: Rc<RefCell<Driver>>,
}

impl Remote {
    /// Sizes of the modes that wait for an answer.
    fn asked(&self) -> Vec<(i32, i32)> {
        self.driver.borrow().asked.iter().map(|(_, mode)| (mode.width, mode.height)).collect()
    }

    fn answer(&self, result: Result<(), String>) {
        let mut driver = self.driver.borrow_mut();
        let (asked, mode) = driver.asked.pop_front().expect("a mode was asked for");
        if result.is_ok() {
            self.output.set_mode(mode).unwrap();
        }
        driver.said.push_back(DisplayEvent::ModeSettled { asked, result });
    }

    fn takes(&self) {
        self.answer(Ok(()));
    }

    fn refuses(&self) {
        self.answer(Err("the link cannot be trained".to_owned()));
    }
}

impl Display for Slow {
    fn name(&self) -> &str {
        self.output.name()
    }

    fn mode(&self) -> Mode {
        self.output.mode()
    }

    fn takes_mode(&self, mode: Mode) -> Result<(), String> {
        self.output.takes_mode(mode)
    }

    fn slowest(&self) -> Option<u32> {
        self.output.slowest()
    }

    fn set_mode(&mut self, mode: Mode, _slowest: Slowest) -> Result<Option<ModeId>, String> {
        let mut driver = self.driver.borrow_mut();
        driver.last += 1;
        let asked = ModeId(driver.last);
        driver.asked.push_back((asked, mode));
        Ok(Some(asked))
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

    fn submit(&mut self, plan: Plan) -> Result<(), (SubmitError, Plan)> {
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
fn plug(world: &mut World, name: &str, x: i32) -> Remote {
    let mut remote = None;
    world.plug_as(name, 60_000, (x, 0), |output| {
        let driver = Rc::<RefCell<Driver>>::default();
        remote = Some(Remote { output: output.clone(), driver: driver.clone() });
        Box::new(Slow { output, driver })
    });
    remote.expect("it was plugged in")
}

fn small(head: &Head) {
    head.set_custom_mode(800, 600, 60_000);
    head.set_scale(2.0);
}

#[test]
fn whoever_asks_for_a_mode_hears_that_it_was_taken_when_it_was() {
    let mut world = World::lit();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    told(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small))]).apply();
    assert_eq!(told(&mut world, client), [""; 0], "the driver has not answered yet");
    assert_eq!(driver.asked(), [(800, 600)]);
    driver.takes();
    world.rest();
    let heard = told(&mut world, client);
    assert_eq!(heard.first().map(String::as_str), Some("succeeded"), "{heard:?}");
    assert!(heard.contains(&"has 800x600".to_owned()) && heard.contains(&"2 scale 2".to_owned()), "{heard:?}");
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, 400, 300));
}

#[test]
fn where_a_driver_refuses_all_is_as_it_was_also_on_other_outputs() {
    let mut world = World::lit();
    let (left, right) = (plug(&mut world, "TEST-2", OUTPUT.0), plug(&mut world, "TEST-3", 2 * OUTPUT.0));
    let (client, manager) = manager(&mut world);
    told(&mut world, client);
    let elsewhere = |head: &Head| head.set_position(0, 2_000);
    type Wish<'a> = (usize, Option<&'a dyn Fn(&Head)>);
    let wishes: [Wish<'_>; 3] = [(1, Some(&elsewhere)), (2, Some(&small)), (3, Some(&small))];
    configure(&mut world, client, &manager, &wishes).apply();
    told(&mut world, client);
    left.takes();
    assert_eq!(told(&mut world, client), [""; 0], "the other has not answered");
    right.refuses();
    assert_eq!(told(&mut world, client), [""; 0], "not all is as it was");
    assert_eq!(left.asked(), [(OUTPUT.0, OUTPUT.1)], "it is asked for its former mode");
    left.takes();
    assert_eq!(told(&mut world, client), ["failed"], "a mode that did not last was announced");
    world.rest();
    let before = [("TEST-1", 0), ("TEST-2", OUTPUT.0), ("TEST-3", 2 * OUTPUT.0)];
    for (name, x) in before {
        assert_eq!(area(&world, name), (x, 0, OUTPUT.0, OUTPUT.1), "{name}");
    }
    // The configuration can be tried again.
    configure(&mut world, client, &manager, &[(1, Some(&elsewhere))]).apply();
    assert!(told(&mut world, client).contains(&"succeeded".to_owned()));
}

#[test]
fn an_output_that_came_back_for_a_mode_that_is_refused_leaves_again() {
    let mut world = World::lit();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    told(&mut world, client);
    configure(&mut world, client, &manager, &[(2, None)]).apply();
    assert!(told(&mut world, client).contains(&"2 disabled".to_owned()));
    configure(&mut world, client, &manager, &[(2, Some(&small))]).apply();
    told(&mut world, client);
    driver.refuses();
    assert_eq!(told(&mut world, client), ["failed"]);
    assert_eq!(world.state.outputs.iter().count(), 1);
}

#[test]
fn what_others_want_meanwhile_is_cancelled_and_they_hear_how_all_is() {
    let mut world = World::lit();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let ((client, one), (other, two)) = (manager(&mut world), manager(&mut world));
    told(&mut world, client);
    told(&mut world, other);
    configure(&mut world, client, &one, &[(2, Some(&small))]).apply();
    told(&mut world, client);
    let large = |head: &Head| head.set_scale(2.0);
    configure(&mut world, other, &two, &[(1, Some(&large))]).apply();
    assert_eq!(told(&mut world, other), ["cancelled"]);
    driver.refuses();
    assert_eq!(told(&mut world, client), ["failed", "done"]);
    assert_eq!(told(&mut world, other), ["done"], "its turn to try again");
    configure(&mut world, other, &two, &[(1, Some(&large))]).apply();
    assert!(told(&mut world, other).contains(&"succeeded".to_owned()));
}

#[test]
fn what_goes_back_leaves_what_others_have_asked_for_meanwhile() {
    let mut world = World::lit();
    let (left, right) = (plug(&mut world, "TEST-2", OUTPUT.0), plug(&mut world, "TEST-3", 2 * OUTPUT.0));
    let before = left.output.mode();
    let (client, manager) = manager(&mut world);
    told(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small)), (3, Some(&small))]).apply();
    told(&mut world, client);
    left.takes();
    world.rest();
    assert_eq!((left.output.mode().width, left.output.mode().height), (800, 600));
    // A request as from the configuration file or the private socket, which does not wait for other requests.
    let heard = Rc::<RefCell<Option<Result<(), String>>>>::default();
    let id = hotplug::by_name(&world.state, "TEST-2").unwrap();
    let smaller = Mode { width: 640, height: 480, ..before };
    let asked = mode_switch::ask(&mut world.state, &[(id, smaller)]).unwrap();
    let said = heard.clone();
    mode_switch::wait(&mut world.state, asked, Box::new(move |_, result| *said.borrow_mut() = Some(result)));
    right.refuses();
    assert_eq!(told(&mut world, client).first().map(String::as_str), Some("failed"));
    assert_eq!(left.asked(), [(640, 480)], "the later request replaces the former mode");
    left.refuses();
    world.rest();
    assert_eq!(left.asked(), [(before.width, before.height)], "the driver goes back to the former mode by itself");
    assert!(heard.borrow().is_none());
    left.takes();
    world.rest();
    assert!(heard.borrow().as_ref().is_some_and(Result::is_err));
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, OUTPUT.0, OUTPUT.1));
}

#[test]
fn the_mode_in_force_can_be_asked_for_while_another_is_under_way() {
    let mut world = World::lit();
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let id = hotplug::by_name(&world.state, "TEST-2").unwrap();
    let other = Mode { width: 640, height: 480, ..driver.output.mode() };
    let asked = mode_switch::ask(&mut world.state, &[(id, other)]).unwrap();
    mode_switch::wait(&mut world.state, asked, Box::new(|_, _| {}));
    let (client, manager) = manager(&mut world);
    told(&mut world, client);
    let as_it_is = |head: &Head| head.set_custom_mode(OUTPUT.0, OUTPUT.1, 60_000);
    configure(&mut world, client, &manager, &[(2, Some(&as_it_is))]).apply();
    assert_eq!(told(&mut world, client), [""; 0], "it will not be in force for long");
    assert_eq!(driver.asked(), [(640, 480), OUTPUT]);
    driver.takes();
    world.rest();
    driver.takes();
    world.rest();
    assert!(told(&mut world, client).contains(&"succeeded".to_owned()));
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, OUTPUT.0, OUTPUT.1));
}

#[test]
fn a_driver_that_never_answers_has_failed_after_a_while() {
    let mut world = World::simulated(&[60_000]);
    let driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let before = (driver.output.mode().width, driver.output.mode().height);
    let (client, manager) = manager(&mut world);
    told(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small))]).apply();
    world.run_for(Span::from_millis(4_900), &mut nothing);
    assert_eq!(told(&mut world, client), [""; 0]);
    world.run_for(Span::from_millis(200), &mut nothing);
    assert_eq!(told(&mut world, client), ["failed"]);
    assert_eq!(driver.asked(), [(800, 600), before], "the first mode is undone if the driver takes it");
    // The driver wakes up: its answers come too late and are ignored.
    driver.takes();
    driver.takes();
    world.run_for(Span::from_millis(100), &mut nothing);
    assert_eq!(area(&world, "TEST-2"), (OUTPUT.0, 0, before.0, before.1));
}

#[test]
fn one_that_is_unplugged_meanwhile_has_failed() {
    let mut world = World::lit();
    let _driver = plug(&mut world, "TEST-2", OUTPUT.0);
    let (client, manager) = manager(&mut world);
    told(&mut world, client);
    configure(&mut world, client, &manager, &[(2, Some(&small))]).apply();
    told(&mut world, client);
    world.unplug("TEST-2");
    assert!(told(&mut world, client).contains(&"failed".to_owned()));
}
