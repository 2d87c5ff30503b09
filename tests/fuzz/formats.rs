//! Untrusted files and lines: valid samples are changed at random. No reader panics, hangs or allocates much.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use upbeat::backend::headless::FaultScript;
use upbeat::config;
use upbeat::input::cursor;
use upbeat_lab::load::{LogCapture, TraceError};
use upbeat_lab::runner::{self, LoadSource, RunConditions, SimulatedInputDevice};
use upbeat_lab::{load, policy, replay, strokes};
use upbeat_record::ipc::message::{RequestLine, ResponseLine};
use upbeat_record::recording::StreamReader;
use upbeat_timing::time::Span;

use crate::at_least;
use crate::fixture::seeds::{first_seed, number};
use crate::limits::{Stopwatch, limit};

/// Mutated samples of each format.
const CASES: u64 = 30_000;
/// Limit for one sample, for a build with all checks, where the clock counts instructions.
const LONGEST: Duration = Duration::from_secs(2);
/// Mutations of one sample.
const CHANGES: usize = 6;
const MANGLED: [&str; 12] =
    ["\0", "-1", "1e999", "NaN", "99999999999999999999", "\u{feff}", "\n", "\"", "[[", "{", "ä語", "0x7fffffff"];

struct UntrustedFormat {
    name: &'static str,
    samples: Vec<Vec<u8>>,
    read: fn(&[u8]),
}

fn data(path: &str) -> Vec<u8> {
    let mut bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    // A longer file finds nothing more, and takes long.
    bytes.truncate(4_000);
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn cursor_file() -> Vec<u8> {
    let picture = [36, 0xfffd_0002, 24, 1, 2, 2, 1, 1, 0, 0xff00_0000, 0, 1, 2];
    let head = [u32::from_le_bytes(*b"Xcur"), 16, 0x1_0000, 1, 0xfffd_0002, 24, 28];
    head.into_iter().chain(picture).flat_map(u32::to_le_bytes).collect()
}

/// A sysprof capture: a header and three marks.
fn sysprof_capture() -> Vec<u8> {
    let mut bytes = vec![0; 256];
    bytes[..6].copy_from_slice(&[0x5e, 0x97, 0xca, 0xfd, 1, 1]);
    for frame in 0..3_u8 {
        let mut mark = vec![0; 96];
        (mark[0], mark[4], mark[11], mark[16], mark[26]) = (96, 7, frame, 10, 100);
        mark[32..35].copy_from_slice(b"gtk");
        mark[56..61].copy_from_slice(b"Frame");
        bytes.extend(mark);
    }
    bytes
}

fn edid() -> Vec<u8> {
    let mut block = vec![0_u8; 128];
    block[..8].copy_from_slice(&[0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]);
    block[72..79].copy_from_slice(&[0, 0, 0, 0xfd, 0, 48, 144]);
    block[127] = 0_u8.wrapping_sub(block.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)));
    block
}

const FRAMES: &str = r#"{"type":"output_frame","output":"A","frame":1,"interval":16666667,"latch":100,"submit_by":200,"present":16666867,"presented":16666867}
{"type":"client_frame","window":1,"app_id":"a","callback":100,"commit":5000000,"ready":6000000,"present":16666867,"cpu":4000000}
"#;
const CAPTURE: &str = r#"{"Info":{"ProcessName":"game.exe"},"Runs":[{"CaptureData":{"MsBetweenPresents":[16.7,16.6,33.4],
"MsInPresentAPI":[0.2,0.3,0.2],"MsUntilRenderComplete":[8.1,9.2,30.1],"MsUntilDisplayed":[20.0,20.1,36.0]}}]}"#;
const WANTED: load::LogRequest<'static> = load::LogRequest { interval: Span::from_micros(16_667), process: None };
const FAULTS: &str = "refresh 3 stamp late 1ms for 2\nframe 2 lose-frame\nat 20ms unplug\n";

