//! One long session with everything: clients of all kinds that come, go and die, outputs that are unplugged and turned
//! off, reloads of the configuration. Each time all clients have left, the session must use no more resources than
//! before.

use std::time::{Duration, Instant};

use crate::at_least;
use crate::fixture::seeds::{first_seed, number};
use crate::play::{ScriptPlayer, ScriptTally};
use crate::process::{self, ProcessOutcome, panic_message, print_counts, print_progress};
use crate::resource_usage::{ResourceUsage, Slack};
use crate::script::ScriptKind;

/// Rounds until frame records have reached their size and most tables have grown for the last time. With the seeds 0, 1
/// 000 and 5 000 descriptors, mappings and threads stay within 4 from the first round on; the heap grows by a fifth to
/// a third in eight rounds, in steps of 0.5 MB.
const WARM_UP: u64 = 8;
/// Rounds of the test command; rounds after the warm-up are compared with it.
const ROUNDS: u64 = WARM_UP + 4;
/// Differences between two checks, since pools and queues are not always equally full. They do not add up.
const SLACK: Slack = Slack { descriptors: 8, mappings: 8, threads: 3, heap_bytes: 2 << 20 };

/// Runs the soak test in a process.
pub fn soak() {
    let rounds = number("UPBEAT_FUZZ_ROUNDS", ROUNDS);
    assert!(rounds > WARM_UP, "{rounds} rounds compare nothing: {WARM_UP} are the warm-up");
    let tells = std::env::var_os("UPBEAT_FUZZ_TELL").is_some();
    let outcome = process::run(&format!("soak\n{}\n{rounds}\n{}", first_seed(), at_least().as_secs()), |line| {
        if tells {
            eprintln!("{line}");
        }
    });
    let ProcessOutcome { seed, said, last, .. } = &outcome;
    assert!(outcome.fine, "seed {seed} of the soak fails: {}; the last step was {last}\n{said}", panic_message(said));
    println!(
        "{} requests of {} kinds, {} clients ended, {} frames of a neighbour, to seed {}; no turn longer than {} ms",
        outcome.requests, outcome.kinds, outcome.ended, outcome.frames, outcome.seed, outcome.slowest
    );
}

/// Plays this many scripts in one session, one after the other, and more until the seconds are over.
pub fn run(seed: u64, rounds: u64, seconds: u64) {
    let start = Instant::now();
    let mut player = ScriptPlayer::new();
    let (mut all, mut before) = (ScriptTally::default(), None);
    for round in 0.. {
        eprintln!("\nseed {}", seed + round);
        player.generate(ScriptKind::Requests, seed + round, |_| {});
        all.add(player.end());
        let level = match &before {
            Some(before) => {
                let (level, grown) = ResourceUsage::growth_since(before, SLACK);
                assert!(grown.is_empty(), "after {} requests there are more {}", all.requests, grown.join("; "));
                level
            }
            None => ResourceUsage::now(),
        };
        print_progress(&all);
        eprintln!("after {} s: {}", start.elapsed().as_secs(), level.words());
        if round == WARM_UP {
            before = Some(level);
        }
        if round + 1 >= rounds && start.elapsed() >= Duration::from_secs(seconds) {
            break;
        }
    }
    print_counts(&all);
}
