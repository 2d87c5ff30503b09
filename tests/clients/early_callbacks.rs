//! The rule `early-callbacks`: a client is called back early once its pixels prove that it draws for the time in the
//! callback. Its frames then wait for the refresh of that time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::fixture::content::{ContentEvent, Xrgb8888Pixel};
use crate::fixture::{BUTTON_LEFT, ClientIndex, TestToplevel, TestWorld};
use upbeat::config::Config;
use upbeat_timing::pacer::{CallbackPacingReason, EarlyCallbackVerdict};
use upbeat_timing::time::Instant;

const SIZE: (i32, i32) = (100, 80);
/// Frames after which a pacer has an estimate of its client.
const KNOWN: u32 = 24;
/// Frames after which every trial is over if nothing interrupts it.
const TRIED: u32 = 360;
/// File with the process name, by which the compositor recognises Xwayland.
const NAME: &str = "/proc/self/comm";

/// All tests of this process share its name, so each test holds this lock.
static PROCESS_NAME: Mutex<()> = Mutex::new(());

/// The colour that a client draws, from the number of the frame, the time of its callback in milliseconds, and its own
/// clock.
type ColourOfFrame = fn(u32, u32, Instant) -> Xrgb8888Pixel;

fn by_the_time_told(_: u32, told: u32, _: Instant) -> Xrgb8888Pixel {
    told
}

fn by_counting(frame: u32, _: u32, _: Instant) -> Xrgb8888Pixel {
    frame
}

fn by_its_own_clock(_: u32, _: u32, now: Instant) -> Xrgb8888Pixel {
    now.as_micros() as Xrgb8888Pixel & 0x00ff_ffff
}

/// A client that draws a frame for every callback, in a session with a rule for the client.
struct EarlyCallbackClient {
    world: TestWorld,
    client: ClientIndex,
    window: TestToplevel,
    frames: u32,
    draws: ColourOfFrame,
    _name: MutexGuard<'static, ()>,
}

impl EarlyCallbackClient {
    fn new(rule: &str, draws: ColourOfFrame) -> Self {
        let name = PROCESS_NAME.lock().unwrap_or_else(PoisonError::into_inner);
        Self::named(rule, draws, name)
    }

    fn named(rule: &str, draws: ColourOfFrame, name: MutexGuard<'static, ()>) -> Self {
        let mut world = TestWorld::rendered();
        let config: Config = toml::from_str(rule).unwrap();
        world.state.outputs.rules_mut().set_apps(config.apps);
        world.state.outputs.rules_mut().mark_all_stale();
        let (client, window) = world.open("a", SIZE.0, SIZE.1);
        let mut stage = EarlyCallbackClient { world, client, window, frames: 0, draws, _name: name };
        stage.draw();
        stage
    }

    fn draw(&mut self) {
        self.frames += 1;
        let surface = self.window.surface.clone();
        let told = self.world.client(self.client).data.callback_time.unwrap_or_default();
        let colour = (self.draws)(self.frames, told, self.world.now());
        self.world.client(self.client).draw(&surface, self.frames, SIZE, colour);
        surface.commit();
    }

    /// Draws this many frames, each after its callback.
    fn draw_frames(&mut self, frames: u32) {
        for _ in 0..frames {
            let (client, number) = (self.client, self.frames);
            self.world
                .run_until("a callback", |world| world.client(client).has_received(ContentEvent::Callback(number)));
            self.draw();
        }
    }

    /// Draws until early callbacks are proven or refuted for the client.
    fn draw_until_verdict(&mut self) -> Option<EarlyCallbackVerdict> {
        let is_known = |stage: &EarlyCallbackClient| {
            matches!(stage.verdict(), Some(EarlyCallbackVerdict::Proven | EarlyCallbackVerdict::Refuted))
        };
        while !is_known(self) && self.frames < TRIED {
            self.draw_frames(1);
        }
        self.verdict()
    }

