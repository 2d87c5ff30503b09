//! Random clients, random bytes and random files.
//!
//! ```text
//!  seed ─► requests.rs: what is asked for ─► script.rs: steps, which name objects ─► play.rs: a world, real sockets ─► wire.rs
//!                                                   │                                    ├ neighbour.rs: frames are asserted
//!                                                   │                                    └ sleeper.rs: pauses, and lives
//!                              a step fails ────────┴─► shrink.rs: fewer steps, until none can be left out
//! ```
//!
//! Each run has a process of its own, since what is looked for aborts or hangs. A failure names its seed, and leaves the
//! fewest steps that it takes in a file. `corpus/` has such scripts, of what was found and of what is reached seldom: they
//! are played first.
//!
//! A run is bounded by a count, and its seeds are fixed: a slow host tests the same as a fast one. The first seed is printed.
//!
//! | variable | what it says | unless it is set |
//! |---|---|---|
//! | `UPBEAT_FUZZ_REQUESTS` | well-formed requests, in about so many whole scripts | 300 000 |
//! | `UPBEAT_FUZZ_SCRIPTS` | scripts whose bytes are mangled | 24 |
//! | `UPBEAT_FUZZ_ROUNDS` | scripts in the one session of the soak | 12 |
//! | `UPBEAT_FUZZ_CASES` | changed samples of each format | 30 000 |
//! | `UPBEAT_FUZZ_CLIENTS` | clients of `tests/clients/frame_pacing/fuzz.rs` | 1 000 |
//! | `UPBEAT_FUZZ_SECONDS` | each of these goes on beyond its count until so many seconds are over | 0 |
//! | `UPBEAT_FUZZ_SEED` | the first seed; `random` takes one from the operating system | 0 |
//! | `UPBEAT_FUZZ_TELL` | print how often what was asked for, and what was answered | |
//! | `UPBEAT_COUNTED` | 1: the clock counts instructions, and the tight limits of `limits.rs` hold | |
//!
//! `tests/fuzz/run` asks for more.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

#[path = "../clients/fixture/mod.rs"]
#[allow(dead_code, reason = "the fuzzer uses less of it than the tests of clients")]
mod fixture;

mod corpus;
mod descriptors;
mod desk;
mod formats;
mod interfaces;
mod kept;
mod last_step;
mod level;
mod limits;
mod neighbour;
mod play;
mod process;
mod requests;
mod script;
mod search;
mod sense;
mod shrink;
mod sleeper;
mod soak;
mod wire;

use std::time::Duration;

use fixture::chance::number;

/// Well-formed requests.
const REQUESTS: u64 = 300_000;
/// Well-formed requests that are heard of one script, on average. Scripts are counted and not requests: which seeds are
/// played does not depend on how many processes there are.
const REQUESTS_OF_A_SCRIPT: u64 = 7_500;
/// Scripts whose bytes are mangled.
const MANGLED_SCRIPTS: u64 = 24;

/// How long a test goes on beyond its count.
fn at_least() -> Duration {
    Duration::from_secs(number("UPBEAT_FUZZ_SECONDS", 0))
}

#[test]
fn whatever_well_formed_is_asked_for_ends_nobody_but_who_asks() {
    let requests = number("UPBEAT_FUZZ_REQUESTS", REQUESTS);
    search::search(script::Kind::Requests, requests.div_ceil(REQUESTS_OF_A_SCRIPT));
}

#[test]
fn whatever_bytes_are_sent_end_nobody_but_who_sends_them() {
    search::search(script::Kind::Bytes, number("UPBEAT_FUZZ_SCRIPTS", MANGLED_SCRIPTS));
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
