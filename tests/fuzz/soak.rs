//! One session in which everything happens, and again: clients of all kinds that come, go and die, outputs that are
//! unplugged and dark, other configurations. Whenever all have left it has no more than it had before.

use std::time::{Duration, Instant};

use crate::level::{Level, Slack};
use crate::play::{Player, Tally};
use crate::process::{self, last_words, tell, tell_all};
use crate::script::Kind;
use crate::{SECONDS, environment, first_seed};

/// Rounds until tables and what is remembered of frames have the size that they keep.
const WARM_UP: u64 = 24;
/// What one look finds more than another: what happens to be in pools and queues. It does not add up.
const SLACK: Slack = Slack { descriptors: 8, mappings: 8, threads: 3, heap_bytes: 2 << 20 };

/// Runs it in a process for as long as it is told to.
pub fn soak() {
    let seconds = environment("UPBEAT_FUZZ_SECONDS", SECONDS);
    let requests = environment("UPBEAT_FUZZ_SOAK_REQUESTS", u64::MAX);
    let tells = std::env::var_os("UPBEAT_FUZZ_TELL").is_some();
    let outcome = process::run(&format!("soak {} {seconds} {requests}", first_seed()), |line| {
        if tells {
            eprintln!("{line}");
        }
    });
    assert!(outcome.fine, "seed {} of the soak fails: {}\n{}", outcome.seed, last_words(&outcome.said), outcome.said);
    println!(
        "{} requests of {} kinds, {} clients ended, {} frames of a neighbour, to seed {}; no turn longer than {} ms",
        outcome.requests, outcome.kinds, outcome.ended, outcome.frames, outcome.seed, outcome.slowest
    );
}

/// Plays one script after the other in one session.
pub fn run(seed: u64, seconds: u64, requests: u64) {
    let start = Instant::now();
    let mut player = Player::new();
    let (mut all, mut before) = (Tally::default(), None);
    for round in 0.. {
        eprintln!("\nseed {}", seed + round);
        player.generate(Kind::Requests, seed + round, |_| {});
        all.add(player.end());
        let level = match &before {
            Some(before) => {
                let (level, grown) = Level::growth_since(before, SLACK);
                assert!(grown.is_empty(), "after {} requests there are more {}", all.requests, grown.join("; "));
                level
            }
            None => Level::now(),
        };
        tell(&all);
        eprintln!("after {} s: {}", start.elapsed().as_secs(), level.words());
        if round == WARM_UP {
            before = Some(level);
        }
        if all.requests >= requests || start.elapsed() > Duration::from_secs(seconds) {
            break;
        }
    }
    tell_all(&all);
}
