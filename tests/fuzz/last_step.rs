//! Writes the current step of a process to a file, because a process that hangs or aborts cannot report it.

use std::fmt::Debug;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;

/// Environment variable with the path of the file.
pub const FILE: &str = "UPBEAT_FUZZ_LAST";
/// Bytes; a longer step is cut.
const LONGEST: usize = 500;

static LAST: OnceLock<File> = OnceLock::new();

/// Opens the file if the variable is set. Called before the descriptors of the process are counted.
pub fn open() {
    if let Some(path) = std::env::var_os(FILE) {
        LAST.get_or_init(|| OpenOptions::new().write(true).open(path).unwrap());
    }
}

pub fn note(step: &impl Debug) {
    let Some(file) = LAST.get() else { return };
    let mut words = format!("{step:?}").into_bytes();
    words.truncate(LONGEST);
    words.push(b'\n');
    file.write_all_at(&words, 0).unwrap();
}

/// The last step that was noted. The file may have the tails of longer steps behind it, because it is not truncated.
pub fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_default();
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if line.is_empty() { "nothing".to_owned() } else { String::from_utf8_lossy(line).into_owned() }
}
