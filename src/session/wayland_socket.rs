//! The Wayland socket: checks of `XDG_RUNTIME_DIR`, the choice of a name, and the report that clients can connect.

use std::fs;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use smithay::reexports::wayland_server::{BindError, ListeningSocket};

/// The longest path of a unix socket in bytes, without its terminating zero (`sun_path`).
const LONGEST_PATH: usize = 107;

/// The last `wayland-N` that is tried, as in other compositors.
const LAST_NUMBER: u32 = 32;

/// Why there is no Wayland socket.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// `XDG_RUNTIME_DIR` is not set or is empty.
    #[error(
        "XDG_RUNTIME_DIR is not set: Wayland needs a private directory for its socket. \
         A login session has one; otherwise `export XDG_RUNTIME_DIR=$(mktemp -d)` makes one"
    )]
    NoRuntimeDirectory,
    /// The directory in `XDG_RUNTIME_DIR` cannot be used.
    #[error("XDG_RUNTIME_DIR is `{}`, which {reason}", path.display())]
    RuntimeDirectory {
        /// The value of the variable.
        path: PathBuf,
        /// The end of the sentence: why it cannot be used.
        reason: String,
    },
    /// The socket cannot have this name.
    #[error("the socket cannot be called `{name}`: {reason}")]
    Name {
        /// Name of the socket.
        name: String,
        /// The reason, as the rest of the sentence.
        reason: String,
    },
    /// Every `wayland-N` is taken.
    #[error("wayland-1 to wayland-32 are all taken in `{}`: give another name with --socket", .0.display())]
    AllTaken(PathBuf),
    /// The socket's name could not be written to the descriptor of `--ready-fd`.
    #[error("cannot write to the descriptor given with --ready-fd: {0}")]
    Ready(io::Error),
}

/// Checks that the `value` of `XDG_RUNTIME_DIR` can hold sockets: it must be the absolute path of a directory that our
/// user owns.
pub fn runtime_directory(value: Option<std::ffi::OsString>) -> Result<PathBuf, SocketError> {
    let path = PathBuf::from(value.filter(|value| !value.is_empty()).ok_or(SocketError::NoRuntimeDirectory)?);
    let bad = |reason: String| SocketError::RuntimeDirectory { path: path.clone(), reason };
    if !path.is_absolute() {
        return Err(bad("is not an absolute path".to_owned()));
    }
    let metadata = fs::metadata(&path).map_err(|error| bad(format!("cannot be used: {error}")))?;
    if !metadata.is_dir() {
        return Err(bad("is not a directory".to_owned()));
    }
    let (owner, us) = (metadata.uid(), rustix::process::geteuid().as_raw());
    if owner != us {
        return Err(bad(format!("belongs to user {owner}, but this runs as user {us}")));
    }
    if metadata.permissions().mode() & 0o022 != 0 {
        tracing::warn!("XDG_RUNTIME_DIR {} can be written by other users; `chmod 0700` it", path.display());
    }
    Ok(path)
}

/// Opens the Wayland socket in the runtime directory: with the given `name`, or as the first free `wayland-N`.
///
/// A lock file beside the socket (`NAME.lock`) keeps a second compositor from this name. The lock ends with the
/// process.
pub fn listen(runtime: &Path, name: Option<&str>) -> Result<ListeningSocket, SocketError> {
    let Some(name) = name else {
        check_length(runtime, "wayland-32")?;
        return listen_anywhere(runtime);
    };
    let bad = |reason: &str| SocketError::Name { name: name.to_owned(), reason: reason.to_owned() };
    if name.is_empty() || name.contains(['/', '\0']) {
        return Err(bad("a plain file name was expected"));
    }
    check_length(runtime, name)?;
    if is_lock_symlink(runtime, name) {
        return Err(bad("its lock file is a symbolic link: the file that it points to would be emptied"));
    }
    ListeningSocket::bind(name).map_err(|error| bind_error(error, runtime, name))
}

