//! Random clients, random bytes and random files.
//!
//! ```text
//!  seed ─► requests.rs: random requests ─► script.rs: steps, which name objects ─► play.rs: a world, real sockets
//!                                                 │                                   ├ raw_connection.rs: the bytes
//!                                                 │                                   ├ neighbour.rs: asserts frames
//!                                                 │                                   └ slow_reader.rs: survives
//!                            a step fails ────────┴─► shrink.rs: fewer steps, until none can be left out
//! ```
//!
//! Each run has a process of its own, since a failure may be an abort or a hang. A failure names its seed, and writes
//! the fewest steps that reproduce it to a file. `corpus/` has such scripts: scripts that found a bug, and scripts that
//! reach something rare. They are played first.
//!
//! A run is bounded by a count, and its seeds are fixed: a slow host tests the same as a fast host. The first seed is
//! printed.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `UPBEAT_FUZZ_REQUESTS` | well-formed requests (about this many, in whole scripts) | 300 000 |
//! | `UPBEAT_FUZZ_SCRIPTS` | scripts with mangled bytes | 24 |
//! | `UPBEAT_FUZZ_ROUNDS` | scripts in the one session of the soak test | 12 |
//! | `UPBEAT_FUZZ_CASES` | mutated samples of each format | 30 000 |
//! | `UPBEAT_FUZZ_CLIENTS` | clients of `tests/clients/frame_pacing/fuzz.rs` | 1 000 |
//! | `UPBEAT_FUZZ_SECONDS` | each of these goes on beyond its count until this many seconds are over | 0 |
//! | `UPBEAT_FUZZ_SEED` | the first seed; `random` takes a seed from the operating system | 0 |
//! | `UPBEAT_FUZZ_TELL` | print how often each request was sent, and the events that came | |
//! | `UPBEAT_COUNTED` | 1: the clock counts instructions, and the tight limits of `limits.rs` hold | |
//!
//! `tests/fuzz/run` runs longer.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

#[path = "../clients/fixture/mod.rs"]
#[allow(dead_code, reason = "the fuzzer uses less of it than the tests of clients")]
mod fixture;

mod corpus;
mod descriptors;
mod desktop_sequences;
mod formats;
mod interfaces;
mod last_step;
mod leak_check;
mod limits;
mod neighbour;
mod play;
mod process;
mod raw_connection;
mod requests;
mod resource_usage;
mod script;
mod search;
mod sequences;
mod shrink;
mod slow_reader;
mod soak;

use std::time::Duration;

use fixture::seeds::number;

const REQUESTS: u64 = 300_000;
/// Well-formed requests that the compositor reads of one script, on average. The limit counts scripts, not requests, so
/// that the seeds that are played do not depend on the number of processes.
const REQUESTS_OF_A_SCRIPT: u64 = 7_500;
/// Scripts with mangled bytes.
const MANGLED_SCRIPTS: u64 = 24;

/// Minimum time of a test, even if its count is reached.
fn at_least() -> Duration {
    Duration::from_secs(number("UPBEAT_FUZZ_SECONDS", 0))
}

#[test]
fn random_requests_end_only_their_sender() {
    let requests = number("UPBEAT_FUZZ_REQUESTS", REQUESTS);
    search::search(script::ScriptKind::Requests, requests.div_ceil(REQUESTS_OF_A_SCRIPT));
}

#[test]
fn mangled_bytes_end_only_their_sender() {
    search::search(script::ScriptKind::Bytes, number("UPBEAT_FUZZ_SCRIPTS", MANGLED_SCRIPTS));
}

#[test]
fn corpus_scripts_pass() {
    corpus::replay_all();
}

#[test]
fn long_session_with_random_clients_leaks_nothing() {
    soak::soak();
}

/// The work of one run, in a process of its own.
#[test]
#[ignore = "the others start it"]
fn run_of_a_process() {
    process::run_of_a_process();
}
