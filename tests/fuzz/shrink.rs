//! Looks for scripts that fail, in processes of their own, and for the fewest of their steps that still do.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::play::Player;
use crate::script::{Kind, Step};
use crate::{end, first_seed};

/// Says what a process is to do: `requests 7 3` plays the scripts of seeds 7 to 9; `record requests 7 FILE` plays one and
/// writes it down, `replay FILE` plays what is written.
const TASK: &str = "UPBEAT_FUZZ_TASK";
/// Scripts of one process.
const SCRIPTS: u64 = 16;
/// A process that has said nothing for so long hangs.
const SILENCE: Duration = Duration::from_secs(60);
/// So long steps are left out.
const SHRINKING: Duration = Duration::from_secs(90);
/// Steps that are printed.
const TOLD: usize = 60;

/// How a process ended.
struct Outcome {
    fine: bool,
    said: String,
    /// The seed that it played last.
    seed: u64,
    requests: u64,
    ended: u64,
    frames: u64,
    /// Of requests.
    kinds: u64,
}

/// Plays scripts of `kind` until the time is over, and fails with the first that does.
pub fn search(kind: Kind) {
    let (end, mut seed) = (end(), first_seed());
    let (mut requests, mut ended, mut frames, mut kinds) = (0, 0, 0, 0);
    while Instant::now() < end {
        let outcome = run(&format!("{} {seed} {SCRIPTS} {}", kind.word(), seconds_until(end)));
        (requests, ended, frames) = (requests + outcome.requests, ended + outcome.ended, frames + outcome.frames);
        kinds = kinds.max(outcome.kinds);
        if !outcome.fine {
            eprintln!("{}", outcome.said);
            shrink(kind, outcome.seed);
            panic!("seed {} of {} fails: {}", outcome.seed, kind.word(), last_words(&outcome.said));
        }
        seed += SCRIPTS;
    }
    println!(
        "{requests} requests of {kinds} kinds, {ended} clients ended, {frames} frames of a neighbour, to seed {seed}"
    );
    assert!(requests > 0 && frames > 0, "nothing was tested");
}

fn seconds_until(end: Instant) -> u64 {
    end.saturating_duration_since(Instant::now()).as_secs().max(1)
}

/// The message of the panic, or how it ended.
fn last_words(said: &str) -> String {
    let panicked = said.lines().position(|line| line.contains("panicked at"));
    let from = panicked.unwrap_or(said.lines().count().saturating_sub(3));
    said.lines().skip(from).take(4).collect::<Vec<_>>().join(" | ")
}

