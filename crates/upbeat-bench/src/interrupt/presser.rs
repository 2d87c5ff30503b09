//! Simulates a user: a thread with a connection of its own that presses at random times.

use std::ops::Range;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::device::{PressDevice, PressKind};
use upbeat_timing::time::{Clock as _, Instant, MonotonicClock, Span};

/// Time between two presses: long enough for the compositor to count the gesture as over (400 ms) and for the client to
/// fill its queue again.
const PAUSE: Range<Span> = Span::from_millis(700)..Span::from_millis(950);
/// Time from press to release: a short tap.
const HELD: Span = Span::from_millis(40);
/// The golden ratio: the fractional parts of its multiples are spread as evenly as possible.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Handle of the thread.
#[derive(Debug)]
pub(super) struct Presser {
    /// When each press was sent.
    presses: Receiver<Instant>,
    thread: JoinHandle<()>,
}

impl Presser {
    /// Starts `count` presses; `None` if the compositor lacks the virtual device. `before` is another press that comes
    /// before each press, for an effect that needs it (the overview must be open to be closed). `interval` is the
    /// display's.
    pub(super) fn start(
        press: PressKind,
        before: Option<PressKind>,
        count: usize,
        interval: Span,
        seed: u64,
    ) -> Option<Presser> {
        let mut device = PressDevice::connect(press)?;
        let mut before = match before {
            Some(press) => Some(PressDevice::connect(press)?),
            None => None,
        };
        let (sender, presses) = channel();
        let times = times(count, interval, seed);
        let play = move || {
            device.prepare();
            let began = MonotonicClock.now();
            for time in times {
                if let Some(before) = &mut before {
                    sleep_until(began + time - PAUSE.start / 2);
                    if tap(before).is_none() {
                        return;
                    }
                }
                sleep_until(began + time);
                if tap(&mut device).is_none_or(|at| sender.send(at).is_err()) {
                    return;
                }
            }
            sleep_until(MonotonicClock.now() + PAUSE.end);
        };
        let thread = std::thread::Builder::new().name("finger".into()).spawn(play).ok()?;
        Some(Presser { presses, thread })
    }

    /// Whether all presses were sent, and the last had time for an answer.
    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// When each press was sent.
    pub(super) fn stop(self) -> Vec<Instant> {
        self.presses.try_iter().collect()
    }
}

/// Presses and releases. Returns the time of the press; `None` if the connection is lost.
fn tap(device: &mut PressDevice) -> Option<Instant> {
    let at = MonotonicClock.now();
    let pressed = device.press(true);
    sleep_until(at + HELD);
    (pressed && device.press(false)).then_some(at)
}

/// Times of the presses since the start: random refreshes, and in each a phase as far as possible from the phases of
/// the presses before. So a hundred presses cover every phase of the display. With random phases the median would be
/// uncertain by a millisecond.
fn times(count: usize, interval: Span, seed: u64) -> Vec<Span> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let nanos = interval.as_nanos().max(1);
    let refreshes =
        PAUSE.start.as_nanos() / nanos..(PAUSE.end.as_nanos() / nanos).max(PAUSE.start.as_nanos() / nanos + 1);
    let (mut refresh, mut place) = (0, rng.random::<f64>());
    (0..count)
        .map(|_| {
            refresh += rng.random_range(refreshes.clone());
            place = (place + GOLDEN).fract();
            interval * refresh + Span::from_nanos((place * nanos as f64) as i64)
        })
        .collect()
}

fn sleep_until(until: Instant) {
    let left = (until - MonotonicClock.now()).max(Span::ZERO);
    std::thread::sleep(Duration::from_nanos(left.as_nanos() as u64));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presses_meet_every_phase_of_the_display_and_leave_time_between_them() {
        let interval = Span::from_millihertz(60_000);
        let times = times(100, interval, 7);
        let mut met = [0; 10];
        for time in &times {
            met[(time.as_nanos() % interval.as_nanos() * 10 / interval.as_nanos()) as usize] += 1;
        }
        assert!(met.iter().all(|count| (8..=12).contains(count)), "{met:?}");
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] > PAUSE.start - interval * 2));
    }
}
