//! Simulates event loops that are idle most of the time: polling, blocking, and one wake-up per frame.
//!
//! Marz 6 (tests 1 to 3). Pushing events instead of polling saves the wake-ups that find none.

use super::random::Random;
use super::tally::Summary;

/// A polling loop's period (InputFlinger's time-out with software vsync, Marz appendix A).
pub const POLL_MILLISECONDS: f64 = 16.0;
/// From the arrival of an event to the start of a sleeping handler: the median of a quiet machine.
const WAKE_MILLISECONDS: f64 = 0.05;
/// Time to handle one event.
const HANDLE_MILLISECONDS: f64 = 0.02;

/// How events reach the application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventLoop {
    /// Checks for events every 16 ms.
    Poll,
    /// Sleeps until an event arrives; every event wakes the server and then the application.
    Block,
    /// Upbeat: the server sleeps until an event arrives. The application wakes once per refresh, at the last moment for
    /// its frame, and gets all events since.
    PerFrame,
}

/// Events of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventLoad {
    /// Number of events in the whole test.
    pub events: usize,
    /// Length of the test in seconds.
    pub seconds: f64,
    /// Events arrive in bursts (typing) rather than evenly.
    pub bursts: bool,
}

/// Marz 6: 1614 recorded events replayed in 10, 20 and 60 s.
pub const SPIRAL: [EventLoad; 3] = [
    EventLoad { events: 1_614, seconds: 10.0, bursts: false },
    EventLoad { events: 1_614, seconds: 20.0, bursts: false },
    EventLoad { events: 1_614, seconds: 60.0, bursts: false },
];

/// Cost of an event loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventCost {
    /// Wake-ups of server and application per second.
    pub wake_ups_per_second: f64,
    /// From the arrival of an event to the start of its handler in the application, in milliseconds.
    pub delivery: Summary,
}

/// Runs an event loop on a load. A refresh takes `interval` milliseconds and a frame must start `budget` before it.
pub fn run(load: &EventLoad, kind: EventLoop, interval: f64, budget: f64, seed: u64) -> EventCost {
    let mut random = Random::new(seed);
    let arrivals = arrivals(load, &mut random);
    let length = load.seconds * 1_000.0;
    let mut delivery: Vec<f32> = Vec::with_capacity(arrivals.len());
    let mut wake_ups = 0_u64;
    match kind {
        EventLoop::Poll => {
            // Server and application poll in phase: the application checks right after the server.
            wake_ups = 2 * (length / POLL_MILLISECONDS) as u64;
            let phase = random.between(0.0, POLL_MILLISECONDS);
            for at in &arrivals {
                delivery.push((next_tick(*at, phase, POLL_MILLISECONDS) - at + HANDLE_MILLISECONDS) as f32);
            }
        }
        EventLoop::Block => {
            let mut free = f64::MIN;
            for at in &arrivals {
                // An event that arrives while the loop is awake needs no wake-up.
                if *at > free {
                    wake_ups += 2;
                }
                let start = (at + 2.0 * WAKE_MILLISECONDS).max(free);
                delivery.push((start - at) as f32);
                free = start + HANDLE_MILLISECONDS;
            }
        }
        EventLoop::PerFrame => {
            let phase = interval - budget;
            let mut last_tick = f64::MIN;
            for at in &arrivals {
                let tick = next_tick(*at, phase, interval);
                // The server wakes for each event; the application and the server's timer wake once per refresh with
                // events.
                wake_ups += 1;
                if tick > last_tick {
                    wake_ups += 2;
                    last_tick = tick;
                }
                delivery.push((tick - at + 2.0 * WAKE_MILLISECONDS) as f32);
            }
        }
    }
    EventCost { wake_ups_per_second: wake_ups as f64 / load.seconds, delivery: Summary::of(&mut delivery) }
}

fn next_tick(at: f64, phase: f64, period: f64) -> f64 {
    phase + ((at - phase) / period).ceil() * period
}

fn arrivals(load: &EventLoad, random: &mut Random) -> Vec<f64> {
    let length = load.seconds * 1_000.0;
    let gap = length / load.events.max(1) as f64;
    let mut at = 0.0;
    (0..load.events)
        .map(|index| {
            at += if !load.bursts {
                gap * random.between(0.5, 1.5)
            } else if index % 20 == 0 {
                gap * 15.0
            } else {
                gap * 5.0 / 19.0 * random.between(0.5, 1.5)
            };
            at
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polling_wakes_for_nothing_and_waits_half_a_period() {
        let idle = EventLoad { events: 0, seconds: 10.0, bursts: false };
        let wakes = |kind| run(&idle, kind, 16.667, 4.0, 1).wake_ups_per_second;
        assert_eq!([EventLoop::Poll, EventLoop::Block, EventLoop::PerFrame].map(wakes), [125.0, 0.0, 0.0]);
        let cost = run(&SPIRAL[0], EventLoop::Poll, 16.667, 4.0, 1);
        assert!((cost.delivery.mean - 8.0).abs() < 0.5, "{cost:?}");
        assert!(run(&SPIRAL[0], EventLoop::Block, 16.667, 4.0, 1).delivery.max < 0.2);
    }

    #[test]
    fn one_wake_up_per_frame_is_less_than_one_per_event_when_events_are_many() {
        let fast = EventLoad { events: 10_000, seconds: 10.0, bursts: false };
        let wakes = |kind| run(&fast, kind, 16.667, 4.0, 1).wake_ups_per_second;
        assert!(wakes(EventLoop::PerFrame) < wakes(EventLoop::Block));
    }
}
