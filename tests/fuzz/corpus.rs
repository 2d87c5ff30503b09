//! The corpus: short scripts that are kept because they found a bug, or because they reach something rare.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::play::{ScriptPlayer, ScriptTally};
use crate::process::{panic_message, read, run, write};
use crate::script::{ScriptKind, ScriptStep};
use crate::shrink::fewest;

/// An event or error is rare if fewer than one script in this many reaches it.
const SELDOM: u64 = 8;
/// Time limit for leaving out steps of one script. It bounds the search for a shorter script, and decides no verdict.
const SHRINKING: Duration = Duration::from_secs(8);
/// Steps; a longer script is not kept.
const LONGEST: usize = 80;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus")
}

fn kept() -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    files
}

pub fn replay_all() {
    let files = kept();
    assert!(!files.is_empty(), "no scripts in {}", directory().display());
    let words: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    let outcome = run(&format!("replay\n{}", words.join("\n")), |_| {});
    let last = outcome.said.lines().rev().find_map(|line| line.strip_prefix("plays ")).unwrap_or("nothing");
    let step = &outcome.last;
    assert!(outcome.fine, "{last} fails: {}; its last step was {step}\n{}", panic_message(&outcome.said), outcome.said);
    println!("{} scripts", files.len());
}

/// The events that clients received, and the errors that ended clients.
fn reached(tally: &ScriptTally) -> BTreeSet<String> {
    let events = tally.events.iter().map(|(interface, event)| format!("{interface}.{event}"));
    let errors = tally.kinds.iter().filter(|(_, (_, ends))| *ends > 0).map(|(kind, _)| kind.clone());
    events.chain(errors).collect()
}

fn play(steps: &[ScriptStep]) -> BTreeSet<String> {
    let mut player = ScriptPlayer::new();
    steps.iter().for_each(|step| player.play_and_bury(step));
    reached(&player.end())
}

/// Plays scripts and finds the rare events and errors that the corpus does not reach yet. For each of them a script is
/// kept, reduced to the fewest steps.
pub fn collect(first: u64, scripts: u64) {
    let mut known: BTreeSet<String> = kept().iter().flat_map(|file| play(&read(file))).collect();
    let mut reaches: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for seed in first..first + scripts {
        let mut player = ScriptPlayer::new();
        player.generate(ScriptKind::Requests, seed, |_| {});
        for what in reached(&player.end()) {
            reaches.entry(what).or_insert((seed, 0)).1 += 1;
        }
    }
    let seldom = reaches.into_iter().filter(|(_, (_, times))| times * SELDOM <= scripts);
    for (what, (seed, times)) in seldom {
        if known.contains(&what) {
            continue;
        }
        let mut steps = Vec::new();
        let mut player = ScriptPlayer::new();
        player.generate(ScriptKind::Requests, seed, |step| steps.push(step.clone()));
        drop(player);
        let steps = fewest(steps, Instant::now() + SHRINKING, |fewer| play(fewer).contains(&what));
        let reaches = play(&steps);
        eprintln!("{what}: {times} times, {} steps are left of seed {seed}", steps.len());
        // A long script, or a script that depends on timing, is of little use.
        if reaches.contains(&what) && steps.len() <= LONGEST {
            let letters = what.trim_start_matches("ends: ").chars();
            let name: String =
                letters.map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
            write(&directory().join(format!("{name}.jsonl")), &steps);
            known.extend(reaches);
        }
    }
}
