//! Memory and descriptors of a session return to their old level after its programs are gone.

use std::fs;

use crate::session::{TestSession, wait};
use crate::timed_figure::Noise;

/// Programs that come and go between two measurements. The first batch fills caches and the allocator's reserves.
const BATCH: u32 = 300;
/// A leak shows after every batch. On a busy machine more programs than before may run at once, which raises the level
/// in some batch, but not in every batch.
const MOST_BATCHES: u32 = 5;
/// Allowed growth for each program (KiB): less than the smallest object that is kept for a surface or a client, and
/// far more than the noise from the allocator's pages.
const MOST_LEFT_KIB: f64 = 0.5;

/// Descriptors of the last programs' buffers: the last scenes keep them until there are newer scenes.
const FEW: usize = 8;

/// A process's private memory, in KiB.
fn anonymous_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

#[test]
#[ignore = "timed: ./up measure"]
fn programs_that_exited_leak_neither_memory_nor_descriptors() {
    let noise = Noise::begin();
    let mut session = TestSession::start(&["--output", "640x480"]);
    let pid = session.pid();
    let at_first = descriptors(pid);
    let mut come_and_go = |programs: u32| {
        session.program(&format!("opens:{programs}")).wait_for("done");
        wait("their windows to be gone", || session.windows().is_empty().then_some(()));
        wait("their descriptors to be closed", || (descriptors(pid) <= at_first + FEW).then_some(()));
        anonymous_kib(pid)
    };
    let mut sizes = vec![come_and_go(BATCH)];
    let is_level = |sizes: &[u64]| {
        let grown = sizes.last_chunk().map_or(u64::MAX, |[before, after]| after.saturating_sub(*before));
        grown as f64 / f64::from(BATCH) < MOST_LEFT_KIB
    };
    while !is_level(&sizes) && sizes.len() as u32 <= MOST_BATCHES {
        sizes.push(come_and_go(BATCH));
    }
    noise.judge(is_level(&sizes), format_args!("memory in KiB after each {BATCH} programs: {sizes:?}"));
}