/// Opens the first free `wayland-N`.
fn listen_anywhere(runtime: &Path) -> Result<ListeningSocket, SocketError> {
    for name in (1..=LAST_NUMBER).map(|number| format!("wayland-{number}")) {
        if is_lock_symlink(runtime, &name) {
            tracing::warn!("{name}.lock is a symbolic link: trying the next name");
            continue;
        }
        match ListeningSocket::bind(&name) {
            Err(BindError::AlreadyInUse) => {}
            opened => return opened.map_err(|error| bind_error(error, runtime, &name)),
        }
    }
    Err(SocketError::AllTaken(runtime.to_owned()))
}

/// Whether the lock file of this socket name is a symbolic link. Such a name is not used, because wayland-server would
/// follow the link and empty the file that it points to.
fn is_lock_symlink(runtime: &Path, name: &str) -> bool {
    fs::symlink_metadata(runtime.join(name).with_extension("lock")).is_ok_and(|metadata| metadata.is_symlink())
}

fn check_length(runtime: &Path, name: &str) -> Result<(), SocketError> {
    let length = runtime.as_os_str().len() + 1 + name.len() + upbeat_record::ipc::SUFFIX.len();
    if length <= LONGEST_PATH {
        return Ok(());
    }
    let reason =
        format!("with it the path of a socket has {length} bytes, and no more than {LONGEST_PATH} are allowed");
    Err(SocketError::Name { name: name.to_owned(), reason })
}

fn bind_error(error: BindError, runtime: &Path, name: &str) -> SocketError {
    match error {
        BindError::RuntimeDirNotSet => SocketError::NoRuntimeDirectory,
        BindError::AlreadyInUse => {
            SocketError::Name { name: name.to_owned(), reason: "another compositor uses it".to_owned() }
        }
        BindError::PermissionDenied => SocketError::RuntimeDirectory {
            path: runtime.to_owned(),
            reason: "does not let us make a socket (permission denied)".to_owned(),
        },
        BindError::Io(error) => SocketError::Name { name: name.to_owned(), reason: error.to_string() },
    }
}

/// Reports that clients can connect: writes the socket's name and a newline to `ready`, and closes it.
pub fn report_ready(ready: OwnedFd, name: &str) -> Result<(), SocketError> {
    fs::File::from(ready).write_all(format!("{name}\n").as_bytes()).map_err(SocketError::Ready)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::io::Read;

    use super::*;

    fn refused(value: impl Into<OsString>) -> String {
        runtime_directory(Some(value.into())).unwrap_err().to_string()
    }

    #[test]
    fn a_runtime_directory_that_cannot_be_used_is_named_with_the_reason() {
        assert!(runtime_directory(None).unwrap_err().to_string().starts_with("XDG_RUNTIME_DIR is not set"));
        assert!(refused("").starts_with("XDG_RUNTIME_DIR is not set"));
        assert!(refused("run").contains("`run`, which is not an absolute path"));
        assert!(refused("/no/such").contains("`/no/such`, which cannot be used: No such file"));
        assert!(refused("/dev/null").contains("is not a directory"));
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(runtime_directory(Some(directory.path().into())).unwrap(), directory.path());
    }

    #[test]
    fn a_name_that_cannot_be_a_socket_is_refused_before_anything_is_made() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["", "a/b", "../up", &"n".repeat(120)] {
            assert!(matches!(listen(directory.path(), Some(name)), Err(SocketError::Name { .. })), "{name}");
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn symlinked_lock_file_is_refused_and_its_target_is_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("precious");
        fs::write(&target, "words").unwrap();
        std::os::unix::fs::symlink(&target, directory.path().join("upbeat.lock")).unwrap();
        let error = listen(directory.path(), Some("upbeat")).err().unwrap().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert_eq!(fs::read_to_string(target).unwrap(), "words");
    }

    #[test]
    fn ready_descriptor_gets_the_name_and_is_closed() {
        let (read, write) = rustix::pipe::pipe().unwrap();
        report_ready(write, "wayland-3").unwrap();
        let mut text = String::new();
        fs::File::from(read).read_to_string(&mut text).unwrap();
        assert_eq!(text, "wayland-3\n");
    }
}
