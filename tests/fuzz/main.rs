//! Random clients, random bytes and random files.
//!
//! ```text
//!  seed ─► requests.rs: what is asked for ─► script.rs: steps, which name objects ─► play.rs: a world, real sockets ─► wire.rs
//!                                                   │                                    └ neighbour.rs: frames are asserted
//!                              a step fails ────────┴─► shrink.rs: fewer steps, until none can be left out
//! ```
//!
//! Each run has a process of its own, since what is looked for aborts or hangs. `UPBEAT_FUZZ_SECONDS` says how long each of
//! the tests goes on (15 if unset), `UPBEAT_FUZZ_SEED` where it begins (0 if unset). A failure names its seed, and leaves
//! the fewest steps that it takes in a file.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

#[path = "../clients/fixture/mod.rs"]
#[allow(dead_code, reason = "the fuzzer uses less of it than the tests of clients")]
mod fixture;

mod descriptors;
mod formats;
mod interfaces;
mod neighbour;
mod play;
mod requests;
mod script;
mod shrink;
mod wire;

use std::time::{Duration, Instant};

/// How long each test goes on: all of them are done within half a minute, on two cores.
const SECONDS: u64 = 15;

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
    shrink::search(script::Kind::Requests);
}

#[test]
fn whatever_bytes_are_sent_end_nobody_but_who_sends_them() {
    shrink::search(script::Kind::Bytes);
}

/// What each run does in a process of its own.
#[test]
#[ignore = "the others start it"]
fn run_of_a_process() {
    shrink::run_of_a_process();
}
