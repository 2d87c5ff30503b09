//! What this process has: whatever has more of it than before is named.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

/// Threads give back what they have: this waits for it, and only a hang takes so long.
const HANG_LIMIT: Duration = Duration::from_secs(60);
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// How much more there may be.
#[derive(Clone, Copy)]
pub struct Slack {
    pub descriptors: u64,
    pub mappings: u64,
    pub threads: u64,
    pub heap_bytes: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Level {
    /// Each with a name that has no numbers in it.
    descriptors: BTreeMap<String, u64>,
    /// Mapped files, without libraries.
    mappings: BTreeMap<String, u64>,
    threads: BTreeMap<String, u64>,
    /// Of `malloc`, in all threads: what Rust and C have in use.
    heap_bytes: u64,
}

fn without_numbers(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// What the allocator has given out.
fn heap_bytes() -> u64 {
    // SAFETY: it reads the allocator's own counters, under its locks.
    let info = unsafe { libc::mallinfo2() };
    (info.uordblks + info.hblkhd) as u64
}

/// What `look` finds when that `is_nothing`, which threads give back, or last, when they do not.
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

impl Level {
    pub fn now() -> Self {
        let mut level = Level { heap_bytes: heap_bytes(), ..Level::default() };
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

    /// All of it in a line.
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

    /// What there is more of than there was at `before`, beyond `slack`; nothing if it is given back.
    pub fn growth_since(before: &Level, slack: Slack) -> (Level, Vec<String>) {
        let look = || {
            let now = Level::now();
            let grown = now.grown(before, slack);
            (now, grown)
        };
        when_given_back(look, |(_, grown)| grown.is_empty())
    }

    fn grown(&self, before: &Level, slack: Slack) -> Vec<String> {
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
