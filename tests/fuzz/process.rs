//! Runs scripts in separate processes, because a failure may abort, hang or exhaust the memory.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::last_step;
use crate::play::{ScriptPlayer, ScriptTally};
use crate::resource_usage::{ResourceUsage, Slack};
use crate::script::{ScriptKind, ScriptStep};
use crate::{corpus, soak};

/// Environment variable with the task of a process. `requests 7 3` plays the scripts of seeds 7 to 9; `record requests
/// 7 FILE` plays one script and writes it down, `replay FILE...` plays written scripts; `soak 7 12 60` plays 12 scripts
/// in one session, and more until 60 s are over; `collect 7 100` adds scripts of 100 seeds to the corpus.
const TASK: &str = "UPBEAT_FUZZ_TASK";
/// A hang limit: a process that has printed nothing for so long is killed. It prints something after each script, which
/// takes seconds at most.
const SILENCE: Duration = Duration::from_secs(300);
/// Sessions until each cache of the process is filled.
const WARM_UP: u64 = 3;
/// Resources that the sessions of one process may leave behind (each a keymap and the content that was on screen last),
/// because libraries free them at the end of the process only. For leaks within one session see [`soak`].
const LEFT: Slack = Slack { descriptors: 64, mappings: 64, threads: 0, heap_bytes: 8 << 20 };

#[derive(Default)]
pub struct ProcessOutcome {
    pub fine: bool,
    /// The process printed nothing for [`SILENCE`] and was killed.
    pub hangs: bool,
    pub said: String,
    /// The last step that it noted.
    pub last: String,
    /// The last seed that it played.
    pub seed: u64,
    pub requests: u64,
    pub ended: u64,
    pub frames: u64,
    /// Different requests that were sent.
    pub kinds: u64,
    /// The longest turn, in milliseconds of [`crate::limits::Stopwatch`].
    pub slowest: u64,
}

/// The message of the panic, or else the end of the output.
pub fn panic_message(said: &str) -> String {
    let panicked = said.lines().position(|line| line.contains("panicked at"));
    let from = panicked.unwrap_or(said.lines().count().saturating_sub(3));
    said.lines().skip(from).take(4).collect::<Vec<_>>().join(" | ")
}

