//! A rule that calls a client back early: its frames wait for the refresh whose time its callback carried.

use crate::fixture::content::{Heard, RED};
use crate::fixture::{BUTTON_LEFT, ClientIndex, Toplevel, World};
use upbeat::config::Config;
use upbeat::timing::pacer::Reason;

const SIZE: (i32, i32) = (100, 80);
/// Frames after which a pacer knows its client.
const KNOWN: u32 = 24;

/// A client that draws a frame for every callback, with a rule for its name.
struct Stage {
    world: World,
    client: ClientIndex,
    window: Toplevel,
    frames: u32,
}

impl Stage {
    fn new(rule: &str) -> Self {
        let mut world = World::lit();
        let config: Config = toml::from_str(rule).unwrap();
        world.state.outputs.rules.apps = config.apps;
        world.state.outputs.rules_stale = true;
        let (client, window) = world.open("a", SIZE.0, SIZE.1);
        let mut stage = Stage { world, client, window, frames: 0 };
        stage.draw();
        stage
    }

    fn draw(&mut self) {
        self.frames += 1;
        let surface = self.window.surface.clone();
        self.world.client(self.client).draw(&surface, self.frames, SIZE, RED);
        surface.commit();
    }

    /// Draws so many frames, each when it is called back for it.
    fn play(&mut self, frames: u32) {
        for _ in 0..frames {
            let (client, number) = (self.client, self.frames);
            self.world.until("a callback", |world| world.client(client).heard(Heard::Called(number)));
            self.draw();
        }
    }

    fn reason_and_slack(&self) -> (Reason, u32) {
        let output = self.world.state.outputs.states().next().unwrap();
        let pacer = self.world.state.surfaces.iter().find_map(|entry| output.pacer(entry.client)).unwrap();
        (pacer.effective().1, pacer.slack_periods())
    }
}

const RULE: &str = "[[app]]\napp-id = '*'\nearly-callbacks = true";

#[test]
fn a_client_with_a_rule_is_called_back_a_period_earlier_and_shown_in_order() {
    let mut stage = Stage::new(RULE);
    stage.play(KNOWN);
    assert_eq!(stage.reason_and_slack(), (Reason::Early, 2));
    stage.play(KNOWN);
    let (client, last) = (stage.client, stage.frames);
    stage.world.until("the last light", |world| world.client(client).light(last).is_some());
    let shown: Vec<u64> = (1..=last)
        .filter_map(|number| stage.world.client(client).light(number))
        .map(|(_, sequence)| sequence)
        .collect();
    assert!(shown.is_sorted_by(|before, after| before < after), "{shown:?}");
    assert!(shown.len() as u32 > last / 2, "{} of {last} were shown", shown.len());
}

#[test]
fn who_is_touched_is_not_called_back_early() {
    let mut stage = Stage::new(RULE);
    stage.play(KNOWN);
    let origin = stage.world.window("a").origin();
    stage.world.point(f64::from(origin.x) + 10.0, f64::from(origin.y) + 10.0);
    stage.world.button(BUTTON_LEFT, true);
    stage.play(3);
    let (reason, slack) = stage.reason_and_slack();
    assert_ne!((reason, slack), (Reason::Early, 2));
    stage.world.button(BUTTON_LEFT, false);
}

#[test]
fn without_a_rule_nobody_is() {
    let mut stage = Stage::new("");
    stage.play(KNOWN);
    assert_ne!(stage.reason_and_slack().0, Reason::Early);
}
