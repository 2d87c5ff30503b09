//! The wall clock jumps: a user sets it, a time server corrects it. No behaviour of a session may depend on it, so few
//! files may read it. They translate the times of another compositor that reports this clock, or name screenshots by
//! the time of day, as people read it.

use std::path::Path;

/// The files that may read the wall clock.
const READERS: [&str; 4] = [
    "src/backend/nested/clock.rs",
    "crates/upbeat-client/src/pacer/frame_pacer.rs",
    "crates/upbeat-bench/src/client/connection.rs",
    "src/session/screenshots/screenshot_folder.rs",
];
/// Names of the wall clock in code.
const NAMES: [&str; 4] = ["SystemTime", "UNIX_EPOCH", "ClockId::Realtime", "CLOCK_REALTIME"];

fn readers(directory: &Path, root: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            readers(&path, root, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            if NAMES.iter().any(|name| text.contains(name)) {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
}

#[test]
fn wall_clock_is_read_in_listed_files_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["src", "crates"] {
        readers(&root.join(folder), root, &mut found);
    }
    found.sort();
    let mut known = READERS.map(str::to_owned);
    known.sort();
    assert_eq!(found, known);
}
