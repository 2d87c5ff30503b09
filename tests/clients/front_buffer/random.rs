//! A client that sends random requests for its front buffer.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::*;

#[test]
fn random_front_buffer_requests_leave_the_session_running() {
    for seed in 0..12 {
        println!("seed {seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let mut stage = FrontBufferWindow::new(280);
        let (above, _) = stage.world.open_filled("above", (40, 40), GREEN);
        stage.world.move_window("above", (0, 0));
        let window = stage.window.surface.clone();
        for step in 0..60_u32 {
            match rng.random_range(0..12) {
                0 => {
                    stage.front.share(rng.random_range(0..80), rng.random_range(0..80), rng.random_range(1..120), 60);
                }
                1 => window.commit(),
                2 => {
                    window.attach(Some(&stage.canvas.buffer), 0, 0);
                    window.damage_buffer(0, 0, 300, 300);
                    window.commit();
                }
                3 => stage.front.ack_inactive(rng.random_range(0..4)),
                4 => {
                    let place = rng.random_range(-500..500);
                    (0..rng.random_range(1..40))
                        .for_each(|_| stage.front.written(step, place, place, i32::MAX, i32::MAX));
                }
                5 => stage.canvas.fill(INK, step),
                6 => {
                    stage.world.client(stage.client).draw(&window, step, WINDOW, BLUE);
                    window.commit();
                }
                7 => {
                    stage.front.destroy();
                    stage.front = stage.world.client(stage.client).front_buffer(&window);
                }
                8 => {
                    stage.world.move_window("above", (LEFT + rng.random_range(0..200), 280 + rng.random_range(0..100)))
                }
                9 if stage.world.stack().iter().any(|title| title == "ink") => {
                    stage.world.move_window("ink", (LEFT + rng.random_range(-9..9), 280))
                }
                10 => {
                    window.attach(None, 0, 0);
                    window.commit();
                    stage.window.surface.commit();
                }
                _ => {
                    let id = stage.world.output(0).id();
                    power::set(&mut stage.world.state, id, rng.random());
                }
            }
            let span = Span::from_micros(rng.random_range(10..30_000));
            stage.world.run_for(span, &mut nothing);
            if stage.world.client(stage.client).error.is_some() {
                break;
            }
        }
        let id = stage.world.output(0).id();
        power::set(&mut stage.world.state, id, true);
        stage.world.kill(stage.client);
        stage.pass();
        assert_eq!(stage.shared(), 0, "seed {seed}");
        assert!(stage.world.client(above).error.is_none());
        // The front buffer causes no more wake-ups.
        stage.world.run_until_idle();
    }
}
