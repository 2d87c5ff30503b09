//! Looks for scripts that fail, in as many processes as there are processors.

use std::sync::Mutex;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use crate::first_seed;
use crate::process::{Outcome, last_words, run};
use crate::script::Kind;
use crate::shrink::shrink;

/// Scripts of one process.
const SCRIPTS: u64 = 16;
/// Where there is no other end.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// How far it goes.
#[derive(Clone, Copy)]
pub enum Goal {
    Requests(u64),
    Until(Instant),
}

/// What was done, by all processes.
struct Done {
    seed: u64,
    total: Outcome,
    failed: Option<Outcome>,
}

/// Plays scripts of `kind` until the goal is reached, and fails with the first that does.
pub fn search(kind: Kind, goal: Goal) {
    let done = Mutex::new(Done { seed: first_seed(), total: Outcome::default(), failed: None });
    let start = Instant::now();
    let workers = match goal {
        Goal::Requests(_) => available_parallelism().map_or(1, usize::from),
        Goal::Until(_) => 1,
    };
    std::thread::scope(|scope| {
        (0..workers).for_each(|_| _ = scope.spawn(|| while go_on(kind, goal, &done) {}));
    });
    let Done { seed, total, failed } = done.into_inner().unwrap();
    if let Some(failed) = failed {
        eprintln!("{}", failed.said);
        shrink(kind, failed.seed);
        panic!("seed {} of {} fails: {}", failed.seed, kind.word(), last_words(&failed.said));
    }
    let Outcome { requests, ended, frames, kinds, slowest, .. } = total;
    println!(
        "{requests} requests of {kinds} kinds, {ended} clients ended, {frames} frames of a neighbour, to seed {seed}, \
         in {} s; no turn longer than {slowest} ms",
        start.elapsed().as_secs()
    );
    assert!(requests > 0 && frames > 0, "nothing was tested");
}

/// Runs one more process. Whether there is more to do.
fn go_on(kind: Kind, goal: Goal, done: &Mutex<Done>) -> bool {
    let (seed, left) = {
        let mut done = done.lock().unwrap();
        let left = match goal {
            Goal::Requests(wanted) if done.total.requests < wanted => LONG,
            Goal::Requests(_) => Duration::ZERO,
            Goal::Until(end) => end.saturating_duration_since(Instant::now()),
        };
        if left.is_zero() || done.failed.is_some() {
            return false;
        }
        done.seed += SCRIPTS;
        (done.seed - SCRIPTS, left)
    };
    let outcome = run(&format!("{} {seed} {SCRIPTS} {}", kind.word(), left.as_secs().max(1)), |_| {});
    let mut done = done.lock().unwrap();
    let total = &mut done.total;
    total.requests += outcome.requests;
    total.ended += outcome.ended;
    total.frames += outcome.frames;
    total.kinds = total.kinds.max(outcome.kinds);
    total.slowest = total.slowest.max(outcome.slowest);
    if !outcome.fine {
        done.failed = Some(outcome);
        return false;
    }
    true
}
