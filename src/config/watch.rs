//! Watches the configuration files by inotify, through their folders.
//!
//! Editors replace files, links change their target, folders are moved: a watch on a file itself would stay with the
//! old file. So the file's folder is watched for the file's name, and the parent folder for the folder's name; the same
//! for the target of each link. Only changes of one of these names wake the session.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

/// How many links are followed, one after another.
const MOST_LINKS: usize = 8;
/// Buffer for several events, in bytes; an event with a long name has 272.
const ROOM: usize = 4096;
/// Events that are handled in a turn of the loop; the rest in the next turn.
const EVENTS_AT_ONCE: usize = 256;

/// Events after which a name in a folder refers to something else. Writing is not among them, because a half-written
/// file is not valid.
const NAMES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::MASK_ADD);
/// As [`NAMES`], and that a file was closed after writing, or that its permissions changed.
const FILES: WatchFlags = NAMES.union(WatchFlags::CLOSE_WRITE).union(WatchFlags::ATTRIB);

/// A descriptor that becomes readable when a watched name changes.
#[derive(Debug)]
pub struct ConfigWatch {
    inotify: Arc<OwnedFd>,
    places: WatchedNames,
}

/// Watched names, by folder. May be filled on another thread than that of the [`ConfigWatch`].
#[derive(Debug)]
pub struct WatchedNames {
    inotify: Arc<OwnedFd>,
    folders: HashMap<i32, WatchedFolder>,
}

#[derive(Debug)]
struct WatchedFolder {
    path: PathBuf,
    names: HashSet<OsString>,
}

/// Changes of watched names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigChanges {
    /// There was an event that may have changed the configuration.
    pub is_certain: bool,
    /// Created names. A new file is still to be written, but a new link is complete.
    pub created: Vec<PathBuf>,
}

impl ConfigWatch {
    /// Watches nothing yet.
    pub fn new() -> io::Result<Self> {
        let inotify = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        Ok(ConfigWatch { places: WatchedNames { inotify: inotify.clone(), folders: HashMap::new() }, inotify })
    }

    /// An empty set of names, to be filled for [`replace`](Self::replace).
    pub fn places(&self) -> WatchedNames {
        WatchedNames { inotify: self.inotify.clone(), folders: HashMap::new() }
    }

    /// Watches these names from now on. Names in `places` are already watched since they were added.
    pub fn replace(&mut self, places: WatchedNames) {
        let before = std::mem::replace(&mut self.places, places);
        for watch in before.folders.into_keys().filter(|watch| !self.places.folders.contains_key(watch)) {
            // Fails if the watch is gone together with its folder.
            let _ = inotify::remove_watch(&self.inotify, watch);
        }
    }

    /// The changes since the last call. Does not block.
    pub fn read_changes(&self) -> ConfigChanges {
        let (mut changed, mut room) = (ConfigChanges::default(), [MaybeUninit::<u8>::uninit(); ROOM]);
        let mut reader = Reader::new(&self.inotify, &mut room);
        for _ in 0..EVENTS_AT_ONCE {
            let Ok(event) = reader.next() else { break };
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            self.places.note(event.wd(), event.events(), name, &mut changed);
        }
        changed
    }
}

impl AsFd for ConfigWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

impl ConfigChanges {
    pub fn is_empty(&self) -> bool {
        !self.is_certain && self.created.is_empty()
    }

    /// Whether the configuration has to be read again. Accesses created files, so it is not for the thread that draws.
    pub fn needs_reload(&self) -> bool {
        self.is_certain || self.created.iter().any(|path| is_whole(path))
    }

    /// Adds the changes of `other`.
    pub fn merge(&mut self, other: ConfigChanges) {
        self.is_certain |= other.is_certain;
        self.created.extend(other.created);
    }
}

/// Whether a created name is complete at once: a link, a further name of a file, a folder, or gone again.
fn is_whole(path: &Path) -> bool {
    std::fs::symlink_metadata(path).map_or(true, |metadata| !metadata.is_file() || metadata.nlink() > 1)
}

impl WatchedNames {
    /// Watches a file through all its links, and waits for it if it does not exist.
    pub fn add_file(&mut self, file: &Path) {
        let Ok(mut path) = std::path::absolute(file) else { return };
        for _ in 0..MOST_LINKS {
            self.add(&path);
            let Some((folder, target)) = path.parent().zip(std::fs::read_link(&path).ok()) else { return };
            path = folder.join(target);
        }
    }