/// A log that can be read gives a report with finite numbers.
fn check_report(read: Result<LogCapture, TraceError>) {
    let sources = match read {
        Ok(capture) => [LoadSource::Log(Arc::new(capture))],
        Err(error) => return drop(error.to_string()),
    };
    let names = ["ahead-4", "ahead-4+vrr", "legacy", "jitt-window-tail", "jitt-two-shot"];
    let policies = policy::named(&names.map(String::from)).unwrap();
    let device = SimulatedInputDevice {
        input_interval: Span::from_millis(8),
        recorded: &[],
        touch: Span::from_millis(1),
        output: Span::from_millis(2),
    };
    let conditions = RunConditions { seeds: 1, first_seed: 1, device, recorder: None };
    let runs = runner::run(&sources, &policies, &conditions, &|| ());
    for run in &runs {
        let numbers = [run.drops_per_s, run.drop_reduction, run.fps, run.hitches_per_s, run.latency_ms.p99, run.age_ms];
        let bounds = run.drop_reduction_bounds.unwrap_or_default();
        assert!(numbers.into_iter().chain(bounds).all(f64::is_finite), "{run:?}");
    }
    runner::infos(&sources, &policies, &conditions, &runs).iter().for_each(|info| are_numbers(&info.answer));
}

fn are_numbers(text: &str) {
    assert!(!text.contains("NaN") && !text.contains(" inf"), "{text}");
}

fn formats() -> Vec<UntrustedFormat> {
    let questions = [
        r#"{"version":1,"request":"windows"}"#,
        r#"{"version":1,"request":{"set_mode":{"output":"A","mode":"640x480@60"}}}"#,
        r#"{"version":1,"request":{"input":{"events":[{"key":{"key":30,"pressed":true}}]}}}"#,
    ];
    vec![
        UntrustedFormat {
            name: "configuration",
            samples: vec![data("config/default.toml")],
            read: |bytes| {
                if let Err(error) = config::parse(Path::new("upbeat.toml"), &text(bytes)) {
                    let _ = error.to_string();
                }
            },
        },
        UntrustedFormat {
            name: "frame log",
            samples: vec![FRAMES.into()],
            read: |bytes| match load::frame_log::parse(&text(bytes), "log") {
                Ok(recorded) => are_numbers(&replay::render(&recorded, &replay::run(&recorded))),
                Err(error) => drop(error.to_string()),
            },
        },
        UntrustedFormat {
            name: "frames as CSV",
            samples: vec![data("tests/data/frames/metroexodus.csv"), data("tests/data/classes/simple-shm.csv")],
            read: |bytes| {
                check_report(load::csv::parse(bytes, "csv", String::new(), &WANTED));
            },
        },
        UntrustedFormat {
            name: "captures of CapFrameX",
            samples: vec![CAPTURE.into()],
            read: |bytes| {
                check_report(load::capframex::parse(bytes, "json", String::new(), &WANTED));
            },
        },
        UntrustedFormat {
            name: "marks in ftrace",
            samples: vec![data("tests/data/frames/ftrace.txt")],
            read: |bytes| {
                let wanted = load::LogRequest { process: Some("game: frame"), ..WANTED };
                check_report(load::ftrace::parse(bytes, "trace", String::new(), &wanted));
            },
        },
        UntrustedFormat {
            name: "marks of Sysprof",
            samples: vec![sysprof_capture()],
            read: |bytes| {
                check_report(load::sysprof::parse(bytes, "syscap", String::new(), &WANTED));
            },
        },
        UntrustedFormat {
            name: "strokes as CSV",
            samples: vec![data("tests/data/input/fling_flutter_velocity.csv")],
            read: |bytes| match strokes::parse(&text(bytes), "csv", String::new()) {
                Ok(recording) => {
                    for error in strokes::PREDICTORS.iter().flat_map(|name| strokes::evaluate(&recording, name)) {
                        assert!(error.mean.is_finite() && error.max.is_finite(), "{error:?}");
                    }
                }
                Err(error) => drop(error.to_string()),
            },
        },
        UntrustedFormat {
            name: "fault script",
            samples: vec![FAULTS.into()],
            read: |bytes| {
                let _ = text(bytes).parse::<FaultScript>().map_err(|error| error.to_string());
            },
        },
        UntrustedFormat {
            name: "question on the private socket",
            samples: questions.map(Vec::from).to_vec(),
            read: |bytes| {
                let _ = serde_json::from_slice::<RequestLine>(bytes).map_err(|error| error.to_string());
                let _ = serde_json::from_slice::<ResponseLine>(bytes).map_err(|error| error.to_string());
            },
        },
        UntrustedFormat {
            name: "cursor file",
            samples: vec![cursor_file()],
            read: |bytes| _ = cursor::read_sizes(bytes),
        },
        UntrustedFormat {
            name: "EDID",
            samples: vec![edid()],
            read: |bytes| {
                let mut right = bytes.to_vec();
                if let Some(last) = right.get_mut(127) {
                    *last = 0;
                    let sum = right[..127].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
                    right[127] = 0_u8.wrapping_sub(sum);
                }
                let _ = upbeat::backend::drm::slowest_rate(&right);
                let _ = upbeat::backend::drm::identify(bytes).map(|identity| identity.to_string());
            },
        },
        UntrustedFormat {
            name: "recording",
            samples: vec![[&b"UPBEATR\x01"[..], &[1, 4, 0, 4, 0, 2, 1, 1, 0, 3, 9, 9, 9]].concat()],
            read: |bytes| {
                let Ok(mut reader) = StreamReader::new(bytes) else { return };
                while let Ok(Some(_)) = reader.next_image() {}
            },
        },
    ]
}