    fn pacer<T>(&self, look: impl Fn(&upbeat_timing::pacer::Pacer) -> T) -> T {
        let output = self.world.state.outputs.states().next().unwrap();
        let pacer = self.world.state.surfaces.iter().find_map(|entry| output.pacer(entry.client())).unwrap();
        look(pacer)
    }

    fn verdict(&self) -> Option<EarlyCallbackVerdict> {
        self.pacer(|pacer| pacer.early_verdict())
    }

    fn reason_and_slack(&self) -> (CallbackPacingReason, u32) {
        self.pacer(|pacer| (pacer.effective().1, pacer.slack_periods()))
    }
}

const RULE: &str = "[[app]]\napp-id = '*'\nearly-callbacks = true";

#[test]
fn client_that_draws_for_the_callback_time_is_called_back_a_period_earlier() {
    let mut stage = EarlyCallbackClient::new(RULE, by_the_time_told);
    stage.draw_frames(KNOWN);
    assert_ne!(stage.reason_and_slack().0, CallbackPacingReason::Early, "no early callbacks before the proof");
    assert_eq!(stage.draw_until_verdict(), Some(EarlyCallbackVerdict::Proven));
    let first = stage.frames;
    stage.draw_frames(KNOWN);
    assert_eq!(stage.reason_and_slack(), (CallbackPacingReason::Early, 2));
    let (client, last) = (stage.client, stage.frames);
    stage.world.run_until("the last light", |world| world.client(client).light(last).is_some());
    let shown: Vec<u64> = (first..=last)
        .filter_map(|number| stage.world.client(client).light(number))
        .map(|(_, sequence)| sequence)
        .collect();
    assert!(shown.is_sorted_by(|before, after| before < after), "{shown:?}");
    assert!(shown.len() as u32 > KNOWN / 2, "{} of {KNOWN} were shown", shown.len());
}

#[test]
fn client_with_a_button_held_is_not_called_back_early() {
    let mut stage = EarlyCallbackClient::new(RULE, by_the_time_told);
    assert_eq!(stage.draw_until_verdict(), Some(EarlyCallbackVerdict::Proven));
    let origin = stage.world.window("a").origin();
    stage.world.point(f64::from(origin.x) + 10.0, f64::from(origin.y) + 10.0);
    stage.world.button(BUTTON_LEFT, true);
    stage.draw_frames(3);
    let (reason, slack) = stage.reason_and_slack();
    assert_ne!((reason, slack), (CallbackPacingReason::Early, 2));
    stage.world.button(BUTTON_LEFT, false);
}

#[test]
fn client_that_counts_frames_or_uses_its_own_clock_is_never_called_back_early() {
    for draws in [by_counting as ColourOfFrame, by_its_own_clock] {
        let mut stage = EarlyCallbackClient::new(RULE, draws);
        assert_eq!(stage.draw_until_verdict(), Some(EarlyCallbackVerdict::Refuted));
        stage.draw_frames(KNOWN);
        assert_ne!(stage.reason_and_slack().0, CallbackPacingReason::Early);
    }
}

#[test]
fn without_a_rule_no_client_is_called_back_early() {
    let mut stage = EarlyCallbackClient::new("", by_the_time_told);
    stage.draw_frames(TRIED / 2);
    assert_ne!(stage.reason_and_slack().0, CallbackPacingReason::Early);
    assert_eq!(stage.verdict(), None);
}

#[test]
fn xwayland_is_never_called_back_early_whatever_it_draws() {
    let name = PROCESS_NAME.lock().unwrap_or_else(PoisonError::into_inner);
    let before = std::fs::read_to_string(NAME).unwrap();
    std::fs::write(NAME, "Xwayland").unwrap();
    let mut stage = EarlyCallbackClient::named(RULE, by_the_time_told, name);
    stage.draw_frames(TRIED);
    std::fs::write(NAME, before.trim_end()).unwrap();
    assert_ne!(stage.reason_and_slack().0, CallbackPacingReason::Early);
    assert_eq!(stage.verdict(), Some(EarlyCallbackVerdict::Xwayland));
}