/// Runs a process with `task`: one word a line, since a path may contain a blank. `hears` is called with each line of
/// its output.
pub fn run(task: &str, mut hears: impl FnMut(&str)) -> ProcessOutcome {
    let log = tempfile::NamedTempFile::new().unwrap();
    let last = tempfile::NamedTempFile::new().unwrap();
    // Both streams append to the same file.
    let written = log.reopen().unwrap();
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "run_of_a_process", "--nocapture", "--test-threads=1"])
        .env(TASK, task)
        .env(last_step::FILE, last.path())
        // No real session is found, and no programs, since shortcuts start programs.
        .env_remove("XDG_RUNTIME_DIR")
        .env("PATH", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(written.try_clone().unwrap())
        .stderr(written)
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(log.reopen().unwrap());
    let (mut heard, mut said, mut hangs) = (Instant::now(), String::new(), false);
    let status = loop {
        let status = process.try_wait().unwrap();
        while reader.read_line(&mut said).unwrap() > 0 {
            heard = Instant::now();
            hears(said.lines().next_back().unwrap_or_default());
        }
        if status.is_some() {
            break status;
        }
        if heard.elapsed() > SILENCE {
            process.kill().unwrap();
            process.wait().unwrap();
            hangs = true;
            break None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let silent = || format!("it hangs: it has said nothing for {} s", SILENCE.as_secs());
    said.push_str(&status.map_or_else(silent, |status| status.to_string()));
    let number = |word: &str| -> u64 {
        let mut all = said.lines().filter_map(|line| line.strip_prefix(word)?.trim().parse::<u64>().ok());
        all.next_back().unwrap_or_default()
    };
    ProcessOutcome {
        fine: status.is_some_and(|status| status.success()),
        hangs,
        last: last_step::read(last.path()),
        seed: number("seed "),
        requests: number("requests "),
        ended: number("ended "),
        frames: number("frames "),
        kinds: number("kinds "),
        slowest: number("slowest "),
        said,
    }
}

pub fn write(path: &Path, steps: &[ScriptStep]) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    for step in steps {
        writeln!(file, "{}", serde_json::to_string(step).unwrap()).unwrap();
    }
}

pub fn read(path: &Path) -> Vec<ScriptStep> {
    let lines = BufReader::new(File::open(path).unwrap()).lines();
    // The last line may be incomplete, after an abort.
    lines.map_while(|line| serde_json::from_str(&line.unwrap()).ok()).collect()
}

/// Prints the progress; [`run`] reads it.
pub fn print_progress(tally: &ScriptTally) {
    let asked = tally.kinds.values().filter(|(asked, _)| *asked > 0).count();
    let slowest = tally.slowest.as_millis();
    let ScriptTally { requests, ended, frames, .. } = tally;
    eprintln!("requests {requests}\nended {ended}\nframes {frames}\nkinds {asked}\nslowest {slowest}");
}

/// Prints the counts of all requests and the events that came, if `UPBEAT_FUZZ_TELL` is set.
pub fn print_counts(tally: &ScriptTally) {
    if std::env::var_os("UPBEAT_FUZZ_TELL").is_some() {
        tally.kinds.iter().for_each(|(kind, (asked, ends))| eprintln!("{asked:>8} {ends:>6} {kind}"));
        tally.events.iter().for_each(|(interface, event)| eprintln!("   heard        {interface}.{event}"));
    }
}

/// The work of the processes that [`run`] starts.
pub fn run_of_a_process() {
    let Ok(task) = std::env::var(TASK) else { return };
    last_step::open();
    let words: Vec<&str> = task.split('\n').collect();
    match words[..] {
        ["replay", ref files @ ..] => files.iter().for_each(|file| {
            eprintln!("\nplays {file}");
            let mut player = ScriptPlayer::new();
            read(Path::new(file)).iter().for_each(|step| player.play_and_bury(step));
            player.end();
        }),
        ["record", word, seed, file] => {
            let mut player = ScriptPlayer::new();
            let mut written = BufWriter::new(File::create(file).unwrap());
            player.generate(ScriptKind::called(word), seed.parse().unwrap(), |step| {
                writeln!(written, "{}", serde_json::to_string(step).unwrap()).unwrap();
                // Flush each step, because buffered steps would be lost in an abort.
                written.flush().unwrap();
            });
            player.end();
        }
        ["collect", seed, scripts] => corpus::collect(seed.parse().unwrap(), scripts.parse().unwrap()),
        ["soak", seed, rounds, seconds] => {
            soak::run(seed.parse().unwrap(), rounds.parse().unwrap(), seconds.parse().unwrap());
        }
        [word, seed, scripts] => {
            let seed: u64 = seed.parse().unwrap();
            play(ScriptKind::called(word), seed..seed + scripts.parse::<u64>().unwrap());
        }
        _ => panic!("unknown task {task}"),
    }
}

/// Plays the scripts of these seeds, each in a session of its own, and asserts that the sessions leave nothing behind.
fn play(kind: ScriptKind, seeds: std::ops::Range<u64>) {
    let (mut all, mut before) = (ScriptTally::default(), None);
    let warm = seeds.start + WARM_UP;
    for seed in seeds {
        eprintln!("\nseed {seed}");
        let mut player = ScriptPlayer::new();
        player.generate(kind, seed, |_| {});
        all.add(player.end());
        player.close();
        match &before {
            Some(before) => {
                let (_, grown) = ResourceUsage::growth_since(before, LEFT);
                assert!(grown.is_empty(), "sessions leave {}", grown.join("; "));
            }
            None => before = (seed >= warm).then(ResourceUsage::now),
        }
        print_progress(&all);
    }
    print_counts(&all);
}

/// Path of the file with a failed script.
pub fn file_of(name: &str) -> std::path::PathBuf {
    let directory = std::env::temp_dir().join("upbeat-fuzz");
    fs::create_dir_all(&directory).unwrap();
    directory.join(name)
}
