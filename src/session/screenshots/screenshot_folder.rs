//! Chooses the folder and the file name of a screenshot, and writes the file.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::config::PictureFolder;
use upbeat_record::faults::{self, Fault};

/// Subfolder of the user's folder for pictures.
const IN_PICTURES: &str = "Screenshots";
/// Limit on the names of screenshots taken in the same second.
const MOST_OF_A_SECOND: u32 = 100;
/// The list of the user's folders, in the folder for configuration, and its largest size in bytes.
const USER_FOLDERS: &str = "user-dirs.dirs";
const MOST_OF_THE_LIST: u64 = 64 * 1024;

/// Folders for screenshots. The first folder that can be written to is used.
#[derive(Debug)]
pub struct ScreenshotFolders {
    configured: Option<PathBuf>,
    home: Option<PathBuf>,
    /// The value of `XDG_PICTURES_DIR` in the environment.
    pictures: Option<PathBuf>,
    /// The folder with the list of the user's folders.
    config_home: Option<PathBuf>,
}

impl ScreenshotFolders {
    /// The folders of this user. Reads no file yet.
    pub fn new(configured: &PictureFolder, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = path("HOME");
        ScreenshotFolders {
            configured: configured.path(home.as_deref()),
            pictures: path("XDG_PICTURES_DIR"),
            config_home: path("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config"))),
            home,
        }
    }

    /// Writes a new file and returns its path.
    ///
    /// # Errors
    /// A sentence that says why no folder could be written to.
    pub fn write(&self, png: &[u8]) -> Result<PathBuf, String> {
        let mut refused = "No folder is known: HOME is not set".to_owned();
        for folder in self.candidates() {
            match write_in(&folder, &name(SystemTime::now()), png) {
                Ok(path) => return Ok(path),
                Err(error) => refused = format!("{}: {error}", folder.display()),
            }
        }
        Err(refused)
    }

    fn candidates(&self) -> Vec<PathBuf> {
        if let Some(folder) = &self.configured {
            return vec![folder.clone()];
        }
        let listed = || self.listed();
        let usual = || Some(self.home.as_ref()?.join("Pictures"));
        let pictures = self.pictures.clone().or_else(listed).or_else(usual);
        // The order matters: the error of the last folder is the error that is reported.
        let mut folders: Vec<PathBuf> = self.home.iter().cloned().collect();
        folders.extend(pictures.map(|pictures| pictures.join(IN_PICTURES)));
        folders.reverse();
        folders
    }

    /// The folder for pictures from the list that `xdg-user-dirs` writes.
    fn listed(&self) -> Option<PathBuf> {
        let list = upbeat_record::files::read(&self.config_home.as_ref()?.join(USER_FOLDERS), MOST_OF_THE_LIST).ok()?;
        listed_in(&String::from_utf8_lossy(&list), self.home.as_deref()?)
    }
}

/// Finds the folder for pictures in a list with lines such as `XDG_PICTURES_DIR="$HOME/Pictures"`.
fn listed_in(list: &str, home: &Path) -> Option<PathBuf> {
    let value = list.lines().find_map(|line| line.trim().strip_prefix("XDG_PICTURES_DIR="))?;
    let value = value.trim().trim_matches('"');
    let path = match value.strip_prefix("$HOME/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(value),
    };
    path.is_absolute().then_some(path)
}

/// Writes a file that does not exist yet. A partly written picture is removed.
fn write_in(folder: &Path, name: &str, png: &[u8]) -> io::Result<PathBuf> {
    faults::check(Fault::File)?;
    fs::create_dir_all(folder)?;
    for number in 1..=MOST_OF_A_SECOND {
        let name = if number == 1 { format!("{name}.png") } else { format!("{name}-{number}.png") };
        let path = folder.join(name);
        let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        };
        // Sync, because a full disk may only be reported when the data reaches it.
        return match file.write_all(png).and_then(|()| file.sync_all()) {
            Ok(()) => Ok(path),
            Err(error) => {
                _ = fs::remove_file(&path);
                Err(error)
            }
        };
    }
    Err(io::Error::new(
        io::ErrorKind::AlreadyExists,
        format!("there are {MOST_OF_A_SECOND} screenshots of this second already"),
    ))
}

/// Name of a screenshot taken at `now`, without its extension: `screenshot-20261128-034412`, in local time.
#[expect(unsafe_code, reason = "only the C library knows the local time")]
fn name(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let seconds = libc::time_t::try_from(seconds).unwrap_or(0);
    // SAFETY: all zeroes are a valid `tm`, whose only pointer may be null. It is only written to, and read from, here.
    let tm = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&raw const seconds, &raw mut tm);
        tm
    };
    let (year, month, day) = (tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
    format!("screenshot-{year:04}{month:02}{day:02}-{:02}{:02}{:02}", tm.tm_hour, tm.tm_min, tm.tm_sec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(configured: &str, variables: &[(&str, &Path)]) -> ScreenshotFolders {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, path)| (*path).into());
        ScreenshotFolders::new(&configured.to_owned().try_into().unwrap(), variable)
    }

    #[test]
    fn the_folder_is_the_configured_or_that_for_pictures_or_home() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        let found = |configured: &str, variables: &[(&str, &Path)]| folders(configured, variables).candidates();
        assert_eq!(found("~/shots", &[("HOME", home)]), [home.join("shots")]);
        assert_eq!(found("", &[("HOME", home)]), [home.join("Pictures/Screenshots"), home.to_owned()]);
        let list = "# a comment\nXDG_PICTURES_DIR=\"$HOME/Bilder\"\n";
        fs::create_dir(home.join(".config")).unwrap();
        fs::write(home.join(".config/user-dirs.dirs"), list).unwrap();
        assert_eq!(found("", &[("HOME", home)])[0], home.join("Bilder/Screenshots"));
        let variables: [(&str, &Path); 2] = [("HOME", home), ("XDG_PICTURES_DIR", Path::new("/p"))];
        assert_eq!(found("", &variables)[0], Path::new("/p/Screenshots"));
        assert_eq!(listed_in("XDG_PICTURES_DIR=\"/p\"", home), Some("/p".into()));
        assert!(found("", &[]).is_empty());
        assert!(folders("", &[]).write(b"x").unwrap_err().contains("HOME is not set"));
    }

    #[test]
    fn no_file_is_written_over_and_a_folder_that_cannot_be_made_is_named() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let first = write_in(&at("a/b"), "x", b"one").unwrap();
        let second = write_in(&at("a/b"), "x", b"two").unwrap();
        assert_eq!((first, second.clone()), (at("a/b/x.png"), at("a/b/x-2.png")));
        assert_eq!((fs::read(at("a/b/x.png")).unwrap(), fs::read(second).unwrap()), (b"one".to_vec(), b"two".to_vec()));
        let configured = at("a/b/x.png/in-a-file");
        let refused = folders(configured.to_str().unwrap(), &[("HOME", home.path())]).write(b"x").unwrap_err();
        assert!(refused.starts_with(configured.to_str().unwrap()), "{refused}");
        // The folder for pictures is a file, so the picture is written to the home folder.
        fs::write(at("Pictures"), "").unwrap();
        let written = folders("", &[("HOME", home.path())]).write(b"x").unwrap();
        assert_eq!(written.parent(), Some(home.path()));
    }

    #[test]
    fn names_are_made_of_the_time() {
        let name = name(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(86_400 * 365));
        assert!(name.starts_with("screenshot-19") && name.len() == "screenshot-19710101-000000".len(), "{name}");
    }
}
