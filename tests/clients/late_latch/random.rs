//! Clients that send random requests of `upbeat_late_latch_v1` and `upbeat_predicted_input_v1` while devices move,
//! windows open and close, and outputs go and come back.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;
use crate::fixture::predicted_input::{Axes, UpbeatPredictedInputV1};
use crate::fixture::simulated::nothing;
use upbeat::output::{loop_turn, power};

const SEEDS: u64 = 16;
const STEPS: u32 = 80;

/// A client with a follower and predictions, and a random number generator.
struct RandomFollower {
    stage: FollowerStage,
    rng: StdRng,
    predicted: Option<UpbeatPredictedInputV1>,
}

impl RandomFollower {
    fn new(seed: u64) -> Self {
        let rng = StdRng::seed_from_u64(seed);
        let options = OutputOptions {
            front_buffer: seed.is_multiple_of(2),
            cursor_plane: Some((64, 64)),
            ..OutputOptions::default()
        };
        let mut stage = FollowerStage::on(options);
        in_place::set_enabled(&mut stage.world.state, seed.is_multiple_of(2));
        stage.world.open_filled("above", (40, 40), GREEN);
        RandomFollower { stage, rng, predicted: None }
    }

    fn place(&mut self) -> (f64, f64) {
        (f64::from(self.rng.random_range(0..1_000)), f64::from(self.rng.random_range(0..700)))
    }

    /// Input that a device may send.
    fn move_a_device(&mut self) {
        let (x, y) = self.place();
        let finger = self.rng.random_range(0..3);
        let event = match self.rng.random_range(0..8) {
            0 => Injected::TouchDown { finger, x, y },
            1 => Injected::TouchMove { finger, x, y },
            2 => Injected::TouchUp { finger },
            3 => Injected::PenNear { x, y },
            4 => Injected::PenMove { x, y, pressure: None },
            5 => Injected::PenAway,
            _ => Injected::PointerMove { x, y },
        };
        let time = self.stage.world.now();
        device_events(event, time).collect::<Vec<_>>().into_iter().for_each(|event| self.stage.world.input(event));
    }

    fn request(&mut self, step: u32) {
        let (client, part, window) = (self.stage.client, self.stage.part.clone(), self.stage.window.surface.clone());
        let kind = self.rng.random_range(0..9);
        let (x, y) = (self.rng.random(), self.rng.random());
        match kind {
            0 => self.stage.follower.set_anchor(x, y),
            1 => self.stage.follower.set_horizon(self.rng.random_range(0..80_000_000)),
            2 => {
                self.stage.follower.destroy();
                let devices = Devices::from_bits_truncate(self.rng.random_range(1..8));
                self.stage.follower = self.stage.world.client(client).follower_of(&part, devices);
            }
            3 => {
                self.stage.world.client(client).draw(&part, 100 + step, (SIZE, SIZE), RED);
                part.commit();
                window.commit();
            }
            4 => {
                part.attach(None, 0, 0);
                part.commit();
            }
            5 => match self.predicted.take() {
                Some(predicted) => predicted.destroy(),
                None => self.predicted = Some(self.stage.world.client(client).predicted_input(&window)),
            },
            6 => {
                let axes = Axes::from_bits_truncate(self.rng.random_range(0..4));
                self.predicted.iter().for_each(|predicted| predicted.set_axes(axes));
            }
            7 => {
                let horizon = self.rng.random();
                self.predicted.iter().for_each(|predicted| predicted.set_horizon(horizon));
            }
            _ => {
                self.stage.world.client(client).draw(&window, 1_000 + step, WINDOW, BLUE);
                window.frame(&self.stage.world.client(client).handle(), step);
                window.commit();
            }
        }
    }

    fn change_the_session(&mut self) {
        match self.rng.random_range(0..4) {
            0 => {
                let id = self.stage.world.output(0).id();
                let on = self.rng.random();
                power::set(&mut self.stage.world.state, id, on);
            }
            1 => {
                let rate = [60_000, 75_000, 120_000][self.rng.random_range(0..3)];
                self.stage.world.set_refresh("TEST-1", rate);
            }
            2 => {
                self.stage.world.move_window("a", (self.rng.random_range(-300..900), self.rng.random_range(-200..600)))
            }
            _ => self.stage.world.move_window("above", (self.rng.random_range(0..900), self.rng.random_range(0..600))),
        }
    }
}

#[test]
fn random_requests_and_devices_leave_the_session_running_and_asleep() {
    for seed in 0..SEEDS {
        println!("seed {seed}");
        let mut random = RandomFollower::new(seed);
        for step in 0..STEPS {
            match random.rng.random_range(0..10) {
                0..5 => random.move_a_device(),
                5..9 => random.request(step),
                _ => random.change_the_session(),
            }
            let span = Span::from_micros(random.rng.random_range(10..20_000));
            random.stage.world.run_for(span, &mut nothing);
            assert_eq!(random.stage.world.client(random.stage.client).error, None, "seed {seed}, step {step}");
        }
        let id = random.stage.world.output(0).id();
        power::set(&mut random.stage.world.state, id, true);
        // Devices that stopped lead no follower further, and nothing wakes the session. The callback of a window that is
        // off the screen comes within a second.
        random.stage.world.run_for(Span::from_millis(1_300), &mut nothing);
        assert_eq!(loop_turn::next_wake(&mut random.stage.world.state), None, "seed {seed}");
        random.stage.world.kill(random.stage.client);
        random.stage.world.run_for(Span::from_millis(300), &mut nothing);
        assert_eq!(loop_turn::next_wake(&mut random.stage.world.state), None, "seed {seed}");
    }
}
