//! What windows and programs leave behind when they are gone: nothing.

use std::fs;

use crate::session::{Session, wait};

/// Programs that fill caches and what the allocator keeps.
const WARM_UP: u32 = 200;
/// Programs that come and go while it is counted.
const COUNTED: u32 = 600;
/// What one of them may leave behind (KiB): less than the smallest thing that is kept for a surface or a client, and
/// far more than the allocator's pages are uneven by.
const MOST_LEFT_KIB: f64 = 0.5;

/// Descriptors of the last programs' buffers: the last scenes that showed them are kept until there are newer ones.
const FEW: usize = 8;

/// The memory that a process has for itself, in KiB.
fn anonymous_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

fn descriptors(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

#[test]
fn programs_that_came_and_went_leave_neither_memory_nor_descriptors_behind() {
    let mut session = Session::start(&["--output", "640x480"]);
    let pid = session.pid();
    let at_first = descriptors(pid);
    let mut come_and_go = |programs: u32| {
        session.program(&format!("opens:{programs}")).wait_for("done");
        wait("their windows to be gone", || session.windows().is_empty().then_some(()));
        wait("their descriptors to be closed", || (descriptors(pid) <= at_first + FEW).then_some(()));
        anonymous_kib(pid)
    };
    let before = come_and_go(WARM_UP);
    let after = come_and_go(COUNTED);
    let each = after.saturating_sub(before) as f64 / f64::from(COUNTED);
    assert!(each < MOST_LEFT_KIB, "{each:.1} KiB a program: {before} KiB, then {after} KiB");
}
