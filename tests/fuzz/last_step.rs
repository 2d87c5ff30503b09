//! The step that a process does, in a file of its own: a process that hangs or aborts cannot say it any more.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

/// The environment variable that names the file.
pub const FILE: &str = "UPBEAT_FUZZ_LAST";
/// Bytes of a step that are kept.
const LONGEST: usize = 500;

static LAST: OnceLock<File> = OnceLock::new();

/// Opens the file if there is one. Comes before the descriptors of the process are counted.
pub fn open() {
    if let Some(path) = std::env::var_os(FILE) {
        LAST.get_or_init(|| OpenOptions::new().write(true).open(path).unwrap());
    }
}

/// Notes what is done next.
pub fn note(step: &impl Debug) {
    let Some(file) = LAST.get() else { return };
    let mut words = format!("{step:?}").into_bytes();
    words.truncate(LONGEST);
    words.push(b'\n');
    file.write_all_at(&words, 0).unwrap();
}

/// The step that was noted last. Behind it are the ends of longer ones.
pub fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if line.is_empty() { "nothing".to_owned() } else { String::from_utf8_lossy(line).into_owned() }
}
