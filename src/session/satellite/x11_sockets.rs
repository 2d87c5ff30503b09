//! The sockets of an X display: `/tmp/.X11-unix/XN`, the same name in the abstract namespace, and the lock
//! `/tmp/.XN-lock`, which keeps other X servers from this number. The files are removed on drop.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::{Pid, test_kill_process};

/// The directory in which X programs look for locks and sockets.
pub const ROOT: &str = "/tmp";
/// The last display number that is tried.
const LAST: u32 = 32;
/// Mode of the directory of sockets: the first X server creates it, for all users.
const FOR_EVERYBODY: u32 = 0o1777;
const READ_ONLY: u32 = 0o444;
/// Bytes of a lock file that are read. A valid lock has eleven.
const LOCK_LENGTH: u64 = 16;

/// Why there are no sockets for X programs.
#[derive(Debug, thiserror::Error)]
pub enum X11SocketsError {
    /// The directory of sockets cannot be used.
    #[error("`{}` {reason}", path.display())]
    Directory {
        /// Path of the directory.
        path: PathBuf,
        /// The end of the sentence: why it cannot be used.
        reason: String,
    },
    /// No display number could be claimed.
    #[error("the displays :0 to :{LAST} are all taken or unusable (the error of the last: {0})")]
    AllTaken(io::Error),
}

/// The sockets of one display number.
#[derive(Debug)]
pub struct X11Sockets {
    number: u32,
    listeners: [UnixListener; 2],
    files: [PathBuf; 2],
}

impl X11Sockets {
    /// Claims the first free display number below `root`.
    pub fn claim(root: &Path) -> Result<Self, X11SocketsError> {
        let directory = root.join(".X11-unix");
        check(&directory).map_err(|reason| X11SocketsError::Directory { path: directory.clone(), reason })?;
        let mut last = io::Error::from(io::ErrorKind::AddrInUse);
        for number in 0..=LAST {
            match claim(root, &directory, number) {
                Ok(sockets) => return Ok(sockets),
                Err(error) => last = error,
            }
        }
        Err(X11SocketsError::AllTaken(last))
    }

    /// The value of `DISPLAY`: `:N`.
    pub fn display(&self) -> String {
        format!(":{}", self.number)
    }

    /// The socket in the file system, and the abstract socket.
    pub fn listeners(&self) -> [BorrowedFd<'_>; 2] {
        self.listeners.each_ref().map(AsFd::as_fd)
    }
}

impl Drop for X11Sockets {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
    }
}

/// Creates the directory if it is missing, and checks that no other user can replace our socket in it.
fn check(directory: &Path) -> Result<(), String> {
    match DirBuilder::new().mode(FOR_EVERYBODY).create(directory) {
        // The umask may have removed some bits.
        Ok(()) => {
            fs::set_permissions(directory, Permissions::from_mode(FOR_EVERYBODY)).map_err(|error| error.to_string())?
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(format!("cannot be created: {error}")),
    }
    let metadata = fs::symlink_metadata(directory).map_err(|error| format!("cannot be inspected: {error}"))?;
    let owner = metadata.uid();
    if !metadata.is_dir() {
        return Err("is not a directory".to_owned());
    }
    if owner != 0 && owner != rustix::process::geteuid().as_raw() {
        return Err(format!("belongs to user {owner}, who could listen in our place"));
    }
    if metadata.mode() & 0o022 != 0 && metadata.mode() & 0o1000 == 0 {
        return Err("lets other users replace our socket: `chmod 1777` it".to_owned());
    }
    Ok(())
}

fn claim(root: &Path, directory: &Path, number: u32) -> io::Result<X11Sockets> {
    let lock = root.join(format!(".X{number}-lock"));
    take_lock(&lock)?;
    let path = directory.join(format!("X{number}"));
    // We hold the lock of this number, so an existing socket file is stale.
    let _ = fs::remove_file(&path);
    let listen = || -> io::Result<_> {
        let with_file = UnixListener::bind(&path)?;
        let name = SocketAddr::from_abstract_name(path.as_os_str().as_bytes())?;
        let listeners = [with_file, UnixListener::bind_addr(&name)?];
        listeners.iter().try_for_each(|listener| listener.set_nonblocking(true))?;
        Ok(listeners)
    };
    match listen() {
        Ok(listeners) => Ok(X11Sockets { number, listeners, files: [path, lock] }),
        Err(error) => {
            [path, lock].iter().for_each(|file| _ = fs::remove_file(file));
            Err(error)
        }
    }
}

/// Creates the lock with our process id in it. A lock whose process is gone is removed first.
fn take_lock(lock: &Path) -> io::Result<()> {
    let make = || OpenOptions::new().write(true).create_new(true).mode(READ_ONLY).open(lock);
    let mut file = match make() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_stale(lock) => {
            fs::remove_file(lock)?;
            make()?
        }
        made => made?,
    };
    // The format of every X server: ten characters, filled with blanks.
    let written = writeln!(file, "{:>10}", std::process::id());
    written.inspect_err(|_| _ = fs::remove_file(lock))
}

