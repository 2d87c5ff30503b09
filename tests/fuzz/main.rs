//! Random clients, random bytes and random files.
//!
//! ```text
//!  seed ─► requests.rs: what is asked for ─► script.rs: steps, which name objects ─► play.rs: a world, real sockets ─► wire.rs
//!                                                   │                                    └ neighbour.rs: frames are asserted
//!                              a step fails ────────┴─► shrink.rs: fewer steps, until none can be left out
//! ```
//!
//! Each run has a process of its own, since what is looked for aborts or hangs. A failure names its seed, and leaves the
//! fewest steps that it takes in a file. `corpus/` has such scripts, of what was found and of what is reached seldom: they
//! are played first.
//!
//! | variable | what it says | unless it is set |
//! |---|---|---|
//! | `UPBEAT_FUZZ_REQUESTS` | well-formed requests, of all processes together | 1 000 000 |
//! | `UPBEAT_FUZZ_SECONDS` | how long bytes are mangled, and the soak goes on | 12 |
//! | `UPBEAT_FUZZ_SEED` | where seeds begin | 0 |
//! | `UPBEAT_FUZZ_TELL` | print how often what was asked for, and what was answered | |
//!
//! `tests/fuzz/run` goes on for as long as it is told to.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

#[path = "../clients/fixture/mod.rs"]
#[allow(dead_code, reason = "the fuzzer uses less of it than the tests of clients")]
mod fixture;

mod corpus;
mod descriptors;
mod formats;
mod interfaces;
mod level;
mod neighbour;
mod play;
mod process;
mod requests;
mod script;
mod search;
mod sense;
mod shrink;
mod soak;
mod wire;

use std::time::{Duration, Instant};

/// How long a test goes on that is told no number of requests.
const SECONDS: u64 = 12;
/// Well-formed requests: about a minute of two processors, in a build that checks everything twice.
const REQUESTS: u64 = 1_000_000;

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn first_seed() -> u64 {
    environment("UPBEAT_FUZZ_SEED", 0)
}

fn end() -> Instant {
    Instant::now() + Duration::from_secs(environment("UPBEAT_FUZZ_SECONDS", SECONDS))
}

#[test]
fn whatever_well_formed_is_asked_for_ends_nobody_but_who_asks() {
    let requests = environment("UPBEAT_FUZZ_REQUESTS", REQUESTS);
    search::search(script::Kind::Requests, search::Goal::Requests(requests));
}

#[test]
fn whatever_bytes_are_sent_end_nobody_but_who_sends_them() {
    search::search(script::Kind::Bytes, search::Goal::Until(end()));
}

#[test]
fn what_was_found_once_is_not_found_again() {
    corpus::replay_all();
}

#[test]
fn a_session_in_which_everything_happens_has_as_much_as_before() {
    soak::soak();
}

/// What each run does in a process of its own.
#[test]
#[ignore = "the others start it"]
fn run_of_a_process() {
    process::run_of_a_process();
}
