//! Reduces a script to the fewest steps that still fail.

use std::time::{Duration, Instant};

use crate::process::{file_of, panic_message, read, run, write};
use crate::script::{ScriptKind, ScriptStep};

/// Time limit. It bounds the search for a shorter script, and decides no verdict: the script failed before.
const SHRINKING: Duration = Duration::from_secs(90);
const TOLD: usize = 60;

/// Source location of the panic.
fn panic_location(said: &str) -> Option<String> {
    let words = panic_message(said);
    words.split(" | ").next()?.rsplit("panicked at").next().map(str::to_owned)
}

/// Plays the script of `seed` again, removes the steps that are not needed for its failure, and prints the rest.
pub fn shrink(kind: ScriptKind, seed: u64) {
    let file = file_of(&format!("{}-{seed}.jsonl", kind.word()));
    let again = run(&format!("record\n{}\n{seed}\n{}", kind.word(), file.display()), |_| {});
    if again.fine {
        eprintln!("seed {seed} does not fail when played alone");
        return;
    }
    let wanted = panic_location(&again.said);
    let tried = file.with_extension("try");
    let fails = |steps: &[ScriptStep]| {
        write(&tried, steps);
        let outcome = run(&format!("replay\n{}", tried.display()), |_| {});
        !outcome.fine && panic_location(&outcome.said) == wanted
    };
    let steps = read(&file);
    if !fails(&steps) {
        eprintln!("{} fails when generated, but not when played from its file", file.display());
        return;
    }
    let steps = fewest(steps, Instant::now() + SHRINKING, fails);
    write(&file, &steps);
    eprintln!("{} steps are left of seed {seed}, in {}:", steps.len(), file.display());
    steps.iter().rev().take(TOLD).rev().for_each(|step| eprintln!("  {step:?}"));
}

/// Removes steps as long as `matters` is true of the rest, until no step can be left out or `deadline` is over.
pub fn fewest(
    mut steps: Vec<ScriptStep>,
    deadline: Instant,
    mut matters: impl FnMut(&[ScriptStep]) -> bool,
) -> Vec<ScriptStep> {
    let mut piece = steps.len() / 2;
    while piece > 0 && Instant::now() < deadline {
        let mut at = 0;
        while at < steps.len() && Instant::now() < deadline {
            let end = (at + piece).min(steps.len());
            let fewer: Vec<ScriptStep> = steps[..at].iter().chain(&steps[end..]).cloned().collect();
            if matters(&fewer) {
                steps = fewer;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    steps
}
