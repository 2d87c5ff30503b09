//! Resources of this process (descriptors, mappings, threads, heap): each resource that has grown is named.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// Threads release their resources late: the test waits for that, and only a hang takes so long.
const HANG_LIMIT: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// Growth that is allowed.
#[derive(Clone, Copy)]
pub struct Slack {
    pub descriptors: u64,
    pub mappings: u64,
    pub threads: u64,
    pub heap_bytes: u64,
}

#[derive(Clone, Debug, Default)]
pub struct ResourceUsage {
    /// By name, with the digits removed from it.
    descriptors: BTreeMap<String, u64>,
    /// Mapped files except libraries, by name.
    mappings: BTreeMap<String, u64>,
    threads: BTreeMap<String, u64>,
    /// Bytes from `malloc` in use by Rust and C, over all threads.
    heap_bytes: u64,
}

fn without_numbers(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Bytes that the allocator has handed out.
fn heap_bytes() -> u64 {
    // SAFETY: it reads the allocator's own counters, under its locks.
    let info = unsafe { libc::mallinfo2() };
    (info.uordblks + info.hblkhd) as u64
}

/// Calls `look` until its result `is_nothing`, since threads release their resources late. After [`HANG_LIMIT`] the
/// last result is returned.
pub fn when_given_back<T>(mut look: impl FnMut() -> T, is_nothing: impl Fn(&T) -> bool) -> T {
    let start = Instant::now();
    loop {
        let found = look();
        if is_nothing(&found) || start.elapsed() > HANG_LIMIT {
            return found;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

impl ResourceUsage {
    pub fn now() -> Self {
        let mut level = ResourceUsage { heap_bytes: heap_bytes(), ..ResourceUsage::default() };
        for entry in fs::read_dir("/proc/self/fd").unwrap().flatten() {
            let what = fs::read_link(entry.path()).unwrap_or_default();
            *level.descriptors.entry(without_numbers(&what.to_string_lossy())).or_default() += 1;
        }
        for line in fs::read_to_string("/proc/self/maps").unwrap().lines() {
            let file = line.split_whitespace().nth(5).unwrap_or_default();
            if file.starts_with('/') && !file.contains(".so") {
                *level.mappings.entry(without_numbers(file)).or_default() += 1;
            }
        }
        for entry in fs::read_dir("/proc/self/task").unwrap().flatten() {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            *level.threads.entry(without_numbers(name.trim())).or_default() += 1;
        }
        level
    }

    /// All counts, in one line.
    pub fn words(&self) -> String {
        let count = |table: &BTreeMap<String, u64>| table.values().sum::<u64>();
        format!(
            "{} kB of the heap, {} descriptors, {} mapped files, {} threads",
            self.heap_bytes >> 10,
            count(&self.descriptors),
            count(&self.mappings),
            count(&self.threads)
        )
    }

    /// The level now, and each resource that has grown since `before` by more than `slack`. It waits for threads to
    /// release their resources.
    pub fn growth_since(before: &ResourceUsage, slack: Slack) -> (ResourceUsage, Vec<String>) {
        let look = || {
            let now = ResourceUsage::now();
            let grown = now.grown(before, slack);
            (now, grown)
        };
        when_given_back(look, |(_, grown)| grown.is_empty())
    }

    fn grown(&self, before: &ResourceUsage, slack: Slack) -> Vec<String> {
        let mut grown = Vec::new();
        let tables = [
            ("descriptors", &self.descriptors, &before.descriptors, slack.descriptors),
            ("mappings", &self.mappings, &before.mappings, slack.mappings),
            ("threads", &self.threads, &before.threads, slack.threads),
        ];
        for (what, now, before, slack) in tables {
            if now.values().sum::<u64>() <= before.values().sum::<u64>() + slack {
                continue;
            }
            for (name, count) in now {
                let known = before.get(name).copied().unwrap_or_default();
                if *count > known {
                    grown.push(format!("{what} of {name:?}: {known} before, {count} now"));
                }
            }
        }
        if self.heap_bytes > before.heap_bytes + slack.heap_bytes {
            grown.push(format!("bytes of the heap: {} before, {} now", before.heap_bytes, self.heap_bytes));
        }
        grown
    }
}
