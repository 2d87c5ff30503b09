//! Searches for scripts that fail, in as many processes as there are processors.

use std::sync::Mutex;
use std::thread::available_parallelism;
use std::time::Instant;

use crate::at_least;
use crate::fixture::seeds::first_seed;
use crate::process::{ProcessOutcome, panic_message, run};
use crate::script::ScriptKind;
use crate::shrink::shrink;

/// Scripts of one process.
const SCRIPTS: u64 = 16;
/// The seeds to play: all before `end`, and more until `until`.
struct Goal {
    kind: ScriptKind,
    end: u64,
    until: Instant,
}

/// Progress of all processes.
struct SearchProgress {
    /// The next seed to play.
    seed: u64,
    total: ProcessOutcome,
    failed: Option<ProcessOutcome>,
}

/// Plays this many scripts of `kind`, and panics at the first script that fails.
pub fn search(kind: ScriptKind, scripts: u64) {
    let (first, start) = (first_seed(), Instant::now());
    let goal = Goal { kind, end: first + scripts, until: start + at_least() };
    let done = Mutex::new(SearchProgress { seed: first, total: ProcessOutcome::default(), failed: None });
    let workers = match kind {
        ScriptKind::Requests => available_parallelism().map_or(1, usize::from),
        ScriptKind::Bytes => 1,
    };
    std::thread::scope(|scope| {
        (0..workers).for_each(|_| _ = scope.spawn(|| while go_on(&goal, &done) {}));
    });
    let SearchProgress { seed, total, failed } = done.into_inner().unwrap();
    if let Some(failed) = failed {
        eprintln!("{}", failed.said);
        // A script that hangs is not shrunk, because each try would wait for the hang again.
        if !failed.hangs {
            shrink(kind, failed.seed);
        }
        let ProcessOutcome { seed, said, last, .. } = failed;
        panic!("seed {seed} of {} fails: {}; the last step was {last}", kind.word(), panic_message(&said));
    }
    let ProcessOutcome { requests, ended, frames, kinds, slowest, .. } = total;
    println!(
        "{requests} requests of {kinds} kinds, {ended} clients ended, {frames} frames of a neighbour, seeds {first}..{seed}, \
         in {} s; no turn longer than {slowest} ms",
        start.elapsed().as_secs()
    );
    assert!(requests > 0 && frames > 0, "no request was tested");
}

/// Runs one more process. Returns whether there is more to do.
fn go_on(goal: &Goal, done: &Mutex<SearchProgress>) -> bool {
    let (seed, scripts) = {
        let mut done = done.lock().unwrap();
        let left = goal.end.saturating_sub(done.seed);
        let is_over = left == 0 && Instant::now() >= goal.until;
        if is_over || done.failed.is_some() {
            return false;
        }
        let (seed, scripts) = (done.seed, if left == 0 { SCRIPTS } else { left.min(SCRIPTS) });
        done.seed += scripts;
        (seed, scripts)
    };
    let outcome = run(&format!("{}\n{seed}\n{scripts}", goal.kind.word()), |_| {});
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
