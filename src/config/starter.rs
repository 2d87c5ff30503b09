//! The configuration file that a first start writes: every option with its default and documentation, commented out.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use upbeat_record::faults::{self, Fault};

/// Every option, with its default.
const DOCUMENTED: &str = include_str!("../../config/default.toml");

/// The first lines of the file.
const HEAD: &str =
    "# Upbeat's configuration. Every option is here with its default and does nothing: remove the # at the start
# of a line to change it (and that of the [table] above it). The file counts as soon as it is saved; what is wrong with
# it is said on the screen, and by `upbeat validate`.
";

/// The file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct StarterError {
    path: PathBuf,
    source: io::Error,
}

/// Writes a starter file to `path`, with its folder, unless `path` exists. Returns whether it was written.
pub fn write_starter(path: &Path) -> Result<bool, StarterError> {
    try_write(path).map_err(|source| StarterError { path: path.to_owned(), source })
}

fn try_write(path: &Path) -> io::Result<bool> {
    // A dangling link counts as existing, too.
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    faults::check(Fault::File)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(commented_out_defaults().as_bytes()).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// The documentation with every option commented out.
fn commented_out_defaults() -> String {
    // The head of the documentation says where it is read from; `HEAD` replaces it.
    let body = DOCUMENTED.split_once("\n\n").map_or(DOCUMENTED, |(_, body)| body);
    let mut text = format!("{HEAD}\n");
    for line in body.lines() {
        let is_plain = line.is_empty() || line.starts_with('#');
        text.extend([if is_plain { "" } else { "#" }, line, "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};

    #[test]
    fn starter_file_sets_nothing_until_options_are_uncommented() {
        let path = Path::new("config.toml");
        assert_eq!(parse(path, &commented_out_defaults()).unwrap(), Config::default());
        assert!(commented_out_defaults().lines().all(|line| line.is_empty() || line.starts_with('#')));
        let used: String = commented_out_defaults()
            .lines()
            .map(|line| line.strip_prefix('#').filter(|line| !line.starts_with([' ', '#'])).unwrap_or(""))
            .flat_map(|line| [line, "\n"])
            .collect();
        assert_eq!(parse(path, &used).unwrap(), Config::default());
        assert!(used.contains("pacing = \"auto\"") && used.contains("\"Mod+F1\" = \"help\""));
    }

    #[test]
    fn existing_file_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/upbeat/config.toml");
        assert!(write_starter(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), commented_out_defaults());
        std::fs::write(&path, "mine").unwrap();
        assert!(!write_starter(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        assert!(!write_starter(&link).unwrap());
        assert!(write_starter(Path::new("/proc/no/config.toml")).is_err());
    }
}