/// Runs a process that has `task`.
fn run(task: &str) -> Outcome {
    let log = tempfile::NamedTempFile::new().unwrap();
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "run_of_a_process", "--nocapture", "--test-threads=1"])
        .env(TASK, task)
        // Nobody's own session.
        .env_remove("XDG_RUNTIME_DIR")
        .stdin(Stdio::null())
        .stdout(log.reopen().unwrap())
        .stderr(log.reopen().unwrap())
        .spawn()
        .unwrap();
    let (mut heard, mut length) = (Instant::now(), 0);
    let status = loop {
        if let Some(status) = process.try_wait().unwrap() {
            break Some(status);
        }
        let now = log.as_file().metadata().unwrap().len();
        if now != length {
            (heard, length) = (Instant::now(), now);
        }
        if heard.elapsed() > SILENCE {
            process.kill().unwrap();
            process.wait().unwrap();
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut said = fs::read_to_string(log.path()).unwrap_or_default();
    said.push_str(&status.map_or_else(|| "it hangs".to_owned(), |status| status.to_string()));
    let number = |word: &str| -> u64 {
        let mut all = said.lines().filter_map(|line| line.strip_prefix(word)?.trim().parse::<u64>().ok());
        all.next_back().unwrap_or_default()
    };
    Outcome {
        fine: status.is_some_and(|status| status.success()),
        seed: number("seed "),
        requests: number("requests "),
        ended: number("ended "),
        frames: number("frames "),
        kinds: number("kinds "),
        said,
    }
}

/// Plays the script of `seed` again, and leaves out what it fails without. Prints what is left.
fn shrink(kind: Kind, seed: u64) {
    let file = std::env::temp_dir().join(format!("upbeat-fuzz-{}-{seed}.jsonl", kind.word()));
    let again = run(&format!("record {} {seed} {}", kind.word(), file.display()));
    if again.fine {
        eprintln!("seed {seed} does not fail when it is played again alone");
        return;
    }
    let words = last_words(&again.said);
    let place =
        |words: &str| words.split(" | ").next().unwrap_or_default().rsplit("panicked at").next().map(str::to_owned);
    let fails = |steps: &[Step]| {
        write(&file.with_extension("try"), steps);
        let outcome = run(&format!("replay {}", file.with_extension("try").display()));
        !outcome.fine && place(&last_words(&outcome.said)) == place(&words)
    };
    let mut steps = read(&file);
    let deadline = Instant::now() + SHRINKING;
    if !fails(&steps) {
        eprintln!("{} fails when it is generated, but not when it is played from its file", file.display());
        return;
    }
    let mut piece = steps.len() / 2;
    while piece > 0 && Instant::now() < deadline {
        let mut at = 0;
        while at < steps.len() && Instant::now() < deadline {
            let end = (at + piece).min(steps.len());
            let fewer: Vec<Step> = steps[..at].iter().chain(&steps[end..]).cloned().collect();
            if fails(&fewer) {
                steps = fewer;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    write(&file, &steps);
    eprintln!("{} steps are left of seed {seed}, in {}:", steps.len(), file.display());
    steps.iter().rev().take(TOLD).rev().for_each(|step| eprintln!("  {step:?}"));
}

fn write(path: &Path, steps: &[Step]) {
    let mut file = BufWriter::new(fs::File::create(path).unwrap());
    for step in steps {
        writeln!(file, "{}", serde_json::to_string(step).unwrap()).unwrap();
    }
}

fn read(path: &Path) -> Vec<Step> {
    let lines = BufReader::new(fs::File::open(path).unwrap()).lines();
    // The last one may not be whole.
    lines.map_while(|line| serde_json::from_str(&line.unwrap()).ok()).collect()
}

/// Plays steps to the end.
pub fn replay(steps: &[Step]) {
    let mut player = Player::new();
    steps.iter().for_each(|step| player.play(step));
    player.end();
}

/// What the processes do that [`run`] starts.
pub fn run_of_a_process() {
    let Ok(task) = std::env::var(TASK) else { return };
    let words: Vec<&str> = task.split(' ').collect();
    let kind = |word: &str| Kind::ALL.iter().find(|(known, _)| *known == word).unwrap().1;
    match words[..] {
        ["replay", file] => replay(&read(Path::new(file))),
        ["record", word, seed, file] => {
            let mut player = Player::new();
            let mut written = BufWriter::new(fs::File::create(PathBuf::from(file)).unwrap());
            player.generate(kind(word), seed.parse().unwrap(), |step| {
                writeln!(written, "{}", serde_json::to_string(step).unwrap()).unwrap();
                // Only what is written is there when the process aborts.
                written.flush().unwrap();
            });
            player.end();
        }
        [word, seed, scripts, seconds] => {
            let end = Instant::now() + Duration::from_secs(seconds.parse().unwrap());
            let (first, scripts): (u64, u64) = (seed.parse().unwrap(), scripts.parse().unwrap());
            let (mut requests, mut ended, mut frames) = (0, 0, 0);
            let mut kinds: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            for seed in first..first + scripts {
                eprintln!("\nseed {seed}");
                let mut player = Player::new();
                player.generate(kind(word), seed, |_| {});
                let tally = player.end();
                (requests, ended, frames) = (requests + tally.requests, ended + tally.ended, frames + tally.frames);
                for (kind, (asked, ends)) in tally.kinds {
                    let known = kinds.entry(kind).or_default();
                    *known = (known.0 + asked, known.1 + ends);
                }
                let asked = kinds.values().filter(|(asked, _)| *asked > 0).count();
                eprintln!("requests {requests}\nended {ended}\nframes {frames}\nkinds {asked}");
                if Instant::now() > end {
                    break;
                }
            }
            if std::env::var_os("UPBEAT_FUZZ_TELL").is_some() {
                kinds.iter().for_each(|(kind, (asked, ends))| eprintln!("{asked:>8} {ends:>6} {kind}"));
            }
        }
        _ => panic!("what is {task}?"),
    }
}
