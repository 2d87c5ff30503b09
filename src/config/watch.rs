//! Whether a file of the configuration was saved: inotify, on the folders that the files lie in.
//!
//! Editors replace files, links are pointed elsewhere, folders are moved: a watch on the file itself would watch what was
//! there before. So its folder is watched for its name, and the folder's own folder for the folder's; the same for all that
//! a link leads to. Nothing of this wakes anybody until something with one of these names changes there.

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

/// So many links one after another are followed.
const MOST_LINKS: usize = 8;
/// Room for some events at once; those with long names have 272 bytes.
const ROOM: usize = 4096;
/// So many are looked at in a turn of the loop; the rest in the next.
const EVENTS_AT_ONCE: usize = 256;

/// What says that a name in a folder is something else than before. Not that a file is being written to: half of one is no
/// configuration.
const NAMES: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::MASK_ADD);
/// The same, and that a file was written, or may be read now.
const FILES: WatchFlags = NAMES.union(WatchFlags::CLOSE_WRITE).union(WatchFlags::ATTRIB);

/// A descriptor that becomes readable when something happened to what is watched.
#[derive(Debug)]
pub struct Watch {
    inotify: Arc<OwnedFd>,
    places: Places,
}

/// Names to watch for, by folder. It can be made on another thread than that of the [`Watch`].
#[derive(Debug)]
pub struct Places {
    inotify: Arc<OwnedFd>,
    folders: HashMap<i32, Folder>,
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    names: HashSet<OsString>,
}

/// What happened to what is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Something that may have made another configuration of it.
    pub surely: bool,
    /// What was created. A file is written afterwards, and a link is not.
    pub created: Vec<PathBuf>,
}

impl Watch {
    /// One that watches nothing yet.
    pub fn new() -> io::Result<Self> {
        let inotify = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        Ok(Watch { places: Places { inotify: inotify.clone(), folders: HashMap::new() }, inotify })
    }

    /// To be filled with what is to be watched instead.
    pub fn places(&self) -> Places {
        Places { inotify: self.inotify.clone(), folders: HashMap::new() }
    }

    /// Watches these from now on. Those that were added elsewhere are watched since.
    pub fn replace(&mut self, places: Places) {
        let before = std::mem::replace(&mut self.places, places);
        for watch in before.folders.into_keys().filter(|watch| !self.places.folders.contains_key(watch)) {
            // It may be gone, with its folder.
            let _ = inotify::remove_watch(&self.inotify, watch);
        }
    }

    /// What happened since the last call. Never waits.
    pub fn changed(&self) -> Changed {
        let (mut changed, mut room) = (Changed::default(), [MaybeUninit::<u8>::uninit(); ROOM]);
        let mut reader = Reader::new(&self.inotify, &mut room);
        for _ in 0..EVENTS_AT_ONCE {
            let Ok(event) = reader.next() else { break };
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            self.places.note(event.wd(), event.events(), name, &mut changed);
        }
        changed
    }
}

impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }
}

impl Changed {
    /// Nothing happened.
    pub fn is_nothing(&self) -> bool {
        !self.surely && self.created.is_empty()
    }

    /// Whether it has to be read again. Looks at what was created: not for the thread that draws.
    pub fn counts(&self) -> bool {
        self.surely || self.created.iter().any(|path| is_whole(path))
    }

    /// Both.
    pub fn join(&mut self, other: Changed) {
        self.surely |= other.surely;
        self.created.extend(other.created);
    }
}

/// Whether what was created is all there: a link, a further name of a file, a folder, nothing any more.
fn is_whole(path: &Path) -> bool {
    std::fs::symlink_metadata(path).map_or(true, |metadata| !metadata.is_file() || metadata.nlink() > 1)
}

impl Places {
    /// Watches a file, wherever its name leads to, and for its coming if it is not there.
    pub fn watch(&mut self, file: &Path) {
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
        // Up to the first folder that there is, and the one above it.
        while let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
            let is_there = self.name(folder, name, flags);
            if is_there && flags == NAMES {
                break;
            }
            (flags, path) = (NAMES, folder);
        }
    }

    /// Watches for `name` in `folder`; whether there is such a folder.
    fn name(&mut self, folder: &Path, name: &OsStr, flags: WatchFlags) -> bool {
        let Ok(watch) = inotify::add_watch(&self.inotify, folder, flags) else { return false };
        let known = self.folders.entry(watch);
        let known = known.or_insert_with(|| Folder { path: folder.to_owned(), names: HashSet::new() });
        known.names.insert(name.to_owned());
        true
    }

    fn note(&self, watch: i32, events: ReadFlags, name: Option<&OsStr>, changed: &mut Changed) {
        let Some(folder) = self.folders.get(&watch) else {
            // Of a folder that is being added, or too much has happened to be told; or one that was taken away.
            changed.surely |= !events.contains(ReadFlags::IGNORED);
            return;
        };
        match name {
            // The folder itself.
            None => changed.surely |= events.contains(ReadFlags::IGNORED),
            Some(name) if !folder.names.contains(name) => {}
            Some(name) if events.contains(ReadFlags::CREATE) => changed.created.push(folder.path.join(name)),
            Some(_) => changed.surely = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// A folder in which `config.toml` is watched, which `make` has made there or not.
    fn watched(make: impl Fn(&Path)) -> (tempfile::TempDir, PathBuf, Watch) {
        let folder = tempfile::tempdir().unwrap();
        make(folder.path());
        let file = folder.path().join("config.toml");
        let watch = watch(&file);
        (folder, file, watch)
    }

    fn watch(file: &Path) -> Watch {
        let mut watch = Watch::new().unwrap();
        let mut places = watch.places();
        places.watch(file);
        watch.replace(places);
        watch
    }

    fn counts(watch: &Watch) -> bool {
        watch.changed().counts()
    }

    #[test]
    fn a_file_that_is_saved_counts_and_its_neighbours_do_not() {
        let (folder, file, watch) = watched(|_| {});
        assert!(watch.changed().is_nothing());
        fs::write(folder.path().join("config.toml~"), "x").unwrap();
        assert!(watch.changed().is_nothing());
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
        assert!(watch.changed().is_nothing());
    }

    #[test]
    fn what_a_link_leads_to_is_watched_and_so_is_the_link() {
        let (folder, file, watched) = watched(|folder| {
            fs::create_dir(folder.join("dotfiles")).unwrap();
            fs::write(folder.join("dotfiles/one"), "1").unwrap();
            fs::write(folder.join("dotfiles/two"), "2").unwrap();
            symlink("dotfiles/one", folder.join("config.toml")).unwrap();
        });
        fs::write(folder.path().join("dotfiles/two"), "22").unwrap();
        assert!(watched.changed().is_nothing());
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
    fn a_folder_that_comes_or_is_replaced_counts() {
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
        // What is not watched any more says so once, and that is nothing.
        let mut places = watched.places();
        places.watch(&folder.path().join("a/c/config.toml"));
        watched.changed();
        watched.replace(places);
        assert!(watched.changed().is_nothing());
    }
}
