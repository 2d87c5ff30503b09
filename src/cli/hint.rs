//! A word of the command line that is no subcommand and no option: mostly a program to run, or a typo.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// How alike a word and one of ours must be for that to be meant (0 to 1, Jaro-Winkler).
const ALIKE: f64 = 0.8;

/// What the first word that makes no sense is taken for.
pub(super) enum Meant {
    /// A program, as the arguments say it that run it in a session.
    Program(Vec<OsString>),
    /// A mistake.
    Nothing(Error),
}

/// What `arguments` (without our own name) mean, which are an `error`. Who begins with one of our own `words`, or with one that is
/// much like it, means that; a typo is never run.
pub(super) fn meant(error: Error, arguments: &[OsString], words: &[String]) -> Meant {
    meant_where(error, arguments, words, &|program| is_program(program, std::env::var_os("PATH").as_deref()))
}

pub(super) fn meant_where(
    mut error: Error,
    arguments: &[OsString],
    words: &[String],
    is_program: &dyn Fn(&OsStr) -> bool,
) -> Meant {
    let is_word = matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand);
    let told = match error.get(ContextKind::InvalidSubcommand).or(error.get(ContextKind::InvalidArg)) {
        Some(ContextValue::String(word)) => word.clone(),
        _ => return Meant::Nothing(error),
    };
    let at = arguments.iter().position(|argument| *argument == *told);
    let Some(at) = at.filter(|_| is_word && !told.starts_with('-')) else { return Meant::Nothing(error) };
    if arguments[..at].iter().any(|before| words.iter().any(|word| before == word.as_str())) {
        return Meant::Nothing(error);
    }
    let alike = words.iter().map(|word| (strsim::jaro_winkler(&told, word), word));
    let alike = alike.max_by(|one, other| one.0.total_cmp(&other.0)).filter(|(likeness, _)| *likeness >= ALIKE);
    let said = |words: &[OsString]| words.iter().map(|word| format!(" {}", word.display())).collect::<String>();
    let meant = match alike {
        Some((_, word)) => format!("did you mean `upbeat {word}{}`?", said(&arguments[at + 1..])),
        None if is_program(OsStr::new(&told)) => {
            let dashes = [OsString::from("--")];
            return Meant::Program([&arguments[..at], &dashes, &arguments[at..]].concat());
        }
        None => format!("there is neither a subcommand nor a program called `{told}`"),
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![meant.into()]));
    Meant::Nothing(error)
}

/// Whether a program can be started by that name, where programs are looked for in `path`.
fn is_program(name: &OsStr, path: Option<&OsStr>) -> bool {
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