    fn add(&mut self, file: &Path) {
        let mut flags = FILES;
        let mut path = file;
        // Up to the first folder that exists, and its parent.
        while let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            let is_there = self.add_name(folder, name, flags);
            if is_there && flags == NAMES {
                break;
            }
            (flags, path) = (NAMES, folder);
        }
    }

    /// Watches for `name` in `folder`. Returns whether the folder exists.
    fn add_name(&mut self, folder: &Path, name: &OsStr, flags: WatchFlags) -> bool {
        let Ok(watch) = inotify::add_watch(&self.inotify, folder, flags) else { return false };
        let known = self.folders.entry(watch);
        let known = known.or_insert_with(|| WatchedFolder { path: folder.to_owned(), names: HashSet::new() });
        known.names.insert(name.to_owned());
        true
    }

    fn note(&self, watch: i32, events: ReadFlags, name: Option<&OsStr>, changed: &mut ConfigChanges) {
        let Some(folder) = self.folders.get(&watch) else {
            // A folder that is still being added, or an overflow of the event queue; `IGNORED` comes for a
            // removed watch.
            changed.is_certain |= !events.contains(ReadFlags::IGNORED);
            return;
        };
        match name {
            // The folder itself.
            None => changed.is_certain |= events.contains(ReadFlags::IGNORED),
            Some(name) if !folder.names.contains(name) => {}
            Some(name) if events.contains(ReadFlags::CREATE) => changed.created.push(folder.path.join(name)),
            Some(_) => changed.is_certain = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A watched `config.toml` in a folder that `make` has prepared.
    fn watched(make: impl Fn(&Path)) -> (tempfile::TempDir, PathBuf, ConfigWatch) {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path());
        let file = folder.path().join("config.toml");
        let watch = watch(&file);
        (folder, file, watch)
    }

    fn watch(file: &Path) -> ConfigWatch {
        let mut watch = ConfigWatch::new().unwrap();
        let mut places = watch.places();
        places.add_file(file);
        watch.replace(places);
        watch
    }

    fn counts(watch: &ConfigWatch) -> bool {
        watch.read_changes().needs_reload()
    }

    #[test]
    fn saved_file_is_reported_and_its_neighbours_are_not() {
        let (folder, file, watch) = watched(|_| {});
        assert!(watch.read_changes().is_empty());
        fs::write(folder.path().join("config.toml~"), "x").unwrap();
        assert!(watch.read_changes().is_empty());
        let half = fs::File::create(&file).unwrap();
        assert!(!counts(&watch), "it is created, and nothing is in it yet");
        drop(half);
        assert!(counts(&watch), "it was written");
        fs::write(folder.path().join("new"), "y").unwrap();
        assert!(!counts(&watch));
        fs::rename(folder.path().join("new"), &file).unwrap();
        assert!(counts(&watch), "another one has its name");
        fs::rename(&file, folder.path().join("old")).unwrap();
        assert!(counts(&watch), "it is called otherwise");
        fs::hard_link(folder.path().join("old"), &file).unwrap();
        assert!(counts(&watch), "it has its name back");
        fs::remove_file(&file).unwrap();
        assert!(counts(&watch));
        assert!(watch.read_changes().is_empty());
    }

    #[test]
    fn links_and_their_targets_are_watched() {
        let (folder, file, watched) = watched(|folder| {
            fs::create_dir(folder.join("dotfiles")).unwrap();
            fs::write(folder.join("dotfiles/one"), "1").unwrap();
            fs::write(folder.join("dotfiles/two"), "2").unwrap();
            symlink("dotfiles/one", folder.join("config.toml")).unwrap();
        });
        fs::write(folder.path().join("dotfiles/two"), "22").unwrap();
        assert!(watched.read_changes().is_empty());
        fs::write(folder.path().join("dotfiles/one"), "11").unwrap();
        assert!(counts(&watched));
        fs::remove_file(&file).unwrap();
        symlink("dotfiles/two", &file).unwrap();
        assert!(counts(&watched));
        let watched = watch(&file);
        fs::write(folder.path().join("dotfiles/two"), "222").unwrap();
        assert!(counts(&watched));
    }

    #[test]
    fn created_or_replaced_folder_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/config.toml");
        let watched = watch(&file);
        fs::create_dir(folder.path().join("a")).unwrap();
        assert!(counts(&watched));
        let watched = watch(&file);
        fs::create_dir(folder.path().join("a/b")).unwrap();
        assert!(counts(&watched));
        let watched = watch(&file);
        fs::rename(folder.path().join("a/b"), folder.path().join("a/c")).unwrap();
        assert!(counts(&watched));
        let mut watched = watch(&file);
        fs::create_dir(folder.path().join("a/b")).unwrap();
        // A removed watch reports `IGNORED` once, which is no change.
        let mut places = watched.places();
        places.add_file(&folder.path().join("a/c/config.toml"));
        watched.read_changes();
        watched.replace(places);
        assert!(watched.read_changes().is_empty());
    }
}