fn is_stale(lock: &Path) -> bool {
    let mut text = String::new();
    // Any user may put a file there: a pipe that blocks, a link to a file of another user, or a terminal.
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY).bits() as i32;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(lock) else { return false };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    if file.take(LOCK_LENGTH).read_to_string(&mut text).is_err() {
        return false;
    }
    let process = text.trim().parse().ok().and_then(Pid::from_raw);
    process.is_some_and(|process| test_kill_process(process) == Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_claim_has_its_own_number_and_leaves_no_files() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (X11Sockets::claim(root.path()).unwrap(), X11Sockets::claim(root.path()).unwrap());
        assert_eq!([first.display(), second.display()], [":0", ":1"]);
        let lock = fs::read_to_string(root.path().join(".X0-lock")).unwrap();
        assert_eq!(lock, format!("{:>10}\n", std::process::id()));
        assert!(std::os::unix::net::UnixStream::connect(root.path().join(".X11-unix/X1")).is_ok());
        drop(first);
        assert_eq!(X11Sockets::claim(root.path()).unwrap().display(), ":0");
        drop(second);
        assert_eq!(fs::read_dir(root.path().join(".X11-unix")).unwrap().count(), 0);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1, "only the directory");
    }

    #[test]
    fn stale_locks_are_taken_over_and_live_locks_are_not() {
        let root = tempfile::tempdir().unwrap();
        let mut gone = std::process::Command::new("true").spawn().unwrap();
        gone.wait().unwrap();
        let locks =
            [format!("{:>10}\n", gone.id()), "what is this?\n".to_owned(), format!("{:>10}\n", std::process::id())];
        // In this order the stale lock is only reached if the other locks are passed by.
        for (number, lock) in [(0, &locks[1]), (1, &locks[2]), (2, &locks[0])] {
            fs::write(root.path().join(format!(".X{number}-lock")), lock).unwrap();
        }
        fs::create_dir(root.path().join(".X11-unix")).unwrap();
        fs::write(root.path().join(".X11-unix/X2"), "").unwrap();
        assert_eq!(X11Sockets::claim(root.path()).unwrap().display(), ":2");
    }

    #[test]
    fn lock_that_is_a_pipe_without_writer_is_skipped() {
        let root = tempfile::tempdir().unwrap();
        let lock = root.path().join(".X0-lock");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &lock, mode).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let place = root.path().to_owned();
        std::thread::spawn(move || sender.send(X11Sockets::claim(&place).unwrap().display()));
        assert_eq!(receiver.recv_timeout(std::time::Duration::from_secs(20)).as_deref(), Ok(":1"));
        assert!(lock.exists(), "it belongs to another program");
    }

    #[test]
    fn directory_where_other_users_can_replace_sockets_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join(".X11-unix");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(&directory, Permissions::from_mode(0o777)).unwrap();
        let error = X11Sockets::claim(root.path()).unwrap_err().to_string();
        assert!(error.contains("chmod 1777"), "{error}");
        fs::remove_dir(&directory).unwrap();
        fs::write(&directory, "").unwrap();
        assert!(X11Sockets::claim(root.path()).unwrap_err().to_string().contains("is not a directory"));
    }
}
