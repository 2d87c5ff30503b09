//! Looks up programs in `PATH`, as a shell does.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Whether `name` is an executable file: in one of the folders of `path`, or at its own path if it contains a slash.
pub fn is_program(name: &OsStr, path: Option<&OsStr>) -> bool {
    let is_executable = |file: &Path| {
        std::fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    if name.as_encoded_bytes().contains(&b'/') {
        return is_executable(Path::new(name));
    }
    std::env::split_paths(path.unwrap_or_default()).any(|folder| is_executable(&folder.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_is_a_file_in_path_that_can_be_run() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, mode| {
            let file = folder.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        let (run, read) = (put("run", 0o755), put("read", 0o644));
        let path = std::env::join_paths([Path::new("/no/such/folder"), folder.path()]).unwrap();
        let is = |name: &OsStr| is_program(name, Some(&path));
        assert!(is(OsStr::new("run")) && is(run.as_os_str()));
        assert!(!is(OsStr::new("read")) && !is(read.as_os_str()) && !is(OsStr::new("gone")) && !is(OsStr::new("")));
        assert!(!is(folder.path().as_os_str()) && !is_program(OsStr::new("run"), None));
    }
}