fn change(rng: &mut StdRng, bytes: &mut Vec<u8>) {
    let at = rng.random_range(0..=bytes.len());
    let end = (at + rng.random_range(1..40)).min(bytes.len());
    match rng.random_range(0..8) {
        0 => bytes.truncate(at),
        1 => _ = bytes.drain(at..end),
        2 => {
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
        3 => {
            let mangled = MANGLED.choose(rng).unwrap().bytes();
            bytes.splice(at..at, mangled);
        }
        4 => {
            let word = [0, 1, 0x7fff, 0x7fff_ffff, u32::MAX].choose(rng).unwrap().to_le_bytes();
            bytes.splice(at..(at + 4).min(bytes.len()), word);
        }
        5 => {
            let mangled = MANGLED.choose(rng).unwrap().bytes();
            bytes.splice(at..end, mangled);
        }
        6 if at < bytes.len() => bytes[at] ^= 1 << rng.random_range(0..8),
        _ if at < bytes.len() => bytes[at] = rng.random(),
        _ => bytes.push(rng.random()),
    }
}

#[test]
fn mutated_files_and_lines_are_parsed_or_rejected_without_panic() {
    let (first, cases) = (first_seed(), number("UPBEAT_FUZZ_CASES", CASES));
    let formats = formats();
    let each = at_least() / formats.len() as u32;
    for UntrustedFormat { name, samples, read } in formats {
        let (start, mut seed) = (Instant::now(), first);
        while seed < first + cases || start.elapsed() < each {
            let mut rng = StdRng::seed_from_u64(seed);
            let mut bytes = samples.choose(&mut rng).unwrap().clone();
            (0..rng.random_range(0..=CHANGES)).for_each(|_| change(&mut rng, &mut bytes));
            let watch = Stopwatch::start();
            let done = catch_unwind(AssertUnwindSafe(|| read(&bytes)));
            assert!(done.is_ok(), "seed {seed} of {name}: a panic for {:?}", text(&bytes));
            let elapsed = watch.elapsed();
            assert!(elapsed < limit(LONGEST), "seed {seed} of {name}: {elapsed:?} for {:?}", text(&bytes));
            seed += 1;
        }
        println!("{name}: seeds {first}..{seed} in {:?}", start.elapsed());
    }
}
